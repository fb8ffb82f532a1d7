"""Play in the browser: a server that keeps games, lets agents play, and shows training runs.

- `offers`: which games and agents there are to choose from;
- `agents`: agents that search in threads of their own, for many games at once;
- `session`: one game in play, as a value without a network; `store`: all of them, on disk;
- `background`: the worker thread, which alone asks the rules, and tasks;
- `pages`: sessions in memory and what their pages are told; `sessions`: all of them, in memory and on disk;
- `turns`: the agents' moves and the clocks; `requests`: all that a browser asks for;
- `messages`: the form of messages; `limits`: how many and how large; `guard`: who may send them; `socket`: one page;
- `runs`: training runs, as a page shows them;
- `app`: the addresses; `static/`: the page.
"""
