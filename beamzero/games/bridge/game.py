"""The play of the cards in bridge: a declarer with dummy against two defenders, thirteen tricks."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games.bridge import text as bridge_text
from beamzero.games.bridge.text import CARDS, COMPASS, SUITS, Contract, PositionText
from beamzero.games.game import OPEN, Game, keep_if
from beamzero.games.hashing import hash_words, pack_bytes
from beamzero.games.places import Place
from beamzero.games.views import CardsView

DECLARER, LEADER, DUMMY = 0, 1, 2
"""Seats, counted clockwise from the declarer; those with an even number are on the declarer's side."""

NO_SEAT = np.uint8(4)
"""Stands in place of a seat: no hand holds the card, or it is not known which one does."""

HELD = np.uint8(255)
"""Stands in place of a ply: the card has not been played."""

NO_CARD = np.uint8(52)
"""Stands in place of a card where there is none."""

_CARD = np.arange(52, dtype=np.uint8)
_SUIT = _CARD // np.uint8(13)
_RANK = _CARD % np.uint8(13)
_SEAT = np.arange(4, dtype=np.uint8)


class BridgeState(NamedTuple):
    # Cards are numbered S2 S3 ... SA H2 ... HA D2 ... DA C2 ... CA, which is also their action.
    holder: Array  # uint8 [52] the seat that each card was dealt to; NO_SEAT for those gone before an ending begins
    ply: Array  # uint8 [52] when it was played, counted from 0; HELD while it is in a hand
    trick: Array  # uint8 [4] by seat: its card in the trick under way, or NO_CARD
    leader: Array  # uint8 [] who led to this trick, or is to lead
    plies: Array  # uint8 [] cards played
    won: Array  # uint8 [2] tricks of the declarer's side and of the defenders
    voids: Array  # bool [4, 4] by seat and suit: whether it did not follow suit, so that all know it has none


