"""Battles: fair to both sides, the same by the same seed, and the same as games played one move at a time."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.arena import playing
from beamzero.arena.battle import _results, battle
from beamzero.arena.openings import as_bytes, draw_openings, usual_plies
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.nets import Net, make_evaluator, make_net
from beamzero.players import Player, SearchPlayer, make_player
from beamzero.players.analysis import step
from beamzero.records.record import records_of
from beamzero.search.simple import OneLook
from tests.search.test_mcts_chance import Dice

TIC_TAC_TOE = make_game("tic_tac_toe")
SMALL = make_game("connect_four:rows=4,columns=4,length=3")
CONNECT_FOUR = make_game("connect_four")
DICE = Dice()

# Random players have as many games as in the first test, and nets play on one board: so they share programs.


@functools.cache
def net_player(game, seed, search=None):
    """Chooses by nets with random weights: the same move in the same position, always."""
    value, scores = (Net(game, make_net("mlp:width=16,depth=2"), head) for head in ("value", "scores"))
    keys = jax.random.split(jax.random.key(seed))
    evaluator = make_evaluator(value, value.init(keys[0]), scores, scores.init(keys[1]))
    return SearchPlayer(f"net {seed}", game, search or OneLook(), evaluator)


def test_random_against_itself_is_even():
    random = make_player("random", TIC_TAC_TOE)
    played = battle(TIC_TAC_TOE, random, random, games=2000, seed=1)
    assert played.interval.low <= 0.5 <= played.interval.high
    first, second = played.tally(0), played.tally(1)
    assert first.wins > 1.5 * first.losses and second.losses > 1.5 * second.wins, "the first move is worth a lot"


@pytest.mark.parametrize(
    ("stronger", "weaker", "score"),
    [
        ("lookahead:1", "random", 0.76),
        pytest.param("lookahead:2", "lookahead:1", 0.90, marks=pytest.mark.slow),
        pytest.param("lookahead:3", "lookahead:2", 0.66, marks=pytest.mark.slow),
    ],
)
def test_the_papers_lookahead_agents_score_as_in_its_readme(stronger, weaker, score):
    """The readme of PROBS gives 0.751, 0.911 and 0.663."""
    players = [make_player(name, CONNECT_FOUR) for name in (stronger, weaker)]
    assert battle(CONNECT_FOUR, *players, games=400, seed=0).score == pytest.approx(score, abs=0.06)


def test_a_battle_is_the_mirror_image_of_itself_with_the_names_swapped():
    """Both play every opening with both colours, so between deterministic players nothing is left to chance."""
    one, other = net_player(SMALL, 0), net_player(SMALL, 1)
    forth, back = battle(SMALL, one, other, games=60), battle(SMALL, other, one, games=60)
    assert (forth.pair_scores == 1 - back.pair_scores[:, ::-1]).all()
    assert forth.score == pytest.approx(1 - back.score) and 0 < forth.score < 1
    assert (forth.tally().wins, forth.tally().draws) == (back.tally().losses, back.tally().draws)
    against_itself = battle(SMALL, one, one, games=60)
    assert (against_itself.pair_scores.sum(axis=1) == 1).all(), "an opening is worth the same to whoever gets it"


def test_tallies_by_side_add_up():
    played = battle(TIC_TAC_TOE, make_player("lookahead:1", TIC_TAC_TOE), make_player("random", TIC_TAC_TOE), games=60)
    sides = [played.tally(side) for side in (0, 1)]
    whole = played.tally()
    assert played.games == 60 and played.pair_scores.shape == (30, 2)
    for kind in ("wins", "draws", "losses"):
        assert sum(getattr(side, kind) for side in sides) == getattr(whole, kind)
    assert whole.wins + whole.draws + whole.losses == 60
    assert played.score == pytest.approx((whole.wins + whole.draws / 2) / 60)
    assert set(np.unique(played.pair_scores)) <= {0, 0.5, 1}
    assert played.interval.low < played.score < played.interval.high
    assert (played.game, played.agents) == ("tic_tac_toe", ("lookahead:1", "random"))


def test_the_same_seed_gives_the_same_battle():
    players = [make_player(name, TIC_TAC_TOE) for name in ("lookahead:1", "random")]
    one, same, other = (battle(TIC_TAC_TOE, *players, games=60, seed=seed) for seed in (3, 3, 4))
    assert (one.pair_scores == same.pair_scores).all() and one.interval == same.interval
    assert (one.pair_scores != other.pair_scores).any()


def test_progress_is_told_to_its_end():
    told: list[tuple[int, int]] = []
    random = make_player("random", TIC_TAC_TOE)
    battle(TIC_TAC_TOE, random, random, games=2000, progress=lambda *args: told.append(args))
    assert told[0] == (0, 2000) and told[-1] == (2000, 2000) and told == sorted(told)


@pytest.mark.parametrize("games", [-2, 0, 1, 3, 101])
def test_an_odd_number_of_games_is_refused(games):
    random = make_player("random", TIC_TAC_TOE)
    with pytest.raises(BadInput, match=f"games is {games}, but must be an even number, 2 or more"):
        battle(TIC_TAC_TOE, random, random, games=games)


@pytest.mark.parametrize("plies", [-1, 5])
def test_too_many_random_plies_are_refused(plies):
    random = make_player("random", TIC_TAC_TOE)
    with pytest.raises(BadInput, match=f"random plies is {plies}, but must be 0 to 4"):
        battle(TIC_TAC_TOE, random, random, games=2, random_plies=plies)


# --- against a plain loop --------------------------------------------------------------------------------------------


@functools.partial(jax.jit, static_argnums=0)
def look(game, state):
    """Whether a game is over, whose turn it is, and the score."""
    return game.over(state), game.player(state), game.score(state)


def plain_game(game, first: Player, second: Player, state, first_side: int) -> tuple[float, int]:
    """One game, one move at a time: the first-named player's score, and the plies it took."""
    plies = 0
    while not (found := look(game, state))[0]:
        player = first if int(found[1]) == first_side else second
        thought = player.think(jax.tree.map(lambda x: np.asarray(x)[None], state), jax.random.key(0))
        action = int(np.asarray(thought.action)[0])
        assert action in game.legal_actions(state)
        state = step(game, state, action)
        plies += 1
    return (float(found[2]) * (1 - 2 * first_side) + 1) / 2, plies


