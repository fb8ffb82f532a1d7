"""An agent against every reply there is: for small games the proof that it never loses, or the line in which it does.

Where the agent may choose between several moves (those with the highest probability), all of them are followed too, so
that the answer does not depend on luck. An agent whose search depends on luck or on the clock is refused: nothing can
be proven of it. Positions that are reached in several ways are looked at once.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.players import Player
from beamzero.players.analysis import move_names
from beamzero.players.player import check_player

_ROWS = 256
"""Positions that are expanded together."""


@dataclasses.dataclass(frozen=True)
class EveryReply:
    """All games of the agent on one side, counted by their ends."""

    side: int
    positions: int
    """Different positions that were met."""
    wins: int
    """Different final positions that the agent has won."""
    draws: int
    losses: int
    lost_line: list[str] | None
    """The moves of one game that it loses."""


def play_every_reply(
    game: Game,
    player: Player,
    side: int,
    most: int = 1_000_000,
    seed: int = 0,
    progress: Callable[[int], None] = lambda positions: None,
) -> EveryReply:
    """Follow all games in which `player` is side `side` and the other side may play any legal move.

    Raises BadInput where more than `most` positions can be met. `progress` is called with the number met so far.
    """
    if not player.repeats:
        raise BadInput(f"{player.name} thinks by chance or by the clock, so that nothing can be proven of it")
    check_player(player, _ROWS, with_results=True)
    key = jax.random.key(seed)
    level = jax.tree.map(lambda x: np.asarray(x)[None], game.init(key))
    origins: list[list[tuple[int, int]]] = [[(-1, -1)]]  # of each ply's positions: the one before, and the move
    tally = {1: 0, 0: 0, -1: 0}
    lost: list[int] | None = None
    seen = {
        _mark(jax.tree.map(lambda x: x[0], level))
    }  # over all plies: in some games a position is reached after different numbers of moves
    met = 1
    while origins[-1]:
        found: list[tuple[int, int]] = []
        children: list[State] = []
        for first in range(0, len(origins[-1]), _ROWS):
            part = jax.tree.map(lambda x: x[first : first + _ROWS], level)
            expanded = _expand(game, player, part, side, jax.random.fold_in(key, met + first))
            for row, move in zip(*np.nonzero(expanded.follow), strict=True):
                child = jax.tree.map(lambda x: x[row, move], expanded.children)
                if (mark := _mark(child)) not in seen:
                    seen.add(mark)
                    found.append((first + int(row), int(expanded.moves[row, move])))
                    children.append(child)
            for row in np.flatnonzero(expanded.over):
                result = int(np.sign(expanded.score[row])) * (1 - 2 * side)
                tally[result] += 1
                if result < 0 and lost is None:
                    lost = _line(origins, first + int(row))
            progress(met + len(children))
            if met + len(children) > most:
                raise BadInput(f"{game.spec} is too large: the agent can meet more than {most:,} positions")
        met += len(children)
        origins.append(found)
        level = jax.tree.map(lambda *leaves: np.stack(leaves), *children) if children else level
    line = None if lost is None else move_names(game, game.init(key), lost)
    return EveryReply(side, met, tally[1], tally[0], tally[-1], line)


class _Expanded(NamedTuple):
    """B positions and their children, on the host."""

    over: np.ndarray  # bool [B]
    score: np.ndarray  # float32 [B]
    moves: np.ndarray  # int32 [B, K]
    follow: np.ndarray  # bool [B, K] which moves may be played
    children: State  # [B, K, ...]


def _expand(game: Game, player: Player, states: State, side: int, key: Array) -> _Expanded:
    """Expand at most `_ROWS` positions; where side `side` is to move, only the moves that `player` may choose."""
    number = jax.tree.leaves(states)[0].shape[0]
    padded = jax.tree.map(lambda x: np.concatenate([x, np.repeat(x[:1], _ROWS - number, axis=0)]), states)
    own, expanded = jax.device_get(_expand_all(game, padded, side))
    if own[:number].any():
        policy = np.asarray(player.think(jax.tree.map(jnp.asarray, padded), key).policy)
        policy = np.take_along_axis(policy, expanded.moves, axis=1)
        policy = np.where(expanded.follow, policy, -1.0)
        chosen = policy >= policy.max(axis=1, keepdims=True) - 1e-6
        expanded = expanded._replace(follow=expanded.follow & (chosen | ~own[:, None]))
    return jax.tree.map(lambda x: x[:number], expanded)


@functools.partial(jax.jit, static_argnums=0)
def _expand_all(game: Game, states: State, side: Array) -> tuple[Array, _Expanded]:
    """Expand all legal moves; bool [B] says where side `side` is to move."""
    over = jax.vmap(game.over)(states)
    moves, count = jax.vmap(game.moves)(states)
    listed = jnp.arange(game.max_moves, dtype=jnp.int32)[None] < count[:, None]
    children = jax.vmap(jax.vmap(game.step, (None, 0)))(states, moves)
    expanded = _Expanded(over, jax.vmap(game.score)(states), moves, listed & ~over[:, None], children)  # type: ignore[arg-type]
    return jax.vmap(game.player)(states) == side, expanded


def _mark(state: State) -> bytes:
    """Encode a state as bytes that no other state has."""
    return b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(state))


def _line(origins: list[list[tuple[int, int]]], place: int) -> list[int]:
    """List the moves that lead to the position at `place` of the last ply."""
    line = []
    for ply in range(len(origins) - 1, 0, -1):
        place, move = origins[ply][place]
        line.append(move)
    return line[::-1]
