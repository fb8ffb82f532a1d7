"""The classic search: nodes a second, nodes saved by order and table, depth in a second, and a peer beside it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.arena.battle import battle
from beamzero.bench.timing import Row, seconds_of
from beamzero.core.cores import programs_at_once, side_by_side, to_host
from beamzero.core.errors import BadInput
from beamzero.games import Game, State, make_game
from beamzero.players import Player, make_player
from beamzero.players.analysis import step
from beamzero.players.classic import QUIET_PLIES
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from beamzero.search.drive import Snapshot, think
from beamzero.search.evaluator import Evaluator, SearchResult, zero_evaluator
from beamzero.search.features import feature_evaluator
from beamzero.search.limit import Limit

_ENTRIES = 2**20


class _Middle(NamedTuple):
    """A position from the middle of a game that two searches played, and the depth wanted in a second."""

    game: str
    moves: str
    depth: int
    quiet: int = 0


_MIDDLES = (
    _Middle("connect_four", "d,d,d,d,c,b,f,e,e,e", 10),
    _Middle("kalah", "1,4,3,2,2,5,5,6", 10),
    _Middle("othello", "e6,f4,d3,c4,c3,d6,e3,c2,b5,c5,c6,e2,b6,f3,g4,g5,g3,f5,d2,h4,b4,b3,f1,d1", 7),
    _Middle("chess6x6", "d3,d4,c3,Nd5,Nc2,f3,e4,dxe3,Nxe3,c4,Qd2,Nef4", 5),
    _Middle("chess", "e4,e5,Nf3,Nc6,Bc4,Bc5,c3,Nf6,d3,d6,O-O,O-O,Nbd2,a6,Bb3,Ba7", 4, QUIET_PLIES),
)


def bench_search(peers: Sequence[str], games: Sequence[str]) -> Iterator[Row]:
    """Measure alpha-beta from one position, on one core; and in a batch of games, on all cores.

    Depths are those finished within a second. `quiet` marks a search that goes on until the position is quiet.
    """
    chosen = [make_game(text).name for text in games]
    for name in chosen:
        if all(name != middle.game for middle in _MIDDLES):
            raise BadInput(
                f"there is no benchmark of the search in {name}: choose from {', '.join(m.game for m in _MIDDLES)}"
            )
    if not chosen or "connect_four" in chosen:
        yield from _connect_four("pyspiel" in peers)
    for middle in _MIDDLES:
        if not chosen or middle.game in chosen:
            yield from _in_a_second(middle)
    if not chosen or "connect_four" in chosen:
        yield _lockstep()


def _connect_four(peer: bool, depth: int = 10, ordered_depth: int = 8) -> Iterator[Row]:
    """Measure from the empty board, with value 0 for positions that are not over, as the peer's default."""
    game = make_game("connect_four")
    evaluator, root = zero_evaluator(game), game.init(jax.random.key(0))
    best = AlphaBeta(depth=depth, entries=2**16, deepen=False)
    last = _search(game, evaluator, best, root)
    plain = AlphaBeta(depth=depth, order=False, entries=0, deepen=False)
    nodes = _search(game, evaluator, plain, root).nodes
    ours, plainly = seconds_of(
        lambda: _search(game, evaluator, best, root), lambda: _search(game, evaluator, plain, root)
    )
    yield Row(f"connect_four depth {depth}, plain alpha-beta", "positions/s", nodes / plainly)
    if peer:
        times, values = zip(*(_open_spiel(depth) for _ in range(3)), strict=True)
        seconds, value = min(times), values[0]
        if value != last.value:
            raise AssertionError(f"OpenSpiel values the position at {value}, this search at {last.value}")
        yield Row(
            f"connect_four depth {depth}, the same value", "searches/s", 1 / ours, 1 / seconds, "pyspiel alpha-beta"
        )
    features = feature_evaluator(game)
    with_order, without = (
        _search(game, features, AlphaBeta(depth=ordered_depth, order=order, entries=0, deepen=False), root).nodes
        for order in (True, False)
    )
    yield Row(f"connect_four depth {ordered_depth}, ordered", "positions", with_order, without, "not ordered")


