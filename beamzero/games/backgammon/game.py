"""Backgammon, with gammons and backgammons and without the cube: dice between the moves of two sides."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games.backgammon import text as backgammon_text
from beamzero.games.game import CHANCE, Game, keep_if
from beamzero.games.hashing import hash_words, pack_bytes
from beamzero.games.places import Place
from beamzero.games.views import PointsView

OFF, BAR, CHECKERS = 0, 25, 15
"""The places of checkers that are borne off and on the bar in a side's row, and how many checkers each side has."""

ROLLS = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))
"""The 21 outcomes of two dice, the larger first."""

_SOURCES = 25  # its points 1 to 24, and the bar
_PASS = 2 * _SOURCES
_START = {24: 2, 13: 5, 8: 3, 6: 5}
_ZERO, _ONE = np.uint8(0), np.uint8(1)
_NO_BITS, _LOWEST = np.uint32(0), np.uint32(1)
_ON_POINTS = np.uint32(sum(1 << point for point in range(1, 25)))
_ON_BAR = np.uint32(1 << BAR)
_OUTSIDE_HOME = np.uint32(sum(1 << point for point in range(7, 26)))


class BackgammonState(NamedTuple):
    own: Array  # uint8 [26] the mover's checkers: borne off, on its points 1 to 24 as it counts them, on the bar
    other: Array  # uint8 [26] the other side's, as that side counts: its point p is the mover's 25 - p
    side: Array  # uint8 [] the mover, or who is to roll
    high: Array  # uint8 [] a die that is to be played, the larger one of two; 0 where the dice are to be rolled
    low: Array  # uint8 [] the smaller one; 0 where there is none, or the dice are equal
    times: Array  # uint8 [] how often `high` is to be played
    ply: Array  # uint16 [] checkers moved so far


