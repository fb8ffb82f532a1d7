"""CFR+ finds what is known of small poker, and exploitability is what OpenSpiel says it is."""

from __future__ import annotations

import itertools

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import exploitability as spiel_exploitability

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.games.poker import CALL, FOLD, RAISE, KuhnPoker
from beamzero.solvers.cfr import solve
from beamzero.solvers.deal_tree import DealTree, grow_tree
from tests.games.spiel_poker import NAMES, lines, our_action


@pytest.fixture(params=NAMES, scope="module")
def tree(request) -> DealTree:
    return grow_tree(make_game(request.param))


@pytest.fixture(scope="module")
def kuhn() -> DealTree:
    return grow_tree(KuhnPoker())


def test_the_tree_has_every_line_of_every_deal(tree):
    ends = tree.known < 0
    distinct = {(line.cards, tuple(line.actions)) for line in lines(tree.game.name).theirs}
    assert ends.sum() == len(distinct)
    assert tree.deal[tree.depths[0]].sum() == pytest.approx(1)
    assert len(tree.information_sets) == len(set(tree.information_sets)) == len(tree.mover)


def test_the_first_player_of_kuhn_poker_loses_an_eighteenth(kuhn):
    strategy = solve(kuhn, 1000)
    assert kuhn.game.stake * kuhn.value(strategy) == pytest.approx(-1 / 18, abs=1e-4)
    assert 0 <= kuhn.game.stake * kuhn.exploitability(strategy) < 2e-4


def test_the_second_player_of_kuhn_poker_bluffs_and_calls_one_time_in_three(kuhn):
    """It has one equilibrium; the first player has many, but always bets the king three times as often as the jack."""
    jack, queen, king = range(3)
    table, game = kuhn.as_strategy(solve(kuhn, 3000)), kuhn.game
    by_cards = {tuple(state.cards.tolist()): state for _, state in game.deals()}

    def plays(own: int, *actions: int) -> np.ndarray:
        seat = len(actions) % 2
        state = next(state for cards, state in by_cards.items() if cards[seat] == own)
        for action in actions:
            state = game.step(state, action)
        return table[np.asarray(game.observe(state)).tobytes()]

    third = pytest.approx(1 / 3, abs=0.02)
    assert plays(jack, CALL)[RAISE] == third and plays(queen, RAISE)[CALL] == third
    assert plays(jack, RAISE)[FOLD] == pytest.approx(1, abs=1e-3)
    assert plays(king, RAISE)[CALL] == pytest.approx(1, abs=1e-3)
    assert plays(king)[RAISE] == pytest.approx(3 * plays(jack)[RAISE], abs=0.03)


def in_openspiel(tree: DealTree, strategy: np.ndarray) -> spiel_policy.TabularPolicy:
    """The same strategy as a policy of OpenSpiel's."""
    name, hands, table = tree.game.name, lines(tree.game.name), tree.as_strategy(strategy)
    theirs = spiel_policy.TabularPolicy(pyspiel.load_game(name))
    for row, line in enumerate(hands.theirs):
        for ply, known in enumerate(line.known):
            ours = table[hands.facts.observation[ply, row].tobytes()]
            rows = theirs.policy_for_key(known)
            for action in range(len(rows)):
                rows[action] = ours[our_action(name, action, known)]
    return theirs


@pytest.mark.parametrize("seed", [0, 1])
def test_exploitability_is_openspiels(tree, seed):
    rng = np.random.default_rng(seed)
    strategy = np.where(tree.legal, rng.exponential(size=tree.legal.shape) ** 2, 0)
    strategy /= strategy.sum(axis=1, keepdims=True)
    chips = tree.game.stake
    theirs = spiel_exploitability.nash_conv(
        pyspiel.load_game(tree.game.name), in_openspiel(tree, strategy), return_only_nash_conv=False
    )
    gains = [
        sign * (tree.value(tree.best_response(strategy, side)) - tree.value(strategy))
        for side, sign in enumerate((1, -1))
    ]
    assert [chips * gain for gain in gains] == pytest.approx(list(theirs.player_improvements), abs=1e-6)
    assert 2 * chips * tree.exploitability(strategy) == pytest.approx(theirs.nash_conv, abs=1e-6)


def test_exploitability_falls_with_iterations(tree):
    told = []
    measured = [
        tree.game.stake * tree.exploitability(solve(tree, iterations, lambda *done: told.append(done)))
        for iterations in (1, 10, 100, 1000)
    ]
    assert all(less < more / 3 for more, less in itertools.pairwise(measured)) and 0 < measured[-1] < 0.01
    assert told[-1] == (1000, 1000) and len(told) == 1111


def test_leduc_poker_has_the_value_that_is_known():
    """-0.0856 chips for the first player (Southey and others, Bayes' Bluff, and every solver since)."""
    tree = grow_tree(make_game("leduc_poker"))
    strategy = solve(tree, 500)
    assert tree.game.stake * tree.value(strategy) == pytest.approx(-0.0856, abs=1e-3)


def test_a_strategy_is_one_row_for_each_information_set(tree):
    strategy = solve(tree, 5)
    assert (strategy[~tree.legal] == 0).all() and (strategy >= 0).all()
    assert strategy.sum(axis=1) == pytest.approx(np.ones(len(strategy)))
    assert (tree.as_array(tree.as_strategy(strategy)) == strategy).all()
    assert (np.abs(tree.set_values(strategy)) <= 1).all()


def test_what_both_expect_at_the_start_is_the_value(tree):
    """The first player's expectations, by the cards it may hold, come to the value of the game."""
    strategy = solve(tree, 20)
    first = tree.known[tree.depths[0]]
    expected = np.sum(tree.deal[tree.depths[0]] * tree.set_values(strategy)[first])
    assert expected == pytest.approx(tree.value(strategy))


def test_what_cannot_be_solved_is_refused_in_one_line(tree):
    for game, match in (("tic_tac_toe", "hides nothing"),):
        with pytest.raises(BadInput, match=match):
            grow_tree(make_game(game))
    with pytest.raises(BadInput, match="more than 20 nodes"):
        grow_tree(tree.game, most=20)
    with pytest.raises(BadInput, match="must be 1 or more"):
        solve(tree, 0)


class Blind(KuhnPoker):
    """One that shows the player to move nothing of its card or of what was done."""

    def observe(self, state):
        return 0 * super().observe(state)


def test_a_game_without_perfect_recall_is_refused():
    with pytest.raises(BadInput, match="does not tell apart"):
        grow_tree(Blind())
