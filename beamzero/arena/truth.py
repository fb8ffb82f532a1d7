"""Solved positions: those whose best moves are known, which `beamzero score` measures agents by.

The positions lie in the folder ``positions`` beside this file. The programs ``benchmarks/truth_*.py`` made them, with
solvers and engines that docs/truth.md names. There are two kinds of files:

- ``GAME.npz``: the moves that lead to a position, and the value of each of its moves (`Stored`);
- ``GAME.txt``: positions as players write them, and the moves that are right (`Puzzle`).
"""

from __future__ import annotations

import functools
import importlib.resources
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import Game, State

ILLEGAL = -128
"""Stands for the value of a move that is not legal."""

NO_ACTION = 255
"""Stands for a move after the last one."""


class Truth(NamedTuple):
    """N positions of a game, none of them over, and the values of their moves for the side to move.

    Laws: a move is legal where `values` is not ILLEGAL; the right moves are those with the highest sign.
    """

    states: State  # [N]
    values: np.ndarray  # int8 [N, A] > 0 for a win, 0 for a draw, < 0 for a loss; in puzzles 1 for right, 0 for wrong
    labels: np.ndarray  # uint8 [N] the class of each position
    classes: tuple[str, ...]  # [C] names
    puzzles: bool  # whether moves are right or wrong, and not won, drawn or lost

    def __len__(self) -> int:
        return len(self.labels)


class Stored(NamedTuple):
    """The content of a file of solved positions."""

    moves: np.ndarray  # uint8 [N, P] the actions that lead to the position, then NO_ACTION
    values: np.ndarray  # int8 [N, A] as in `Truth`; called "worths" in the file
    labels: np.ndarray  # uint8 [N]
    classes: tuple[str, ...]


def folder() -> Path:
    """Return the folder of the files."""
    return Path(str(importlib.resources.files("beamzero") / "arena" / "positions"))


def games_with_truth() -> list[str]:
    """List the games that have solved positions, by their identities."""
    return sorted(path.stem for path in folder().iterdir() if path.suffix in (".npz", ".txt"))


def load_truth(game: Game, positions: int | None = None) -> Truth:
    """Load the solved positions of a game, at most `positions` of each class; BadInput where there are none."""
    if game.identity not in games_with_truth():
        known = ", ".join(games_with_truth())
        raise BadInput(f"no positions of {game.identity} are solved, only those of {known}")
    solved = folder() / f"{game.name}.npz"
    if not solved.exists():
        return _as_truth(game, read_puzzles(folder() / f"{game.name}.txt"), positions)
    moves, values, labels, classes = read_stored(solved)
    kept = _first_of_each(labels, positions)
    return Truth(_replay(game, moves[kept]), values[kept], labels[kept], classes, puzzles=False)


def _first_of_each(labels: np.ndarray, positions: int | None) -> np.ndarray:
    """Find the places, int [M], of the first `positions` of each label; of all where it is None."""
    places = [np.flatnonzero(labels == label)[:positions] for label in np.unique(labels)]
    return np.sort(np.concatenate(places))


# --- positions by the moves that lead to them ------------------------------------------------------------------------


def read_stored(path: Path) -> Stored:
    """Read a file of solved positions."""
    with np.load(path) as file:
        return Stored(file["moves"], file["worths"], file["labels"], tuple(file["classes"].tolist()))


def write_stored(path: Path, games: Sequence[Sequence[int]], values: np.ndarray, labels: Sequence[str]) -> None:
    """Write positions, each with the moves that lead to it, the values of its moves and the name of its class."""
    moves = np.full((len(games), max(map(len, games))), NO_ACTION, np.uint8)
    for row, played in enumerate(games):
        moves[row, : len(played)] = played
    classes = list(dict.fromkeys(labels))
    numbers = np.array([classes.index(label) for label in labels], np.uint8)
    data = io.BytesIO()
    np.savez_compressed(data, moves=moves, worths=values.astype(np.int8), labels=numbers, classes=np.array(classes))
    path.write_bytes(data.getvalue())


@functools.partial(jax.jit, static_argnums=0)
def _replay(game: Game, moves: Array) -> State:
    """Play `moves`, uint8 [N, P]. Returns the states [N] after them."""

    def step(states: State, actions: Array) -> tuple[State, None]:
        played = actions != NO_ACTION
        after = jax.vmap(game.step)(states, jnp.where(played, actions, 0).astype(jnp.int32))
        return jax.tree.map(lambda x, y: jax.vmap(jnp.where)(played, x, y), after, states), None

    first = game.init(jax.random.key(0))
    states = jax.tree.map(lambda x: jnp.broadcast_to(x, (moves.shape[0], *x.shape)), first)
    return jax.lax.scan(step, states, moves.T)[0]


# --- positions as players write them ---------------------------------------------------------------------------------


class Puzzle(NamedTuple):
    """A position, and the moves that are right in it."""

    label: str
    position: str
    right: tuple[str, ...]


def read_puzzles(path: Path) -> list[Puzzle]:
    """Read a file of puzzles."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [Puzzle(label, position, tuple(right.split())) for label, position, right in rows]


def write_puzzles(path: Path, puzzles: Sequence[Puzzle]) -> None:
    """Write puzzles, each as a line of three columns between tabs."""
    lines = ("\t".join((puzzle.label, puzzle.position, " ".join(puzzle.right))) for puzzle in puzzles)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _as_truth(game: Game, puzzles: Sequence[Puzzle], positions: int | None) -> Truth:
    """Give the right moves of puzzles the value 1 and the others 0; at most the first `positions` of each class."""
    classes = tuple(dict.fromkeys(puzzle.label for puzzle in puzzles))
    labels = np.array([classes.index(puzzle.label) for puzzle in puzzles], np.uint8)
    kept = _first_of_each(labels, positions)
    states = [game.read_position(puzzles[row].position) for row in kept]
    values = np.full((len(kept), game.num_actions), ILLEGAL, np.int8)
    for row, state in enumerate(states):
        values[row, game.legal_actions(state)] = 0
        values[row, [game.parse_action(state, move) for move in puzzles[kept[row]].right]] = 1
    return Truth(jax.tree.map(lambda *x: jnp.stack(x), *states), values, labels[kept], classes, puzzles=True)
