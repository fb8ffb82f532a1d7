"""Levels: from a beginner's slips to a full search, for any trained agent."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from beamzero.arena.battle import battle
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.nets import Net, make_net
from beamzero.players import make_player
from beamzero.players.levels import LEVELS, Slipping
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.lookahead import Lookahead
from beamzero.storage.agentfile import flatten, save_agent
from tests.games.play import stack, step

GAME = make_game("tic_tac_toe")


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """An agent by PROBS with random weights."""
    settings = {"value_net": "mlp:width=8,depth=1", "q_net": "mlp:width=8,depth=1", "precision": "float32"}
    heads = {"value": "value", "q": "scores"}
    nets = {
        name: Net(GAME, make_net("mlp:width=8,depth=1"), head).init(jax.random.key(0)) for name, head in heads.items()
    }
    path = tmp_path_factory.mktemp("agents") / "agent.safetensors"
    save_agent(path, flatten(nets), {"game": GAME.identity, "algorithm": "probs", "settings": settings})
    return f"probs:{path}"


def test_a_share_of_the_moves_is_any_legal_one():
    # One move away from three in a row, with four others to slip to.
    states = stack([step(GAME, GAME.init(jax.random.key(0)), 0, 3, 1, 4)] * 4000)
    search = jax.jit(Slipping(Lookahead(1), 0.25), static_argnums=0)
    found = search(GAME, zero_evaluator(GAME), states, jax.random.key(1))
    wins = np.mean(np.asarray(found.action) == 2)
    assert wins == pytest.approx(0.75 + 0.25 / 5, abs=0.02)
    assert np.allclose(np.asarray(found.policy).sum(axis=1), 1, atol=1e-5)
    assert np.asarray(found.policy)[0, 2] == pytest.approx(0.8, abs=1e-5)


def test_every_level_is_a_player_and_full_is_the_search(agent):
    players = {level: make_player(f"{agent},level={level}", GAME) for level in LEVELS}
    assert [player.deterministic for player in players.values()] == [False, False, False, True, True]
    assert players["full"].search == make_player(f"{agent},expand=100", GAME).search
    assert players["hard"].search == make_player(agent, GAME).search


@pytest.mark.slow
def test_a_full_search_beats_a_beginner(agent):
    players = {level: make_player(f"{agent},level={level}", GAME) for level in ("full", "beginner")}
    played = battle(GAME, players["full"], players["beginner"], games=40, seed=1)
    assert played.interval.low > 0.5


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (",level=godlike", "godlike"),
        (",level=easy,expand=5", "give a level or expand, not both"),
    ],
)
def test_levels_that_cannot_be_get_one_line(agent, text, why):
    with pytest.raises(BadInput, match=why):
        make_player(agent + text, GAME)
    with pytest.raises(BadInput, match="only trained agents have levels"):
        make_player("lookahead:2,level=easy", GAME)
