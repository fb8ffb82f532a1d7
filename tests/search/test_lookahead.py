"""The lookahead is a plain search of every line to its depth, and fair between the best moves."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamzero.core.errors import BadInput
from beamzero.core.packing import chunk_rows
from beamzero.games import make_game
from beamzero.search import lookahead
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.lookahead import Lookahead
from tests.games.play import at, random_games, sample_states
from tests.search.forest import NARROW, ROOTS, TREES, WIDE, Forest, ForestGame, ForestRules, ForestState, grow
from tests.search.reference import GameRules, Rules, move_values

SEEDS = st.integers(0, 2**32 - 1)
ROWS = 24


@functools.partial(jax.jit, static_argnums=(0, 1))
def look(search, game, states, key):
    return search(game, zero_evaluator(game), states, key)


@functools.partial(jax.jit, static_argnums=(0, 4))
def look_in_forest(search, forest, states, key, shape=NARROW):
    game = ForestGame(forest, shape)
    return search(game, zero_evaluator(game), states, key)


def positions_seen(rules: Rules, position, depth: int) -> int:
    """How many positions there are within `depth` plies, this one included."""
    if depth == 0:
        return 1
    return 1 + sum(positions_seen(rules, rules.step(position, action), depth - 1) for action in rules.moves(position))


def proven_moves(rules: Rules, position, depth: int) -> set[int]:
    """The moves whose value the rules alone decide within `depth` plies."""
    proven = set()
    for action in rules.moves(position):
        after = rules.step(position, action)
        if rules.over(after):
            proven.add(action)
        elif depth > 1:
            values, certain = move_values(rules, after, depth - 1), proven_moves(rules, after, depth - 1)
            if certain == set(values) or any(values[move] == 1 for move in certain):
                proven.add(action)
    return proven


def assert_same(result, row: int, rules: Rules, position, depth: int) -> None:
    values = move_values(rules, position, depth)
    width = result.values.shape[1]
    assert list(result.values[row]) == [values.get(action, -np.inf) for action in range(width)]
    best = max(values.values())
    assert result.value[row] == best
    assert values[int(result.action[row])] == best
    among = np.array([values.get(action) == best for action in range(width)])
    assert (result.policy[row] == (among / among.sum()).astype(np.float32)).all()
    assert set(np.flatnonzero(result.proven[row])) == proven_moves(rules, position, depth)
    assert result.nodes[row] == positions_seen(rules, position, depth)


SMALL = "connect_four:rows=4,columns=4,length=3"


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        (SMALL, 1),
        (SMALL, 3),
        pytest.param("othello:size=6", 1, marks=pytest.mark.slow),
    ],
)
def test_games_are_searched_to_the_depth(name, depth):
    game = make_game(name)
    rules = GameRules(game, zero_evaluator(game))
    states = sample_states(game, ROWS, 1)
    result = jax.device_get(look(Lookahead(depth), game, states, jax.random.key(1)))
    for row in range(ROWS):
        assert_same(result, row, rules, rules.position(at(states, row)), depth)


@pytest.mark.parametrize(
    ("shape", "depth"),
    [
        pytest.param(NARROW, 2, marks=pytest.mark.slow),
        (NARROW, 4),
        (WIDE, 2),
        pytest.param(WIDE, 1, marks=pytest.mark.slow),
        pytest.param(WIDE, 4, marks=pytest.mark.slow),
    ],
    ids=lambda part: f"{part.moves}" if isinstance(part, tuple) else f"{part}",
)
@settings(max_examples=6)
@given(seed=SEEDS)
def test_random_trees_are_searched_to_the_depth(depth, shape, seed):
    """Here a side may move twice, ends come at any depth, and scores are not only won, drawn, lost."""
    forest = grow(seed, shape)
    result = jax.device_get(look_in_forest(Lookahead(depth), forest, ROOTS, jax.random.key(seed), shape))
    for row, root in enumerate(ROOTS.node):
        if not ForestRules(forest).over(int(root)):
            assert_same(result, row, ForestRules(forest), int(root), depth)


@pytest.mark.slow
def test_the_size_of_chunks_changes_nothing(monkeypatch):
    forest, key = grow(3, WIDE), jax.random.key(0)
    found = []
    for chunk in (40, 10**6):
        monkeypatch.setattr(lookahead, "chunk_rows", lambda size, chunk=chunk: min(size, chunk))
        search = jax.jit(lambda forest: Lookahead(3)(ForestGame(forest, WIDE), None, ROOTS, key))
        found.append(search(forest))
    for results in zip(*found, strict=True):
        assert all((results[0] == other).all() for other in results[1:])


@pytest.mark.slow
def test_only_real_positions_are_searched_below_the_first_ply(monkeypatch):
    """What fills the last chunk of the first ply is made, but has no children of its own."""
    made: list[int] = []
    step = ForestGame.step

    def counted(game, state, action):
        jax.debug.callback(lambda action: made.append(1), action)
        return step(game, state, action)

    monkeypatch.setattr(ForestGame, "step", counted)
    forest = grow(8, WIDE)
    rules = ForestRules(forest)
    # What fills up a chunk is a copy of the last slot of all; here it holds a move, after which there are many more.
    order = sorted(ROOTS.node.tolist(), key=lambda root: root == 1440)
    assert len(rules.moves(order[-1])) == WIDE.moves
    assert len(rules.moves(rules.step(order[-1], rules.moves(order[-1])[-1]))) == 18
    roots = ForestState(np.array(order, np.int32))
    jax.block_until_ready(jax.jit(lambda f: Lookahead(2)(ForestGame(f, WIDE), None, roots, jax.random.key(0)))(forest))
    jax.effects_barrier()

    first_chunk = chunk_rows(TREES * WIDE.moves)
    second_chunk = chunk_rows(first_chunk * WIDE.moves)
    children = [rules.step(root, action) for root in order for action in rules.moves(root)]
    chunks = [children[first : first + first_chunk] for first in range(0, len(children), first_chunk)]
    below = [sum(len(rules.moves(child)) for child in chunk) for chunk in chunks]
    assert len(children) % first_chunk, "there is something to fill up"
    assert len(made) == len(chunks) * first_chunk + sum(-(-count // second_chunk) * second_chunk for count in below)


def test_all_best_moves_are_chosen_about_equally_often_and_no_other():
    """X to move at a board where b2 and c1 each win: no other move, and each about half the time."""
    game, number = make_game("tic_tac_toe"), 2000
    state = first = jax.jit(game.init)(jax.random.key(0))
    for text in ("a1", "a2", "b1", "b3", "c3", "c2"):  # c1 makes the bottom row, b2 the diagonal
        state = game.step(state, game.parse_action(state, text))
    states = jax.tree.map(lambda x: jnp.broadcast_to(x, (number, *x.shape)), state)
    chosen = np.bincount(look(Lookahead(1), game, states, jax.random.key(4)).action, minlength=9)
    wins = [game.parse_action(state, text) for text in ("c1", "b2")]
    assert chosen.sum() == chosen[wins].sum() == number
    assert (np.abs(chosen[wins] - number / 2) < 120).all(), "5 standard deviations"

    empty = jax.tree.map(lambda x: jnp.broadcast_to(x, (number, *x.shape)), first)
    chosen = np.bincount(look(Lookahead(1), game, empty, jax.random.key(5)).action, minlength=9)
    assert ((chosen - number / 9) ** 2 / (number / 9)).sum() < 35, "chi-square with 8 degrees: beyond it 1 in 40,000"
    again = np.bincount(look(Lookahead(1), game, empty, jax.random.key(6)).action, minlength=9)
    assert (again != chosen).any(), "another key, other choices"


def test_an_only_move_is_played_and_a_finished_row_disturbs_no_other():
    game, key = make_game("connect_four:rows=4,columns=4,length=3"), jax.random.key(0)
    games = jax.device_get(random_games(game, 256, jax.random.key(2)))
    facts = games.facts
    last = at(games.states, *(x[:12] for x in np.nonzero(~facts.over & (facts.count == 1))))
    assert len(last.ply) == 12
    ends = at(games.states, -1, slice(0, 12))
    mixed = jax.tree.map(lambda a, b: np.concatenate([a, b]), last, ends)
    result = jax.device_get(look(Lookahead(2), game, mixed, key))
    rules = GameRules(game, zero_evaluator(game))
    for row in range(12):
        assert_same(result, row, rules, rules.position(at(last, row)), 2)
        assert result.policy[row].max() == 1
    assert not np.isnan(result.values).any()


def test_it_asks_no_evaluator():
    forest = grow(0)
    other = Forest(*forest[:3], value=forest.value + 1, scores=forest.scores + 1)
    for a, b in zip(*(look_in_forest(Lookahead(2), f, ROOTS, jax.random.key(0)) for f in (forest, other)), strict=True):
        assert (a == b).all()


@pytest.mark.parametrize("depth", [0, 5, -1])
def test_a_depth_out_of_range_is_refused(depth):
    with pytest.raises(BadInput, match="1 to 4"):
        Lookahead(depth)
