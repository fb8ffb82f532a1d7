"""A fingerprint is the same for the same player, whoever asks, and another for another."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from beamzero.games import make_game
from beamzero.nets import Net, make_joint_evaluator, make_net
from beamzero.players import make_player
from beamzero.players.fingerprint import fingerprint
from beamzero.players.player import SearchPlayer
from beamzero.search.mcts.mcts import MCTS

GAME = make_game("connect_four")
DIFFERENT = [
    "random", "lookahead:1", "lookahead:2", "minimax:3", "minimax:3,by=nothing", "alphabeta:depth=3",
    "alphabeta:depth=3,order=false", "alphabeta:nodes=1000", "alphabeta:seconds=1", "mcts:sims=20", "mcts:sims=20,c=2",
    "mcts:seconds=1", "mcts:seconds=2",
]  # fmt: skip


def trained(seed: int, sims: int = 5, net: str = "mlp:width=8,depth=1", name: str = "agent") -> SearchPlayer:
    made = Net(GAME, make_net(net), "joint")
    return SearchPlayer(name, GAME, MCTS(sims), make_joint_evaluator(made, made.init(jax.random.key(seed))))


def test_different_players_have_different_ones():
    others = [trained(0), trained(1), trained(0, sims=6), trained(0, net="mlp:width=9,depth=1")]
    wider = make_player("lookahead:2", make_game("connect_four:columns=8"))
    found = [fingerprint(player) for player in [*(make_player(name, GAME) for name in DIFFERENT), *others, wider]]
    assert len(set(found)) == len(found) and all(len(text) == 32 for text in found)


@pytest.mark.parametrize(
    "names", [("lookahead:2", "two_step_lookahead"), ("minimax:3", "minimax:depth=3"), ("mcts:20", "mcts:sims=20,c=1")]
)
def test_a_name_does_not_matter(names):
    assert len({fingerprint(make_player(name, GAME)) for name in names}) == 1
    assert fingerprint(trained(0, name="a")) == fingerprint(dataclasses.replace(trained(0), name="b", on_host=True))


def test_one_weight_matters():
    player = trained(0)
    leaves, structure = jax.tree.flatten(player.evaluator)
    leaves[0] = leaves[0].at[(0,) * leaves[0].ndim].add(jnp.float32(1e-6))
    changed = dataclasses.replace(player, evaluator=jax.tree.unflatten(structure, leaves))
    assert fingerprint(changed) != fingerprint(player)


@pytest.mark.slow
def test_another_process_finds_the_same():
    program = (
        "from beamzero.games import make_game; from beamzero.players import make_player;"
        "from beamzero.players.fingerprint import fingerprint; game = make_game('connect_four');"
        f"print(*(fingerprint(make_player(name, game)) for name in {DIFFERENT!r}))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert said == [fingerprint(make_player(name, GAME)) for name in DIFFERENT]
