"""The tree of all deals and all lines of play of a game with hidden cards, and exact values of strategies in it.

A strategy is a probability for each action in each information set, which is all that the seat to move knows. It is a
table from the bytes of `observe` to probabilities, or one array in the order of `DealTree.information_sets`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from beamzero.core.errors import BadInput
from beamzero.games import Game, State

Strategy = Mapping[bytes, np.ndarray]
"""The probability of each action, float [A], by the bytes of `Game.observe`."""

MOST_NODES = 2_000_000
"""The most nodes of a tree; a larger one is refused."""

_ROWS = 512
"""The number of states that are expanded together: always the same, so that the rules are compiled once."""


@dataclasses.dataclass(frozen=True, eq=False)
class DealTree:
    """A tree of N nodes by their depth, and I information sets in the order in which they are met; A actions.

    Players have perfect recall, and see how many moves were made: an information set lies at one depth. A deal has no
    node before it; it is its own parent.
    """

    game: Game
    depths: list[slice]
    """The nodes of each depth; the first ones are the deals."""
    parent: np.ndarray  # int [N] the node before
    action: np.ndarray  # int [N] the action there that leads to the node
    deal: np.ndarray  # float [N] the probability of the deal
    score: np.ndarray  # float [N] the result for the first side; 0 where the game is not over
    known: np.ndarray  # int [N] the information set; -1 where the game is over
    mover: np.ndarray  # int [I] the side to move
    legal: np.ndarray  # bool [I, A]
    states: State  # [I] one state of each information set, on the host
    observations: np.ndarray  # float32 [I, *observation_shape]

    @functools.cached_property
    def information_sets(self) -> list[bytes]:
        """List the I information sets, each as the bytes of its observation."""
        return [observation.tobytes() for observation in self.observations]

    @functools.cached_property
    def _chosen_by(self) -> np.ndarray:
        """Give the side that chose the move to each node, int [N]."""
        return self.mover[self.known[self.parent]]

    @functools.cached_property
    def _place(self) -> np.ndarray:
        """Give the place of the move to each node, int [N], in an [I, A] array laid out in one row."""
        return self.known[self.parent] * self.legal.shape[1] + self.action

    @functools.cached_property
    def _entry(self) -> np.ndarray:
        """Give the first node of each information set, int [I]."""
        running = np.flatnonzero(self.known >= 0)
        return running[np.unique(self.known[running], return_index=True)[1]]

    # --- strategies, float [I, A] ----------------------------------------------------------------------------------

    def uniform(self) -> np.ndarray:
        """Make the strategy that plays every legal action alike, float [I, A]."""
        return self.legal / self.legal.sum(axis=1, keepdims=True)

    def as_array(self, strategy: Strategy) -> np.ndarray:
        """Lay out a table of probabilities as float64 [I, A]."""
        return np.array([strategy[known] for known in self.information_sets], np.float64)

    def as_strategy(self, probabilities: np.ndarray) -> Strategy:
        """Make a table of probabilities from float [I, A]."""
        return dict(zip(self.information_sets, probabilities, strict=True))

    def reach(self, strategy: np.ndarray, side: int) -> np.ndarray:
        """Multiply the probabilities of all choices of `side` on the way to each node. Returns float [N]."""
        reach = np.ones(len(self.parent))
        chance = np.where(self._chosen_by == side, strategy.reshape(-1)[self._place], 1.0)
        for nodes in self.depths[1:]:
            reach[nodes] = reach[self.parent[nodes]] * chance[nodes]
        return reach

    def reach_of_sets(self, strategy: np.ndarray) -> np.ndarray:
        """Multiply the probabilities of the mover's own choices on the way to each information set. Returns float [I].

        That product is the same for all nodes of a set.
        """
        return np.where(self.mover == 0, *(self.reach(strategy, side)[self._entry] for side in (0, 1)))

    def action_values(self, strategy: np.ndarray, side: int) -> np.ndarray:
        """Give the counterfactual value of each action of `side`, float [I, A].

        That is its value, times the probability that the other side and the deal lead there; 0 in the information sets
        of the other side.
        """
        return self._back_up(strategy, side, lambda values: strategy)[0]

    def value(self, strategy: np.ndarray) -> float:
        """Give the mean result of the first side where both sides play by the strategy."""
        return self._back_up(strategy, 0, lambda values: strategy)[1]

    def set_values(self, strategy: np.ndarray) -> np.ndarray:
        """Give the mean result of the mover in each information set, float [I], where both sides play by the strategy.

        It is 0 in the sets that they never reach.
        """
        won = sum(np.sum(strategy * self.action_values(strategy, side), axis=1) for side in (0, 1))
        chances = [np.where(self.mover == side, self._met(strategy, 1 - side), 0.0) for side in (0, 1)]
        met = chances[0] + chances[1]
        return np.where(met > 0, won / np.where(met > 0, met, 1.0), 0.0)

    def _met(self, strategy: np.ndarray, side: int) -> np.ndarray:
        """Give the probability that the deal and the choices of `side` lead to each information set, float [I]."""
        running = self.known >= 0
        return np.bincount(self.known[running], (self.deal * self.reach(strategy, side))[running])

    def best_response(self, strategy: np.ndarray, side: int) -> np.ndarray:
        """Replace the choices of `side` in a strategy by the best response to it. Returns float [I, A]."""

        def best(values: np.ndarray) -> np.ndarray:
            allowed = np.where(self.legal, values, -np.inf)
            return np.eye(allowed.shape[1])[allowed.argmax(axis=1)]

        return self.mixed(side, best(self._back_up(strategy, side, best)[0]), strategy)

    def mixed(self, side: int, own: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Join two strategies: `own` in the information sets of `side`, `other` elsewhere. Returns float [I, A]."""
        return np.where((self.mover == side)[:, None], own, other)

    def exploitability(self, strategy: np.ndarray) -> float:
        """Give the mean gain of a best response, moving first as often as second; 0 for an equilibrium."""
        first, second = (self.value(self.best_response(strategy, side)) for side in (0, 1))
        return (first - second) / 2

    def _back_up(
        self, strategy: np.ndarray, side: int, answer: Callable[[np.ndarray], np.ndarray]
    ) -> tuple[np.ndarray, float]:
        """Give the values, float [I, A], of the actions of `side`, weighed as in `action_values`, and that of the game.

        `answer` makes the choices [I, A] of `side` from the values [I, A] that are known so far. It is called depth by
        depth, the deepest information sets first, so that all that can follow is known already.
        """
        weighted = self.deal * self.reach(strategy, 1 - side) * self.score * (1 - 2 * side)
        values = np.zeros(self.legal.size)
        for nodes, above in zip(self.depths[:0:-1], self.depths[-2::-1], strict=True):
            own, place, here = self._chosen_by[nodes] == side, self._place[nodes], weighted[nodes]
            if own.any():
                values += np.bincount(place, np.where(own, here, 0.0), self.legal.size)
                choice = answer(values.reshape(self.legal.shape)).reshape(-1)[place]
                here = np.where(own, choice * here, here)
            weighted[above] += np.bincount(self.parent[nodes] - above.start, here, above.stop - above.start)
        return values.reshape(self.legal.shape), float(weighted[self.depths[0]].sum())