@dataclasses.dataclass(frozen=True)
class Backgammon(Game):
    """One checker and one die at a time; the dice are rolled between the turns, as chance events.

    Actions 0 to 24 move the checker from the mover's point 1 to 24 or from the bar by the larger die, 25 to 49 by the
    smaller one (equal dice count as larger ones), and 50 passes, where nothing else can be done.

    - Both dice are played where that is possible; where only one can be, the larger; of equal dice as many as can be.
    - A point that two or more checkers of the other side hold is closed; a single one is hit and goes to the bar.
      Nothing else may move before one's own checkers have left the bar.
    - Once all are in the last six points they may be borne off, by the exact number, or by a larger one from the
      farthest point.
    - Who has borne all off wins one point; two if the other side has borne off none, a gammon; three if it also has a
      checker on the bar or in the winner's home, a backgammon. The score is a third of that.

    The key of `init` draws who begins and the first roll, of two different dice.
    """

    max_plies: int = 2000

    name: ClassVar[str] = "backgammon"
    num_chance: ClassVar[int] = len(ROLLS)  # type: ignore[misc]

    def __post_init__(self) -> None:
        if not 1 <= self.max_plies <= 20_000:
            raise BadInput(f"backgammon: max_plies is {self.max_plies}, but must be 1 to 20000")

    @property
    def stake(self) -> int:
        """The points of a backgammon, the most that can be won."""
        return 3

    @property
    def num_actions(self) -> int:
        return 2 * _SOURCES + 1

    @property
    def max_moves(self) -> int:
        """A bound on legal moves: fifteen checkers can stand in as many places, and either die may move each."""
        return 2 * CHECKERS

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return (211,)

    # --- the rules -------------------------------------------------------------------------------------------------

    def init(self, key: Array) -> BackgammonState:
        for_side, for_roll = jax.random.split(key)
        unequal = np.array([roll for roll in ROLLS if roll[0] != roll[1]], np.uint8)
        high, low = jnp.asarray(unequal)[jax.random.randint(for_roll, (), 0, len(unequal))]
        row = np.zeros(26, np.uint8)
        row[list(_START)] = list(_START.values())
        return BackgammonState(
            own=jnp.asarray(row),
            other=jnp.asarray(row),
            side=jax.random.randint(for_side, (), 0, 2).astype(jnp.uint8),
            high=high,
            low=low,
            times=jnp.uint8(1),
            ply=jnp.uint16(0),
        )

    def player(self, state: BackgammonState) -> Array:
        return jnp.where(state.high == 0, CHANCE, state.side.astype(jnp.int32))

    def next_side(self, state: BackgammonState) -> Array:
        return state.side.astype(jnp.int32)

    def legal(self, state: BackgammonState) -> Array:
        by_high, by_low = _legal_sources(state)
        places = np.arange(1, 1 + _SOURCES, dtype=np.uint32)
        return jnp.concatenate(
            [
                (by_high >> places & _LOWEST).astype(jnp.bool_),
                (by_low >> places & _LOWEST).astype(jnp.bool_),
                ((by_high | by_low) == 0)[None],
            ]
        )

    def step(self, state: BackgammonState, action: Array) -> BackgammonState:
        action = jnp.asarray(action, jnp.int32)
        passes, by_low = action == _PASS, (action >= _SOURCES) & (action < _PASS)
        own, other = _moved(state, action)
        own, other = jnp.where(passes, state.own, own), jnp.where(passes, state.other, other)
        # What is left of the dice. Once one of two is played, the other one is `high`.
        high = jnp.where((state.low > 0) & ~by_low, state.low, state.high)
        times = jnp.where(state.low > 0, state.times, state.times - _ONE)
        stuck = _movable(_places(own), _open(other), high.astype(jnp.uint32)) == 0
        ends = passes | (times == 0) | stuck
        wins = own[OFF] == CHECKERS
        swaps = ends & ~wins
        after = BackgammonState(
            own=jnp.where(swaps, other, own),
            other=jnp.where(swaps, own, other),
            side=jnp.where(swaps, _ONE - state.side, state.side),
            high=jnp.where(ends | wins, _ZERO, high),
            low=jnp.zeros_like(state.low),
            times=jnp.where(ends | wins, _ZERO, times),
            ply=state.ply + np.uint16(1),
        )
        return keep_if(self.over(state), state, after)

    def chance(self, state: BackgammonState) -> Array:
        return jnp.asarray(np.array([(1 if high == low else 2) / 36 for high, low in ROLLS], np.float32))

    def resolve(self, state: BackgammonState, outcome: Array) -> BackgammonState:
        high, low = jnp.asarray(np.array(ROLLS, np.uint8))[outcome]
        double = high == low
        rolled = state._replace(
            high=high, low=jnp.where(double, _ZERO, low), times=jnp.where(double, np.uint8(4), _ONE)
        )
        return keep_if(self.over(state) | (state.high > 0), state, rolled)

    def over(self, state: BackgammonState) -> Array:
        return (state.own[OFF] == CHECKERS) | (state.ply >= self.max_plies)

    def points(self, state: BackgammonState) -> Array:
        """Count the points of the winner of a finished game, int32 []; 0 where it was cut."""
        inside = jnp.any(state.other[19:] > 0)  # the winner's home, and the bar
        points = jnp.where(state.other[OFF] > 0, 1, jnp.where(inside, 3, 2))
        return jnp.where(state.own[OFF] == CHECKERS, points, 0).astype(jnp.int32)

    def score(self, state: BackgammonState) -> Array:
        sign = jnp.where(state.side == 0, 1.0, -1.0)
        return (sign * self.points(state).astype(jnp.float32) / np.float32(self.stake)).astype(jnp.float32)

    def observe(self, state: BackgammonState) -> Array:
        """Show a net float32 [211], after TD-Gammon: of each side 24 points of four numbers, bar and off; the dice.

        A point's four are whether it holds one checker or more, two, three, and half of those beyond three. Both sides'
        points are counted as the mover does. The dice are six numbers each for the larger and the smaller, of which one
        is 1, and a quarter of how often the larger is to be played; the last two say whether checkers can still meet
        and whether the dice are to be rolled.
        """
        rows = jnp.stack([state.own, state.other[::-1]])  # the other's point p is the mover's 25 - p
        points = rows[:, 1:25].astype(jnp.float32)[:, :, None]
        at_least = (points >= np.array([[[1, 2, 3]]], np.float32)).astype(jnp.float32)
        beyond = jnp.maximum(points - 3, 0) / 2
        bars = jnp.stack([state.own[BAR], state.other[BAR]]).astype(jnp.float32) / 2
        offs = jnp.stack([state.own[OFF], state.other[OFF]]).astype(jnp.float32) / CHECKERS
        faces = np.arange(1, 7, dtype=np.uint8)
        dice = [(state.high == faces), (state.low == faces), state.times[None].astype(jnp.float32) / 4]
        flags = jnp.stack([_can_meet(state), state.high == 0])
        parts = [jnp.concatenate([at_least, beyond], axis=2).reshape(-1), bars, offs, *dice, flags]
        return jnp.concatenate([part.astype(jnp.float32) for part in parts])

    # --- for searches ----------------------------------------------------------------------------------------------

    feature_names = ("pips", "borne off", "on the bar", "blots", "points held", "home points held", "prime", "anchor")
    point_weights = (0.1, 0.2, -0.8, -0.25, 0.15, 0.35, 0.35, 0.3)
    point = 0.35

    def features(self, state: BackgammonState) -> Array:
        """Count features; a point is ten pips, the steps that a side's checkers still have to go."""
        pairs = zip(_prospects(state.own, state.other), _prospects(state.other, state.own))
        return jnp.stack([mine - theirs for mine, theirs in pairs])

    def noisy(self, state: BackgammonState, action: Array) -> Array:
        """Tell whether an action is a hit."""
        return _hits(state, jnp.asarray(action, jnp.int32))

    def order(self, state: BackgammonState, action: Array) -> Array:
        """Put hits first, then the checkers that stand farthest back."""
        action = jnp.asarray(action, jnp.int32)
        return jnp.where(_hits(state, action), 200, 0) + action % _SOURCES

    def hash(self, state: BackgammonState) -> Array:
        rest = jnp.stack([state.side, state.high, state.low, state.times])
        return hash_words(*pack_bytes(state.own, state.other, rest))

    # --- for people ------------------------------------------------------------------------------------------------

    def show(self, state: BackgammonState, seat: int = 0) -> str:
        return backgammon_text.draw_backgammon(state, seat, over=bool(self.over(state)))

    def view(self, state: BackgammonState, seat: int = 0) -> PointsView:
        return backgammon_text.view_backgammon(state)

    def action_name(self, state: BackgammonState, action: int) -> str:
        """Name a move as players do: 8/5, bar/22, 6/off, a star for a hit, and the die where either would do."""
        if action == _PASS:
            return "pass"
        die, source = int(state.low if action >= _SOURCES else state.high), action % _SOURCES + 1
        hit = "*" if bool(_hits_compiled(state, jnp.int32(action))) else ""
        name = f"{'bar' if source == BAR else source}/{source - die if source > die else 'off'}{hit}"
        both = source <= min(int(state.high), int(state.low))  # either die bears it off
        return f"{name}({die})" if both else name

    def parse_action(self, state: BackgammonState, text: str) -> int:
        wanted = text.strip().lower().replace("*", "")
        names = {self.action_name(state, action): action for action in self.legal_actions(state)}
        for name, action in names.items():
            if wanted in (name.replace("*", ""), name.partition("(")[0].replace("*", "")):
                return action
        listed = " ".join(names) or "none, the game is over"
        raise BadInput(f"{text.strip()!r} is not a legal move here (legal: {listed})")

    def outcome_name(self, state: BackgammonState, outcome: int) -> str:
        return "-".join(map(str, ROLLS[outcome]))

    def places(self, state: BackgammonState, action: int) -> list[Place]:
        """List from and to: [0, point] as the first side counts, [1, side] for its bar, [2, side] for borne off."""
        if action == _PASS:
            return []
        side, die = int(state.side), int(state.low if action >= _SOURCES else state.high)
        source = action % _SOURCES + 1
        return [backgammon_text.drawn_place(side, source), backgammon_text.drawn_place(side, max(OFF, source - die))]

    def write_position(self, state: BackgammonState) -> str:
        return backgammon_text.write_xgid(state)

    def read_position(self, text: str) -> BackgammonState:
        return backgammon_text.read_xgid(text, BackgammonState)

    def outcome_reason(self, state: BackgammonState) -> str:
        points = int(self.points(state))
        if not points:
            return f"draw: not over after {int(state.ply)} moves"
        kind = ("", "", ", a gammon: two points", ", a backgammon: three points")[points]
        return f"{backgammon_text.COLOURS[int(state.side)]} has borne off all checkers{kind}"


