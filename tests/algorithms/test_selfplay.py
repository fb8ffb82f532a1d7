"""Self-play: legal games, results from the mover's side, and the paper's law for choosing moves."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.algorithms.probs.self_play import SelfPlay, move_probabilities, self_play
from beamzero.games import CHANCE, make_game
from beamzero.nets import Net, make_evaluator, make_net

TIC_TAC_TOE = make_game("tic_tac_toe")
SMALL = make_game("connect_four:rows=4,columns=4,length=3")
OTHELLO = make_game("othello:size=4")  # fewer slots than actions, and passes
PLAY = SelfPlay(games=24, max_turns=16, temperature=0.5, noise=0.25, sampled_moves=0)


@functools.cache
def evaluator(game):
    value, scores = (Net(game, make_net("mlp:width=16,depth=2"), head) for head in ("value", "scores"))
    weights = jax.jit(value.init)(jax.random.key(1)), jax.jit(scores.init)(jax.random.key(2))
    return make_evaluator(value, weights[0], scores, weights[1])


@functools.cache
def compiled(rule):
    return jax.jit(rule)


def one(states, *place):
    return jax.tree.map(lambda x: x[place], states)


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def replay(game, games, number):
    """The actions of one game, found by trying all legal moves, and its last state."""
    length = int(games.length[number])
    actions = []
    step, over = compiled(game.step), compiled(game.over)
    states = [one(games.states, number, ply) for ply in range(length)]
    for before, after in itertools.pairwise(states):
        assert not over(before)
        fits = [a for a in game.legal_actions(before) if same(step(before, jnp.int32(a)), after)]
        assert len(fits) == 1, "the next state is a successor by one legal move"
        actions += fits
    return actions, states[-1]


@pytest.mark.parametrize(
    "game",
    [TIC_TAC_TOE, *(pytest.param(game, marks=pytest.mark.slow) for game in (SMALL, OTHELLO))],
    ids=lambda game: game.name,
)
def test_games_are_legal_and_their_outcomes_are_the_movers(game):
    settings = dataclasses.replace(PLAY, max_turns=game.max_plies)
    games = jax.device_get(self_play(game, settings, evaluator(game), jax.random.key(0)))
    assert games.played.shape == games.outcome.shape == (24, game.max_plies)
    assert (games.length == games.played.sum(axis=1)).all()
    ends = set()
    start = jax.jit(game.init)(jax.random.key(0))
    step, over, score, player = (compiled(f) for f in (game.step, game.over, game.score, game.player))
    for number in range(24):
        length = int(games.length[number])
        assert games.played[number, :length].all() and not games.played[number, length:].any(), "a prefix"
        assert same(one(games.states, number, 0), start)
        _, last = replay(game, games, number)
        # The move that ended the game is not stored, but its result must be that of one that could be played.
        results = {float(score(end)) for a in game.legal_actions(last) if over(end := step(last, jnp.int32(a)))}
        signs = np.array([1 - 2 * int(player(one(games.states, number, ply))) for ply in range(length)])
        for_first = set((games.outcome[number, :length] * signs).tolist())
        assert len(for_first) == 1 and for_first <= results
        ends |= for_first
    assert ends >= {1.0, -1.0}, "both sides win, so that a wrong sign would show"


@pytest.mark.slow
def test_dice_are_thrown_between_the_turns_and_the_positions_before_that_are_kept():
    game = make_game("backgammon")
    settings = dataclasses.replace(PLAY, games=8, max_turns=250)
    games = jax.device_get(self_play(game, settings, evaluator(game), jax.random.key(0)))
    moved, thrown = (jax.jit(jax.vmap(way, (None, 0))) for way in (game.step, game.resolve))
    player = compiled(game.player)
    seen = 0
    for number, ply in itertools.product(range(8), range(0, 60, 7)):
        before, roll, after = (one(x, number, t) for x, t in (
            (games.states, ply), (games.rolls.states, ply), (games.states, ply + 1)
        ))  # fmt: skip
        actions = jnp.array(game.legal_actions(before), jnp.int32)
        reached = jax.device_get(moved(before, jnp.resize(actions, game.max_moves)))
        assert any(same(roll, one(reached, i)) for i in range(len(actions)))
        assert games.rolls.played[number, ply] == (int(player(roll)) == CHANCE)
        if games.rolls.played[number, ply]:
            faces = jax.device_get(thrown(roll, jnp.arange(game.num_chance)))
            assert any(same(after, one(faces, i)) for i in range(game.num_chance))
            seen += 1
        else:
            assert same(roll, after)
    assert 10 < seen < 60
    sides, next_sides = (1 - 2 * x.side.astype(np.float32) for x in (games.states, games.rolls.states))
    assert (games.rolls.outcome * next_sides == games.outcome * sides)[games.rolls.played].all()
    assert (games.outcome[:, 0] != 0).any(), "some games end, so that a wrong sign would show"


@pytest.mark.slow
def test_the_winner_is_the_one_who_moved_last():
    """In these games nobody loses by his own move, so the last mover's result is never -1."""
    for game in (TIC_TAC_TOE, SMALL):
        settings = dataclasses.replace(PLAY, games=200, max_turns=game.max_plies)
        games = jax.device_get(self_play(game, settings, evaluator(game), jax.random.key(1)))
        rows = np.arange(200)
        last = games.outcome[rows, games.length - 1]
        assert 1.0 in last and set(last.tolist()) <= {0.0, 1.0}
        assert (games.outcome[rows, games.length - 2] == -last).all()


