"""A player: something that chooses moves for a batch of positions."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import Game, State
from beamzero.search.children import is_narrow
from beamzero.search.cores import searches_at_once, side_by_side, to_host
from beamzero.search.evaluator import Evaluator, Remembers, Search, SearchResult
from beamzero.search.memory import check_memory
from beamzero.search.packing import apply_in_chunks, apply_packed, pack

_CHUNKS = 8
"""Of the rows of a batch: so many keys are drawn, and at most so many cores share the work."""


FORFEIT = -1
"""In place of a move: the player gives the game up."""


class Player(abc.ABC):
    """Chooses a move in each of B positions of one game."""

    name: str
    """The text that names it."""

    game: Game

    deterministic: bool
    """Whether it answers the same position with the same move each time, so that games repeat."""

    @abc.abstractmethod
    def think(self, states: State, key: Array) -> SearchResult:
        """What it thinks of each of B positions, none of them over."""

    @abc.abstractmethod
    def choose(self, states: State, turn: Array, key: Array) -> Array:
        """int32 [B]: its move where `turn` [B] holds, or FORFEIT; anything elsewhere."""

    troubles: Sequence[str] = ()
    """What went wrong, in words: why it gave games up."""

    on_host: bool = False
    """Whether it thinks on the CPU even where there is a GPU."""

    def bytes_needed(self, rows: int, thinking: bool = False) -> int:
        """Count the bytes that it takes to `choose` in so many positions, about; or to `think` about them."""
        return 0

    follows_moves: ClassVar[bool] = False
    """Whether it has to know how a position came about, and is asked by `choose_after`."""

    def choose_after(self, states: State, turn: Array, key: Array, moves: np.ndarray) -> Array:
        """The same as `choose`, of games whose moves so far are known: int32 [B, T], -1 where there is none."""
        return self.choose(states, turn, key)


def check_player(player: Player, rows: int, thinking: bool = False) -> None:
    """Raise BadInput where choosing in so many positions, or thinking about them, takes more memory than is free."""
    needs = {"a smaller search": player.bytes_needed(rows, thinking)}
    check_memory(needs, player.name, player.on_host)


def choose_one_by_one(player: Player, states: State, turn: Array, key: Array) -> Array:
    """What `Player.choose` promises, of a player that thinks about one position after the other."""
    states = jax.device_get(states)
    moves = np.zeros(turn.shape[0], np.int32)
    for row in np.flatnonzero(np.asarray(turn)).tolist():
        state = jax.tree.map(lambda x, row=row: x[row][None], states)
        moves[row] = int(player.think(state, jax.random.fold_in(key, row)).action[0])
    return jax.device_put(moves)


@dataclasses.dataclass(frozen=True)
class SearchPlayer(Player):
    """A search with an evaluator, on the device. Players that differ only in weights share their compiled code."""

    name: str
    game: Game
    search: Search
    evaluator: Evaluator
    deterministic: bool = True
    on_host: bool = False
    """Whether it thinks on the CPU even where there is a GPU, as suits a search that goes one step at a time."""

    def bytes_needed(self, rows: int, thinking: bool = False) -> int:
        if not isinstance(self.search, Remembers):
            return 0
        if thinking or (searches_at_once(self.on_host) == 1 and jax.default_backend() == "gpu"):
            return self.search.bytes_needed(self.game, rows)
        programs = min(searches_at_once(self.on_host), _CHUNKS, rows)
        return programs * self.search.bytes_needed(self.game, _chunk_of(rows))

    def think(self, states: State, key: Array) -> SearchResult:
        return self._back(_think(self.game, self.search, *self._there((self.evaluator, states, key))))

    def choose(self, states: State, turn: Array, key: Array) -> Array:
        parts = min(searches_at_once(self.on_host), _CHUNKS)
        given = self._there((self.evaluator, states, turn, key))

        def choose_some(part: int) -> Array:
            return choose_moves(self.game, self.search, parts, *given, jnp.int32(part))

        if parts == 1:
            return self._back(choose_some(0))
        # Zeros in the rows of the other parts, so that they add up.
        return self._back(functools.reduce(jnp.add, side_by_side(choose_some, range(parts), self.on_host)))

    @property
    def is_one_program(self) -> bool:
        """Whether one program chooses for all positions, so that it can be part of a larger one."""
        return min(searches_at_once(self.on_host), _CHUNKS) == 1 and not self.on_host

    def _there(self, tree: Any) -> Any:
        return to_host(tree) if self.on_host else tree

    def _back(self, tree: Any) -> Any:
        """The answer where the rest of the program has its arrays."""
        return jax.device_put(tree, jax.devices()[0]) if self.on_host and jax.default_backend() != "cpu" else tree


@functools.partial(jax.jit, static_argnums=(0, 1))
def _think(game: Game, search: Search, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
    return search(game, evaluator, states, key)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def choose_moves(
    game: Game,
    search: Search,
    parts: int,
    evaluator: Evaluator,
    states: State,
    turn: Array,
    key: Array,
    part: Array,
) -> Array:
    """int32 [B]: the moves of one of `parts` programs that share the rows, and zeros elsewhere.

    The rows are shared by chunks, each with a random key of its own, so that moves do not depend on `parts`. A GPU
    takes them at once: in a battle half of the rows have the turn, so it does half of them or, where rules take long to
    compile, always all.
    """

    def answer(states: State, number: Array) -> Array:
        return search(game, evaluator, states, jax.random.fold_in(key, number)).action

    if parts == 1 and jax.default_backend() == "gpu":
        return apply_packed(answer, states, turn, eighths=(4, 8) if is_narrow(game) else (8,))[0]
    places, count = pack(turn)
    chunk = _chunk_of(turn.shape[0])
    return apply_in_chunks(answer, states, places, count, chunk, start=part, every=parts)[0]


def _chunk_of(rows: int) -> int:
    """How many of the rows a program does at a time."""
    return max(1, -(-rows // _CHUNKS))
