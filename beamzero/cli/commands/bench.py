"""`beamzero bench`: throughput beside that of peers, measured in the same run."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated

import jax
import typer
from rich.table import Table

from beamzero.bench.beam import bench_beam
from beamzero.bench.games import PEERS, bench_games
from beamzero.bench.mcts import bench_mcts
from beamzero.bench.search import bench_search
from beamzero.bench.timing import Row
from beamzero.cli.common import AsJson, err, out, print_json
from beamzero.core.errors import BadInput
from beamzero.core.spec import unknown
from beamzero.games import make_game


def bench_command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="games, beam, mcts, search; all of them by default.")
    ] = None,
    game: Annotated[
        list[str] | None, typer.Option("--game", metavar="GAME", help="Measure only this game; may be given again.")
    ] = None,
    peers: Annotated[
        bool, typer.Option("--peers", help="Measure installed peers (pgx, pyspiel) in the same run.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Measure throughput on this machine, with --peers beside that of other libraries in the same run."""
    for name in names or []:
        if name not in BENCHMARKS:
            raise unknown("benchmark", name, BENCHMARKS)
    if game and (names or ["games"]) not in (["games"], ["search"]):
        raise BadInput("--game is for beamzero bench games or beamzero bench search alone")
    games = [make_game(name).spec for name in game or []]
    rivals = find_peers() if peers else []
    rows = []
    for name in names or (["games"] if games else BENCHMARKS):
        for row in BENCHMARKS[name](rivals, games):
            rows.append(row)
            err.print(_line(row), style="dim", soft_wrap=True)
    device = f"{jax.devices()[0].device_kind}, {jax.default_backend()}"
    if json:
        return print_json({"device": device, "rows": [row.as_json() for row in rows]})
    out.print(f"on {device}", style="italic")
    out.print(_rates(rows))
    if any(row.state_bytes is not None for row in rows):
        out.print("", _sizes(rows), sep="\n")
    return None


def find_peers() -> list[str]:
    """List the peers that are installed, and name the others on stderr; BadInput where none is installed."""
    missing = [peer for peer in PEERS if importlib.util.find_spec(peer) is None]
    if len(missing) == len(PEERS):
        raise BadInput(
            "--peers needs pgx or pyspiel, which are not installed: pip install 'beamzero[pgx]' or open_spiel"
        )
    if missing:
        err.print(f"not installed, so not measured: {', '.join(missing)}", style="yellow", soft_wrap=True)
    return [peer for peer in PEERS if peer not in missing]


def _line(row: Row) -> str:
    against = "" if row.peer is None else f", {row.ratio:.2f} times {row.peer_name}"
    return f"{row.name}: {row.ours:,.0f} {row.unit}{against}"


def _rates(rows: Sequence[Row]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, collapse_padding=True)
    for head in ("what", "unit", "ours", "held against", "its figure", "ratio"):
        is_text = head in ("what", "unit", "held against")
        table.add_column(head, justify="left" if is_text else "right", no_wrap=not is_text, overflow="fold")
    for row in rows:
        peer = "-" if row.peer is None else f"{row.peer:,.0f}"
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(row.name, row.unit, f"{row.ours:,.0f}", row.peer_name or "-", peer, ratio)
    return table


def _sizes(rows: Sequence[Row]) -> Table:
    """Make the table of the bytes of a state and the seconds to compile a step, a row for each game."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in ("what", "bytes a state", "seconds to compile a step"):
        table.add_column(head, justify="left" if head == "what" else "right")
    for name, size, taken in dict.fromkeys((row.name, row.state_bytes, row.compile_seconds) for row in rows):
        if size is not None and taken is not None:
            table.add_row(name, f"{size:,d}", f"{taken:.1f}")
    return table


BENCHMARKS: dict[str, Callable[[Sequence[str], Sequence[str]], Iterator[Row]]] = {
    "games": bench_games,
    "beam": lambda peers, games: bench_beam(),
    "mcts": lambda peers, games: bench_mcts(peers),
    "search": bench_search,
}
"""Benchmarks by name: functions of the peers to measure too and of the games, all of them where the list is empty."""
