"""Elo ratings by the Bradley-Terry model: an agent's chance depends only on the difference of two ratings.

A draw counts as half a win and half a loss. Some agents have no finite rating of greatest likelihood: one that took
every point from those it met, or a group that did so against all outside it. They get a bound, not a number.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import shortest_path
from scipy.special import expit, log_expit

from beamzero.arena.intervals import TAIL, pair_means, resample
from beamzero.core.errors import BadInput

ELO = 400.0 / math.log(10.0)  # Elo points in one unit of log odds
ANCHOR = "random"
"""The agent whose rating is fixed where no other is."""
ANCHOR_ELO = 1000.0
_NO_LOSS_PROB = 0.05  # of an unbeaten record at the lower bound: "the rule of three", as if three games were lost
ELO_LIMIT = 10_000.0  # of an anchor, so that no chance between two agents is too small for a float

# Newton's method. A step changes differences by at most 1, and so the curvature by at most e: it always climbs.
STEP_LIMIT = 0.5
MOST_STEPS = 1000
CONVERGED = 1e-6  # the length of the last step; the error that is left is about its square

Results = Mapping[tuple[str, str], np.ndarray]
"""(first agent, second agent) -> the first one's pair_scores [P, 2] against the second."""


class Rating(NamedTuple):
    """The rating of one agent.

    `elo` is None where no finite rating is most likely; then `low` bounds an agent that gave no point away, `high` one
    that won none, and both are None where the games place it neither above nor below the anchor.
    """

    agent: str
    elo: float | None
    low: float | None  # low <= elo <= high: the 95% interval; both equal elo for an anchor
    high: float | None
    games: int
    score: float  # mean over its games


def elo_text(rating: Mapping[str, float | None] | None) -> str:
    """Write a rating, with the keys elo, low and high, with its interval, or the bound that is known."""
    if not rating:
        return "-"
    low, high = (None if (end := rating[name]) is None else round(end) for name in ("low", "high"))
    if (elo := rating["elo"]) is not None:
        return f"{elo:.0f} [{low}, {high}]"
    return f"over {low}" if low is not None else f"under {high}" if high is not None else "unknown"


def strongest_first(ratings: Sequence[Rating]) -> list[Rating]:
    """Sort ratings by Elo, or by the bound that is known, and those without any last."""
    known = [known_elo(rating.elo, rating.low, rating.high) for rating in ratings]
    keys = {rating.agent: (math.inf if math.isnan(elo) else -elo, rating.agent) for rating, elo in zip(ratings, known)}
    return sorted(ratings, key=lambda rating: keys[rating.agent])


def known_elo(elo: float | None, low: float | None, high: float | None) -> float:
    """Give an Elo, or the bound that is known in its place; NaN where there is none."""
    return next((x for x in (elo, low, high) if x is not None), float("nan"))


class Pairing(NamedTuple):
    """All games between two agents, by number, as the first one sees them."""

    first: int
    second: int
    means: np.ndarray  # float [P] score of each opening pair

    @property
    def games(self) -> int:
        return 2 * len(self.means)

    def includes(self, agent: int) -> bool:
        return agent in (self.first, self.second)

    def seen_by(self, agent: int) -> "Pairing":
        return self if agent == self.first else Pairing(self.second, self.first, 1.0 - self.means)


def expected_score(elo_difference: float) -> float:
    """Give the score to expect of an agent rated `elo_difference` above its opponent."""
    return float(expit(elo_difference / ELO))


def elo_difference(score: float) -> float:
    """Give the difference in Elo by which a score is to be expected, from -inf for 0 to inf for 1."""
    if not 0.0 <= score <= 1.0:
        raise BadInput(f"score {score} is outside 0 to 1")
    if score in (0.0, 1.0):
        return math.inf if score else -math.inf
    return ELO * math.log(score / (1.0 - score))


def rate(
    names: Sequence[str],
    results: Results,
    anchor: str | Mapping[str, float] = "random",
    seed: int = 0,
    resamples: int = 2000,
) -> list[Rating]:
    """Rate agents in the order of `names`, with 95% intervals bootstrapped over the opening pairs of each pairing.

    `anchor` is the agent that is rated 1000, or several agents with their fixed ratings. Neither the order of `names`
    nor which agent of a pairing is named first changes any number.
    """
    fixed = {anchor: ANCHOR_ELO} if isinstance(anchor, str) else dict(anchor)
    agents = sorted(names)
    _check_names(agents, results, fixed)
    pairings = _pairings(agents, results)
    fixed_elo = np.array([fixed.get(name, np.nan) for name in agents])
    ratings = {rating.agent: rating for rating in _rate(agents, pairings, fixed_elo, seed, resamples)}
    return [ratings[name] for name in names]


