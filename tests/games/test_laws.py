"""The laws of `Game`, checked on random play for every registered game."""

from __future__ import annotations

import functools
import json
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import CHANCE, GAMES, OPEN, Game, State, make_game
from beamzero.games.views import View
from tests.games import golden
from tests.games.pictures import fits
from tests.games.play import SPECS, Facts, at, declared, most_plies, params, play, replay, step

WITH_SYMMETRIES = [spec for spec in SPECS if type(make_game(spec)).symmetries is not Game.symmetries]


@pytest.fixture(params=params(SPECS), scope="module")
def game(request) -> Game:
    return make_game(request.param)


@functools.partial(jax.jit, static_argnums=0)
def pick_all(game: Game, state: State, draws: Array) -> Array:
    """int32 [D]: what each of many draws picks in one state."""
    return jax.vmap(functools.partial(game.pick, state))(draws)


def running(game: Game) -> tuple[np.ndarray, ...]:
    """Ply and row of the decision states that are not over."""
    facts = play(game).facts
    return np.nonzero(~facts.over & (facts.player != CHANCE))


def sample(game: Game, number: int) -> list[tuple[int, int]]:
    """Ply and row of a few decision states."""
    places = list(zip(*running(game), strict=True))
    return random.Random(0).sample(places, number)


def finished(game: Game, number: int):
    """Some finished states, on the host."""
    ends = at(play(game).states, -1)
    return [at(ends, row) for row in range(number)]


def same(one: State, other: State) -> bool:
    """Whether two states are the same to the bit."""
    pairs = zip(map(np.asarray, one), map(np.asarray, other), strict=True)
    return all(a.dtype == b.dtype and a.shape == b.shape and (a == b).all() for a, b in pairs)


def test_every_question_is_answered_in_the_declared_shape_and_type(game):
    facts = play(game).facts
    shape = facts.over.shape
    for name, answer, (dtype, tail) in zip(Facts._fields, facts, declared(game), strict=True):
        assert answer.dtype == dtype, name
        assert answer.shape == (*shape, *tail), name
    assert np.isfinite(facts.observation).all()
    assert set(np.unique(facts.player[~facts.over])) <= ({0, 1, CHANCE} if game.num_chance else {0, 1})


def test_a_step_keeps_the_shape_of_the_state(game):
    first = jax.eval_shape(game.init, jax.random.key(0))
    after = jax.eval_shape(game.step, first, jax.ShapeDtypeStruct((), jnp.int32))
    assert jax.tree.structure(first) == jax.tree.structure(after)
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(after), strict=True):
        assert (a.shape, a.dtype, a.weak_type) == (b.shape, b.dtype, b.weak_type)


def test_a_decision_state_that_is_not_over_has_a_legal_move(game):
    assert play(game).facts.legal[running(game)].any(axis=1).all()


def test_moves_packs_exactly_what_legal_allows(game):
    facts = play(game).facts
    legal, moves, count = (x[running(game)] for x in (facts.legal, facts.moves, facts.count))
    assert (count == legal.sum(axis=1)).all()
    assert (count <= game.max_moves).all()
    listed = np.arange(game.max_moves) < count[:, None]
    assert (moves[~listed] == 0).all(), "zeros after the last move"
    rows, slots = np.nonzero(listed)
    packed = np.zeros(legal.shape, int)
    np.add.at(packed, (rows, moves[rows, slots]), 1)
    assert (packed == legal).all(), "each legal action once, and no other"


def test_a_draw_picks_each_legal_action_equally_often(game):
    share = 8
    for place in sample(game, 3):
        state = at(play(game).states, *place)
        legal = play(game).facts.legal[place]
        number = share * legal.sum()
        draws = np.full(share * game.max_moves + 1, np.nextafter(np.float32(1), np.float32(0)))
        draws[:number] = (np.arange(number, dtype=np.float32) + np.float32(0.5)) / np.float32(number)
        picked = np.asarray(pick_all(game, state, draws))
        assert picked.dtype == np.int32
        assert (np.bincount(picked[:number], minlength=game.num_actions) == share * legal).all()
        assert legal[picked[-1]], "the largest draw there is"


def test_the_most_moves_are_reached(game):
    """A `max_moves` that is too large wastes a slot in every node of every search."""
    if game.max_moves == game.num_actions:
        assert play(game).facts.count.max() == game.max_moves


def test_the_score_is_0_while_the_game_runs_and_within_1_after(game):
    facts = play(game).facts
    assert (facts.score[~facts.over] == 0).all()
    assert (np.abs(facts.score) <= 1).all()


