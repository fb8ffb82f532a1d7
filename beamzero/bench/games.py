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
from beamzero.core.cores import searches_at_once, side_by_side
from beamzero.games import GAMES, Game, State, make_game
from beamzero.games.chance import resolve_chance

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
"""What each peer calls our games; the nearest thing to it where it has another of the kind."""

_STEPS = 16
"""Moves of each game in one call."""

_BATCHES = {"cpu": (2**8, 2**10, 2**12), "gpu": (2**13, 2**16, 2**19)}
_MOST_BYTES = {"cpu": 2**28, "gpu": 2**34}
_MOST_SECONDS = 4.0
"""A batch that would take longer for one call is not tried."""


def bench_games(peers: Sequence[str], games: Sequence[str]) -> Iterator[Row]:
    """Random play: steps/s of a batch of games that start anew when they end; all of ours, or just `games`."""
    for name in games or GAMES.built_in:
        game = make_game(name)
        size, compiling = state_bytes(game.init), compile_seconds(game)
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


def state_bytes(init: Callable[[Array], State]) -> int:
    """What one state takes."""
    state = jax.eval_shape(init, jax.random.key(0))
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))


def compile_seconds(game: Game, batch: int = 2**10) -> float:
    """How long it takes until a batch of games can be stepped."""
    states = jax.eval_shape(jax.vmap(game.init), jax.random.split(jax.random.key(0), batch))
    return seconds_to_compile(jax.vmap(game.step), states, jax.ShapeDtypeStruct((batch,), jnp.int32))


# --- random play -----------------------------------------------------------------------------------------------------


class Rules(NamedTuple):
    """Whoever's rules of a game, of one state."""

    init: Callable[[Array], State]
    move: Callable[[State, Array], tuple[State, Array]]
    """A state and a draw from [0, 1) to the state after a random move, and whether the game is over there."""


def our_rules(game: Game) -> Rules:
    def move(state: State, draw: Array) -> tuple[State, Array]:
        state = game.step(state, game.pick(state, draw))
        state = resolve_chance(game, state, draw * 4096 % 1)  # the lower bits of the draw, for the dice
        return state, game.over(state)

    return Rules(game.init, move)


def pgx_rules(name: str) -> Rules:
    import pgx

    env = pgx.make(name)

    def move(state: Any, draw: Array) -> tuple[Any, Array]:
        # As `Game.pick` finds a move.
        upto = jnp.cumsum(state.legal_action_mask.astype(jnp.int32))
        rank = jnp.minimum((draw * upto[-1].astype(jnp.float32)).astype(jnp.int32), upto[-1] - 1)
        dice = jax.random.fold_in(jax.random.key(0), (draw * 2**24).astype(jnp.int32)) if name == "backgammon" else None
        state = env.step(state, jnp.sum(upto <= rank, dtype=jnp.int32), dice)
        return state, state.terminated | state.truncated

    return Rules(env.init, move)


class Lane:
    """A batch of games; a call makes `_STEPS` random moves in each, and a game that ends starts anew."""

    def __init__(self, advance: Callable[..., tuple[State, Array]], fresh: State, seed: int) -> None:
        self._advance, self._fresh, self._key = advance, fresh, jax.random.key(seed)
        self.states = fresh

    def __call__(self) -> State:
        self.states, self._key = self._advance(self._fresh, self.states, self._key)
        return self.states


def make_lanes(rules: Rules, batch: int, number: int) -> list[Lane]:
    """As many batches of games, to be played side by side."""

    @jax.jit
    def advance(fresh: State, states: State, key: Array) -> tuple[State, Array]:
        key, now = jax.random.split(key)

        def body(i: Array, states: State) -> State:
            draws = jax.random.uniform(jax.random.fold_in(now, i), (batch,))
            states, over = jax.vmap(rules.move)(states, draws)
            return jax.tree.map(
                lambda new, old: jnp.where(over.reshape(-1, *[1] * (new.ndim - 1)), new, old), fresh, states
            )

        return jax.lax.fori_loop(0, _STEPS, body, states), key

    start = jax.jit(rules.init)(jax.random.key(0))
    fresh = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (batch, *leaf.shape)), start)
    return [Lane(advance, fresh, seed) for seed in range(number)]


def random_play(game: Game, batch: int) -> Callable[[], State]:
    """A call makes `_STEPS` random moves in each of `batch` games, and gives the states after them."""
    return make_lanes(our_rules(game), batch, 1)[0]


class Play(NamedTuple):
    """Something that plays at random: a call makes so many moves."""

    run: Callable[[], Any]
    moves: int


def fastest(rules: Rules) -> Play:
    """The fastest way to play: a few batch sizes, each on one core and on all."""
    backend = "gpu" if jax.default_backend() == "gpu" else "cpu"
    size = state_bytes(rules.init)
    seconds_each = 0.0  # of a call, for each game of the batch
    ways: list[tuple[float, Play]] = []
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


def _try_batch(rules: Rules, batch: int) -> Iterator[tuple[Play, float]]:
    """Ways to play with this batch, and the seconds that a call takes."""
    lanes = make_lanes(rules, batch, searches_at_once())
    for number in sorted({1, len(lanes)}):
        play = Play(functools.partial(_run, lanes[:number]), number * batch * _STEPS)
        yield play, seconds_of(play.run, seconds=0.3)[0]


def _run(lanes: Sequence[Lane]) -> list[State]:
    return list(side_by_side(Lane.__call__, lanes))


def pyspiel_play(name: str, moves: int = 2000) -> Play:
    """One game after the other, in a plain loop."""
    import pyspiel  # type: ignore[import-not-found]

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

    return Play(run, moves)


_RIVALS: dict[str, Callable[[str], Play]] = {"pgx": lambda name: fastest(pgx_rules(name)), "pyspiel": pyspiel_play}
