"""Positions that each search looks at, depth by depth, beside the theory.

    python benchmarks/nodes_by_depth.py [--game connect_four othello chess] [--depth 9 7 5] [--out FILE]

Prints a table for each game and draws them. Theory, for b moves in each position: minimax looks at b^d leaves,
alpha-beta at about b^(3d/4) where the order of moves is random and at b^(d/2) where the best one always comes first.
Run from the root of the checkout; nothing of it needs to be installed.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax
import numpy as np

from beamzero.bench.search import middle_game
from beamzero.core.compiler import keep_compiled_code
from beamzero.games import Game, State, make_game
from beamzero.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, STYLE, write_png
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from beamzero.search.drive import Snapshot, Timer, think
from beamzero.search.features import feature_evaluator

_SEARCHES = {
    "minimax": AlphaBeta(prune=False, order=False, entries=0),
    "alpha-beta, moves as they come": AlphaBeta(order=False, entries=0),
    "alpha-beta, likely moves first": AlphaBeta(entries=0),
    "and table, deepening": AlphaBeta(entries=2**20),
}
_COLOURS = dict(zip(_SEARCHES, (GREY, ORANGE, BLUE, GREEN), strict=True))
_MOST = 40_000_000
"""Positions beyond which a deeper search of the same kind is not tried."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", nargs="+", default=["connect_four", "othello", "chess"])
    parser.add_argument("--depth", type=int, nargs="+", default=[9, 7, 5], help="for each game")
    parser.add_argument("--out", type=Path, default=Path("docs/nodes-by-depth.png"))
    arguments = parser.parse_args()
    keep_compiled_code()
    counts = {}
    for name, depth in zip(arguments.game, arguments.depth, strict=True):
        game = make_game(name)
        counts[name] = count(game, middle_game(game), depth)
        show(name, counts[name])
    draw(counts, arguments.out)


def count(game: Game, state: State, deepest: int) -> dict[str, list[int]]:
    """Count for each search the positions it looks at to reach depth 1, 2 and so on."""
    evaluator = feature_evaluator(game)
    found: dict[str, list[int]] = {}
    for name, settings in _SEARCHES.items():
        each: list[int] = []
        timer = Timer()

        def tell(found: Snapshot, each: list[int] = each, timer: Timer = timer) -> None:
            each.append(found.nodes - sum(each))
            if len(each) > 1 and each[-1] ** 2 / each[-2] > _MOST:
                timer.stop()

        search = dataclasses.replace(settings, depth=deepest)
        think(search, game, evaluator, state, jax.random.key(0), timer=timer, watch=tell)
        # Without a table a search learns nothing from shallower ones, so that these need not be counted.
        found[name] = np.cumsum(each).tolist() if settings.entries else each
    return found


def branching(counts: dict[str, list[int]]) -> float:
    """Find b, the number of moves in every position that gives minimax's count of positions at its last depth."""
    last = counts["minimax"]
    leaves = last[-1] - (last[-2] if len(last) > 1 else 1)
    return leaves ** (1 / len(last))


def show(name: str, counts: dict[str, list[int]]) -> None:
    b = branching(counts)
    print(f"\n{name} on {jax.devices()[0].device_kind}, {b:.1f} moves in a position")
    width = max(map(len, counts))
    depths = range(1, max(map(len, counts.values())) + 1)
    print(f"{'depth':<{width}}" + "".join(f"{depth:>13}" for depth in depths))
    for search, numbers in counts.items():
        print(f"{search:<{width}}" + "".join(f"{number:>13,}" for number in numbers))
    for label, share in (("b^d", 1), ("b^(3d/4)", 0.75), ("b^(d/2)", 0.5)):
        print(f"{label:<{width}}" + "".join(f"{b ** (share * depth):>13,.0f}" for depth in depths))


def draw(counts: dict[str, dict[str, list[int]]], path: Path) -> None:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.2 * len(counts), 4.4), dpi=130, layout="constrained")
        FigureCanvasAgg(figure)
        panels = np.atleast_1d(figure.subplots(1, len(counts)))
        for panel, (name, numbers) in zip(panels, counts.items(), strict=True):
            _draw_game(panel, name, numbers)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=9)
        write_png(figure, path)
    print(f"\nwrote {path}")


def _draw_game(panel: Any, name: str, counts: dict[str, list[int]]) -> None:
    b = branching(counts)
    depths = np.arange(1, max(map(len, counts.values())) + 1)
    for label, share, style in (("$b^d$", 1.0, ":"), ("$b^{3d/4}$", 0.75, "--"), ("$b^{d/2}$", 0.5, "-.")):
        panel.plot(depths, b ** (share * depths), color=PURPLE, linestyle=style, linewidth=1.2, label=label)
    for search, numbers in counts.items():
        panel.plot(depths[: len(numbers)], numbers, color=_COLOURS[search], marker="o", markersize=3.5, label=search)
    panel.set_yscale("log")
    panel.set_title(f"{name}, b = {b:.1f}", fontsize=10)
    panel.set_xlabel("depth in plies")
    panel.set_xticks(depths)
    if panel.get_subplotspec().is_first_col():
        panel.set_ylabel("positions looked at")


if __name__ == "__main__":
    main()
