"""Throughput, as ratios within one run: of our games against peers, and of the search against its bare nets."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, NamedTuple

import jax
import jax.numpy as jnp
import typer
from rich.table import Table

from beamzero.cli.common import AsJson, err, out, print_json
from beamzero.errors import BadInput
from beamzero.games import GAMES, Game, State, make_game
from beamzero.nets import Net, compute_dtype, make_evaluator, make_net
from beamzero.search.beam import BeamSearch
from beamzero.search.evaluator import choose_best, legal_moves
from beamzero.spec import unknown
from beamzero.training.targets import searches_at_once


class Row(NamedTuple):
    """One figure: ours, and what it is held against."""

    name: str
    unit: str
    ours: float
    peer: float | None = None
    peer_name: str | None = None

    @property
    def ratio(self) -> float | None:
        return None if self.peer is None else self.ours / self.peer


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


def seconds_of(*functions: Callable[[], Any], seconds: float = 2.0) -> list[float]:
    """The least time of each function's call, taking turns for `seconds` each, so that noise hits them alike."""
    for function in functions:
        jax.block_until_ready(function())
    best = [float("inf")] * len(functions)
    end = time.perf_counter() + seconds * len(functions)
    while True:
        for i, function in enumerate(functions):
            start = time.perf_counter()
            jax.block_until_ready(function())
            best[i] = min(best[i], time.perf_counter() - start)
        if time.perf_counter() > end:
            return best


def side_by_side(function: Callable[[], Any]) -> list[Any]:
    """The function's result from as many threads at once as training searches with."""
    return list(_THREADS.map(lambda _: jax.block_until_ready(function()), range(searches_at_once())))


_THREADS = ThreadPoolExecutor()


# --- games -----------------------------------------------------------------------------------------------------------

_PGX_NAMES = {"tic_tac_toe": "tic_tac_toe", "connect_four": "connect_four"}
_STEPS = 128


def bench_games(peers: bool) -> Iterator[Row]:
    """Random play: steps/s of a batch of games that start anew when they end."""
    batch = 2**17 if jax.default_backend() == "gpu" else 2**13
    for name in GAMES:
        ours = random_play(make_game(name), batch)
        functions = [ours]
        if peers and name in _PGX_NAMES:
            functions.append(_pgx_random_play(_PGX_NAMES[name], batch))
        rates = [batch * _STEPS / taken for taken in seconds_of(*functions)]
        peer, peer_name = (rates[1], "pgx") if len(rates) > 1 else (None, None)
        yield Row(f"random play, {name}", "steps/s", rates[0], peer, peer_name)


def random_play(game: Game, batch: int) -> Callable[[], Any]:
    """`_STEPS` random moves in each of `batch` games."""

    @jax.jit
    def play(key: jax.Array) -> State:
        fresh = jax.vmap(game.init)(jax.random.split(key, batch))

        def body(i: jax.Array, states: State) -> State:
            values = jnp.where(legal_moves(game, states), 0.0, -jnp.inf)
            action, _ = choose_best(values, jax.random.fold_in(key, i))
            states = jax.vmap(game.step)(states, action)
            over = jax.vmap(game.over)(states)
            return jax.tree.map(
                lambda new, old: jnp.where(over.reshape(-1, *[1] * (new.ndim - 1)), new, old), fresh, states
            )

        return jax.lax.fori_loop(0, _STEPS, body, fresh)

    return lambda: play(jax.random.key(0))


def _pgx_random_play(name: str, batch: int) -> Callable[[], Any]:
    import pgx

    env = pgx.make(name)

    @jax.jit
    def play(key: jax.Array) -> Any:
        fresh = jax.vmap(env.init)(jax.random.split(key, batch))

        def body(i: jax.Array, states: Any) -> Any:
            values = jnp.where(states.legal_action_mask, 0.0, -jnp.inf)
            action, _ = choose_best(values, jax.random.fold_in(key, i))
            states = jax.vmap(env.step)(states, action)
            over = states.terminated | states.truncated
            return jax.tree.map(
                lambda new, old: jnp.where(over.reshape(-1, *[1] * (new.ndim - 1)), new, old), fresh, states
            )

        return jax.lax.fori_loop(0, _STEPS, body, fresh)

    return lambda: play(jax.random.key(0))


# --- beam search -----------------------------------------------------------------------------------------------------

_NETS = {
    "mlp 128": "mlp:width=128,depth=3",
    "mlp 256": "mlp:width=256,depth=3",
    "paper small": "conv:channels=16-16,dense=72",
    "paper large": "conv:channels=32-64,dense=160-112",
}


def bench_beam(peers: bool) -> Iterator[Row]:
    """Evaluations that the search asked for, per second, against the bare net.

    The bare net gets as many states at once as a batch of roots has children, and a sixteenth of that, which is what a
    CPU is given at a time; the faster of the two counts. On a CPU both run on every core at once, as in training.
    """
    game = make_game("connect_four")
    batch = 2**15 if jax.default_backend() == "gpu" else 2**10
    roots = _some_positions(game, batch)
    children = jax.tree.map(lambda x: jnp.repeat(x, game.max_moves, axis=0), roots)
    sizes = [batch * game.max_moves, batch * game.max_moves // 16]
    parts = [jax.tree.map(lambda x: x[:size], children) for size in sizes]
    for name, text in _NETS.items():
        dtype = compute_dtype("auto")
        value, scores = (Net(game, make_net(text), head, dtype) for head in ("value", "scores"))
        weights = value.init(jax.random.key(1)), scores.init(jax.random.key(2))
        evaluator = make_evaluator(value, weights[0], scores, weights[1])
        bare = jax.jit(evaluator.value.func)
        for expand in (10, 100):
            search = BeamSearch(expand)
            find = jax.jit(lambda evaluator, roots, search=search: _evaluations(game, search, evaluator, roots))
            asked = int(find(evaluator, roots)[1])
            taken = seconds_of(
                lambda: side_by_side(lambda: find(evaluator, roots)),
                *(lambda part=part: side_by_side(lambda: bare(weights[0], part)) for part in parts),
            )
            rates = [searches_at_once() * size / seconds for size, seconds in zip([asked, *sizes], taken, strict=True)]
            yield Row(f"beam search E={expand}, {name}", "evaluations/s", rates[0], max(rates[1:]), "bare net")


def _evaluations(game: Game, search: BeamSearch, evaluator: Any, roots: State) -> tuple[Any, Any]:
    tree = search.advance(game, evaluator, search.start(game, roots), search.expand)
    return search.result(game, tree, jax.random.key(0)).values, jnp.sum(tree.evaluations)


def _some_positions(game: Game, batch: int) -> State:
    """Positions from the first 16 plies of random games, none of them over."""
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), batch))
    stop = jnp.arange(batch) % 16
    for ply in range(16):
        action, _ = choose_best(jnp.where(legal_moves(game, states), 0.0, -jnp.inf), jax.random.key(ply))
        moved = jax.vmap(game.step)(states, action)
        go = (stop > ply) & ~jax.vmap(game.over)(moved)
        states = jax.tree.map(
            lambda new, old: jnp.where(go.reshape(-1, *[1] * (new.ndim - 1)), new, old), moved, states
        )
    return states


BENCHMARKS: dict[str, Callable[[bool], Iterator[Row]]] = {"games": bench_games, "beam": bench_beam}
