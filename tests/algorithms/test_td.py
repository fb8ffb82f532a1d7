"""TD(lambda): what positions are told to learn, by hand and by a plain loop; and that a game with dice is learned."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.algorithms.td.iterate import TD, Played, learned_from, play_by_value
from beamzero.algorithms.td.settings import TdSettings
from beamzero.arena.battle import battle
from beamzero.core.errors import BadInput
from beamzero.games import CHANCE, make_game
from beamzero.nets import Net, make_net, make_value_evaluator
from beamzero.players import make_player
from beamzero.search.children import listed_moves, value_children
from beamzero.search.expectiminimax import Expectiminimax
from beamzero.search.simple import BestChild
from beamzero.training.algorithm import ALGORITHMS

BACKGAMMON = make_game("backgammon:max_plies=300")
SMALL = TdSettings(games=16, iterations=2, max_turns=60, value_net="mlp:width=16,depth=1", batch_size=64)


@functools.cache
def algorithm() -> TD:
    return TD(BACKGAMMON, SMALL)


@jax.jit
def is_over(states) -> jax.Array:
    """bool [T, G], of states [T, G]."""
    return jax.vmap(jax.vmap(BACKGAMMON.over))(states)


@jax.jit
def values_of_moves(evaluator, states) -> tuple[jax.Array, jax.Array]:
    """What the moves of some states lead to, [N, K], and which of them there are."""
    moves, _, listed = listed_moves(BACKGAMMON, states)
    return value_children(BACKGAMMON, evaluator, states, moves, listed).value, listed


@functools.cache
def games() -> Played:
    one = algorithm()
    played, _ = play_by_value(BACKGAMMON, 16, 60, 0.3, one.evaluator(one.init(jax.random.key(1))), jax.random.key(2))
    return jax.device_get(played)


def plain_targets(seen: Played, trace: float) -> np.ndarray:
    """What each position is to learn, for side 0, by a loop over one game after the other."""
    wanted, over = np.zeros(seen.value.shape), np.asarray(is_over(seen.states))
    for game in range(seen.value.shape[1]):
        length = int(seen.played[:, game].sum())
        for ply in reversed(range(length)):
            if over[ply, game] or ply == length - 1:
                wanted[ply, game] = seen.value[ply, game]
            elif seen.random[ply + 1, game]:
                wanted[ply, game] = seen.best[ply + 1, game]
            else:
                later = wanted[ply + 1, game]
                wanted[ply, game] = (1 - trace) * seen.best[ply + 1, game] + trace * later
    return wanted


@pytest.mark.parametrize("trace", [0.0, 0.7, 1.0])
def test_positions_learn_what_a_plain_loop_says(trace):
    seen = games()
    rows, count = learned_from(BACKGAMMON, seen, jnp.float32(trace))
    wanted, over = plain_targets(seen, trace), np.asarray(is_over(seen.states))
    sides = 1 - 2 * np.asarray(seen.states.side, np.float64)
    learns = np.asarray(seen.played) & ~over
    assert int(count) == learns.sum() > 500
    assert np.asarray(rows.outcome)[: int(count)] == pytest.approx((sides * wanted)[learns], abs=1e-5)


def test_games_are_played_by_the_rules_and_the_best_move_is_chosen_where_none_is_tried():
    seen, one = games(), algorithm()
    evaluator = one.evaluator(one.init(jax.random.key(1)))
    assert 0.2 < seen.random[seen.played].mean() < 0.4
    assert (seen.value[seen.played & ~seen.random] == seen.best[seen.played & ~seen.random]).all()
    # After a move chance decides, or the same side goes on, or the game is over.
    plies, places = np.array([(0, 0), (1, 3), (7, 5), (20, 9)]).T
    before, after = (jax.tree.map(lambda x, t=t: x[t, places], seen.states) for t in (plies, plies + 1))
    values, listed = jax.device_get(values_of_moves(evaluator, before))
    moved = jax.device_get(jax.jit(jax.vmap(BACKGAMMON.player))(before)) != CHANCE
    assert moved.sum() > 1
    for row in np.flatnonzero(moved):
        sign = 1 - 2 * int(before.side[row])
        own = np.where(listed[row], values[row] * sign, -np.inf)
        assert seen.best[plies[row] + 1, places[row]] * sign == pytest.approx(own.max(), abs=1e-5)
    assert (after.ply == before.ply + 1).all()


def test_an_iteration_is_the_same_for_the_same_key_and_the_loss_falls_on_what_it_saw():
    one = algorithm()
    first = one.init(jax.random.key(0))
    state, told = one.iterate(first, 1, jax.random.key(3), lambda *_: None)
    again, told_again = one.iterate(first, 1, jax.random.key(3), lambda *_: None)
    assert told["value_loss"] == told_again["value_loss"] and told["evaluations"] > told["states"] > 500
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(again), strict=True))
    assert all(
        np.array_equal(a, b)
        for a, b in zip(jax.tree.leaves(one.from_tree(state.as_tree())), jax.tree.leaves(state), strict=True)
    )
    assert ALGORITHMS["td"] is TD


@pytest.mark.slow
def test_a_few_games_teach_it_to_beat_random_play():
    """Some 800 games teach what bearing off and running home is."""
    one = TD(
        BACKGAMMON,
        TdSettings(
            games=64,
            iterations=12,
            max_turns=300,
            value_net="mlp:width=32,depth=1",
            batch_size=128,
            learning_rate=0.003,
        ),
    )
    state = one.init(jax.random.key(0))
    for iteration in range(1, 13):
        state, _ = one.iterate(state, iteration, jax.random.key(7), lambda *_: None)
    played = battle(BACKGAMMON, one.player(state), make_player("random", BACKGAMMON), games=100, random_plies=0, seed=1)
    assert played.interval.low > 0.6, played.score


@pytest.mark.slow
def test_the_search_and_the_look_agree_at_the_end_of_a_turn():
    """With one die left, both choose by what the net thinks of the same positions."""
    net = Net(BACKGAMMON, make_net("mlp:width=16,depth=1"), "value")
    evaluator = make_value_evaluator(net, net.init(jax.random.key(4)))
    texts = ("-b----E-C---eE---c-e----B-:0:0:1:5*1", "-b----E-C---eE---c-e----B-:0:0:-1:3*1")
    states = jax.tree.map(lambda *rows: jnp.stack(rows), *map(BACKGAMMON.read_position, texts))
    looked, searched = (
        jax.jit(search, static_argnums=0)(BACKGAMMON, evaluator, states, jax.random.key(0))
        for search in (BestChild(), Expectiminimax(1, every_move=True))
    )
    assert np.asarray(looked.values) == pytest.approx(np.asarray(searched.values), abs=1e-5)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("td", "td needs an agent"),
        ("td:runs/x,rolls=3", "rolls belong to a search"),
        ("td:runs/x,depth=9", "depth is 9, but must be 1 to 8 turns"),
        ("td:runs/nothing", "no agent 'runs/nothing'"),
    ],
)
def test_a_text_that_names_no_agent_says_why(text, why):
    with pytest.raises(BadInput, match=why):
        make_player(text, BACKGAMMON)
