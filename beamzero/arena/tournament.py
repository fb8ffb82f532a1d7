"""Tournaments: players who meet each other, also on other days, until their ratings are certain enough.

The next pairing is chosen so that the ratings of all become certain with the fewest games. Where every agent's chance
depends on the difference of two ratings (Bradley and Terry), a game between agents whose chances are p and 1 - p has
the Fisher information p (1 - p) about that difference: most between equals, next to nothing where the winner is known.
The inverse of all the information is the covariance of the ratings. The next pairing is the one that takes most from
the sum of the variances.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from beamzero.arena.battle import NothingNew, battle
from beamzero.arena.openings import usual_plies
from beamzero.arena.playing import Play, play_games
from beamzero.arena.rating import Rating, fit, rate
from beamzero.arena.sprt import SPRT, Verdict
from beamzero.arena.store import Met, Store
from beamzero.core.errors import BadInput
from beamzero.core.progress import OnPhase, no_progress
from beamzero.games import Game
from beamzero.players.fingerprint import fingerprint
from beamzero.players.player import Player

_FAIR_DRAW = 0.1
"""Games that count as drawn between two players who met, so that a guess at a rating is finite."""

_PRIOR = 0.1
"""Information about each rating before any game, so that agents who never met can be compared at all.

In log odds the standard deviation is about 3, 550 Elo.
"""

_NEVER_MET = Met(np.zeros((0, 2)), frozenset(), 0)


class Tournament:
    """Results of some players against each other, those in the store included, and ways to add to them."""

    def __init__(
        self,
        game: Game,
        players: Sequence[Player],
        random_plies: int | None = None,
        seed: int = 0,
        store: Store | None = None,
        anchor: str = "random",
        play: Play = play_games,
    ) -> None:
        """Take up the results in the store. The player called `anchor` is rated 1000; the rest is as in `battle`."""
        self.play = play
        self.game, self.players, self.seed, self.store = game, players, seed, store
        self.random_plies = usual_plies(game) if random_plies is None else random_plies
        self.names, self.anchor = [player.name for player in players], anchor
        if len(set(self.names)) < len(self.names):
            raise BadInput(f"an agent is named twice: {' '.join(self.names)}")
        self.fingerprints = {player.name: fingerprint(player) for player in players}
        for one, other in itertools.combinations(self.names, 2):
            if self.fingerprints[one] == self.fingerprints[other]:
                raise BadInput(f"{one} and {other} are the same agent, so that neither can be rated against the other")
        self.met: dict[tuple[str, str], Met] = {}
        if store is not None:
            self.met = store.meetings(game.spec, self.random_plies, self.fingerprints)
        self._used_up: set[tuple[int, int]] = set()

    # --- playing ---------------------------------------------------------------------------------------------------

    def round_robin(self, games: int, on_progress: OnPhase = no_progress) -> None:
        """Play `games` more games for every two players."""
        pairs = list(itertools.combinations(range(len(self.players)), 2))
        for number, (one, other) in enumerate(pairs):
            self._play(one, other, games, on_progress, number * games, len(pairs) * games)

    def narrow(self, games: int, total: int, on_progress: OnPhase = no_progress) -> None:
        """Play about `total` more games, `games` at a time, between those whose games narrow the intervals most.

        First every player meets the first one, and the one named before it.
        """
        done = 0
        for one, other in first_pairings(len(self.players)):
            if done < total and not self.crosstable()[0][one, other]:
                done += self._play(one, other, games, on_progress, done, total)
        while done < total:
            possible = [pair for pair in self._by_gain(games) if pair not in self._used_up]
            if not possible:
                break
            done += self._play(*possible[0], games, on_progress, done, total)

    def decide(self, test: SPRT, games: int, most: int, on_progress: OnPhase = no_progress) -> Verdict:
        """Let the first two players meet, `games` at a time and `most` in all, until the test is decided.

        Games in the store count, since the test is about the agents and not about the day.
        """
        test.check()
        while True:
            met = self.met.get((self.names[0], self.names[1]), _NEVER_MET)
            verdict = test.verdict(met.pair_scores)
            done = met.pair_scores.size
            if verdict.accepted is not None or done >= most or (0, 1) in self._used_up:
                return verdict
            self._play(0, 1, min(games, most - done), on_progress, done, most)

    def _play(self, one: int, other: int, games: int, on_progress: OnPhase, done: int, total: int) -> int:
        """Let two players meet. Returns the number of games; 0 where no opening is left that is new to them."""
        first, second = self.players[one], self.players[other]
        pair = first.name, second.name
        met = self.met.get(pair, _NEVER_MET)
        title = f"{first.name} v {second.name}"
        seed = self._battle_seed(pair, met.battles)

        def progress(finished: int, _: int) -> None:
            on_progress(title, min(done + finished, total), total)

        try:
            played = battle(
                self.game, first, second, games, self.random_plies, seed, progress, met.openings, play=self.play
            )
        except NothingNew:
            self._used_up.add((one, other))
            return 0
        if played.games < games:
            self._used_up.add((one, other))
        if self.store is not None:
            prints = self.fingerprints[first.name], self.fingerprints[second.name]
            self.store.add(played, prints, self.random_plies, seed)
        self.met[pair] = Met(
            np.concatenate([met.pair_scores, played.pair_scores]),
            met.openings | set(played.opening_hashes),
            met.battles + 1,
        )
        return played.games

    def _battle_seed(self, pair: tuple[str, str], battles: int) -> int:
        """Derive a seed for each battle of two agents, whatever else is played and in whatever order."""
        words = [str(self.seed), *(self.fingerprints[name] for name in pair), str(battles)]
        return int.from_bytes(hashlib.blake2b(" ".join(words).encode(), digest_size=4).digest()) % 2**31

    # --- results -------------------------------------------------------------------------------------------------

    def ratings(self) -> list[Rating]:
        """Rate all players, in their order."""
        return rate(self.names, {pair: met.pair_scores for pair, met in self.met.items()}, self.anchor, self.seed)

    def crosstable(self) -> tuple[np.ndarray, np.ndarray]:
        """Count the games of each two players, and the points that the row's took from the column's: [N, N] each."""
        count = len(self.players)
        games, points = np.zeros((count, count)), np.zeros((count, count))
        for (first, second), met in self.met.items():
            one, other = self.names.index(first), self.names.index(second)
            games[one, other] = games[other, one] = met.pair_scores.size
            points[one, other] = met.pair_scores.sum()
            points[other, one] = met.pair_scores.size - points[one, other]
        return games, points

    def _by_gain(self, more: int) -> list[tuple[int, int]]:
        """List all pairings, the one that narrows the intervals most first."""
        games, points = self.crosstable()
        anchored = np.array([name == self.anchor for name in self.names])
        guess = fit(points + _FAIR_DRAW / 2 * (games > 0), ~anchored, np.zeros(len(games)))
        return next_pairings(guess, games, anchored, more)


# --- the next pairing ------------------------------------------------------------------------------------------------


def covariance(ratings: np.ndarray, games: np.ndarray, anchored: np.ndarray) -> np.ndarray:
    """Give the covariance [N, N] of `ratings` [N] in log odds after `games` [N, N]; 0 for those `anchored` [N]."""
    of_pairs = games * _information(ratings)
    information = np.diag(of_pairs.sum(axis=1) + _PRIOR) - of_pairs
    free = ~anchored
    spread = np.zeros_like(information)
    spread[np.ix_(free, free)] = np.linalg.inv(information[np.ix_(free, free)])
    return spread


def gains(ratings: np.ndarray, games: np.ndarray, anchored: np.ndarray, more: int) -> np.ndarray:
    """Compute by how much the sum of all variances falls if two agents play `more` games: [N, N], symmetric, >= 0."""
    spread = covariance(ratings, games, anchored)
    information = more * _information(ratings)
    column = np.diag(spread)
    variance = column[:, None] + column[None] - 2 * spread  # of each difference
    squares = spread @ spread
    length = np.diag(squares)
    moved = length[:, None] + length[None] - 2 * squares  # |C (e_i - e_j)|^2
    gained = np.maximum(information * moved / (1 + information * variance), 0.0)
    return (gained + gained.T) / 2  # rounding aside it is symmetric as it is


def next_pairings(ratings: np.ndarray, games: np.ndarray, anchored: np.ndarray, more: int) -> list[tuple[int, int]]:
    """List all pairings, the one that narrows the intervals most first; of equal ones the first by number."""
    gained = gains(ratings, games, anchored, more)
    pairs = itertools.combinations(range(len(ratings)), 2)
    return sorted(pairs, key=lambda pair: (-round(float(gained[pair]), 12), pair))


def first_pairings(agents: int) -> list[tuple[int, int]]:
    """List pairings that connect every agent with the first: each meets it, and the one named before."""
    chain = [(number - 1, number) for number in range(1, agents)]
    return chain + [(0, number) for number in range(2, agents)]


def _information(ratings: np.ndarray) -> np.ndarray:
    """Compute the information of one game between each two agents: [N, N], 0 for a game against oneself."""
    score = expit(ratings[:, None] - ratings[None])
    return score * (1 - score) * (1 - np.eye(len(ratings)))
