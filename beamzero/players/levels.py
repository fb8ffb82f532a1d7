"""Levels of trained agents, from beginner to full."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.core.registry import ALGORITHMS
from beamzero.core.spec import unknown
from beamzero.games import Game, State
from beamzero.players.agent_kind import agent_kind
from beamzero.players.player import Player
from beamzero.search.evaluator import Evaluator, SearchResult
from beamzero.search.protocol import Carry, Search, Spent
from beamzero.search.simple import random_moves


@dataclasses.dataclass(frozen=True)
class Level:
    """One level of strength. Below full an agent plays by one look at its net, with a share `slip` of random moves."""

    name: str
    slip: float = 0.0
    searches: bool = False

    def with_level_options(self, algorithm: str, options: Mapping[str, str]) -> dict[str, str]:
        """Add the options of the level to those of an agent."""
        return {**options, **(agent_kind(algorithm).full if self.searches else {})}

    def weakened(self, player: Player) -> Player:
        """Make the player that plays a random move with the probability `slip`."""
        return player.with_search(lambda search: Slipping(search, self.slip)) if self.slip else player


LEVELS = {
    level.name: level
    for level in (
        Level("beginner", 0.5),
        Level("easy", 0.25),
        Level("medium", 0.1),
        Level("hard"),
        Level("full", searches=True),
    )
}


def find_level(text: str, agent: str, algorithm: str, options: Mapping[str, str] | None = None) -> Level:
    """Find a level by its name; BadInput where there is none, or where the agent has search options of its own."""
    if text not in LEVELS:
        raise unknown("level", text, LEVELS)
    if algorithm not in ALGORITHMS:
        raise BadInput(f"{agent}: only trained agents have levels ({', '.join(ALGORITHMS)})")
    clash = sorted(set(options or ()) - {"path", "checkpoint"})
    if clash:
        raise BadInput(f"{agent}: give a level or {', '.join(clash)}, not both")
    return LEVELS[text]


@dataclasses.dataclass(frozen=True)
class Slipping(Search):
    """A search that plays a random legal move with the probability `slip`."""

    search: Search
    slip: float

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SlippingCarry:
        return SlippingCarry(states, self.search.start(game, evaluator, states, jax.random.split(key, 3)[0]))

    def advance(self, game: Game, evaluator: Evaluator, carry: SlippingCarry, budget: Array | int) -> SlippingCarry:
        return carry._replace(carry=self.search.advance(game, evaluator, carry.carry, budget))

    def finish(self, game: Game, evaluator: Evaluator, carry: SlippingCarry) -> SlippingCarry:
        return carry._replace(carry=self.search.finish(game, evaluator, carry.carry))

    def done(self, game: Game, carry: SlippingCarry) -> Array:
        return self.search.done(game, carry.carry)

    def spent(self, game: Game, carry: SlippingCarry) -> Spent:
        return self.search.spent(game, carry.carry)

    def result(self, game: Game, carry: SlippingCarry, key: Array) -> SearchResult:
        search_key, slip_key, move_key = jax.random.split(key, 3)
        found = self.search.result(game, carry.carry, search_key)
        slips = jax.random.uniform(slip_key, found.action.shape) < self.slip
        legal = jax.vmap(game.legal)(carry.states).astype(jnp.float32)
        even = legal / jnp.sum(legal, axis=1, keepdims=True)
        return found._replace(
            action=jnp.where(slips, random_moves(game, carry.states, move_key), found.action),
            policy=(1 - self.slip) * found.policy + self.slip * even,
        )

    def nodes_of_unit(self, game: Game) -> int:
        return self.search.nodes_of_unit(game)

    @property
    def units(self) -> int:
        return self.search.units

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes of the search below."""
        return self.search.bytes_needed(game, roots)


class SlippingCarry(NamedTuple):
    """The carry of `Slipping`."""

    states: State  # [B, ...]
    carry: Carry