# --- growing it ------------------------------------------------------------------------------------------------------


class _Expanded(NamedTuple):
    """B states by the rules, with their children, on the host."""

    over: np.ndarray  # bool [B]
    score: np.ndarray  # float32 [B]
    mover: np.ndarray  # int32 [B]
    legal: np.ndarray  # bool [B, A]
    observation: np.ndarray  # float32 [B, *observation_shape]
    children: State  # [B, A, ...] after each action, legal or not


def grow_tree(game: Game, most: int = MOST_NODES) -> DealTree:
    """Grow the whole tree of a game that lists its deals; BadInput where it has more than `most` nodes."""
    if not game.hidden:
        raise BadInput(f"{game.name} hides nothing: only games of hidden cards have a tree of deals")
    if game.num_chance:
        raise BadInput(f"{game.name} has chance events, which a tree of deals does not follow")
    chances, firsts = zip(*game.deals(), strict=True)
    states = jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *firsts)
    parent, action, deal = np.arange(len(chances)), np.zeros(len(chances), int), np.array(chances)
    numbers: dict[bytes, int] = {}
    grown, sets, depths = [], [], []
    nodes = 0
    while len(parent):
        expanded = _expand_all(game, states)
        depths.append(slice(nodes, nodes + len(parent)))
        if depths[-1].stop > most:
            raise BadInput(f"the tree of {game.name} has more than {most:,} nodes")
        known = np.full(len(parent), -1)
        earlier = len(numbers)
        for row in np.flatnonzero(~expanded.over):
            mark = expanded.observation[row].tobytes()
            if mark not in numbers:
                numbers[mark] = len(numbers)
                sets.append((expanded.mover[row], expanded.legal[row], _at(states, row), expanded.observation[row]))
            known[row] = numbers[mark]
            mover, legal = sets[known[row]][:2]
            if known[row] < earlier or mover != expanded.mover[row] or (legal != expanded.legal[row]).any():
                raise BadInput(f"{game.name}: observe does not tell apart positions that a player can tell apart")
        grown.append((parent, action, deal, expanded.score, known))
        rows, action = np.nonzero(expanded.legal & ~expanded.over[:, None])
        parent, deal, states = nodes + rows, deal[rows], _at(expanded.children, (rows, action))
        nodes = depths[-1].stop
    parent, action, deal, score, known = (np.concatenate(column) for column in zip(*grown, strict=True))
    mover, legal, examples, observations = zip(*sets, strict=True)
    return DealTree(
        game,
        depths,
        parent,
        action,
        deal,
        score.astype(np.float64),
        known,
        mover=np.array(mover),
        legal=np.stack(legal),
        states=jax.tree.map(lambda *leaves: np.stack(leaves), *examples),
        observations=np.stack(observations),
    )


def _at(states: State, index: object) -> State:
    """Index every array of some states."""
    return jax.tree.map(lambda leaf: leaf[index], states)


def _expand_all(game: Game, states: State) -> _Expanded:
    """Expand any number of states, some rows at a time."""
    number = jax.tree.leaves(states)[0].shape[0]
    parts = []
    for start in range(0, number, _ROWS):
        rows = np.minimum(np.arange(start, start + _ROWS), number - 1)
        parts.append(jax.device_get(_expand(game, _at(states, rows))))
    return jax.tree.map(lambda *leaves: np.concatenate(leaves)[:number], *parts)


@functools.partial(jax.jit, static_argnums=0)
def _expand(game: Game, states: State) -> _Expanded:
    """Expand B states, in one program."""
    actions = jnp.arange(game.num_actions, dtype=jnp.int32)

    def one(state: State) -> _Expanded:
        children = jax.vmap(game.step, (None, 0))(state, actions)
        answers = (ask(state) for ask in (game.over, game.score, game.player, game.legal, game.observe))
        return _Expanded(*answers, children)  # type: ignore[arg-type, call-arg]

    return jax.vmap(one)(states)
