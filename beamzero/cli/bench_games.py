"""Random play: our games against peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

from beamzero.cli.timing import Row, seconds_of
from beamzero.games import GAMES, Game, State, make_game

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
            draws = jax.random.uniform(jax.random.fold_in(key, i), (batch,))
            states = jax.vmap(game.step)(states, jax.vmap(game.pick)(states, draws))
            over = jax.vmap(game.over)(states)
            return jax.tree.map(
                lambda new, old: jnp.where(over.reshape(-1, *[1] * (new.ndim - 1)), new, old), fresh, states
            )

        return jax.lax.fori_loop(0, _STEPS, body, fresh)

    return lambda: play(jax.random.key(0))


def _pick(legal: jax.Array, draw: jax.Array) -> jax.Array:
    """A legal action, as `Game.pick` finds it."""
    upto = jnp.cumsum(legal.astype(jnp.int32))
    rank = jnp.minimum((draw * upto[-1].astype(jnp.float32)).astype(jnp.int32), upto[-1] - 1)
    return jnp.sum(upto <= rank, dtype=jnp.int32)


def _pgx_random_play(name: str, batch: int) -> Callable[[], Any]:
    import pgx

    env = pgx.make(name)

    @jax.jit
    def play(key: jax.Array) -> Any:
        fresh = jax.vmap(env.init)(jax.random.split(key, batch))

        def body(i: jax.Array, states: Any) -> Any:
            draws = jax.random.uniform(jax.random.fold_in(key, i), (batch,))
            states = jax.vmap(env.step)(states, jax.vmap(_pick)(states.legal_action_mask, draws))
            over = states.terminated | states.truncated
            return jax.tree.map(
                lambda new, old: jnp.where(over.reshape(-1, *[1] * (new.ndim - 1)), new, old), fresh, states
            )

        return jax.lax.fori_loop(0, _STEPS, body, fresh)

    return lambda: play(jax.random.key(0))
