"""How often an agent throws away what a position is worth, held against positions that are solved."""

from __future__ import annotations

import dataclasses
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.special import betaincinv

from beamzero.arena.intervals import TAIL, Interval
from beamzero.arena.truth import ILLEGAL, Truth
from beamzero.core.progress import OnProgress
from beamzero.games import State
from beamzero.players import Player
from beamzero.players.player import check_player

_ROWS = 256
"""Positions that are looked at together, so that nothing compiles after the first of them."""

_ROWS_ONE_BY_ONE = 16
"""The same for players that think about one position after the other, and may take their time."""

LOSSES = {"win to draw": (1, 0), "draw to loss": (0, -1), "win to loss": (1, -1)}
"""What can be thrown away: the sign of the best move's worth, and of that of the move that was chosen."""


def share_interval(errors: int, positions: int) -> Interval:
    """95% interval of a share of which `errors` of `positions` were seen: Clopper and Pearson's exact one.

    Laws: it holds the share that was seen; it reaches 0 where there was no error, and 1 where there was nothing else.
    """
    right = positions - errors
    low = float(betaincinv(errors, right + 1, TAIL)) if errors else 0.0
    high = float(betaincinv(errors + 1, right, 1 - TAIL)) if right else 1.0
    return Interval(low, high)


@dataclasses.dataclass(frozen=True)
class Share:
    """Errors, of so many positions."""

    positions: int
    errors: int

    @property
    def rate(self) -> float:
        return self.errors / self.positions

    @property
    def interval(self) -> Interval:
        return share_interval(self.errors, self.positions)


@dataclasses.dataclass(frozen=True)
class Scored:
    """What came of the positions with one agent."""

    agent: str
    classes: dict[str, Share]
    losses: dict[str, int]
    """How often it threw away what, of `LOSSES`; empty where moves are only right or wrong."""
    milliseconds: float
    """For a move, many of them thought about at once on all cores; the compiler's time left out."""

    @property
    def all(self) -> Share:
        shares = self.classes.values()
        return Share(sum(share.positions for share in shares), sum(share.errors for share in shares))


def score(truth: Truth, player: Player, seed: int = 0, progress: OnProgress | None = None) -> Scored:
    """Ask `player` for its move in each position of `truth`. A move is an error where another keeps more."""
    moves, seconds = _choose_all(truth, player, jax.random.key(seed), progress)
    worths = np.sign(truth.worths.astype(np.int32))
    best = np.where(truth.worths == ILLEGAL, -1, worths).max(axis=1)
    # Who gives up instead of moving has lost.
    chosen = np.where(moves < 0, -1, worths[np.arange(len(truth)), np.maximum(moves, 0)])
    wrong = chosen < best
    classes = {
        name: Share(int((truth.labels == label).sum()), int(wrong[truth.labels == label].sum()))
        for label, name in enumerate(truth.classes)
    }
    losses = {} if truth.puzzles else {
        name: int(((best == before) & (chosen == after)).sum()) for name, (before, after) in LOSSES.items()
    }  # fmt: skip
    return Scored(player.name, classes, losses, 1000 * seconds / len(truth))


def rows_at_once(player: Player, positions: int | None = None) -> int:
    """Tell how many positions the player is asked about at a time, of `positions` or more."""
    rows = _ROWS if player.in_batches else _ROWS_ONE_BY_ONE
    return rows if positions is None else min(rows, positions)


def _choose_all(truth: Truth, player: Player, key: Array, progress: OnProgress | None) -> tuple[np.ndarray, float]:
    """int32 [N]: the moves of the player; and how many seconds it took to find them."""
    total, rows = len(truth), rows_at_once(player, len(truth))
    check_player(player, rows)
    moves, seconds = [], 0.0
    # One move first, which is thrown away, so that everything is compiled when the clock starts.
    states, counts = _batch(truth, 0, rows)
    jax.block_until_ready(player.choose(states, counts & (jnp.arange(rows) == 0), key))
    for first in range(0, total, rows):
        if progress is not None:
            progress(first, total)
        states, counts = jax.block_until_ready(_batch(truth, first, rows))
        began = time.perf_counter()
        found = jax.block_until_ready(player.choose(states, counts, jax.random.fold_in(key, first)))
        seconds += time.perf_counter() - began
        moves.append(np.asarray(found))
    return np.concatenate(moves)[:total], seconds


def _batch(truth: Truth, first: int, rows: int) -> tuple[State, Array]:
    """`rows` positions from number `first` on, and which of them count: none past the last."""
    places = np.arange(first, first + rows)
    states = jax.tree.map(lambda x: jax.device_put(np.asarray(x)[np.minimum(places, len(truth) - 1)]), truth.states)
    return states, jax.device_put(places < len(truth))
