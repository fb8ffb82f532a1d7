"""Commands that play on a cluster."""

from __future__ import annotations

import json
import shlex

import pytest

from beamzero.cli import main
from beamzero.cli.cluster import _room
from beamzero.core.errors import BadInput
from beamzero.experiments.studies import STUDIES
from tests.experiments.test_reproduce import SMALL, small_study


@pytest.mark.slow
def test_battles_and_ratings_are_played_on_a_cluster(nodes, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["--games", "20", "--cluster", nodes.address, "--workers", "2", "--json"]
    assert main(["battle", "tic_tac_toe", "lookahead:2", "random", *words, "--save", "games.jsonl"]) == 0
    played = json.loads(capsys.readouterr().out)
    assert played["score"] > 0.6 and played["games"] == 20 == len((tmp_path / "games.jsonl").read_text().splitlines())
    assert main(["rate", "tic_tac_toe", "lookahead:1", *words]) == 0
    ratings = {one["agent"]: one for one in json.loads(capsys.readouterr().out)["ratings"]}
    assert ratings["random"]["elo"] == 1000 and ratings["lookahead:1"]["games"] == 20


@pytest.mark.slow
def test_studies_and_comparisons_are_trained_on_a_cluster(nodes, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(STUDIES, "probs-fig1", (small_study, 1))
    changes = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    there = ["--cluster", nodes.address, "--workers", "2"]
    found = []
    for words in (["--out", "here"], [*there, "--out", "there"]):
        assert main(["reproduce", "probs-fig1", *words, *changes, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    for one in found:
        assert one.pop("complete") and one.pop("folder")
        for group in one["groups"]:
            del group["seconds"]
    assert found[0] == found[1]
    recipes = ["tic_tac_toe_compare_probs", "tic_tac_toe_compare_alphazero"]
    short = shlex.split("--amount 400 --seeds 1 --points 1 --rate-games 4 --battle-games 4 --play-evaluations 12")
    compared = ["compare", "tic_tac_toe", "--recipes", " ".join(recipes), *short, "--rate-against", "random"]
    assert main([*compared, *there, "--out", "compared", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result["recipes"]) == set(recipes) and [played["games"] for played in result["battles"]] == [4, 4]


@pytest.mark.slow
def test_a_gpu_that_is_not_there_gets_one_line(nodes, capsys, tmp_path):
    words = ["--cluster", nodes.address, "--worker-gpus", "1", "--run", str(tmp_path / "run")]
    assert main(["train", "tic_tac_toe", *words]) == 2
    said = "beamzero: --worker-gpus is 1, but no machine of the cluster has more than 0\n"
    assert capsys.readouterr().err == said and not (tmp_path / "run").exists()
    words[3] = "1.5"
    assert main(["train", "tic_tac_toe", *words]) == 2
    said = "beamzero: --worker-gpus is 1.5, but must be a whole number, or a part of one GPU from 0.0001 on\n"
    assert capsys.readouterr().err == said and not (tmp_path / "run").exists()


def test_there_are_as_many_workers_as_have_room():
    machines = [{"CPU": 8.0, "GPU": 2.0}, {"CPU": 1.0, "GPU": 4.0}, {"CPU": 16.0}]
    assert _room(machines, 0.0) == 25 and _room(machines, 1.0) == 3 and _room(machines, 0.5) == 5
    assert _room(machines, 4.0) == 1 and _room([{}], 0.0) == 1
    with pytest.raises(BadInput, match="no machine of the cluster has more than 4"):
        _room(machines, 5.0)


@pytest.mark.slow
def test_td_is_not_for_a_cluster(nodes, capsys, tmp_path):
    words = ["--algo", "td", "--cluster", nodes.address, "--run", str(tmp_path / "run")]
    assert main(["train", "backgammon", *words]) == 2
    said = "beamzero: TD(lambda) is trained in one process; a cluster is for PROBS and AlphaZero\n"
    assert capsys.readouterr().err == said and not (tmp_path / "run").exists()
