"""How strong a trained agent plays, in words, from beginner to full."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.errors import BadInput
from beamzero.games import Game, State
from beamzero.players.agent_kind import agent_kind
from beamzero.players.player import Player, SearchPlayer
from beamzero.registry import ALGORITHMS
from beamzero.search.evaluator import Evaluator, Remembers, Search, SearchResult
from beamzero.search.simple import random_moves
from beamzero.spec import unknown


@dataclasses.dataclass(frozen=True)
class Level:
    """One level. Below full an agent has one look, and a share of its moves, `slip`, is any legal move instead."""

    name: str
    slip: float = 0.0
    searches: bool = False

    def settled(self, algorithm: str, options: Mapping[str, str]) -> dict[str, str]:
        """The options of an agent with those that the level adds."""
        return {**options, **(agent_kind(algorithm).full if self.searches else {})}

    def weakened(self, player: Player) -> Player:
        """The player, slipping."""
        if not self.slip:
            return player
        assert isinstance(player, SearchPlayer)
        return dataclasses.replace(player, search=Slipping(player.search, self.slip), deterministic=False)


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
    """The level of that name; BadInput where there is none, or where the agent says itself how it searches."""
    if text not in LEVELS:
        raise unknown("level", text, LEVELS)
    if algorithm not in ALGORITHMS:
        raise BadInput(f"{agent}: only trained agents have levels ({', '.join(ALGORITHMS)})")
    clash = sorted(set(options or ()) - {"path", "checkpoint"})
    if clash:
        raise BadInput(f"{agent}: give a level or {', '.join(clash)}, not both")
    return LEVELS[text]


@dataclasses.dataclass(frozen=True)
class Slipping:
    """A search whose move is any legal one instead with the probability `slip`."""

    search: Search
    slip: float

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count what the search takes that slips."""
        return self.search.bytes_needed(game, roots) if isinstance(self.search, Remembers) else 0

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        search_key, slip_key, move_key = jax.random.split(key, 3)
        found = self.search(game, evaluator, states, search_key)
        slips = jax.random.uniform(slip_key, found.action.shape) < self.slip
        legal = jax.vmap(game.legal)(states).astype(jnp.float32)
        even = legal / jnp.sum(legal, axis=1, keepdims=True)
        return found._replace(
            action=jnp.where(slips, random_moves(game, states, move_key), found.action),
            policy=(1 - self.slip) * found.policy + self.slip * even,
        )
