"""A ladder of ever deeper minimax players: a player meets one after the other, two games each, until it loses both.

The measure of the paper on AlphaZero for small games: wins and half the draws against minimax of depth 1, 2, 3 and so
on. As a measure it is coarse, two games a depth, and a player that always answers the same plays the same two games: a
battle with random openings says more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beamzero.arena.battle import battle
from beamzero.core.errors import BadInput
from beamzero.core.progress import OnProgress, no_progress
from beamzero.core.spec import quote
from beamzero.games import Game
from beamzero.players import Player, make_player

DEFAULT_DEPTH = 7
"""The deepest minimax of a ladder, where no other is asked for."""


@dataclasses.dataclass(frozen=True)
class LadderResult:
    """The points of a player on a ladder."""

    opponents: list[str]
    scores: list[float]
    """Against each opponent that it met: wins and half the draws of two games."""

    @property
    def total(self) -> float:
        """Add up the points: at most two for each opponent."""
        return sum(self.scores)


def play_ladder(
    game: Game, player: Player, opponents: Sequence[Player], seed: int = 0, progress: OnProgress = no_progress
) -> LadderResult:
    """Play two games against one opponent after the other, until `player` loses both."""
    scores: list[float] = []
    for step, opponent in enumerate(opponents):
        progress(step, len(opponents))
        two = battle(
            game, player, opponent, games=2, random_plies=0, seed=seed + step,
            progress=lambda *_: progress(step, len(opponents)),
        )  # fmt: skip
        scores.append(2 * two.score)
        if scores[-1] == 0:
            break
    progress(len(opponents), len(opponents))
    return LadderResult([opponent.name for opponent in opponents], scores)


def make_ladder(game: Game, depth: int = DEFAULT_DEPTH, by: str | None = None) -> list[Player]:
    """Make minimax players of depth 1 to `depth`, which evaluate by one of the game's features, "nothing", or all."""
    if depth < 1:
        raise BadInput(f"depth is {depth}, but a ladder has at least one rung")
    option = "" if by is None else f",by={quote(by)}"
    return [make_player(f"minimax:{step}{option}", game) for step in range(1, depth + 1)]
