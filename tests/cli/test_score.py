"""`beamzero score`: one table for several agents, one JSON object, one picture."""

from __future__ import annotations

import json

import pytest

from beamzero.cli import main

WORDS = ("score", "tic_tac_toe", "random", "alphabeta:depth=9")


def said(capsys, *words: str) -> str:
    assert main(list(words)) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.slow
def test_for_people_and_with_a_picture(capsys, tmp_path):
    picture = tmp_path / "scores.png"
    lines = said(capsys, *WORDS, "--plot", str(picture)).splitlines()
    assert lines[0].split() == ["errors,", "%", "begin", "middle", "end", "all", "95%", "interval", "ms/move"]
    assert [line.split()[0] for line in lines[1:3]] == ["random", "alphabeta:depth=9"]
    assert lines[2].split()[1:8] == ["0.00", "0.00", "0.00", "0.00", "0.00", "to", "0.08"]
    assert lines[4] == "4,520 solved positions"
    assert lines[-1] == f"the picture is {picture}"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_json_is_one_object_with_all_agents(capsys):
    out = said(capsys, *WORDS, "--json")
    result = json.loads(out)
    assert out.count("\n") == 1 and result.keys() == {"game", "scores"}
    for row, agent in zip(result["scores"], WORDS[2:], strict=True):
        assert row.keys() == {
            "agent", "classes", "positions", "blunders", "rate", "interval", "losses", "milliseconds",
        }  # fmt: skip
        assert row["agent"] == agent and list(row["classes"]) == ["begin", "middle", "end"]
        assert all(found.keys() == {"positions", "blunders", "rate", "interval"} for found in row["classes"].values())
        assert row["blunders"] == sum(found["blunders"] for found in row["classes"].values())
        assert row["blunders"] == sum(row["losses"].values()) and row["rate"] == row["blunders"] / 4520
    assert result["scores"][0]["rate"] > result["scores"][1]["rate"] == 0


def test_fewer_positions_and_an_agent_alone_which_stands_beside_the_game_too(capsys):
    words = (*WORDS[:3], "--positions", "40")
    result = json.loads(said(capsys, *words, "--json"))
    assert result == {"game": "tic_tac_toe", **result["scores"][0], "scores": result["scores"]}
    assert [found["positions"] for found in result["classes"].values()] == [40, 40, 40]
    assert said(capsys, *words).splitlines()[-1] == "120 solved positions, 40 of each class"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["checkers", "random"], "no positions of checkers are solved, only those of chess, chess6x6, connect_four,"),
        (["tic_tac_toe", "nobody"], "unknown agent 'nobody'"),
        (["tic_tac_toe"], "AGENT"),
        (["tic_tac_toe", "random", "--positions", "0"], "positions"),
        (["tic_tac_toe", "random", "--plot", "none/scores.png"], "there is no folder none"),
    ],
)
def test_what_cannot_be_done_gets_one_line_and_status_2(capsys, words, message):
    assert main(["score", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err and err.count("\n") == 1