def test_no_game_is_longer_than_max_plies(game):
    facts = play(game).facts
    assert facts.over[-1].all() and len(facts.over) <= most_plies(game)
    decisions = (~facts.over & (facts.player != CHANCE)).sum(axis=0)
    assert decisions.max() <= game.max_plies


def test_a_finished_game_stays_as_it_is(game):
    for number, end in enumerate(finished(game, 6)):
        for action in np.unique(np.linspace(0, game.num_actions - 1, 16).astype(np.int32))[number % 2 :: 2]:
            assert same(step(game, end, action), end)
    facts = play(game).facts
    assert (np.diff(facts.over.astype(int), axis=0) >= 0).all(), "once over, always over"
    stays = facts.over[:-1]
    for field in jax.tree.leaves(play(game).states):
        assert (field[1:] == field[:-1])[stays].all(), "whatever was played after the end"


def test_a_batched_step_equals_the_single_one(game):
    games = play(game)
    for ply, row in sample(game, 12):
        assert same(step(game, at(games.states, ply, row), games.actions[ply, row]), at(games.states, ply + 1, row))


def test_a_plain_number_is_an_action_too(game):
    place = sample(game, 1)[0]
    state, action = at(play(game).states, *place), int(play(game).actions[place])
    assert same(jax.jit(lambda state: game.step(state, action))(state), step(game, state, action))


def test_a_move_reads_back_from_its_name(game):
    for place in sample(game, 12):
        state = at(play(game).states, *place)
        legal = [int(action) for action in np.flatnonzero(play(game).facts.legal[place])]
        assert game.legal_actions(state) == legal
        names = [game.action_name(state, action) for action in legal]
        assert len(set(names)) == len(names)
        for action, name in zip(legal, names, strict=True):
            assert game.parse_action(state, name) == action
            assert game.parse_action(state, f" {name}\n") == action


def test_an_illegal_move_is_one_line_that_lists_the_legal_ones(game):
    for place in sample(game, 4):
        state = at(play(game).states, *place)
        legal = {game.action_name(state, action) for action in game.legal_actions(state)}
        earlier = at(play(game).states, 0, place[1])
        gone = {game.action_name(earlier, action) for action in game.legal_actions(earlier)} - legal
        for text in ["", "nonsense", "a0", *sorted(gone)]:
            with pytest.raises(BadInput) as caught:
                game.parse_action(state, text)
            assert "\n" not in str(caught.value)
            assert all(name in str(caught.value) for name in legal)
    state = finished(game, 1)[0]
    assert game.legal_actions(state) == []
    with pytest.raises(BadInput, match="over"):
        game.parse_action(state, next(iter(legal)))


def test_a_position_can_be_shown_and_sent(game):
    for place in sample(game, 3):
        state = at(play(game).states, *place)
        for seat in (0, 1, OPEN):
            assert json.loads(json.dumps(game.view(state, seat))) == game.view(state, seat)
            assert fits(game.view(state, seat), View)
            assert game.show(state, seat).strip()


def test_a_finished_game_says_why(game):
    for state in finished(game, 8):
        reason = game.outcome_reason(state)
        assert reason.strip() and "\n" not in reason
        if float(game.score(state)) == 0:
            assert "draw" in reason


# --- symmetries ----------------------------------------------------------------------------------------------------


TURNED = 8
"""How many of the random games are seen from all sides."""

ROWS = 256


@functools.partial(jax.jit, static_argnums=0)
def _turn(game: Game, observations: Array, values: Array) -> tuple[Array, Array]:
    return jax.vmap(game.symmetries)(observations, values)


