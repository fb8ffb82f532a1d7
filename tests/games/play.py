"""Random play in bulk: what the law tests and the comparisons with other programs feed on."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from beamzero.games import CHANCE, Game, State
from beamzero.players.analysis import step as one_step

SPECS = [
    "tic_tac_toe",
    "connect_four",
    "connect_four:rows=4,columns=5,length=3",
    "connect_four:rows=9,columns=4",
    "othello",
    "othello:size=4",
    "othello:size=6",
    "checkers",
    "checkers:draw_plies=70",
    "kalah",
    "kalah:houses=4,seeds=3,empty_capture=true",
    "togyzkumalak:max_plies=160",
    "chess6x6:max_plies=120",
    "chess:max_plies=120",
    "backgammon:max_plies=120",
    "kuhn_poker",
    "leduc_poker",
    "bridge",
]
"""Every game of `GAMES`, some on several boards, none so long that its states would not fit into memory.

What holds of every game is checked on these, so that their programs are compiled once for all the tests.
"""

SECOND_BOARDS = [
    "connect_four",
    "connect_four:rows=9,columns=4",
    "othello",
    "othello:size=6",
    "checkers:draw_plies=70",
    "kalah",
    "chess:max_plies=120",
]
"""Those of them that are not the cheapest board of their game; chess 6x6 has the code of chess."""


def params(specs: Iterable[str], slow: Iterable[str] = SECOND_BOARDS) -> list[Any]:
    """Values of a parameter, some of them for the slow tests only."""
    return [pytest.param(spec, marks=pytest.mark.slow) if spec in slow else spec for spec in specs]


class Games(NamedTuple):
    """N random games, T plies of each, dice and cards counted as plies; a finished game stays as it is."""

    states: State  # [T, N, ...] before each ply; the last entry is the end
    actions: Array  # int32 [T, N] the action played there, or the outcome of the dice; the last entry is never played
    facts: Facts  # [T, N, ...] what the rules say of each state


class Facts(NamedTuple):
    player: Array  # int32 []
    legal: Array  # bool [A]
    moves: Array  # int32 [K]
    count: Array  # int32 []
    over: Array  # bool []
    score: Array  # float32 []
    observation: Array  # float32 [*observation_shape]


def declared(game: Game) -> Facts:
    """The type and the shape of each answer, as the game declares them."""
    return Facts(
        player=(np.int32, ()),
        legal=(np.bool_, (game.num_actions,)),
        moves=(np.int32, (game.max_moves,)),
        count=(np.int32, ()),
        over=(np.bool_, ()),
        score=(np.float32, ()),
        observation=(np.float32, game.observation_shape),
    )


def facts(game: Game, state: State) -> Facts:
    moves, count = game.moves(state)
    return Facts(
        game.player(state), game.legal(state), moves, count, game.over(state), game.score(state), game.observe(state)
    )


def go_on(game: Game, state: State, action: Array) -> State:
    """The state after `action`, be it a player's or the dice's."""
    after = game.step(state, action)
    if game.num_chance:
        rolled = game.resolve(state, jnp.minimum(action, game.num_chance - 1))
        is_chance = (game.player(state) == CHANCE) & ~game.over(state)
        after = jax.tree.map(lambda a, b: jnp.where(is_chance, a, b), rolled, after)
    return after


def draw(game: Game, state: State, key: Array) -> Array:
    """int32 []: a legal action, all alike; or an outcome of the dice, by its probability."""
    action = jax.random.categorical(key, jnp.where(game.legal(state), 0.0, -jnp.inf))
    if game.num_chance:
        outcome = jax.random.categorical(key, jnp.log(game.chance(state)))
        action = jnp.where(game.player(state) == CHANCE, outcome, action)
    return action.astype(jnp.int32)


@functools.partial(jax.jit, static_argnums=(0, 1))
def random_games(game: Game, number: int, key: Array) -> Games:
    """`number` random games, played until the last of them must be over."""
    plies = game.max_plies * (2 if game.num_chance else 1) + 1
    first, later = jax.random.split(key)

    def ply(states: State, key: Array) -> tuple[State, Games]:
        actions = jax.vmap(functools.partial(draw, game))(states, jax.random.split(key, number))
        seen = Games(states, actions, jax.vmap(functools.partial(facts, game))(states))
        return jax.vmap(functools.partial(go_on, game))(states, actions), seen

    return jax.lax.scan(ply, jax.vmap(game.init)(jax.random.split(first, number)), jax.random.split(later, plies))[1]


@functools.partial(jax.jit, static_argnums=0)
def _plies(game: Game, states: State, given: Array, keys: Array) -> tuple[State, Games]:
    """Some plies: the action `given` [P, N] there, or a random one where that is negative."""

    def ply(states: State, now: tuple[Array, Array]) -> tuple[State, Games]:
        given, key = now
        drawn = jax.vmap(functools.partial(draw, game))(states, jax.random.split(key, len(given)))
        actions = jnp.where(given < 0, drawn, given)
        seen = Games(states, actions, jax.vmap(functools.partial(facts, game))(states))
        return jax.vmap(functools.partial(go_on, game))(states, actions), seen

    return jax.lax.scan(ply, states, (given, jax.random.wrap_key_data(keys)))


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _begin(game: Game, number: int, plies: int, key: Array) -> tuple[State, Array]:
    """The first states [N] and the data of a key for each ply; as `random_games` has them."""
    first, later = jax.random.split(key)
    keys = jax.random.key_data(jax.random.split(later, plies))
    return jax.vmap(game.init)(jax.random.split(first, number)), keys


def most_plies(game: Game) -> int:
    """Of states that a game can go through, dice and cards counted as plies."""
    return game.max_plies * (2 if game.num_chance else 1) + 1


def plies_at_once(game: Game) -> int:
    """64, or somewhat fewer: as many as make it in equal parts."""
    plies = most_plies(game)
    return -(-plies // -(-plies // 64))


@functools.lru_cache(maxsize=2)  # The tests of one game follow each other.
def play(game: Game, seed: int = 1) -> Games:
    """The games of `random_games`, on the host, up to where the last of them is over.

    They are played some plies at a time, by the program that `replay` has too: games can be far longer than they are.
    """
    number, part = number_of_games(game), plies_at_once(game)
    states, keys = jax.device_get(_begin(game, number, most_plies(game), jax.random.key(seed)))
    parts: list[Games] = []
    for start in range(0, most_plies(game), part):
        states, seen = _plies(game, states, np.full((part, number), -1, np.int32), _filled_up(keys[start:], part))
        parts.append(jax.device_get(seen))
        if parts[-1].facts.over[-1].all():
            break
    games = jax.tree.map(lambda *x: np.concatenate(x)[: most_plies(game)], *parts)
    running = np.flatnonzero(~games.facts.over.all(axis=1))
    return jax.tree.map(lambda x: x[: running[-1] + 2], games)


def replay(game: Game, states: State, actions: np.ndarray) -> Facts:
    """What the rules say of each state when `actions` [T, N] are played from `states` [N]; a row ends where they do."""
    return replayed(game, states, actions).facts


def replayed(game: Game, states: State, actions: np.ndarray) -> Games:
    """The games in which `actions` [T, N] are played from `states` [N]; a row ends where they do.

    On the host, by the program that plays random games, whatever T and N.
    """
    number, part = number_of_games(game), plies_at_once(game)
    keys = np.zeros((part, *jax.random.key_data(jax.random.key(0)).shape), np.uint32)
    columns = []
    for row in range(0, actions.shape[1], number):
        some = np.asarray(actions)[:, row : row + number]
        now = jax.tree.map(lambda x, row=row: _filled_up(np.asarray(x)[row : row + number], number), states)
        parts = []
        for start in range(0, len(some), part):
            given = np.zeros((part, number), np.int32)
            here = some[start : start + part]
            given[: here.shape[0], : here.shape[1]] = here
            now, seen = _plies(game, now, given, keys)
            parts.append(jax.device_get(seen))
        columns.append(jax.tree.map(lambda *x, n=some.shape: np.concatenate(x)[: n[0], : n[1]], *parts))
    return jax.tree.map(lambda *x: np.concatenate(x, axis=1), *columns)


def _filled_up(rows: np.ndarray, number: int) -> np.ndarray:
    """Some rows, the first of them again until there are `number`."""
    return np.concatenate([rows[:number], np.repeat(rows[:1], max(0, number - len(rows)), axis=0)])


@functools.cache
def number_of_games(game: Game) -> int:
    """128, or fewer where a state is large."""
    seen = jax.eval_shape(lambda key: facts(game, game.init(key)), jax.random.key(0))
    size = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(seen))
    return int(np.clip(2.5e5 // size, 12, 128))


# --- one state at a time ----------------------------------------------------------------------------------------------


@functools.partial(jax.jit, static_argnums=(0, 1))
def _ask(game: Game, question: str, *arguments: Any) -> Any:
    return getattr(game, question)(*arguments)


def ask(game: Game, question: str, state: State, *numbers: int | Array) -> Any:
    """What a method of a game answers of one state, on the host.

    As one program: without one, each operation in it would be compiled by itself.
    """
    return jax.device_get(_ask(game, question, state, *(np.int32(number) for number in numbers)))


def step(game: Game, state: State, *actions: int | Array) -> State:
    """The state after some actions, on the host; by the program that players have too."""
    for action in actions:
        state = one_step(game, state, np.int32(action))
    return jax.device_get(state)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _ask_all(game: Game, question: str, states: State, *arguments: Any) -> Any:
    return jax.vmap(getattr(game, question))(states, *arguments)


def ask_all(game: Game, question: str, states: State, *arguments: Any) -> Any:
    """What a method of a game answers of each of many states, on the host."""
    return jax.device_get(_ask_all(game, question, states, *arguments))


def stack(states: Any) -> State:
    """Some states as one with a leading axis, on the host."""
    return jax.tree.map(lambda *x: np.stack(x), *states)


def at(states: State, *index: Any) -> State:
    """The one state, or the states, at a place of stacked ones, on the host."""
    return jax.tree.map(lambda x: np.asarray(x)[index], states)


def _bytes_of(rows: np.ndarray) -> np.ndarray:
    """uint8 [N, B]: the bytes of each row."""
    return np.ascontiguousarray(rows.reshape(len(rows), -1)).view(np.uint8)


def sample_states(game: Game, number: int, seed: int = 0) -> State:
    """Different states [number] that are not over, from all stages of random games, on the host."""
    games = play(game, seed)
    running = at(games.states, ~games.facts.over)
    order = np.random.default_rng(seed).permutation(len(jax.tree.leaves(running)[0]))
    rows = np.concatenate([_bytes_of(x[order]) for x in jax.tree.leaves(running)], axis=1)
    _, first = np.unique(rows.view(np.dtype((np.void, rows.shape[1]))).ravel(), return_index=True)
    chosen = order[np.sort(first)[:number]]
    assert len(chosen) == number, f"{game.spec} has only {len(chosen)} states here"
    return at(running, chosen)
