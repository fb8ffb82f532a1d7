"""A trained agent is the same on disk as in the run, or it is refused."""

from __future__ import annotations

import json
import shutil

import jax
import ml_dtypes
import numpy as np
import pytest

from beamzero.cli import main
from beamzero.core.errors import BadInput
from beamzero.core.spec import quote
from beamzero.games import make_game
from beamzero.players.trained import every_checkpoint, load_trained, shipped_agents
from beamzero.storage.agentfile import flatten, load_agent, save_agent
from tests.players.test_players import positions
from tests.training.toy import GAME, flip_a_byte, same_bits, saved_tree

TIC_TAC_TOE = make_game(GAME)


@pytest.fixture
def run(probs_run):
    return probs_run


@pytest.fixture
def file(run, tmp_path):
    load_trained(str(run), TIC_TAC_TOE).save(tmp_path / "agent.safetensors")
    return tmp_path / "agent.safetensors"


@jax.jit
def _answers(evaluator, states):
    return evaluator.value(states), evaluator.scores(states)


def answers(trained):
    return list(jax.device_get(_answers(trained.evaluator, positions(30))))


def test_an_exported_agent_answers_bit_for_bit_as_the_run_does(run, file):
    from_run, from_file = load_trained(str(run), TIC_TAC_TOE), load_trained(str(file), TIC_TAC_TOE)
    tree = saved_tree(run)[1]
    assert same_bits(from_run.weights, {net: tree[net]["weights"] for net in ("value", "q")})
    assert same_bits(answers(from_run), answers(from_file))
    assert from_file.info == from_run.info
    assert from_file.info["iterations"] == 3 and from_file.info["rating"] == saved_tree(run)[2]["rating"]
    assert from_file.info["settings"]["expand"] == 3


def test_the_same_agent_is_the_same_file(run, file, tmp_path):
    load_trained(str(file), TIC_TAC_TOE).save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == file.read_bytes()


def test_every_checkpoint_of_a_run_can_be_had(run):
    for step in (1, 2, 3):
        trained = load_trained(str(run), TIC_TAC_TOE, str(step))
        assert trained.info["iterations"] == step
        assert same_bits(trained.weights["q"], saved_tree(run, step)[1]["q"]["weights"])
    best = load_trained(str(run), TIC_TAC_TOE, "best").info
    assert best["best"]["iteration"] == best["iterations"]
    for wrong in ("9", "-1", "newest", "0"):
        with pytest.raises(BadInput, match=r"unknown checkpoint in .* \(there are: 1, 2, 3, best, last\)"):
            load_trained(str(run), TIC_TAC_TOE, wrong)


@pytest.mark.slow
def test_all_checkpoints_of_a_run_are_rated_and_drawn_as_a_curve(run, tmp_path, capsys):
    text = f"probs:{quote(str(run))},checkpoint=all,expand=2"
    named = {step: f"probs:{quote(str(run))},expand=2,checkpoint={step}" for step in (1, 2, 3)}
    assert every_checkpoint(text) == named
    assert every_checkpoint(named[1]) == every_checkpoint("random") == every_checkpoint("lookahead:2") == {}
    picture = tmp_path / "curve.png"
    words = ["rate", "tic_tac_toe", text.replace(",expand=2", ""), "--games", "20", "--no-store", "--json"]
    assert main([*words, "--plot", str(picture)]) == 0
    rated = {row["agent"] for row in json.loads(capsys.readouterr().out)["ratings"]}
    assert rated == {"random", *(name.replace(",expand=2", "") for name in named.values())}
    assert picture.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(BadInput):
        every_checkpoint("probs:nowhere,checkpoint=all")


