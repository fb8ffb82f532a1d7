"""Measurements of a run's agent: its rating against fixed opponents, and its points on a ladder of minimax players."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from beamzero.arena.ladder import make_ladder, play_ladder
from beamzero.arena.round_robin import measure_anchors, rate_against_anchors
from beamzero.core.errors import BadInput
from beamzero.core.progress import OnPhase
from beamzero.games import Game
from beamzero.players import Player, make_player
from beamzero.storage.run import Run
from beamzero.training.algorithm import Algorithm, TrainingState
from beamzero.training.settings import RunSettings


def make_opponents(settings: RunSettings, game: Game) -> list[Player]:
    """Make the players that the agent is rated against."""
    names = settings.rate_against.split()
    if not names or len(set(names)) < len(names):
        raise BadInput(f"rate_against is {settings.rate_against!r}, but must name one opponent or more, and none twice")
    return [make_player(name, game) for name in names]


def make_ladder_opponents(settings: RunSettings, game: Game) -> list[Player]:
    """Make the players of the ladder, the weakest first; none where the run plays no ladder."""
    if not settings.climb_every and not settings.climb_by:
        return []
    return make_ladder(game, settings.climb_depth, settings.climb_by or None)


class Measurements:
    """Measures the agent of a run after an iteration. The ratings of the opponents are measured once for a run."""

    def __init__(
        self, run: Run, algorithm: Algorithm, seed: int, on_phase: OnPhase, check_folder: Callable[[], None]
    ) -> None:
        self.run, self.algorithm, self.seed = run, algorithm, seed
        self.game, self.settings = algorithm.game, algorithm.settings
        self.on_phase, self.check_folder = on_phase, check_folder
        self.opponents: list[Player] = []
        self.anchors: dict[str, float] = {}
        self.ladder = make_ladder_opponents(self.settings, self.game)
        self.ladder_is_compiled = False

    def find_anchors(self, known: Mapping[str, float] | None) -> None:
        """Make the opponents of ratings, and find their own ratings: in the run's folder, in `known`, or by games."""
        if not self.settings.rate_every:
            return
        self.opponents = make_opponents(self.settings, self.game)
        wanted = {"against": self.settings.rate_against, "games": self.settings.anchor_games}
        there = self.run.read_anchors()
        if there.get("measured") == wanted:
            self.anchors = there["elo"]
            return
        self.anchors = dict(known or {}) or measure_anchors(
            self.game, self.opponents, self.settings.anchor_games, self.seed,
            lambda _, done, total: self.on_phase("measuring opponents", done, total),
        )  # fmt: skip
        self.check_folder()
        self.run.write_anchors(wanted, self.anchors)

    def rate(self, state: TrainingState, iteration: int) -> dict[str, Any]:
        """Rate the agent of a state. Returns the "rating" of a line of metrics."""
        rating, battles = rate_against_anchors(
            self.game, self.algorithm.player(state), self.opponents, self.anchors, self.settings.rate_games,
            self.seed + iteration, lambda _, done, total: self.on_phase("rating", done, total),
        )  # fmt: skip
        scores = {name: battle.score for name, battle in battles.items()}
        return {"elo": rating.elo, "low": rating.low, "high": rating.high, "scores": scores}

    def play_ladder(self, state: TrainingState, iteration: int) -> dict[str, Any]:
        """Let the agent of a state play the ladder. Returns the "climb" of a line of metrics."""
        self.on_phase("climbing", 0, len(self.ladder))
        if not self.ladder_is_compiled:
            _compile(self.game, self.ladder)
            self.ladder_is_compiled = True
        found = play_ladder(
            self.game, self.algorithm.player(state), self.ladder, self.seed + iteration,
            lambda done, total: self.on_phase("climbing", done, total),
        )  # fmt: skip
        return {"scores": found.scores, "total": found.total, "of": 2 * len(self.ladder)}


def _compile(game: Game, opponents: Sequence[Player]) -> None:
    """Compile every opponent's program, since the stronger ones may only be met late in a run.

    They are asked about two games in which they are not to move, so that none of them searches.
    """
    keys = jax.random.split(jax.random.key(0), 2)
    states, mask = jax.vmap(game.init)(keys), jnp.zeros(2, jnp.bool_)
    for opponent in opponents:
        opponent.choose(states, mask, keys[0])
