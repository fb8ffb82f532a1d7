"""Bridge as people write it: cards, contracts, diagrams, and positions in one line.

Inside, hands are seats counted from the declarer: 0 is the declarer, 1 the defender to its left, who leads, 2 dummy, 3
the other defender. People call them by the points of the compass, N E S W, clockwise.

A position is a deal as PBN writes it, the contract, the declarer, and the cards played so far, in their order:

    N:AQ4.KT2.AJ85.Q93 JT93.Q964.T3.K76 K52.A53.KQ92.A42 876.J87.764.JT85 3NT S D7 DA D3 D2

An ending has fewer cards in each hand, and says who won the tricks before it, the declarer's first, and who leads:

    N:K7..T. .AJ5.. 6.8.A. AQ..K. 4S S won=7-3 lead=S

A whole deal may say lead= too, where it is not the defender to the declarer's left who leads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from beamzero.core.errors import BadInput

SUITS = "SHDC"
RANKS = "23456789TJQKA"
COMPASS = "NESW"
STRAINS = ("C", "D", "H", "S", "NT")
_NUMERALS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

CARDS = tuple(suit + rank for suit in SUITS for rank in RANKS)
"""The names of the 52 cards, in the order of the actions: ``S2 S3 ... SA H2 ... CA``."""


class Contract(NamedTuple):
    """A contract: the level and the strain that the declarer bid."""

    level: int
    strain: str

    @property
    def tricks(self) -> int:
        """The number of tricks that the declarer needs."""
        return self.level + 6

    @property
    def trump(self) -> int:
        """The number of the trump suit, or 4 where there is none."""
        return (*SUITS, "NT").index(self.strain)

    def __str__(self) -> str:
        return f"{self.level}{self.strain}"


def read_contract(text: str) -> Contract:
    """Read a contract such as ``3NT`` or ``4s``; BadInput where there is no such contract."""
    found = re.fullmatch(r"([1-7])(C|D|H|S|NT?)", text.strip().upper())
    if found is None:
        raise BadInput(
            f"no such contract {text!r}: a level 1 to 7 and a strain {', '.join(STRAINS)}, such as 3NT or 4S"
        )
    return Contract(int(found[1]), "NT" if found[2] == "N" else found[2])


def read_compass(text: str, what: str) -> int:
    """Read a point of the compass as its number, clockwise from N; `what` names it in the error."""
    point = text.strip().upper()
    if len(point) != 1 or point not in COMPASS:
        raise BadInput(f"no such {what} {text!r}: it must be one of {', '.join(COMPASS)}")
    return COMPASS.index(point)


def read_card(text: str) -> str:
    """Write a card as it is named here: ``d10`` is ``DT``."""
    return text.strip().upper().replace("10", "T")


def write_contract_result(contract: Contract, tricks: int) -> str:
    """Write the result of a contract, such as ``3NT made with an overtrick`` or ``4S down two``."""
    over = tricks - contract.tricks
    if over < 0:
        return f"{contract} down {_NUMERALS[-over] if -over < len(_NUMERALS) else 'thirteen'}"
    more = {0: "", 1: " with an overtrick"}.get(over, f" with {_NUMERALS[over]} overtricks")
    return f"{contract} made{more}"


# --- deals -----------------------------------------------------------------------------------------------------------


class PositionText(NamedTuple):
    """The parts of the text of a position. Hands go by the compass, clockwise from N."""

    hands: list[list[str]]  # [4] the cards of each at the beginning
    contract: Contract
    declarer: int
    played: list[str]
    won: tuple[int, int] = (0, 0)
    """Tricks of the declarer's side and of the defenders before the beginning."""
    leader: int | None = None
    """The hand that led at the beginning; None where all 13 cards are there and the declarer's left led."""


def write_hand(cards: Sequence[str]) -> str:
    """Write a hand as ``AKQ2.J93..T87654``: spades, hearts, diamonds and clubs, the highest first."""
    return ".".join(suit_text(cards, suit) for suit in SUITS)


def suit_text(cards: Sequence[str], suit: str) -> str:
    """Write the ranks of one suit, the highest first."""
    return "".join(sorted((card[1] for card in cards if card[0] == suit), key=RANKS.index, reverse=True))


def write_deal(text: PositionText) -> str:
    """Write a position in one line, as the module's docstring shows."""
    words = ["N:" + " ".join(map(write_hand, text.hands)), str(text.contract), COMPASS[text.declarer]]
    if any(text.won):
        words.append(f"won={text.won[0]}-{text.won[1]}")
    if text.leader is not None:
        words.append(f"lead={COMPASS[text.leader]}")
    return " ".join([*words, *text.played])


