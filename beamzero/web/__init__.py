"""Play in the browser: a server that keeps games, lets agents play, and shows training runs.

- `offers`: which games and agents there are to choose from;
- `agents`: agents that search in threads of their own, for many games at once;
- `session`: one game in play, as a value without a network; `store`: all of them, on disk;
- `background`: the worker thread, which alone asks the rules, and tasks;
- `pages`: sessions in memory and the messages to their pages, positions and results as plain data;
- `sessions`: all sessions, in memory and on disk; `turns`: the agents' moves and the clocks;
- `requests`: what browsers ask for; `messages`: the form of it; `limits`: how many and how large; `guard`: from where;
- `socket`: one open page;
- `runs`: training runs, as a page shows them;
- `app`: the addresses; `static/`: the page.
"""
