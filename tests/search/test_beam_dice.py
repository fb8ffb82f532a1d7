"""The beam search where dice decide: node for node as the reference says, and exact where the tree is whole."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest
from hypothesis import given, settings

from beamzero.games import make_game
from beamzero.search.beam import BeamSearch, best_line
from beamzero.search.children import slots_of
from beamzero.search.evaluator import zero_evaluator
from tests.games.play import at
from tests.search.forest import NARROW_DICE, ROOTS, WIDE_DICE, ForestGame, ForestRules, grow
from tests.search.reference import Beam, GameRules, beam_search, scrambled_evaluator
from tests.search.test_beam import SEEDS, assert_same, search_game, search_in_forest
from tests.search.test_expectiminimax import Bank, BankState
from tests.search.test_mcts_chance import GAME as DICE
from tests.search.test_mcts_chance import ODDS, PLAYERS, TABLES, Plain
from tests.search.test_mcts_chance import ROOTS as TABLE_ROOTS

NEAR = 1e-6
"""Means are rounded in another order."""


def assert_line(line: list[int], beam: Beam) -> None:
    """Each of its moves is one of the best, and it ends where nothing was searched or dice decide."""
    node = beam.tree[0]
    for action in line:
        assert not node.odds
        children = {beam.tree[child].action: beam.tree[child] for child in node.children}
        best = max(node.side * child.value for child in children.values())
        assert node.side * children[action].value >= best - NEAR
        node = children[action]
    assert node.odds or not node.children


@pytest.mark.parametrize(
    ("shape", "search"),
    [
        pytest.param(NARROW_DICE, BeamSearch(60, 99), marks=pytest.mark.slow),
        (NARROW_DICE, BeamSearch(20, 2, True)),
        (WIDE_DICE, BeamSearch(30, 3)),
    ],
    ids=lambda part: str(part) if isinstance(part, BeamSearch) else f"{part.outcomes}",
)
@settings(max_examples=5)
@given(seed=SEEDS)
def test_random_trees_with_dice_are_searched_as_the_reference_says(shape, search, seed):
    forest = grow(seed, shape)
    rules, width = ForestRules(forest), ForestGame(None, shape)
    searched = search_in_forest(search, forest, shape=shape)
    for row, root in enumerate(ROOTS.node):
        beam = beam_search(rules, int(root), search.expand, search.depth, search.strict, dice=True)
        assert_same(searched, row, slots_of(width), beam, rules, NEAR)
        assert_line(best_line(width, searched.tree, row), beam)


def test_the_random_trees_hold_dice_at_all_depths():
    """Else the test above proves less than it says."""
    forests = [grow(seed, shape) for seed in range(4) for shape in (NARROW_DICE, WIDE_DICE)]
    beams = [beam_search(ForestRules(f), int(root), 60, 99, dice=True) for f in forests for root in ROOTS.node]
    nodes = [beam.tree[place] for beam in beams for place in beam.expanded]
    rolls = [node for node in nodes if node.odds]
    assert 0.1 < len(rolls) / len(nodes) < 0.5 and len({node.depth for node in rolls}) > 10
    assert {len(node.odds) for node in rolls} == set(range(1, 25))
    proven = [node.proven for node in rolls]
    assert any(proven) and not all(proven)
    assert all(
        not beam.tree[child].odds for beam in beams for node in beam.tree if node.odds for child in node.children
    )


# --- games -----------------------------------------------------------------------------------------------------------

BACKGAMMON = make_game("backgammon")
POSITIONS = (
    "-b----E-C---eE---c-e----B-:0:0:1:31",
    "-b----E-C---eE---c-e----B-:0:0:1:5*1",  # one die left: dice decide after each move
    "-b----E-C---eE---c-e----B-:0:0:-1:3*2",
    "-BA--------------------bb-:0:0:1:31",  # nearly over
)


@functools.cache
def backgammon_roots():
    return jax.tree.map(lambda *rows: np.stack(rows), *map(BACKGAMMON.read_position, POSITIONS))


@pytest.mark.slow
def test_backgammon_is_searched_as_the_reference_says():
    search, evaluator = BeamSearch(24, 99), scrambled_evaluator(BACKGAMMON, 3)
    rules, states = GameRules(BACKGAMMON, evaluator), backgammon_roots()
    searched = search_game(search, BACKGAMMON, evaluator, states)
    rolls = 0
    for row in range(len(POSITIONS)):
        beam = beam_search(rules, rules.position(at(states, row)), search.expand, search.depth, dice=True)
        assert_same(searched, row, BACKGAMMON.max_moves, beam, rules, NEAR)
        assert_line(best_line(BACKGAMMON, searched.tree, row), beam)
        rolls += sum(bool(beam.tree[place].odds) for place in beam.expanded)
    assert rolls > 5


def test_a_whole_tree_is_worth_what_expectimax_says_and_all_of_it_is_proven():
    """Whatever V says meanwhile."""
    searched = search_game(BeamSearch(90), DICE, zero_evaluator(DICE), TABLE_ROOTS)
    for table in range(TABLES):
        plain, sign = Plain(table), 1 - 2 * int(PLAYERS[table, 0, 0])
        wanted = [sign * plain.value(1, move) for move in range(3)]
        assert searched.result.values[table] == pytest.approx(wanted, abs=1e-5)
    assert searched.result.proven.all()
    possible = (ODDS[:, 1] > 0).sum(axis=1)
    assert (searched.tree.children[:, 1:4] == possible[:, None]).all(), "what never comes is no child"


@pytest.mark.slow
def test_the_bank_pays_what_the_formula_says():
    """The root, two rolls and six answers: one expansion less, and V has a say."""
    game = Bank(2)
    mean = sum(odds * max(shown, game.safe) for odds, shown in zip(game.odds, game.faces, strict=True))
    first = BankState(np.zeros(3, np.float32), np.zeros(3, np.int32), np.arange(3, dtype=np.int32))
    tree, smaller = (search_game(BeamSearch(9), game, zero_evaluator(game), first, budget) for budget in (9, 8))
    for face, shown in enumerate(game.faces):
        assert tree.result.values[face] == pytest.approx([(gain - mean) / 2 for gain in (shown, game.safe)], abs=1e-6)
    assert tree.result.proven.all()
    assert not smaller.result.proven.all()
