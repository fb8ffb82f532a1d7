"""Makes the solved endgames of Othello and Kalah, each with what all its moves lead to: a win, a draw or a loss.

    python benchmarks/truth_endgames.py othello [--positions 200] [--seed 0]
    python benchmarks/truth_endgames.py kalah

The classes are numbers of empty squares in Othello, of seeds left in the houses in Kalah, where the stores are no
further apart than half of the seeds. Positions come from games of random moves, one of each game at most. A position is
kept where its moves differ in what they lead to, and where it is not there already. Alpha-beta searches every move to
the end of the game; in Kalah an endgame table ends its lines. Run from the root of the checkout.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.arena.truth import ILLEGAL, folder, write_stored
from beamzero.core.compiler import keep_compiled_code
from beamzero.core.cores import side_by_side
from beamzero.games import Game, State, make_game
from beamzero.games.kalah import Kalah
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from beamzero.search.evaluator import Evaluator, zero_evaluator
from beamzero.search.simple import random_moves
from beamzero.solvers.endgame import endgame_table
from beamzero.solvers.retrograde import make_endgame_table

_GAMES = 2048
_CHUNK = 8
_TABLE_SEEDS = 16
_SEARCH = AlphaBeta(depth=64, deepen=False, every_move=True, entries=2**18)


class Endgames(NamedTuple):
    """Which endgames are wanted."""

    left: Callable[[State], Array]  # int32 [] what is left of a game; negative where it is as good as decided
    sizes: tuple[int, ...]  # the classes: how much of it
    unit: str
    plies: int  # how long games are followed


def _empty_squares(state: State) -> Array:
    words = (state.own_lo, state.own_hi, state.other_lo, state.other_hi)
    return 64 - jnp.sum(jnp.stack([jnp.bitwise_count(word) for word in words]), dtype=jnp.int32)


def _seeds_in_houses(state: State) -> Array:
    seeds, stores = jnp.sum(state.pits[:, :-1], dtype=jnp.int32), state.pits[:, -1].astype(jnp.int32)
    return jnp.where(2 * jnp.abs(stores[0] - stores[1]) <= seeds, seeds, -1)


_WANTED = {
    "othello": Endgames(_empty_squares, (8, 9, 10, 11, 12), "empties", 80),
    "kalah": Endgames(_seeds_in_houses, (12, 16, 20, 24), "seeds", 150),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=_WANTED)
    parser.add_argument("--positions", type=int, default=200, help="of each class")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    keep_compiled_code()
    game, wanted = make_game(arguments.game), _WANTED[arguments.game]
    evaluator = zero_evaluator(game)
    if isinstance(game, Kalah):
        evaluator = evaluator._replace(exact=endgame_table(game, make_endgame_table(game, _TABLE_SEEDS)))
    found: dict[int, list[tuple[list[int], np.ndarray]]] = {size: [] for size in wanted.sizes}
    seen: set[bytes] = set()
    for lap in range(10_000):
        missing = [size for size in wanted.sizes if len(found[size]) < arguments.positions]
        if not missing:
            break
        sizes = np.resize(missing, _GAMES)
        key = jax.random.fold_in(jax.random.key(arguments.seed), lap)
        moves, lengths, states = jax.device_get(_draw(game, wanted, jnp.asarray(sizes, jnp.int32), key))
        rows = [row for row in np.flatnonzero(lengths >= 0).tolist() if _is_new(states, row, seen)]
        for first in range(0, len(rows), 8 * _CHUNK):
            some = [row for row in rows[first : first + 8 * _CHUNK] if len(found[sizes[row]]) < arguments.positions]
            for row, worths in zip(some, _solve(game, evaluator, states, some)):
                if len(np.unique(worths[worths != ILLEGAL])) > 1 and len(found[sizes[row]]) < arguments.positions:
                    found[sizes[row]].append((moves[row, : lengths[row]].tolist(), worths))
            counts = ", ".join(f"{len(there)} of {size} {wanted.unit}" for size, there in found.items())
            print(f"\r{counts}", end="", file=sys.stderr)
    print(file=sys.stderr)
    positions = [(*row, f"{size} {wanted.unit}") for size in wanted.sizes for row in found[size]]
    games, worths, labels = zip(*positions, strict=True)
    write_stored(folder() / f"{game.name}.npz", games, np.stack(worths), labels)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _draw(game: Game, wanted: Endgames, sizes: Array, key: Array) -> tuple[Array, Array, State]:
    """Play random games. Returns their moves, uint8 [B, P], the first ply at which so much is left and there are moves
    to choose from, or -1, int32 [B], and the position there, [B].
    """

    def step(carry: tuple[State, State, Array], ply: Array) -> tuple[tuple[State, State, Array], Array]:
        states, kept, lengths = carry
        choices = jax.vmap(lambda state: jnp.sum(game.legal(state)))(states)
        here = (jax.vmap(wanted.left)(states) == sizes) & ~jax.vmap(game.over)(states) & (choices > 1) & (lengths < 0)
        kept = jax.tree.map(lambda x, y: jax.vmap(jnp.where)(here, x, y), states, kept)
        actions = random_moves(game, states, jax.random.fold_in(key, ply))
        lengths = jnp.where(here, ply, lengths)
        return (jax.vmap(game.step)(states, actions), kept, lengths), actions.astype(jnp.uint8)

    states = jax.vmap(game.init)(jax.random.split(key, sizes.shape[0]))
    start = states, states, jnp.full(sizes.shape, -1, jnp.int32)
    (_, kept, lengths), moves = jax.lax.scan(step, start, jnp.arange(wanted.plies, dtype=jnp.int32))
    return moves.T, lengths, kept


def _is_new(states: State, row: int, seen: set[bytes]) -> bool:
    mark = b"".join(leaf[row].tobytes() for leaf in states)
    new = mark not in seen
    seen.add(mark)
    return new


def _solve(game: Game, evaluator: Evaluator, states: State, rows: list[int]) -> list[np.ndarray]:
    """Solve every move of each row: int8 [A] a row, also for the rows that fill up the last chunk."""
    if not rows:
        return []
    filled = np.resize(rows, -(-len(rows) // _CHUNK) * _CHUNK)
    parts = [jax.tree.map(lambda x: x[some], states) for some in filled.reshape(-1, _CHUNK)]
    return [row for part in side_by_side(lambda part: _worths(game, evaluator, part), parts) for row in part]


@functools.partial(jax.jit, static_argnums=0)
def _search(game: Game, evaluator: Evaluator, states: State) -> tuple[Array, Array, Array]:
    result = _SEARCH(game, evaluator, states, jax.random.key(0))
    return result.values, result.proven, jax.vmap(game.legal)(states)


def _worths(game: Game, evaluator: Evaluator, states: State) -> np.ndarray:
    values, proven, legal = jax.device_get(_search(game, evaluator, states))
    assert (proven == legal).all(), "a line was not searched to its end"
    return np.where(legal, np.sign(values), ILLEGAL).astype(np.int8)


if __name__ == "__main__":
    main()
