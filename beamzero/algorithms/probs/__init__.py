"""PROBS, Predict Results of Beam Search.

- `settings`: what a run can be told;
- `iterate`: an iteration, in the order of the paper's Algorithm 2;
- `self_play`: games by softmax(Q), with noise;
- `replay`: the states of these games, packed;
- `targets`: beam searches from them, which are what Q is trained on, and its loss;
- `agent`: how what was learned plays, with one look at Q or with a beam search.
"""