def _search(game: Game, evaluator: Evaluator, settings: AlphaBeta, root: State) -> Snapshot:
    return think(settings, game, *to_host((evaluator, root, jax.random.key(0))))


def _open_spiel(depth: int) -> tuple[float, float]:
    """Run OpenSpiel's alpha-beta in Python from the empty board. Returns the seconds, and the value it finds."""
    import pyspiel
    from open_spiel.python.algorithms import minimax  # type: ignore[import-untyped]

    game = pyspiel.load_game("connect_four")
    start = time.perf_counter()
    value, _ = minimax.alpha_beta_search(
        game, value_function=lambda state: 0, maximum_depth=depth, maximizing_player_id=0
    )
    return time.perf_counter() - start, float(value)


def middle_game(game: Game) -> State:
    """Make a position from the middle of the game, the same each time."""
    state = game.init(jax.random.key(0))
    moves = next(middle.moves for middle in _MIDDLES if middle.game == game.name)
    for text in moves.split(","):
        state = step(game, state, game.parse_action(state, text))
    return state


def _in_a_second(middle: _Middle) -> Iterator[Row]:
    """Measure how deep a search gets in a second, and how long the wanted depth takes."""
    game = make_game(middle.game)
    evaluator, state = feature_evaluator(game), middle_game(game)
    settings = AlphaBeta(quiet=middle.quiet, entries=_ENTRIES)
    steps: list[Snapshot] = []
    think(settings, game, *to_host((evaluator, state, jax.random.key(0))), Limit(seconds=1.0), watch=steps.append)
    name = f"{middle.game}{' quiet' if middle.quiet else ''}, a second"
    yield Row(name, "plies", steps[-1].depth, middle.depth, "wanted")
    yield Row(name, "positions/s", steps[-1].nodes / steps[-1].seconds)
    if middle.game == "chess":
        start = time.perf_counter()
        _search(game, evaluator, AlphaBeta(depth=6, quiet=middle.quiet, entries=_ENTRIES), state)
        yield Row(f"{middle.game} quiet, depth 6", "seconds", time.perf_counter() - start)


def _lockstep(games: int = 256, depth: int = 4) -> Row:
    """Measure games against a random player, all of them in lockstep, half of them on either side."""
    game = make_game("connect_four")
    random = make_player("random", game)
    counting = _Counting(game, AlphaBeta(depth=depth), feature_evaluator(game), games // 2)
    battle(game, counting, random, games, seed=1)  # compiles
    counting.nodes = 0
    start = time.perf_counter()
    score = battle(game, counting, random, games, seed=2).score
    rate = counting.nodes / (time.perf_counter() - start)
    return Row(f"connect_four, {games} games of alphabeta:{depth} v random (scores {score:.3f})", "positions/s", rate)


class _Counting(Player):
    """An alpha-beta player that counts its nodes; every core searches a part of the games."""

    name, deterministic = "counting", True

    def __init__(self, game: Game, search: AlphaBeta, evaluator: Evaluator, rows: int) -> None:
        self.game, self.nodes, self._rows = game, 0, rows
        self._search = jax.jit(lambda states, key: search(game, evaluator, states, key))

    def think_batch(self, states: State, key: Array) -> SearchResult:
        return self._search(states, key)

    def choose(self, states: State, mask: Array, key: Array) -> Array:
        waiting = np.flatnonzero(np.asarray(mask))
        moves = np.zeros(mask.shape[0], np.int32)
        if waiting.size:
            cores = programs_at_once()
            parts = np.resize(waiting, cores * -(-self._rows // cores)).reshape(cores, -1)
            results = side_by_side(lambda rows: self._search(jax.tree.map(lambda x: x[rows], states), key), list(parts))
            fresh = waiting.size
            for rows, result in zip(parts, results, strict=True):
                moves[rows] = np.asarray(result.action)
                self.nodes += int(np.sum(np.asarray(result.nodes)[: max(0, fresh)]))  # the rest fills up the batch
                fresh -= rows.size
        return jnp.asarray(moves)
