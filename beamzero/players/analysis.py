"""What a player thinks of one position, on the host: every legal move with its value, and the line it expects."""

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
    game: Game,
    player: Player,
    state: State,
    key: Array,
    watch: Callable[[Step], None] = lambda step: None,
    timer: Timer | None = None,
) -> Analysis:
    """Ask what `player` thinks of `state`, which is not over, and which line it expects.

    A search that keeps its line tells it; any other player is asked again after each of its own moves. `watch` is told
    of each depth that a search finishes. Whoever has the `timer` may end it sooner.
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
    moves = list_moves(game, state, snapshot.result, first=line[0])
    if player.keeps_line:
        moves.sort(key=lambda move: move.action != line[0])
    elif game.hidden:
        line = [moves[0].action]  # what comes after depends on what the others hold, which a line would give away
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
