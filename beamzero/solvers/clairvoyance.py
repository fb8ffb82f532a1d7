"""Averaging over clairvoyance: deal the hidden cards many times, solve each deal with open cards, and average.

It plays as if all cards were shown after the next move. So it never pays for information and never hides any, and it
believes that it will guess right later on. That is called strategy fusion: it plans different play for deals that it
will not be able to tell apart. `docs/bridge.md` has an ending where that goes wrong.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.search.evaluator import SearchResult, choose_best
from beamzero.search.memory import state_bytes
from beamzero.solvers.exhaustive import different

_DIGITS = 6
"""Digits to which averages are rounded: the order of adding up must not decide between equal ones."""


class Solver(Protocol):
    """A function that gives the values of moves when all cards are open."""

    def __call__(self, game: Game, states: State) -> np.ndarray:
        """Value each legal action for the side to move in N states, none of them over, which are on the host.

        Returns float32 [N, A], -inf for the other actions.
        """
        ...


@dataclasses.dataclass(frozen=True)
class Clairvoyance:
    """A search that deals the cards that the deciding seat does not know `worlds` times, and solves all deals.

    The worlds come from `Game.determinize` alone, so that the choice depends on nothing that is hidden. Equal ones are
    solved once.
    """

    solver: Solver
    worlds: int = 40

    def __post_init__(self) -> None:
        if not 1 <= self.worlds <= 10_000:
            raise BadInput(f"worlds is {self.worlds}, but must be 1 to 10000")

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes of all worlds of `roots` positions, twice, since they are sorted, and of their values."""
        return roots * self.worlds * (3 * state_bytes(game) + 16 * game.num_actions)

    def __call__(self, game: Game, states: State, key: Array, wanted: np.ndarray | None = None) -> SearchResult:
        """Search B positions. Where `wanted` [B] is false nothing is solved, and all moves have the value 0."""
        deal_key, choice_key = jax.random.split(key)
        legal, worlds = jax.device_get(_deal(game, self.worlds, states, deal_key))
        wanted = np.ones(len(legal), bool) if wanted is None else np.asarray(wanted)
        values = np.where(legal, np.float32(0), -np.inf)
        if wanted.any():
            dealt, place = different(jax.tree.map(lambda x: x[wanted].reshape(-1, *x.shape[2:]), worlds))
            solved = self.solver(game, dealt)[place].reshape(-1, self.worlds, game.num_actions)
            # Not by their sum: of infinities of one sign the mean is the infinity.
            values[wanted] = np.round(solved.astype(np.float64).mean(axis=1), _DIGITS)
        values = values.astype(np.float32)
        action, policy = choose_best(values, choice_key)
        return SearchResult(
            action=action,
            values=jax.device_put(values),
            policy=policy,
            value=jax.device_put(values.max(axis=1)),
            nodes=jax.device_put(np.where(wanted, self.worlds, 0).astype(np.int32)),
            proven=jax.device_put(np.zeros(values.shape, bool)),
        )


@functools.partial(jax.jit, static_argnums=(0, 1))
def _deal(game: Game, worlds: int, states: State, key: Array) -> tuple[Array, State]:
    """Deal worlds for B states. Returns the legal actions, bool [B, A], and states [B, worlds].

    The deciding seat cannot tell these from the given ones.
    """

    def one(state: State, number: Array) -> State:
        keys = jax.random.split(jax.random.fold_in(key, number), worlds)
        return jax.vmap(functools.partial(game.determinize, state, game.seat(state)))(keys)

    batch = jax.tree.leaves(states)[0].shape[0]
    return jax.vmap(game.legal)(states), jax.vmap(one)(states, jnp.arange(batch))
