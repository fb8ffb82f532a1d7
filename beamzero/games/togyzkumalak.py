"""Togyzkumalak, the nine stones of Central Asia: sow stones round eighteen houses, take more than half of them."""

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

# The ring of houses as the mover sows into it:
#    17 16 15 14 13 12 11 10  9
#     0  1  2  3  4  5  6  7  8
_PLACES = np.arange(18, dtype=np.uint8)
_NONE, _ONE, _NINE = np.uint8(0), np.uint8(1), np.uint8(9)
_STONES = 162
_MAJORITY = 82
_LARGE = 6


class TogyzkumalakState(NamedTuple):
    houses: Array  # uint8 [2, 9] the mover's, from its left, then the other side's, from its own left
    kazans: Array  # uint8 [2] stones won by the mover, by the other side
    tuzdyks: Array  # uint8 [2] the other side's house that the mover holds, the mover's that the other holds; 9: none
    side: Array  # uint8 [] the side to move
    ply: Array  # uint16 [] moves so far


@dataclasses.dataclass(frozen=True)
class Togyzkumalak(Game):
    """Actions are the mover's houses, from its left; stones are sown anticlockwise, the first into the house itself.

    - A single stone moves to the next house.
    - The last stone makes a house of the other side even: all its stones go to the mover's kazan.
    - It makes it three: the house becomes the mover's tuzdyk, and the three go to its kazan; unless the mover has a
      tuzdyk already, or the house is the ninth, or bears the number of the other side's tuzdyk.
    - Every stone that falls into a tuzdyk goes to its owner's kazan at once. So a tuzdyk is always empty: no one moves
      from it, and a last stone there takes nothing.
    - 82 stones win. Where the side to move has none in its houses, atsyrau, the other takes all that are left; 81 each
      is a draw.

    Stones can go round for ever, so after `max_plies` moves the game is a draw. Random games take 124 moves on average,
    and one in 20,000 more than 350.
    """

    max_plies: int = 500

    name: ClassVar[str] = "togyzkumalak"
    num_actions = 9
    max_moves = 9
    observation_shape = (2, 9, 10)

    def __post_init__(self) -> None:
        if not 1 <= self.max_plies <= 10_000:
            raise BadInput(f"togyzkumalak: max_plies is {self.max_plies}, but must be 1 to 10000")

    def init(self, key: Array) -> TogyzkumalakState:
        return TogyzkumalakState(
            houses=jnp.full((2, 9), 9, jnp.uint8),
            kazans=jnp.zeros(2, jnp.uint8),
            tuzdyks=jnp.full(2, 9, jnp.uint8),
            side=jnp.uint8(0),
            ply=jnp.uint16(0),
        )

    def player(self, state: TogyzkumalakState) -> Array:
        return state.side.astype(jnp.int32)

    def legal(self, state: TogyzkumalakState) -> Array:
        return state.houses[0] > 0

    def step(self, state: TogyzkumalakState, action: Array) -> TogyzkumalakState:
        move = _move(state.houses, state.tuzdyks, jnp.asarray(action, jnp.uint8))
        own_kazan, other_kazan = state.kazans[0] + move.won, state.kazans[1] + move.given
        own_tuzdyk, other_tuzdyk = jnp.where(move.makes, move.last - _NINE, state.tuzdyks[0]), state.tuzdyks[1]
        after = TogyzkumalakState(
            houses=move.ring.reshape(2, 9)[::-1],
            kazans=jnp.stack([other_kazan, own_kazan]),
            tuzdyks=jnp.stack([other_tuzdyk, own_tuzdyk]),
            side=_ONE - state.side,
            ply=state.ply + np.uint16(1),
        )
        return keep_if(self.over(state), state, after)

    def over(self, state: TogyzkumalakState) -> Array:
        atsyrau = jnp.all(state.houses[0] == 0)
        return atsyrau | jnp.any(state.kazans >= _MAJORITY) | (state.ply >= self.max_plies)

    def score(self, state: TogyzkumalakState) -> Array:
        atsyrau = jnp.all(state.houses[0] == 0)
        left = jnp.where(atsyrau, jnp.sum(state.houses[1], dtype=jnp.uint8), _NONE)
        won = (state.kazans[0] >= _MAJORITY).astype(jnp.float32)
        lost = (state.kazans[1] + left >= _MAJORITY).astype(jnp.float32)
        return jnp.where(state.side == 0, won - lost, lost - won)

    def observe(self, state: TogyzkumalakState) -> Array:
        """Show a net [2, 9, 10]: the mover's houses, then the other side's, each from its own left. Of each house:

        0. its stones, / 18
        1. the stones in its side's kazan, / 82
        2. whether it is a tuzdyk
        3. whether its stones are odd
        4. the stones that a move from it wins, / 18
        5. whether that move makes a tuzdyk
        6. how many moves of the other side end in it, / 3
        7. how many moves of its own side do, / 3
        8. whether a move from it ends on the other side
        9. the number of the house where it ends, / 9

        The PROBS paper shows a net each count as one of 84 bits, 1530 inputs in all. These 180 say what a net would
        have to find out from the bits: where each move ends and what it does there. Learning from the same positions,
        a small net erred less about the result with them (squared error 0.424 against 0.436), and found the move that
        is best two plies on more often (81% against 73%), with a third of the weights.
        """
        legal = state.houses > 0
        houses, tuzdyks = (jnp.stack([pair, pair[::-1]]) for pair in (state.houses, state.tuzdyks))
        moves = jax.vmap(_moves)(houses, tuzdyks)  # the mover's, and what the other side's would be
        ends = jnp.sum((moves.last[..., None] == _PLACES[None, None]) & legal[..., None], axis=1, dtype=jnp.uint8)
        planes = [
            _share(state.houses, 18),
            jnp.broadcast_to(_share(state.kazans, _MAJORITY)[:, None], (2, 9)),
            state.tuzdyks[::-1, None] == _PLACES[None, :9],
            state.houses & _ONE,
            _share(jnp.where(legal, moves.won, _NONE), 18),
            legal & moves.makes,
            _share(ends[::-1, 9:], 3),
            _share(ends[:, :9], 3),
            legal & (moves.last >= 9),
            _share(jnp.where(legal, moves.last % _NINE + _ONE, _NONE), 9),
        ]
        return jnp.stack([plane.astype(jnp.float32) for plane in planes], axis=-1)

    # --- for searches ----------------------------------------------------------------------------------------------

    feature_names = (
        "stones in the kazan",
        "number of the tuzdyk",
        "houses with stones",
        "stones in houses",
        "largest capture",
        "a tuzdyk to be made",
    )
    point_weights = (1.0, 1.0, 2.0, 0.05, 0.5, 6.0)
    point = 0.14

    def features(self, state: TogyzkumalakState) -> Array:
        """Count features; a point is a stone in the kazan. The higher the number of a tuzdyk's house, the better."""
        first, second = sowing.to_scalars(state.houses[0]), sowing.to_scalars(state.houses[1])
        kazans, tuzdyks = sowing.to_scalars(state.kazans), sowing.to_scalars(state.tuzdyks)
        mine = _prospects(first, second, kazans[0], *tuzdyks)
        theirs = _prospects(second, first, kazans[1], *tuzdyks[::-1])
        return jnp.stack([own.astype(jnp.float32) - other.astype(jnp.float32) for own, other in zip(mine, theirs)])

    def noisy(self, state: TogyzkumalakState, action: Array) -> Array:
        """Tell whether a move makes a tuzdyk or takes six stones or more; every fourth move takes fewer."""
        move = _move(state.houses, state.tuzdyks, jnp.asarray(action, jnp.uint8))
        return move.makes | (move.won >= _LARGE)

    def order(self, state: TogyzkumalakState, action: Array) -> Array:
        """Rate a move by the stones that it wins less those that it gives; to make a tuzdyk counts for 30 more."""
        move = _move(state.houses, state.tuzdyks, jnp.asarray(action, jnp.uint8))
        won, given = move.won.astype(jnp.int32), move.given.astype(jnp.int32)
        return jnp.clip(16 + won - given + jnp.where(move.makes, 30, 0), 0, 255)

    def hash(self, state: TogyzkumalakState) -> Array:
        """Mix all fields into a key, but the number of moves only where the last 64 are near."""
        plies_left = self.max_plies - state.ply.astype(jnp.int32)
        near_the_end = jnp.where(plies_left <= 64, plies_left + 1, 0).astype(jnp.uint8)
        bytes_ = (state.houses.reshape(-1), state.kazans, state.tuzdyks, jnp.stack([state.side, near_the_end]))
        return hash_words(*pack_bytes(*bytes_))

    # --- for people ------------------------------------------------------------------------------------------------

    def _rows(self, state: TogyzkumalakState) -> tuple[list[list[int]], list[int], list[tuple[int, int]]]:
        """List each side's houses and the two kazans, the first side's first; and the houses that are tuzdyks."""
        order = -1 if int(state.side) else 1
        houses, kazans, tuzdyks = (np.asarray(pair)[::order].tolist() for pair in state[:3])
        return houses, kazans, [(1 - owner, house) for owner, house in enumerate(tuzdyks) if house < 9]

    def show(self, state: TogyzkumalakState, seat: int = 0) -> str:
        houses, kazans, tuzdyks = self._rows(state)
        return sowing.draw_houses(houses, kazans, seat, tuzdyks)

    def view(self, state: TogyzkumalakState, seat: int = 0) -> SowingView:
        return sowing.view_houses(*self._rows(state))

    def action_name(self, state: TogyzkumalakState, action: int) -> str:
        """Name a move as score sheets do: its house, that of the last stone, x where it makes a tuzdyk: 72, 13x."""
        move = jax.jit(_move)(state.houses, state.tuzdyks, np.uint8(action))
        return f"{action + 1}{int(move.last) % 9 + 1}{'x' if bool(move.makes) else ''}"

    def parse_action(self, state: TogyzkumalakState, text: str) -> int:
        """Read a move as `action_name` writes it, or its house's number alone."""
        if text.strip() in {str(action + 1) for action in self.legal_actions(state)}:
            return int(text) - 1
        return super().parse_action(state, text)

    def places(self, state: TogyzkumalakState, action: int) -> list[Place]:
        return [[int(state.side), action]]

    def outcome_reason(self, state: TogyzkumalakState) -> str:
        houses, held, _ = self._rows(state)
        mover, other = int(state.side), 1 - int(state.side)
        left, how = sum(houses[other]), ""
        if max(held) < _MAJORITY and left and not any(houses[mover]):
            held[other] += left
            stuck, taker = SIDE_NAMES[mover], SIDE_NAMES[other]
            how = f"atsyrau: {stuck} has no stones to move, {taker} takes the {left} left; "
        if max(held) >= _MAJORITY:
            return f"{how}{SIDE_NAMES[held.index(max(held))]} has {max(held)} of {_STONES} stones"
        return f"{how}draw: 81 stones each" if sum(held) == _STONES else f"draw: {self.max_plies} moves"


