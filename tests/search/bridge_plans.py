"""What a declarer who does not see the defenders' cards can be sure of, by trying all plans; for endings of 3 cards.

The defenders see everything. A plan says what to play in each situation as the declarer sees it, so it is the same in
all worlds that look the same by then. Hands are tuples of cards such as "S7", by seat from the declarer; spades are
trumps.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

Hands = tuple[tuple[str, ...], ...]
Outcomes = tuple[int, ...]
"""The tricks that a plan takes in each of some worlds, where the defenders do their best."""

_RANKS = "23456789TJQKA"


def worlds_of(declarer: Sequence[str], dummy: Sequence[str], unseen: Sequence[str]) -> list[Hands]:
    """Every way to deal the unseen cards."""
    wests = itertools.combinations(unseen, len(declarer))
    return [(tuple(declarer), west, tuple(dummy), tuple(card for card in unseen if card not in west)) for west in wests]


def legal(hand: Sequence[str], trick: Sequence[str]) -> list[str]:
    return [card for card in hand if trick and card[0] == trick[0][0]] or list(hand)


def play(hands: Hands, leader: int, trick: tuple[str, ...], card: str) -> tuple[Hands, int, tuple[str, ...], int]:
    """Hands, leader and trick after a card, and whether the declarer's side took a trick by it."""
    left = tuple(tuple(other for other in hand if other != card) for hand in hands)
    trick = (*trick, card)
    if len(trick) < 4:
        return left, leader, trick, 0
    strength = [(card[0] == "S", card[0] in ("S", trick[0][0]), _RANKS.index(card[1])) for card in trick]
    winner = (leader + strength.index(max(strength))) % 4
    return left, winner, (), int(winner % 2 == 0)


@functools.cache
def open_tricks(hands: Hands, leader: int, trick: tuple[str, ...] = ()) -> int:
    """What the declarer's side takes with open cards."""
    turn = (leader + len(trick)) % 4
    if not hands[turn]:
        return 0
    follow = (play(hands, leader, trick, card) for card in legal(hands[turn], trick))
    return (min if turn % 2 else max)(taken + open_tricks(*after) for *after, taken in follow)


def plans(worlds: list[Hands], leader: int, trick: tuple[str, ...] = ()) -> set[Outcomes]:
    """What the declarer can get in worlds that look alike: the outcomes of all plans that no other plan beats."""
    turn = (leader + len(trick)) % 4
    if not worlds[0][turn]:
        return {(0,) * len(worlds)}
    if turn % 2 == 0:
        choices = legal(worlds[0][turn], trick)
        return _unbeaten(set().union(*(plans_after(worlds, leader, trick, card) for card in choices)))
    found: set[Outcomes] = {(99,) * len(worlds)}
    for card in sorted(set(itertools.chain(*(legal(hands[turn], trick) for hands in worlds)))):
        places = [place for place, hands in enumerate(worlds) if card in legal(hands[turn], trick)]
        below = plans_after([worlds[place] for place in places], leader, trick, card)
        found = _unbeaten({_worst(one, places, other) for one in found for other in below})
    return found


def plans_after(worlds: list[Hands], leader: int, trick: tuple[str, ...], card: str) -> set[Outcomes]:
    """The same, once `card` was played in all of them."""
    follow = [play(hands, leader, trick, card) for hands in worlds]
    _, leader, trick, taken = follow[0]
    return {
        tuple(tricks + taken for tricks in outcomes) for outcomes in plans([row[0] for row in follow], leader, trick)
    }


def _worst(outcomes: Outcomes, places: list[int], others: Outcomes) -> Outcomes:
    """The worse of two in each world; `others` has only those at `places`."""
    changed = dict(zip(places, others))
    return tuple(min(tricks, changed.get(place, tricks)) for place, tricks in enumerate(outcomes))


def _unbeaten(found: set[Outcomes]) -> set[Outcomes]:
    return {
        one for one in found if not any(one != other and all(a <= b for a, b in zip(one, other)) for other in found)
    }
