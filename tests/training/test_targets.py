"""The targets of Q are what a beam search from each state says."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.games import make_game
from beamzero.nets import Net, make_evaluator, make_net
from beamzero.search.beam import BeamSearch
from beamzero.training.replay import Memory, remember
from beamzero.training.selfplay import SelfPlay, self_play
from beamzero.training.targets import search_all

GAME = make_game("connect_four:rows=4,columns=4,length=3")


@pytest.fixture(scope="module")
def evaluator():
    value, scores = (Net(GAME, make_net("mlp:width=16,depth=2"), head) for head in ("value", "scores"))
    return make_evaluator(value, value.init(jax.random.key(1)), scores, scores.init(jax.random.key(2)))


@pytest.fixture(scope="module")
def memory(evaluator) -> Memory:
    games = self_play(GAME, SelfPlay(5, 16, 1.0, 0.25, 0), evaluator, jax.random.key(0))
    return remember(80, games)


@pytest.mark.parametrize("batch", [1, 7, 20, 80])
def test_every_real_row_is_searched_and_nothing_else(memory, evaluator, batch):
    count = int(memory.size)
    assert 20 < count < 80 and (batch == 1 or count % batch)
    search = BeamSearch(6, depth=2)
    told: list[int] = []
    rows, evaluations = search_all(GAME, search, batch, evaluator, memory, told.append)
    alone = jax.jit(lambda state: search.advance(GAME, evaluator, search.start(GAME, state), search.expand))
    result = jax.jit(lambda tree: search.result(GAME, tree, jax.random.key(9)))
    asked = 0
    for row in range(count):
        state = jax.tree.map(lambda x, row=row: x[row : row + 1], memory.states)
        tree = alone(state)
        moves, number = GAME.moves(jax.tree.map(lambda x: x[0], state))
        values = result(tree).values[0][moves[:number]]
        assert (rows.moves[row, :number] == moves[:number]).all()
        np.testing.assert_allclose(rows.values[row, :number], values, rtol=1e-5, atol=1e-6)
        assert np.isfinite(values).all() and (rows.values[row, number:] == -np.inf).all()
        asked += int(tree.evaluations[0])
    assert evaluations == asked
    assert rows.values.shape == rows.moves.shape == (80, 4)
    assert not jnp.isfinite(rows.values[count:]).any(), "padding gets no targets"
    assert told == [min(first + batch, count) for first in range(0, count, batch)]


def test_an_empty_memory_has_nothing_to_search(memory, evaluator):
    rows, evaluations = search_all(
        GAME, BeamSearch(3), 8, evaluator, memory._replace(size=jnp.int32(0)), lambda done: None
    )
    assert evaluations == 0 and not jnp.isfinite(rows.values).any()
