"""Endgame tables of Kalah: the margin of seeds that the mover wins, for every position of few seeds in the houses.

The stores do not change the moves that follow. So a table holds, for all positions of up to some number of seeds in the
houses, how many of these the side to move gets more than the other side if both play for seeds. With the stores, that
is the result of the game. `beamzero.solvers.retrograde` makes tables; a search asks them at its leaves.
"""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial

from beamzero.core.errors import BadInput
from beamzero.games import Game
from beamzero.games.kalah import Kalah, KalahState

MOST_POSITIONS = 2**28
"""The most positions of a table, at a byte each; making it takes several times that memory."""


class EndgameTable(NamedTuple):
    """The values of all positions of up to `seeds` seeds in the houses, in the order of `index`."""

    houses: int
    empty_capture: bool
    seeds: int
    values: np.ndarray | Array  # int8 [positions]: the mover's seeds less the other side's, those in stores left out


def count_positions(houses: int, seeds: int) -> int:
    """Count the positions of up to `seeds` seeds in both sides' houses."""
    return math.comb(seeds + 2 * houses, seeds) if seeds >= 0 else 0


def check_seeds(game: Game, seeds: int) -> Kalah:
    """Return the game, or raise BadInput where it has no endgame tables, or none of so many seeds."""
    if not isinstance(game, Kalah):
        raise BadInput(f"endgame tables are for kalah, but the game is {game.identity}")
    most = 2 * game.houses * game.seeds
    while count_positions(game.houses, most) > MOST_POSITIONS:
        most -= 1
    if not 1 <= seeds <= most:
        raise BadInput(f"an endgame table of {game.identity} can hold 1 to {most} seeds, but {seeds} are asked for")
    return game


def index(houses: Array, seeds: int) -> Array:
    """Find the place, int32 [], of a position, uint8 [2, H], mover first, in a table of up to `seeds` seeds.

    Places are ordered by the seeds in all houses, then by those in all but the last, and so on. A position of more
    seeds than the table has gets some place within it.
    """
    flat, ways = houses.reshape(-1), jnp.asarray(_ways(houses.shape[1], seeds))
    before, place = jnp.int32(0), jnp.int32(0)
    for house in range(flat.size):  # one by one, which XLA fuses
        before = jnp.minimum(before + flat[house].astype(jnp.int32), seeds)
        place += ways[house, before]
    return place


def position(place: Array, houses: int, seeds: int) -> Array:
    """Make the position, uint8 [2, houses], at a place of a table of up to `seeds` seeds; the inverse of `index`."""
    sums = []
    for ways in _ways(houses, seeds)[::-1]:
        fits = ways <= place
        sums.append(jnp.sum(fits, dtype=jnp.int32) - 1)
        place = place - jnp.max(jnp.where(fits, ways, 0))
    up_to = jnp.stack([jnp.int32(0), *sums[::-1]])
    return (up_to[1:] - up_to[:-1]).astype(jnp.uint8).reshape(2, houses)


def _ways(houses: int, seeds: int) -> np.ndarray:
    """Count the ways in which fewer than s seeds lie in houses 0 to h, int32 [2 * houses, seeds + 1] at [h, s]."""
    return np.array([[math.comb(s + h, h + 1) for s in range(seeds + 1)] for h in range(2 * houses)], np.int32)


@dataclasses.dataclass(frozen=True)
class _Probe:
    """A function of a table's values and B states to which of them it has, bool [B], and their results, float32 [B]."""

    game: Kalah
    seeds: int

    def __call__(self, values: Array, states: KalahState) -> tuple[Array, Array]:
        houses, stores = states.pits[:, :, :-1], states.pits[:, :, -1].astype(jnp.int32)
        known = jnp.sum(houses, axis=(1, 2), dtype=jnp.int32) <= self.seeds
        places = jnp.where(known, jax.vmap(lambda row: index(row, self.seeds))(houses), 0)
        margin = stores[:, 0] - stores[:, 1] + values[places].astype(jnp.int32)
        return known, jnp.where(known, jnp.sign(margin), 0).astype(jnp.float32)


def endgame_table(game: Game, table: EndgameTable) -> Partial:
    """Make a function of states [B] to (known bool [B], result float32 [B]), for `Evaluator.exact`.

    The result is 1, 0 or -1 for the side to move where it is known, else 0.
    """
    kalah = check_seeds(game, 1)
    if (kalah.houses, kalah.empty_capture) != (table.houses, table.empty_capture):
        made_for = Kalah(houses=table.houses, empty_capture=table.empty_capture).identity
        raise BadInput(
            f"the endgame table is for {made_for}, with any number of seeds, but the game is {game.identity}"
        )
    return Partial(_Probe(kalah, table.seeds), jax.device_put(table.values))
