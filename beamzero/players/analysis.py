"""What a player thinks of one position, on the host: every legal move with its value, and the line it expects."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import CHANCE, Game, State
from beamzero.players.clocked import ClockedPlayer
from beamzero.players.clocked_dice import ClockedDice
from beamzero.players.clocked_tree import ClockedTree
from beamzero.players.player import Player, SearchPlayer
from beamzero.search import mcts, mcts_tree
from beamzero.search.alphabeta import AlphaBeta
from beamzero.search.beam import BeamSearch, Tree, best_line
from beamzero.search.deepening import deepen
from beamzero.search.evaluator import Evaluator, SearchResult
from beamzero.search.expectiminimax import Expectiminimax
from beamzero.search.mcts_tree import expected_line
from beamzero.search.rollouts import RandomGames, rollout_evaluator

LINE_PLIES = 8
"""How far a line is followed by a player that keeps no tree, which has to think again at each ply."""


class MoveValue(NamedTuple):
    """One legal move, as the player sees it."""

    action: int
    move: str
    """What the game calls it."""
    value: float
    """For the side to move."""
    policy: float
    """The probability with which the player would choose it."""
    proven: bool
    """Whether the rules alone decide its value."""
    plies: int | None = None
    """After how many plies the game ends with best play, where that is proven."""


class Step(NamedTuple):
    """What a search of one depth found, for people."""

    depth: int
    value: float
    """For the side to move."""
    proven: bool
    line: list[str]
    nodes: int
    """Positions looked at by this depth alone."""
    seconds: float


class Analysis(NamedTuple):
    """What a player thinks of a position. ``best == moves[0].move``, and the same as ``line[0]``."""

    value: float
    """For the side to move."""
    best: str
    line: list[str]
    """The moves it expects from here, the best one first; every one legal in its turn."""
    moves: list[MoveValue]
    """All legal moves: the likeliest to be chosen first, then by value."""
    nodes: int
    """Positions that the search made."""
    steps: Sequence[Step] = ()
    """Depth by depth, of a player that deepens its search."""

    def as_json(self) -> dict[str, Any]:
        """For programs, without the depths: the command line and the page in the browser say the same."""
        moves = [
            {"move": m.move, "value": m.value, "policy": m.policy, "proven": m.proven, "plies": m.plies}
            for m in self.moves
        ]
        return {"value": self.value, "best": self.best, "line": self.line, "nodes": self.nodes, "moves": moves}


def analyse(
    game: Game, player: Player, state: State, key: Array, watch: Callable[[Step], None] = lambda step: None
) -> Analysis:
    """What `player` thinks of `state`, which is not over, and the line it expects.

    The line of a beam search or a Monte Carlo search is read from its tree, that of an alpha-beta search was kept on
    the way, and `watch` is told of each depth that it finishes; any other player is asked again after each of its own
    moves.
    """
    if isinstance(player, ClockedPlayer) or (isinstance(player, SearchPlayer) and isinstance(player.search, AlphaBeta)):
        return _deepen(game, player, state, key, watch)
    if isinstance(player, SearchPlayer) and isinstance(player.search, BeamSearch):
        tree, result = _grow(game, player.search, player.evaluator, batch_of_one(state), key)
        line = best_line(game, tree)
        moves = list_moves(game, state, result, first=line[0])
    elif (tree_and_result := _simulate(game, player, batch_of_one(state), key)) is not None:
        mcts_tree, result = tree_and_result
        line = expected_line(mcts_tree)
        moves = list_moves(game, state, result, first=line[0])
    else:
        player = with_every_move(player)
        result = player.think(batch_of_one(state), key)
        moves = list_moves(game, state, result, first=int(result.action[0]))
        # What comes after depends on what the others hold, which a line would give away.
        line = [moves[0].action] if game.hidden else _follow(game, player, state, moves[0].action, key)
    return Analysis(
        value=_number(result.value[0]),
        best=moves[0].move,
        line=move_names(game, state, line),
        moves=moves,
        nodes=int(result.nodes[0]),
    )


def with_every_move(player: Player) -> Player:
    """The same player; one that plays with dice finds out exactly what each move is worth, not only the best one."""
    if isinstance(player, SearchPlayer | ClockedDice) and isinstance(player.search, Expectiminimax):
        return dataclasses.replace(player, search=dataclasses.replace(player.search, every_move=True))
    return player


def _deepen(
    game: Game, player: ClockedPlayer | SearchPlayer, state: State, key: Array, watch: Callable[[Step], None]
) -> Analysis:
    assert isinstance(player.search, AlphaBeta)
    search = dataclasses.replace(player.search, deepen=True, every_move=True)
    seconds = player.seconds if isinstance(player, ClockedPlayer) else None
    steps = []
    for last in deepen(game, player.evaluator, search, state, seconds):
        line = move_names(game, state, last.line)
        steps.append(Step(last.depth, last.value, last.proven, line, last.nodes, last.seconds))
        watch(steps[-1])
    result = search.choose(game, batch_of_one(state), jax.tree.map(lambda x: np.asarray(x)[None], last.found), key)
    slots, count = jax.jit(game.moves)(state)
    plies = dict(zip(np.asarray(slots)[: int(count)].tolist(), last.plies_of_moves()))
    moves = [
        move._replace(plies=plies[move.action] if move.proven else None)
        for move in list_moves(game, state, result, first=last.line[0])
    ]
    moves.sort(key=lambda move: move.action != last.line[0])
    return Analysis(last.value, moves[0].move, steps[-1].line, moves, int(last.found.nodes), steps)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _grow(game: Game, search: BeamSearch, evaluator: Evaluator, states: State, key: Array) -> tuple[Tree, SearchResult]:
    tree = search.advance(game, evaluator, search.start(game, states), search.expand)
    return tree, search.result(game, tree, key)


def _simulate(game: Game, player: Player, states: State, key: Array) -> tuple[mcts_tree.Tree, SearchResult] | None:
    """The tree of a player that searches by Monte Carlo, and its result; None of any other player."""
    if isinstance(player, ClockedTree):
        return player.grow(states, key)
    if not isinstance(player, SearchPlayer):
        return None
    if isinstance(player.search, RandomGames):
        game_key, key = jax.random.split(key)
        return _grow_mcts(game, player.search.search, rollout_evaluator(game, game_key), states, key)
    if isinstance(player.search, mcts.MCTS):
        return _grow_mcts(game, player.search, player.evaluator, states, key)
    return None


@functools.partial(jax.jit, static_argnums=(0, 1))
def _grow_mcts(
    game: Game, search: mcts.MCTS, evaluator: Evaluator, states: State, key: Array
) -> tuple[mcts_tree.Tree, SearchResult]:
    noise_key, key = jax.random.split(key)
    tree = search.advance(game, evaluator, search.start(game, states, noise_key), search.sims)
    return tree, search.result(game, tree, key)


def list_moves(game: Game, state: State, result: SearchResult, first: int | None = None) -> list[MoveValue]:
    """The legal moves of `state` from the result of a batch of one, best first; between equal ones `first` leads."""
    values, policy, proven = (np.asarray(x)[0] for x in (result.values, result.policy, result.proven))
    moves = [
        MoveValue(a, game.action_name(state, a), _number(values[a]), _number(policy[a]), bool(proven[a]))
        for a in game.legal_actions(state)
    ]
    return sorted(moves, key=lambda move: (-move.policy, -move.value, move.action != first))


def _number(value: Array | np.ndarray) -> float:
    return float(value) + 0.0  # which makes 0 of -0


def batch_of_one(state: State) -> State:
    """One state as a batch, which is what players think about."""
    return jax.tree.map(lambda x: np.asarray(x)[None], state)


def _follow(game: Game, player: Player, state: State, action: int, key: Array) -> list[int]:
    """`action` and the player's best moves after it, up to the end of the game, a throw of dice, or LINE_PLIES."""
    line = [action]
    state = step(game, state, action)
    while len(line) < LINE_PLIES and not bool(game.over(state)) and int(game.player(state)) != CHANCE:
        result = player.think(batch_of_one(state), jax.random.fold_in(key, len(line)))
        line.append(list_moves(game, state, result, first=int(result.action[0]))[0].action)
        state = step(game, state, line[-1])
    return line


def move_names(game: Game, state: State, line: list[int]) -> list[str]:
    """What the game calls the moves of a line that starts at `state`."""
    names = []
    for action in line:
        names.append(game.action_name(state, action))
        state = step(game, state, action)
    return names


def step(game: Game, state: State, action: int) -> State:
    """`game.step` for callers on the host: compiled as a whole, which is sooner done than one operation at a time."""
    return _step(game, state, jnp.int32(action))


_step = jax.jit(lambda game, state, action: game.step(state, action), static_argnums=0)