def test_it_is_what_a_plain_loop_over_the_same_openings_gives():
    """With one look at a net, that is: a search meets moves of equal value, and draws between them by its key."""
    one, other = net_player(SMALL, 0), net_player(SMALL, 1)
    played = battle(SMALL, one, other, games=60, seed=8)
    openings, opened_by, *_ = draw_openings(SMALL, 30, 2, jax.random.fold_in(jax.random.key(8), 0), distinct=True)
    plies = opened_by.shape[1]
    scores, lengths = np.zeros((30, 2)), []
    for number in range(30):
        opening = jax.tree.map(lambda x, number=number: x[number], openings)
        for side in (0, 1):
            scores[number, side], length = plain_game(SMALL, one, other, opening, side)
            lengths.append(length + plies)
    assert (played.pair_scores == scores).all()
    assert played.random_plies == plies
    assert played.mean_plies == pytest.approx(np.mean(lengths))
    assert (played.moves >= 0).sum(axis=1).reshape(2, 30).T.ravel().tolist() == lengths


@pytest.mark.parametrize(
    ("game", "agent", "most"),
    [(SMALL, "lookahead:1", 40), pytest.param(DICE, "random", 2, marks=pytest.mark.slow)],
    ids=lambda value: getattr(value, "name", None),
)
def test_whole_games_in_one_program_are_those_of_the_loop(game, agent, most, monkeypatch):
    """Until they are over, and with dice, until they are cut."""
    monkeypatch.setattr(playing, "_PLIES_AT_ONCE", 1)
    first, second = (make_player(one, game) for one in (agent, "random"))
    openings = draw_openings(game, 6, usual_plies(game), jax.random.key(3), distinct=False)
    first_side = jnp.array([0, 1, 0, 1, 1, 0], jnp.int32)
    told = []
    key = jax.random.key(5)
    match = playing.Match(game, first, second, openings.states, first_side, openings.moves, key, most)
    one = playing.play_by_turns(match)
    other = playing.play_as_one(match, lambda *progress: told.append(progress))
    for expected, found in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert np.array_equal(expected, found)
    assert (one.outcomes >= 0).any() == (game == DICE) and len(told) > 1
    assert told[0][0] < 6 and (told[-1] == (6, 6)) == (game == SMALL), "it says how far it is"


