"""Sowing stones round a ring of houses, and boards of houses for people: shared by Kalah and Togyzkumalak."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games.views import SIDE_NAMES, SowingView


def sow(stones: Array, first: Array, places: int) -> tuple[Array, Array]:
    """Sow `stones` one by one into the place `first` of a ring and those after it; both are uint8 [].

    Returns what each place gains, uint8 [places], and where the last stone falls, uint8 []. No stone is followed on
    its way: each place gains one for every whole lap, and the first few one more.
    """
    laps, rest = stones // np.uint8(places), stones % np.uint8(places)
    place = np.arange(places, dtype=np.uint8)
    order = jnp.where(place >= first, place - first, place + np.uint8(places) - first)
    gains = laps + (order < rest).astype(jnp.uint8)
    return gains, (first + rest + np.uint8(places - 1)) % np.uint8(places)


def where_moves_end(steps: Sequence[Array]) -> Array:
    """Return the ends of all moves as a word, uint32 []: bit p is set if a move ends p places after the first house.

    `steps` says how many places each house's last stone goes, uint32 [] each; 0 for no move.
    """
    ends = [
        jnp.where(step > 0, np.uint32(1) << step + np.uint32(house), np.uint32(0)) for house, step in enumerate(steps)
    ]
    return functools.reduce(jnp.bitwise_or, ends)


def to_scalars(counts: Array) -> list[Array]:
    """Split a uint8 vector into uint32 scalars. XLA makes one loop of many scalars, but several of small arrays."""
    return [counts[i].astype(jnp.uint32) for i in range(counts.size)]


def count_true(conditions: Sequence[Array]) -> Array:
    """Count the conditions, bool [] each, that hold, uint32 []."""
    return functools.reduce(jnp.add, [condition.astype(jnp.uint32) for condition in conditions])


def draw_houses(
    houses: Sequence[Sequence[int]], stores: Sequence[int], seat: int = 0, marked: Sequence[tuple[int, int]] = ()
) -> str:
    """Draw a sowing board as text, with the row and the store of side `seat` below and to the right; for OPEN side 0's.

    `houses` are two lists of counts, each side's from its own left. A marked house, (side, house), is shown as ×.
    """
    texts = [["×" if (side, i) in marked else str(n) for i, n in enumerate(row)] for side, row in enumerate(houses)]
    numbers = [str(i + 1) for i in range(len(houses[0]))]
    width = max(2, *(len(text) for text in [*texts[0], *texts[1], *map(str, stores)]))
    line = "─" * (width + 2)

    def frame(left: str, between: str, right: str) -> str:
        return left + between.join([line] * len(numbers)) + right

    def row(cells: Sequence[str], edge: str = "│") -> str:
        return edge + edge.join(f" {cell:>{width}} " for cell in cells) + edge

    own = int(seat == 1)
    other = 1 - own
    own_store, other_store, gap = (f" {text!s:>{width}} " for text in (stores[own], stores[other], ""))
    return "\n".join(
        line.rstrip()
        for line in [
            f" {gap}{row(numbers[::-1], ' ')} {SIDE_NAMES[other]}",
            frame(f"╭{line}┬", "┬", f"┬{line}╮"),
            f"│{gap}{row(texts[other][::-1])}{gap}│",
            frame(f"│{other_store}├", "┼", f"┤{own_store}│"),
            f"│{gap}{row(texts[own])}{gap}│",
            frame(f"╰{line}┴", "┴", f"┴{line}╯"),
            f" {gap}{row(numbers, ' ')} {SIDE_NAMES[own]}",
        ]
    )


def view_houses(
    houses: Sequence[Sequence[int]], stores: Sequence[int], marked: Sequence[tuple[int, int]] = ()
) -> SowingView:
    """Describe a sowing board as JSON-able data; sides and houses are counted from 0."""
    return {
        "kind": "sowing",
        "houses": [list(row) for row in houses],
        "stores": list(stores),
        "marked": [list(place) for place in marked],
        "turn": True,
    }