def read_deal(text: str) -> PositionText:
    """Read the parts of a position in one line; BadInput where they are no deal. The play is not checked."""
    words = text.split()
    if len(words) < 6 or words[0][1:2] != ":":
        raise BadInput(
            f"cannot read the position {text!r}: write a deal of four hands, a contract and a declarer, "
            "such as N:AKQ2.J93.T87.A65 ... ... ... 3NT S, and the cards played so far"
        )
    first, hands = read_compass(words[0][0], "hand"), [words[0][2:], *words[1:4]]
    dealt = [_read_hand(hand, COMPASS[(first + place) % 4]) for place, hand in enumerate(hands)]
    dealt = [dealt[(point - first) % 4] for point in range(4)]
    contract, declarer = read_contract(words[4]), read_compass(words[5], "declarer")
    pairs = [word.lower().split("=", 1) for word in words[6:] if "=" in word]
    played, marks = [read_card(word) for word in words[6:] if "=" not in word], dict(pairs)
    if unknown := [key for key in marks if key not in ("won", "lead")]:
        raise BadInput(f"cannot read {unknown[0]!r} in a position: an ending says won=4-3 and lead=S")
    if len(marks) < len(pairs):
        raise BadInput(f"a position says won= and lead= once each, but here are {len(pairs)} of them")
    _check_cards(dealt, is_ending=bool(marks))
    if not marks:
        return PositionText(dealt, contract, declarer, played)
    return PositionText(dealt, contract, declarer, played, *_read_ending(marks, 13 - len(dealt[0])))


def _read_hand(text: str, point: str) -> list[str]:
    suits = read_card(text).split(".")
    wrong = [rank for suit in suits for rank in suit if rank not in RANKS]
    if len(suits) != 4 or wrong:
        raise BadInput(f"cannot read the hand {text!r} of {point}: write its suits S.H.D.C, such as AKQ2.J93..T87654")
    return [suit + rank for suit, ranks in zip(SUITS, suits) for rank in ranks]


def _check_cards(hands: list[list[str]], is_ending: bool) -> None:
    cards = [card for hand in hands for card in hand]
    if twice := [card for card in CARDS if cards.count(card) > 1]:
        raise BadInput(f"the card {twice[0]} is dealt twice")
    sizes = [len(hand) for hand in hands]
    wanted = max(set(sizes), key=sizes.count) if is_ending else 13
    for point, size in zip(COMPASS, sizes):
        if size != wanted or not size:
            must = "as many as the others" if is_ending else "13; an ending also says won=4-3 and lead=S"
            raise BadInput(f"{point} has {size} card{'s' * (size != 1)}, but must have {must}")


def _read_ending(marks: Mapping[str, str], gone: int) -> tuple[tuple[int, int], int]:
    """Read the tricks won before an ending, by declarer's side and defenders, and the hand that leads."""
    won = re.fullmatch(r"(\d+)-(\d+)", marks.get("won", "" if gone else "0-0"))
    if won is None or int(won[1]) + int(won[2]) != gone or "lead" not in marks:
        raise BadInput(
            f"an ending says who leads, as in lead=S, and who won the {gone} tricks before, as in won={gone}-0"
        )
    return (int(won[1]), int(won[2])), read_compass(marks["lead"], "leader")


# --- diagrams --------------------------------------------------------------------------------------------------------

_COLUMN = 22


def hand_lines(cards: Sequence[str] | int, voids: Sequence[str] = ()) -> list[str]:
    """Write a hand suit by suit; of a hidden one how many cards it has, and the suits that it is known to be out of."""
    if isinstance(cards, int):
        return [f"{cards} card{'s' * (cards != 1)}", *([f"no {' '.join(voids)}"] if voids else [])]
    return [f"{suit} {suit_text(cards, suit) or '-'}" for suit in SUITS]


def draw_hands(hands: Sequence[Sequence[str]], below: Sequence[str]) -> str:
    """Draw four hands, lines of text each, clockwise from N, round a table, with some lines below."""
    north, east, south, west = (list(hand) for hand in hands)
    height = max(len(west), len(east))
    middle = [
        f"{left:<{2 * _COLUMN}}{right}".rstrip() for left, right in zip(_padded(west, height), _padded(east, height))
    ]
    indent = " " * _COLUMN
    return "\n".join([*(indent + line for line in north), *middle, *(indent + line for line in south), "", *below])


def _padded(lines: list[str], height: int) -> list[str]:
    return lines + [""] * (height - len(lines))
