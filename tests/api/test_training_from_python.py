"""Runs from Python: games, nets and algorithms as objects, and the same run as on the command line."""

from __future__ import annotations

import dataclasses
import itertools
import json
from typing import NamedTuple

import jax
import jax.numpy as jnp
import pytest
from flax import nnx

import beamzero as bz
from beamzero.cli import main
from beamzero.games import GAMES
from beamzero.nets import NETS
from beamzero.training.report import Report
from tests.training.toy import numbers

FEW = {"games": 8, "rate_games": 4, "anchor_games": 4, "rate_against": "random", "progress": False}
PROBS = bz.Probs(games=8, expand=3, value_net="mlp:width=8,depth=1", q_net="mlp:width=8,depth=1")


class PileState(NamedTuple):
    heap: jax.Array
    ply: jax.Array


@dataclasses.dataclass(frozen=True)
class Pile(bz.Game):
    """Take one to three stones; the last stone wins."""

    heap: int = 7

    num_actions = max_moves = 3

    @property
    def max_plies(self):
        return self.heap

    @property
    def observation_shape(self):
        return (self.heap + 1,)

    def init(self, key):
        return PileState(jnp.int32(self.heap), jnp.int32(0))

    def player(self, state):
        return state.ply % 2

    def legal(self, state):
        return jnp.arange(3) < state.heap

    def step(self, state, action):
        left = jnp.maximum(state.heap - action.astype(jnp.int32) - 1, 0)
        return PileState(left, state.ply + (state.heap > 0).astype(jnp.int32))

    def over(self, state):
        return state.heap == 0

    def score(self, state):
        return jnp.where(state.heap == 0, (2 * (state.ply % 2) - 1).astype(jnp.float32), 0.0)

    def observe(self, state):
        return (jnp.arange(self.heap + 1) == state.heap).astype(jnp.float32)

    def action_name(self, state, action):
        return f"take{action + 1}"


class Perceptron(nnx.Module):
    def __init__(self, observation_shape, outputs, rngs, width: int = 8):
        self.hidden = nnx.Linear(observation_shape[0], width, rngs=rngs)
        self.head = nnx.Linear(width, outputs, rngs=rngs)

    def __call__(self, x):
        return self.head(jnp.tanh(self.hidden(x)))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Heard(Report):
    def __init__(self):
        self.messages = []

    def message(self, text):
        self.messages.append(text)