@dataclasses.dataclass(frozen=True)
class Bridge(Game):
    """Actions are the 52 cards. Side 0 is the declarer with dummy, side 1 the two defenders.

    - The defender to the declarer's left leads first; then dummy's cards lie open, and the declarer plays them.
    - Each in turn, clockwise, follows suit if it can. The highest trump takes the trick, or else the highest card of
      the suit led; who takes it leads to the next.
    - The score is (2 * tricks of the declarer - 13) / 13: each trick counts, whatever the contract asks for.

    Seats are counted from the declarer: 0 the declarer, 1 and 3 the defenders, 2 dummy, who decides nothing and, once
    its cards are open, is shown what the declarer sees.
    """

    contract: str = "3NT"
    declarer: str = "S"

    name: ClassVar[str] = "bridge"
    hidden: ClassVar[bool] = True
    unit: ClassVar[str] = "tricks"

    def __post_init__(self) -> None:
        object.__setattr__(self, "contract", str(self.bid))
        object.__setattr__(self, "declarer", COMPASS[bridge_text.read_compass(self.declarer, "declarer")])

    @property
    def bid(self) -> Contract:
        return bridge_text.read_contract(self.contract)

    @property
    def num_actions(self) -> int:
        return 52

    @property
    def max_moves(self) -> int:
        return 13

    @property
    def max_plies(self) -> int:
        return 52

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return (4, 13, 24)

    @property
    def stake(self) -> int:
        """The tricks of a score of 1: over a deal played from both sides, the mean is how many more tricks one took."""
        return 13

    # --- the rules -------------------------------------------------------------------------------------------------

    def init(self, key: Array) -> BridgeState:
        holder = jax.random.permutation(key, np.repeat(_SEAT, 13))
        return _begin(holder, jnp.uint8(LEADER), jnp.zeros(2, jnp.uint8), jnp.uint8(0))

    def next_hand(self, state: BridgeState) -> Array:
        """Return the hand that plays next, uint8 []."""
        return (state.leader + state.plies) % np.uint8(4)  # a trick begins at a multiple of four

    def player(self, state: BridgeState) -> Array:
        return (self.next_hand(state) % np.uint8(2)).astype(jnp.int32)

    def seat(self, state: BridgeState) -> Array:
        """Return the seat that decides, int32 []: the declarer for dummy too."""
        hand = self.next_hand(state)
        return jnp.where(hand == DUMMY, np.uint8(DECLARER), hand).astype(jnp.int32)

    def legal(self, state: BridgeState) -> Array:
        hand = (state.holder == self.next_hand(state)) & (state.ply == HELD)
        follows = hand & (_suit_led(state) == _SUIT)
        return jnp.where(jnp.any(follows), follows, hand)

    def step(self, state: BridgeState, action: Array) -> BridgeState:
        card, hand, led = jnp.asarray(action, jnp.uint8), self.next_hand(state), _suit_led(state)
        fails = (led < 4) & (card // np.uint8(13) != led)
        trick = jnp.where(hand == _SEAT, card, state.trick)
        full = state.plies % np.uint8(4) == 3
        winner = self._winner(trick, led)
        after = BridgeState(
            holder=state.holder,
            ply=jnp.where(card == _CARD, state.plies, state.ply),
            trick=jnp.where(full, NO_CARD, trick),
            leader=jnp.where(full, winner, state.leader),
            plies=state.plies + np.uint8(1),
            won=state.won + (full & (winner % np.uint8(2) == _SEAT[:2])).astype(jnp.uint8),
            voids=state.voids | (fails & (hand == _SEAT)[:, None] & (led == _SEAT)[None]),
        )
        return keep_if(self.over(state), state, after)

    def _winner(self, trick: Array, led: Array) -> Array:
        """Return the seat, uint8 [], that takes a full trick, which is given as the card of each seat."""
        strength = self._strength(trick, led)
        best = jnp.max(strength)
        return jnp.sum(jnp.where(strength == best, _SEAT, np.uint8(0)), dtype=jnp.uint8)

    def _strength(self, cards: Array, led: Array) -> Array:
        """Rate cards in a trick of the suit `led`, uint8: the highest takes it; 0 for a card that takes nothing."""
        suit, rank = cards // np.uint8(13), cards % np.uint8(13) + np.uint8(1)
        follows = jnp.where(suit == led, rank, np.uint8(0))
        return jnp.where((suit == self.bid.trump) & (cards < NO_CARD), rank + np.uint8(13), follows)

    def over(self, state: BridgeState) -> Array:
        return state.plies == 52

    def score(self, state: BridgeState) -> Array:
        tricks = state.won[0].astype(jnp.float32)
        return jnp.where(self.over(state), (2 * tricks - 13) / 13, 0.0)

    def determinize(self, state: BridgeState, seat: Array, key: Array) -> BridgeState:
        """Deal the unseen cards anew: all deals that agree with the sizes of hands and the voids are equally likely.

        Only what `seat` sees goes into it, so that the result tells nothing else.
        """
        return deal_unseen(as_seen(state, seat), seat, key)

    def observe(self, state: BridgeState) -> Array:
        """Show a net [4, 13, 24]: suits, ranks, and planes. Of four hands each, that to play first, then clockwise:

        0-3. cards that it is known to hold; 4-7. cards that it has played; 8-11. its card in this trick;
        12-15. suits that all know it to be out of.
        16-19. Which hand is to play: declarer, its left, dummy, its right. 20. Trumps.
        21-22. Tricks of the side to move and of the other, of 13. 23. The level of the contract, of 7.
        """
        seen, hand = as_seen(state, self.seat(state)), self.next_hand(state)
        hands = (hand + _SEAT) % np.uint8(4)
        whose, held = seen.holder[None] == hands[:, None], (seen.ply == HELD)[None]
        won = seen.won.astype(jnp.float32) / 13
        planes = [
            whose & held,
            whose & ~held,
            seen.trick[hands][:, None] == _CARD[None],
            seen.voids[hands][:, _SUIT],
            jnp.broadcast_to((hand == _SEAT)[:, None], (4, 52)),
            jnp.equal(_SUIT, np.uint8(self.bid.trump))[None],
            jnp.broadcast_to(jnp.where(hand % np.uint8(2) == 0, won, won[::-1])[:, None], (2, 52)),
            jnp.full((1, 52), self.bid.level / 7, jnp.float32),
        ]
        flat = jnp.concatenate([plane.astype(jnp.float32) for plane in planes])
        return flat.T.reshape(self.observation_shape)

    # --- for searches that look at open cards ------------------------------------------------------------------------

    def order(self, state: BridgeState, action: Array) -> Array:
        """Put the leader's highest card first; for others the cheapest card that takes the trick, then the lowest."""
        card, led = jnp.asarray(action, jnp.uint8), _suit_led(state)
        best = jnp.max(self._strength(state.trick, led))
        strength, rank = self._strength(card, led), card % np.uint8(13)
        low_first = np.uint8(12) - rank
        following = jnp.where(strength > best, np.uint8(100) + low_first, low_first)
        return jnp.where(led == 4, np.uint8(100) + rank, following).astype(jnp.int32)

    def hash(self, state: BridgeState) -> Array:
        """Leave out what was played, and by whom: with open cards it changes nothing that can follow."""
        holder = jnp.where(state.ply == HELD, state.holder, NO_SEAT)
        rest = jnp.concatenate([state.trick, state.leader[None], state.won])
        return hash_words(*pack_bytes(holder, rest))

    # --- for people ------------------------------------------------------------------------------------------------

    def direction(self, seat: int) -> str:
        """Name the point of the compass of a seat: N, E, S or W."""
        return COMPASS[(COMPASS.index(self.declarer) + seat) % 4]

    def action_name(self, state: BridgeState, action: int) -> str:
        """Name a card by suit and rank, such as S7, HA or DT."""
        return CARDS[action]

    def parse_action(self, state: BridgeState, text: str) -> int:
        return super().parse_action(state, bridge_text.read_card(text))

    def show(self, state: BridgeState, seat: int = 0) -> str:
        view = self.view(state, seat)
        notes: dict[str, list[str]] = {point: [] for point in COMPASS}
        notes[view["declarer"]].append("declarer")
        notes[view["dummy"]].append("dummy")
        if view["seat"] is not None:
            notes[view["seat"]].append("you")
        if view["to_play"] is not None:
            notes[view["to_play"]].append("to play")
        hands = []
        for point in COMPASS:
            title = f"{point} ({', '.join(notes[point])})" if notes[point] else point
            hands.append([title, *bridge_text.hand_lines(view["hands"][point], view["voids"][point])])
        below = [f"{self.contract} by {self.declarer}, tricks: declarer {view['won'][0]}, defenders {view['won'][1]}"]
        for name, cards in (("last trick", view["last_trick"]), ("this trick", view["trick"])):
            if cards:
                below.append(f"{name}: " + ", ".join(f"{point} {card}" for point, card in cards))
        return bridge_text.draw_hands(hands, below)

    def view(self, state: BridgeState, seat: int = 0) -> CardsView:
        seen = jax.device_get(state if seat == OPEN else _as_seen(state, seat))
        points = [self.direction(other) for other in range(4)]
        left = 13 - int(seen.plies) // 4 - (seen.trick != NO_CARD)
        held = [np.flatnonzero((seen.holder == other) & (seen.ply == HELD)) for other in range(4)]
        hands = {
            point: [CARDS[card] for card in cards] if len(cards) == size else int(size)
            for point, cards, size in zip(points, held, left)
        }
        played = [[self.direction(int(seen.holder[card])), CARDS[card]] for card in _played(seen)]
        under_way = len(played) % 4
        voids = {
            point: [suit for suit, void in zip(SUITS, row) if void] for point, row in zip(points, seen.voids.tolist())
        }
        return {
            "kind": "cards",
            "hands": {point: hands[point] for point in COMPASS},
            "voids": {point: voids[point] for point in COMPASS},
            "seat": None if seat == OPEN else points[seat],
            "to_play": None if int(seen.plies) == 52 else points[int(self.next_hand(seen))],
            "declarer": points[DECLARER],
            "dummy": points[DUMMY],
            "defenders": [points[LEADER], points[3]],
            "contract": self.contract,
            "trick": played[len(played) - under_way :],
            "last_trick": played[: len(played) - under_way][-4:],
            "won": seen.won.tolist(),
            "sides": ["Declarer", "Defenders"],
        }

    def places(self, state: BridgeState, action: int) -> list[Place]:
        """List the place of the card: its suit and its rank."""
        return [list(divmod(action, 13))]

    def outcome_reason(self, state: BridgeState) -> str:
        return bridge_text.write_contract_result(self.bid, int(state.won[0]))

    def write_position(self, state: BridgeState) -> str:
        state = jax.device_get(state)
        hands = [[CARDS[card] for card in np.flatnonzero(state.holder == seat)] for seat in range(4)]
        declarer, played = COMPASS.index(self.declarer), _played(state)
        text = PositionText(
            hands=[hands[(point - declarer) % 4] for point in range(4)],
            contract=self.bid,
            declarer=declarer,
            played=[CARDS[card] for card in played],
        )
        leader = int(state.holder[played[0]] if played else state.leader)
        if len(hands[0]) == 13 and leader == LEADER:
            return bridge_text.write_deal(text)
        return bridge_text.write_deal(
            text._replace(won=self._won_before(state, played), leader=(leader + declarer) % 4)
        )

    def _won_before(self, state: BridgeState, played: list[int]) -> tuple[int, int]:
        """Count the tricks that were won before an ending began, by the declarer's side and by the defenders."""
        won = state.won.tolist()
        for first in range(0, len(played) - 3, 4):
            trick = sorted(played[first : first + 4], key=lambda card: int(state.holder[card]))
            led = played[first] // 13
            won[int(self._winner(jnp.array(trick, jnp.uint8), jnp.uint8(led))) % 2] -= 1
        return won[0], won[1]

    def read_position(self, text: str) -> BridgeState:
        read = bridge_text.read_deal(text)
        found = f"{read.contract} by {COMPASS[read.declarer]}"
        if found != f"{self.contract} by {self.declarer}":
            raise BadInput(
                f"the position is {found}, but the game is {self.contract} by {self.declarer}: "
                f"name it as bridge:contract={read.contract},declarer={COMPASS[read.declarer]}"
            )
        holder = np.full(52, NO_SEAT)
        for point, hand in enumerate(read.hands):
            holder[[CARDS.index(card) for card in hand]] = (point - read.declarer) % 4
        leader = LEADER if read.leader is None else (read.leader - read.declarer) % 4
        gone = 4 * (13 - len(read.hands[0]))
        state = _begin(jnp.asarray(holder), jnp.uint8(leader), jnp.array(read.won, jnp.uint8), jnp.uint8(gone))
        for number, card in enumerate(read.played, 1):
            try:
                state = self.step(state, jnp.int32(self.parse_action(state, card)))
            except BadInput as error:
                raise BadInput(f"card {number}: {error}") from None
        return state


def _begin(holder: Array, leader: Array, won: Array, plies: Array) -> BridgeState:
    """Make the state before the first trick of a deal, or of an ending, whose cards without a holder are gone."""
    return BridgeState(
        holder=holder,
        ply=jnp.where(holder == NO_SEAT, np.uint8(0), HELD),
        trick=jnp.full(4, NO_CARD),
        leader=leader,
        plies=plies,
        won=won,
        voids=jnp.zeros((4, 4), jnp.bool_),
    )


def _suit_led(state: BridgeState) -> Array:
    """Return the suit of this trick, uint8 []; 4 where it is still to be led."""
    return jnp.sum(jnp.where(state.leader == _SEAT, state.trick, np.uint8(0)), dtype=jnp.uint8) // np.uint8(13)


def _played(state: BridgeState) -> list[int]:
    """List the cards played, in their order, on the host."""
    cards = np.flatnonzero((state.holder != NO_SEAT) & (state.ply != HELD))
    return cards[np.argsort(state.ply[cards])].tolist()


# --- who knows what --------------------------------------------------------------------------------------------------


def as_seen(state: BridgeState, seat: Array) -> BridgeState:
    """Replace by NO_SEAT the holder of every card of which `seat` does not know whose it is.

    A seat sees its own hand, what was played, and dummy once it is open, from the first lead on. Equal for all states
    that the seat cannot tell apart.
    """
    sees = jnp.any(_open_to(state, seat)[:, None] & (state.holder[None] == _SEAT[:, None]), axis=0)
    return state._replace(holder=jnp.where((state.ply == HELD) & ~sees, NO_SEAT, state.holder))


def _open_to(state: BridgeState, seat: Array) -> Array:
    """Tell, bool [4], which hands `seat` sees."""
    seat = jnp.asarray(seat, jnp.uint8)
    other = jnp.where(seat == DUMMY, np.uint8(DECLARER), np.uint8(DUMMY))  # dummy sees what the declarer does
    is_open = (state.plies > 0) | (state.leader == DUMMY)  # a hand that plays is seen
    return (seat == _SEAT) | (is_open & (other == _SEAT))


_as_seen = jax.jit(as_seen)


def deal_unseen(seen: BridgeState, seat: Array, key: Array) -> BridgeState:
    """Deal at random what `as_seen` left out; every deal that agrees with the rest is equally likely.

    Two hands are hidden, or three while no hand can have shown a void. So a card that may not go everywhere has one
    hand to go to. The others may go to any hidden hand: shuffled, they fill what room is left.
    """
    unseen = (seen.ply == HELD) & (seen.holder == NO_SEAT)
    room = np.uint8(13) - seen.plies // np.uint8(4) - (seen.trick != NO_CARD).astype(jnp.uint8)  # [4] cards in hand
    is_hidden = ~_open_to(seen, seat)
    may_have = is_hidden[:, None] & ~seen.voids[:, _SUIT] & unseen[None]  # [4, 52]
    forced = jnp.sum(may_have, axis=0) == 1
    goes = may_have & forced[None]
    room = jnp.where(is_hidden, room - jnp.sum(goes, axis=1, dtype=jnp.uint8), np.uint8(0))

    shuffled = unseen & ~forced
    order = jax.random.permutation(key, _CARD)
    before = (order[:, None] > order[None]) & shuffled[None]
    number = jnp.sum(before, axis=1, dtype=jnp.uint8)  # [52] its place among the shuffled cards
    filled = jnp.cumsum(room, dtype=jnp.uint8)[:, None]
    goes |= shuffled[None] & (number[None] < filled) & (number[None] >= filled - room[:, None])
    dealt = jnp.sum(jnp.where(goes, _SEAT[:, None], np.uint8(0)), axis=0, dtype=jnp.uint8)
    return seen._replace(holder=jnp.where(unseen, dealt, seen.holder))
