"""What games tell a search, for every registered one: features, noisy moves, an order of moves, keys of positions."""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from beamzero.games import CHANCE, Game, State, make_game
from beamzero.games.checkers import board
from beamzero.search.features import hand_made_weights
from tests.games.play import SECOND_BOARDS, ask, ask_all, at, facts, params, play, sample_states, stack
from tests.games.play import SPECS as ALL_SPECS

SPECS = [
    spec
    for spec in ALL_SPECS
    if spec not in ("connect_four:rows=9,columns=4", "othello:size=6") and not make_game(spec).hidden
]
"""Sizes between others tell nothing new here; searches by evaluation would see what a game hides."""

WITHOUT_MEMORY = [spec for spec in SPECS if not spec.startswith("chess")]
"""Games whose past does not count, so that a position is no more than what stands on the board."""

SLOW = [*SECOND_BOARDS, "togyzkumalak:max_plies=160"]
"""What chess says is held against other programs in test_chess_search.py; kalah is sown too."""

MOST_STATES = 1000
"""Of which a quarter are the first ones; fewer where each has many moves."""


# chess6x6 has chess's own code, and each of the two takes long to compile.
@pytest.fixture(params=params([spec for spec in SPECS if not spec.startswith("chess6x6")], SLOW), scope="module")
def game(request) -> Game:
    return make_game(request.param)


