"""The table of positions saves work, and changes nothing that is found, however small it is and whoever filled it."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamzero.games import Game, State, make_game
from beamzero.search.alphabeta import transpositions as table
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from tests.search.agreement import assert_graphs_are_searched_as_by_minimax
from tests.search.graphs import NARROW, draw
from tests.search.plain import MILLION, WON, mixed_evaluator, random_positions, rows, solve

KEY = jax.random.key(0)
SMALL = "kalah:houses=3,seeds=2"
WORDS = st.integers(0, 2**32 - 1)
ENTRIES = st.builds(
    table.Entry,
    there=st.just(True),
    score=st.one_of(st.integers(-MILLION, MILLION), st.integers(WON - 200, WON), st.integers(-WON, 200 - WON)),
    bound=st.sampled_from([table.EXACT, table.AT_LEAST, table.AT_MOST]),
    complete=st.booleans(),
    depth=st.integers(0, 64),
    move=st.integers(0, table.NO_MOVE),
)


def packed(entry: table.Entry) -> table.Entry:
    """Its numbers as arrays."""
    kinds = (np.bool_, np.int32, np.int32, np.bool_, np.int32, np.int32)
    return table.Entry(*(jnp.asarray(x, kind) for x, kind in zip(entry, kinds, strict=True)))


# --- rows ------------------------------------------------------------------------------------------------------------


@given(entry=ENTRIES, lo=WORDS, hi=WORDS)
def test_what_is_written_is_read(entry, lo, hi):
    key = jnp.array([lo, hi], jnp.uint32)
    assert jax.device_get(table.read(table.write(key, packed(entry)), key)) == entry


@given(entry=ENTRIES, lo=WORDS, hi=WORDS, bit=st.integers(0, 63))
def test_a_row_speaks_of_its_own_position_only(entry, lo, hi, bit):
    key = jnp.array([lo, hi], jnp.uint32)
    other = jnp.array([lo ^ (1 << bit if bit < 32 else 0), hi ^ (1 << bit - 32 if bit >= 32 else 0)], jnp.uint32)
    assert not table.read(table.write(key, packed(entry)), other).there


def test_an_empty_row_says_nothing_even_of_the_key_zero():
    nothing = jnp.zeros(2, jnp.uint32)
    empty = table.empty_table(4)
    assert empty.shape == (5, 4) and not table.read(empty[0], nothing).there


@given(entry=ENTRIES, depth=st.integers(1, 64))
def test_an_entry_serves_the_same_depth_or_a_deeper_one_if_nothing_lies_beyond(entry, depth):
    serves = bool(table.serves(packed(entry), jnp.int32(depth)))
    assert serves == (entry.depth == depth or (entry.complete and entry.depth < depth))


@given(lo=WORDS, hi=WORDS, power=st.integers(0, 10))
def test_every_key_has_a_place_before_the_last_row(lo, hi, power):
    place = int(table.place_of(table.empty_table(2**power), jnp.array([lo, hi], jnp.uint32)))
    assert 0 <= place < 2**power


# --- in a search -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entries", [1, *(pytest.param(entries, marks=pytest.mark.slow) for entries in (4, 64))])
@settings(max_examples=8)
@given(seed=WORDS)
def test_graphs_are_searched_as_by_minimax_with_a_table_of_any_size(entries, seed):
    """Positions come again at other depths and distances, and the table is full of those of other graphs."""
    assert_graphs_are_searched_as_by_minimax(AlphaBeta(5, entries=entries, quiet=1), draw(seed), NARROW)


@functools.partial(jax.jit, static_argnums=(0, 1))
def asked(game: Game, question: str, states: State) -> Any:
    return jax.vmap(getattr(game, question))(states)


@pytest.mark.slow
def test_many_positions_are_worth_the_same_with_a_table_and_without():
    """And the move that is chosen is as good."""
    game, number, depth = make_game(SMALL), 100, 4
    without = AlphaBeta(depth, entries=0, order=False)
    tables = [AlphaBeta(depth, entries=entries, every_move=every) for entries, every in ((2**4, True), (2**14, False))]
    for seed in (0, 7):
        evaluator, states = mixed_evaluator(game, seed), random_positions(game, number, seed)
        one = jax.device_get(solve(without, game, evaluator, states, KEY)[0])
        every, found = (jax.device_get(solve(search, game, evaluator, states, KEY)[0]) for search in tables)
        near = 0 if seed else 4  # the game's own evaluation may be rounded in another way
        moves, count = jax.device_get(asked(game, "moves", states))
        listed = np.arange(every.moves.shape[1]) < count[:, None]
        assert (np.abs(found.score - one.score) <= near).all()
        assert (np.abs(every.score - one.score) <= near).all()
        chosen = moves == found.line[:, :1]
        assert ((chosen & listed).sum(axis=1) == 1).all()
        assert (np.abs(every.moves[chosen & listed] - one.score) <= 2 * near).all()
        assert found.nodes.sum() < one.nodes.sum()


def test_a_win_that_is_remembered_keeps_its_distance():
    """The same position is the root once, and once comes after a move; the game ends a ply later then."""
    game = make_game("connect_four:rows=4,columns=4")
    search, evaluator = AlphaBeta(16, entries=2**12), mixed_evaluator(game, 1)
    states = random_positions(game, 120, seed=4)
    states = rows(states, states.ply >= 7)
    children = jax.jit(jax.vmap(lambda s: jax.vmap(game.step, (None, 0))(s, jnp.arange(4))))(states)
    flat = jax.tree.map(lambda x: np.asarray(x).reshape(-1, *x.shape[2:]), children)
    legal, over, ends = jax.device_get(
        (asked(game, "legal", states), asked(game, "over", flat), asked(game, "score", flat))
    )
    legal = legal.reshape(-1)
    running = np.flatnonzero(legal & ~over)
    # All of them in one batch: first what comes after, then what was before.
    both = jax.tree.map(lambda a, b: np.concatenate([a, b]), rows(flat, running), states)
    found = jax.device_get(solve(search, game, evaluator, both, KEY)[0])
    after = dict(zip(running.tolist(), found.score[: len(running)].tolist()))
    scores = ends * (1 - 2 * np.repeat(np.asarray(states.ply) % 2, 4))
    for row, worth in enumerate(found.score[len(running) :].tolist()):
        moves = [4 * row + column for column in range(4) if legal[4 * row + column]]
        known = [-after[move] if move in after else int(scores[move]) * WON for move in moves]
        assert worth == max(value - np.sign(value) for value in known)


@pytest.mark.slow
def test_rows_of_a_batch_do_not_change_one_another():
    """What one leaves in the table may change the order in which another looks at moves, but nothing of their worth.

    Some rows are over, as those are that fill up a batch; what is found there does not matter.
    """
    game, number = make_game(SMALL), 24
    search, evaluator = AlphaBeta(4, entries=2**6, quiet=2, every_move=True), mixed_evaluator(game, 2)
    states = random_positions(game, number, seed=3)
    over = np.arange(number) % 9 == 4
    states = states._replace(pits=np.where((over[:, None] & [True, False])[..., None], np.uint8(0), states.pits))
    together, result = jax.device_get(solve(search, game, evaluator, states, KEY))
    backwards = jax.device_get(solve(search, game, evaluator, rows(states, slice(None, None, -1)), KEY)[0])
    alone = [jax.device_get(solve(search, game, evaluator, rows(states, [i]), KEY)[0]) for i in range(number)]
    for field in ("depth", "score", "complete", "moves", "moves_complete"):
        mixed, turned = getattr(together, field), getattr(backwards, field)[::-1]
        lone = np.concatenate([getattr(one, field) for one in alone])
        assert (mixed == lone)[~over].all() and (mixed == turned)[~over].all(), field
    assert (result.value == np.clip(together.score / np.float32(MILLION), -1, 1))[~over].all()


@pytest.mark.slow
def test_the_table_saves_work():
    """Depth by depth, in a game where many orders of moves lead to the same position."""
    game = make_game("connect_four:rows=5,columns=5")
    states = random_positions(game, 8, seed=1, plies=8)
    search = functools.partial(solve, game=game, evaluator=mixed_evaluator(game, 0), states=states, key=KEY)
    plain = AlphaBeta(7, entries=0)
    nodes = [int(np.sum(search(dataclasses.replace(plain, entries=entries))[0].nodes)) for entries in (0, 2**6, 2**14)]
    assert nodes[0] > nodes[1] > nodes[2] and nodes[2] < 0.7 * nodes[0]
