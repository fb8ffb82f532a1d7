"""Reviews: the value of each position of a game, and the cost of each move, as an agent sees them."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.progress import OnProgress
from beamzero.games import State
from beamzero.players.player import Player
from beamzero.records.record import Followed

CHUNK = 16
"""Positions that are searched at once: always so many, so that nothing compiles again."""

MISTAKE, BLUNDER = 0.3, 0.6
"""The least cost of a mistake and of a blunder, where values are from -1 to 1."""


REVIEW_TITLES = ("move", "before", "after", "better")
"""The columns of a review: a move, the values of the positions before and after it, and what costs less."""


class Reviewed(NamedTuple):
    """One move of a game."""

    number: int
    """The number of the move, from 1."""
    side: int
    move: str
    value: float
    """The value of the position before it, for side 0."""
    best: str
    """The move of the agent."""
    cost: float
    """By how much the position got worse for the side that moved, as the agent sees it; 0 where it did not, and of
    moves that were drawn at random."""

    @property
    def mark(self) -> str:
        """Give ?? for a blunder, ? for a mistake."""
        return "??" if self.cost >= BLUNDER else "?" if self.cost >= MISTAKE else ""


class Review(NamedTuple):
    """The moves of a game, and the value of its last position."""

    moves: list[Reviewed]
    last: float
    """The value of the last position for side 0: the result if the game is over."""

    @property
    def curve(self) -> list[float]:
        """List the value of every position for side 0: one more than there are moves."""
        return [*(move.value for move in self.moves), self.last]

    def as_dicts(self) -> list[dict[str, Any]]:
        """Give a dict for each move; its values before and after the move are for side 0."""
        return [
            {**move._asdict(), "value_after": after, "mark": move.mark}
            for move, after in zip(self.moves, self.curve[1:], strict=True)
        ]


def review(followed: Followed, player: Player, key: Array, progress: OnProgress) -> Review:
    """Let `player` evaluate every position of a game."""
    game, states = followed.game, followed.states
    if game.num_chance:  # the value of a move is the one before the dice fell
        player = player.with_every_move()
    count = len(states) - int(followed.over)
    values, best = np.zeros(len(states)), np.zeros(len(states), np.int64)
    chosen = np.zeros(len(states))  # values of the moves that were made, for the side that made them
    actions = np.array([*followed.actions, 0])[: len(states)]
    for start in range(0, count, CHUNK):
        progress(start, count)
        rows = np.arange(start, start + CHUNK)
        # Other players search one position after the other: for them, more rows would be more work.
        rows = np.minimum(rows, count - 1) if player.in_batches else rows[rows < count]
        batch: State = jax.tree.map(lambda *x: jnp.stack(x), *[states[row] for row in rows])
        found = jax.device_get(player.think(batch, jax.random.fold_in(key, start)))
        values[rows], best[rows] = found.value, found.action
        chosen[rows] = found.values[np.arange(len(rows)), actions[rows]]
    progress(count, count)
    if followed.over:
        values[-1] = float(game.score(states[-1]))
    sides = [int(game.player(state)) for state in states[:count]]
    signs = np.array([1 - 2 * side for side in sides])
    values[:count] *= signs
    moves = []
    for number, action in enumerate(followed.actions):
        no_choice = action == best[number] or number < followed.record.random_plies
        # The dice after a move are no merit of the mover.
        after = chosen[number] if game.num_chance else signs[number] * values[number + 1]
        cost = 0.0 if no_choice else signs[number] * values[number] - after
        moves.append(
            Reviewed(
                number + 1,
                sides[number],
                game.action_name(states[number], action),
                float(values[number]),
                game.action_name(states[number], int(best[number])),
                max(0.0, float(cost)),
            )
        )
    return Review(moves, float(values[-1]))
