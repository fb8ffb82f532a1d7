"""Throughput, as ratios within one run: of our games against peers, and of the search against its bare nets."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import Annotated

import jax
import typer
from rich.table import Table

from beamzero.cli.bench_beam import bench_beam
from beamzero.cli.bench_games import bench_games
from beamzero.cli.common import AsJson, err, out, print_json
from beamzero.cli.timing import Row
from beamzero.errors import BadInput
from beamzero.spec import unknown


def register(app: typer.Typer) -> None:
    app.command("bench")(bench_command)


def bench_command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="games, beam; all of them by default.")
    ] = None,
    peers: Annotated[bool, typer.Option("--peers", help="Measure installed peers (pgx) in the same run.")] = False,
    json: AsJson = False,
) -> None:
    """Measure throughput on this machine; figures to compare are taken in the same run."""
    for name in names or []:
        if name not in BENCHMARKS:
            raise unknown("benchmark", name, BENCHMARKS)
    if peers and importlib.util.find_spec("pgx") is None:
        raise BadInput("--peers needs pgx, which is not installed: pip install 'beamzero[pgx]'")
    rows = []
    for name in names or BENCHMARKS:
        for row in BENCHMARKS[name](peers):
            rows.append(row)
            err.print(f"{row.name}: {row.ours:,.0f} {row.unit}", style="dim")
    device = f"{jax.devices()[0].device_kind}, {jax.default_backend()}"
    if json:
        return print_json({"device": device, "rows": [{**row._asdict(), "ratio": row.ratio} for row in rows]})
    table = Table(box=None, header_style="bold", title=f"on {device}", title_justify="left")
    for title in ("what", "unit", "ours", "held against", "its figure", "ratio"):
        table.add_column(title, justify="right" if title in ("ours", "its figure", "ratio") else "left")
    for row in rows:
        peer = "-" if row.peer is None else f"{row.peer:,.0f}"
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(row.name, row.unit, f"{row.ours:,.0f}", row.peer_name or "-", peer, ratio)
    out.print(table)
    return None


BENCHMARKS: dict[str, Callable[[bool], Iterator[Row]]] = {"games": bench_games, "beam": bench_beam}
