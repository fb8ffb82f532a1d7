"""What shipped agents claim: it is measured as it says, and a claim that is not true does not hold."""

from __future__ import annotations

import dataclasses
import json

import pytest

from beamzero.arena.claims import BattleClaim, ErrorsClaim, Measured, read_claim, read_claims
from beamzero.cli import main
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players.trained import shipped_agents
from beamzero.storage.agentfile import load_agent, save_agent
from tests.cli.json_keys import check_keys

GAME = make_game("tic_tac_toe")


def test_a_claim_holds_where_the_intervals_meet():
    claim = BattleClaim("random", 10, 0.6, 0.5, 0.7)
    assert claim.holds(Measured(0.75, 0.7, 0.8)) and claim.holds(Measured(0.4, 0.3, 0.5))
    assert not claim.holds(Measured(0.8, 0.71, 0.9)) and not claim.holds(Measured(0.2, 0.1, 0.49))


@pytest.mark.slow
def test_battles_and_errors_are_measured():
    found = BattleClaim("random", 40, 0, 0, 1).measure(GAME, "lookahead:2", seed=3)
    assert found.low > 0.6 and found.low <= found.value <= found.high
    whole = ErrorsClaim("all", 30, 0, 0, 1).measure(GAME, "random", seed=3)
    part = ErrorsClaim("begin", 30, 0, 0, 1).measure(GAME, "random", seed=3)
    assert 0 < whole.value < 1 and whole != part
    assert ErrorsClaim("all", 30, 0, 0, 1).measure(GAME, "alphabeta:depth=9", seed=3).value == 0


def test_claims_that_cannot_be_read_are_refused():
    with pytest.raises(BadInput, match="cannot be read"):
        read_claims({"claims": [{"kind": "battle", "size": 3}]})
    with pytest.raises(BadInput, match="must be about battle or errors"):
        read_claim("beauty", against="random", number=10, value=0.6, low=0.5, high=0.7)
    for other in (
        {"against": 3}, {"search": None}, {"number": "10"}, {"number": 0}, {"number": 10**9}, {"number": True},
        {"value": "0.6"}, {"low": float("nan")}, {"high": 2},
    ):  # fmt: skip
        claim = {"kind": "battle", "against": "random", "number": 10, "value": 0.6, "low": 0.5, "high": 0.7}
        with pytest.raises(BadInput, match="a claim"):
            read_claims({"claims": [{**claim, **other}]})


def test_the_command_finds_a_claim_that_is_not_true(tmp_path, monkeypatch, capsys):
    """With a shipped agent of which something else is claimed."""
    name, path = "tic_tac_toe", shipped_agents()["tic_tac_toe"]
    tensors, info = load_agent(path)
    true = BattleClaim("random", 20, 0.95, 0.8, 1.0)
    for claim, status in ((true, 0), (dataclasses.replace(true, value=0.1, low=0.0, high=0.2), 1)):
        save_agent(tmp_path / f"{name}.safetensors", tensors, {**info, "claims": [claim.as_json()]})
        shipped = {name: tmp_path / f"{name}.safetensors"}
        for module in ("beamzero.cli.commands.verify", "beamzero.players.trained"):
            monkeypatch.setattr(f"{module}.shipped_agents", lambda shipped=shipped: shipped)
        assert main(["verify-agents", name, "--json"]) == status
        found = json.loads(capsys.readouterr().out)
        check_keys("verify-agents", found)
        assert found["holds"] == found["claims"][0]["holds"] == (status == 0)
        assert main(["verify-agents", name]) == status
        said = capsys.readouterr().out.splitlines()
        assert said[0].startswith(f"{name}: ") and said[1].endswith("DOES NOT HOLD" if status else "now: holds")
        assert max(map(len, said)) <= 80
        assert said[2:] == ["1 of 1 claims do not hold" if status else "all 1 claims hold"]
    assert main(["verify-agents", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err


@pytest.mark.parametrize("name", shipped_agents())
def test_every_shipped_agent_says_how_it_was_made_and_what_it_is_worth(name):
    path = shipped_agents()[name]
    _, info = load_agent(path)
    assert path.stat().st_size < 8e6
    assert {"command", "seconds", "device", "date"} <= info["made"].keys() and info["made"]["seconds"] > 0
    claims = read_claims(info)
    assert claims and all(claim.low <= claim.value <= claim.high for claim in claims)