class _Move(NamedTuple):
    """A move's effect on the board."""

    ring: Array  # uint8 [18] the houses after it, the mover's first
    won: Array  # uint8 [] stones for the mover's kazan
    given: Array  # uint8 [] stones that fell into the other side's tuzdyk
    last: Array  # uint8 [] the place where the last stone fell
    makes: Array  # bool [] whether that place becomes a tuzdyk


def _move(houses: Array, tuzdyks: Array, house: Array) -> _Move:
    """Move from `house`; houses [2, 9] and tuzdyks [2] are the mover's and then the other side's."""
    own_tuzdyk, other_tuzdyk = tuzdyks
    ring, lifted = houses.reshape(-1), house == _PLACES
    stones = _add_up(lifted, ring)
    gains, last = sowing.sow(stones, jnp.where(stones == 1, house + _ONE, house), 18)
    sown = jnp.where(lifted, _NONE, ring) + gains

    into_own = own_tuzdyk + _NINE == _PLACES
    into_other = (other_tuzdyk == _PLACES) & (_PLACES < 9)
    kept = jnp.where(into_own | into_other, _NONE, sown)

    across = (last == _PLACES) & (_PLACES >= 9)
    may_become_tuzdyk = (own_tuzdyk == 9) & (other_tuzdyk + _NINE != _PLACES) & (_PLACES != 17)
    makes = across & (kept == 3) & may_become_tuzdyk
    takes = makes | across & (kept & _ONE == 0)
    return _Move(
        ring=jnp.where(takes, _NONE, kept),
        won=_add_up(into_own, sown) + _add_up(takes, kept),
        given=_add_up(into_other, sown),
        last=last,
        makes=jnp.any(makes),
    )


