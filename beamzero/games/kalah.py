"""Kalah: sow seeds round the board, collect more than the other side."""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import sowing
from beamzero.games.game import Game, keep_if
from beamzero.games.hashing import hash_words, pack_bytes
from beamzero.games.places import Place
from beamzero.games.views import SIDE_NAMES, SowingView

# The ring of pits as the mover sows into it, here of six houses a side. The other side's store, 13, is passed over.
#         12  11  10   9   8   7
#    13                             6
#          0   1   2   3   4   5
_NONE, _ONE = np.uint8(0), np.uint8(1)


class KalahState(NamedTuple):
    pits: Array  # uint8 [2, houses + 1] the mover's houses, from its left, and its store; then the other side's
    side: Array  # uint8 [] the side to move


class _Move(NamedTuple):
    """A move's effect on the board."""

    pits: Array  # uint8 [2, houses + 1] after it, the mover's first
    again: Array  # bool [] whether the mover moves once more
    taken: Array  # uint8 [] seeds captured


@dataclasses.dataclass(frozen=True)
class Kalah(Game):
    """Actions are the mover's houses, from its left; the seeds are sown counter-clockwise, the own store included.

    - The last seed in the own store: the same side moves again.
    - The last seed in an empty house of one's own: it goes to the store together with what lies in the house opposite,
      if something does; with `empty_capture` even if nothing does.
    - The game ends when either side's houses are empty. Each side has what lies in its store and its houses; more wins.
    """

    houses: int = 6
    seeds: int = 6
    empty_capture: bool = False

    name: ClassVar[str] = "kalah"

    def __post_init__(self) -> None:
        # At most 240 seeds, so that any pit's fit into a byte.
        for field, high in (("houses", 10), ("seeds", 12)):
            if not 1 <= getattr(self, field) <= high:
                raise BadInput(f"kalah: {field} is {getattr(self, field)}, but must be 1 to {high}")

    @property
    def num_actions(self) -> int:
        return self.houses

    @property
    def max_moves(self) -> int:
        return self.houses

    @property
    def max_plies(self) -> int:
        """The most moves that the rules allow, so that no game has to be cut.

        Let a seed that lies d places before its side's store weigh houses * (houses - 1) + d, and one in a store
        nothing. Then every move loses weight, and there are no more moves than the first position has weight:

        - short of the store, every seed that is sown comes nearer to it;
        - each seed that falls into the store loses houses * (houses - 1) + 1 or more. Of the seeds after it, up to the
          next one in the store, no two fall into the same house; one that lands w places before a store was at least 1
          before its own and gains at most w - 1, and over all houses of both sides that is houses * (houses - 1);
        - a capture only takes weight off.
        """
        return self.seeds * self.houses * (2 * self.houses**2 - self.houses + 1)

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return (2, self.houses + 1, 3)

    def init(self, key: Array) -> KalahState:
        row = np.array([self.seeds] * self.houses + [0], np.uint8)
        return KalahState(pits=jnp.asarray(np.stack([row, row])), side=jnp.uint8(0))

    def player(self, state: KalahState) -> Array:
        return state.side.astype(jnp.int32)

    def legal(self, state: KalahState) -> Array:
        return state.pits[0, :-1] > 0

    def step(self, state: KalahState, action: Array) -> KalahState:
        move = self._move(state.pits, jnp.asarray(action, jnp.uint8))
        after = KalahState(
            pits=jnp.where(move.again, move.pits, move.pits[::-1]),
            side=jnp.where(move.again, state.side, _ONE - state.side),
        )
        return keep_if(self.over(state), state, after)

    def _move(self, pits: Array, house: Array) -> _Move:
        """Move from `house`, uint8 []; the mover's row of `pits` comes first."""
        store, places = self.houses, 2 * self.houses + 1
        ring, place = pits.reshape(-1)[:places], np.arange(places, dtype=np.uint8)
        lifted = place == house
        gains, last = sowing.sow(jnp.sum(jnp.where(lifted, ring, _NONE), dtype=jnp.uint8), house + _ONE, places)
        sown = jnp.where(lifted, _NONE, ring) + gains

        opposite = sown[::-1]  # house i faces place 2 * houses - i
        takes = (place == last) & (place < store) & (sown == 1) & ((opposite > 0) | self.empty_capture)
        taken = jnp.sum(jnp.where(takes, sown + opposite, _NONE), dtype=jnp.uint8)
        left = jnp.where(takes | takes[::-1], _NONE, sown) + jnp.where(place == store, taken, _NONE)
        return _Move(jnp.concatenate([left, pits[1, -1:]]).reshape(2, store + 1), last == store, taken)

    def over(self, state: KalahState) -> Array:
        return ~jnp.all(jnp.any(state.pits[:, :-1] > 0, axis=1))

    def score(self, state: KalahState) -> Array:
        mover, other = jnp.sum(state.pits, axis=1, dtype=jnp.int32)
        first_leads = jnp.where(state.side == 0, mover - other, other - mover)
        return jnp.where(self.over(state), jnp.sign(first_leads), 0).astype(jnp.float32)

    def observe(self, state: KalahState) -> Array:
        """Show a net [2, houses + 1, 3]: the mover's pits, then the other side's, from its own left, the store last.

        0. Its seeds, scaled so that most values lie in 0 to 1: a house's by twice what it begins with, a store's by
           half of all seeds, so that above 1 it has won.
        1. Whether a move from this house would be followed by another.
        2. What it would take by a capture, scaled as houses are.

        The AlphaZero paper on small games shows a net the first of these alone. Which moves go on or take something
        depends on exact counts, which a net finds hard to tell from them: with all three, a small one found the move
        that is best three plies on in 81% of the same positions, without in 63%.
        """
        pits = jnp.stack([state.pits, state.pits[::-1]])
        houses = jnp.arange(self.houses, dtype=jnp.uint8)
        moves = jax.vmap(jax.vmap(self._move, (None, 0)), (0, None))(pits, houses)
        legal, house_scale, store_scale = state.pits[:, :-1] > 0, 2 * self.seeds, self.houses * self.seeds
        scale = np.array([house_scale] * self.houses + [store_scale], np.float32)
        again, taken = (legal & moves.again).astype(jnp.float32), jnp.where(legal, moves.taken, _NONE)
        no_store = ((0, 0), (0, 1))
        planes = [
            state.pits.astype(jnp.float32) / scale[None],
            jnp.pad(again, no_store),
            jnp.pad(taken.astype(jnp.float32) / house_scale, no_store),
        ]
        return jnp.stack(planes, axis=-1)

    # --- for searches ----------------------------------------------------------------------------------------------

    feature_names = ("stores", "seeds in houses", "houses with seeds", "moves that go on", "largest capture")
    point_weights = (1.0, 0.1, 0.8, 0.4, 0.25)
    point = 0.2

    def features(self, state: KalahState) -> Array:
        """Count features; a point is a seed in the store."""
        own, other = sowing.to_scalars(state.pits[0]), sowing.to_scalars(state.pits[1])
        pairs = zip(self._prospects(own, other), self._prospects(other, own))
        return jnp.stack([mine.astype(jnp.float32) - theirs.astype(jnp.float32) for mine, theirs in pairs])

    def _prospects(self, own: list[Array], other: list[Array]) -> list[Array]:
        """Count, uint32 [] each, what `features` compares, of the side with the pits `own`."""
        *houses, store = own
        places = 2 * self.houses + 1
        goes_on = [seeds % np.uint32(places) == self.houses - house for house, seeds in enumerate(houses)]
        return [
            store,
            functools.reduce(jnp.add, houses),
            sowing.count_true([seeds > 0 for seeds in houses]),
            sowing.count_true(goes_on),
            functools.reduce(jnp.maximum, self._captures(houses, other)),
        ]

    def _captures(self, houses: list[Array], other: list[Array]) -> list[Array]:
        """Count the seeds that a move into each of one's own houses would take, uint32 [] each; 0 where none takes any.

        A move that goes round puts a seed into the house opposite too. One of more than a lap takes nothing.
        """
        places = 2 * self.houses + 1
        ends = sowing.where_moves_end([jnp.where(seeds <= places, seeds, np.uint32(0)) for seeds in houses])
        captures = []
        for house, seeds in enumerate(houses):
            opposite = other[self.houses - 1 - house]
            ahead, around = (ends >> np.uint32(house + lap) & np.uint32(1) == 1 for lap in (0, places))
            takes = ahead & ((opposite > 0) | self.empty_capture)
            gain = jnp.where(around, opposite + np.uint32(2), jnp.where(takes, opposite + np.uint32(1), np.uint32(0)))
            captures.append(jnp.where((seeds == 0) | (seeds == places), gain, np.uint32(0)))
        return captures

    def noisy(self, state: KalahState, action: Array) -> Array:
        """Tell whether a move captures, or the same side moves again."""
        move = self._move(state.pits, jnp.asarray(action, jnp.uint8))
        return move.again | (move.taken > 0)

    def order(self, state: KalahState, action: Array) -> Array:
        """Put moves after which the same side moves again first, from the store on; then captures by their seeds."""
        house = jnp.asarray(action, jnp.uint8)
        move = self._move(state.pits, house)
        by_gain = jnp.minimum(move.taken, np.uint8(19)) * np.uint8(10) + (np.uint8(9) - house)
        return jnp.where(move.again, house + np.uint8(200), by_gain).astype(jnp.int32)

    def hash(self, state: KalahState) -> Array:
        return hash_words(*pack_bytes(state.pits.reshape(-1), state.side[None]))

    # --- for people ------------------------------------------------------------------------------------------------

    def _rows(self, state: KalahState) -> tuple[list[list[int]], list[int]]:
        """List each side's houses, and the two stores; the first side's before the second's."""
        pits = np.asarray(state.pits)[:: -1 if int(state.side) else 1].tolist()
        return [row[:-1] for row in pits], [row[-1] for row in pits]

    def show(self, state: KalahState, seat: int = 0) -> str:
        return sowing.draw_houses(*self._rows(state), seat)

    def view(self, state: KalahState, seat: int = 0) -> SowingView:
        return sowing.view_houses(*self._rows(state))

    def action_name(self, state: KalahState, action: int) -> str:
        """Name a move by its house, counted from 1 at the mover's left."""
        return str(action + 1)

    def places(self, state: KalahState, action: int) -> list[Place]:
        return [[int(state.side), action]]

    def outcome_reason(self, state: KalahState) -> str:
        houses, stores = self._rows(state)
        first, second = (sum(row) + store for row, store in zip(houses, stores))
        if first == second:
            return f"draw: {first} seeds each"
        side = SIDE_NAMES[int(second > first)]
        return f"{side} has {max(first, second)} of {first + second} seeds"
