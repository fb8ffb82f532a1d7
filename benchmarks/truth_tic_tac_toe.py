"""Makes the solved positions of tic-tac-toe: every one that can be reached and is not over, solved by trying all lines.

    python benchmarks/truth_tic_tac_toe.py

Rules and results are those of OpenSpiel. The classes are begin, middle and end: up to 2, up to 5, and more stones. Run
from the root of the checkout.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import pyspiel

from beamzero.arena.truth import ILLEGAL, folder, write_stored

_CLASSES = {"begin": range(3), "middle": range(3, 6), "end": range(6, 9)}


def main() -> None:
    first = pyspiel.load_game("tic_tac_toe").new_initial_state()
    found: dict[str, tuple[str, list[int], list[int]]] = {}
    scores: dict[str, int] = {}
    waiting = [first]
    while waiting:
        state = waiting.pop()
        if state.is_terminal() or str(state) in found:
            continue
        moves, sign = state.history(), 1 - 2 * state.current_player()
        (label,) = (label for label, stones in _CLASSES.items() if len(moves) in stones)
        children = {action: state.child(action) for action in state.legal_actions()}
        worths = [sign * _score(children[action], scores) if action in children else ILLEGAL for action in range(9)]
        found[str(state)] = label, moves, worths
        waiting += children.values()
    rows = list(found.values())
    random.Random(0).shuffle(rows)  # so that the first of a class are as good as any
    rows.sort(key=lambda row: list(_CLASSES).index(row[0]))
    labels, games, worths_of = zip(*rows, strict=True)
    write_stored(folder() / "tic_tac_toe.npz", games, np.array(worths_of, np.int8), labels)
    print(f"{len(rows)} positions")


def _score(state: Any, known: dict[str, int]) -> int:
    """Return the result of a position for the first player, if both sides play perfectly."""
    if state.is_terminal():
        return int(state.returns()[0])
    if str(state) not in known:
        best = max if state.current_player() == 0 else min
        known[str(state)] = best(_score(state.child(action), known) for action in state.legal_actions())
    return known[str(state)]


if __name__ == "__main__":
    main()
