"""Opening books at play: a player answers positions that are in its book from the book.

Mirror images of a position are one position in a book. Of all images, as `Game.symmetries` lists them, the one with the
least key stands for the others; its move is stored, and mapped back to the image that is on the board.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.games.hashing import hash_words, words_of
from beamzero.players.player import Player, batch_of_one
from beamzero.search.drive import Snapshot, Timer, Watch, no_watch
from beamzero.search.evaluator import SearchResult
from beamzero.search.limit import Limit
from beamzero.search.protocol import Option, Outlook
from beamzero.storage.bookfile import Book, load_book


class Folded(NamedTuple):
    """The image of a position that stands for all S of them."""

    key: Array  # uint32 [2] the least of the keys of all images, the high word first
    same: Array  # bool [S] the images that have this key: several where a position is its own mirror image
    actions: Array  # int32 [S, A] for each action of an image, the action of the position that it stands for


def fold(game: Game, state: State) -> Folded:
    """Find the image that stands for a position.

    A game without symmetries has one image, whose key is `Game.hash`. Images in other games get keys from their
    observations, which show the whole position in every game of this package that has symmetries.
    """
    numbers = jnp.arange(game.num_actions, dtype=jnp.int32)
    if type(game).symmetries is Game.symmetries:
        return Folded(game.hash(state), jnp.ones(1, jnp.bool_), numbers[None])
    images, actions = game.symmetries(game.observe(state), numbers.astype(jnp.float32))
    high, low = jax.vmap(lambda image: hash_words(*words_of(image)))(images).T
    least_high = jnp.min(high)
    least_low = jnp.min(jnp.where(high == least_high, low, np.uint32(2**32 - 1)))
    same = (high == least_high) & (low == least_low)
    return Folded(jnp.stack([least_high, least_low]), same, actions.astype(jnp.int32))


def fold_action(folded: Folded, action: Array) -> Array:
    """Map an action of a position to the image that stands for it, int32 []: the least of equal mirror images."""
    images = jnp.argmax(folded.actions == action, axis=1).astype(jnp.int32)
    return jnp.min(jnp.where(folded.same, images, folded.actions.shape[1]))


def unfold_action(folded: Folded, action: Array) -> Array:
    """Map an `action` of the image back to the position that it stands for, int32 []."""
    return folded.actions[jnp.argmax(folded.same), action]


def as_numbers(keys: Array) -> np.ndarray:
    """Turn keys, uint32 [..., 2], into integers on the host, uint64 [...]."""
    high, low = np.moveaxis(np.asarray(keys).astype(np.uint64), -1, 0)
    return high << np.uint64(32) | low


def key_check(game: Game) -> str:
    """Write the key of a fixed position, in hex: a book made with other keys would answer wrongly, and is refused."""
    return f"{int(as_numbers(_key_of_some_position(game))):016x}"


@functools.partial(jax.jit, static_argnums=0)
def _key_of_some_position(game: Game) -> Array:
    """Give the key, uint32 [2], of a fixed position three plies from the start."""
    state = game.init(jax.random.key(0))
    for draw in (0.2, 0.9, 0.6):
        state = game.step(state, game.pick(state, jnp.float32(draw)))
    return fold(game, state).key


# --- looking up ------------------------------------------------------------------------------------------------------


class Table(NamedTuple):
    """A book on the device, its length a power of two; padding has the greatest key and the move -1."""

    keys: Array  # uint32 [N, 2] rising, the high word first
    moves: Array  # int32 [N]
    values: Array  # float32 [N]


class Answer(NamedTuple):
    """The answers of a book for B positions."""

    found: Array  # bool [B] whether the position is in the book
    action: Array  # int32 [B] the book's move, legal where found
    value: Array  # float32 [B] for the side to move


def open_book(path: str, game: Game) -> Book:
    """Read the book at `path`; BadInput where it is not one for `game`."""
    book = load_book(path)
    if book.game != game.identity:
        raise BadInput(f"{path} is an opening book of {book.game}, not of {game.identity}")
    if book.key_check != key_check(game):
        raise BadInput(f"{path} was made by a version of beamzero that knew positions by other keys: make it again")
    return book


def make_table(book: Book) -> Table:
    """Put a book on the device."""
    filling = (0, 2 ** math.ceil(math.log2(len(book))) - len(book))
    words = np.stack([book.keys >> np.uint64(32), book.keys & np.uint64(2**32 - 1)], axis=1).astype(np.uint32)
    return Table(
        keys=jax.device_put(np.pad(words, (filling, (0, 0)), constant_values=2**32 - 1)),
        moves=jax.device_put(np.pad(book.moves.astype(np.int32), filling, constant_values=-1)),
        values=jax.device_put(np.pad(book.values.astype(np.float32), filling)),
    )


@functools.partial(jax.jit, static_argnums=0)
def look_up(game: Game, table: Table, states: State) -> Answer:
    """Look up B positions in the book. A move that is not legal counts as not found."""

    def one(state: State) -> Answer:
        folded = fold(game, state)
        place = _place(table.keys, folded.key)
        move = table.moves[place]
        action = unfold_action(folded, jnp.clip(move, 0, game.num_actions - 1))
        fits = (move >= 0) & (move < game.num_actions) & game.legal(state)[action]
        return Answer(jnp.all(table.keys[place] == folded.key) & fits, action, table.values[place])

    return jax.vmap(one)(states)


def _place(keys: Array, key: Array) -> Array:
    """Find the last place, int32 [], in rising `keys` [N, 2] that holds no more than `key`; 0 if there is none."""
    place = jnp.int32(0)
    for half in reversed(range(keys.shape[0].bit_length() - 1)):
        there = place + 2**half
        high, low = keys[there]
        at_most = (high < key[0]) | ((high == key[0]) & (low <= key[1]))
        place = jnp.where(at_most, there, place)
    return place


# --- playing ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, repr=False)
class BookPlayer(Player):
    """A player that answers from a book where it can, and leaves other positions to another player."""

    name: str
    game: Game
    player: Player
    """The player for positions that are not in the book."""
    table: Table
    deterministic: bool

    def bytes_needed(self, rows: int, with_results: bool = False) -> int:
        return self.player.bytes_needed(rows, with_results)

    def look_up(self, states: State) -> Answer:
        """Look up B positions in the book."""
        return look_up(self.game, self.table, states)

    def think_batch(self, states: State, key: Array) -> SearchResult:
        """Give the other player's result, or for a position in the book one with the book's move and value."""
        answer = self.look_up(states)
        known = _as_result(self.game, states, answer)
        if bool(jnp.all(answer.found)):
            return known
        return _known_or(answer.found, known, self.player.think(states, key))

    def consider(
        self, state: State, key: Array, limit: Limit | None = None, timer: Timer | None = None, watch: Watch = no_watch
    ) -> Snapshot:
        answer = jax.device_get(self.look_up(batch_of_one(state)))
        if not answer.found[0]:
            return self.player.consider(state, key, limit, timer, watch)
        result = jax.device_get(_as_result(self.game, batch_of_one(state), answer))
        outlook = Outlook([int(answer.action[0])], float(answer.value[0]))
        snapshot = Snapshot(result, outlook, 0, 0, timer.elapsed if timer else 0.0)
        watch(snapshot)
        return snapshot

    def warm_up(self, state: State, key: Array) -> None:
        super().warm_up(state, key)
        self.player.warm_up(state, key)

    def choose(self, states: State, mask: Array, key: Array) -> Array:
        return self._from_book(states, mask, lambda rest: self.player.choose(states, rest, key))

    def choose_after(self, states: State, mask: Array, key: Array, moves: np.ndarray) -> Array:
        return self._from_book(states, mask, lambda rest: self.player.choose_after(states, rest, key, moves))

    def _from_book(self, states: State, mask: Array, otherwise: Callable[[Array], Array]) -> Array:
        """Choose moves, int32 [B], from the book, and those of `mask` [B] that it does not have by `otherwise`."""
        answer = self.look_up(states)
        rest = mask & ~answer.found
        return jnp.where(rest, otherwise(rest), answer.action) if bool(jnp.any(rest)) else answer.action

    @property
    def limit(self) -> Limit | None:  # type: ignore[override]
        return self.player.limit

    @property
    def repeats(self) -> bool:  # type: ignore[override]
        return self.player.repeats

    def hurried(self, limit: Limit) -> BookPlayer:
        return dataclasses.replace(self, player=self.player.hurried(limit))

    @property
    def options(self) -> Mapping[str, Option]:
        return self.player.options

    def with_option(self, name: str, value: int) -> BookPlayer:
        return dataclasses.replace(self, player=self.player.with_option(name, value))

    @property
    def follows_moves(self) -> bool:  # type: ignore[override]
        return self.player.follows_moves

    @property
    def troubles(self) -> Sequence[str]:  # type: ignore[override]
        return self.player.troubles


def with_book(player: Player, path: str) -> BookPlayer:
    """Give a player the book at `path` for its openings."""
    table = make_table(open_book(path, player.game))
    return BookPlayer(player.name, player.game, player, table, player.deterministic)


@functools.partial(jax.jit, static_argnums=0)
def _as_result(game: Game, states: State, answer: Answer) -> SearchResult:
    """Write the answers of a book as the result of a search."""
    legal = jax.vmap(game.legal)(states)
    return SearchResult(
        action=answer.action,
        values=jnp.where(legal, answer.value[:, None], -jnp.inf),
        policy=jax.nn.one_hot(answer.action, game.num_actions, dtype=jnp.float32),
        value=answer.value,
        nodes=jnp.zeros(answer.found.shape, jnp.int32),
        proven=jnp.zeros(legal.shape, jnp.bool_),
    )


@jax.jit
def _known_or(found: Array, known: SearchResult, searched: SearchResult) -> SearchResult:
    """Take the rows of `known` where `found` [B], and of `searched` elsewhere."""

    def pick(one: Array, other: Array) -> Array:
        return jnp.where(found.reshape(-1, *(1,) * (one.ndim - 1)), one, other)

    return jax.tree.map(pick, known, searched)