def test_a_damaged_last_checkpoint_is_said_and_the_one_before_it_plays(run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    flip_a_byte(tmp_path / "run", 3)
    with pytest.warns(UserWarning, match="checkpoint 3 in .* is damaged and not used"):
        assert load_trained(str(tmp_path / "run"), TIC_TAC_TOE).info["iterations"] == 2
    with pytest.warns(UserWarning), pytest.raises(BadInput, match="holds no agent that could be used"):
        load_trained(str(tmp_path / "run"), TIC_TAC_TOE, "3")


def test_another_game_is_refused(run, file):
    for place in (run, file):
        with pytest.raises(BadInput, match=r"plays tic_tac_toe, not connect_four:rows=4"):
            load_trained(str(place), make_game("connect_four:rows=4,columns=4,length=3"))


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda t, i: t.pop("q/head/bias"), "its weights do not fit its nets"),
        (lambda t, i: t.update({"q/head/bias": np.zeros(8, np.float32)}), "its weights do not fit its nets"),
        (lambda t, i: t.update({"q/more": np.zeros(8, np.float32)}), "its weights do not fit its nets"),
        (
            lambda t, i: [t.pop(name) for name in list(t) if name.startswith("value")],
            "no agent of probs that this version",
        ),
        (lambda t, i: i.pop("settings"), "no agent of probs that this version can read"),
        (lambda t, i: i.pop("game"), "no agent of probs that this version can read"),
        (lambda t, i: i.update(settings=7), "no agent of probs that this version can read"),
        (lambda t, i: i["settings"].pop("q_net"), "no agent of probs that this version can read"),
        (lambda t, i: i["settings"].update(q_net="mlp:width=9,depth=2"), "its weights do not fit its nets"),
        (lambda t, i: t.update({"more": np.zeros(8, np.float32)}), "its weights do not fit its nets"),
        (lambda t, i: t.update({"q": np.zeros(8, np.float32)}), "its weights do not fit its nets"),
        (lambda t, i: t.update({"q/head": np.zeros(8, np.float32)}), "its weights do not fit its nets"),
        (lambda t, i: t.update({"q/head/bias/x": np.zeros(8, np.float32)}), "its weights do not fit its nets"),
        (lambda t, i: t.update({"q/" + "/".join("a" * 1000): np.zeros(8, np.float32)}), "do not fit its nets"),
        (lambda t, i: i["settings"].update(q_net="resnet:channels=2048,blocks=80"), "its weights do not fit its nets"),
        (
            lambda t, i: i["settings"].update(q_net="dense:widths=8" + "-8" * 99),
            "has 100 layers, but may have at most 64",
        ),
        (lambda t, i: i["settings"].update(q_net="mlp:width=8,depth=2000"), "depth is 2000, but must be 1 to 64"),
        (
            lambda t, i: i["settings"].update(q_net="mlp:" + " " * 2000),
            "has 2004 characters, but may have at most 1000",
        ),
        (lambda t, i: t.update({"q/head/bias": np.full(9, np.nan, np.float32)}), "its weights are not finite"),
        (lambda t, i: t.update({"q/head/bias": np.full(9, -np.inf, np.float16)}), "its weights are not finite"),
        (lambda t, i: t.update({"q/head/bias": np.full(9, 1e39, np.float64)}), "its weights are not finite"),
        (lambda t, i: t.update({"q/head/bias": np.zeros(9, bool)}), "its weights are bool, but must be bfloat16 or"),
        (lambda t, i: t.update({"q/head/bias": np.zeros(9, np.int32)}), "its weights are int32, but must be"),
        (lambda t, i: i["settings"].update(q_net="transformer"), "unknown net 'transformer'"),
        (lambda t, i: i["settings"].update(q_net=5), "no agent of probs that this version can read|must be"),
        (lambda t, i: i.update(algorithm="alphazero"), "was trained by alphazero: write alphazero:"),
        (
            lambda t, i: i.update(algorithm="sarsa"),
            "trained by 'sarsa', but this version plays agents of probs and alpha",
        ),
        (lambda t, i: i.update(algorithm=[]), "was trained by \\[\\], but this version plays"),
        (lambda t, i: i.pop("algorithm"), "was trained by None, but this version plays agents of"),
    ],
)
def test_a_foreign_agent_is_refused_in_one_line(file, tmp_path, change, wrong):
    tensors, info = load_agent(file)
    change(tensors, info)
    save_agent(tmp_path / "other.safetensors", tensors, info)
    with pytest.raises(BadInput, match=wrong) as error:
        load_trained(str(tmp_path / "other.safetensors"), TIC_TAC_TOE, algorithm="probs").evaluator.scores(positions(2))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_weights_may_be_floating_point_numbers_of_other_sizes(file, tmp_path, kind):
    tensors, info = load_agent(file)
    save_agent(tmp_path / "other.safetensors", {name: array.astype(kind) for name, array in tensors.items()}, info)
    weights = flatten(load_trained(str(tmp_path / "other.safetensors"), TIC_TAC_TOE).weights)
    assert {name: array.dtype for name, array in weights.items()} == dict.fromkeys(tensors, np.float32)
    for name, array in tensors.items():
        np.testing.assert_array_equal(weights[name], array.astype(kind).astype(np.float32))


