"""Random play: our games against peers, each at the batch that suits it best."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.bench.timing import Row, seconds_of, seconds_to_compile
from beamzero.core.cores import programs_at_once, side_by_side
from beamzero.games import GAMES, Game, State, make_game
from beamzero.games.chance import resolve_chance
from beamzero.search.memory import bytes_of, state_bytes

PEERS: dict[str, dict[str, str]] = {
    "pgx": {
        "tic_tac_toe": "tic_tac_toe",
        "connect_four": "connect_four",
        "othello": "othello",
        "chess6x6": "gardner_chess",
        "chess": "chess",
        "backgammon": "backgammon",
    },
    "pyspiel": {
        "tic_tac_toe": "tic_tac_toe",
        "connect_four": "connect_four",
        "othello": "othello",
        "checkers": "checkers",
        "kalah": "mancala",  # of four seeds a house
        "kalah:seeds=4": "mancala",
        "chess": "chess",
        "backgammon": "backgammon",  # whose steps are of two checkers
    },
}
"""The names of our games at each peer; the nearest of the kind where it has another."""

MOVES_A_CALL = 16
"""Moves of each game in one call."""

_BATCHES = {"cpu": (2**8, 2**10, 2**12), "gpu": (2**13, 2**16, 2**19)}
_MOST_BYTES = {"cpu": 2**28, "gpu": 2**34}
_MOST_SECONDS = 4.0
"""A batch of which one call would take longer is not tried."""


def bench_games(peers: Sequence[str], games: Sequence[str]) -> Iterator[Row]:
    """Measure steps/s of random play in a batch of games that start anew at their end; all of ours, or just `games`."""
    for name in games or GAMES.built_in:
        game = make_game(name)
        size, compiling = state_bytes(game), compile_seconds(game)
        ours = fastest(our_rules(game))
        rivals = {
            f"{peer}{'' if theirs == name else ' ' + theirs}": _RIVALS[peer](theirs)
            for peer in peers
            if (theirs := PEERS[peer].get(name))
        }
        plays = [ours, *rivals.values()]
        rates = [play.moves / taken for play, taken in zip(plays, seconds_of(*(play.run for play in plays)))]
        for rate, rival in zip(rates[1:], rivals) if rivals else [(None, None)]:
            yield Row(f"random play, {name}", "steps/s", rates[0], rate, rival, size, compiling)


def compile_seconds(game: Game, batch: int = 2**10) -> float:
    """Measure the seconds that JAX takes to compile a step of a batch of games."""
    states = jax.eval_shape(jax.vmap(game.init), jax.random.split(jax.random.key(0), batch))
    return seconds_to_compile(jax.vmap(game.step), states, jax.ShapeDtypeStruct((batch,), jnp.int32))


# --- random play -----------------------------------------------------------------------------------------------------


class RandomRules(NamedTuple):
    """Rules of a game for random play, ours or a peer's, of one state."""

    init: Callable[[Array], State]
    move: Callable[[State, Array], tuple[State, Array]]
    """Makes the random move that a draw from [0, 1) picks. Returns the state after it, and whether the game is over."""


def our_rules(game: Game) -> RandomRules:
    """Make the rules of one of our games."""

    def move(state: State, draw: Array) -> tuple[State, Array]:
        state = game.step(state, game.pick(state, draw))
        state = resolve_chance(game, state, draw * 4096 % 1)  # the lower bits of the draw, for the dice
        return state, game.over(state)

    return RandomRules(game.init, move)


def pgx_rules(name: str) -> RandomRules:
    """Make the rules of a game of pgx."""
    import pgx

    env = pgx.make(name)

    def move(state: Any, draw: Array) -> tuple[Any, Array]:
        # As `Game.pick` finds a move.
        upto = jnp.cumsum(state.legal_action_mask.astype(jnp.int32))
        rank = jnp.minimum((draw * upto[-1].astype(jnp.float32)).astype(jnp.int32), upto[-1] - 1)
        dice = jax.random.fold_in(jax.random.key(0), (draw * 2**24).astype(jnp.int32)) if name == "backgammon" else None
        state = env.step(state, jnp.sum(upto <= rank, dtype=jnp.int32), dice)
        return state, state.terminated | state.truncated

    return RandomRules(env.init, move)


