"""Makes the solved positions of Connect Four: 1,000 of each of six classes, with the score of every column.

    python benchmarks/truth_connect_four.py [--positions 1000] [--seed 0]

The classes are those of Pascal Pons's benchmark: by the stones on the board, begin (up to 14), middle (up to 28) and
end, and by the stones that are still to fall if both sides play perfectly, easy (fewer than 14), medium (up to 28) and
hard. A position comes about by random moves, as many as drawn evenly from those of its phase. It is kept where its
moves differ in what they lead to, a win, a draw or a loss, and where neither it nor its mirror image is there already.
The solver bitbully says what each column is worth. Run from the root of the checkout.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import bitbully  # type: ignore[import-untyped]
import numpy as np

from beamzero.arena.truth import ILLEGAL, folder, write_stored

_PHASES = {"begin": range(1, 15), "middle": range(15, 29), "end": range(29, 42)}
_CLASSES = ("end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=int, default=1000, help="of each class")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng, solver = random.Random(arguments.seed), bitbully.BitBully()
    found: dict[str, list[tuple[list[int], np.ndarray]]] = {label: [] for label in _CLASSES}
    seen: set[int] = set()
    for label in _CLASSES:
        phase = label.split("-")[0]
        while len(found[label]) < arguments.positions:
            moves = _play(rng, rng.choice(_PHASES[phase]))
            if moves is None:
                continue
            board = bitbully.Board(moves)
            same = {board.uid(), board.mirror().uid()}
            if same & seen:
                continue
            scores = solver.score_all_moves(board)
            there = found[f"{phase}-{_difficulty(board, max(scores.values()))}"]
            if len(there) < arguments.positions and len({np.sign(score) for score in scores.values()}) > 1:
                seen |= same
                worths = [scores.get(column, ILLEGAL) for column in range(7)]
                there.append((moves, np.array(worths, np.int8)))
            counts = ", ".join(f"{name} {len(rows)}" for name, rows in found.items())
            print(f"\r{counts}", end="", file=sys.stderr)
    print(file=sys.stderr)
    rows = [(*row, label) for label in _CLASSES for row in found[label]]
    games, worths, labels = zip(*rows, strict=True)
    write_stored(folder() / "connect_four.npz", games, np.stack(worths), labels)


def _play(rng: random.Random, stones: int) -> list[int] | None:
    """Play a random game of `stones` stones. Returns its columns; None where the game is over by then."""
    board, moves = bitbully.Board(), []
    for _ in range(stones):
        moves.append(rng.choice(board.legal_moves()))
        board.play(moves[-1])
        if board.is_game_over():
            return None
    return moves


def _difficulty(board: bitbully.Board, score: int) -> str:
    """Name the difficulty by the stones that fall until the game ends, if both sides play perfectly."""
    left = bitbully.BitBully.score_to_moves_left(score, board) if score else board.moves_left()
    return "easy" if left < 14 else "medium" if left <= 28 else "hard"


if __name__ == "__main__":
    main()
