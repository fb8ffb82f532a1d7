"""Analysis of one position by a player, on the host: every legal move with its value, and the expected line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import CHANCE, Game, State
from beamzero.players.player import Player, batch_of_one
from beamzero.search.drive import Snapshot, Timer
from beamzero.search.evaluator import SearchResult

LINE_PLIES = 8
"""The length of a line of a player that keeps no line, and has to search again at each ply."""


class MoveValue(NamedTuple):
    """One legal move, as the player values it."""

    action: int
    move: str
    """The name of the move in the game."""
    value: float
    """The value for the side to move."""
    policy: float
    """The probability with which the player would choose it."""
    proven: bool
    """True if the rules alone decide its value."""
    plies: int | None = None
    """Plies to the end of the game with best play; None where that is not proven."""
    tried: bool = True
    """False if the search never came to this move: its value says nothing then."""


class Step(NamedTuple):
    """The result of a search of one depth, for people."""

    depth: int
    value: float
    """The value for the side to move."""
    proven: bool
    line: list[str]
    nodes: int
    """Positions searched for this depth alone."""
    seconds: float
    """Time for this depth alone."""


class Analysis(NamedTuple):
    """The analysis of a position by a player. ``best``, ``moves[0].move`` and ``line[0]`` are equal."""

    value: float
    """The value for the side to move."""
    best: str
    line: list[str]
    """The expected moves from here, the best one first; each is legal after those before it."""
    moves: list[MoveValue]
    """All legal moves: the likeliest to be chosen first, then by value."""
    nodes: int
    """Positions that the search made."""
    steps: Sequence[Step] = ()
    """The results of each depth; empty for a search without depths."""

    def as_json(self) -> dict[str, Any]:
        """Return plain data, without the depths, as the command line and the browser give it to programs."""
        moves = [
            {"move": m.move, "value": m.value, "policy": m.policy, "proven": m.proven, "plies": m.plies}
            for m in self.moves
        ]
        return {"value": self.value, "best": self.best, "line": self.line, "nodes": self.nodes, "moves": moves}


def analyse(
    game: Game,
    player: Player,
    state: State,
    key: Array,
    watch: Callable[[Step], None] = lambda step: None,
    timer: Timer | None = None,
) -> Analysis:
    """Analyse `state`, which is not over, by `player`.

    The line is the search's own; a player that keeps none is asked again after each of its moves. `watch` gets the
    result of each depth that a search finishes. Stopping the `timer` ends the analysis sooner.
    """
    player = player.with_every_move()
    steps: list[Step] = []
    reported = [0, 0.0]  # nodes and seconds of the depths before

    def report(snapshot: Snapshot) -> None:
        if snapshot.depth:
            line = move_names(game, state, snapshot.outlook.line)
            nodes, seconds = snapshot.nodes - reported[0], snapshot.seconds - reported[1]
            steps.append(Step(snapshot.depth, snapshot.value, snapshot.outlook.proven, line, int(nodes), seconds))
            reported[:] = snapshot.nodes, snapshot.seconds
            watch(steps[-1])

    snapshot = player.consider(state, key, timer=timer, watch=report)
    line = snapshot.outlook.line
    moves = list_moves(game, state, snapshot.result, line[0], player.tries_all)
    if player.keeps_line:
        moves.sort(key=lambda move: move.action != line[0])
    elif game.hidden:
        line = [moves[0].action]  # the moves after it depend on hidden cards, which a longer line would give away
    else:
        line = _follow(game, player, state, moves[0].action, key)
    plies = snapshot.outlook.plies_of_moves
    if plies:
        slots, count = jax.device_get(jax.jit(game.moves)(state))
        after = dict(zip(slots[: int(count)].tolist(), plies))
        moves = [move._replace(plies=after[move.action] if move.proven else None) for move in moves]
    return Analysis(
        value=snapshot.value + 0.0,  # which makes 0 of -0
        best=moves[0].move,
        line=move_names(game, state, line),
        moves=moves,
        nodes=snapshot.nodes,
        steps=steps,
    )


def list_moves(
    game: Game, state: State, result: SearchResult, first: int | None = None, tried_all: bool = True
) -> list[MoveValue]:
    """List the legal moves of `state`, best first, from the result of a batch of one; of equal ones `first` leads."""
    values, policy, proven = (np.asarray(x)[0] for x in (result.values, result.policy, result.proven))
    moves = [
        MoveValue(
            a,
            game.action_name(state, a),
            _number(values[a]),
            _number(policy[a]),
            bool(proven[a]),
            tried=bool(tried_all or policy[a] > 0 or proven[a]),
        )
        for a in game.legal_actions(state)
    ]
    return sorted(moves, key=lambda move: (-move.policy, -move.value, move.action != first))


def _number(value: Array | np.ndarray) -> float:
    """Make a Python float, never -0."""
    return float(value) + 0.0  # which makes 0 of -0


def _follow(game: Game, player: Player, state: State, action: int, key: Array) -> list[int]:
    """List `action` and the player's best moves after it, up to the end of the game, a chance event, or LINE_PLIES."""
    line = [action]
    state = step(game, state, action)
    while len(line) < LINE_PLIES and not bool(game.over(state)) and int(game.player(state)) != CHANCE:
        result = player.think(batch_of_one(state), jax.random.fold_in(key, len(line)))
        line.append(list_moves(game, state, result, first=int(result.action[0]))[0].action)
        state = step(game, state, line[-1])
    return line


def move_names(game: Game, state: State, line: list[int]) -> list[str]:
    """Name the moves of a line that starts at `state`."""
    names = []
    for action in line:
        names.append(game.action_name(state, action))
        state = step(game, state, action)
    return names


def step(game: Game, state: State, action: int) -> State:
    """Make a move on the host, as `Game.step` does, by one compiled program."""
    return _step(game, state, jnp.int32(action))


_step = jax.jit(lambda game, state, action: game.step(state, action), static_argnums=0)
