"""Agents that think about one position while someone may end that at any time.

A search that goes in slices (alpha-beta, Monte Carlo trees) asks after each of them how much time is left. Others
cannot be cut: they do the search that they were named with, and answer then.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping

import jax
from jax import Array

from beamzero.games import Game, State
from beamzero.players.analysis import batch_of_one, list_moves
from beamzero.players.book import BookPlayer
from beamzero.players.clocked import ClockedPlayer, find_result
from beamzero.players.clocked_tree import ClockedTree
from beamzero.players.player import Player, SearchPlayer
from beamzero.players.thought import Budget, Setting, Tell, Thinker, Thought
from beamzero.search.alphabeta import UNLIMITED, AlphaBeta
from beamzero.search.deepening import Depth, deepen
from beamzero.search.evaluator import Evaluator, SearchResult
from beamzero.search.limit import MAX_DEPTH
from beamzero.search.mcts import MCTS, MOST_SIMULATIONS
from beamzero.search.mcts_tree import Tree, expected_line
from beamzero.search.rollouts import RandomGames
from beamzero.search.transpositions import ENTRY_BYTES

_MOST_HASH = 1024
"""Megabytes."""

_TELL_SECONDS = 1.0
"""How often a growing tree is told of."""


def make_thinker(player: Player) -> Thinker:
    """The thinker that plays as `player` does."""
    game = player.game
    if isinstance(player, BookPlayer):
        return FromBook(game, player, make_thinker(player.player))
    if isinstance(player, ClockedPlayer):
        return Deepener(game, player.search, player.evaluator, MAX_DEPTH, player.seconds)
    if isinstance(player, ClockedTree):
        return Grower(game, player, player.seconds)
    if isinstance(player, SearchPlayer):
        search = player.search
        if isinstance(search, AlphaBeta):
            # A clock needs something to answer with before the last depth is done.
            deeper = dataclasses.replace(search, depth=MAX_DEPTH, deepen=True)
            return Deepener(game, deeper, player.evaluator, search.depth, None)
        if isinstance(search, MCTS):
            return Grower(game, ClockedTree(player.name, game, search, player.evaluator, math.inf), None)
        if isinstance(search, RandomGames):
            return Grower(game, ClockedTree(player.name, game, search.search, None, math.inf), None)
    return Fixed(game, player)


@dataclasses.dataclass(frozen=True)
class Fixed(Thinker):
    """Any player: it thinks as long as it thinks, and cannot be cut."""

    game: Game
    player: Player

    def think(self, state: State, key: Array, budget: Budget, tell: Tell) -> Thought:
        result = jax.device_get(self.player.think(batch_of_one(state), key))
        thought = _thought([int(result.action[0])], result, 1, budget)
        tell(thought)
        return thought

    def rank(self, state: State, key: Array, budget: Budget) -> list[tuple[int, float]]:
        return _ranked(self.game, state, self.player.think(batch_of_one(state), key))


@dataclasses.dataclass(frozen=True)
class Deepener(Thinker):
    """Alpha-beta, a ply deeper each time."""

    game: Game
    search: AlphaBeta
    evaluator: Evaluator
    depth: int
    """The deepest that it ever searches."""
    seconds: float | None
    """Its own time for a move."""

    def think(self, state: State, key: Array, budget: Budget, tell: Tell) -> Thought:
        budget = budget.or_own(self.seconds)
        deepest = min(self.depth, budget.depth or MAX_DEPTH)
        nodes = min(budget.nodes or UNLIMITED, UNLIMITED)
        last: Depth | None = None
        for last in deepen(self.game, self.evaluator, self.search, state, left=budget.left, nodes=nodes):
            thought = Thought(
                last.line,
                last.value,
                last.plies if abs(last.value) >= 1 else None,
                last.depth,
                int(last.found.nodes),
                budget.elapsed,
            )
            tell(thought)
            if last.depth >= deepest:
                break
        assert last is not None
        if not self.search.prune:  # all moves have their exact worth, and equal ones are chosen from at random
            action = int(find_result(self.search, self.game, state, last.found, key).action[0])
            thought = thought if action == last.line[0] else thought._replace(line=[action])
        return thought

    def rank(self, state: State, key: Array, budget: Budget) -> list[tuple[int, float]]:
        budget = budget.or_own(self.seconds)
        search = dataclasses.replace(self.search, every_move=True)
        for last in deepen(self.game, self.evaluator, search, state, left=budget.left):
            if last.depth >= min(self.depth, budget.depth or MAX_DEPTH):
                break
        return _ranked(self.game, state, find_result(search, self.game, state, last.found, key))

    def settings(self) -> Mapping[str, Setting]:
        found = {"Depth": Setting(self.depth, 1, MAX_DEPTH)}
        if self.search.entries:
            megabytes = max(1, self.search.entries * ENTRY_BYTES // 2**20)
            found["Hash"] = Setting(megabytes, 1, _MOST_HASH)
        return found

    def change(self, name: str, value: int) -> Thinker:
        if name == "Depth":
            return dataclasses.replace(self, depth=value)
        entries = 2 ** int(math.log2(value * 2**20 / ENTRY_BYTES))
        return dataclasses.replace(self, search=dataclasses.replace(self.search, entries=entries))


@dataclasses.dataclass(frozen=True)
class Grower(Thinker):
    """A Monte Carlo search, some simulations at a time."""

    game: Game
    player: ClockedTree
    seconds: float | None
    """Its own time for a move."""

    def think(self, state: State, key: Array, budget: Budget, tell: Tell) -> Thought:
        budget = dataclasses.replace(budget, depth=None).or_own(self.seconds)  # a tree knows no depth
        sims = min(budget.nodes or MOST_SIMULATIONS, MOST_SIMULATIONS)
        told = time.monotonic()

        def watch(tree: Tree, result: Callable[[], SearchResult]) -> None:
            nonlocal told
            if time.monotonic() - told >= _TELL_SECONDS:
                tell(_tree_thought(tree, result(), budget))
                told = time.monotonic()

        thought = _tree_thought(*self.player.grow(batch_of_one(state), key, 0, budget.left, sims, watch), budget)
        tell(thought)
        return thought

    def rank(self, state: State, key: Array, budget: Budget) -> list[tuple[int, float]]:
        left = budget.or_own(self.seconds).left
        return _ranked(self.game, state, self.player.grow(batch_of_one(state), key, left=left)[1])

    def settings(self) -> Mapping[str, Setting]:
        return {"Simulations": Setting(self.player.search.sims, 1, MOST_SIMULATIONS)}

    def change(self, name: str, value: int) -> Thinker:
        search = dataclasses.replace(self.player.search, sims=value)
        return dataclasses.replace(self, player=dataclasses.replace(self.player, search=search))


@dataclasses.dataclass(frozen=True)
class FromBook(Thinker):
    """Answers from a book where it can, and thinks elsewhere."""

    game: Game
    player: BookPlayer
    rest: Thinker

    def think(self, state: State, key: Array, budget: Budget, tell: Tell) -> Thought:
        answer = jax.device_get(self.player.look_up(batch_of_one(state)))
        if not answer.found[0]:
            return self.rest.think(state, key, budget, tell)
        thought = Thought([int(answer.action[0])], float(answer.value[0]), None, 1, 0, budget.elapsed)
        tell(thought)
        return thought

    def rank(self, state: State, key: Array, budget: Budget) -> list[tuple[int, float]]:
        return self.rest.rank(state, key, budget)

    def settings(self) -> Mapping[str, Setting]:
        return self.rest.settings()

    def change(self, name: str, value: int) -> Thinker:
        return dataclasses.replace(self, rest=self.rest.change(name, value))

    def warm_up(self, state: State, key: Array) -> None:
        super().warm_up(state, key)
        self.rest.warm_up(state, key)


def _tree_thought(tree: Tree, result: SearchResult, budget: Budget) -> Thought:
    result = jax.device_get(result)
    action, line = int(result.action[0]), expected_line(tree)
    # After one simulation there is no line yet, and between equal moves the key may have chosen another.
    line = line if line[:1] == [action] else [action]
    return _thought(line, result, len(line), budget)


def _thought(line: list[int], result: SearchResult, depth: int, budget: Budget) -> Thought:
    """From the result of a batch of one, on the host."""
    won = bool(result.proven[0, line[0]]) and float(result.values[0, line[0]]) >= 1
    plies = 1 if won and len(line) == 1 else None
    return Thought(line, float(result.value[0]), plies, depth, int(result.nodes[0]), budget.elapsed)


def _ranked(game: Game, state: State, result: SearchResult) -> list[tuple[int, float]]:
    moves = list_moves(game, state, result, first=int(result.action[0]))
    return [(move.action, move.value) for move in moves]