def places(game: Game, plies: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Ply and row of states from which `plies` more were played by the sides alone.

    A quarter of them are the first of the games, which several games have, the others of all stages.
    """
    decisions = ~play(game).facts.over & (play(game).facts.player != CHANCE)
    alike = np.logical_and.reduce([decisions[i : len(decisions) - plies + 1 + i] for i in range(plies)])
    alike = alike[: len(decisions) - plies]
    ply, row = np.nonzero(alike)
    most = MOST_STATES if game.max_moves < 100 else MOST_STATES // 3
    first, later = np.split(np.arange(len(ply)), [most // 4])
    chosen = np.concatenate([first, np.random.default_rng(0).permutation(later)])[:most]
    return ply[chosen], row[chosen]


class Told(NamedTuple):
    """What a game tells a search of one state."""

    features: Array  # float32 [F]
    hash: Array  # uint32 [2]
    must_answer: Array  # bool []
    noisy: Array  # bool [K]
    order: Array  # int32 [K]


@functools.lru_cache(maxsize=1)
def told(game: Game) -> Told:
    """Of the states at `places`."""

    def tell(state: State) -> Told:
        moves = game.moves(state)[0]
        noisy, order = (jax.vmap(ask, (None, 0))(state, moves) for ask in (game.noisy, game.order))
        return Told(game.features(state), game.hash(state), game.must_answer(state), noisy, order)

    return jax.device_get(jax.jit(jax.vmap(tell))(at(play(game).states, *places(game))))


def test_every_answer_has_the_declared_shape_and_type(game):
    size, width, answers = len(places(game)[0]), game.max_moves, told(game)
    assert (answers.features.dtype, answers.features.shape) == (np.float32, (size, len(game.feature_names)))
    assert (answers.hash.dtype, answers.hash.shape) == (np.uint32, (size, 2))
    assert (answers.must_answer.dtype, answers.must_answer.shape) == (np.bool_, (size,))
    assert (answers.noisy.dtype, answers.noisy.shape) == (np.bool_, (size, width))
    assert (answers.order.dtype, answers.order.shape) == (np.int32, (size, width))


def test_an_order_is_0_to_255(game):
    listed = np.arange(game.max_moves) < play(game).facts.count[places(game)][:, None]
    assert told(game).order[listed].min() >= 0
    assert told(game).order[listed].max() <= 255


def test_a_game_that_speaks_of_noisy_moves_has_some_and_others(game):
    listed = np.arange(game.max_moves) < play(game).facts.count[places(game)][:, None]
    noisy = told(game).noisy[listed]
    assert noisy.any() == (type(game).noisy is not Game.noisy)
    assert not noisy.all()


def test_features_are_finite_and_each_has_a_weight(game):
    assert np.isfinite(told(game).features).all()
    assert len(game.point_weights) == len(game.feature_names) == len(set(game.feature_names))
    assert np.isfinite(hand_made_weights(game)).all() and game.point > 0


def test_every_feature_is_seen_on_both_sides(game):
    """One that is always 0, or never below it, would be of no use."""
    assert (told(game).features > 0).any(axis=0).all()
    assert ((told(game).features < 0).any(axis=0) | np.isin(game.feature_names, ["pieces to take"])).all()


SINGLE = [
    "connect_four:rows=4,columns=5,length=3",
    "othello:size=4",
    "checkers",
    "kalah:houses=4,seeds=3,empty_capture=true",
]


@pytest.mark.parametrize("game", SINGLE, indirect=True)
def test_a_single_state_is_told_the_same_as_a_batch(game):
    ply, row = places(game)
    for i in range(3):
        state = at(play(game).states, ply[i], row[i])
        assert ask(game, "features", state) == pytest.approx(told(game).features[i], rel=1e-6)
        assert (ask(game, "hash", state) == told(game).hash[i]).all()
    legal = game.legal_actions(state)
    slots = [play(game).facts.moves[ply[i], row[i]].tolist().index(action) for action in legal]
    of_numbers = jax.jit(lambda state: [(game.order(state, action), game.noisy(state, action)) for action in legal])
    order, noisy = zip(*of_numbers(state), strict=True)  # a plain number is an action too
    assert np.array(order).tolist() == told(game).order[i, slots].tolist()
    assert np.array(noisy).tolist() == told(game).noisy[i, slots].tolist()


# --- keys ------------------------------------------------------------------------------------------------------------


def first_with_same_key(keys: np.ndarray) -> np.ndarray:
    """int [M]: for each of [M, 2] keys the first place where it stands."""
    _, first, which = np.unique(
        keys.astype(np.uint64) @ np.array([1 << 32, 1], np.uint64), return_index=True, return_inverse=True
    )
    return first[which]


def test_what_can_follow_from_states_with_the_same_key_is_the_same(game):
    """The same legal moves, player and result, and so after each further move."""

    def look(state: State):
        moves = game.moves(state)[0]
        children = jax.vmap(game.step, (None, 0))(state, moves)
        seen = jax.vmap(lambda child: (game.over(child), game.score(child), game.player(child), game.hash(child)))
        return game.player(state), game.legal(state), seen(children)

    first = first_with_same_key(told(game).hash)
    again = np.flatnonzero(first != np.arange(len(first)))[:100]
    # Dice seldom lead to the same position twice.
    assert len(again) > (0 if game.num_chance else 10), "or this says nothing"
    assert len(np.unique(first)) > 200, "keys differ"
    states = at(play(game).states, *places(game))
    count = play(game).facts.count[places(game)]
    look_at = jax.jit(jax.vmap(look))
    seen, seen_first = (jax.device_get(look_at(at(states, rows))) for rows in (again, first[again]))
    listed = np.arange(game.max_moves) < count[again][:, None]
    assert (count[again] == count[first[again]]).all()
    for answer, expected in zip(seen[:2], seen_first[:2], strict=True):
        assert (answer == expected).all()
    for answer, expected in zip(seen[2], seen_first[2], strict=True):
        assert (answer == expected)[listed].all()


@pytest.mark.parametrize("game", params(WITHOUT_MEMORY, SLOW), indirect=True)
def test_moves_in_another_order_lead_to_the_same_key(game):
    """A side's two moves the other way round, with the same answer between: where the same position comes out, so does
    its key.
    """

    def ply(state: State, move: Array) -> tuple[State, Array]:
        return game.step(state, move), game.legal(state)[move] & ~game.over(state)

    def swap(state: State, moves: Array, straight: State):
        state, allowed = jax.lax.scan(ply, state, moves[::-1])
        same_key = jnp.all(game.hash(state) == game.hash(straight))
        return allowed.all() & ~game.over(state), facts(game, state), same_key

    games, (ply_, row) = play(game), places(game, plies=3)
    moves = np.stack([games.actions[ply_ + i, row] for i in range(3)], axis=1)
    before, straight = (at(games.states, ply_ + i, row) for i in (0, 3))
    allowed, there, same_key = jax.device_get(jax.jit(jax.vmap(swap))(before, moves, straight))
    allowed = allowed & (moves[:, 0] != moves[:, 2])
    same = np.logical_and.reduce(
        [
            (answer == expected[ply_ + 3, row]).reshape(len(row), -1).all(axis=1)
            for answer, expected in zip(there, games.facts, strict=True)
        ]
    )
    assert (allowed & same).sum() > 5, "or this says nothing"
    assert same_key[allowed & same].all()


# --- exchange of sides -----------------------------------------------------------------------------------------------

OF_THE_RIGHT_TO_MOVE = {"win at hand", "threats in time", "pieces to take"}


def exchange(game: Game, state: State) -> State:
    """The same side to move, with what the other side had."""
    if game.name == "othello":
        discs, side = game.write_position(state).split()
        return game.read_position(f"{discs.translate(str.maketrans('XO', 'OX'))} {side}")
    if game.name == "checkers":
        black, white, kings = (board.pack_squares(33 - n for n in board.list_squares(int(word))) for word in state[:3])
        turned = board.CheckersFen(white, black, kings, 0, int(state.side), int(state.quiet))
        return game.read_position(board.write_checkers_fen(turned))
    return state._replace(stones=state.stones[::-1])


@pytest.mark.parametrize("spec", params(["tic_tac_toe", "connect_four", "othello", "othello:size=4", "checkers"]))
def test_who_has_the_other_side_s_part_has_its_features(spec):
    game = make_game(spec)
    states = sample_states(game, 60, 1)
    compared = ~np.isin(game.feature_names, list(OF_THE_RIGHT_TO_MOVE))
    assert compared.sum() >= 2
    exchanged = stack(exchange(game, at(states, row)) for row in range(60))
    mine, theirs = (ask_all(game, "features", some) for some in (states, exchanged))
    assert (mine == -theirs)[:, compared].all()


# --- strength --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "least"),
    [
        ("connect_four", 0.95),
        pytest.param("othello", 0.9, marks=pytest.mark.slow),
        pytest.param("checkers", 0.95, marks=pytest.mark.slow),
    ],
)
def test_one_look_at_the_next_positions_beats_random_moves(spec, least):
    game, number = make_game(spec), 32
    weights = hand_made_weights(game)
    side = np.arange(number, dtype=np.int32) % 2

    def worth(state: State, mover: Array) -> Array:
        """What a position is worth to side `mover`."""
        points = jnp.sum(game.features(state) * weights)
        result = jnp.where(mover == 0, game.score(state), -game.score(state))
        return jnp.where(game.over(state), 1000 * result, jnp.where(game.player(state) == mover, points, -points))

    def choose(state: State) -> Array:
        moves, count = game.moves(state)
        children = jax.vmap(game.step, (None, 0))(state, moves)
        values = jax.vmap(worth, (0, None))(children, game.player(state))
        return moves[jnp.argmax(jnp.where(jnp.arange(game.max_moves) < count, values, -jnp.inf))]

    def ply(states: State, key: Array) -> tuple[State, None]:
        by_chance = jax.vmap(game.pick)(states, jax.random.uniform(key, (number,)))
        chosen = jax.vmap(choose)(states)
        is_ours = jax.vmap(game.player)(states) == side
        return jax.vmap(game.step)(states, jnp.where(is_ours, chosen, by_chance)), None

    @jax.jit
    def result(key: Array) -> Array:
        states = jax.vmap(game.init)(jax.random.split(key, number))
        states = jax.lax.scan(ply, states, jax.random.split(key, min(game.max_plies, 150)))[0]
        return jnp.mean(jax.vmap(game.score)(states) * (1 - 2 * side).astype(np.float32))

    assert (1 + float(result(jax.random.key(0)))) / 2 >= least
