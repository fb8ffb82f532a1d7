"""Backgammon at the command line: battles by points, whole turns at the keyboard, and who knows no dice."""

from __future__ import annotations

import io
import json

import jax
import pytest
from rich.console import Console

from beamzero.arena.openings import draw_openings, usual_plies
from beamzero.cli import main
from beamzero.cli.commands import play
from beamzero.cli.commands.play import default_agent
from beamzero.cli.terminal.session import TerminalSession
from beamzero.core.errors import BadInput
from beamzero.games import GAMES, make_game
from beamzero.players import make_player
from beamzero.records.files import add_records
from beamzero.records.record import GameRecord, replay_record

GAME = make_game("backgammon")
ROLL = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31"


@pytest.mark.slow
def test_a_battle_tells_points_and_they_agree_with_the_wins(capsys):
    assert main(["battle", "backgammon", "expectiminimax:depth=1", "random", "--games", "10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    low, high = found["points_interval"]
    assert found["wins"] >= 8 and found["unit"] == "points"
    assert found["wins"] - 3 * found["losses"] <= 10 * found["points"] <= 3 * found["wins"] - found["losses"]
    assert low <= found["points"] <= high


def test_games_without_points_tell_none(capsys):
    assert main(["battle", "tic_tac_toe", "random", "random", "--games", "4", "--json"]) == 0
    assert "points" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("agent", "game", "why"),
    [
        ("alphabeta:depth=2", "backgammon", "knows no dice, which backgammon has"),
        ("lookahead:1", "backgammon", "knows no dice, which backgammon has"),
        ("td:runs/x,book=y", "backgammon", "a book knows no dice, which backgammon has"),
        ("expectiminimax:depth=2", "kalah", "kalah has no chance events: alphabeta is made for it"),
        ("expectiminimax:depth=9", "backgammon", "depth is 9, but must be 1 to 8 turns"),
        ("expectiminimax:2,rolls=-1", "backgammon", "rolls is -1"),
        ("expectiminimax", "backgammon", "a search needs a limit"),
    ],
)
def test_who_cannot_play_says_why_in_one_line(agent, game, why):
    with pytest.raises(BadInput, match=why) as caught:
        make_player(agent, make_game(game))
    assert "\n" not in str(caught.value)


def test_a_person_types_a_whole_turn_and_hears_what_is_rolled():
    lines = iter(["8/5 6/5 6/5", "8/5 8/5", "8/5 6/5"])
    shown = io.StringIO()
    session = TerminalSession(GAME, None, Console(file=shown, width=100), lambda prompt: next(lines), position=ROLL)
    for _ in range(2):
        session.handle(session.ask(""))
        assert session.played.moves == [], "nothing is played of a turn that cannot be"
    session.handle(session.ask(""))
    assert (
        session.played.moves[0] == "8/5"
        and session.played.moves[1].startswith("6/5:")
        and session.played.turns[-1].side == 1
    )
    said = shown.getvalue()
    assert "one move too many" in said and "is not a legal move here" in said and "rolls " in said


def test_without_a_trained_agent_one_that_knows_dice_plays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert default_agent(GAME)[0] == "td:backgammon,level=full", "it ships"
    monkeypatch.setattr(play, "shipped_agents", dict)
    assert default_agent(GAME)[0] == "expectiminimax:depth=2"


@pytest.mark.slow
def test_the_clock_ends_a_search_and_the_first_turn_is_always_searched(capsys):
    assert main(["analyse", "backgammon", "expectiminimax:seconds=0.01", "--position", ROLL, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {found["best"], found["line"][1]} == {"8/5", "6/5"}
    assert len(found["moves"]) == 7


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ["battle", "backgammon", "random", "random", "--save", "games.txt"],
            "a line of moves cannot say how a game of backgammon began",
        ),
        (
            ["train", "backgammon", "--run", "run", "--set", "rate_against=lookahead:1"],
            "knows no dice, which backgammon has (these do: random, expectiminimax, mcts, alphazero, probs, td, gnubg)",
        ),
    ],
)
def test_what_dice_are_not_made_for_yet_gets_one_line_and_writes_nothing(arguments, why, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert why in said and len(said.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("agent", ["expectiminimax:depth=1", "mcts:sims=4"])
@pytest.mark.parametrize(
    "more", [["--position", ROLL.replace(":31", ":00")], ["--position", ROLL, "--moves", "8/5,6/5"]]
)
def test_a_position_in_which_the_dice_decide_next_is_not_analysed(agent, more, capsys):
    assert main(["analyse", "backgammon", agent, *more]) == 2
    assert "chance decide" in capsys.readouterr().err


def test_moves_may_say_what_was_rolled(capsys):
    assert main(["analyse", "backgammon", "random", "--position", ROLL, "--moves", "8/5,6/5:6-4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["position"].endswith(":-1:64")


def test_openings_of_a_battle_end_with_a_turn():
    openings = draw_openings(GAME, 20, 4, jax.random.key(1), distinct=False)
    assert all(
        bool(low) or int(times) == 4 for low, times in zip(openings.states.low, openings.states.times, strict=True)
    )
    with pytest.raises(BadInput, match="no turn of backgammon ends after 1 random plies"):
        draw_openings(GAME, 4, 1, jax.random.key(1), distinct=False)


@pytest.mark.parametrize("name", GAMES)
def test_games_that_dice_or_cards_open_need_no_random_moves(name):
    dealt = ("backgammon", "bridge", "kuhn_poker", "leduc_poker")
    assert usual_plies(make_game(name)) == (0 if name in dealt else 2)


def test_random_moves_that_are_asked_for_are_made_or_refused_in_one_line(capsys):
    command = ["battle", "kuhn_poker", "random", "random", "--games", "2", "--json"]
    found = []
    for more in ([], ["--random-plies", "1"]):
        assert main([*command, *more]) == 0
        found.append(json.loads(capsys.readouterr().out)["random_plies"])
    assert found == [0, 1]
    assert main([*command, "--random-plies", "2"]) == 2
    assert capsys.readouterr().err == "beamzero: random plies is 2, but must be 0 to 1\n"


def test_rows_of_a_battle_say_who_moved_first(capsys):
    titles = []
    for game in ("bridge", "kuhn_poker"):
        assert main(["battle", game, "random", "random", "--games", "2"]) == 0
        titles += [line.strip().partition("  ")[0] for line in capsys.readouterr().out.splitlines()[1:3]]
    assert titles == ["moving first, Defenders", "moving second, Declarer", "moving first", "moving second"]


def test_a_game_is_set_up_by_moves_that_say_what_was_rolled(capsys, monkeypatch):
    """The same text as for analyse, from a position or from the first roll that analyse knows."""
    positions = []
    for more in (["--position", ROLL, "--moves", "8/5,6/5:6-4"], ["--moves", "8/5,6/4:5-5"]):
        assert main(["analyse", "backgammon", "random", *more, "--json"]) == 0
        positions.append(json.loads(capsys.readouterr().out)["position"])
        monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
        assert main(["play", "backgammon", "--agent", "human", *more, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        replayed = replay_record(GameRecord("backgammon", tuple(found["moves"]), start=found["position"]))
        assert GAME.write_position(replayed.states[-1]) == positions[-1]
    assert positions[0].endswith(":-1:64") and positions[1].endswith(":55")


@pytest.mark.parametrize(
    ("moves", "why"),
    [
        ("8/5:6-4", "move 1: chance has nothing to decide after the move, but '6-4' follows it"),
        ("8/5,6/5:7-1", "move 2: '7-1' is nothing that chance can decide here"),
    ],
)
def test_a_roll_that_cannot_be_is_one_clear_line(moves, why, capsys):
    assert main(["play", "backgammon", "--agent", "human", "--position", ROLL, "--moves", moves]) == 2
    said = capsys.readouterr().err
    assert why in said and len(said.splitlines()) == 1


def test_dice_of_which_the_moves_say_nothing_are_thrown():
    session = TerminalSession(GAME, None, Console(file=io.StringIO(), width=100), input, seed=3, position=ROLL)
    session.played.set_up(["8/5", "6/5"])
    assert session.played.turns[-1].side == 1 and session.played.moves[1].startswith("6/5:")


def test_a_replay_tells_every_roll(tmp_path, capsys):
    path = tmp_path / "games.jsonl"
    add_records(path, [GameRecord("backgammon", ("8/5", "6/5:6-4"), start=ROLL)])
    assert main(["replay", str(path), "--number", "1"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert f"from {ROLL}" in lines
    told = lines.index("   2 White  6/5")
    assert lines[told + 1] == "     Black rolls 6-4"


def test_nobody_sees_the_other_hand_by_swapping_or_by_taking_back_the_end():
    poker = make_game("kuhn_poker")
    shown = io.StringIO()
    session = TerminalSession(poker, make_player("random", poker), Console(file=shown, width=100), input)
    session.handle("swap")
    assert session.side == 0 and "finish the game first" in shown.getvalue()
    while not session.played.over:
        session.played.play(poker.legal_actions(session.played.state)[0])
    ended = list(session.played.turns)
    session.handle("undo")
    assert session.played.turns == ended and "cards that were seen cannot be taken back" in shown.getvalue()


def test_points_of_few_games_have_a_finite_interval_within_the_stake(capsys):
    assert main(["battle", "kuhn_poker", "random", "random", "--games", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=lambda text: pytest.fail(f"{text} is no JSON"))
    low, high = found["points_interval"]
    assert -2 <= low <= found["points"] <= high <= 2 and low < high and found["unit"] == "chips"
