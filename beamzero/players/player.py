"""Players, which choose moves for batches of positions."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.cores import programs_at_once, side_by_side, to_host
from beamzero.core.errors import BadInput
from beamzero.core.packing import apply_in_chunks, apply_packed, pack
from beamzero.games import Game, State
from beamzero.games.position import Position
from beamzero.search.children import is_narrow
from beamzero.search.drive import Snapshot, Timer, Watch, no_watch, think
from beamzero.search.evaluator import Evaluator, SearchResult
from beamzero.search.limit import Limit
from beamzero.search.memory import check_memory
from beamzero.search.protocol import UNLIMITED, Option, Search, outlook_of

_CHUNKS = 8
"""The number of chunks of a batch, each with a key of its own; at most so many cores share the work."""

FORFEIT = -1
"""A player's answer in place of a move: it gives the game up."""


class Player(abc.ABC):
    """A player of one game, which chooses a move in each of B positions.

    >>> import beamzero as bz
    >>> player = bz.make_player("lookahead:3", "tic_tac_toe")
    >>> player
    <lookahead:3, a player of tic_tac_toe>
    >>> player.think(player.game.position("a1 b1 a2 b2"))
    action  value  policy
    6       +1.00    100%  proven
    2       -1.00      0%  proven
    5       -1.00      0%  proven
    7       +0.00      0%
    8       -1.00      0%  proven
    """

    name: str
    """The text that names the player."""

    game: Game

    deterministic: bool
    """True if equal positions always get equal moves, so that games repeat."""

    def __repr__(self) -> str:
        return f"<{self.name}, a player of {self.game.spec}>"

    def think(self, states: State | Position, key: Array | None = None) -> SearchResult:
        """Search one position, or a batch of B, none of them over. Returns the values of their moves and those to play.

        For one position, a state or a `Position`, no array of the result has a batch axis. The key decides between
        equal moves, and what the search draws.
        """
        key = jax.random.key(0) if key is None else key
        if isinstance(states, Position):
            states = states.state
        if not _is_one_state(self.game, states):
            return self.think_batch(states, key)
        return jax.tree.map(lambda x: x[0], self.think_batch(batch_of_one(states), key))

    @abc.abstractmethod
    def think_batch(self, states: State, key: Array) -> SearchResult:
        """Search B positions, none of them over. Returns the values of their moves and the ones to play."""

    @abc.abstractmethod
    def choose(self, states: State, mask: Array, key: Array) -> Array:
        """Choose a move in each of B positions where `mask` [B] holds. Returns int32 [B], FORFEIT to give a game up.

        Elsewhere the answer may be anything.
        """

    def consider(
        self, state: State, key: Array, limit: Limit | None = None, timer: Timer | None = None, watch: Watch = no_watch
    ) -> Snapshot:
        """Search one position, which is not over, within `limit`, or without one by the player's own limit.

        Stopping the `timer` ends the search; a player that cannot be cut answers when it is done. `watch` gets
        snapshots during the search, and the last one.
        """
        timer = timer or Timer()
        result = jax.device_get(self.think_batch(batch_of_one(state), key))
        snapshot = Snapshot(result, outlook_of([int(result.action[0])], result), 0, 0, timer.elapsed)
        watch(snapshot)
        return snapshot

    def warm_up(self, state: State, key: Array) -> None:
        """Compile all that `consider` needs for states such as this one, so that a clock measures search alone."""
        timer = Timer()
        timer.stop()
        self.consider(state, key, Limit(), timer)

    limit: Limit | None = None
    """The default limit of a search of one position; None: until it is done."""

    in_batches: bool = False
    """True if a batch is searched at once, so that rows that no caller needs cost next to nothing."""

    units: int = UNLIMITED
    """The most units of work for a position: 1 for a player without a search."""

    tries_all: bool = True
    """False if a move with the probability 0 may never have been tried, so that its value says nothing."""

    keeps_line: bool = False
    """True if results have a line of several moves; other players are asked again after each of their own moves."""

    repeats: bool = False
    """True if equal positions always get equal probabilities."""

    plays_policy: bool = False
    """True if moves are drawn by the probabilities in results, which depend only on what the seat sees."""

    @property
    def program(self) -> Program | None:
        """Give the search and the evaluator, as parts of a larger program; None if there are none."""
        return None

    in_process: bool = False
    """True if the player computes in this process, so that it may use every core."""

    def at_a_glance(self, plies: int) -> Player:
        """Make a player like this one that searches at most `plies` deep, with exact values of all moves.

        A player whose search has no depth is returned as it is.
        """
        return self

    def with_every_move(self) -> Player:
        """Make a player like this one that finds the exact value of each move, not only of the best one."""
        return self

    def hurried(self, limit: Limit) -> Player:
        """Make a player like this one that also keeps to `limit` for each position, if it has a limit at all."""
        return self

    def with_search(self, change: Callable[[Search], Search]) -> Player:
        """Make a player like this one with its search changed; its moves may then depend on chance."""
        raise BadInput(f"{self.name} does not choose by a search that can be changed")

    @property
    def options(self) -> Mapping[str, Option]:
        """Give the numbers that may be changed, by name."""
        return {}

    def with_option(self, name: str, value: int) -> Player:
        """Make a player like this one with another value of one of the `options`; it may have to compile again."""
        raise KeyError(name)

    troubles: Sequence[str] = ()
    """Reasons, in words, why the player gave games up."""

    on_host: bool = False
    """True if the player computes on the CPU even where there is a GPU."""

    def bytes_needed(self, rows: int, with_results: bool = False) -> int:
        """Count the bytes, about, that `choose` takes in so many positions; those of `think` if `with_results`."""
        return 0

    follows_moves: ClassVar[bool] = False
    """True if the player needs the moves of a game so far, and is asked by `choose_after`."""

    def choose_after(self, states: State, mask: Array, key: Array, moves: np.ndarray) -> Array:
        """Choose moves as `choose` does, int32 [B]; `moves`, int32 [B, T], are those so far, -1 where there is none."""
        return self.choose(states, mask, key)


