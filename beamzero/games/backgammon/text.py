"""Backgammon for people: the board as text, as data for a drawing, and positions in XG's notation."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import jax.numpy as jnp
import numpy as np

from beamzero.core.errors import BadInput
from beamzero.games.views import PointsView

COLOURS = ("White", "Black")
_SIGNS = "OX"
_HEIGHT = 5
_FORM = "XGID=-b----E-C---eE---c-e----B-:0:0:1:52"
_MOST_FIELDS = 10
"""XGID has checkers, cube and its owner, turn, dice; then of a match scores, rules, length and the largest cube."""

StateType = TypeVar("StateType")


def rows_of(state: Any) -> tuple[list[int], list[int]]:
    """List the checkers of the first side and of the second, each as it counts: borne off, points 1 to 24, bar."""
    rows = np.asarray(state.own).tolist(), np.asarray(state.other).tolist()
    return rows if int(state.side) == 0 else (rows[1], rows[0])


def dice_of(state: Any) -> list[int]:
    """List the dice that are still to be played."""
    high, low, times = int(state.high), int(state.low), int(state.times)
    return [high] * times + ([low] if low else [])


def drawn_place(side: int, place: int) -> list[int]:
    """Convert a side's place, its points 1 to 24, 25 for the bar or 0 for off, to a place of `PointsView`."""
    if place in (0, 25):
        return [2 if place == 0 else 1, side]
    return [0, place if side == 0 else 25 - place]


def view_backgammon(state: Any) -> PointsView:
    """Describe the board as JSON-able data."""
    first, second = rows_of(state)
    return {
        "kind": "points", "checkers": [first[1:25], second[1:25]], "bar": [first[25], second[25]],
        "off": [first[0], second[0]], "dice": dice_of(state), "side": int(state.side), "sides": list(COLOURS),
        "turn": True,
    }  # fmt: skip


def draw_backgammon(state: Any, seat: int, over: bool) -> str:
    """Draw the board as `seat` sees it: its own home at the lower right, its points numbered as it counts them.

    Whose turn it is stands below, unless the game is `over`.
    """
    rows = rows_of(state)
    own, other = rows if seat != 1 else (rows[1], rows[0])
    signs = _SIGNS if seat != 1 else _SIGNS[::-1]
    # What stands on each point, as this seat counts: how many, and whose.
    stacks = [(own[p], signs[0]) if own[p] else (other[25 - p], signs[1]) for p in range(26)]
    upper, lower = [*range(13, 19), None, *range(19, 25)], [*range(12, 6, -1), None, *range(6, 0, -1)]
    bars = {"upper": (other[25], signs[1]), "lower": (own[25], signs[0])}

    def cell(level: int, stack: tuple[int, str]) -> str:
        number, sign = stack
        if level == _HEIGHT - 1 and number > _HEIGHT:
            return f"{number:>2} "
        return f" {sign} " if number > level else " . "

    def line(level: int, points: list[int | None], bar: tuple[int, str]) -> str:
        cells = [cell(level, bar).replace(".", " ") if p is None else cell(level, stacks[p]) for p in points]
        return f"|{''.join(cells[:6])}|{cells[6]}|{''.join(cells[7:])}|"

    def numbers(points: list[int | None]) -> str:
        cells = ["   " if p is None else f"{p:>2} " for p in points]
        return f" {''.join(cells[:6])} {cells[6]} {''.join(cells[7:])}"

    edge = f"+{'-' * 18}+{'-' * 3}+{'-' * 18}+"
    dice = dice_of(state)
    who = f"{COLOURS[int(state.side)]} ({_SIGNS[int(state.side)]})"
    said = "" if over else f"   {who} to play {' '.join(map(str, dice))}" if dice else f"   {who} to roll"
    return "\n".join(
        [
            numbers(upper), edge,
            *(line(level, upper, bars["upper"]) for level in range(_HEIGHT)),
            f"|{' ' * 18}|bar|{' ' * 18}|",
            *(line(level, lower, bars["lower"]) for level in reversed(range(_HEIGHT))),
            edge, numbers(lower),
            f" borne off: {signs[0]} {own[0]}, {signs[1]} {other[0]}{said}",
        ]
    )  # fmt: skip


