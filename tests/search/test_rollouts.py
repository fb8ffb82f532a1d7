"""Random games as evaluator: results that can come of a position, as often as random play brings them."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest

from beamzero.games import make_game
from beamzero.search.mcts.rollouts import rollout_evaluator
from tests.games.play import at, play, sample_states
from tests.search.reference import GameRules, scrambled_evaluator

TIC_TAC_TOE = make_game("tic_tac_toe")
KALAH = make_game("kalah:houses=3,seeds=2")
KEY = jax.random.key(0)


@functools.partial(jax.jit, static_argnums=0)
def values(game, states, keys):
    """float32 [N, B]: the results of one game from each of B states, for each of N keys."""
    return jax.vmap(lambda key: rollout_evaluator(game, jax.random.bits(key, (), "uint32")).value(states))(keys)


def results(rules, position):
    """All that can come of a position, for side 0."""
    if rules.over(position):
        return {float(rules.score(position))}
    return set().union(*(results(rules, rules.step(position, move)) for move in rules.moves(position)))


def late_states(game, number):
    """Positions from which games end within a few moves."""
    rows = sample_states(game, 400, 2)
    if game is KALAH:
        late = rows.pits[:, :, :-1].sum(axis=(1, 2)) <= 4  # seeds in houses
    else:
        late = np.bitwise_count(rows.stones).sum(axis=1) >= 6
    return at(rows, np.flatnonzero(late)[:number])


@pytest.mark.parametrize("game", [TIC_TAC_TOE, KALAH], ids=lambda game: game.name)
def test_a_game_ends_as_it_can_end_and_where_that_is_certain_so(game):
    states = late_states(game, 40)
    found = np.asarray(values(game, states, jax.random.split(KEY, 30)))
    rules = GameRules(game, scrambled_evaluator(game, 1))
    certain = set()
    for row in range(40):
        position = rules.position(at(states, row))
        sign = 1 - 2 * rules.player(position)
        possible = {sign * result for result in results(rules, position)}
        assert set(found[:, row].tolist()) == possible, "thirty games of a few moves leave nothing out"
        if len(possible) == 1:
            certain |= {(sign, *possible)}
    assert certain >= {(1, 1.0), (1, -1.0), (-1, 1.0), (-1, -1.0)}, "either side to move, won and lost"


def test_a_finished_game_keeps_its_score():
    games = play(TIC_TAC_TOE)
    ends = at(games.states, -1)
    sign = 1 - 2 * games.facts.player[-1]
    found = np.asarray(values(TIC_TAC_TOE, ends, KEY[None]))[0]
    np.testing.assert_array_equal(sign * found, games.facts.score[-1])
    assert {-1.0, 0.0, 1.0} == set(games.facts.score[-1].tolist())


LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@functools.cache
def shares(board: str) -> np.ndarray:
    """How likely the first player wins, draws and loses when both play tic-tac-toe at random."""
    mover, other = ("X", "O") if board.count("X") == board.count("O") else ("O", "X")
    if any(all(board[square] == other for square in line) for line in LINES):
        return np.array([other == "X", False, other == "O"], float)
    free = [square for square in range(9) if board[square] == "."]
    if not free:
        return np.array([0.0, 1.0, 0.0])
    return np.mean([shares(board[:square] + mover + board[square + 1 :]) for square in free], axis=0)


def test_results_come_as_often_as_random_play_brings_them():
    start = jax.tree.map(lambda x: x[None], TIC_TAC_TOE.init(KEY))
    keys = jax.random.split(jax.random.key(5), 5000)
    found = np.asarray(values(TIC_TAC_TOE, start, keys))[:, 0]
    for result, share in zip((1, 0, -1), shares("." * 9), strict=True):
        assert abs((found == result).mean() - share) < 4 * np.sqrt(share * (1 - share) / 5000)


def test_the_same_key_and_position_give_the_same_game_and_others_another():
    states = sample_states(TIC_TAC_TOE, 40, 1)
    keys = jax.random.split(KEY, 30)
    found = np.asarray(values(TIC_TAC_TOE, states, keys))
    np.testing.assert_array_equal(found, values(TIC_TAC_TOE, states, keys))
    order = np.random.default_rng(0).permutation(40)
    np.testing.assert_array_equal(found[:, order], values(TIC_TAC_TOE, at(states, order), keys))
    assert len({tuple(row) for row in found}) == 30, "no two keys play the same"
    early = np.flatnonzero(np.bitwise_count(states.stones).sum(axis=1) <= 2)
    assert len(early) > 3 and len({tuple(found[:, row]) for row in early}) == len(early), "nor do two positions"