def rate_against(
    anchors: Mapping[str, float],
    scores: Mapping[str, np.ndarray],
    seed: int = 0,
    resamples: int = 2000,
    agent: str = "agent",
) -> Rating:
    """Rate one agent by `scores` {opponent: pair_scores}, where the opponents' ratings are known."""
    _check_anchors(anchors)
    strangers = sorted(set(scores) - set(anchors))
    if strangers:
        raise BadInput(f"no rating is known for {', '.join(strangers)}; known are {', '.join(sorted(anchors))}")
    if not scores:
        raise BadInput("an agent without games cannot be rated; give it at least one opponent")
    opponents = sorted(scores)
    pairings = [Pairing(0, number, pair_means(scores[name])) for number, name in enumerate(opponents, start=1)]
    fixed_elo = np.array([np.nan, *(anchors[name] for name in opponents)])
    return _rate([agent, *opponents], pairings, fixed_elo, seed, resamples)[0]


def fit(wins: np.ndarray, free: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Find the ratings of greatest likelihood in log odds, [..., N], by Newton's method on all leading axes at once.

    wins:  [..., N, N] points that the row's agent took from the column's
    free:  bool [N] the agents to rate; the others stay at `start`
    start: [N] first guess

    The free agents must have finite ratings of greatest likelihood (see `_rate`).
    """
    games = wins + np.swapaxes(wins, -1, -2)
    ratings = np.broadcast_to(start, wins.shape[:-1]).copy()
    for _ in range(MOST_STEPS):
        chance = expit(ratings[..., :, None] - ratings[..., None, :])
        surprise = wins * np.swapaxes(chance, -1, -2)
        slope = (surprise.sum(axis=-1) - surprise.sum(axis=-2))[..., free]
        pull = games * chance * np.swapaxes(chance, -1, -2)
        curvature = (pull.sum(axis=-1)[..., None] * np.eye(len(free)) - pull)[..., free, :][..., free]
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True, initial=0.0)
        ratings[..., free] += step * (STEP_LIMIT / np.maximum(longest, STEP_LIMIT))
        if longest.max() < CONVERGED:
            break
    return ratings


def _rate(
    agents: Sequence[str], pairings: Sequence[Pairing], fixed_elo: np.ndarray, seed: int, resamples: int
) -> list[Rating]:
    """Rate `agents` [N]; those with a number in `fixed_elo` [N] (nan for the rest) are the anchors."""
    anchored = ~np.isnan(fixed_elo)
    wins = _points(pairings, len(agents))
    took_points = (wins > 0) | (anchored[:, None] & anchored)  # anchors have finite ratings, whatever they played
    _check_connected(agents, took_points, anchored)

    # Finite ratings follow for those who took points from an anchor and lost some to one, directly or in a chain.
    reaches = np.isfinite(shortest_path(took_points, unweighted=True))
    rated = reaches[:, anchored].any(axis=1) & reaches[anchored].any(axis=0)
    free = rated & ~anchored
    start = np.where(anchored, fixed_elo, fixed_elo[anchored].mean()) / ELO
    ratings = np.where(rated, fit(wins * (rated[:, None] & rated), free, start), np.nan)

    low = _lower_bounds(wins, reaches, ratings)
    high = -_lower_bounds(wins.T, reaches.T, -ratings)
    inner = [pairing for pairing in pairings if rated[pairing.first] and rated[pairing.second]]
    rng = np.random.default_rng(seed)
    for agent in np.flatnonzero(free).tolist():
        low[agent] = min(ratings[agent], _resampled_end(agent, -1, inner, free, ratings, rng, resamples))
        high[agent] = max(ratings[agent], _resampled_end(agent, +1, inner, free, ratings, rng, resamples))

    elo, low, high = (np.where(anchored, fixed_elo, column * ELO) for column in (ratings, low, high))
    games = (wins + wins.T).sum(axis=1)
    scores = wins.sum(axis=1) / games
    return [
        Rating(name, _number(elo[i]), _number(low[i]), _number(high[i]), round(games[i]), float(scores[i]))
        for i, name in enumerate(agents)
    ]


def _resampled_end(
    agent: int,
    towards: int,
    pairings: Sequence[Pairing],
    free: np.ndarray,
    ratings: np.ndarray,
    rng: np.random.Generator,
    resamples: int,
) -> float:
    """Find the low (`towards=-1`) or high (1) end of one agent's interval, in log odds.

    In each resample the one unseen pair (see `intervals.resample`) falls into one of the agent's own pairings.
    """
    own = [pairing.seen_by(agent) for pairing in pairings if pairing.includes(agent)]
    others = [pairing for pairing in pairings if not pairing.includes(agent)]
    shares = np.array([pairing.games for pairing in own], dtype=float)
    surprising = rng.choice(len(own), resamples, p=shares / shares.sum())
    wins = np.zeros((resamples, len(ratings), len(ratings)))
    for number, pairing in enumerate(own + others):
        scores = resample(pairing.means, towards, rng, resamples, surprised=surprising == number)
        wins[:, pairing.first, pairing.second] = pairing.games * scores
        wins[:, pairing.second, pairing.first] = pairing.games * (1.0 - scores)
    ends = fit(wins, free, np.nan_to_num(ratings))[:, agent]
    return float(np.quantile(ends, TAIL if towards < 0 else 1.0 - TAIL))


def _lower_bounds(wins: np.ndarray, reaches: np.ndarray, ratings: np.ndarray) -> np.ndarray:
    """Bound agents above all those with `ratings` [N] (nan: none): [N] in log odds, nan for the others.

    wins:    [N, N] points that the row's agent took from the column's
    reaches: bool [N, N] whether the row's agent took points from the column's, directly or in a chain

    Agents that reach each other form a group, whose members keep the distances that their own games gave. The group
    stands where its clean record against the agents below, themselves at their bounds, still has a chance of 5%.
    """
    placed = ratings.copy()
    above = np.flatnonzero(np.isnan(ratings) & reaches[:, ~np.isnan(ratings)].any(axis=1))
    for agent in sorted(above, key=lambda agent: reaches[agent].sum()):  # who is higher reaches more
        group = reaches[agent] & reaches[:, agent]
        below = ~np.isnan(placed) & ~group
        free = group & (np.arange(len(group)) != agent)
        inner = fit(wins * (group[:, None] & group), free, np.zeros(len(group)))
        distances = inner[group][:, None] - placed[below]  # with this agent at 0
        placed[agent] = _clean_record(distances, wins[group][:, below])
    return np.where(np.isnan(ratings), placed, np.nan)


def _clean_record(distances: np.ndarray, games: np.ndarray) -> float:
    """Find what to add to `distances` (log odds) so that all `games` (same shape) are won with probability 5%."""

    def excess(shift: float) -> float:
        return float((games * log_expit(distances + shift)).sum() - math.log(_NO_LOSS_PROB))

    from scipy.optimize import brentq  # which takes long to load, and few commands need it

    return brentq(excess, -distances.max() - 50.0, -distances.min() + 50.0)


def _points(pairings: Sequence[Pairing], agents: int) -> np.ndarray:
    """Add up the points, [N, N], that the row's agent took from the column's."""
    wins = np.zeros((agents, agents))
    for pairing in pairings:
        points = 2.0 * pairing.means.sum()
        wins[pairing.first, pairing.second] += points
        wins[pairing.second, pairing.first] += pairing.games - points
    return wins


def _pairings(agents: Sequence[str], results: Results) -> list[Pairing]:
    """List a pairing for each two agents that met, first < second, in order: the random numbers follow this order."""
    number = {name: place for place, name in enumerate(agents)}
    means: dict[tuple[int, int], list[np.ndarray]] = {}
    for (first, second), pair_scores in results.items():
        pairing = Pairing(number[first], number[second], pair_means(pair_scores))
        pairing = pairing.seen_by(min(pairing.first, pairing.second))
        means.setdefault((pairing.first, pairing.second), []).append(pairing.means)
    return [Pairing(first, second, np.concatenate(parts)) for (first, second), parts in sorted(means.items())]


def _check_names(agents: Sequence[str], results: Results, fixed: Mapping[str, float]) -> None:
    twice = sorted({name for name in agents if agents.count(name) > 1})
    if twice:
        raise BadInput(f"{', '.join(twice)} is named twice; each agent is rated once")
    _check_anchors(fixed)
    missing = sorted(set(fixed) - set(agents))
    if missing:
        raise BadInput(f"the anchor {', '.join(missing)} is not among the agents: {', '.join(agents)}")
    strangers = sorted({name for pairing in results for name in pairing} - set(agents))
    if strangers:
        raise BadInput(
            f"there are results of {', '.join(strangers)}, which is not among the agents: {', '.join(agents)}"
        )
    idle = sorted(set(agents) - {name for pairing in results for name in pairing})
    if idle:
        raise BadInput(f"there are no games of {', '.join(idle)}; every agent must have met another")
    with_itself = sorted(first for first, second in results if first == second)
    if with_itself:
        raise BadInput(f"{', '.join(with_itself)} played itself; games count between two agents")


def _check_anchors(anchors: Mapping[str, float]) -> None:
    if not anchors:
        raise BadInput("no anchor is given; ratings need at least one agent whose rating is known")
    for name, elo in anchors.items():
        if not abs(elo) <= ELO_LIMIT:
            raise BadInput(f"the anchor {name} has rating {elo}; allowed is {-ELO_LIMIT:.0f} to {ELO_LIMIT:.0f}")


def _check_connected(agents: Sequence[str], took_points: np.ndarray, anchored: np.ndarray) -> None:
    hops = shortest_path(took_points, directed=False, unweighted=True)
    apart = [name for name, hop in zip(agents, hops[anchored][0], strict=True) if np.isinf(hop)]
    if apart:
        raise BadInput(
            f"no games connect {', '.join(apart)} with {agents[int(np.argmax(anchored))]}, so they cannot be compared"
        )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
