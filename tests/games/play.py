"""Random play in bulk: what the law tests and the comparisons with other programs feed on."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import CHANCE, Game, State

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
def replay(game: Game, states: State, actions: Array) -> Facts:
    """What the rules say of each state when `actions` [T, N] are played from `states` [N]; a row ends where they do."""

    def ply(states: State, actions: Array) -> tuple[State, Facts]:
        seen = jax.vmap(functools.partial(facts, game))(states)
        return jax.vmap(functools.partial(go_on, game))(states, actions), seen

    return jax.lax.scan(ply, states, actions)[1]


def number_of_games(game: Game) -> int:
    """128, or as many as fit into some 150 MB."""
    seen = jax.eval_shape(lambda key: facts(game, game.init(key)), jax.random.key(0))
    bytes_per_game = (game.max_plies + 1) * sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(seen))
    return int(np.clip(1.5e8 // bytes_per_game, 8, 128))


@functools.lru_cache(maxsize=1)  # The tests of one game follow each other.
def play(game: Game, seed: int = 1) -> Games:
    """Random games, on the host."""
    return jax.device_get(random_games(game, number_of_games(game), jax.random.key(seed)))


def at(states: State, *index: Any) -> State:
    """The one state, or the states, at a place of stacked ones, on the host."""
    return jax.tree.map(lambda x: np.asarray(x)[index], states)


def sample_states(game: Game, number: int, seed: int = 0) -> State:
    """Different states [number] that are not over, from all stages of random games, on the host."""
    games = play(game, seed)
    running = at(games.states, ~games.facts.over)
    order = np.random.default_rng(seed).permutation(len(jax.tree.leaves(running)[0]))
    rows = [b"".join(at(running, i)[f].tobytes() for f in range(len(running))) for i in order]
    _, first = np.unique(np.array(rows, object), return_index=True)
    chosen = order[np.sort(first)[:number]]
    assert len(chosen) == number, f"{game.spec} has only {len(chosen)} states here"
    return at(running, chosen)
