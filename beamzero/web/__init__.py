"""Play in the browser: a server that keeps games, lets agents think, and shows training runs.

- `offers`: which games and agents there are to choose from;
- `brains`: agents that think in threads of their own, for many games at once;
- `table`: one game in play, as a value without a network; `store`: all of them, on disk;
- `hub`: tables that someone looks at: whose turn it is, what is sent to whom;
- `messages`: what a page may say; `limits`: how much of it; `guard`: who may say it;
- `runs`: training runs, as a page shows them;
- `app`: the addresses; `static/`: the page.
"""
