"""CFR as a player, and who may play where cards are hidden."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from beamzero.arena.battle import battle
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.players.analysis import analyse
from beamzero.players.solved import deal_tree
from beamzero.solvers.cfr import solve
from tests.games.play import ask_all, at, stack

GAME = make_game("leduc_poker")


def states():
    return deal_tree(GAME).states


def test_it_plays_by_the_average_strategy():
    tree, player = deal_tree(GAME), make_player("cfr:iterations=30", GAME)
    found = player.think(states(), jax.random.key(0))
    strategy = solve(tree, 30)
    assert np.asarray(found.policy) == pytest.approx(strategy, abs=1e-5)
    assert np.asarray(found.value) == pytest.approx(tree.set_values(strategy), abs=1e-5)
    assert (np.isfinite(np.asarray(found.values)) == tree.legal).all()
    assert player.name == "cfr:iterations=30" and not player.deterministic


def test_it_draws_by_its_key_and_by_nothing_hidden():
    player, number = make_player("cfr:30", GAME), 3000
    place = int(np.argmin(np.abs(np.asarray(player.think(states(), jax.random.key(0)).policy)[:, 2] - 0.5)))
    same = stack([at(states(), place)] * number)
    keys = jax.random.split(jax.random.key(1), number)
    others = ask_all(GAME, "determinize", same, ask_all(GAME, "seat", same), keys)
    turn = jnp.ones(number, jnp.bool_)
    played = player.choose(same, turn, jax.random.key(2))
    assert (played == player.choose(others, turn, jax.random.key(2))).all()
    policy = np.asarray(player.think(same, jax.random.key(0)).policy[0], np.float64)
    counts, likely = np.bincount(played, minlength=3), policy > 0
    assert counts[~likely].sum() == 0 and likely.sum() > 1
    assert scipy.stats.chisquare(counts[likely], number * policy[likely] / policy.sum()).pvalue > 1e-4


def test_it_can_be_made_by_number_alone_and_says_what_is_wrong():
    assert make_player("cfr", GAME).name == "cfr"
    with pytest.raises(BadInput, match="iterations"):
        make_player("cfr:0", GAME)
    with pytest.raises(BadInput, match="hides nothing"):
        make_player("cfr", make_game("kalah"))
    with pytest.raises(BadInput, match="no option 'depth'"):
        make_player("cfr:depth=3", GAME)


@pytest.mark.parametrize(
    "agent",
    [
        "lookahead:2",
        "two_step_lookahead",
        "minimax:1",
        "alphabeta:depth=2",
        "alphabeta:seconds=1",
        "mcts:sims=10",
        "alphazero:nowhere,sims=10",
        "alphazero:nowhere,seconds=1",
        "probs:nowhere,expand=10",
        "random:book=some.book",
        "gtp:program",
    ],
)
def test_who_would_see_hidden_cards_is_refused_in_one_line(agent):
    with pytest.raises(BadInput, match="would see what leduc_poker hides") as error:
        make_player(agent, GAME)
    assert "\n" not in str(error.value) and "random, cfr" in str(error.value)


@pytest.mark.parametrize("agent", ["probs:nowhere", "alphazero:nowhere"])
def test_one_look_at_a_net_is_allowed(agent):
    with pytest.raises(BadInput, match="nowhere"):
        make_player(agent, GAME)


def test_an_analysis_tells_no_line_since_that_would_tell_cards():
    found = analyse(GAME, make_player("cfr:30", GAME), GAME.init(jax.random.key(0)), jax.random.key(0))
    assert found.line == [found.best] and {move.move for move in found.moves} == {"check", "bet"}


@pytest.mark.slow
def test_it_plays_battles_from_different_deals():
    played = battle(GAME, make_player("cfr:30", GAME), make_player("random", GAME), games=100, random_plies=0)
    assert played.games == 100 and played.openings > 10 and played.forfeits == (0, 0)
