"""Measurements from Python: battles, ratings, and scores in positions whose truth is known."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from beamzero.api.objects import AnyAgent, AnyGame, as_players, name_of
from beamzero.api.progress import counting, phases
from beamzero.arena.battle import Battle
from beamzero.arena.battle import battle as play_battle
from beamzero.arena.rating import ANCHOR, Rating, elo_text, strongest_first
from beamzero.arena.score import Scored
from beamzero.arena.score import score as score_player
from beamzero.arena.store import Store
from beamzero.arena.tournament import Tournament
from beamzero.arena.truth import load_truth
from beamzero.core.compiler import keep_compiled_code
from beamzero.core.tables import TextTable
from beamzero.plots.measures import draw_ratings, draw_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def battle(
    agent: AnyAgent,
    opponent: AnyAgent,
    games: int = 1000,
    *,
    game: AnyGame | None = None,
    random_plies: int | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Battle:
    """Let two agents play many games, each opening with both colours. The result prints as a table.

    >>> import beamzero as bz
    >>> found = bz.battle("lookahead:2", "random", games=20, game="tic_tac_toe", progress=False)
    >>> found.score > 0.6, found.games
    (True, 20)
    """
    keep_compiled_code()
    rules, (one, other) = as_players((agent, opponent), game)
    title = f"{one.name} v {other.name}"
    with phases(title, progress) as on_phase:
        return play_battle(rules, one, other, games, random_plies, seed, counting(title, on_phase))


class Ratings(NamedTuple):
    """Elo ratings of some agents, the strongest first; "random" is 1000.

    >>> import beamzero as bz
    >>> found = bz.rate("lookahead:1", game="tic_tac_toe", games=20, progress=False)
    >>> [row["agent"] for row in found.as_dicts()]
    ['lookahead:1', 'random']
    >>> figure = found.plot()
    """

    game: str
    ratings: Sequence[Rating]

    def as_dicts(self) -> list[dict[str, Any]]:
        """Give a dict for each agent, ready for a DataFrame."""
        return [rating._asdict() for rating in self.ratings]

    def plot(self) -> Figure:
        """Draw the ratings with their intervals."""
        return draw_ratings(list(self.ratings), f"{self.game}: Elo with 95% intervals")

    def _table(self) -> TextTable:
        rows = [(r.agent, elo_text(r._asdict()), f"{r.score:.3f}", f"{r.games:,}") for r in self.ratings]
        return TextTable(("agent", "Elo, 95% interval", "score", "games"), rows)

    def __repr__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().to_html()


def rate(
    *agents: AnyAgent,
    game: AnyGame | None = None,
    games: int = 100,
    seed: int = 0,
    store: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> Ratings:
    """Rate agents by a round robin with `games` games for every two; "random", which is 1000, plays too.

    With `store`, a file, results are kept by an agent's weights and settings, and the next call adds to them.

    >>> import beamzero as bz
    >>> bz.rate("lookahead:1", game="tic_tac_toe", games=20, progress=False).ratings[0].agent
    'lookahead:1'
    """
    keep_compiled_code()
    named = agents if any(agent == ANCHOR for agent in map(name_of, agents)) else (ANCHOR, *agents)
    rules, players = as_players(named, game)
    kept = None if store is None else Store(os.fspath(store))
    tournament = Tournament(rules, players, None, seed, kept, ANCHOR)
    with phases("rating", progress) as on_phase:
        tournament.round_robin(games, on_phase)
    return Ratings(rules.spec, strongest_first(tournament.ratings()))


class Scores(NamedTuple):
    """Errors of agents in positions whose best moves are known.

    >>> import beamzero as bz
    >>> found = bz.score("lookahead:4", game="tic_tac_toe", positions=10, progress=False)
    >>> list(found.as_dicts()[0])
    ['agent', 'begin', 'middle', 'end', 'all', 'low', 'high', 'positions', 'milliseconds']
    """

    game: str
    scores: Sequence[Scored]

    def as_dicts(self) -> list[dict[str, Any]]:
        """Give a dict for each agent, ready for a DataFrame.

        It has the share of errors by class and in "all" positions, "low" and "high", which are the ends of the 95%
        interval of that, "positions", and "milliseconds" for a move.
        """
        return [
            {
                "agent": found.agent, **{name: share.rate for name, share in found.classes.items()},
                "all": found.all.rate, "low": found.all.interval[0], "high": found.all.interval[1],
                "positions": found.all.positions, "milliseconds": found.milliseconds,
            }
            for found in self.scores
        ]  # fmt: skip

    def plot(self) -> Figure:
        """Draw errors against the time for a move."""
        return draw_scores(list(self.scores), f"{self.game}: errors in solved positions, with 95% intervals")

    def _table(self) -> TextTable:
        names = list(self.scores[0].classes) if self.scores else []
        rows = [
            (found.agent, *(f"{100 * share.rate:.1f}" for share in (*found.classes.values(), found.all)),
             "{:.1f} to {:.1f}".format(*(100 * end for end in found.all.interval)), f"{found.milliseconds:.3g}")
            for found in self.scores
        ]  # fmt: skip
        return TextTable(("errors, %", *names, "all", "95% interval", "ms/move"), rows)

    def __repr__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().to_html()


def score(
    *agents: AnyAgent,
    game: AnyGame | None = None,
    positions: int | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Scores:
    """Score agents on solved positions: how often their move throws away a win or a draw.

    `positions` is the most of each class; all by default.

    >>> import beamzero as bz
    >>> bz.score("lookahead:4", game="tic_tac_toe", positions=10, progress=False).scores[0].agent
    'lookahead:4'
    """
    keep_compiled_code()
    rules, players = as_players(agents, game)
    truth = load_truth(rules, positions)
    with phases("scoring", progress) as on_phase:
        found = [score_player(truth, player, seed, counting(player.name, on_phase)) for player in players]
    return Scores(rules.spec, found)
