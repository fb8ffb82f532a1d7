"""Endgame tables of Kalah: what the seeds that are left in the houses are worth, known for every way they can lie.

The stores do not change what can follow. So a table holds, for all positions of up to some number of seeds in the
houses, how many of them the side to move gets more than the other side if both play for seeds; with the stores, that
is the result of the game. `beamzero.search.retrograde` makes tables; a search asks them at its leaves.
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

from beamzero.errors import BadInput
from beamzero.games import Game
from beamzero.games.kalah import Kalah, KalahState

_MOST_POSITIONS = 2**28
"""What a table may hold, at a byte each; to make one takes several times that memory."""


class EndgameTable(NamedTuple):
    """The values of all positions of up to `seeds` seeds in the houses, in the order of `index`."""

    houses: int
    empty_capture: bool
    seeds: int
    values: np.ndarray | Array  # int8 [positions]: the mover's seeds less the other side's, those in stores left out


def count_positions(houses: int, seeds: int) -> int:
    """How many ways up to `seeds` seeds can lie in both sides' houses."""
    return math.comb(seeds + 2 * houses, seeds) if seeds >= 0 else 0


def check_seeds(game: Game, seeds: int) -> Kalah:
    """The game itself, or BadInput where it has no endgame tables, or none of so many seeds."""
    if not isinstance(game, Kalah):
        raise BadInput(f"endgame tables are for kalah, but the game is {game.identity}")
    most = 2 * game.houses * game.seeds
    while count_positions(game.houses, most) > _MOST_POSITIONS:
        most -= 1
    if not 1 <= seeds <= most:
        raise BadInput(f"an endgame table of {game.identity} can hold 1 to {most} seeds, but {seeds} are asked for")
    return game


def number_of_ways(houses: int, seeds: int) -> np.ndarray:
    """int32 [2 * houses, seeds + 1]: in how many ways fewer than s seeds can lie in the first p + 1 houses, at [p, s]."""
    ways = [[math.comb(s + p, p + 1) for s in range(seeds + 1)] for p in range(2 * houses)]
    return np.array(ways, np.int32)


def index(houses: Array, seeds: int) -> Array:
    """int32 []: the place in a table of a position, uint8 [2, H], of up to `seeds` seeds; the mover's houses come first.

    Positions are numbered by how many seeds they have, those of as many by how many all houses but the last have, and
    so on. A position with more seeds gets some place within the table.
    """
    ways = number_of_ways(houses.shape[1], seeds)
    flat, so_far, places = houses.reshape(-1), jnp.int32(0), []
    for house in range(flat.size):
        so_far = jnp.minimum(so_far + flat[house].astype(jnp.int32), seeds)
        places.append(so_far + house * (seeds + 1))
    return jnp.sum(jnp.asarray(ways.reshape(-1))[jnp.stack(places)], dtype=jnp.int32)


@dataclasses.dataclass(frozen=True)
class _Probe:
    game: Kalah
    seeds: int

    def __call__(self, values: Array, states: KalahState) -> tuple[Array, Array]:
        """bool [B], float32 [B]: whether the table has the state, and then its result for the side to move."""
        houses, stores = states.pits[:, :, :-1], states.pits[:, :, -1].astype(jnp.int32)
        known = jnp.sum(houses, axis=(1, 2), dtype=jnp.int32) <= self.seeds
        places = jnp.where(known, jax.vmap(lambda row: index(row, self.seeds))(houses), 0)
        margin = stores[:, 0] - stores[:, 1] + values[places].astype(jnp.int32)
        return known, jnp.where(known, jnp.sign(margin), 0).astype(jnp.float32)


def endgame_table(game: Game, table: EndgameTable) -> Partial:
    """States [B] to (known bool [B], result float32 [B]): 1, 0 or -1 for the side to move where it is known, else 0."""
    kalah = check_seeds(game, 1)
    if (kalah.houses, kalah.empty_capture) != (table.houses, table.empty_capture):
        made_for = Kalah(houses=table.houses, empty_capture=table.empty_capture).identity
        raise BadInput(f"the endgame table is for {made_for}, with any number of seeds, but the game is {game.identity}")
    return Partial(_Probe(kalah, table.seeds), jnp.asarray(table.values))