@functools.lru_cache(maxsize=64)
def _axes_of_state(game: Game) -> list[int]:
    """Count the axes of each array of one state."""
    return [array.ndim for array in jax.tree.leaves(jax.eval_shape(game.init, jax.random.key(0)))]


def _is_one_state(game: Game, states: State) -> bool:
    """Tell one state from a batch; BadInput where it is no state of the game."""
    axes, given = _axes_of_state(game), [np.ndim(array) for array in jax.tree.leaves(states)]
    if given != axes and given != [number + 1 for number in axes]:
        raise BadInput(f"this is no state of {game.spec}, nor a batch of states: game.position() has one")
    return given == axes


def batch_of_one(state: State) -> State:
    """Make a batch of one state."""
    return jax.tree.map(lambda x: np.asarray(x)[None], state)


class Program(NamedTuple):
    """A search with its evaluator."""

    search: Search
    evaluator: Evaluator


def check_player(player: Player, rows: int, with_results: bool = False) -> None:
    """Raise BadInput where `choose`, or `think` if `with_results`, takes more memory for so many rows than is free."""
    needs = {"a smaller search": player.bytes_needed(rows, with_results)}
    check_memory(needs, player.name, player.on_host)


def choose_one_by_one(player: Player, states: State, mask: Array, key: Array) -> Array:
    """Choose moves as `Player.choose` does, int32 [B], by searching one position after the other."""
    states = jax.device_get(states)
    moves = np.zeros(mask.shape[0], np.int32)
    for row in np.flatnonzero(np.asarray(mask)).tolist():
        state = jax.tree.map(lambda x, row=row: x[row][None], states)
        moves[row] = int(player.think(state, jax.random.fold_in(key, row)).action[0])
    return jax.device_put(moves)


