"""Ratings from games: each two players of a group, or one player against opponents whose ratings are known."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence

from beamzero.arena.battle import Battle, battle
from beamzero.arena.rating import Rating, known_elo, rate, rate_against
from beamzero.core.errors import BadInput
from beamzero.core.progress import OnPhase, no_progress
from beamzero.games import Game
from beamzero.players.player import Player


def round_robin(
    game: Game,
    players: Sequence[Player],
    games: int,
    random_plies: int | None,
    seed: int,
    on_progress: OnPhase = no_progress,
) -> dict[tuple[str, str], Battle]:
    """Play a battle of `games` games for every two players."""
    names = [player.name for player in players]
    if len(set(names)) < len(names):
        raise BadInput(f"an agent is named twice: {' '.join(names)}")
    battles = {}
    for number, (one, other) in enumerate(itertools.combinations(players, 2)):
        progress = functools.partial(on_progress, f"{one.name} v {other.name}")
        battles[one.name, other.name] = battle(
            game, one, other, games, random_plies, _battle_seed(seed, number), progress
        )
    return battles


def rate_players(
    battles: Mapping[tuple[str, str], Battle], names: Sequence[str], anchor: str, seed: int
) -> list[Rating]:
    """Rate all players of a round robin; the anchor is 1000."""
    return rate(names, {pair: played.pair_scores for pair, played in battles.items()}, anchor, seed)


def measure_anchors(
    game: Game, players: Sequence[Player], games: int, seed: int, on_progress: OnPhase = no_progress
) -> dict[str, float]:
    """Rate fixed opponents, the first of them 1000. One that has only a bound counts as that bound."""
    names = [player.name for player in players]
    if len(players) == 1:
        return {names[0]: 1000.0}
    ratings = rate_players(round_robin(game, players, games, None, seed, on_progress), names, names[0], seed)
    known = {rating.agent: known_elo(rating.elo, rating.low, rating.high) for rating in ratings}
    return {agent: elo for agent, elo in known.items() if not math.isnan(elo)}


def rate_against_anchors(
    game: Game,
    player: Player,
    opponents: Sequence[Player],
    anchors: Mapping[str, float],
    games: int,
    seed: int,
    on_progress: OnPhase = no_progress,
) -> tuple[Rating, dict[str, Battle]]:
    """Rate a player by `games` games against each opponent, whose ratings stand fixed. Returns also the battles."""
    battles = {}
    for number, opponent in enumerate(opponents):
        progress = functools.partial(on_progress, f"{player.name} v {opponent.name}")
        battles[opponent.name] = battle(game, player, opponent, games, None, _battle_seed(seed, number), progress)
    scores = {name: played.pair_scores for name, played in battles.items() if name in anchors}
    return rate_against({name: anchors[name] for name in scores}, scores, seed, agent=player.name), battles


def _battle_seed(seed: int, number: int) -> int:
    return (seed * 1000 + number) % 2**31
