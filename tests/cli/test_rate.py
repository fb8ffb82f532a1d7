"""`beamzero rate`: ratings that build on those of yesterday, a test that stops, and a picture."""

from __future__ import annotations

import json

import pytest

from beamzero.cli import main

GAME = "tic_tac_toe"
WORDS = ("rate", GAME, "lookahead:1", "lookahead:2", "--seed", "2")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def said(capsys, *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_as_json_and_for_people(capsys, tmp_path):
    result = json.loads(said(capsys, *WORDS, "--games", "60", "--json"))
    assert result["game"] == GAME and result["games"] == 60
    assert all(row.keys() >= {"agent", "elo", "low", "high"} for row in result["ratings"])
    assert [row["agent"] for row in result["ratings"]] == ["lookahead:2", "lookahead:1", "random"], "strongest first"
    assert result["ratings"][-1]["elo"] == 1000, "by definition"
    assert all(row["low"] <= row["elo"] <= row["high"] and row["games"] == 120 for row in result["ratings"])
    assert (tmp_path / "runs" / "results.db").is_file()

    lines = said(capsys, *WORDS, "--games", "0", "--plot", "ladder.png").splitlines()
    assert lines[0].split() == ["agent", "Elo,", "95%", "interval", "score", "games"]
    assert [line.split()[:2] for line in lines[1:4]] == [
        [str(place), row["agent"]] for place, row in enumerate(result["ratings"], 1)
    ]
    row = result["ratings"][0]
    assert f"{row['elo']:.0f} [{row['low']:.0f}, {row['high']:.0f}]" in lines[1], "what is in the store, without games"
    table = [line.split() for line in lines[-5:-2]]
    assert float(table[0][1]) + float(table[1][1]) == pytest.approx(1, abs=0.011), (
        "one against two, and two against one"
    )
    assert (tmp_path / "ladder.png").read_bytes().startswith(b"\x89PNG") and "ladder.png" in lines[-1]


def test_games_are_added_or_not_kept(capsys, tmp_path):
    def games(*more: str) -> int:
        return json.loads(said(capsys, *WORDS, "--json", *more))["ratings"][0]["games"]

    assert games("--games", "20", "--no-store") == 40 and not (tmp_path / "runs").exists()
    assert games("--games", "20", "--store", "mine.db") == 40
    assert games("--games", "20", "--store", "mine.db") == 80
    assert games("--games", "0", "--store", "mine.db", "--random-plies", "2") == 80
    assert not (tmp_path / "runs").exists()


def test_the_best_pairings_spend_what_is_said(capsys):
    words = ("--pairings", "best", "--games", "20", "--total", "140", "--json", "--no-store")
    rows = json.loads(said(capsys, *WORDS, *words))["ratings"]
    assert sum(row["games"] for row in rows) == 2 * 140


def test_a_test_stops_when_it_is_decided(capsys):
    words = ("rate", GAME, "lookahead:2", "random", "--sprt", "0", "100", "--games", "20")
    text = said(capsys, *words)
    assert text.startswith("decided: lookahead:2 is 100 Elo above random rather than 0: log likelihood ratio")
    result = json.loads(said(capsys, *words, "--json"))
    assert result["agents"] == ["lookahead:2", "random"] and result["games"] < 400
    assert result["sprt"]["accepted"] == 1 and result["sprt"]["ratio"] >= result["sprt"]["high"]
    assert f"{result['games']} games" in text, "the second time nothing was left to be played"
    turned = said(capsys, "rate", GAME, "random", "lookahead:2", "--sprt", "0", "100", "--games", "20")
    assert turned.startswith("decided: random is 0 Elo above lookahead:2 rather than 100")
    short = said(
        capsys, "rate", GAME, "lookahead:1", "lookahead:2", "--sprt", "0", "1", "--games", "20", "--total", "40"
    )
    assert short.startswith("not decided whether lookahead:1 is 0 or 1 Elo above lookahead:2")
