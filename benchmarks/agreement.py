"""Alpha-beta, every option on and off, against plain minimax on thousands of random positions of every game.

    python benchmarks/agreement.py [--game kalah checkers] [--positions 2000]

The tests do the same on fewer positions. Half of the positions are valued with random numbers, half by the game's own
evaluation; values, moves and bounds are compared, in games with noisy moves beyond the depth too. Any difference ends
the run. Run from the root of the checkout.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from beamzero.core.compiler import keep_compiled_code
from beamzero.games import GAMES, make_game
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from tests.search.agreement import assert_games_are_searched_as_by_minimax

_PLAIN = AlphaBeta(prune=False, order=False, entries=0, deepen=False)
_WAYS = {
    "minimax": _PLAIN,
    "alpha-beta": AlphaBeta(order=False, entries=0, deepen=False),
    "with order": AlphaBeta(entries=0, deepen=False),
    "with table": AlphaBeta(order=False, entries=4096, deepen=False),
    "with order, table, deepening": AlphaBeta(entries=4096),
    "with quiescence too": AlphaBeta(entries=64, quiet=2),
    "with every move": AlphaBeta(entries=4096, quiet=1, every_move=True),
}
_DEPTHS = {
    "tic_tac_toe": 4, "connect_four": 3, "othello": 3, "checkers": 4, "kalah": 4, "togyzkumalak": 3, "chess6x6": 2,
    "chess": 1,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", nargs="+", default=[name for name in GAMES if not GAMES[name].hidden])
    parser.add_argument("--positions", type=int, default=2000, help="of each game")
    parser.add_argument("--depth", type=int, help="plies of the searches; 1 to 4 by default, by game")
    arguments = parser.parse_args()
    keep_compiled_code()
    for name in arguments.game:
        start, depth = time.perf_counter(), arguments.depth or _DEPTHS.get(make_game(name).name, 2)
        assert_games_are_searched_as_by_minimax(make_game(name), depth, arguments.positions // 2, *_WAYS.values())
        what = f"{arguments.positions:,} positions, depth {depth}, {len(_WAYS)} ways"
        print(f"{name}: {what}, no difference, {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