class GameBatch:
    """A batch of games; a call makes `MOVES_A_CALL` random moves in each, and a game that ends starts anew."""

    def __init__(self, advance: Callable[..., tuple[State, Array]], fresh: State, seed: int) -> None:
        self._advance, self._fresh, self._key = advance, fresh, jax.random.key(seed)
        self.states = fresh

    def __call__(self) -> State:
        self.states, self._key = self._advance(self._fresh, self.states, self._key)
        return self.states


def make_batches(rules: RandomRules, batch: int, number: int) -> list[GameBatch]:
    """Make `number` batches of `batch` games each, to be played side by side."""

    @jax.jit
    def advance(fresh: State, states: State, key: Array) -> tuple[State, Array]:
        key, now = jax.random.split(key)

        def body(i: Array, states: State) -> State:
            draws = jax.random.uniform(jax.random.fold_in(now, i), (batch,))
            states, over = jax.vmap(rules.move)(states, draws)
            return jax.tree.map(
                lambda new, old: jnp.where(over.reshape(-1, *[1] * (new.ndim - 1)), new, old), fresh, states
            )

        return jax.lax.fori_loop(0, MOVES_A_CALL, body, states), key

    start = jax.jit(rules.init)(jax.random.key(0))
    fresh = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (batch, *leaf.shape)), start)
    return [GameBatch(advance, fresh, seed) for seed in range(number)]


class RandomPlay(NamedTuple):
    """A way to play at random: a call of `run` makes so many moves."""

    run: Callable[[], Any]
    moves: int


def fastest(rules: RandomRules) -> RandomPlay:
    """Find the fastest way to play: a few batch sizes are tried, each on one core and on all."""
    backend = "gpu" if jax.default_backend() == "gpu" else "cpu"
    size = bytes_of(jax.eval_shape(rules.init, jax.random.key(0)))
    seconds_each = 0.0  # of a call, for each game of the batch
    ways: list[tuple[float, RandomPlay]] = []
    for batch in _BATCHES[backend]:
        if batch * seconds_each > _MOST_SECONDS or (ways and batch * size > _MOST_BYTES[backend]):
            break
        try:
            for play, taken in _try_batch(rules, batch):
                seconds_each = taken / batch
                ways.append((play.moves / taken, play))
        except jax.errors.JaxRuntimeError as error:
            if not ways or "RESOURCE_EXHAUSTED" not in str(error):
                raise
            break
    return max(ways, key=lambda way: way[0])[1]


def _try_batch(rules: RandomRules, batch: int) -> Iterator[tuple[RandomPlay, float]]:
    """Yield ways to play with this batch size, each with the seconds that a call takes."""
    batches = make_batches(rules, batch, programs_at_once())
    for number in sorted({1, len(batches)}):
        play = RandomPlay(functools.partial(_run, batches[:number]), number * batch * MOVES_A_CALL)
        yield play, seconds_of(play.run, seconds=0.3)[0]


def _run(batches: Sequence[GameBatch]) -> list[State]:
    return list(side_by_side(GameBatch.__call__, batches))


def pyspiel_play(name: str, moves: int = 2000) -> RandomPlay:
    """Make a plain loop that plays one game of OpenSpiel after the other."""
    import pyspiel

    game, draw = pyspiel.load_game(name), random.Random(0)

    def run() -> None:
        state = game.new_initial_state()
        for _ in range(moves):
            while state.is_chance_node():
                state.apply_action(draw.choice(state.legal_actions()))
            actions = state.legal_actions()
            state.apply_action(actions[int(draw.random() * len(actions))])
            if state.is_terminal():
                state = game.new_initial_state()

    return RandomPlay(run, moves)


_RIVALS: dict[str, Callable[[str], RandomPlay]] = {
    "pgx": lambda name: fastest(pgx_rules(name)),
    "pyspiel": pyspiel_play,
}
