"""Games that a search plays: legal, recorded as they went, and played by the law that the settings give."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.algorithms.alphazero.self_play import Credit, SearchPlay, play_shards
from beamzero.core.compiler import CompilationCount
from beamzero.core.progress import no_progress
from beamzero.games import make_game
from beamzero.nets import Net, make_joint_evaluator, make_net
from beamzero.search.children import listed_moves
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.features import feature_evaluator
from beamzero.search.mcts.mcts import MCTS
from beamzero.search.targets import TrainingTargets
from beamzero.training.executor import Shard
from tests.training.toy import same_bits

TIC_TAC_TOE = make_game("tic_tac_toe")
KALAH = make_game("kalah:houses=3,seeds=2")  # where a side often moves twice
SEARCH = MCTS(8)
GAMES = 12
KEY = jax.random.key(0)


def shard_plan(game, **changes):
    plan = SearchPlay(games=GAMES, max_turns=game.max_plies, temperature=1.0, sampled_moves=0, greedy_games=0.5)
    return dataclasses.replace(plan, **changes)


@functools.cache
def evaluator(game, seed=1):
    net = Net(game, make_net("mlp:width=16,depth=2"), "joint")
    return make_joint_evaluator(net, jax.jit(net.init)(jax.random.key(seed)))


def play_shard(game, search, plan, judge, first, key, progress=no_progress):
    shard = Shard(first, np.asarray(jax.random.key_data(key)))
    return play_shards(game, search, plan, judge, [shard], progress)[0]


@functools.cache
def searched(game):
    games, evaluations = play_shard(game, SEARCH, shard_plan(game), evaluator(game), 0, KEY)
    return jax.device_get(games), evaluations


def one(states, *place):
    return jax.tree.map(lambda x: x[place], states)


@functools.cache
def compiled(rule):
    return jax.jit(rule)


@functools.partial(jax.jit, static_argnums=(0, 1))
def targets(game, credit, games):
    """What the value is to learn, in one program."""
    return games.targets(game, credit)


def replay(game, games, number):
    """The actions of one game, found by trying all legal moves on the host, up to where it stands now."""
    step, over = compiled(game.step), compiled(game.over)
    length = int(games.played[:, number].sum())
    states = [*(one(games.states, ply, number) for ply in range(length)), one(games.now, number)]
    assert same_bits(states[0], game.init(KEY))
    actions = []
    for before, after in itertools.pairwise(states):
        assert not over(before)
        fits = [a for a in game.legal_actions(before) if same_bits(step(before, jnp.int32(a)), after)]
        assert len(fits) == 1, "the next state is a successor by one legal move"
        actions += fits
    return actions


@pytest.mark.parametrize("game", [pytest.param(TIC_TAC_TOE, marks=pytest.mark.slow), KALAH], ids=lambda game: game.name)
def test_games_are_legal_and_recorded_as_they_went(game):
    games, _ = searched(game)
    outcome = np.asarray(targets(game, Credit(), games))
    over, score, player = (compiled(rule) for rule in (game.over, game.score, game.player))
    ends, twice, not_best = set(), 0, 0
    for number in range(GAMES):
        length = int(games.played[:, number].sum())
        assert games.played[:length, number].all() and over(one(games.now, number)), "played to the end"
        result = float(score(one(games.now, number)))
        movers = [int(player(one(games.states, ply, number))) for ply in range(length)]
        assert outcome[:length, number].tolist() == [result if mover == 0 else -result for mover in movers]
        ends |= {result}
        twice += sum(a == b for a, b in itertools.pairwise(movers))
        for ply, action in enumerate(replay(game, games, number)):
            legal = game.legal_actions(one(games.states, ply, number))
            policy = games.policy[ply, number].astype(float)
            assert policy[: len(legal)].sum() == pytest.approx(1, abs=2e-3) and not policy[len(legal) :].any()
            chosen = policy[legal.index(action)]
            assert chosen > 0, "only what was tried is played"
            if games.greedy[number]:
                assert chosen == policy.max()
            not_best += chosen < policy.max()
    assert games.greedy.tolist() == [False, True] * (GAMES // 2)
    assert ends >= {1.0, -1.0} and not_best > 5
    assert (twice > GAMES) == (game is KALAH)


def test_what_is_recorded_is_what_the_search_finds_there():
    games, evaluations = searched(TIC_TAC_TOE)
    find_targets = jax.jit(functools.partial(SEARCH.search_targets, TIC_TAC_TOE, pick=lambda draw, best: best))
    asked = 0
    for ply in range(int(games.ply)):
        found = jax.device_get(find_targets(evaluator(TIC_TAC_TOE), one(games.states, ply), KEY))
        played = games.played[ply]
        np.testing.assert_array_equal(found.policy.astype(np.float16)[played], games.policy[ply][played])
        np.testing.assert_allclose(found.value[played], games.value[ply][played], atol=1e-6)
        asked += int(found.evaluations[played].sum())
    # A search asks once about its root and once in each simulation that ends in a new position that is not final.
    assert asked == evaluations <= games.played.sum() * (SEARCH.sims + 1)
    assert evaluations > games.played.sum() * SEARCH.sims / 2


def test_the_same_key_gives_the_same_games_and_new_weights_compile_nothing():
    games, evaluations = searched(TIC_TAC_TOE)
    judge, other = evaluator(TIC_TAC_TOE), evaluator(TIC_TAC_TOE, seed=2)
    # What was compiled for the games above may have been forgotten since.
    play_shard(TIC_TAC_TOE, SEARCH, shard_plan(TIC_TAC_TOE), judge, 0, KEY)
    with CompilationCount() as count:
        again = play_shard(TIC_TAC_TOE, SEARCH, shard_plan(TIC_TAC_TOE), judge, 0, KEY)
        others = [
            play_shard(TIC_TAC_TOE, SEARCH, shard_plan(TIC_TAC_TOE), net, first, key)[0]
            for net, first, key in [(judge, GAMES, jax.random.key(1)), (other, 1, KEY)]
        ]
    assert count.number == 0
    assert same_bits(games, again[0]) and evaluations == again[1]
    assert not any(same_bits(games.states, games_of_others.states) for games_of_others in others)
    assert others[1].greedy.tolist() == [True, False] * (GAMES // 2), "game 1 of the run is greedy, not the first"


# --- the law, with a search that says the same everywhere ------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Same:
    """Rising shares for the moves; to play, the first."""

    def search_targets(self, game, evaluator, states, key, pick) -> TrainingTargets:
        listed = listed_moves(game, states)[2]
        share = jnp.where(listed, jnp.arange(1, game.max_moves + 1, dtype=jnp.float32)[None], 0.0)
        share /= jnp.sum(share, axis=1, keepdims=True)
        best = jnp.zeros(listed.shape[0], jnp.int32)
        running = (~jax.vmap(game.over)(states)).astype(jnp.int32)
        moves = jnp.take_along_axis(jax.vmap(game.moves)(states)[0], pick(share, best)[:, None], axis=1)[:, 0]
        after = jax.vmap(game.step)(states, moves)
        return TrainingTargets(share, share, best, after, jnp.zeros(listed.shape[0], jnp.float32), running)


def play_same(first=0, progress=no_progress, **changes):
    plan = shard_plan(TIC_TAC_TOE, **{"greedy_games": 0.0, **changes})
    games, asked = play_shard(TIC_TAC_TOE, Same(), plan, zero_evaluator(TIC_TAC_TOE), first, KEY, progress)
    return jax.device_get(games), asked


def slots(games, number) -> list[int]:
    """Which of the legal moves was played, ply by ply."""
    states = [one(games.states, ply, number) for ply in range(9)]
    moves = replay(TIC_TAC_TOE, games, number)
    return [TIC_TAC_TOE.legal_actions(state).index(move) for state, move in zip(states, moves, strict=False)]


def test_moves_are_drawn_by_their_shares_to_the_power_of_one_over_the_temperature():
    games, _ = play_same(games=4000, max_turns=1, temperature=0.5)
    seen = np.bincount(np.log2(games.now.stones[:, 0]).astype(int), minlength=9) / 4000
    np.testing.assert_allclose(seen, np.arange(1, 10) ** 2 / 285, atol=4 * 0.5 / np.sqrt(4000))


def test_the_best_move_is_played_in_greedy_games_and_after_the_sampled_moves():
    greedy, sampled = [], []
    for first in (0, 4, 8, 12):  # iterations of four games
        games, _ = play_same(first, games=4, greedy_games=0.3, sampled_moves=2)
        greedy += [first + number for number in range(4) if games.greedy[number]]
        for number in range(4):
            played = slots(games, number)
            assert not any(played if games.greedy[number] else played[2:])
            sampled += [] if games.greedy[number] else played[:2]
    assert greedy == [3, 6, 9, 13], "spread evenly over the run: after so many games, the whole part of 0.3 times that"
    assert sum(slot > 0 for slot in sampled) > len(sampled) / 2


@pytest.mark.slow
@pytest.mark.parametrize(("share", "scale"), [(0.5, 0.2), (1.0, 1.0)])
def test_a_cut_game_may_count_as_a_share_of_what_the_evaluation_says(share, scale):
    """In Kalah the side ahead in stores is ahead; games that are over count as they ended all the same."""
    plan = shard_plan(KALAH, max_turns=6, adjudicate=share, adjudicate_scale=scale)
    games = jax.device_get(play_shard(KALAH, SEARCH, plan, evaluator(KALAH), 0, KEY)[0])
    outcome = np.asarray(targets(KALAH, Credit(), games))
    result, own_evaluation = np.zeros(GAMES), jax.jit(feature_evaluator(KALAH).value)
    player, over, score = (compiled(rule) for rule in (KALAH.player, KALAH.over, KALAH.score))
    cut = 0
    for number in range(GAMES):
        now = one(games.now, number)
        sign = 1 - 2 * int(player(now))
        if over(now):
            result[number] = score(now)
        else:
            cut += 1
            value = float(own_evaluation(jax.tree.map(lambda x: x[None], now))[0])
            result[number] = share * sign * np.tanh(scale * np.arctanh(value))
        sides = 1 - 2 * np.array([int(player(one(games.states, ply, number))) for ply in range(6)])
        np.testing.assert_allclose(outcome[:, number], sides * result[number], atol=1e-6)
    assert 0 < cut < GAMES and len({round(x, 3) for x in result}) > 3, "some games were cut, with different results"


def test_a_result_counts_for_less_the_later_it_comes():
    games, _ = play_same(games=40)
    whole, faded = (np.asarray(targets(TIC_TAC_TOE, Credit(discount=share), games)) for share in (1.0, 0.5))
    for number in range(40):
        for ply, left in enumerate(range(games.played[:, number].sum(), 0, -1)):
            assert faded[ply, number] == whole[ply, number] * 0.5**left
    assert whole[games.played].any() and not whole[games.played].all(), "games were won, and games were drawn"


def test_a_cut_game_is_a_draw_and_finished_games_are_told():
    told: list[int] = []
    whole, asked = play_same(games=40, progress=lambda done, total: told.append(done))
    cut, asked_before = play_same(games=40, max_turns=6)
    assert same_bits(one(whole.states, slice(6)), cut.states), "the same games, as far as they go"
    going_on = whole.played.sum(axis=0) > 6
    assert going_on.any() and not going_on.all()
    outcome, full = (np.asarray(targets(TIC_TAC_TOE, Credit(), games)) for games in (cut, whole))
    assert (outcome[:, going_on] == 0).all() and cut.played[:, going_on].all()
    ended = np.flatnonzero(~going_on)
    played = cut.played[:, ended]
    assert (outcome[:, ended][played] == full[:6, ended][played]).all() and outcome[:, ended][played].any()
    assert (asked_before, asked) == (cut.played.sum(), whole.played.sum()), "one evaluation a running game and ply"
    ends = whole.played.sum(axis=0)
    assert told == [int((ends <= ply).sum()) for ply in range(1, len(told) + 1)] and told[-1] == 40


@pytest.mark.slow
def test_a_share_of_the_games_own_evaluation_of_each_state_is_taken_from_that_of_the_result():
    games = jax.device_get(play_shard(KALAH, SEARCH, shard_plan(KALAH, max_turns=6), evaluator(KALAH), 0, KEY)[0])
    plain, mixed, searched = (
        np.asarray(targets(KALAH, credit, games))
        for credit in (Credit(), Credit(evaluation=0.3, search_value=0.2), Credit(search_value=1.0))
    )
    says = jax.jit(feature_evaluator(KALAH).value)
    evaluated = np.stack([np.asarray(says(jax.tree.map(lambda x: x[ply], games.states))) for ply in range(6)])
    played = np.asarray(games.played)
    np.testing.assert_allclose(mixed[played], (0.5 * plain + 0.3 * evaluated + 0.2 * searched)[played], atol=1e-6)
    assert len(np.unique(evaluated[played].round(3))) > 3, "states are worth different things"


# --- playing on ------------------------------------------------------------------------------------------------------


def each_game(games, place):
    """The first and the last ply of each game of a place."""
    lasts = np.flatnonzero(games.ended[:, place]).tolist()
    return list(zip([0, *(last + 1 for last in lasts)], lasts, strict=False))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "max_turns"),
    [(TIC_TAC_TOE, 9), (KALAH, 7)],
    ids=["whole games", "cut games"],
)
def test_where_a_game_ended_the_next_one_begins_until_the_time_is_up(game, max_turns):
    on = 20
    plan = shard_plan(game, play_on=on, max_turns=max_turns, random_plies=3)
    games = jax.device_get(play_shard(game, SEARCH, plan, evaluator(game), 0, KEY)[0])
    outcome = np.asarray(targets(game, Credit(discount=0.5), games))
    step, over, score, player = (compiled(rule) for rule in (game.step, game.over, game.score, game.player))
    results, begun, were_cut = set(), 0, 0
    for place in range(GAMES):
        for number, (first, last) in enumerate(each_game(games, place)):
            begun += 1
            assert first <= on, "none begins when the time is up"
            assert games.played[first : last + 1, place].all() and last - first < max_turns
            opening = one(games.openings, number % plan.openings, place)
            assert same_bits(one(games.states, first, place), opening), "each begins where it should"
            for ply in range(first, last):
                before, after = (one(games.states, which, place) for which in (ply, ply + 1))
                assert any(same_bits(step(before, jnp.int32(a)), after) for a in game.legal_actions(before))
            ends = [
                step(one(games.states, last, place), jnp.int32(a))
                for a in game.legal_actions(one(games.states, last, place))
            ]
            result = float(games.result[last, place])
            finished = {float(score(end)) for end in ends if over(end)}
            cut = last - first == max_turns - 1
            were_cut += cut and result not in finished
            assert result in finished or (cut and result == 0)
            results |= {result}
            for ply in range(first, last + 1):
                side = 1 - 2 * int(player(one(games.states, ply, place)))
                assert outcome[ply, place] == side * result * 0.5 ** (last + 1 - ply)
        assert not games.played[last + 1 :, place].any(), "and then the place is empty"
        assert last >= on, "until then no place waits"
    assert begun > 2 * GAMES and results >= {1.0, -1.0} and (were_cut > 0) == (game is KALAH)
    assert (
        len({tuple(map(int, jax.tree.leaves(one(games.openings, 1, place))[0].ravel())) for place in range(GAMES)}) > 2
    )


@pytest.mark.slow
def test_a_shard_that_plays_on_begins_with_the_games_of_one_that_does_not():
    told: list[int] = []
    plain, (on, _) = (
        play_same(games=40)[0],
        play_same(games=40, play_on=12, progress=lambda done, total: told.append(done)),
    )
    assert told == sorted(told) and told[0] == 40 // 21 and told[-1] == 40
    for place in range(40):
        first, last = each_game(on, place)[0]
        assert first == 0 and last + 1 == plain.played[:, place].sum()
        assert same_bits(one(on.states, slice(last + 1), place), one(plain.states, slice(last + 1), place))


@pytest.mark.slow
def test_a_place_whose_last_game_was_cut_asks_nothing_more():
    cut, asked = play_same(games=8, play_on=12, max_turns=6)
    assert asked == cut.played.sum() < 8 * int(cut.ply), "one evaluation a running game and ply"
    lengths = [last + 1 - first for place in range(8) for first, last in each_game(cut, place)]
    assert min(lengths) < 6 == max(lengths), "some were cut"


# --- openings --------------------------------------------------------------------------------------------------------


def net_that_likes_low_numbers():
    def scores(weights, states):
        batch = jax.tree.leaves(states)[0].shape[0]
        return jnp.tile(-jnp.arange(9, dtype=jnp.float32), (batch, 1))

    return zero_evaluator(TIC_TAC_TOE)._replace(scores=jax.tree_util.Partial(scores, None))


@functools.cache
def boards_where_one_side_takes_the_first_square(side):
    """All that can come of that, as stones; it takes any other square where the first would end the game."""
    step, over, player = compiled(TIC_TAC_TOE.step), compiled(TIC_TAC_TOE.over), compiled(TIC_TAC_TOE.player)
    found, new = set(), [TIC_TAC_TOE.init(KEY)]
    while new:
        state = new.pop()
        stones = tuple(state.stones.tolist())
        if stones in found:
            continue
        found.add(stones)
        after = [step(state, jnp.int32(a)) for a in TIC_TAC_TOE.legal_actions(state)]
        if int(player(state)) == side and not over(after[0]):
            after = after[:1]
        new += [state for state in after if not over(state)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("play_on", [0, 8])
def test_with_a_handicap_one_side_of_the_opening_is_the_nets_and_the_other_random(play_on):
    plan = shard_plan(TIC_TAC_TOE, games=60, max_turns=1, play_on=play_on, random_plies=8, handicap=0.5)
    fair = dataclasses.replace(plan, handicap=0.0)
    judge = net_that_likes_low_numbers()
    (games, asked), (others, asked_fairly) = (
        jax.device_get(play_shard(TIC_TAC_TOE, Same(), one_plan, judge, 0, KEY)) for one_plan in (plan, fair)
    )
    boards = [boards_where_one_side_takes_the_first_square(side) for side in (0, 1)]

    def fits(games, place) -> list[tuple[bool, bool]]:
        stones = [tuple(games.openings.stones[number, place].tolist()) for number in range(plan.openings)]
        return [(board in boards[0], board in boards[1]) for board in stones]

    handicapped = [one for place in range(30) for one in fits(games, place)]
    assert all(any(one) for one in handicapped)
    assert {(True, False), (False, True)} <= set(handicapped), "each side is at a disadvantage now and then"
    assert not all(any(one) for place in range(30, 60) for one in fits(games, place)), "the other places are as before"
    assert same_bits(one(games.openings, slice(None), slice(30, 60)), one(others.openings, slice(None), slice(30, 60)))
    assert not same_bits(games.openings, others.openings)
    assert same_bits(one(games.states, 0), one(games.openings, 0)), "the first games begin there too"

    # Openings have four moves on average, two of them the net's; less where a game could not go on.
    in_openings = asked - asked_fairly
    assert 1.2 < in_openings / (30 * plan.openings) < 2.4, "what the net was asked there counts"


@pytest.mark.slow
def test_dice_are_rolled_in_openings_with_a_handicap():
    game = make_game("backgammon")
    plan = shard_plan(game, games=4, max_turns=2, random_plies=6, handicap=1.0)
    games = jax.device_get(play_shard(game, Same(), plan, zero_evaluator(game), 0, KEY)[0])
    states = jax.tree.map(lambda x: x[:2].reshape(-1, *x.shape[2:]), games.states)
    assert set(np.asarray(jax.jit(jax.vmap(game.player))(states)).tolist()) == {0, 1}, "never the dice"


def test_a_share_of_few_places_is_one_of_them_at_least():
    wanted = {0.0: 0, 0.05: 1, 0.5: 4, 0.7: 6, 1.0: 8}
    assert {share: shard_plan(TIC_TAC_TOE, games=8, handicap=share).handicapped for share in wanted} == wanted
    assert shard_plan(TIC_TAC_TOE, games=10, handicap=0.7).handicapped == 7