# --- positions -------------------------------------------------------------------------------------------------------


def write_xgid(state: Any) -> str:
    """Write a position as XGID: a letter for each of 26 places as the first side counts, its own in capitals; the dice.

    Dice of which a part has been played, which XG does not know, are written 5*1 for one five left, 3*2 for two threes.
    """
    first, second = rows_of(state)
    letters = [
        _letter(second[25], "a"),
        *(_point(first[p], second[25 - p]) for p in range(1, 25)),
        _letter(first[25], "A"),
    ]
    high, low, times = int(state.high), int(state.low), int(state.times)
    fresh = low or times == 4
    dice = f"{high}{low or high}" if fresh else f"{high}*{times}" if high else "00"
    return f"XGID={''.join(letters)}:0:0:{1 if int(state.side) == 0 else -1}:{dice}"


def _letter(number: int, one: str) -> str:
    return chr(ord(one) + number - 1) if number else "-"


def _point(first: int, second: int) -> str:
    return _letter(first, "A") if first else _letter(second, "a")


def read_xgid(text: str, kind: type[StateType]) -> StateType:
    """Read a position that XGID describes into a state of `kind`. Numbers about the cube and a match are ignored."""
    fields = text.strip().removeprefix("XGID=").split(":")
    if len(fields) < 5 or not re.fullmatch(r"[-A-Oa-o]{26}", fields[0]) or fields[3] not in ("1", "-1"):
        raise BadInput(f"{text.strip()!r} is no position: write it like {_FORM}")
    if len(fields) > _MOST_FIELDS:
        raise BadInput(f"{text.strip()!r} is no position: it has {len(fields)} fields, but {_MOST_FIELDS} at most")
    if wrong := [field for place, field in enumerate(fields) if place not in (0, 4) and not _is_number(field)]:
        raise BadInput(
            f"{text.strip()!r} is no position: {wrong[0]!r} stands where a number must be; write it like {_FORM}"
        )
    first, second = [0] * 26, [0] * 26
    for place, letter in enumerate(fields[0]):
        if letter.isupper():
            first[place] = ord(letter) - ord("A") + 1
        elif letter != "-":
            second[25 - place] = ord(letter) - ord("a") + 1
    if first[0] or second[0]:
        raise BadInput(f"{text.strip()!r} is no position: a checker stands on the other side's bar")
    for name, row in zip(COLOURS, (first, second), strict=True):
        if sum(row) > 15:
            raise BadInput(f"{text.strip()!r} is no position: {name} has {sum(row)} checkers, but 15 at most")
        row[0] = 15 - sum(row)
    if first[0] == 15 or second[0] == 15:
        raise BadInput(f"{text.strip()!r} is no position: the game is over")
    high, low, times = _read_dice(text, fields[4])
    side = 0 if fields[3] == "1" else 1
    own, other = (first, second) if side == 0 else (second, first)
    numbers = {"side": side, "high": high, "low": low, "times": times}
    return kind(  # type: ignore[call-arg]
        own=jnp.asarray(own, jnp.uint8),
        other=jnp.asarray(other, jnp.uint8),
        **{name: jnp.uint8(n) for name, n in numbers.items()},
        ply=jnp.uint16(0),
    )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+", text) is not None


def _read_dice(text: str, dice: str) -> tuple[int, int, int]:
    """Read the larger die, the smaller one, and how often the larger is to be played."""
    if dice == "00":
        return 0, 0, 0
    if found := re.fullmatch(r"([1-6])\*([1-3])", dice):
        return int(found[1]), 0, int(found[2])
    if not re.fullmatch(r"[1-6]{2}", dice):
        raise BadInput(f"{text.strip()!r} is no position: its dice are {dice!r}, but must be like 52, 5*1 or 00")
    low, high = sorted(map(int, dice))
    return (high, 0, 4) if high == low else (high, low, 1)
