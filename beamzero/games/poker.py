"""Poker small enough to be solved: Kuhn's with three cards, and Leduc with six and a second round of betting."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games.game import OPEN, Game, keep_if
from beamzero.games.views import PokerView

FOLD, CALL, RAISE = 0, 1, 2
"""The actions. A call where there is nothing to call is a check, and the first raise of a round is a bet."""

_NO_FOLD = -1
_RANKS = ("jack", "queen", "king")
_SEATS = ("first", "second")
_LETTERS = "fcr"
"""The letters of the actions in the texts of positions."""


class PokerState(NamedTuple):
    cards: Array  # int8 [2 + rounds - 1] ranks: the first player's, the second's, then the public ones, seen or not
    betting: Array  # int8 [rounds, longest] the actions of each round, -1 where there was none yet
    paid: Array  # int8 [2] chips that each player has put into the pot
    round: Array  # int8 [] the round of betting; the number of rounds after the last one
    turn: Array  # int8 [] actions so far in this round, which the first player always begins
    folded: Array  # int8 [] who gave up, or -1


class Poker(Game):
    """Two players, an ante of one chip each, one private card each; bets of a fixed size, so many in each round.

    All cards are dealt at the start, so that there is no chance later on; a public card lies face down until the round
    that it opens. Cards differ in nothing but their rank. After the last round the better hand takes the pot: a private
    card that pairs the public one, else the higher card; equal hands share.
    """

    hidden: ClassVar[bool] = True
    deck: ClassVar[tuple[int, ...]]
    """The ranks of its cards, 0 to 2."""
    bets: ClassVar[tuple[int, ...]]
    """The chips that a bet or a raise adds, by round of betting."""
    raises: ClassVar[int]
    """The most bets and raises of a round."""

    @property
    def num_actions(self) -> int:
        return 3

    @property
    def max_moves(self) -> int:
        return 2 if self.raises == 1 else 3

    @property
    def max_plies(self) -> int:
        return len(self.bets) * self._longest

    @property
    def _longest(self) -> int:
        """The most actions of a round: a check, all the raises, a call."""
        return self.raises + 2

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return (len(_RANKS) * len(self.bets) + 3 * self.max_plies,)

    unit: ClassVar[str] = "chips"

    @property
    def stake(self) -> int:
        """The most chips that can be won: the ante and every raise of every round."""
        return 1 + self.raises * sum(self.bets)

    def init(self, key: Array) -> PokerState:
        rounds = len(self.bets)
        dealt = jax.random.permutation(key, np.array(self.deck, np.int8))[: 1 + rounds]
        return PokerState(
            cards=dealt,
            betting=jnp.full((rounds, self._longest), -1, jnp.int8),
            paid=jnp.ones(2, jnp.int8),
            round=jnp.int8(0),
            turn=jnp.int8(0),
            folded=jnp.int8(_NO_FOLD),
        )

    def deals(self) -> list[tuple[float, PokerState]]:
        first = jax.device_get(self.init(jax.random.key(0)))
        ways = Counter(itertools.permutations(self.deck, 1 + len(self.bets)))
        total = sum(ways.values())
        return [(number / total, first._replace(cards=np.array(deal, np.int8))) for deal, number in ways.items()]

    def player(self, state: PokerState) -> Array:
        return (state.turn % np.int8(2)).astype(jnp.int32)

    def legal(self, state: PokerState) -> Array:
        """Allow folds only after a bet, and raises only while there are raises left."""
        raised = self._raised(state)
        return jnp.stack([raised > 0, jnp.bool_(True), raised < self.raises])

    def _raised(self, state: PokerState) -> Array:
        """Count the bets and raises so far in this round, int32 []."""
        here = np.arange(len(self.bets), dtype=np.int8) == state.round
        return jnp.sum((state.betting == RAISE) & here[:, None], dtype=jnp.int32)

    def step(self, state: PokerState, action: Array) -> PokerState:
        action = jnp.asarray(action, jnp.int8)
        rounds, places = (np.arange(size, dtype=np.int8) for size in state.betting.shape)
        now = (rounds == state.round)[:, None] & (places == state.turn)[None]
        bet = jnp.sum(jnp.where(rounds == state.round, np.array(self.bets, np.int8), np.int8(0)), dtype=jnp.int8)
        mine = np.arange(2, dtype=np.int8) == state.turn % np.int8(2)
        level = jnp.max(state.paid) + jnp.where(action == RAISE, bet, np.int8(0))
        ends = (action == CALL) & (state.turn > 0)
        after = PokerState(
            cards=state.cards,
            betting=jnp.where(now, action, state.betting),
            paid=jnp.where(mine & (action != FOLD), level, state.paid),
            round=state.round + ends.astype(jnp.int8),
            turn=jnp.where(ends, np.int8(0), state.turn + np.int8(1)),
            folded=jnp.where(action == FOLD, state.turn % np.int8(2), np.int8(_NO_FOLD)),
        )
        return keep_if(self.over(state), state, after)

    def over(self, state: PokerState) -> Array:
        return (state.folded != _NO_FOLD) | self._shown(state)

    def _shown(self, state: PokerState) -> Array:
        """Tell, bool [], whether it came to a showdown."""
        return state.round == len(self.bets)

    def score(self, state: PokerState) -> Array:
        """Return the chips that side 0 has won, as a share of the most that can be won."""
        hands = self._hands(state)
        better = jnp.sign(hands[0] - hands[1])
        by_fold = jnp.where(state.folded == 0, np.int8(-1), np.int8(1))
        sign = jnp.where(state.folded == _NO_FOLD, better, by_fold)
        won = (sign * jnp.min(state.paid)).astype(jnp.float32) / np.float32(self.stake)
        return jnp.where(self.over(state), won, np.float32(0))

    def _hands(self, state: PokerState) -> Array:
        """Rate each hand at a showdown, int8 [2]: the higher the better."""
        private, public = state.cards[:2], state.cards[2:]
        pairs = jnp.any(private[:, None] == public[None], axis=1)
        return private + np.int8(len(_RANKS)) * pairs.astype(jnp.int8)

    def observe(self, state: PokerState) -> Array:
        """Show a net the rank of the own card, that of the public one, if it is seen, and each action; all one-hot.

        This is all that the player to move knows, from the first action on, so that equal observations are equal
        information sets. Whose turn it is follows from the actions.
        """
        own = jnp.where(self.player(state) == 0, state.cards[0], state.cards[1])
        public = jnp.where(self._public_seen(state), state.cards[2:], np.int8(-1))
        parts = [
            jax.nn.one_hot(jnp.concatenate([own[None], public]), len(_RANKS), dtype=jnp.float32),
            jax.nn.one_hot(state.betting, 3, dtype=jnp.float32),
        ]
        return jnp.concatenate([part.reshape(-1) for part in parts])

    def _public_seen(self, state: PokerState) -> Array:
        """Tell, bool [rounds - 1], which public cards lie face up."""
        return jnp.arange(len(self.bets) - 1, dtype=jnp.int8) < state.round

    def determinize(self, state: PokerState, seat: Array, key: Array) -> PokerState:
        """Draw card after card, each as likely as there are of its rank among those that `seat` does not see."""
        known = jnp.concatenate([jnp.arange(2) == seat, self._public_seen(state)]) | self._shown(state)
        ranks = np.arange(len(_RANKS), dtype=np.int8)
        left = jnp.asarray(np.bincount(self.deck, minlength=len(_RANKS)), jnp.int32)
        left = left - jnp.sum((state.cards[:, None] == ranks[None]) & known[:, None], axis=0, dtype=jnp.int32)
        cards = state.cards
        for place in range(1 + len(self.bets)):
            drawn = jax.random.categorical(jax.random.fold_in(key, place), jnp.log(left.astype(jnp.float32)))
            card = jnp.where(known[place], cards[place], drawn.astype(jnp.int8))
            left = left - ((ranks == card) & ~known[place]).astype(jnp.int32)
            cards = cards.at[place].set(card)
        return state._replace(cards=cards)

    # --- for people ------------------------------------------------------------------------------------------------

    def action_name(self, state: PokerState, action: int) -> str:
        return _name(action, int(self._raised(state)) > 0)

    def show(self, state: PokerState, seat: int = 0) -> str:
        """Draw the seat's own card, the public one once it is turned, every action, and the pot."""
        faces = [face or "?" for face in self._faces(state, seat)]
        lines = [f"{_SEATS[place]:<7} {faces[place]}" for place in range(2)]
        if len(faces) > 2:
            lines.append(f"{'public':<7} {' '.join(faces[2:])}")
        lines += [f"round {number + 1} {', '.join(names)}".rstrip() for number, names in enumerate(self._said(state))]
        first, second = np.asarray(state.paid).tolist()
        return "\n".join([*lines, f"pot     {first + second} ({first} + {second})"])

    def view(self, state: PokerState, seat: int = 0) -> PokerView:
        letters = [face and face[0].upper() for face in self._faces(state, seat)]
        return {
            "kind": "poker",
            "cards": letters[:2],
            "public": letters[2:],
            "paid": np.asarray(state.paid).tolist(),
            "said": self._said(state),
            "look": "felt",
            "turn": True,
        }

    def _faces(self, state: PokerState, seat: int) -> list[str | None]:
        """List the rank of each card, None where `seat` does not see it."""
        own = [seat == OPEN or bool(self._shown(state)) or place == seat for place in range(2)]
        seen = [*own, *(seat == OPEN or up for up in np.asarray(self._public_seen(state)).tolist())]
        return [_RANKS[card] if up else None for card, up in zip(np.asarray(state.cards).tolist(), seen)]

    def _said(self, state: PokerState) -> list[list[str]]:
        """List the names of the actions of each round that has begun."""
        betting, begun = np.asarray(state.betting).tolist(), min(int(state.round) + 1, len(self.bets))
        return [
            [_name(action, RAISE in actions[:turn]) for turn, action in enumerate(actions) if action >= 0]
            for actions in betting[:begun]
        ]

    def write_position(self, state: PokerState) -> str:
        """Write the first player's card, the second's, the public one, and the actions, f, c or r: ``JQK rc/c``."""
        cards = "".join(_RANKS[card][0].upper() for card in np.asarray(state.cards).tolist())
        rounds = ["".join(_LETTERS[a] for a in row if a >= 0) for row in np.asarray(state.betting).tolist()]
        return f"{cards} {'/'.join(rounds).rstrip('/')}".rstrip()

    def read_position(self, text: str) -> PokerState:
        words = text.split()
        if not 1 <= len(words) <= 2:
            raise BadInput(
                f"{text!r} is no position of {self.name}: give the cards and then the actions, such as JQ cr"
            )
        cards, said = words[0].upper(), "".join(words[1:])
        initials = [rank[0].upper() for rank in _RANKS]
        number = 1 + len(self.bets)
        deck = Counter(initials[card] for card in self.deck)
        if len(cards) != number or Counter(cards) - deck:
            has = "".join(deck.elements())
            raise BadInput(f"{cards!r} is no deal of {self.name}: it takes {number} of the cards {has}")
        dealt = jnp.array([initials.index(card) for card in cards], jnp.int8)
        state = self.init(jax.random.key(0))._replace(cards=dealt)
        for place, letter in enumerate(said.replace("/", ""), 1):
            legal = "".join(_LETTERS[action] for action in self.legal_actions(state))
            if letter not in legal:
                raise BadInput(f"action {place}: {letter!r} cannot be (legal: {legal or 'none, the game is over'})")
            state = self.step(state, jnp.int32(_LETTERS.index(letter)))
        if said and self.write_position(state) != f"{cards} {said}":
            raise BadInput(f"{said!r} ends its rounds where they do not end: {self.write_position(state)!r}")
        return state

    def outcome_reason(self, state: PokerState) -> str:
        paid = int(np.min(np.asarray(state.paid)))
        chips = f"{paid} chip{'s' if paid > 1 else ''}"
        if int(state.folded) != _NO_FOLD:
            return f"{_SEATS[int(state.folded)]} folds and loses {chips}"
        first, second = (self._hand_name(state, place) for place in range(2))
        score = float(self.score(state))
        if score == 0:
            return f"draw: both have {first}"
        best, other = (first, second) if score > 0 else (second, first)
        return f"{_SEATS[int(score < 0)]} wins {chips}: {best} against {other}"

    def _hand_name(self, state: PokerState, place: int) -> str:
        own, *public = (np.asarray(state.cards)[[place, *range(2, 1 + len(self.bets))]]).tolist()
        return f"a pair of {_RANKS[own]}s" if own in public else f"a {_RANKS[own]}"


def _name(action: int, raised: bool) -> str:
    """Name an action as players do; `raised` where there was a bet in this round, which has to be met."""
    return ("fold", "call" if raised else "check", "raise" if raised else "bet")[action]


@dataclasses.dataclass(frozen=True)
class KuhnPoker(Poker):
    """Three cards, one each and one unseen; one bet of one chip.

    Between best players the first loses 1/18 of a chip a hand.
    """

    name: ClassVar[str] = "kuhn_poker"
    deck: ClassVar[tuple[int, ...]] = (0, 1, 2)
    bets: ClassVar[tuple[int, ...]] = (1,)
    raises: ClassVar[int] = 1


@dataclasses.dataclass(frozen=True)
class LeducPoker(Poker):
    """Two each of three ranks; a round of betting, then a public card and another round, where bets are doubled."""

    name: ClassVar[str] = "leduc_poker"
    deck: ClassVar[tuple[int, ...]] = (0, 0, 1, 1, 2, 2)
    bets: ClassVar[tuple[int, ...]] = (2, 4)
    raises: ClassVar[int] = 2