def test_its_moves_lead_to_its_results():
    played = battle(SMALL, net_player(SMALL, 0), net_player(SMALL, 1), games=60, seed=8)
    for number, moves in enumerate(played.moves):
        state = SMALL.init(jax.random.key(0))
        for action in moves[: (moves >= 0).sum()].tolist():
            assert action in SMALL.legal_actions(state)
            state = step(SMALL, state, action)
        seat, opening = divmod(number, 30)
        over, _, score = look(SMALL, state)
        assert over and played.pair_scores[opening, seat] == (float(score) * (1 - 2 * seat) + 1) / 2


def test_a_longest_game_cuts_only_what_is_longer_and_draws_it():
    random = make_player("random", TIC_TAC_TOE)
    whole = battle(TIC_TAC_TOE, random, random, games=200, seed=3)
    played = battle(TIC_TAC_TOE, random, random, games=200, seed=3, longest=7)
    lengths = (whole.moves >= 0).sum(axis=1)
    over = (lengths <= 7).reshape(2, -1).T
    assert played.cut == (~over).sum() > 0
    assert (played.moves[:, :7] == whole.moves[:, :7]).all() and played.moves.shape[1] == 7
    assert (played.pair_scores == np.where(over, whole.pair_scores, 0.5)).all()
    assert [record.result for record in records_of(TIC_TAC_TOE, played)].count(0.0) >= played.cut


@pytest.mark.parametrize("longest", [2, 0, 10])
def test_a_longest_game_that_the_rules_do_not_know_is_refused(longest):
    random = make_player("random", TIC_TAC_TOE)
    with pytest.raises(BadInput, match=rf"longest is {longest}, but must be 3 to 9 plies"):
        battle(TIC_TAC_TOE, random, random, games=2, longest=longest)


# --- openings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plies", [0, 1, 2, 3])
def test_an_opening_has_that_many_random_moves_and_is_not_over(plies):
    openings, moves, *_ = draw_openings(TIC_TAC_TOE, 64, plies, jax.random.key(0), distinct=False)
    assert moves.shape == (64, plies)
    stones = np.bitwise_count(np.asarray(openings.stones))
    assert (stones == [(plies + 1) // 2, plies // 2]).all()
    assert not _results(TIC_TAC_TOE, openings)[0].any()
    if plies == 1:
        squares = np.bincount(np.log2(np.asarray(openings.stones[:, 0])).astype(int), minlength=9)
        assert (squares > 0).all(), "every first move comes up"


def test_for_deterministic_players_all_openings_differ():
    openings, moves, *_ = draw_openings(CONNECT_FOUR, 100, 2, jax.random.key(0), distinct=True)
    assert len(np.unique(as_bytes(openings), axis=0)) == 100
    assert moves.shape[1] > 2, "after two plies there are only 49 positions"
    one, other = net_player(SMALL, 0), net_player(SMALL, 1)
    played = battle(SMALL, one, other, games=60, random_plies=2)
    assert played.openings == 30 and played.random_plies > 2


def test_a_game_that_has_too_few_openings_is_played_with_those_it_has():
    one, other = net_player(TIC_TAC_TOE, 0), net_player(TIC_TAC_TOE, 1)
    played = battle(TIC_TAC_TOE, one, other, games=2000, random_plies=0)
    assert played.random_plies == 3 and played.games == 2 * played.openings, "no game twice"
    # 9 * 8 * 7 / 2 positions after three plies.
    assert 200 < played.openings <= 252


def test_random_players_need_no_longer_openings():
    random, fixed = make_player("random", SMALL), net_player(SMALL, 0)
    played = battle(SMALL, random, fixed, games=60, random_plies=2)
    assert played.random_plies == 2 and played.openings <= 16


def test_no_random_plies_are_one_opening():
    random = make_player("random", TIC_TAC_TOE)
    played = battle(TIC_TAC_TOE, random, random, games=2000, random_plies=0)
    assert (played.random_plies, played.openings) == (0, 1) and 5 <= played.mean_plies <= 9
