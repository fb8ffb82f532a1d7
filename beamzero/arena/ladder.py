"""How far up a ladder of ever deeper searchers a player gets: two games a rung, one with each colour.

The measure of the paper on AlphaZero for small games: wins and half the draws against minimax of depth 1, 2, 3 and so
on. It climbs as long as it does not lose both games of a rung. As a measure it is coarse, two games a depth, and a
player that always answers the same plays the same two games: a battle with random openings says more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from beamzero.arena.battle import battle
from beamzero.core.errors import BadInput
from beamzero.core.spec import quote
from beamzero.games import Game
from beamzero.players import Player, make_player

DEPTH = 7
"""Rungs of the ladder, where nothing is said."""


@dataclasses.dataclass(frozen=True)
class Climb:
    """What came of it."""

    opponents: list[str]
    scores: list[float]
    """Against each opponent that it met: wins and half the draws of two games."""

    @property
    def total(self) -> float:
        """Of at most two points a rung."""
        return sum(self.scores)


def climb(
    game: Game,
    player: Player,
    opponents: Sequence[Player],
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Climb:
    """Two games against one opponent after the other, until `player` loses both."""
    scores: list[float] = []
    for rung, opponent in enumerate(opponents):
        progress(rung, len(opponents))
        two = battle(
            game, player, opponent, games=2, random_plies=0, seed=seed + rung,
            progress=lambda *_: progress(rung, len(opponents)),
        )  # fmt: skip
        scores.append(2 * two.score)
        if scores[-1] == 0:
            break
    progress(len(opponents), len(opponents))
    return Climb([opponent.name for opponent in opponents], scores)


def ladder(game: Game, depth: int = DEPTH, by: str | None = None) -> list[Player]:
    """Minimax of depth 1 to `depth`, by one of the game's features, by nothing, or by all of them."""
    if depth < 1:
        raise BadInput(f"depth is {depth}, but a ladder has at least one rung")
    option = "" if by is None else f",by={quote(by)}"
    return [make_player(f"minimax:{rung}{option}", game) for rung in range(1, depth + 1)]
