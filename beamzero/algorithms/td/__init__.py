"""TD(lambda), in the manner of TD-Gammon.

- `settings`: what a run can be told;
- `iterate`: an iteration: games, and fitting the net to the training targets of their positions;
- `agent`: how what was learned plays, with the best next position or with expectiminimax.
"""
