"""Monte Carlo tree search against its bare net, and against mctx with pgx's rules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.bench.beam import some_positions
from beamzero.bench.timing import Row, on_every_core, seconds_of
from beamzero.core.cores import programs_at_once
from beamzero.games import make_game
from beamzero.nets import Net, Weights, compute_dtype, make_joint_evaluator, make_net
from beamzero.search.mcts.gumbel import as_mctx_is_written
from beamzero.search.mcts.mcts import MCTS

_NETS = {
    "mlp 128": "mlp:width=128,depth=3",
    "conv 32-64": "conv:channels=32-64,dense=96",
}
_SIMS = 100
_ROOTS = {"cpu": 2**9, "gpu": 2**15}
_PLIES = 16
"""How far into random games the roots lie."""


def bench_mcts(peers: Sequence[str]) -> Iterator[Row]:
    """Measure simulations/s in Connect Four with one net for policy and value.

    The bare net gets the same number of states at once as there are roots. On a CPU everything runs on every core at
    once, as in training; of mctx the better counts of this and of one program, which XLA spreads over the cores itself.
    """
    game = make_game("connect_four")
    batch = _ROOTS["gpu" if jax.default_backend() == "gpu" else "cpu"]
    roots = some_positions(game, batch, _PLIES)
    search, key, cores = MCTS(_SIMS), jax.random.key(0), programs_at_once()
    find = jax.jit(lambda evaluator, states: search(game, evaluator, states, key).policy)
    for name, text in _NETS.items():
        net = Net(game, make_net(text), "joint", compute_dtype("auto"))
        weights = net.init(jax.random.key(1))
        evaluator, bare = make_joint_evaluator(net, weights), jax.jit(net)
        timed: list[tuple[Callable[[], Any], int]] = [
            (lambda: on_every_core(lambda: find(evaluator, roots)), cores * batch * _SIMS),
            (lambda: on_every_core(lambda: bare(weights, roots)), cores * batch),
        ]
        if "pgx" in peers:
            theirs, their_roots = _mctx_search(net, batch)
            timed.append((lambda: on_every_core(lambda: theirs(weights, their_roots)), cores * batch * _SIMS))
            timed.append((lambda: theirs(weights, their_roots), batch * _SIMS))
        taken = seconds_of(*(run for run, _ in timed))
        rates = [count / seconds for (_, count), seconds in zip(timed, taken, strict=True)]
        title = f"tree search, {_SIMS} simulations, {name}"
        yield Row(title, "simulations/s", rates[0], rates[1], "bare net")
        if "pgx" in peers:
            yield Row(title, "simulations/s", rates[0], max(rates[2:]), "mctx and pgx")


def _mctx_search(net: Net, batch: int) -> tuple[Callable[[Weights, Any], Array], Any]:
    """Make the MuZero search of mctx on pgx's rules with our net, and roots as deep in random games as ours."""
    import mctx
    import pgx

    env = pgx.make("connect_four")
    rows = jnp.arange(batch, dtype=jnp.int32)

    def look(weights: Weights, states: Any) -> tuple[Array, Array]:
        return net.on_observations(weights, states.observation.astype(jnp.float32))

    def step(weights: Weights, key: Array, action: Array, states: Any) -> tuple[Any, Any]:
        mover = states.current_player
        states = jax.vmap(env.step)(states, action)
        value, scores = look(weights, states)
        over = states.terminated
        output = mctx.RecurrentFnOutput(
            reward=states.rewards[rows, mover],
            discount=jnp.where(over, 0.0, -1.0),
            prior_logits=jnp.where(states.legal_action_mask, scores, jnp.finfo(jnp.float32).min),
            value=jnp.where(over, 0.0, value),
        )
        return output, states

    @jax.jit
    def search(weights: Weights, states: Any) -> Array:
        with as_mctx_is_written():
            value, scores = look(weights, states)
            return mctx.muzero_policy(
                weights,
                jax.random.key(0),
                mctx.RootFnOutput(prior_logits=scores, value=value, embedding=states),
                step,
                _SIMS,
                invalid_actions=~states.legal_action_mask,
                dirichlet_fraction=0.0,
            ).action_weights

    with as_mctx_is_written():
        return search, _pgx_positions(env, batch)


def _pgx_positions(env: Any, batch: int) -> Any:
    """Make positions from the first plies of random games of pgx, none of them over."""
    stop = jnp.arange(batch, dtype=jnp.int32) % _PLIES

    def move(ply: Array, states: Any) -> Any:
        logits = jnp.where(states.legal_action_mask, 0.0, -jnp.inf)
        moved = jax.vmap(env.step)(states, jax.random.categorical(jax.random.key(ply), logits, axis=1))
        go = (stop > ply) & ~moved.terminated
        return jax.tree.map(lambda new, old: jnp.where(go.reshape(-1, *[1] * (new.ndim - 1)), new, old), moved, states)

    start = jax.vmap(env.init)(jax.random.split(jax.random.key(0), batch))
    return jax.jit(functools.partial(jax.lax.fori_loop, 0, _PLIES, move))(start)
