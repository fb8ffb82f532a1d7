"""Errors of an agent in solved positions: moves that keep less than the best move does."""

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
from beamzero.core.progress import OnProgress, no_progress
from beamzero.games import State
from beamzero.players import Player
from beamzero.players.player import check_player

_ROWS = 256
"""Positions that are searched together, so that nothing compiles after the first of them."""

_ROWS_ONE_BY_ONE = 16
"""Positions that are searched together by players that search one after the other, and may take long."""

LOSSES = {"win to draw": (1, 0), "draw to loss": (0, -1), "win to loss": (1, -1)}
"""Kinds of errors: the sign of the value of the best move, and of the value of the move that was chosen."""


def share_interval(errors: int, positions: int) -> Interval:
    """Give Clopper and Pearson's exact 95% interval of a share, of which `errors` of `positions` were seen.

    Laws: it holds the share that was seen; it reaches 0 where there was no error, and 1 where there was nothing else.
    """
    right = positions - errors
    low = float(betaincinv(errors, right + 1, TAIL)) if errors else 0.0
    high = float(betaincinv(errors + 1, right, 1 - TAIL)) if right else 1.0
    return Interval(low, high)


@dataclasses.dataclass(frozen=True)
class Share:
    """A number of errors, out of a number of positions."""

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
    """The errors of one agent."""

    agent: str
    classes: dict[str, Share]
    losses: dict[str, int]
    """Errors of each kind of `LOSSES`; empty where moves are only right or wrong."""
    milliseconds: float
    """The time for a move, where many are searched at once on all cores; without the time to compile."""

    @property
    def all(self) -> Share:
        """Add up the classes."""
        shares = self.classes.values()
        return Share(sum(share.positions for share in shares), sum(share.errors for share in shares))


def score(truth: Truth, player: Player, seed: int = 0, progress: OnProgress = no_progress) -> Scored:
    """Ask `player` for its move in each position of `truth`. A move is an error where another keeps more."""
    moves, seconds = _choose_all(truth, player, jax.random.key(seed), progress)
    values = np.sign(truth.values.astype(np.int32))
    best = np.where(truth.values == ILLEGAL, -1, values).max(axis=1)
    # An agent that gives up instead of moving has lost.
    chosen = np.where(moves < 0, -1, values[np.arange(len(truth)), np.maximum(moves, 0)])
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
    """Give the number of positions that the player is asked about at a time, at most `positions`."""
    rows = _ROWS if player.in_batches else _ROWS_ONE_BY_ONE
    return rows if positions is None else min(rows, positions)


def _choose_all(truth: Truth, player: Player, key: Array, progress: OnProgress) -> tuple[np.ndarray, float]:
    """Ask the player for its moves, int32 [N]. Returns also the seconds that it took to find them."""
    total, rows = len(truth), rows_at_once(player, len(truth))
    check_player(player, rows)
    moves, seconds = [], 0.0
    # One move first, which is thrown away, so that everything is compiled when the clock starts.
    states, counts = _batch(truth, 0, rows)
    jax.block_until_ready(player.choose(states, counts & (jnp.arange(rows) == 0), key))
    for first in range(0, total, rows):
        progress(first, total)
        states, counts = jax.block_until_ready(_batch(truth, first, rows))
        began = time.perf_counter()
        found = jax.block_until_ready(player.choose(states, counts, jax.random.fold_in(key, first)))
        seconds += time.perf_counter() - began
        moves.append(np.asarray(found))
    return np.concatenate(moves)[:total], seconds


def _batch(truth: Truth, first: int, rows: int) -> tuple[State, Array]:
    """Take `rows` positions from number `first` on. Returns also bool [rows]: which count, none past the last."""
    places = np.arange(first, first + rows)
    states = jax.tree.map(lambda x: jax.device_put(np.asarray(x)[np.minimum(places, len(truth) - 1)]), truth.states)
    return states, jax.device_put(places < len(truth))
