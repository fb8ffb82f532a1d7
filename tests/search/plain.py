"""Minimax again, slow and obvious, in plain Python: what the compiled search must equal, whatever its options."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial

from beamzero.games import Game, State
from beamzero.search.alphabeta.alphabeta import AlphaBeta, Found
from beamzero.search.evaluator import Evaluator, SearchResult, zero_evaluator
from beamzero.search.features import hand_made_weights, log_odds

Position = Any

QUICK = {"xla_backend_optimization_level": 0}
"""For programs that run once or twice: they are slower, but there in half the time."""

MILLION = 1_000_000
WON = MILLION + 8192
"""What a game is worth to the winner when it ends; one less for each ply before that."""

SOME_TIME = 4096
"""Plies to the end where a table knows the winner, but not when."""


class Rules(Protocol):
    """A game and an evaluation, one position at a time."""

    def moves(self, position: Position) -> list[int]: ...
    def step(self, position: Position, move: int) -> Position: ...
    def over(self, position: Position) -> bool: ...
    def score(self, position: Position) -> float: ...  # for side 0
    def player(self, position: Position) -> int: ...
    def value(self, position: Position) -> int: ...  # the evaluation for the side to move, in millionths
    def noisy(self, position: Position, move: int) -> bool: ...
    def must_answer(self, position: Position) -> bool: ...
    def solved(self, position: Position) -> float | None: ...  # for the side to move, where a table has the position


class Outlook(NamedTuple):
    worth: int  # for the side to move: millionths, or so many plies less than WON
    complete: bool  # whether every line was played to the end of the game, within the depth
    positions: int  # in all lines, the first one included


@dataclasses.dataclass(frozen=True)
class Minimax:
    """Every line of some plies; beyond them noisy moves alone for `quiet` more, where a side may also let things be."""

    rules: Rules
    quiet: int = 0
    _known: dict[tuple[Position, int], Outlook] = dataclasses.field(default_factory=dict)

    def outlook(self, position: Position, depth: int) -> Outlook:
        """A position that is not over, as it looks from there."""
        if (position, depth) not in self._known:
            self._known[position, depth] = self._look(position, depth)
        return self._known[position, depth]

    def _look(self, position: Position, depth: int) -> Outlook:
        if depth <= -self.quiet:
            return Outlook(self.rules.value(position), False, 1)
        found = self.moves(position, depth).values()
        worths = [move.worth for move in found]
        if depth <= 0 and not self.rules.must_answer(position):
            worths.append(self.rules.value(position))
        complete = depth > 0 and all(move.complete for move in found)
        return Outlook(max(worths), complete, 1 + sum(move.positions for move in found))

    def moves(self, position: Position, depth: int) -> dict[int, Outlook]:
        """The moves of a position, each as it looks to the side that makes it."""
        rules, side, found = self.rules, self.rules.player(position), {}
        every_move = depth > 0 or rules.must_answer(position)
        for move in rules.moves(position):
            if not every_move and not rules.noisy(position, move):
                continue
            after = rules.step(position, move)
            sign = 1 if rules.player(after) == side else -1
            if rules.over(after):
                worth, complete, positions = _at_the_end(rules.score(after) * (1 if side == 0 else -1)), True, 1
            elif (result := rules.solved(after)) is not None:
                worth, complete, positions = _at_the_end(result * sign, SOME_TIME), True, 1
            else:
                worth, complete, positions = self.outlook(after, depth - 1)
                worth *= sign
            found[move] = Outlook(_a_ply_before(worth), complete, positions)
        return found


def _at_the_end(score: float, plies: int = 0) -> int:
    return round(score * (WON - plies if abs(score) == 1 else MILLION))


def _a_ply_before(worth: int) -> int:
    return worth if abs(worth) <= MILLION else worth - 1 if worth > 0 else worth + 1


# --- an evaluation for any game --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Mixed:
    """The game's own features; or, with a seed, numbers that look random and depend on the seed and the key alone.

    These come in a few steps, so that there are ties, and by whole-number arithmetic, so that nothing rounds them.
    """

    game: Game

    def __call__(self, weights: Array, seed: Array, states: State) -> Array:
        key = jax.vmap(self.game.hash)(states)[:, 0]
        steps = ((key * jnp.uint32(2654435761) ^ seed) * jnp.uint32(2246822519) >> jnp.uint32(20)) % jnp.uint32(17)
        random = (steps.astype(jnp.float32) - 8) / 8
        if not self.game.feature_names:
            return random
        return jnp.where(seed > 0, random, jnp.tanh(0.5 * log_odds(self.game, weights, states)))


def mixed_evaluator(game: Game, seed: int) -> Evaluator:
    """Random numbers by the seed, or with seed 0 the game's own features where it has some."""
    value = Partial(_Mixed(game), jnp.asarray(hand_made_weights(game)), jnp.uint32(seed))
    return zero_evaluator(game)._replace(value=value)


# --- any game, as the rules that plain minimax asks -------------------------------------------------------------------


class _Facts(NamedTuple):
    """What the rules and the evaluation say of each state."""

    moves: Array
    count: Array
    noisy: Array
    must_answer: Array
    over: Array
    score: Array
    player: Array
    value: Array


@functools.partial(jax.jit, static_argnums=0)
def _facts(game: Game, evaluator: Evaluator, states: State) -> _Facts:
    def one(state: State) -> tuple[Array, ...]:
        moves, count = game.moves(state)
        noisy = jax.vmap(game.noisy, (None, 0))(state, moves)
        return moves, count, noisy, game.must_answer(state), game.over(state), game.score(state), game.player(state)

    return _Facts(*jax.vmap(one)(states), evaluator.value(states))


