"""What stands in one file outside the package goes all the way, and nothing runs that file unasked."""

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

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.cli import main
from beamzero.core.errors import BadInput
from beamzero.core.registry import ALGORITHMS, missing_members
from beamzero.core.user_code import load_file
from beamzero.games import make_game
from beamzero.nets import NETS
from beamzero.players import make_player
from beamzero.search.drive import Timer
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.protocol import Search
from beamzero.storage.checkpoints import Checkpoints
from beamzero.training.algorithm import Algorithm
from beamzero.web.offers import Offers
from tests.training.toy import ROOT, numbers
from tests.web.serving import begin, seat, server

EXAMPLE = ROOT / "examples" / "own_algorithm.py"
GAME, ALGORITHM = "own_algorithm.py:Nim,heap=7", "own_algorithm.py:MonteCarlo"
SEARCH = "own_algorithm.py:Rollouts,games=40"
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
    rated = said(capsys, "rate", GAME, f"{ALGORITHM},killed,checkpoint=all", SEARCH, "--games", "4")
    battle = said(capsys, "battle", GAME, SEARCH, of_file, "--games", "8")
    assert battle["agents"] == [SEARCH, of_file] and battle["games"] == 8
    names = {row["agent"] for row in rated["ratings"]}
    assert names == {"random", SEARCH, *(f"{of_run},checkpoint={step}" for step in checkpoints.steps())}
    analysed = [said(capsys, "analyse", GAME, agent) for agent in (of_run, of_file)]
    assert analysed[0]["moves"] == analysed[1]["moves"] and len(analysed[0]["moves"]) == 3
    monkeypatch.setattr("sys.stdin", io.StringIO("take3\n" * 3))
    assert main(["play", GAME, "--agent", of_file]) == 0
    assert "own_algorithm.py:MonteCarlo,agent.safetensors" in capsys.readouterr().out

    with server(folder, [GAME], agents=[(GAME, of_file), (GAME, SEARCH)], runs=folder) as browser:
        page = browser()
        assert '"extra:1"' in page.get("/api/games").text
        for agent in ("extra:0", "extra:1", "run:killed"):
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


def test_a_search_plays_under_any_limit(folder, capsys):
    game = make_game(GAME)
    state, key = game.init(jax.random.key(0)), jax.random.key(1)
    for limit, most in (("games=30", 30), ("games=30,nodes=70", 10), ("games=30,seconds=60", 30)):
        found = make_player(f"own_algorithm.py:Rollouts,{limit}", game).consider(state, key)
        assert found.nodes == most * game.max_plies
    whole = said(capsys, "analyse", GAME, SEARCH)
    assert len(whole["moves"]) == 3 and whole["line"][0] == whole["best"]
    stopped = Timer()
    stopped.stop()
    player = make_player("own_algorithm.py:Rollouts,games=1000000", game)
    assert player.consider(state, key, timer=stopped).nodes == game.max_plies, "one unit, so that there is an answer"
    assert "Rollouts has no option 'depth' (it has: games, seconds, nodes," in refused(
        capsys, "battle", GAME, "own_algorithm.py:Rollouts,depth=3", "random"
    )
    assert "knows no dice, which backgammon has" in refused(capsys, "analyse", "backgammon", SEARCH)


def test_slices_of_the_search_add_up_to_the_whole(folder):
    game = make_game(GAME)
    search = make_player(SEARCH, game).search
    states, key = jax.vmap(game.init)(jax.random.split(jax.random.key(0), 3)), jax.random.key(1)
    carry = search.start(game, zero_evaluator(game), states, key)
    for budget in (3, 5, 100):
        carry = search.advance(game, zero_evaluator(game), carry, jnp.int32(budget))
    whole = search(game, zero_evaluator(game), states, key)
    assert all(map(np.array_equal, search.result(game, carry, key), whole)) and search.done(game, carry).all()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("class Mine: ...", "'Mine' is no algorithm: it has no agent, bytes_needed, compared, "),
        ("class Mine(Search): ...", "'Mine' is no search: it has no advance, done, result, spent, start"),
        ("class Mine(OneLook): ...", "'Mine' is no search: each field of Mine must be a bool, int, float or str"),
        ("class mcts(OneLook): ...", "'mcts' cannot be the name of your search: other agents go by it"),
        ("class Mine(OneLook):\n    nodes: int = 3", "'Mine' is no search: every agent has the options nodes, so its"),
        ("", "unknown algorithm or search in mine.py 'Mine'"),
    ],
)
def test_a_class_that_does_not_keep_the_protocol_is_refused_by_name(folder, capsys, text, wrong):
    above = (
        "import dataclasses\nfrom beamzero.search.protocol import Search\nfrom beamzero.search.simple import OneLook\n"
    )
    dataclass = "@dataclasses.dataclass(frozen=True)\n" if text else ""
    odd = "\n    games: list = ()" if "each field" in wrong else ""
    Path("mine.py").write_text(f"{above}{dataclass}{text.replace(': ...', ':' + (odd or ' ...'))}\n")
    name = "mcts" if "mcts" in text else "Mine"
    assert refused(capsys, "battle", "tic_tac_toe", f"mine.py:{name}", "random").startswith(f"beamzero: {wrong}")


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


@pytest.mark.parametrize(("thing", "number"), [("algorithm", 4), ("search", 3)])
def test_the_guide_shows_what_stands_in_the_example(thing, number):
    guide = (ROOT / "docs" / f"add-your-own-{thing}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert len(blocks) == number and all(block in EXAMPLE.read_text(encoding="utf-8") for block in blocks)


def test_the_guides_name_every_member_that_must_be_there():
    guides = [
        (ROOT / "docs" / f"add-your-own-{thing}.md").read_text(encoding="utf-8") for thing in ("algorithm", "search")
    ]
    algorithm = set(missing_members(object, Algorithm)) - {"game", "settings"}
    for members, guide in zip((algorithm, Search.__abstractmethods__), guides, strict=True):
        assert all(f"`{member}" in guide for member in members)


def _with_package() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}