def turn(game: Game, observations: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All images of pairs [M, ...]: [M, S, ...] each; a fixed number of rows at a time."""
    parts = []
    for first in range(0, len(values), ROWS):
        some = [x[first : first + ROWS] for x in (observations, values)]
        filled = [np.concatenate([x, np.repeat(x[:1], ROWS - len(x), axis=0)]) for x in some]
        parts.append([np.asarray(x)[: len(some[0])] for x in _turn(game, *filled)])
    images, turned = (np.concatenate(part) for part in zip(*parts, strict=True))
    return images, turned


@functools.lru_cache(maxsize=1)
def images(game: Game) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `symmetries` makes of every state of some games: observations [T, N, S, ...], legal and action numbers
    [T, N, S, A].

    Entry a of the action numbers is the action that became action a in the image.
    """
    observations, legal = (x[:, :TURNED] for x in (play(game).facts.observation, play(game).facts.legal))
    shape = legal.shape[:2]
    flat = observations.reshape(-1, *game.observation_shape)
    turned, legal = turn(game, flat, legal.reshape(-1, game.num_actions).astype(np.float32))
    numbers = turn(
        game, flat, np.broadcast_to(np.arange(game.num_actions, dtype=np.float32), (len(flat), legal.shape[2]))
    )
    return tuple(x.reshape(*shape, *x.shape[1:]) for x in (turned, legal, numbers[1].astype(np.int32)))


def test_the_first_symmetry_is_the_pair_itself(game):
    observations, legal, numbers = images(game)
    facts = play(game).facts
    assert (observations[:, :, 0] == facts.observation[:, :TURNED]).all()
    assert (legal[:, :, 0] == facts.legal[:, :TURNED]).all()
    assert (numbers[:, :, 0] == np.arange(game.num_actions)).all()
    assert observations.dtype == legal.dtype == np.float32


def test_a_symmetry_only_moves_values_about(game):
    numbers = images(game)[2]
    assert (np.sort(numbers, axis=-1) == np.arange(game.num_actions)).all()
    legal = np.take_along_axis(play(game).facts.legal[:, :TURNED, None], numbers, axis=-1)
    assert (legal == images(game)[1]).all(), "every vector of values is moved the same way"


def test_the_images_of_an_image_are_the_images(game):
    """Whatever image one starts from, the same set comes out: they are the orbit of a group."""
    values = np.random.default_rng(0).normal(size=game.num_actions).astype(np.float32)
    observations = np.stack([play(game).facts.observation[place] for place in sample(game, 4)])
    pairs = turn(game, observations, np.stack([values] * 4))  # [4, S, ...]
    number = pairs[1].shape[1]
    again = turn(game, *(x.reshape(-1, *x.shape[2:]) for x in pairs))  # [4 * S, S, ...]

    def keys(observations, values):
        return {(observation.tobytes(), value.tobytes()) for observation, value in zip(observations, values)}

    for place in range(4):
        orbit = keys(pairs[0][place], pairs[1][place])
        assert len(orbit) == number, "no image twice"
        for image in range(place * number, (place + 1) * number):
            assert keys(again[0][image], again[1][image]) == orbit


@pytest.mark.parametrize("game", params(WITH_SYMMETRIES), indirect=True)
def test_the_mirrored_game_looks_like_the_mirror_image(game):
    """Play the image of every move, and see at every ply the image of what was seen, until the same end.

    This asks for a first position that is its own image, so it says nothing of a symmetry that moves it.
    """
    games, (observations, legal, numbers) = play(game), images(game)
    facts = jax.tree.map(lambda x: x[:, :TURNED, None], games.facts)  # one for all images
    is_action = numbers == games.actions[:, :TURNED, None, None]
    mapped = np.argmax(is_action, axis=-1).astype(np.int32)  # [T, N, S]
    plies, _, sides = mapped.shape
    first = jax.tree.map(lambda x: np.repeat(x[0, :TURNED], sides, axis=0), games.states)
    seen = replay(game, first, mapped.reshape(plies, -1))
    seen = jax.tree.map(lambda x: x.reshape(plies, TURNED, sides, *x.shape[2:]), seen)
    itself = np.logical_and(
        *((x[0] == x[0, :, :1]).reshape(TURNED, sides, -1).all(axis=-1) for x in (observations, legal))
    )
    assert itself[:, 1:].any(), "or this says nothing"
    alike = ~facts.over & itself
    assert (seen.over == facts.over)[:, itself].all()
    assert (seen.score == facts.score)[:, itself].all()
    assert (seen.player == facts.player)[alike].all()
    assert (seen.observation == observations)[alike].all()
    assert (seen.legal == legal)[alike].all()


# --- identity ------------------------------------------------------------------------------------------------------


def test_equal_games_are_equal_and_hash_equal(game):
    again = make_game(game.spec)
    assert again == game
    assert hash(again) == hash(game)
    assert again.spec == game.spec
    assert len({make_game(spec) for spec in SPECS}) == len(SPECS)


def test_equal_games_compile_once(game):
    counted = jax.jit(lambda game, key: game.init(key), static_argnums=0)
    for _ in range(2):
        counted(make_game(game.spec), jax.random.key(0))
    assert counted._cache_size() == 1


def test_every_game_is_among_those_that_the_laws_are_checked_on():
    assert {make_game(spec).name for spec in SPECS} == set(GAMES)


@pytest.mark.parametrize("name", GAMES)
def test_there_is_a_golden_playthrough(name):
    assert golden.path(name).is_file(), f"write it with `{golden.COMMAND} {name}`"