@dataclasses.dataclass(frozen=True, repr=False)
class SearchPlayer(Player):
    """A player by a search with an evaluator. Players that differ only in weights share their compiled code.

    Without a limit it searches a batch to the end in one program. With one, the driver searches one position after the
    other, on one core.
    """

    name: str
    game: Game
    search: Search
    evaluator: Evaluator
    deterministic: bool = True
    on_host: bool = False
    """True if the player computes on the CPU even where there is a GPU, for a search that goes one step at a time."""
    limit: Limit | None = None

    def bytes_needed(self, rows: int, with_results: bool = False) -> int:
        if self.limit:
            # One carry is made to compile everything, and another before that one goes.
            return 2 * self.search.bytes_needed(self.game, 1)
        if with_results or (programs_at_once(self.on_host) == 1 and jax.default_backend() == "gpu"):
            return self.search.bytes_needed(self.game, rows)
        programs = min(programs_at_once(self.on_host), _CHUNKS, rows)
        return programs * self.search.bytes_needed(self.game, _chunk_of(rows))

    def think_batch(self, states: State, key: Array) -> SearchResult:
        if not self.limit:
            return self._back(_think(self.game, self.search, *self._there((self.evaluator, states, key))))
        states = jax.device_get(states)
        found = [
            self.consider(jax.tree.map(lambda x, row=row: x[row], states), jax.random.fold_in(key, row)).result
            for row in range(jax.tree.leaves(states)[0].shape[0])
        ]
        return jax.tree.map(lambda *rows: jax.device_put(np.concatenate(rows)), *found)

    def consider(
        self, state: State, key: Array, limit: Limit | None = None, timer: Timer | None = None, watch: Watch = no_watch
    ) -> Snapshot:
        limit = (self.limit or Limit()) if limit is None else limit
        evaluator, state, key = self._there((self.evaluator, state, key))
        search = self.search.anytime()
        return think(search, self.game, evaluator, state, key, limit.within(self.search.bounds), timer, watch)

    def choose(self, states: State, mask: Array, key: Array) -> Array:
        if self.limit:
            return choose_one_by_one(self, states, mask, key)
        parts = min(programs_at_once(self.on_host), _CHUNKS)
        given = self._there((self.evaluator, states, mask, key))

        def choose_some(part: int) -> Array:
            return choose_moves(self.game, self.search, parts, *given, jnp.int32(part))

        if parts == 1:
            return self._back(choose_some(0))
        # Zeros in the rows of the other parts, so that they add up.
        return self._back(functools.reduce(jnp.add, side_by_side(choose_some, range(parts), self.on_host)))

    @property
    def program(self) -> Program | None:
        return None if self.on_host or self.limit else Program(self.search, self.evaluator)

    @property
    def in_batches(self) -> bool:  # type: ignore[override]
        return not self.limit

    @property
    def units(self) -> int:  # type: ignore[override]
        return self.search.units

    @property
    def tries_all(self) -> bool:  # type: ignore[override]
        return self.search.tries_all

    @property
    def keeps_line(self) -> bool:  # type: ignore[override]
        return self.search.keeps_line

    @property
    def repeats(self) -> bool:  # type: ignore[override]
        return not self.limit and not self.search.by_chance

    @property
    def plays_policy(self) -> bool:  # type: ignore[override]
        return self.search.plays_policy

    def with_every_move(self) -> SearchPlayer:
        if self.game.hidden:  # the positions after moves would tell what the seat does not know
            return self
        return dataclasses.replace(self, search=self.search.with_every_move())

    in_process = True

    def at_a_glance(self, plies: int) -> SearchPlayer:
        short = self.search.at_a_glance(plies)
        return self if short is None else dataclasses.replace(self, search=short, limit=None)

    def hurried(self, limit: Limit) -> SearchPlayer:
        return dataclasses.replace(self, limit=self.limit.within(limit)) if self.limit else self

    def with_search(self, change: Callable[[Search], Search]) -> SearchPlayer:
        return dataclasses.replace(self, search=change(self.search), deterministic=False)

    @property
    def options(self) -> Mapping[str, Option]:
        return self.search.options

    def with_option(self, name: str, value: int) -> SearchPlayer:
        return dataclasses.replace(self, search=self.search.with_option(name, value))

    def _there(self, tree: Any) -> Any:
        """Put arrays where the player computes."""
        return to_host(tree) if self.on_host else tree

    def _back(self, tree: Any) -> Any:
        """Put the answer where the rest of the program has its arrays."""
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
    mask: Array,
    key: Array,
    part: Array,
) -> Array:
    """Choose the moves of one of `parts` programs that share the rows of `mask` [B]. Returns int32 [B], 0 elsewhere.

    The rows are shared by chunks, each with a random key of its own, so that moves do not depend on `parts`. A GPU
    takes all chunks at once: in a battle half of the rows are in the mask, so it does half of the work or, where rules
    take long to compile, always all.
    """

    def answer(states: State, number: Array) -> Array:
        return search(game, evaluator, states, jax.random.fold_in(key, number)).action

    if parts == 1 and jax.default_backend() == "gpu":
        return apply_packed(answer, states, mask, eighths=(4, 8) if is_narrow(game) else (8,))[0]
    places, count = pack(mask)
    chunk = _chunk_of(mask.shape[0])
    return apply_in_chunks(answer, states, places, count, chunk, start=part, every=parts)[0]


def _chunk_of(rows: int) -> int:
    """Give the number of rows that a program does at a time."""
    return max(1, -(-rows // _CHUNKS))
