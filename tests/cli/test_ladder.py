"""`ladder` and `exhaust`, for people and as JSON."""

from __future__ import annotations

import json

import pytest

from beamzero.arena.every_reply import EveryReply
from beamzero.cli import main
from beamzero.games import make_game
from beamzero.players import make_player
from tests.training.toy import GAME


def run_main(capsys, *words: str, status: int = 0) -> str:
    assert main(list(words)) == status
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_ladder_as_json_and_for_people(capsys):
    words = ["ladder", GAME, "lookahead:1", "--depth", "1", "--by", "nothing", "--seed", "1"]
    out = run_main(capsys, *words, "--json")
    result = json.loads(out)
    assert out.count("\n") == 1 and result.keys() == {"game", "agent", "scores", "total", "of"}
    score = result["scores"]["minimax:1,by=nothing"]
    assert score in (0, 0.5, 1, 1.5, 2) and len(result["scores"]) == 1
    assert (result["game"], result["agent"], result["total"], result["of"]) == (GAME, "lookahead:1", score, 2)
    lines = run_main(capsys, *words).splitlines()
    assert lines[0].split() == ["opponent", "score", "of", "2"]
    assert lines[1].split() == ["minimax:1,by=nothing", f"{score:g}"]
    assert lines[-1] == f"lookahead:1 has {score:g} of 2 points"


def test_climb_is_another_name_for_it_that_help_does_not_list(capsys):
    words = [GAME, "lookahead:1", "--depth", "1", "--json"]
    assert run_main(capsys, "climb", *words) == run_main(capsys, "ladder", *words)
    listed = run_main(capsys, "--help")
    assert " ladder " in listed and "climb" not in listed


def test_opponents_that_were_not_met_have_no_score(capsys, monkeypatch):
    monkeypatch.setattr("beamzero.arena.ladder.make_player", lambda name, game: Named(name, game))
    words = ["ladder", GAME, "random", "--depth", "3"]
    assert json.loads(run_main(capsys, *words, "--json"))["scores"] == {"minimax:1": 0.0}
    lines = run_main(capsys, *words).splitlines()
    assert [line.split() for line in lines[1:4]] == [["minimax:1", "0"], ["minimax:2", "-"], ["minimax:3", "-"]]
    assert lines[-1] == "random has 0 of 6 points"


class Named:
    """A stand-in for each minimax of the ladder: it goes by that name, and beats a random player twice by this seed."""

    def __init__(self, name, game):
        self.name, self.player = name, make_player("lookahead:3", game)

    def __getattr__(self, attribute):
        return getattr(self.player, attribute)


def test_exhaust_of_an_agent_that_can_lose_ends_with_status_1(capsys):
    words = ["exhaust", GAME, "lookahead:1"]
    out = run_main(capsys, *words, "--json", status=1)
    result = json.loads(out)
    assert out.count("\n") == 1 and result.keys() == {"game", "agent", "loses", "by_side"}
    assert (result["game"], result["agent"], result["loses"]) == (GAME, "lookahead:1", True)
    text = run_main(capsys, *words, status=1)
    lines = text.splitlines()
    assert lines[0].split() == ["lookahead:1", "positions", "met", "ends:", "won", "drawn", "lost"]
    assert "never loses" not in text
    for row, (name, found) in enumerate(result["by_side"].items(), 1):
        assert found.keys() == {"side", "positions", "wins", "draws", "losses", "lost_line"}
        counts = [f"{found[key]:,}" for key in ("positions", "wins", "draws", "losses")]
        assert lines[row].split() == ["moving", name, *counts]
        assert f"it loses, moving {name}: {' '.join(found['lost_line'])}" in lines
    assert list(result["by_side"]) == ["first", "second"]


def test_exhaust_of_an_agent_that_never_loses_says_so(capsys, monkeypatch):
    monkeypatch.setattr("beamzero.cli.commands.exhaust.play_every_reply", lambda *_: EveryReply(0, 123, 4, 5, 0, None))
    lines = run_main(capsys, "exhaust", GAME, "random").splitlines()
    assert [line.split()[-1] for line in lines[1:3]] == ["0", "0"]
    assert lines[3:] == ["", "it never loses, whatever the other side plays"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["exhaust", GAME, "random", "--most", "500"],
            f"{GAME} is too large: the agent can meet more than 500 positions",
        ),
        (["ladder", GAME, "random", "--by", "beauty"], "beauty"),
        (["ladder", GAME, "mcts:sims=0"], "sims is 0, but a search does 1 to 100000 simulations"),
    ],
)
def test_what_cannot_be_done_gets_one_line_and_status_2(capsys, words, message):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err and err.count("\n") == 1


def test_dice_are_not_followed(capsys, monkeypatch):
    monkeypatch.setattr(type(make_game(GAME)), "num_chance", 6)
    assert main(["exhaust", GAME, "random"]) == 2
    assert "tic_tac_toe has chance events, whose outcomes exhaust does not follow" in capsys.readouterr().err
