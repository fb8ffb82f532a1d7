"""Opening books of the moves of a deep search.

A book has to answer every move of the other side, but only after its own moves. So it holds, for either side, the
positions in which this side has followed the book and the other has played anything: with b moves in each position some
b**(n / 2) of them n plies on, where all of them would be b**n.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import jax
import numpy as np
from jax import Array

from beamzero.core.cores import side_by_side
from beamzero.core.errors import BadInput
from beamzero.core.progress import OnPhase, OnProgress, no_progress
from beamzero.games import Game, State
from beamzero.players.book import as_numbers, fold, fold_action
from beamzero.players.player import Player
from beamzero.search.children import listed_moves
from beamzero.storage.bookfile import Book
from beamzero.training.opening_book.entries import BookEntry, Clock, check_plies, make_book

_Rows = TypeVar("_Rows")


@dataclasses.dataclass(frozen=True)
class FromSearch:
    """Says which positions are in the book."""

    plies: int = 8
    """The number of plies of a game that it covers."""
    any_plies: int = 2
    """The number of plies at the start that may be any moves of either side: battles begin with random ones."""
    replies: int = 0
    """The number of moves of the other side that are followed, the best ones by a short search; 0 for all."""

    def check(self, game: Game) -> None:
        """Raise BadInput where such a book cannot be made."""
        check_plies(game, self.plies)
        if not 0 <= self.any_plies <= self.plies:
            raise BadInput(f"any plies is {self.any_plies}, but must be 0 to the plies of the book, {self.plies}")
        if self.replies < 0:
            raise BadInput(f"replies is {self.replies}, but must be 0 for all, or more")


def search_book(
    game: Game,
    player: Player,
    plan: FromSearch,
    minutes: float | None = None,
    seed: int = 0,
    on_progress: OnPhase = no_progress,
) -> Book:
    """Make a book of the answers of `player`, ply after ply; after `minutes` it holds those found by then.

    `about` says how many plies are whole: every position that belongs to them is in the book.
    """
    plan.check(game)
    clock, key = Clock(minutes), jax.random.key(seed)
    entries: dict[int, BookEntry] = {}
    level = _first_level(game)
    followed = {int(level.keys[0]): int(level.sides[0])}
    whole = 0
    for ply in range(plan.plies):
        if ply:
            level = _next_level(game, player, plan, level, entries, ply - 1, followed, clock)
            if clock.is_over:
                break
        if not level.keys.size:
            whole = plan.plies  # every game is over by then
            break
        progress = functools.partial(on_progress, f"ply {ply + 1} of {plan.plies}")
        if not _answer(game, player, level, entries, jax.random.fold_in(key, ply), clock, progress):
            break
        whole = ply + 1
    about = {"from": "search", "agent": player.name, "seed": seed, **dataclasses.asdict(plan), "whole_plies": whole}
    return make_book(game, entries, about)


class _Level(NamedTuple):
    """N positions at one ply, none of them over, no two of them images of each other; on the host."""

    states: State  # [N, ...]
    keys: np.ndarray  # uint64 [N]
    sides: np.ndarray  # int32 [N] bit s: side s has followed the book so far
    player: np.ndarray  # int32 [N] the side to move


def _first_level(game: Game) -> _Level:
    states = jax.tree.map(lambda x: np.asarray(x)[None], game.init(jax.random.key(0)))
    seen = _in_batches(functools.partial(_see, game), states)
    return _Level(states, as_numbers(seen.key), np.array([3], np.int32), seen.player)


def _answer(
    game: Game,
    player: Player,
    level: _Level,
    entries: dict[int, BookEntry],
    key: Array,
    clock: Clock,
    progress: OnProgress,
) -> bool:
    """Add to `entries` the player's answers where it has followed the book. Returns whether there was time for all."""
    has_followed = level.sides >> level.player & 1 == 1
    rows = [row for row in np.flatnonzero(has_followed).tolist() if int(level.keys[row]) not in entries]
    progress(0, len(rows))

    def answer(row: int) -> tuple[Array, Array]:
        states = _take(level.states, [row])
        result = player.think(states, jax.random.fold_in(key, row))
        return _fold_moves(game, states, result.action[:, None]), result.value

    for done, (row, (move, value)) in enumerate(zip(rows, _each(player, answer, rows)), 1):
        entries[int(level.keys[row])] = BookEntry(int(move[0, 0]), float(value[0]))
        progress(done, len(rows))
        if clock.is_over:
            return done == len(rows)
    return True


def _each(player: Player, search: Callable[[int], Any], rows: Sequence[int]) -> Iterator[Any]:
    """Yield the result of `search` for each row, in order; on every core if the player searches in this process."""
    # One position at a time: a search that does several keeps its table for them, but that saved nothing.
    return side_by_side(search, rows, player.on_host) if player.in_process else map(search, rows)


# --- from one ply to the next ----------------------------------------------------------------------------------------


