"""The beam search against its bare nets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp

from beamzero.cli.timing import Row, seconds_of, side_by_side
from beamzero.games import Game, State, make_game
from beamzero.nets import Net, compute_dtype, make_evaluator, make_net
from beamzero.search.beam import BeamSearch
from beamzero.search.evaluator import choose_best, legal_moves
from beamzero.training.targets import searches_at_once

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