def test_a_run_is_that_of_the_command_line(folder, capsys):
    few = ["--set", "games=8", "--set", "rate_games=4", "--set", "anchor_games=4", "--set", "rate_against=random"]
    net = "mlp:width=8,depth=1"
    nets = ["--set", f"value_net={net}", "--set", f"q_net={net}"]
    words = ["train", "tic_tac_toe", "--recipe", "none", *few, "--set", "expand=3", *nets]
    assert main([*words, "--iterations", "2", "--run", "typed", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == 2
    run = bz.train("tic_tac_toe", PROBS, iterations=2, folder="called", **FEW)
    assert run.iterations == 2 and run.settings["expand"] == 3
    assert numbers(folder / "typed") == numbers(folder / "called")


def test_a_game_of_ones_own_is_trained_resumed_exported_and_loaded(folder):
    heard = Heard()
    run = bz.train(Pile(heap=6), PROBS, iterations=1, folder="run", **{**FEW, "progress": heard})
    assert heard.messages == [
        "stops after 1 of the 100 iterations over which learning rates fall; the setting iterations=1 plans a whole"
        " training of 1",
        "another process opens run when it is given the game Pile: bz.load('run', game=Pile)",
    ]
    assert len(run.metrics()) == 1 and run.rating["scores"].keys() == {"random"}
    assert run.plot().axes and run.game == Pile(heap=6)
    assert "<table" in run._repr_html_() and "data:image/png" in run._repr_html_() and "Pile:heap=6" in repr(run)
    again = bz.train(Pile(heap=6), "probs", iterations=2, folder="run", resume=True, progress=False)
    assert again.iterations == 2 and [record["iteration"] for record in again.metrics()] == [1, 2]
    path = again.export("pile.safetensors")
    GAMES._registered.clear()
    with pytest.raises(bz.BadInput, match=r"of 'Pile:heap=6', which this process does not know: give .* game="):
        bz.load(path)
    with pytest.raises(bz.BadInput, match="it is of 'Pile:heap=6', not of 'Pile' as game= says"):
        bz.load(path, game=Pile())
    agent = bz.load(path, game=Pile(heap=6), expand=5)
    assert agent.name == "probs:pile.safetensors,expand=5"
    same = bz.TrainingRun("run", game=Pile).player()
    assert bz.battle(agent, same, games=4, progress=False).games == 4


def test_the_same_seed_gives_the_same_run(folder):
    for name in ("one", "two"):
        bz.train(Pile, PROBS, iterations=2, folder=name, seed=5, **FEW)
    assert numbers(folder / "one") == numbers(folder / "two")


def test_a_module_is_a_net(folder):
    run = bz.train(Pile, "alphazero", net=Perceptron, sims=4, window=100, batches=2, iterations=1, folder="run", **FEW)
    assert run.settings["net"] == "perceptron"
    assert run.player(sims=4).name == "alphazero:run,sims=4"
    path = run.export("agent.safetensors")
    NETS._registered.clear()
    with pytest.raises(bz.BadInput, match="unknown net 'perceptron'"):
        bz.load(path, game=Pile)


class Listed(nnx.Module):
    """A net whose layers stand in a list."""

    def __init__(self, observation_shape, outputs, rngs):
        sizes = (observation_shape[0], 8, outputs)
        self.layers = nnx.List([nnx.Linear(one, other, rngs=rngs) for one, other in itertools.pairwise(sizes)])

    def __call__(self, x):
        return self.layers[1](jnp.tanh(self.layers[0](x)))


def test_a_net_with_a_list_of_layers_is_saved_and_loaded(folder):
    run = bz.train(Pile, "alphazero", net=Listed, sims=4, window=100, batches=2, iterations=1, folder="run", **FEW)
    loaded = bz.load(run.export("agent.safetensors"), game=Pile)
    values = [bz.analyse(agent).value for agent in (run.player(), loaded)]
    assert values[0] == values[1]


class NoRngs(nnx.Module):
    def __init__(self, observation_shape, outputs): ...


class OddArgument(nnx.Module):
    def __init__(self, observation_shape, outputs, rngs, layers=(1, 2)): ...


class WrongOutput(Perceptron):
    def __call__(self, x):
        return super().__call__(x)[:, :1]


class Crashes(Perceptron):
    def __call__(self, x):
        return x @ x


@pytest.mark.parametrize(
    ("net", "wrong"),
    [
        (NoRngs, "NoRngs is no net: its __init__ has no argument rngs"),
        (OddArgument, "OddArgument is no net: its argument layers needs a default that is a bool, int, float or str"),
        (WrongOutput, r"the net wrongoutput gives \(2, 1\) for 2 positions of Pile, but must give \(2, 4\)"),
        (Crashes, "the net crashes cannot be used for Pile: TypeError: "),
    ],
)
def test_a_net_that_does_not_fit_is_refused_before_anything_is_written(folder, net, wrong):
    with pytest.raises(bz.BadInput, match=wrong):
        bz.train(Pile, "alphazero", net=net, folder="run", **FEW)
    assert not list(folder.iterdir())


@dataclasses.dataclass(frozen=True)
class TakesTooMuch(Pile):
    """A pile from which three stones may always be taken."""

    def legal(self, state):
        return jnp.arange(3) < 3

    def step(self, state, action):
        return PileState(state.heap - action.astype(jnp.int32) - 1, state.ply + 1)


def test_a_game_that_breaks_a_law_is_refused_before_anything_is_written(folder):
    with pytest.raises(bz.BadInput, match="TakesTooMuch breaks a law of games: "):
        bz.train(TakesTooMuch, PROBS, folder="run", **FEW)
    assert not list(folder.iterdir())


def test_a_cell_that_trains_may_be_run_again(folder):
    for _ in range(2):
        run = bz.train("tic_tac_toe", PROBS, iterations=2, folder="run", resume=True, **FEW)
        assert run.iterations == 2 and run.checkpoints == [0, 1, 2]
    with pytest.raises(bz.BadInput, match="run already holds a run: go on with it by resume=True"):
        bz.train("tic_tac_toe", PROBS, folder="run", **FEW)
    with pytest.raises(bz.BadInput, match="expand is 3 in run and cannot be changed"):
        bz.train("tic_tac_toe", bz.Probs(expand=4), folder="run", resume=True, **FEW)


def test_settings_hold_the_text_of_a_net():
    assert bz.Probs(value_net=Perceptron, q_net="perceptron:width=16").value_net == "perceptron"
    with pytest.raises(bz.BadInput, match="NoRngs is no net"):
        bz.AlphaZero(net=NoRngs)


class NoAlgorithm:
    title = "none"


def test_wrong_arguments_get_one_line(folder):
    for arguments, wrong in [
        ((Pile, NoAlgorithm), "'NoAlgorithm' is no algorithm: it has no agent, "),
        ((Pile, "prob"), "unknown algorithm 'prob'; did you mean probs"),
        (("tic_tac_to",), "unknown game 'tic_tac_to'; did you mean tic_tac_toe"),
    ]:
        with pytest.raises(bz.BadInput, match=wrong):
            bz.train(*arguments, folder="run", **FEW)
    with pytest.raises(bz.BadInput, match="no setting 'game_count'"):
        bz.train(Pile, PROBS, folder="run", game_count=3, **FEW)
    with pytest.raises(bz.BadInput, match="games is 0, but must be 1 to 1000000"):
        bz.Probs(games=0)
    with pytest.raises(bz.BadInput, match="games is 'many', but must be a number, 1 to 1000000"):
        bz.Probs(games="many")
    assert not list(folder.iterdir())


def test_a_file_runs_no_code(folder):
    (folder / "evil.py").write_text("open('ran', 'w').close()\n")
    run = bz.train("tic_tac_toe", PROBS, iterations=1, folder="run", **FEW)
    from beamzero.storage.seal import seal, unseal

    about = unseal((folder / "run" / "run.json").read_bytes())
    (folder / "run" / "run.json").write_bytes(seal({**about, "game_text": "evil.py:X", "game": "evil.py:X"}))
    for ask in (lambda: bz.load(run.folder), lambda: bz.TrainingRun(run.folder)):
        with pytest.raises(bz.BadInput, match="is run only where you name it: give game="):
            ask()
    assert not (folder / "ran").exists()
