"""The beam search against its bare nets."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.bench.timing import Row, on_every_core, seconds_of
from beamzero.core.cores import programs_at_once
from beamzero.games import Game, State, make_game
from beamzero.nets import Net, compute_dtype, make_evaluator, make_net
from beamzero.search.beam import BeamSearch
from beamzero.search.children import children_at_once
from beamzero.search.simple import random_moves

_NETS = {
    "mlp 128": "mlp:width=128,depth=3",
    "mlp 256": "mlp:width=256,depth=3",
    "paper small": "conv:channels=16-16,dense=72",
    "paper large": "conv:channels=32-64,dense=160-112",
}


class _Wide(NamedTuple):
    """A game whose nodes have many more slots than moves."""

    game: str
    net: str
    plies: int  # how far into random games the roots lie
    roots: dict[str, int]


_WIDE = (
    _Wide("othello", "conv:channels=32-64,dense=180-112", 56, {"cpu": 2**9, "gpu": 2**14}),
    _Wide("chess", "conv:channels=32-64,dense=128", 80, {"cpu": 2**7, "gpu": 2**13}),
)


def bench_beam() -> Iterator[Row]:
    """Measure the evaluations that the search asked for, per second, against the bare net.

    The bare net gets as many states at once as a batch of roots has children, and a sixteenth of that, which is what a
    CPU is given at a time; the faster of the two counts. On a CPU both run on every core at once, as in training.

    Games with many more slots than moves in a node follow, their bare net with one and with four of the search's chunks
    at once; and for each, the share of the positions that nets were run on which the search had asked for.
    """
    game = make_game("connect_four")
    backend = "gpu" if jax.default_backend() == "gpu" else "cpu"
    batch = 2**15 if backend == "gpu" else 2**10
    roots = some_positions(game, batch, 16)
    sizes = [batch * game.max_moves, batch * game.max_moves // 16]
    for name, text in _NETS.items():
        for expand in (10, 100):
            yield _measure(game, text, roots, sizes, expand, f"beam search E={expand}, {name}")[0]
    for wide in _WIDE:
        game, batch = make_game(wide.game), wide.roots[backend]
        chunk = children_at_once(game, batch)
        yield from _measure(
            game, wide.net, some_positions(game, batch, wide.plies), [chunk, 4 * chunk], 10,
            f"beam search E=10, {wide.game}",
        )  # fmt: skip


def _measure(game: Game, net: str, roots: State, sizes: Sequence[int], expand: int, title: str) -> tuple[Row, Row]:
    """Measure evaluations a second against the bare net at the best of `sizes`; and useful evaluations against all."""
    dtype = compute_dtype("auto")
    value, scores = (Net(game, make_net(net), head, dtype) for head in ("value", "scores"))
    weights = value.init(jax.random.key(1)), scores.init(jax.random.key(2))
    evaluator = make_evaluator(value, weights[0], scores, weights[1])
    bare, find = jax.jit(value), jax.jit(functools.partial(_search, game, BeamSearch(expand)))
    number = jax.tree.leaves(roots)[0].shape[0]
    parts = [jax.tree.map(lambda x: jnp.take(x, jnp.arange(size) % number, axis=0), roots) for size in sizes]
    _, asked, ran = find(evaluator, roots)
    taken = seconds_of(
        lambda: on_every_core(lambda: find(evaluator, roots)),
        *(lambda part=part: on_every_core(lambda: bare(weights[0], part)) for part in parts),
    )
    rates = [programs_at_once() * size / seconds for size, seconds in zip([int(asked), *sizes], taken, strict=True)]
    return (
        Row(title, "evaluations/s", rates[0], max(rates[1:]), "bare net"),
        Row(f"{title}, useful", "evaluations", int(asked), int(ran), "all"),
    )


def _search(game: Game, search: BeamSearch, evaluator: Any, roots: State) -> tuple[Array, Array, Array]:
    """Search. Returns the values, and the numbers of evaluations that were asked for and that were run."""
    tree = search.advance(game, evaluator, search.start(game, evaluator, roots), search.expand)
    return search.root_moves(game, tree).values, jnp.sum(tree.evaluations), tree.ran


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def some_positions(game: Game, batch: int, plies: int) -> State:
    """Make positions from the first `plies` plies of random games, none of them over: [batch, ...]."""

    def move(ply: Array, states: State) -> State:
        moved = jax.vmap(game.step)(states, random_moves(game, states, jax.random.key(ply)))
        go = (stop > ply) & ~jax.vmap(game.over)(moved)
        return jax.tree.map(lambda new, old: jnp.where(go.reshape(-1, *[1] * (new.ndim - 1)), new, old), moved, states)

    stop = jnp.arange(batch) % plies
    return jax.lax.fori_loop(0, plies, move, jax.vmap(game.init)(jax.random.split(jax.random.key(0), batch)))