# --- which checkers can move -----------------------------------------------------------------------------------------
# Sets of places are bits of a word: bit p is the point p as the mover counts, bit 25 the bar.


def _places(row: Array, least: int = 1) -> Array:
    """Return the places, uint32 [], where a side has at least so many checkers, those borne off aside."""
    place = np.arange(26, dtype=np.uint32)
    bits = np.where(place > 0, np.uint32(1) << place, np.uint32(0)).astype(np.uint32)
    return jnp.sum(jnp.where(row >= least, bits, _NO_BITS), dtype=jnp.uint32)


def _open(other: Array) -> Array:
    """Return the mover's points, uint32 [], that the other side does not hold with two checkers or more."""
    return ~_places(other[::-1], 2) & _ON_POINTS


def _movable(places: Array, open_points: Array, die: Array) -> Array:
    """Return those of the mover's `places` from which a die can be played, uint32 [...]; none for die 0."""
    sources = jnp.where(places & _ON_BAR > 0, _ON_BAR, places)
    onward = sources & open_points << die
    farthest = _LOWEST << (np.uint32(31) - jax.lax.clz(places | _LOWEST))
    exact = places & _LOWEST << die
    off = jnp.where(places >> die == 0, farthest & places, exact)
    off = jnp.where(places & _OUTSIDE_HOME == 0, off, _NO_BITS)
    return jnp.where(die > 0, onward | off, _NO_BITS)


