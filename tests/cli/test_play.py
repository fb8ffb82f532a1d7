"""Whole sessions at a keyboard that the tests type on: what is said, what undo restores, and how one leaves."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from rich.console import Console

from beamzero.cli import main
from beamzero.cli.commands import play
from beamzero.cli.commands.play import default_agent
from beamzero.cli.terminal import session as terminal
from beamzero.cli.terminal.session import TerminalSession
from beamzero.core.errors import BadInput
from beamzero.games import CHANCE, Game, make_game
from beamzero.players import Player, make_player
from beamzero.search.evaluator import SearchResult
from beamzero.storage.metrics import Metrics
from beamzero.storage.run import Run

ROOT = Path(__file__).resolve().parents[2]
TIC_TAC_TOE = make_game("tic_tac_toe")


class FirstMove(Player):
    """Plays the first legal move, values each by its number, and notes the keys it was asked with."""

    name, deterministic = "first_move", True

    def __init__(self, game: Game) -> None:
        self.game = game
        self.keys: list[tuple[int, ...]] = []

    def think_batch(self, states, key):
        self.keys.append(tuple(np.asarray(jax.random.key_data(key)).tolist()))
        legal = jax.vmap(self.game.legal)(states)
        values = jnp.where(legal, jnp.arange(legal.shape[1], dtype=jnp.float32)[None] / -10, -jnp.inf)
        best = jnp.max(values, axis=1)
        policy = (values == best[:, None]).astype(jnp.float32)
        return SearchResult(
            jnp.argmax(values, axis=1), values, policy, best, jnp.ones(1, jnp.int32), jnp.zeros_like(legal)
        )

    def choose(self, states, mask, key):
        raise NotImplementedError


def typing(text: str):
    """A keyboard on which `text` is typed, word by word."""
    words = iter(text.split())

    def ask(prompt: str) -> str:
        try:
            return next(words)
        except StopIteration:
            raise EOFError from None

    return ask


def sit_down(text: str = "", game: Game = TIC_TAC_TOE, player: Player | None = None, **more) -> TerminalSession:
    return TerminalSession(game, player, Console(file=io.StringIO(), width=100), typing(text), **more)


def said(session: TerminalSession) -> str:
    return on(session.console)


def on(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def played(text: str, **more) -> TerminalSession:
    session = sit_down(text, **more)
    session.run()
    return session


def same(one, other) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


# --- games -----------------------------------------------------------------------------------------------------------


def test_a_game_that_the_person_wins():
    session = played("a3 b3 c3", player=FirstMove(TIC_TAC_TOE))
    assert session.played.moves == ["a3", "a1", "b3", "b1", "c3"]
    assert "you are X, your move" in said(session)
    assert "O first_move plays b1" in said(session)
    assert "you win: X has three in a row" in said(session)
    assert session.report() == {
        "game": "tic_tac_toe",
        "agent": "first_move",
        "side": "first",
        "position": None,
        "moves": session.played.moves,
        "result": "win",
        "reason": "X has three in a row",
    }


def test_a_game_that_the_second_side_loses():
    session = played("c3 a3", player=FirstMove(TIC_TAC_TOE), side=1)
    assert session.played.moves == ["a1", "c3", "b1", "a3", "c1"]
    assert "you are O, your move" in said(session)
    assert "you lose: X has three in a row" in said(session)
    assert session.result() == "loss"


def test_two_people_at_one_keyboard():
    session = played("b2 a1 c1 a3 a2 c2 b3 b1 c3")
    assert "X to move" in said(session) and "O to move" in said(session)
    assert "the game is over: draw: the board is full" in said(session)
    assert (session.report()["agent"], session.report()["side"], session.result()) == ("human", None, "draw")
    assert played("a1 b1 a2 b2 c3 b3").result() == "loss", "the first player's result"


def test_the_board_marks_the_last_move_alone():
    session = played("b2 c3")
    boards = said(session).split("\n\n")
    assert " 3  ·  · [O]\n 2  ·  X  ·\n 1  ·  ·  ·\n    a  b  c" in boards


def test_a_terminal_gets_colours_and_no_brackets():
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=100)
    TerminalSession(TIC_TAC_TOE, None, console, typing("b2")).run()
    text = on(console)
    assert "\x1b[" in text and "[X]" not in text


def test_the_same_seed_gives_the_same_game_and_other_draws_at_each_move():
    keys = []
    for seed in (7, 7, 8):
        player = FirstMove(TIC_TAC_TOE)
        played("a3 c2 new a3 c2", player=player, seed=seed)
        assert len(set(player.keys)) == len(player.keys) == 4
        keys.append(player.keys)
    assert keys[0] == keys[1]
    assert not set(keys[0]) & set(keys[2])


def test_moves_that_are_set_up_are_played_first():
    session = sit_down(player=FirstMove(TIC_TAC_TOE))
    session.played.set_up(["b2", "c3", "A1"])
    session.run()
    assert session.played.moves == ["b2", "c3", "a1", "b1"]
    with pytest.raises(BadInput, match=r"^move 2: 'a1' is not a legal move here \(legal: b1 "):
        sit_down().played.set_up(["a1", "a1"])


# --- what can be typed -----------------------------------------------------------------------------------------------


def test_a_wrong_move_gets_one_line_and_changes_nothing():
    session = played("b2 b2 z9 a1")
    assert session.played.moves == ["b2", "a1"]
    lines = [line for line in said(session).splitlines() if "not a legal move" in line]
    assert lines == [
        f"{text!r} is not a legal move here (legal: a1 b1 c1 a2 c2 a3 b3 c3); help lists the commands"
        for text in ("b2", "z9")
    ]


@pytest.mark.parametrize("word", ["help", "?", "HELP"])
def test_help_lists_the_moves_and_every_command(word):
    session = played(f"b2 {word}")
    assert "a move: a1 b1 c1 a2 c2 a3 b3 c3" in said(session)
    assert all(f"\n{command} " in said(session) for command in terminal.COMMANDS)


def test_every_short_word_means_a_command():
    assert set(terminal.SHORT.values()) | set(terminal.AFTER_THE_END.values()) <= terminal.COMMANDS.keys()


def test_values_are_sorted_with_bars_and_the_best_marked():
    session = played("values", player=FirstMove(TIC_TAC_TOE))
    first = said(session).splitlines().index(" move  value         loss   win")
    rows = said(session).splitlines()[first + 1 : first + 10]
    assert [row.split()[0] for row in rows] == ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]
    assert ["best" in row for row in rows] == [True] + [False] * 8
    assert "-0.80" in rows[8] and "▐█████████│" in rows[8]


def test_values_say_what_is_proven():
    session = sit_down("values hint", player=make_player("lookahead:1", TIC_TAC_TOE))
    session.played.set_up(["a1", "a3", "b1", "b3"])
    session.run()
    (row,) = [line for line in said(session).splitlines() if line.startswith(" c1")]
    assert row == " c1    +1.00              │████████████  ◂ best  proven win"
    assert "hint: c1 (value +1.00, proven)" in said(session)


def test_analyse_says_what_the_command_of_that_name_says():
    session = sit_down("", player=make_player("lookahead:2", TIC_TAC_TOE))
    session.played.set_up(["a1", "b1", "a2"])
    session.show_analysis()
    text = said(session)
    assert "O to move, value +0.00 for that side, wins 50%" in text
    assert " a3 " in text.partition("move  value")[2] and "best line  a3" in text and "positions searched" in text


def test_review_marks_the_moves_that_lost_the_game():
    session = sit_down("", player=make_player("lookahead:2", TIC_TAC_TOE))
    session.played.set_up(["a1", "b1", "a2", "c3", "a3"])
    session.show_review()
    lines = said(session).splitlines()
    (blunder,) = [line for line in lines if "??" in line]
    assert "O  c3??" in blunder and blunder.endswith(" a3")
    assert any("value +1.00 for first" in line for line in lines)


def test_analyse_and_review_say_when_there_is_nothing_to_ask():
    assert "there is no move to look at yet" in said(played("review", player=FirstMove(TIC_TAC_TOE)))
    assert said(played("analyse review")).count("there is no agent to ask") == 2


def test_values_and_hint_leave_the_game_as_it_is():
    session = played("b2 values hint", player=FirstMove(TIC_TAC_TOE))
    assert session.played.moves == ["b2", "a1"]
    assert said(session).count("you are X, your move") == 2, "and the board is not drawn again"


def test_where_there_is_nobody_to_ask_it_says_so():
    assert said(played("values hint swap")).count("there is no agent to ask") == 2
    assert "nothing to swap" in said(played("swap"))
    assert "the game is over" in said(played("a3 b3 c3 values", player=FirstMove(TIC_TAC_TOE)))


def test_new_and_swap():
    session = played("b2 new", player=FirstMove(TIC_TAC_TOE))
    assert session.played.moves == []
    session = played("b2 swap", player=FirstMove(TIC_TAC_TOE))
    assert (session.side, session.played.moves) == (1, ["b2", "a1", "b1"]), "the agent goes on for the other side"
    session = played("a3 b3 c3 swap", player=FirstMove(TIC_TAC_TOE))
    assert (session.side, session.played.moves) == (1, ["a1"]), "after the end it is a new game"


@pytest.mark.parametrize(("word", "moves"), [("new", 0), ("yes", 0), ("no", 5), ("quit", 5), ("b2", 5), ("undo", 4)])
def test_after_the_end_another_game_is_offered(word, moves):
    session = sit_down(player=FirstMove(TIC_TAC_TOE))
    prompts = []
    words = iter(["a3", "b3", "c3", word])

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return next(words, "quit")

    session.ask = ask
    session.run()
    assert prompts[3].startswith("another game?")
    assert len(session.played.moves) == moves


@pytest.mark.parametrize("end", [EOFError, KeyboardInterrupt, terminal.Quit])
def test_one_can_always_leave(end):
    session = sit_down()

    def ask(prompt: str) -> str:
        raise end

    session.ask = ask
    session.run()
    assert session.result() == "unfinished" and session.interrupted == (end is KeyboardInterrupt)


# --- undo ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_undo_restores_every_position_of_the_person_one_by_one(seed, side):
    random = np.random.default_rng(seed)
    session = sit_down(player=FirstMove(TIC_TAC_TOE), side=side)
    session.let_agent_move()
    before = []
    while not session.played.over:
        before.append((session.played.state, session.played.moves))
        session.played.play(int(random.choice(TIC_TAC_TOE.legal_actions(session.played.state))))
        session.let_agent_move()
    assert len(before) > 1
    for state, moves in reversed(before):
        assert session.played.undo(session._is_person)
        assert same(session.played.state, state) and session.played.moves == moves and not session.played.over
        assert session.played.turns[-1].side == side
    assert not session.played.undo(session._is_person)
    assert session.played.moves == before[0][1]


def test_undo_of_nothing_is_said():
    assert "no move of yours to take back" in said(played("undo"))
    assert "no move of yours to take back" in said(played("undo", player=FirstMove(TIC_TAC_TOE), side=1))


def test_undo_between_two_people_takes_one_move_back():
    assert played("a1 b1 undo").played.moves == ["a1"]


# --- a game of one's own, with dice, that draws no grid --------------------------------------------------------------


class HeapState(NamedTuple):
    heap: Array  # int32 []
    side: Array  # int32 []
    die: Array  # int32 [] 0 before it is thrown


@dataclasses.dataclass(frozen=True)
class DiceHeap(Game):
    """Throw a die of two faces, then take up to so many; who takes the last one wins."""

    name: ClassVar[str] = "dice_heap"
    num_actions = 2
    max_moves = 2
    max_plies = 7
    num_chance = 2
    observation_shape = (3,)

    def init(self, key):
        return HeapState(jnp.int32(7), jnp.int32(0), jnp.int32(0))

    def player(self, state):
        return jnp.where(state.die == 0, CHANCE, state.side)

    def legal(self, state):
        return jnp.arange(1, 3) <= jnp.minimum(state.die, state.heap)

    def step(self, state, action):
        return HeapState(state.heap - action - 1, 1 - state.side, jnp.int32(0))

    def chance(self, state):
        return jnp.full(2, 0.5, jnp.float32)

    def resolve(self, state, outcome):
        return state._replace(die=outcome + 1)

    def over(self, state):
        return state.heap == 0

    def score(self, state):
        return jnp.where(self.over(state), 2 * state.side - 1, 0).astype(jnp.float32)

    def observe(self, state):
        return jnp.stack(state).astype(jnp.float32)

    def show(self, state, seat=0):
        return f"heap {int(state.heap)}, die {int(state.die)}, seen by {seat}"

    def action_name(self, state, action):
        return str(action + 1)


def test_a_game_that_draws_no_grid_shows_its_own_text_and_its_dice_are_thrown():
    session = played("1 1 1 1", game=DiceHeap(), player=FirstMove(DiceHeap()), seed=3)
    assert all(turn.side in (0, 1) and int(turn.state.die) > 0 for turn in session.played.turns[:-1])
    assert session.played.turns[-1].side is None
    assert "heap 7, die " in said(session) and "you are first, your move" in said(session)
    assert "you lose: second player wins" not in said(session) and "you win: first player wins" in said(session)
    assert {int(turn.state.die) for turn in session.played.turns[:-1]} == {1, 2}, "the die does not always fall alike"
    again = played("1 1 1 1", game=DiceHeap(), player=FirstMove(DiceHeap()), seed=3)
    assert [int(turn.state.die) for turn in again.played.turns] == [
        int(turn.state.die) for turn in session.played.turns
    ]


# --- a game in which a side may move again, with a notation for positions --------------------------------------------


class AgainState(NamedTuple):
    heap: Array  # int32 []
    side: Array  # int32 []


@dataclasses.dataclass(frozen=True)
class Again(Game):
    """Take 1, or take 2 and move again; whose turn it is when nothing is left wins."""

    name: ClassVar[str] = "again"
    num_actions = 2
    max_moves = 2
    max_plies = 12
    observation_shape = (1,)

    def init(self, key):
        return AgainState(jnp.int32(12), jnp.int32(0))

    def player(self, state):
        return state.side

    def legal(self, state):
        return jnp.arange(1, 3) <= state.heap

    def step(self, state, action):
        return AgainState(state.heap - action - 1, jnp.where(action == 0, 1 - state.side, state.side))

    def over(self, state):
        return state.heap == 0

    def score(self, state):
        return jnp.where(self.over(state), 1 - 2 * state.side, 0).astype(jnp.float32)

    def observe(self, state):
        return state.heap[None].astype(jnp.float32)

    def view(self, state, seat=0):
        heap = int(state.heap)
        return {"kind": "sowing", "houses": [[heap], [0]], "stores": [0, 0], "sides": ["South", "North"]}

    def action_name(self, state, action):
        return ("one", "two")[action]

    def write_position(self, state):
        return f"{int(state.heap)} {'sn'[int(state.side)]}"

    def read_position(self, text):
        heap, _, side = text.partition(" ")
        if not heap.isdigit() or side not in ("s", "n"):
            raise BadInput(f"again: {text!r} is no position: write the heap and s or n")
        return AgainState(jnp.int32(int(heap)), jnp.int32("sn".index(side)))


def test_a_side_that_moves_again_is_told_so():
    session = played("two two one", game=Again())
    assert [turn.side for turn in session.played.turns] == [0, 0, 0, 1]
    assert said(session).count("South to move again") == 2 and said(session).count("North to move\n") == 1
    session = played("two one", game=Again(), player=FirstMove(Again()))
    assert "you are South, your move again" in said(session)
    assert said(session).endswith("you are South, your move\n\n"), "after the other side's move it is a plain turn"


def test_an_agent_that_moves_again_does_so_before_it_asks():
    class Second(FirstMove):
        def think_batch(self, states, key):
            result = super().think_batch(states, key)
            heap = int(states.heap[0])
            return result._replace(action=jnp.array([1 if heap in (11, 9) else 0]))

    session = played("one", game=Again(), player=Second(Again()))
    assert session.played.moves == ["one", "two", "two", "one"]
    assert said(session).count("North first_move plays two") == 2
    last = said(session).split("plays one")[1]
    assert "[ 6]" in last, "the mark shows what the whole turn changed"


def test_the_board_marks_all_that_a_side_did_in_one_turn():
    session = played("two two", game=Again())
    assert int(session.played.before_last.heap) == 12
    session.played.play(0)
    assert int(session.played.before_last.heap) == 12, "the turn of the side that moved last"
    session.played.play(0)
    assert int(session.played.before_last.heap) == 7


def test_undo_goes_back_to_the_last_decision_of_the_person():
    session = sit_down(game=Again(), player=FirstMove(Again()))
    session.played.set_up(["two", "two", "one", "one"])
    heaps = []
    while session.played.undo(session._is_person):
        assert session.played.turns[-1].side == 0
        heaps.append(int(session.played.state.heap))
    assert heaps == [8, 10, 12]


def test_a_game_begins_at_a_position_and_begins_there_again():
    session = sit_down("two new", game=Again(), position="4 n")
    session.run()
    assert int(session.played.state.heap) == 4 and session.played.turns[0].side == 1
    assert session.report()["position"] == "4 n"
    session = sit_down("two two", game=Again(), position="4 n")
    session.run()
    assert session.played.over and "the game is over: second player wins" in said(session)


def test_a_position_in_which_the_game_is_over_says_how_it_ended():
    session = sit_down(game=Again(), position="0 s", player=FirstMove(Again()))
    session.run()
    assert "you win: first player wins" in said(session)


def test_a_position_that_cannot_be_read_is_bad_input():
    with pytest.raises(BadInput, match="'many' is no position"):
        sit_down(game=Again(), position="many")
    with pytest.raises(BadInput, match="tic_tac_toe has no notation for positions"):
        sit_down(position="x")


def test_two_people_see_a_board_that_turns_with_them():
    class Turning(Again):
        def view(self, state, seat=0):
            return super().view(state, seat) | {"turn": True}

    boards = said(played("one", game=Turning())).split("to move")
    assert boards[0].index("North") < boards[0].index("South")
    assert boards[1].index("South") < boards[1].rindex("North")


def test_a_long_list_of_moves_is_wrapped_between_them():
    class Wide(Again):
        num_actions = 60
        max_moves = 60

        def legal(self, state):
            return jnp.ones(60, bool)

        def action_name(self, state, action):
            return f"move{action:02}"

    session = sit_down("help nonsense", game=Wide())
    session.run()
    lines = said(session).splitlines()
    assert max(map(len, lines)) <= 100
    listed = [line for line in lines if line.startswith(("a move:", "        move"))]
    assert len(listed) > 1 and " ".join(listed).split()[2:] == [f"move{number:02}" for number in range(60)]
    assert not any(line.endswith(" mov") for line in lines)


# --- who plays when nobody is named ----------------------------------------------------------------------------------


def test_by_default_a_shipped_agent_plays_then_the_newest_run_then_a_lookahead(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(play, "shipped_agents", dict)
    assert default_agent(TIC_TAC_TOE)[0] == "lookahead:3"
    assert "no trained agent" in default_agent(TIC_TAC_TOE)[1]

    for folder, game in (
        ("runs/my run, old", "tic_tac_toe"),
        ("runs/other", "connect_four"),
        ("runs/empty", "tic_tac_toe"),
    ):
        Run.create(folder, {"game": game, "algorithm": "probs"})
        if "empty" not in folder:
            with Metrics(folder) as metrics:
                metrics.append({"iteration": 1})
    assert default_agent(TIC_TAC_TOE) == ('probs:"runs/my run, old"', " (the newest run in runs)")

    monkeypatch.setattr(play, "shipped_agents", lambda: {"other": Path("a"), "strong": Path("b")})
    games = {"a": "chess", "b": "tic_tac_toe"}
    monkeypatch.setattr(play, "load_info", lambda path: {"game": games[path.name], "algorithm": "probs"})
    assert default_agent(TIC_TAC_TOE) == ("probs:strong,level=full", " (it ships with beamzero)")
    assert default_agent(TIC_TAC_TOE, "easy")[0] == "probs:strong,level=easy"
    monkeypatch.setattr(play, "shipped_agents", dict)
    assert default_agent(TIC_TAC_TOE, "hard")[0] == 'probs:"runs/my run, old",level=hard'
    with pytest.raises(BadInput, match="only trained agents have levels, and none of othello ships"):
        default_agent(make_game("othello"), "hard")


def test_an_agent_of_alphazero_plays_by_default_with_its_search(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(play, "shipped_agents", dict)
    for folder, algorithm in (("runs/mine", "alphazero"), ("runs/unknown", "sarsa")):
        Run.create(folder, {"game": "tic_tac_toe", "algorithm": algorithm})
        with Metrics(folder) as metrics:
            metrics.append({"iteration": 1})
    assert default_agent(TIC_TAC_TOE) == ("alphazero:runs/mine,sims=100", " (the newest run in runs)")
    monkeypatch.setattr(play, "shipped_agents", lambda: {"strong": Path("a")})
    monkeypatch.setattr(play, "load_info", lambda path: {"game": "tic_tac_toe", "algorithm": "alphazero"})
    assert default_agent(TIC_TAC_TOE) == ("alphazero:strong,level=full", " (it ships with beamzero)")


# --- the command -----------------------------------------------------------------------------------------------------


def run_main(monkeypatch, capsys, typed: str, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    status = main(["play", *arguments])
    return status, *capsys.readouterr()


def test_the_command_plays_what_is_typed(monkeypatch, capsys):
    status, out, err = run_main(
        monkeypatch, capsys, "b2\nquit\n", "tic_tac_toe", "--agent", "lookahead:1", "--seed", "1"
    )
    assert (status, err) == (0, "")
    assert out.startswith("tic_tac_toe: you against lookahead:1; help lists the commands\n")
    assert "> b2\nO lookahead:1 plays " in out and out.endswith("> quit\n")


def test_with_json_stdout_is_one_object_and_the_board_goes_to_stderr(monkeypatch, capsys):
    typed = "a1\nb1\na2\nb2\na3\n"
    status, out, err = run_main(monkeypatch, capsys, typed, "tic_tac_toe", "--agent", "human", "--json")
    assert status == 0
    assert json.loads(out) == {
        "game": "tic_tac_toe",
        "agent": "human",
        "side": None,
        "position": None,
        "moves": ["a1", "b1", "a2", "b2", "a3"],
        "result": "win",
        "reason": "X has three in a row",
    }
    assert "a  b  c" in err and "the game is over: X has three in a row" in err


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["tic_tac_too"], "unknown game 'tic_tac_too'; did you mean tic_tac_toe?"),
        (["tic_tac_toe", "--agent", "lookahed:2"], "unknown agent 'lookahed'; did you mean lookahead?"),
        (["tic_tac_toe", "--side", "left"], "side is 'left', but must be first or second"),
        (["tic_tac_toe", "--moves", "a1,b1,a1"], "move 3: 'a1' is not a legal move here (legal: c1 "),
        (["tic_tac_toe", "--seed", "-1"], "Invalid value for '--seed'"),
        ([], "Missing argument"),
    ],
)
def test_wrong_input_gets_one_line_and_status_2(monkeypatch, capsys, arguments, wrong):
    status, out, err = run_main(monkeypatch, capsys, "", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("beamzero: ") and wrong in err and err.count("\n") == 1


@pytest.mark.slow
def test_it_can_be_piped_into():
    command = [sys.executable, "-m", "beamzero", "play", "tic_tac_toe", "--agent", "lookahead:1"]
    done = subprocess.run(command, input="b2\nvalues\nquit\n", capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "plays" in done.stdout and "◂ best" in done.stdout
