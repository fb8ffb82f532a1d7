"""Minimax and alpha-beta as players: the texts that name them, and how they choose."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.core.compiler import CompilationCount
from beamzero.core.errors import BadInput
from beamzero.games import Game, make_game
from beamzero.players import SearchPlayer, make_player
from beamzero.players.classic import QUIET_PLIES
from beamzero.search import drive
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from beamzero.search.limit import Limit
from tests.games.play import stack, step
from tests.search.plain import Lines, Minimax, random_positions, rows

TIC_TAC_TOE, KALAH = make_game("tic_tac_toe"), make_game("kalah:houses=4,seeds=3")
FOUR = make_game("connect_four:rows=4,columns=5,length=3")
NUMBER = 16
slow = functools.partial(pytest.param, marks=pytest.mark.slow)
KEY = jax.random.key(0)
MEGABYTE = 2**16
"""Entries."""


def minimax(depth: int) -> AlphaBeta:
    return AlphaBeta(depth, prune=False, order=False, entries=0, deepen=False)


@pytest.mark.parametrize(
    ("name", "game", "search"),
    [
        ("minimax:3", TIC_TAC_TOE, minimax(3)),
        ("minimax:depth=2", KALAH, minimax(2)),
        ("alphabeta:6", TIC_TAC_TOE, AlphaBeta(6, entries=MEGABYTE)),
        ("alphabeta:depth=6", KALAH, AlphaBeta(6, entries=MEGABYTE, quiet=QUIET_PLIES)),
        ("alphabeta:nodes=1000", TIC_TAC_TOE, AlphaBeta(64, nodes=1000, entries=MEGABYTE)),
        ("alphabeta:4,nodes=1000", TIC_TAC_TOE, AlphaBeta(4, nodes=1000, entries=MEGABYTE)),
        ("alphabeta:4,quiet=3", KALAH, AlphaBeta(4, entries=MEGABYTE, quiet=3)),
        ("alphabeta:4,quiet=0", KALAH, AlphaBeta(4, entries=MEGABYTE)),
        ("alphabeta:4,quiet=0", TIC_TAC_TOE, AlphaBeta(4, entries=MEGABYTE)),
        ("alphabeta:4,order=false", TIC_TAC_TOE, AlphaBeta(4, order=False, entries=MEGABYTE)),
        ("alphabeta:4,hash=0", TIC_TAC_TOE, AlphaBeta(4, entries=0)),
        ("alphabeta:4,hash=0.001", TIC_TAC_TOE, AlphaBeta(4, entries=64)),
        ("alphabeta:4,hash=3", TIC_TAC_TOE, AlphaBeta(4, entries=2 * MEGABYTE)),
    ],
)
def test_a_text_names_a_search(name, game, search):
    player = make_player(name, game)
    assert isinstance(player, SearchPlayer)
    assert (player.name, player.game, player.search) == (name, game, search)


def test_with_seconds_it_has_a_clock_and_a_larger_table():
    player = make_player("alphabeta:seconds=0.5,nodes=7", KALAH)
    assert isinstance(player, SearchPlayer) and player.limit == Limit(seconds=0.5) and not player.deterministic
    assert player.search == AlphaBeta(64, nodes=7, entries=16 * MEGABYTE, quiet=QUIET_PLIES)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("minimax", "minimax needs a depth, such as minimax:3"),
        ("minimax:0", "depth is 0, but must be 1 to 64"),
        ("minimax:depth=-2", "depth is -2, but must be 1 to 64"),
        ("minimax:65", "depth is 65, but must be 1 to 64"),
        ("minimax:deep", "depth is 'deep'"),
        ("minimax:2,depth=3", "depth is given twice"),
        ("minimax:2,3", "cannot read '3' in the agent 'minimax:2,3': write minimax:DEPTH"),
        ("minimax:2,seconds=1", "minimax has no option 'seconds'"),
        ("alphabeta", "alphabeta: a search needs a limit: depth=, nodes= or seconds="),
        ("alphabeta:hash=1", "needs a limit"),
        ("alphabeta:0", "depth is 0, but must be 1 to 64"),
        ("alphabeta:depth=-1", "depth is -1"),
        ("alphabeta:depth=6.5", "depth is '6.5'"),
        ("alphabeta:nodes=0", "nodes is 0, but must be 1 to "),
        ("alphabeta:nodes=99999999999", "nodes is 99999999999, but must be 1 to "),
        ("alphabeta:seconds=0", "seconds is 0, but must be more than 0"),
        ("alphabeta:seconds=-1", "seconds is -1, but must be more than 0"),
        ("alphabeta:seconds=nan", "seconds is nan|seconds is 'nan'"),
        ("alphabeta:seconds=inf", "seconds is inf|seconds is 'inf'"),
        ("alphabeta:seconds=1e9", "seconds is 1e.09, but must be more than 0 and at most 86400"),
        ("alphabeta:4,hash=-1", "hash is -1 MB, but must be 0 for no table, or 0.001 to "),
        ("alphabeta:4,hash=100000", "hash is 100000 MB"),
        ("alphabeta:4,hash=0.00001", "hash is 1e-05 MB"),
        ("alphabeta:4,hash=nan", "hash is nan|hash is 'nan'"),
        ("alphabeta:4,quiet=2", "quiet is 2, but tic_tac_toe has no noisy moves to follow"),
        ("alphabeta:4,quiet=-1", "quiet is -1, but must be 0 to 32 plies"),
        ("alphabeta:4,quiet=33", "quiet is 33, but must be 0 to 32 plies"),
        ("alphabeta:4,order=perhaps", "order is 'perhaps', but must be true or false"),
        ("alphabeta:4,speed=9", "alphabeta has no option 'speed'"),
    ],
)
def test_another_text_is_refused_in_one_line(name, wrong):
    with pytest.raises(BadInput, match=wrong) as error:
        make_player(name, TIC_TAC_TOE)
    assert "\n" not in str(error.value)


# --- choosing --------------------------------------------------------------------------------------------------------


def worths(game: Game, player: SearchPlayer, states, depth: int) -> list[dict[int, int]]:
    """What each move of each state is worth by plain minimax."""
    rules = Minimax(Lines(game, player.evaluator, states, depth))
    return [
        {move: outlook.worth for move, outlook in rules.moves(root, depth).items()}
        for root in range(len(jax.tree.leaves(states)[0]))
    ]


def nearly_best(moves: dict[int, int], move: int) -> bool:
    """Evaluations may be rounded in another way."""
    return max(moves.values()) - moves[move] <= 4


def test_minimax_chooses_evenly_between_the_best_moves():
    player, number = make_player("minimax:depth=2", TIC_TAC_TOE), 1200
    state = TIC_TAC_TOE.init(KEY)
    for text in ("a1", "a2", "b1", "b3", "c3", "c2"):  # c1 makes the bottom row, b2 the diagonal
        state = step(TIC_TAC_TOE, state, TIC_TAC_TOE.parse_action(state, text))
    states = stack([state] * number)
    moves = np.asarray(player.choose(states, jnp.ones(number, jnp.bool_), KEY))
    wins = [TIC_TAC_TOE.parse_action(state, text) for text in ("c1", "b2")]
    counts = np.bincount(moves, minlength=9)
    assert not player.deterministic
    assert counts[wins].sum() == number and (np.abs(counts[wins] - number / 2) < 5 * (number / 4) ** 0.5).all()


@pytest.mark.parametrize("name", ["minimax:depth=3", "alphabeta:3", slow("alphabeta:3,order=false,hash=0")])
def test_a_best_move_by_the_game_s_own_evaluation_is_chosen_where_it_is_its_turn(name):
    player, states = make_player(name, FOUR), random_positions(FOUR, NUMBER, seed=2)
    turn = np.arange(NUMBER) % 3 != 1
    moves = np.asarray(player.choose(states, jnp.asarray(turn), KEY))
    known = worths(FOUR, player, states, 3)
    assert moves.dtype == np.int32 and moves.shape == (NUMBER,)
    assert all(nearly_best(known[row], int(moves[row])) for row in np.flatnonzero(turn))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["minimax:depth=2", "alphabeta:3"])
def test_moves_do_not_depend_on_the_number_of_cores(monkeypatch, name):
    states, turn, chosen = random_positions(KALAH, NUMBER, seed=2), np.arange(NUMBER) % 5 != 2, []
    for cores in (1, 9):
        monkeypatch.setattr("beamzero.players.player.programs_at_once", lambda *_, cores=cores: cores)
        chosen.append(np.asarray(make_player(name, KALAH).choose(states, turn, jax.random.key(3))))
    assert (chosen[0] == chosen[1]).all()


def test_a_player_that_calls_itself_deterministic_answers_a_position_alike_whatever_stands_beside_it():
    player, states = make_player("alphabeta:3", KALAH), random_positions(KALAH, NUMBER, seed=2)
    assert player.deterministic
    moves = player.choose(states, jnp.ones(NUMBER, jnp.bool_), KEY)
    turned = player.choose(rows(states, slice(None, None, -1)), jnp.ones(NUMBER, jnp.bool_), jax.random.key(1))
    assert (np.asarray(moves) == np.asarray(turned)[::-1]).all()


def test_nothing_compiles_again_for_other_positions():
    player, turns = make_player("alphabeta:3", FOUR), (jnp.ones(NUMBER, jnp.bool_), jnp.arange(NUMBER) < 7)
    player.choose(random_positions(FOUR, NUMBER, seed=2), turns[0], KEY)
    other, key = random_positions(FOUR, NUMBER, seed=9), jax.random.key(1)
    with CompilationCount() as count:
        for turn in turns:
            player.choose(other, turn, key)
    assert count.number == 0


# --- by the clock ----------------------------------------------------------------------------------------------------


def test_a_clocked_player_finds_a_win_however_little_time_it_has():
    player = make_player("alphabeta:seconds=0.001", FOUR)
    states = stack([step(FOUR, FOUR.init(KEY), 3, 0, 3, 0)] * 2)
    result = player.think(states, KEY)
    assert (np.asarray(result.action) == 3).all() and (np.asarray(result.value) == 1).all()
    assert np.asarray(result.proven)[:, 3].all()
    assert np.asarray(player.choose(states, jnp.array([False, True]), KEY))[1] == 3


def test_a_clocked_player_obeys_its_other_limits():
    """With time to spare, it is the player without a clock."""
    states = random_positions(FOUR, NUMBER, seed=2)
    clocked = make_player("alphabeta:3,seconds=3600,hash=0", FOUR)
    plain = make_player("alphabeta:3,hash=0", FOUR)
    for one, other in zip(clocked.think(states, KEY), plain.think(states, KEY), strict=True):
        assert np.array_equal(one, other)


def test_nothing_compiles_once_the_clock_is_running(monkeypatch):
    """Not even what is done with the answer."""
    count = CompilationCount()

    compile_all = drive._Driven.compile

    def compile_then_count(*given):
        compile_all(*given)
        count.__enter__()

    monkeypatch.setattr(drive._Driven, "compile", compile_then_count)
    states = random_positions(FOUR, 1, seed=3)
    make_player("alphabeta:seconds=0.01,hash=0.5", FOUR).think(states, KEY)
    count.__exit__()
    assert count.number == 0