def _legal_sources(state: BackgammonState) -> tuple[Array, Array]:
    """Return the places, uint32 [] each, from where the larger die may be played, and the smaller."""
    places, several, free = _places(state.own), _places(state.own, 2), _open(state.other)
    high, low = state.high.astype(jnp.uint32), state.low.astype(jnp.uint32)
    by_high, by_low = _movable(places, free, high), _movable(places, free, low)
    then_low = by_high & _followed(places, several, free, high, low)
    then_high = by_low & _followed(places, several, free, low, high)
    both = (then_low | then_high) != 0
    two = state.low > 0
    only_low = jnp.where(by_high == 0, by_low, _NO_BITS)
    return (
        jnp.where(two & both, then_low, by_high),
        jnp.where(two & both, then_high, only_low),
    )


def _followed(places: Array, several: Array, free: Array, first: Array, then: Array) -> Array:
    """Return the sources, uint32 [], from which the die `first` leaves something for the die `then` to play."""
    source = np.arange(1, 1 + _SOURCES, dtype=np.uint32)
    bit = _LOWEST << source
    left = jnp.where(several & bit > 0, places, places & ~bit)
    reached = jnp.where(source > first, bit >> first, _NO_BITS)
    goes_on = _movable(left | reached, free, then) != 0
    return jnp.sum(jnp.where(goes_on, bit, _NO_BITS), dtype=jnp.uint32)


def _moved(state: BackgammonState, action: Array) -> tuple[Array, Array]:
    """Move a checker, and return the rows of both sides, uint8 [26] each."""
    die = jnp.where(action >= _SOURCES, state.low, state.high).astype(jnp.int32)
    source = action % _SOURCES + 1
    target = jnp.maximum(source - die, OFF)
    place = np.arange(26, dtype=np.int32)
    own = state.own - (place == source).astype(jnp.uint8) + (place == target).astype(jnp.uint8)
    hit = (place == 25 - target) & (state.other == 1) & (target > OFF)
    sent = jnp.where(place == BAR, jnp.any(hit), False).astype(jnp.uint8)
    return own, state.other - hit.astype(jnp.uint8) + sent


def _hits(state: BackgammonState, action: Array) -> Array:
    """Tell, bool [], whether an action sends a checker of the other side to the bar."""
    _, other = _moved(state, action)
    return (action < _PASS) & (other[BAR] > state.other[BAR])


_hits_compiled = jax.jit(_hits)
"""`_hits` for callers on the host: compiled as a whole it takes a tenth of the time."""


# --- features --------------------------------------------------------------------------------------------------------


def _can_meet(state: BackgammonState) -> Array:
    """Tell, bool [], whether a checker of either side has still to pass one of the other."""
    last = [jnp.max(jnp.where(row > 0, np.arange(26, dtype=np.int32), 0)) for row in (state.own, state.other)]
    return last[0] + last[1] > 25


def _prospects(own: Array, other: Array) -> list[Array]:
    """Count, float32 [] each, what `features` compares, of the side whose checkers are `own`."""
    place = np.arange(26, dtype=np.float32)
    number = own.astype(jnp.float32)
    held, points = own[1:25] >= 2, jnp.arange(1, 25)
    behind = jnp.max(jnp.where(other > 0, jnp.arange(26), 0))  # its farthest checker, which has to come past
    meets = 25 - behind < jnp.max(jnp.where(own > 0, jnp.arange(26), 0))
    exposed = (own[1:25] == 1) & (points > 25 - behind)
    window = jnp.stack([held[start : 19 + start] for start in range(6)])  # six points in a row, [6, 19]
    prime = jnp.max(jnp.sum(window, axis=0, dtype=jnp.int32))
    counted = (
        -jnp.sum(place * number),
        number[OFF],
        number[BAR],
        jnp.sum(exposed),
        jnp.sum(held & meets),
        jnp.sum(held[:6] & meets),
        jnp.where(meets, jnp.maximum(prime - 2, 0), 0),
        jnp.any(held[18:]),
    )
    return [jnp.asarray(count).astype(jnp.float32) for count in counted]
