"""AlphaZero.

- `settings`: what a run can be told;
- `iterate`: an iteration: games, fitting, the gate;
- `self_play`: games in which every move is searched;
- `window`: the last positions of these games, over many iterations;
- `loss`: how the net learns;
- `agent`: how what was learned plays, with one look at the net or with a tree search.
"""