def _moves(houses: Array, tuzdyks: Array) -> _Move:
    """Move from each of the mover's nine houses; meaningless from an empty one."""
    return jax.vmap(_move, (None, None, 0))(houses, tuzdyks, jnp.arange(9, dtype=jnp.uint8))


def _prospects(
    own: list[Array], other: list[Array], kazan: Array, own_tuzdyk: Array, other_tuzdyk: Array
) -> list[Array]:
    """Count, uint32 [] each, what `features` compares, of the side with the houses `own`.

    Captures are those of moves of up to a lap, which leave one stone more in the last house.
    """
    none = np.uint32(0)
    steps = [jnp.where(stones < 2, stones, jnp.where(stones <= 18, stones - np.uint32(1), none)) for stones in own]
    ends = sowing.where_moves_end(steps)
    reached = [ends >> np.uint32(9 + house) & np.uint32(1) == 1 for house in range(9)]
    taken = [
        jnp.where(here & (stones % np.uint32(2) == 1), stones + np.uint32(1), none)
        for here, stones in zip(reached, other)
    ]
    makes = [reached[house] & (other[house] == 2) & (other_tuzdyk != house) for house in range(8)]
    return [
        kazan,
        jnp.where(own_tuzdyk < 9, own_tuzdyk + np.uint32(1), none),
        sowing.count_true([stones > 0 for stones in own]),
        functools.reduce(jnp.add, own),
        functools.reduce(jnp.maximum, taken),
        (functools.reduce(jnp.logical_or, makes) & (own_tuzdyk == 9)).astype(jnp.uint32),
    ]


def _add_up(where: Array, counts: Array) -> Array:
    """Add up the counts where `where` holds, uint8 []."""
    return jnp.sum(jnp.where(where, counts, _NONE), dtype=jnp.uint8)


def _share(counts: Array, whole: int) -> Array:
    return counts.astype(jnp.float32) / whole