def test_a_cut_game_is_a_draw():
    settings = dataclasses.replace(PLAY, games=64, max_turns=6)
    games = jax.device_get(self_play(TIC_TAC_TOE, settings, evaluator(TIC_TAC_TOE), jax.random.key(0)))
    whole = jax.device_get(
        self_play(TIC_TAC_TOE, dataclasses.replace(settings, max_turns=9), evaluator(TIC_TAC_TOE), jax.random.key(0))
    )
    assert same(jax.tree.map(lambda x: x[:, :6], whole.states), games.states), "the same games, as far as they go"
    cut = whole.length > 6
    assert cut.any() and not cut.all()
    assert (games.length[cut] == 6).all() and (games.outcome[cut] == 0).all()
    assert (games.outcome[~cut][:, :5] == whole.outcome[~cut][:, :5]).all() and (games.outcome[~cut][:, 0] != 0).any()


def test_the_same_key_gives_the_same_games():
    play = [self_play(TIC_TAC_TOE, PLAY, evaluator(TIC_TAC_TOE), jax.random.key(k)) for k in (3, 3, 4)]
    assert same(jax.tree.leaves(play[0]), jax.tree.leaves(play[1]))
    assert not same(jax.tree.leaves(play[0]), jax.tree.leaves(play[2]))


@pytest.mark.parametrize("game", [SMALL, pytest.param(OTHELLO, marks=pytest.mark.slow)], ids=lambda game: game.name)
def test_after_the_sampled_moves_the_best_one_is_played(game):
    judge = evaluator(game)
    settings = dataclasses.replace(PLAY, sampled_moves=3, noise=1.0)
    games = jax.device_get(self_play(game, settings, judge, jax.random.key(0)))
    scores = np.asarray(jax.jit(judge.scores)(jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), games.states)))
    scores = scores.reshape(24, 16, game.num_actions)
    sampled_were_best = []
    for number in range(24):
        actions, _ = replay(game, games, number)
        for ply, action in enumerate(actions):
            legal = game.legal_actions(one(games.states, number, ply))
            best = max(legal, key=lambda a: scores[number, ply, a])
            if ply >= 3:
                assert action == best
            else:
                sampled_were_best.append(action == best)
    assert not all(sampled_were_best)


# --- the law ---------------------------------------------------------------------------------------------------------

LISTED = np.array([True, True, True, True, False])
SCORES = np.array([0.3, -0.2, 0.1, 0.0, -np.inf], np.float32)


def probabilities(noise=0.25, temperature=0.7):
    settings = SelfPlay(1, 1, temperature, noise, 0)
    return np.asarray(move_probabilities(jnp.asarray(SCORES[None]), settings), np.float64)[0]


def softmax(temperature):
    weights = np.where(LISTED, np.exp(SCORES.astype(np.float64) / temperature), 0)
    return weights / weights.sum()


@pytest.mark.parametrize("noise", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("temperature", [0.1, 0.7, 3.0])
def test_they_are_softmax_of_q_mixed_with_an_even_share(noise, temperature):
    chances = probabilities(noise, temperature)
    assert chances[~LISTED] == 0 and chances.sum() == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(chances, (1 - noise) * softmax(temperature) + noise * LISTED / 4, rtol=1e-5)


@pytest.mark.parametrize("alpha", [0.03, 0.2, 0.5, 10.0])
def test_dirichlet_noise_drawn_for_each_move_comes_to_the_same_whatever_alpha_is(alpha):
    """The paper's way, taken literally: noise, then a move drawn from the mixture; against our probabilities."""
    rng, draws = np.random.default_rng(0), 100_000
    noise = rng.dirichlet(np.full(4, alpha), draws)
    mixture = 0.75 * softmax(0.7)[:4] + 0.25 * noise
    moves = (rng.random((draws, 1)) > np.cumsum(mixture, axis=1)).sum(axis=1)
    seen = np.bincount(np.minimum(moves, 3), minlength=4) / draws
    np.testing.assert_allclose(seen, probabilities()[:4], atol=5 * 0.5 / np.sqrt(draws))


def test_moves_are_drawn_by_the_law():
    """First moves of many games, against the mixture's mean: (1 - noise) softmax + noise / moves."""
    game = TIC_TAC_TOE
    net = Net(game, make_net("mlp:width=16,depth=2"), "scores")
    weights = jax.jit(net.init)(jax.random.key(2))
    weights["head"]["bias"] = jnp.linspace(-0.5, 0.5, 9)
    judge = make_evaluator(net, weights, net, weights)
    settings = dataclasses.replace(PLAY, games=4000, max_turns=2, temperature=0.3, noise=0.4)
    games = jax.device_get(self_play(game, settings, judge, jax.random.key(5)))
    squares = np.log2(games.states.stones[:, 1, 0]).astype(int)
    seen = np.bincount(squares, minlength=9) / 4000
    start = jax.tree.map(lambda x: x[None], game.init(jax.random.key(0)))
    scores = np.asarray(jax.jit(judge.scores)(start))[0]
    policy = np.exp(scores / 0.3) / np.exp(scores / 0.3).sum()
    np.testing.assert_allclose(seen, 0.6 * policy + 0.4 / 9, atol=0.03)
    assert np.abs(policy - 1 / 9).max() > 0.1, "the policy is far enough from even to be told apart"
