"""An algorithm, a net and a game of one file outside the package go all the way, and nothing runs that file unasked."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from beamzero.cli import main
from beamzero.core.errors import BadInput
from beamzero.core.registry import ALGORITHMS, missing_members
from beamzero.core.user_code import load_file
from beamzero.games import make_game
from beamzero.nets import NETS
from beamzero.players import make_player
from beamzero.storage.checkpoints import Checkpoints
from beamzero.training.algorithm import Algorithm
from beamzero.web.offers import Offers
from tests.training.toy import ROOT, numbers
from tests.web.serving import begin, seat, server

EXAMPLE = ROOT / "examples" / "own_algorithm.py"
GAME, ALGORITHM = "own_algorithm.py:Nim,heap=7", "own_algorithm.py:MonteCarlo"
SMALL = [
    word
    for key, value in {
        "games": 8, "iterations": 6, "rate_every": 3, "rate_games": 4, "anchor_games": 4, "rate_against": "random",
        "value_net": "shallow:width=8",
    }.items()
    for word in ("--set", f"{key}={value}")
]  # fmt: skip
TRAIN = ["train", GAME, "--algo", ALGORITHM, *SMALL, "--run"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The folder that a user works in; what is registered in it is forgotten after the test."""
    shutil.copy(EXAMPLE, tmp_path)
    monkeypatch.chdir(tmp_path)
    for registry in (ALGORITHMS, NETS):
        monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    load_file.cache_clear()
    return tmp_path


def said(capsys, *words: str) -> dict:
    assert main([*words, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def refused(capsys, *words: str) -> str:
    assert main(list(words)) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    return line


@pytest.mark.slow
def test_it_is_trained_killed_resumed_exported_played_rated_analysed_and_offered(folder, capsys, monkeypatch):
    assert said(capsys, *TRAIN, "whole")["iterations"] == 6

    process = subprocess.Popen(
        [sys.executable, "-m", "beamzero", *TRAIN, "killed"], env=_with_package(), stderr=subprocess.PIPE, text=True
    )
    checkpoints = Checkpoints(folder / "killed" / "checkpoints", keep=1)
    while max(checkpoints.steps(), default=0) < 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert said(capsys, "train", GAME, "--algo", ALGORITHM, "--run", "killed", "--resume")["iterations"] == 6
    assert numbers(folder / "killed") == numbers(folder / "whole")

    exported = said(capsys, "export", "killed", "agent.safetensors", "--game", GAME, "--algo", ALGORITHM)
    assert exported["iterations"] == 6
    of_run, of_file = f"{ALGORITHM},killed", f"{ALGORITHM},agent.safetensors"
    battle = said(capsys, "battle", GAME, of_run, of_file, "--games", "8")
    assert battle["games"] == 8 and sum(battle[key] for key in ("wins", "draws", "losses")) == 8
    rated = said(capsys, "rate", GAME, f"{ALGORITHM},killed,checkpoint=all", "lookahead:1", "--games", "4")
    names = {row["agent"] for row in rated["ratings"]}
    assert names == {"random", "lookahead:1", *(f"{of_run},checkpoint={step}" for step in checkpoints.steps())}
    analysed = [said(capsys, "analyse", GAME, agent) for agent in (of_run, of_file)]
    assert analysed[0]["moves"] == analysed[1]["moves"] and len(analysed[0]["moves"]) == 3
    monkeypatch.setattr("sys.stdin", io.StringIO("take3\n" * 3))
    assert main(["play", GAME, "--agent", of_file]) == 0
    assert "own_algorithm.py:MonteCarlo,agent.safetensors" in capsys.readouterr().out

    with server(folder, [GAME], agents=[(GAME, of_file)], runs=folder) as browser:
        page = browser()
        assert '"extra:0"' in page.get("/api/games").text
        for agent in ("extra:0", "run:killed"):
            with seat(page, begin(page, GAME, (agent, "human"))) as table:
                assert len(table.my_turn()["moves"]) == 1


def test_it_begins_a_run_and_plays(folder, capsys):
    assert said(capsys, *TRAIN, "run", "--iterations", "1")["rating"]["scores"].keys() == {"random"}
    game = make_game(GAME)
    player = make_player(f"{ALGORITHM},run,level=easy", game)
    assert player.name == f"{ALGORITHM},run,level=easy"
    offer = Offers([GAME], runs=folder).agent(GAME, "run:run")
    assert offer.text == f"{ALGORITHM},{folder / 'run'}" and make_player(offer.text, game)
    text = said(capsys, "agents")["agents"]
    assert text["MonteCarlo:PATH"].startswith("an agent trained by Monte Carlo")

    wrong = "no setting 'sims' (it has: iterations, games, "
    assert wrong in refused(capsys, "train", GAME, "--algo", ALGORITHM, "--set", "sims=3", "--run", "other")
    line = refused(capsys, "train", GAME, "--algo", ALGORITHM, "--run", "run", "--resume", "--set", "explore=0.9")
    assert "explore is 0.2 in run and cannot be changed" in line
    assert not (folder / "other").exists()


def test_nothing_that_a_data_file_says_runs_the_file(folder, capsys):
    train = ["train", "tic_tac_toe", "--algo", ALGORITHM, *SMALL, "--run", "run"]
    assert said(capsys, *train, "--iterations", "1", "--set", "rate_every=0")
    ALGORITHMS._registered.clear()
    NETS._registered.clear()
    load_file.cache_clear()
    Path("own_algorithm.py").write_text(EXAMPLE.read_text() + "\nopen('ran', 'a').close()\n")
    for words in (["export", "run", "x.safetensors"], ["train", "tic_tac_toe", "--run", "run", "--resume"]):
        line = refused(capsys, *words)
        assert "was trained by 'MonteCarlo', but this version plays agents of probs and alphazero and td" in line
        assert "file.py:MonteCarlo" in line
    assert "unknown agent 'MonteCarlo'" in refused(capsys, "battle", "tic_tac_toe", "MonteCarlo:run", "random")
    with pytest.raises(BadInput, match="is not one of"):
        Offers(["tic_tac_toe"], runs=folder).agent("tic_tac_toe", "run:run")
    assert {path.name for path in folder.iterdir()} == {"own_algorithm.py", "run"}
    assert said(capsys, *train, "--resume", "--iterations", "1")["iterations"] == 1 and Path("ran").exists()


def test_the_guide_shows_what_stands_in_the_example():
    guide = (ROOT / "docs" / "add-your-own-algorithm.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4 and all(block in EXAMPLE.read_text(encoding="utf-8") for block in blocks)
    assert all(
        f"`{member}" in guide for member in missing_members(object, Algorithm) if member not in ("game", "settings")
    )


def _with_package() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}