def test_weights_that_16_bits_cannot_hold_are_not_rounded_to_infinity(file, tmp_path):
    trained = load_trained(str(file), TIC_TAC_TOE)
    trained.weights["q"]["head"]["bias"] = np.full(9, 1e6, np.float32)
    with pytest.raises(BadInput, match="too large for 16 bits"):
        trained.save(tmp_path / "half.safetensors", half=True)
    assert not (tmp_path / "half.safetensors").exists()


@pytest.mark.slow
def test_an_agent_of_alphazero_is_the_best_net_of_its_run(alphazero_run, tmp_path):
    trained = load_trained(str(alphazero_run), TIC_TAC_TOE, algorithm="alphazero")
    assert trained.algorithm == "alphazero" and trained.nets.keys() == {"net"}
    tree = saved_tree(alphazero_run)[1]
    assert same_bits(trained.weights["net"], tree["best"])
    assert not same_bits(tree["best"], tree["net"]["weights"])
    value, scores = answers(trained)
    assert value.shape == (30,) and scores.shape == (30, 9) and (abs(value) <= 1).all()
    trained.save(tmp_path / "agent.safetensors")
    again = load_trained(str(tmp_path / "agent.safetensors"), TIC_TAC_TOE, algorithm="alphazero")
    assert same_bits(answers(again), [value, scores]) and again.info == trained.info


@pytest.mark.slow
def test_an_agent_of_the_other_algorithm_is_refused_with_the_name_it_goes_by(alphazero_run, run, tmp_path):
    file = tmp_path / "agent.safetensors"
    either = load_trained(str(alphazero_run), TIC_TAC_TOE, algorithm=None)
    either.save(file)
    for place, theirs, wanted in [
        (alphazero_run, "alphazero", "probs"), (file, "alphazero", "probs"), (run, "probs", "alphazero")
    ]:  # fmt: skip
        with pytest.raises(BadInput) as error:
            load_trained(str(place), TIC_TAC_TOE, algorithm=wanted)
        assert str(error.value) == f"{place} was trained by {theirs}: write {theirs}:{quote(str(place))}"


def test_every_single_damaged_byte_is_noticed(file):
    data = file.read_bytes()
    for place in np.linspace(0, len(data) - 1, 60).astype(int):
        file.write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :])
        with pytest.raises(BadInput):
            load_trained(str(file), TIC_TAC_TOE)


def test_weights_lie_in_the_file_by_their_names(run, file):
    tensors, _ = load_agent(file)
    trained = load_trained(str(run), TIC_TAC_TOE)
    assert tensors.keys() == flatten(trained.weights).keys()
    assert all(array.dtype == np.float32 for array in tensors.values())


@pytest.mark.slow
def test_shipped_agents_can_be_loaded_by_their_names():
    smallest = min(shipped_agents().values(), key=lambda path: path.stat().st_size)
    for name, path in shipped_agents().items():
        game = make_game(load_agent(path)[1]["game"])
        trained = load_trained(name, game, algorithm=None)
        states = jax.tree.map(lambda x: x[None], game.init(jax.random.key(0)))
        assert jax.eval_shape(trained.evaluator.scores, states).shape == (1, game.num_actions), "its weights fit"
        if path == smallest:
            assert np.isfinite(
                jax.jit(lambda evaluator, states: evaluator.scores(states))(trained.evaluator, states)
            ).all()