def _next_level(
    game: Game,
    player: Player,
    plan: FromSearch,
    level: _Level,
    entries: dict[int, BookEntry],
    ply: int,
    followed: dict[int, int],
    clock: Clock,
) -> _Level:
    """Find the positions one ply on that belong into the book, or are on the way to some that do.

    `followed` says of each position so far which sides have followed the book to it. One that is reached again, as in
    Kalah after more moves or fewer, is taken up only for a side that had not reached it so. When the time is over, some
    are missing.
    """
    rows, actions, sides = _moves_to_follow(game, player, plan, level, entries, ply, clock)
    children = _in_batches(functools.partial(_step, game), (_take(level.states, rows), actions))
    seen = _in_batches(functools.partial(_see, game), children)
    keys = as_numbers(seen.key)
    place: dict[int, int] = {}
    fresh: dict[int, int] = {}
    for row in np.flatnonzero(~seen.over).tolist():
        key = int(keys[row])
        if new := int(sides[row]) & ~followed.get(key, 0):
            place.setdefault(key, row)
            fresh[key] = fresh.get(key, 0) | new
    followed.update({key: followed.get(key, 0) | new for key, new in fresh.items()})
    at = np.array(list(place.values()), np.int32)
    return _Level(_take(children, at), keys[at], np.array(list(fresh.values()), np.int32), seen.player[at])


def _moves_to_follow(
    game: Game, player: Player, plan: FromSearch, level: _Level, entries: dict[int, BookEntry], ply: int, clock: Clock
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List rows, actions to follow from there, and the sides that follow the book with them: int32 [M] each."""
    moves, listed = _in_batches(functools.partial(_moves, game), level.states)
    if ply < plan.any_plies:
        sides = np.where(listed, 3, 0)
    else:
        book_moves = np.array([entries[key].move if key in entries else -1 for key in level.keys.tolist()], np.int32)
        folded = _in_batches(functools.partial(_fold_moves, game), level.states, moves)
        by_book = listed & (folded == book_moves[:, None])
        replies = _best_replies(player, level, moves, listed, plan.replies, clock) if plan.replies else listed
        own, other = 1 << level.player[:, None], 2 >> level.player[:, None]
        sides = (np.where(by_book, own, 0) | np.where(replies, other, 0)) & level.sides[:, None]
    rows, slots = np.nonzero(sides)
    return rows.astype(np.int32), moves[rows, slots], sides[rows, slots].astype(np.int32)


_SHORT_DEPTH = 4
"""Plies of the search that puts the replies of the other side in order."""


def _best_replies(
    player: Player, level: _Level, moves: np.ndarray, listed: np.ndarray, most: int, clock: Clock
) -> np.ndarray:
    """Find the `most` best moves where the other side has followed the book, until the time is over: bool [N, K]."""
    judge = player.at_a_glance(_SHORT_DEPTH)

    def values_of(row: int) -> Array:
        return judge.think(_take(level.states, [row]), jax.random.key(0)).values

    best = np.zeros(listed.shape, bool)
    rows = np.flatnonzero(level.sides >> (1 - level.player) & 1).tolist()
    for row, values in zip(rows, _each(judge, values_of, rows)):
        values_here = np.where(listed[row], np.asarray(values)[0, moves[row]], -np.inf)
        best[row, np.argsort(-values_here, kind="stable")[:most]] = True
        if clock.is_over:
            break
    return best & listed


# --- many positions at once, in batches of one size ------------------------------------------------------------------

_BATCH = 256


def _in_batches(function: Callable[..., _Rows], *rows: Any) -> _Rows:
    """Call ``function(*rows)``, compiled for one number of rows, with any number of them; on the host."""
    size = jax.tree.leaves(rows)[0].shape[0]
    found = []
    for start in range(0, size, _BATCH):
        places = np.minimum(np.arange(start, start + _BATCH), size - 1)
        some = jax.device_get(function(*_take(rows, places)))
        found.append(jax.tree.map(lambda x: x[: size - start], some))
    return jax.tree.map(lambda *x: np.concatenate(x), *found)


def _take(rows: Any, places: Any) -> Any:
    return jax.tree.map(lambda x: np.asarray(x)[places], rows)


class _Seen(NamedTuple):
    """B positions as a book sees them."""

    key: Array  # uint32 [B, 2]
    over: Array  # bool [B]
    player: Array  # int32 [B]


@functools.partial(jax.jit, static_argnums=0)
def _see(game: Game, states: State) -> _Seen:
    return jax.vmap(lambda state: _Seen(fold(game, state).key, game.over(state), game.player(state)))(states)


@functools.partial(jax.jit, static_argnums=0)
def _moves(game: Game, states: State) -> tuple[Array, Array]:
    """List the legal moves, int32 [B, K], and which slots hold one, bool [B, K]."""
    moves, _, listed = listed_moves(game, states)
    return moves, listed


@functools.partial(jax.jit, static_argnums=0)
def _fold_moves(game: Game, states: State, moves: Array) -> Array:
    """Turn moves into those of the images that stand for all, int32 [B, K]."""
    folded = jax.vmap(functools.partial(fold, game))(states)
    return jax.vmap(jax.vmap(fold_action, (None, 0)))(folded, moves)


@functools.partial(jax.jit, static_argnums=0)
def _step(game: Game, rows: tuple[State, Array]) -> State:
    return jax.vmap(game.step)(*rows)
