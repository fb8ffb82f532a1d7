"""Battles: many games of two players at once, each opening played with both colours."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Set
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.arena.battle_size import check_games
from beamzero.arena.intervals import Interval, points_interval, score_interval
from beamzero.arena.openings import draw_openings, hashes, usual_plies
from beamzero.arena.playing import Match, Play, play_games
from beamzero.core.errors import BadInput
from beamzero.core.progress import OnProgress, no_progress
from beamzero.core.tables import TextTable
from beamzero.games import Game, State, make_game
from beamzero.players.player import Player


class NothingNew(BadInput):
    """No opening is left in which two players that always answer alike have not met."""


@dataclasses.dataclass(frozen=True)
class Tally:
    """Wins, draws and losses of the first-named player."""

    wins: int
    draws: int
    losses: int

    @property
    def score(self) -> float:
        """Give the share of points: a win counts one, a draw half."""
        return (self.wins + self.draws / 2) / (self.wins + self.draws + self.losses)


@dataclasses.dataclass(frozen=True, repr=False)
class Battle:
    """The result of a battle; scores are the first-named player's, a draw half.

    >>> import beamzero as bz
    >>> found = bz.battle("lookahead:2", "random", games=20, game="tic_tac_toe", progress=False)
    >>> found.tally().wins + found.tally().draws + found.tally().losses
    20
    >>> low, high = found.interval
    >>> low < found.score < high
    True
    """

    game: str
    agents: tuple[str, str]
    pair_scores: np.ndarray  # float64 [P, 2] by opening: in the game where it moved first, and where it moved second
    opening_hashes: tuple[bytes, ...]  # [P] 8 bytes each: equal for equal openings
    random_plies: int
    mean_plies: float
    interval: Interval
    moves: np.ndarray | None = None
    """int32 [2P, T]: the actions of every game from its first move on, -1 after its end; first the P games where the
    first-named player moved first, then those where it moved second."""
    forfeits: tuple[int, int] = (0, 0)
    """Games that either player gave up instead of making a move."""
    cut: int = 0
    """Games that were not over after the longest that was allowed, and count as draws."""
    outcomes: np.ndarray | None = None
    """int32 [2P, T]: outcomes of chance after each move, -1 where there was none; None in games without chance."""
    firsts: State | None = None
    """[P, ...] where the games of each opening began, in games that do not always begin alike."""
    starters: np.ndarray | None = None
    """int32 [P] the side that moved first in the games of each opening; None where that was always side 0."""
    pair_points: np.ndarray | None = None  # float64 [P, 2] as `pair_scores`: points won, in the unit of the game

    @property
    def games(self) -> int:
        return self.pair_scores.size

    @property
    def openings(self) -> int:
        """Count the different ones of the P openings."""
        return len(set(self.opening_hashes))

    @property
    def score(self) -> float:
        return float(self.pair_scores.mean())

    @property
    def starter(self) -> int | None:
        """Give the side that moved first in all games; None where that was drawn."""
        sides = {0} if self.starters is None else set(self.starters.tolist())
        return sides.pop() if len(sides) == 1 else None

    def table(self) -> TextTable:
        """Make a table of the results, by who moved first, with the score and its interval below."""
        rows = [
            (name, *(str(count) for count in dataclasses.astuple(tally)), f"{tally.score:.3f}")
            for name, tally in zip((*self.seat_names, "all games"), map(self.tally, (0, 1, None)), strict=True)
        ]
        low, high = self.interval
        agent, opponent = self.agents
        said = f"{agent} scores {self.score:.3f} against {opponent}, 95% interval {low:.3f} to {high:.3f}"
        return TextTable((agent, "wins", "draws", "losses", "score"), rows, [said, self.about_openings])

    @property
    def seat_names(self) -> tuple[str, str]:
        """Name the games that the first-named player began and did not, with its side where one side always begins."""
        game = make_game(self.game)
        names = game.view(game.init(jax.random.key(0))).get("sides")
        if names is None or self.starter is None:
            return "moving first", "moving second"
        return f"moving first, {names[self.starter]}", f"moving second, {names[1 - self.starter]}"

    @property
    def about_openings(self) -> str:
        """Say how many games there were, from which openings, and how long they were."""
        plies = f"openings of {self.random_plies} random plies" if self.random_plies else "first positions"
        return (
            f"{self.games} games of {self.game} from {self.openings} different {plies},"
            f" {self.mean_plies:.1f} plies long on average"
        )

    def as_dict(self) -> dict[str, Any]:
        """Give the result as plain data, with the keys of ``beamzero battle --json``."""
        by_side = {name: vars(self.tally(seat)) for seat, name in enumerate(("first", "second"))}
        return {
            "game": self.game, "agents": list(self.agents), "games": self.games, **vars(self.tally()),
            "score": self.score, "interval": list(self.interval), "by_side": by_side,
            "forfeits": list(self.forfeits), "cut": self.cut, "openings": self.openings,
            "random_plies": self.random_plies, "mean_plies": self.mean_plies, **self.points(),
        }  # fmt: skip

    def points(self) -> dict[str, Any]:
        """Give the points won a game, for games in which a win can count more or less; empty for others."""
        if self.pair_points is None:
            return {}
        game = make_game(self.game)
        interval = points_interval(self.pair_points, game.stake)
        return {"unit": game.unit, "points": float(self.pair_points.mean()), "points_interval": list(interval)}

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().to_html()

    def tally(self, seat: int | None = None) -> Tally:
        """Count the results of all games, or of those where the first-named player moved first (0) or second (1)."""
        scores = self.pair_scores if seat is None else self.pair_scores[:, seat]
        return Tally(int((scores > 0.5).sum()), int((scores == 0.5).sum()), int((scores < 0.5).sum()))


def battle(
    game: Game,
    first: Player,
    second: Player,
    games: int = 1000,
    random_plies: int | None = None,
    seed: int = 0,
    progress: OnProgress = no_progress,
    avoid: Set[bytes] = frozenset(),
    longest: int | None = None,
    play: Play = play_games,
) -> Battle:
    """Play `games` games in lockstep. Each opening is `random_plies` random moves, played once with either colour.

    By default that is `usual_plies` of the game.

    Two deterministic players would play one game over and over, so for them the openings grow until there is a
    different one for each pair of games. Where the game has fewer, fewer games are played: a copy of a game that was
    played already says nothing new, and would make the interval too narrow. Nor do they play openings whose hashes are
    in `avoid`, since they have met in them before.

    All wait for the longest game, so `longest` may cut them: a game that is not over after so many plies is a draw.
    `play` plays the games, here or elsewhere.
    """
    check_games(game, (first, second), games, searched_elsewhere=play is not play_games)
    random_plies = usual_plies(game) if random_plies is None else random_plies
    if not 0 <= random_plies <= game.max_plies // 2:
        raise BadInput(f"random plies is {random_plies}, but must be 0 to {game.max_plies // 2}")
    if longest is not None and not random_plies < longest <= game.max_plies:
        raise BadInput(f"longest is {longest}, but must be {random_plies + 1} to {game.max_plies} plies")
    key = jax.random.key(seed)
    # Dice make the games of any two players differ.
    distinct = first.deterministic and second.deterministic and not game.num_chance
    openings = draw_openings(game, games // 2, random_plies, jax.random.fold_in(key, 0), distinct, avoid)
    pairs, plies = openings.moves.shape
    if not pairs:
        raise NothingNew(f"{first.name} and {second.name} have met in every opening of {game.spec} that was found")
    states = jax.tree.map(lambda x: jax.device_put(np.concatenate([x, x])), openings.states)
    starters = np.asarray(_starters(game, openings.firsts))
    first_side = jax.device_put(np.concatenate([starters, 1 - starters]))
    before, thrown = (np.concatenate([x, x]) for x in (openings.moves, openings.outcomes))
    most = game.max_plies if longest is None else max(0, longest - plies)
    match = Match(game, first, second, states, first_side, before, jax.random.fold_in(key, 1), most)
    states, moves, outcomes, forfeits = play(match, progress)
    over, scores = (np.asarray(x) for x in _results(game, states))
    cut = ~over & ~forfeits.any(axis=0)
    scores = np.where(cut, 0.0, scores) * (1 - 2 * np.asarray(first_side))
    scores = np.where(forfeits[0], -1, np.where(forfeits[1], 1, scores))
    # Scores other than a win, a draw and a loss (points) count as the sign of the result.
    pair_scores = (np.sign(scores).reshape(2, -1).T + 1) / 2
    # A player that gives up loses one point.
    points = np.where(forfeits.any(axis=0), np.sign(scores), scores * game.stake).reshape(2, -1).T
    return Battle(
        game=game.spec,
        agents=(first.name, second.name),
        pair_scores=pair_scores,
        opening_hashes=tuple(hashes(openings.states)),
        random_plies=plies,
        mean_plies=float(np.mean(np.sum(moves >= 0, axis=1))) + plies,
        interval=score_interval(pair_scores, seed=seed),
        moves=np.concatenate([before, moves], axis=1),
        outcomes=np.concatenate([thrown, outcomes], axis=1) if game.num_chance else None,
        firsts=openings.firsts if game.num_chance or game.hidden else None,
        starters=starters if starters.any() else None,
        forfeits=(int(forfeits[0].sum()), int(forfeits[1].sum())),
        cut=int(cut.sum()),
        pair_points=points if game.stake > 1 else None,
    )


@functools.partial(jax.jit, static_argnums=0)
def _starters(game: Game, firsts: State) -> Array:
    """Find the side that chooses first in each of P positions. Returns int32 [P]."""
    return jax.vmap(game.next_side)(firsts).astype(jnp.int32)


@functools.partial(jax.jit, static_argnums=0)
def _results(game: Game, states: State) -> tuple[Array, Array]:
    """Tell which of B games are over, bool [B], and their scores, float32 [B], which count only there."""
    return jax.vmap(game.over)(states), jax.vmap(game.score)(states)
