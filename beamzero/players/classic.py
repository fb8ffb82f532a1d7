"""Classic searches as players: minimax, alpha-beta and expectiminimax with the game's own evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from beamzero.core.cores import programs_at_once
from beamzero.core.errors import BadInput
from beamzero.core.spec import Spec, convert
from beamzero.games import Game
from beamzero.players.options import take
from beamzero.players.player import Player, SearchPlayer
from beamzero.search.alphabeta.alphabeta import MOST_LANES, AlphaBeta
from beamzero.search.alphabeta.transpositions import ENTRY_BYTES
from beamzero.search.evaluator import Evaluator, zero_evaluator
from beamzero.search.expectiminimax import MOST_TURNS, Expectiminimax
from beamzero.search.features import feature_evaluator
from beamzero.search.limit import MAX_DEPTH, Limit
from beamzero.search.memory import host_memory_bytes
from beamzero.solvers.endgame import endgame_table
from beamzero.storage.tablefile import load_table
from beamzero.storage.weightsfile import load_weights

QUIET_PLIES = 12
"""Plies beyond the depth in which noisy moves are followed, by default."""

_MAX_MEGABYTES = 4096

_NOTHING = "nothing"
"""The name, in place of a feature, for no evaluation: positions that are not over count as even."""


def _most_megabytes() -> int:
    """Give the largest table of one core in MB: all cores together take half of this machine's memory at most."""
    memory = host_memory_bytes() // 2**20
    return min(_MAX_MEGABYTES, memory // (2 * programs_at_once(on_host=True)))


def make_minimax(name: str, spec: Spec, game: Game) -> Player:
    """Make a player such as ``minimax:depth=3``."""
    argument, options = take(spec, name, "depth", {"depth": int, "weights": str, "by": str})
    if argument is None and "depth" not in options:
        raise BadInput(f"{name} needs a depth, such as minimax:3")
    depth = _limit(name, {"depth": argument, **options}).depth
    assert depth is not None
    search = AlphaBeta(depth, prune=False, order=False, entries=0, deepen=False)
    return SearchPlayer(
        name, game, search, evaluator_of_options(name, game, options), deterministic=False, on_host=True
    )


def make_alphabeta(name: str, spec: Spec, game: Game) -> SearchPlayer:
    """Make a player such as ``alphabeta:depth=6``, ``alphabeta:seconds=1`` or ``alphabeta:nodes=100000``."""
    kinds = {
        "depth": int, "nodes": int, "seconds": float, "quiet": int, "order": bool, "hash": float, "endgame": str,
        "weights": str, "by": str, "lanes": int,
    }  # fmt: skip
    argument, options = take(spec, name, "depth", kinds)
    limit = _limit(name, {"depth": argument, **options})
    search = AlphaBeta(
        depth=limit.depth or MAX_DEPTH,
        nodes=limit.nodes or AlphaBeta.nodes,
        order=options.get("order", True),
        quiet=_quiet(name, game, options.get("quiet")),
        entries=_entries(name, options.get("hash", 16 if limit.seconds else 1)),
        lanes=_lanes(name, options.get("lanes", game.search_lanes if limit.seconds else 1)),
    )
    evaluator = evaluator_of_options(name, game, options)
    if "endgame" in options:
        evaluator = evaluator._replace(exact=endgame_table(game, load_table(options["endgame"])))
    # A busy machine searches less deep.
    clock = None if limit.seconds is None else Limit(seconds=limit.seconds)
    return SearchPlayer(name, game, search, evaluator, deterministic=not clock, on_host=True, limit=clock)


def make_expectiminimax(name: str, spec: Spec, game: Game) -> Player:
    """Make a player such as ``expectiminimax:depth=2`` or ``expectiminimax:seconds=1``."""
    kinds = {"depth": int, "nodes": int, "seconds": float, "rolls": int, "weights": str, "by": str}
    argument, options = take(spec, name, "depth", kinds)
    if not game.num_chance:
        raise BadInput(f"{name}: {game.name} has no chance events: alphabeta is made for it")
    limit = _limit(name, {"depth": argument, **options}, MOST_TURNS)
    rolls = options.get("rolls", 0)
    try:
        search = Expectiminimax(limit.depth or MOST_TURNS, limit.nodes or Expectiminimax.nodes, rolls=rolls)
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None
    evaluator = evaluator_of_options(name, game, options)
    clock = None if limit.seconds is None else Limit(seconds=limit.seconds)
    return SearchPlayer(name, game, search, evaluator, deterministic=not rolls and not clock, on_host=True, limit=clock)


def evaluator_of_options(name: str, game: Game, options: Mapping[str, Any]) -> Evaluator:
    """Make an evaluator of the game's features, with the weights that ``weights=FILE`` or ``by=FEATURE`` choose."""
    path, by = options.get("weights"), options.get("by")
    if by is None:
        return feature_evaluator(game, None if path is None else load_weights(path, game).values)
    if path is not None:
        raise BadInput(f"{name}: give weights or by, not both")
    if by not in (_NOTHING, *game.feature_names):
        raise BadInput(f"{name}: {game.name} has no feature {by!r} (by: {', '.join((_NOTHING, *game.feature_names))})")
    alone = np.array([feature == by for feature in game.feature_names], np.float32)
    return zero_evaluator(game) if by == _NOTHING else feature_evaluator(game, alone * game.point)


def _limit(name: str, options: dict, most_turns: int | None = None) -> Limit:
    """Read the limit that the options give; an argument without a key is the depth."""
    depth = options.get("depth")
    depth = convert(depth, int, f"{name}: depth") if isinstance(depth, str) else depth
    if most_turns is not None and depth is not None and not 1 <= depth <= most_turns:
        raise BadInput(f"{name}: depth is {depth}, but must be 1 to {most_turns} turns")
    try:
        limit = Limit(depth, options.get("nodes"), options.get("seconds"))
        if not limit:
            raise BadInput("a search needs a limit: depth=, nodes= or seconds=")
        return limit
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None


def _quiet(name: str, game: Game, plies: int | None) -> int:
    """Choose the plies in which noisy moves are followed: 0 where the game has none."""
    has_noisy_moves = type(game).noisy is not Game.noisy
    if plies is None:
        return QUIET_PLIES if has_noisy_moves else 0
    if not 0 <= plies <= 32:
        raise BadInput(f"{name}: quiet is {plies}, but must be 0 to 32 plies")
    if plies and not has_noisy_moves:
        raise BadInput(f"{name}: quiet is {plies}, but {game.name} has no noisy moves to follow")
    return plies


def _lanes(name: str, lanes: int) -> int:
    if not 1 <= lanes <= MOST_LANES:
        raise BadInput(f"{name}: lanes is {lanes}, but must be 1 to {MOST_LANES}")
    return lanes


def _entries(name: str, megabytes: float) -> int:
    """Count the entries of a table of so many megabytes: a power of two, or 0 for no table."""
    most = _most_megabytes()
    if not (megabytes == 0 or 0.001 <= megabytes <= most):
        raise BadInput(
            f"{name}: hash is {megabytes:g} MB, but must be 0 for no table, or 0.001 to {most} on this machine"
        )
    return 2 ** int(math.log2(megabytes * 2**20 / ENTRY_BYTES)) if megabytes else 0