@functools.partial(jax.jit, static_argnums=0, compiler_options=QUICK)
def _step(game: Game, states: State, moves: Array) -> State:
    return jax.vmap(game.step)(states, moves)


@functools.partial(jax.jit, static_argnums=0, compiler_options=QUICK)
def _play_on(game: Game, states: State, draws: Array) -> tuple[State, Array]:
    after = jax.vmap(lambda state, draw: game.step(state, game.pick(state, draw)))(states, draws)
    return after, jax.vmap(game.over)(after)


def _chunk(game: Game) -> int:
    """How many states are looked at, and stepped, at a time."""
    return 1024 if game.max_moves <= 16 else 128


def _in_chunks(game: Game, function: Any, *inputs: Any) -> Any:
    chunk, size, found = _chunk(game), len(jax.tree.leaves(inputs)[0]), []
    for start in range(0, size, chunk):
        index = np.minimum(np.arange(start, start + chunk), size - 1)
        found.append(jax.device_get(function(*rows(inputs, index))))
    return jax.tree.map(lambda *x: np.concatenate(x)[:size], *found)


def step_one(game: Game, state: State, move: int) -> State:
    """The state after a move, by the program that steps many."""
    alone = jax.tree.map(lambda x: np.asarray(x)[None], (state, np.int32(move)))
    return rows(_in_chunks(game, functools.partial(_step, game), *alone), 0)


_ROWS = 64


def random_positions(game: Game, number: int, seed: int, plies: int = 200) -> State:
    """States [number] that are not over, from the first `plies` of random games, on the host; some may be the same."""
    rng = np.random.default_rng(seed)
    first = jax.device_get(jax.jit(game.init)(jax.random.key(seed)))
    states = jax.tree.map(lambda x: np.broadcast_to(x, (_ROWS, *x.shape)), first)
    over, seen = np.zeros(_ROWS, bool), []
    for _ in range(plies):
        seen.append(jax.tree.map(lambda x: np.asarray(x)[~over], states))
        states, ended = _play_on(game, states, rng.random(_ROWS, np.float32))
        over = np.asarray(ended)
        if over.all():
            break
    together = jax.tree.map(lambda *x: np.concatenate(x), *seen)
    return rows(together, rng.choice(len(jax.tree.leaves(together)[0]), number))


def rows(states: State, index: Any) -> State:
    return jax.tree.map(lambda x: np.asarray(x)[index], states)


class _Known(NamedTuple):
    """What is known of one position."""

    noisy: dict[int, bool]  # of each move
    must_answer: bool
    over: bool
    score: float
    player: int
    value: int


class Lines:
    """All lines of play from some roots, as far as a search follows them; a position is a number, the roots come first.

    They are made level by level, many positions at a time, and looked at one by one.
    """

    def __init__(self, game: Game, evaluator: Evaluator, roots: State, depth: int, quiet: int = 0) -> None:
        self._known: list[_Known] = []
        self._child: list[dict[int, int]] = []
        states = roots
        for left in range(depth, -quiet - 1, -1):
            first = len(self._known)
            self._known += map(_known, *_in_chunks(game, functools.partial(_facts, game, evaluator), states))
            self._child += [{} for _ in self._known[first:]]
            pairs = [(at, move) for at in range(first, len(self._known)) for move in self._followed(at, left, quiet)]
            if not pairs:
                break
            for number, (position, move) in enumerate(pairs, len(self._known)):
                self._child[position][move] = number
            parents, moves = np.array(pairs, np.int32).T
            states = _in_chunks(game, functools.partial(_step, game), rows(states, parents - first), moves)

    def _followed(self, position: int, left: int, quiet: int) -> list[int]:
        if self.over(position) or left <= -quiet:
            return []
        every_move = left > 0 or self.must_answer(position)
        return [move for move in self.moves(position) if every_move or self.noisy(position, move)]

    def moves(self, position: int) -> list[int]:
        return list(self._known[position].noisy)

    def step(self, position: int, move: int) -> int:
        return self._child[position][move]

    def over(self, position: int) -> bool:
        return self._known[position].over

    def score(self, position: int) -> float:
        return self._known[position].score

    def player(self, position: int) -> int:
        return self._known[position].player

    def value(self, position: int) -> int:
        return self._known[position].value

    def noisy(self, position: int, move: int) -> bool:
        return self._known[position].noisy[move]

    def must_answer(self, position: int) -> bool:
        return self._known[position].must_answer

    def solved(self, position: int) -> float | None:
        return None


def _known(*facts: Any) -> _Known:
    moves, count, noisy, must_answer, over, score, player, value = facts
    return _Known(
        noisy=dict(zip(moves[:count].tolist(), noisy[:count].tolist())),
        must_answer=bool(must_answer),
        over=bool(over),
        score=float(score),
        player=int(player),
        value=int(np.round(value * np.float32(MILLION))),
    )


# --- the compiled search, with all that it finds ----------------------------------------------------------------------


@functools.partial(jax.jit, static_argnums=(0, 1), compiler_options=QUICK)
def solve(
    settings: AlphaBeta, game: Game, evaluator: Evaluator, states: State, key: Array
) -> tuple[Found, SearchResult]:
    """The same as calling `settings`, together with what it chooses from."""
    carry = settings.finish(game, evaluator, settings.start(game, evaluator, states, key))
    return carry.found, settings.result(game, carry, key)
