"""Agent files whose digest is right and whose content is not: they play, or are refused in one line."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from beamzero.arena.claims import Measured, read_claims
from beamzero.cli import main
from beamzero.cli.commands import play
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.players.trained import load_info, load_trained, shipped_agents
from beamzero.storage.agentfile import load_agent, save_agent
from beamzero.storage.run import RUN_FILE
from beamzero.web.offers import Offers

GAME = make_game("tic_tac_toe")
NAME = "tic_tac_toe"
TENSORS, INFO = load_agent(shipped_agents()[NAME])
_DEEP: Any = 0
for _ in range(500):
    _DEEP = [_DEEP]
VALUES: list[Any] = [None, True, -7, 10**400, float("nan"), "[/text]", [1], {"a": [1]}, _DEEP]


def places(nest: Any, path: tuple = ()) -> Iterator[tuple]:
    """The path to everything that is said about an agent."""
    for key in nest if isinstance(nest, dict) else range(len(nest)) if isinstance(nest, list) else ():
        yield (*path, key)
        yield from places(nest[key], (*path, key))


def replaced(path: tuple, value: Any) -> dict[str, Any]:
    info = copy.deepcopy(INFO)
    nest: Any = info
    for key in path[:-1]:
        nest = nest[key]
    nest[path[-1]] = value
    return info


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Where an agent lies that is taken for a shipped one."""
    file = tmp_path / f"{NAME}.safetensors"
    commands = [f"beamzero.cli.commands.{name}" for name in ("lists", "play", "verify")]
    for module in ("beamzero.players.trained", *commands, "beamzero.web.offers"):
        monkeypatch.setattr(f"{module}.shipped_agents", lambda: {NAME: file})
    return file


@pytest.mark.parametrize("path", list(places(INFO)), ids=lambda path: "-".join(map(str, path)))
def test_whatever_is_said_about_an_agent_it_loads_or_is_refused_in_one_line(file, path):
    ways = (
        lambda: load_trained(str(file), GAME, algorithm=None).evaluator,
        lambda: make_player(f"alphazero:{NAME},sims=2", GAME),
        lambda: [claim.text for claim in read_claims(load_info(file))],
        lambda: play.default_agent(GAME),
        lambda: Offers([NAME], [], None).agents_of(NAME),
    )
    for value in VALUES:
        save_agent(file, TENSORS, replaced(path, value))
        for way in ways:
            try:
                way()
            except BadInput as error:
                assert "\n" not in str(error) and len(str(error)) < 1000


@pytest.mark.parametrize("key", ["algorithm", "game", "settings", "claims", "seed", "made"])
def test_commands_that_read_agents_say_what_is_wrong_in_one_line(file, key, capsys, monkeypatch):
    monkeypatch.setattr("beamzero.arena.claims.Claim.measure", lambda *_: Measured(0.5, 0.0, 1.0))
    for value in VALUES:
        save_agent(file, TENSORS, replaced((key,), value))
        for words in (["agents"], ["agents", "--json"], ["verify-agents"], ["verify-agents", "--json"]):
            status = main(words)
            said = capsys.readouterr().err
            assert (status, len(said.splitlines())) in ((0, 0), (2, 1)), said
            assert status == 2 or key in ("claims", "seed", "made", "game")


@pytest.mark.parametrize("words", [["battle", NAME, "AGENT", "random", "--games", "2"], ["play", NAME, "AGENT"]])
def test_a_battle_and_a_game_with_such_an_agent_do_not_begin(file, words, capsys):
    for path, value in [(("settings", "net"), [1]), (("settings", "c"), None), (("algorithm",), {}), (("game",), 7)]:
        save_agent(file, TENSORS, replaced(path, value))
        assert main([f"alphazero:{file},sims=2" if word == "AGENT" else word for word in words]) == 2
        said = capsys.readouterr()
        assert said.out == "" and len(said.err.splitlines()) == 1


@pytest.mark.slow
def test_whatever_a_run_says_it_is_exported_or_refused_in_one_line(probs_run, tmp_path, capsys):
    folder, out = tmp_path / "run", tmp_path / "agent.safetensors"
    shutil.copytree(probs_run, folder)
    about = json.loads((folder / RUN_FILE).read_text())
    for key in about:
        for value in VALUES:
            (folder / RUN_FILE).write_text(json.dumps({**about, key: value}))
            status = main(["export", str(folder), str(out)])
            said = capsys.readouterr().err
            assert (status, len(said.splitlines())) in ((0, 0), (2, 1)), said
