"""Whatever is wrong with a command: one line, exit status 2, and nothing written."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from beamzero.cli import main
from beamzero.cli.commands import COMMAND_TABLE
from beamzero.core.user_code import load_file
from beamzero.games import make_game
from beamzero.players.trained import load_trained
from tests.training.toy import GAME, NET, ROOT, tree_hash


@pytest.fixture(autouse=True)
def _a_command_is_a_process_of_its_own():
    """Forget the files of users: what one command loaded is none of the next one's faults."""
    yield
    load_file.cache_clear()


@pytest.fixture(scope="module")
def made(tmp_path_factory, begun_run) -> Path:
    """A folder with a run, its agent, and things that are neither."""
    folder = tmp_path_factory.mktemp("made")
    shutil.copytree(begun_run, folder / "run")
    load_trained(str(folder / "run"), make_game(GAME)).save(folder / "agent.safetensors")
    agent = (folder / "agent.safetensors").read_bytes()
    (folder / "short.safetensors").write_bytes(agent[:-1])
    (folder / "damaged.safetensors").write_bytes(agent[:-1] + bytes([agent[-1] ^ 1]))
    (folder / "foreign.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    (folder / "text").write_text("hello")
    (folder / "empty").mkdir()
    (folder / "full").mkdir()
    (folder / "full" / "notes").write_text("mine")
    (folder / "broken").mkdir()
    (folder / "broken" / "run.json").write_text("{")
    (folder / "bare").mkdir()
    (folder / "bare" / "run.json").write_text(json.dumps({"format": "beamzero-run-1", "algorithm": "probs"}))
    (folder / "other").mkdir()
    (folder / "other" / "run.json").write_text(json.dumps({"format": "beamzero-run-1", "algorithm": "alphazero"}))
    (folder / "begun").mkdir()
    shutil.copy(folder / "run" / "run.json", folder / "begun")
    (folder / "wrong.py").write_text("1 / 0")
    (folder / "leaves.py").write_text("import sys\n\nsys.exit(0)\n")
    (folder / "device").symlink_to(os.devnull)
    (folder / "bare.py").write_text("size = 3\n")
    (folder / "faulty.py").write_text(FAULTY)
    (folder / "games.jsonl").write_text('{"game": "tic_tac_toe", "moves": ["a1"]}\n')
    with contextlib.closing(sqlite3.connect(folder / "other.db")) as database:
        database.execute("CREATE TABLE notes (text)")
    return folder


FAULTY = """import dataclasses

import jax.numpy as jnp

from beamzero.games.tic_tac_toe import TicTacToe


@dataclasses.dataclass(frozen=True)
class Fine(TicTacToe):
    pass


@dataclasses.dataclass(frozen=True)
class Made(Fine):
    def __post_init__(self):
        1 / 0


class Init(Fine):
    def init(self, key):
        1 / 0


class Legal(Fine):
    def legal(self, state):
        return jnp.ones(9, bool) & (1 / 0)


class Shape(Fine):
    def legal(self, state):
        return jnp.ones(4, bool)


class Named(Fine):
    def action_name(self, state, action):
        return 1 / 0
"""


TRAIN = ["train", "tic_tac_toe", "--run", "new"]
BARE = [*TRAIN, "--recipe", "none"]
WRONG: list[tuple[list[str], str]] = [
    # commands and options
    (["fly"], "No such command 'fly' (beamzero --help lists the commands)\n"),
    (["--colour"], "No such option: --colour (beamzero --help lists the commands)\n"),
    (["train"], "Missing argument 'GAME' (beamzero train --help)\n"),
    (["battle", "tic_tac_toe", "random"], "Missing argument 'AGENT' (beamzero battle --help)\n"),
    (["games", "--color"], "No such option: --color (beamzero games --help)\n"),
    (["verify-agents", "--seed"], "Option '--seed' requires an argument (beamzero verify-agents --help)\n"),
    (["recipes", "a\0b"], "a word of the command holds a NUL character"),
    (["battle", "tic_tac_toe", "random", "random", "--games", "many"], "'--games'"),
    (["battle", "tic_tac_toe", "random", "random", "--seed", "-1"], "'--seed'"),
    (["battle", "tic_tac_toe", "random", "random", "--seed", "3000000000"], "'--seed'"),
    ([*TRAIN, "--minutes", "soon"], "'--minutes'"),
    ([*TRAIN, "--minutes", "1", "--iterations", "1"], "give --minutes or --iterations, not both"),
    # games
    (["train", "conect_four", "--run", "new"], "unknown game 'conect_four'; did you mean connect_four? (there are: "),
    (["battle", "chess9", "random", "random"], "unknown game 'chess9'; did you mean chess? (there are: "),
    (["battle", "", "random", "random"], "unknown game ''"),
    (["perft", "connect_four:rows=x", "2"], "rows is 'x', but must be a whole number"),
    (["perft", "connect_four:rows=0", "2"], "rows is 0"),
    (["perft", "connect_four:size=4", "2"], "has no setting 'size' (it has: rows, columns, length)"),
    (["perft", "connect_four:rows=4,rows=5", "2"], "'rows' is given twice"),
    (["perft", 'connect_four:"', "2"], "cannot read"),
    (["perft", "tic_tac_toe:3", "2"], "cannot read '3' after 'tic_tac_toe'"),
    (["perft", "none.py:Game", "2"], "no file 'none.py' to read a game from"),
    (["perft", "wrong.py:Game", "2"], "wrong.py cannot be loaded: ZeroDivisionError, wrong.py line 1: division by"),
    (["perft", "leaves.py:Game", "2"], "leaves.py cannot be loaded: SystemExit, leaves.py line 3: 0"),
    (["perft", "bare.py:Game", "2"], "unknown game class in bare.py 'Game' (there are none)"),
    (["perft", "faulty.py:Made", "2"], "cannot be played: ZeroDivisionError, faulty.py line 16: division by zero"),
    (["perft", "faulty.py:Init", "2"], "the game cannot go on: ZeroDivisionError, faulty.py line 21: division by zero"),
    (["perft", "faulty.py:Legal", "2"], "ZeroDivisionError, faulty.py line 26: division by zero"),
    (["battle", "faulty.py:Shape", "mcts:sims=4", "random"], "legal gives bool [4], but must give bool [9]"),
    (["perft", "faulty.py:Named", "2", "--moves", "a1"], "ZeroDivisionError, faulty.py line 36: division by zero"),
    # agents
    (["battle", "tic_tac_toe", "randm", "random"], "unknown agent 'randm'; did you mean random?"),
    (["battle", "tic_tac_toe", "random", "human"], "unknown agent 'human'"),
    (["battle", "tic_tac_toe", "random:3", "random"], "cannot read '3' in the agent 'random:3': write random"),
    (["battle", "tic_tac_toe", "lookahead", "random"], "lookahead needs a depth, such as lookahead:2"),
    (["battle", "tic_tac_toe", "lookahead:two", "random"], "depth is 'two', but must be a whole number"),
    (["battle", "tic_tac_toe", "lookahead:0", "random"], "lookahead depth is 0, but must be 1 to 4"),
    (["battle", "tic_tac_toe", "lookahead:9", "random"], "lookahead depth is 9, but must be 1 to 4"),
    (["battle", "tic_tac_toe", "lookahead:2,depth=2", "random"], "depth is given twice"),
    (["battle", "tic_tac_toe", "lookahead:2,speed=9", "random"], "lookahead has no option 'speed' (it has: depth)"),
    (["battle", "tic_tac_toe", "probs", "random"], "probs needs an agent, such as probs:runs/connect_four"),
    (["battle", "tic_tac_toe", "probs:nowhere", "random"], "no agent 'nowhere': give a run folder or a"),
    (["battle", "tic_tac_toe", "probs:none.safetensors", "random"], "there is no agent file none.safetensors"),
    (["battle", "tic_tac_toe", "probs:run,expand=0", "random"], "expand is 0, but a search expands 1 to 100000 nodes"),
    (["battle", "tic_tac_toe", "probs:run,expand=ten", "random"], "expand is 'ten', but must be a whole number"),
    (["battle", "tic_tac_toe", "probs:run,expand=9,depth=0", "random"], "depth is 0"),
    (["battle", "tic_tac_toe", "probs:run,depth=2", "random"], "depth and strict belong to a search; give expand="),
    (["battle", "tic_tac_toe", "probs:run,checkpoint=7", "random"], "(there are: 0, 1, best, last)"),
    (["battle", "tic_tac_toe", "probs:run,checkpoint=best", "random"], "no checkpoint of run has been rated best yet"),
    (["battle", "tic_tac_toe", "probs:agent.safetensors,checkpoint=1", "random"], "is no run folder, so it has no"),
    (["battle", "connect_four", "probs:run", "random"], "run plays tic_tac_toe, not connect_four"),
    (["battle", "connect_four", "probs:agent.safetensors", "random"], "plays tic_tac_toe, not connect_four"),
    (["battle", "tic_tac_toe", "probs:short.safetensors", "random"], "is cut short or not a safetensors file"),
    (["battle", "tic_tac_toe", "probs:damaged.safetensors", "random"], "is damaged: its content does not match"),
    (["battle", "tic_tac_toe", "probs:foreign.safetensors", "random"], "a safetensors file, but not a beamzero agent"),
    (["battle", "tic_tac_toe", "probs:text", "random"], "text is cut short or not a safetensors file"),
    (["battle", "tic_tac_toe", "probs:empty", "random"], "there is no run in empty: it holds no run.json"),
    (["battle", "tic_tac_toe", "probs:broken", "random"], "run.json is damaged"),
    (["battle", "tic_tac_toe", "probs:bare", "random"], "run.json is damaged: it does not say game, "),
    (["battle", "tic_tac_toe", "probs:other", "random"], "other was trained by alphazero: write alphazero:other"),
    (["battle", "tic_tac_toe", "probs:begun", "random"], "begun holds no agent that could be used: no checkpoint in"),
    (["play", "tic_tac_toe", "--agent", "nobody"], "expectiminimax, gnubg, gtp, human, lookahead, "),
    (["analyse", "tic_tac_toe", "humn"], "unknown agent 'humn' (there are: alphabeta, alphazero, cfr, clairvoyance, "),
    (["play", "tic_tac_toe", "--side", "left"], "left"),
    (["analyse", "tic_tac_toe", "nobody"], "unknown agent 'nobody'"),
    # battles and ratings
    (["battle", "tic_tac_toe", "random", "random", "--games", "0"], "games is 0, but must be an even number"),
    (["battle", "tic_tac_toe", "random", "random", "--games", "101"], "games is 101, but must be an even number"),
    (["battle", "tic_tac_toe", "random", "random", "--random-plies", "-1"], "random plies is -1, but must be 0 to 4"),
    (["battle", "tic_tac_toe", "random", "random", "--random-plies", "9"], "random plies is 9, but must be 0 to 4"),
    (["rate", "tic_tac_toe", "random"], "name at least one agent besides random"),
    (["rate", "tic_tac_toe", "lookahead:1", "lookahead:1"], "an agent is named twice"),
    (["rate", "tic_tac_toe", "lookahead:1", "--games", "3"], "games is 3, but must be an even number"),
    (["rate", "tic_tac_toe", "lookahead:x"], "depth is 'x', but must be a whole number"),
    (["rate", "tic_tac_toe", "lookahead:1", "one_step_lookahead"], "are the same agent"),
    (["rate", "tic_tac_toe", "lookahead:1", "--pairings", "some"], "pairings is 'some', but must be auto, all or best"),
    (["rate", "tic_tac_toe", "lookahead:1", "--total", "41"], "total is 41, but must be an even number, 2 or more"),
    (["rate", "tic_tac_toe", "lookahead:1", "--sprt", "0", "20"], "--sprt is about two agents, but there are 1"),
    (["rate", "tic_tac_toe", "random", "lookahead:1", "--sprt", "20", "0"], "sprt is 20 0, but must be two"),
    (["rate", "tic_tac_toe", "random", "lookahead:1", "--sprt", "0", "20", "--games", "0"], "must play some at a time"),
    (["rate", "tic_tac_toe", "lookahead:1", "--store", "text"], "text is damaged or no file of results"),
    (["rate", "tic_tac_toe", "lookahead:1", "--store", "full"], "full is a folder, but results are kept in one file"),
    (["rate", "tic_tac_toe", "lookahead:1", "--store", "nowhere/x"], "there is no folder nowhere to keep x in"),
    (["rate", "tic_tac_toe", "lookahead:1", "--store", "other.db"], "other.db is a database, but not one of results"),
    (["rate", "tic_tac_toe", "lookahead:1", "--store", "/proc/x.db"], "could not write /proc/x.db"),
    (["rate", "tic_tac_toe", "lookahead:1", "--store", "device"], "device is no ordinary file, but results are"),
    (["rate", "tic_tac_toe", "lookahead:1", "--plot", "nowhere/x.png"], "there is no folder nowhere to write x.png"),
    (["rate", "tic_tac_toe", "lookahead:1", "--plot", "x.docx"], "file must end in .png, but 'x.docx' does not"),
    (["score", "tic_tac_toe", "random", "--plot", "x.docx"], "file must end in .png, but 'x.docx' does not"),
    (["replay", "games.jsonl", "--agent", "random", "--plot", "x"], "a picture's file must end in .png, but 'x' does"),
    (["fit-eval", "tic_tac_toe", "--plot", "x.svg"], "a picture's file must end in .png, but 'x.svg' does not"),
    (["book", "tic_tac_toe", "--out", "device"], "device is no ordinary file, but an opening book is one"),
    (["rate", "tic_tac_toe", "lookahead:1", "--games", "0"], "there are no games of lookahead:1, random"),
    # moves
    (["perft", "tic_tac_toe", "0"], "depth is 0, but must be 1 to 100"),
    (["perft", "tic_tac_toe", "deep"], "Invalid value for "),
    (["perft", "tic_tac_toe", "2", "--moves", "a1,a1"], "move 2: 'a1' is not a legal move here (legal: b1 c1"),
    (["perft", "tic_tac_toe", "2", "--moves", "z9"], "move 1: 'z9' is not a legal move here"),
    (["analyse", "connect_four", "random", "--moves", "a,a,a,a,a,a,a"], "move 7: 'a' is not a legal move here"),
    (["analyse", "tic_tac_toe", "random", "--moves", "a1,a2,b1,b2,c1"], "the game is over: X has three in a row"),
    # what to train, and how
    ([*TRAIN, "--algo", "sarsa"], "unknown algorithm 'sarsa'"),
    ([*TRAIN, "--algo", "alphazero", "--recipe", "connect_four_quick"], "is for probs, not alphazero"),
    ([*TRAIN, "--recipe", "quick"], "unknown recipe 'quick'"),
    ([*TRAIN, "--recipe", "connect_four_quick"], "the recipe connect_four_quick is for connect_four, not tic_tac_toe"),
    (["recipes", "quick"], "unknown recipe 'quick'"),
    ([*TRAIN, "--set", "expand"], "cannot read the setting 'expand': write --set key=value"),
    ([*TRAIN, "--set", "expnd=3"], "has no setting 'expnd' (it has: iterations, games, "),
    ([*TRAIN, "--set", "expand=0"], "expand is 0, but must be 1 to 100000"),
    ([*TRAIN, "--set", "expand=3.5"], "expand is '3.5', but must be a whole number"),
    ([*TRAIN, "--set", "expand="], "expand is '', but must be a whole number"),
    ([*TRAIN, "--set", "depth=0"], "depth is 0, but must be 1 to"),
    ([*TRAIN, "--set", "q_learning_rate=-0.1"], "q_learning_rate is -0.1, but must be"),
    ([*TRAIN, "--set", "value_learning_rate=nan"], "value_learning_rate is nan, but must be"),
    ([*TRAIN, "--set", "value_learning_rate=fast"], "value_learning_rate is 'fast', but must be a number"),
    ([*TRAIN, "--set", "temperature=0"], "temperature is 0.0, but must be"),
    ([*TRAIN, "--set", "noise=1.5"], "noise is 1.5, but must be 0.0 to 1.0"),
    ([*TRAIN, "--set", "games=0"], "games is 0, but must be 1 to"),
    ([*TRAIN, "--set", "drop_ratio=1"], "drop_ratio is 1.0, but must be 0.0 to 0.99"),
    ([*TRAIN, "--set", "symmetry=maybe"], "symmetry is 'maybe', but must be true or false"),
    ([*TRAIN, "--set", "precision=float16"], "precision is 'float16', but must be auto, float32 or bfloat16"),
    ([*BARE, "--set", "q_games=2000"], "q_games is 2000, but must be at most games, 1000"),
    ([*BARE, "--set", "q_games_per_step=7"], "q_games_per_step is 7, but must divide the 1000 games"),
    ([*TRAIN, "--set", "value_net=transformer"], "unknown net 'transformer' (there are: conv, dense, mlp, resnet)"),
    ([*TRAIN, "--set", "value_net=mlp:width=0"], "mlp: width is 0, but must be 1 to 8192"),
    ([*TRAIN, "--set", "value_net=mlp:size=3"], "mlp has no setting 'size' (it has: width, depth)"),
    ([*TRAIN, "--set", "value_net=conv:channels=a-b"], "channels is 'a-b', but must be whole numbers joined by '-'"),
    ([*TRAIN, "--set", "q_net=conv:channels=8-8"], "2 valid 3x3 layers do not fit on a 3x3 board; use padding=same"),
    ([*TRAIN, "--set", "rate_games=7"], "rate_games is 7, but must be even"),
    ([*TRAIN, "--set", "anchor_games=7"], "anchor_games is 7, but must be even"),
    ([*TRAIN, "--set", "rate_against="], "rate_against is '', but must name one opponent or more"),
    ([*TRAIN, "--set", "rate_against=random random"], "rate_against is 'random random', but must name"),
    ([*TRAIN, "--set", "rate_against=random lookahed:1"], "unknown agent 'lookahed'; did you mean lookahead?"),
    ([*TRAIN, "--iterations", "0"], "iterations is 0, but must be 1 or more"),
    ([*TRAIN, "--minutes", "0"], "minutes is 0.0, but must be more than 0"),
    ([*TRAIN, "--minutes", "nan"], "minutes is nan, but must be more than 0"),
    ([*TRAIN, "--from", "random"], "no agent 'random': give a run folder or a .safetensors file"),
    ([*TRAIN, "--from", "damaged.safetensors"], "is damaged: its content does not match its SHA-256"),
    ([*TRAIN, "--from", "run"], "run has the value_net mlp:width=16,depth=2, which is not the one of this run, mlp:"),
    ([*TRAIN, "--set", f"value_net={NET}", "--set", f"q_net={NET}", "--from", "begun"], "begun holds no agent that"),
    ([*TRAIN, "--algo", "alphazero", "--from", "run"], "run was trained by probs, but this run is one of alphazero"),
    ([*TRAIN, "--algo", "alphazero", "--set", "sims=0"], "sims is 0, but must be 1 to 100000"),
    # where
    (["train", "tic_tac_toe", "--run", "run"], "run already holds a run: go on with it by --resume, or name another"),
    (["train", "tic_tac_toe", "--run", "full"], "full is not empty and holds no run: name an empty or a new folder"),
    (["train", "tic_tac_toe", "--run", "text"], "text is a file, but a run needs a folder"),
    (["train", "tic_tac_toe", "--run", "text/run"], "could not write the run folder text/run"),
    (["train", "tic_tac_toe", "--run", "new", "--resume"], "there is no run in new: no such folder"),
    (["train", "tic_tac_toe", "--run", "full", "--resume"], "there is no run in full: it holds no run.json"),
    (["train", "tic_tac_toe", "--run", "broken", "--resume"], "run.json is damaged, or not the file of a beamzero run"),
    (["train", "tic_tac_toe", "--run", "bare", "--resume"], "run.json is damaged: it does not say game, "),
    (["train", "tic_tac_toe", "--run", "other", "--resume"], "run.json is damaged: it does not say game, "),
    (["train", "connect_four", "--run", "run", "--resume"], "run holds a run of tic_tac_toe, not of connect_four"),
    (["export", "nowhere", "new.safetensors"], "there is no run in nowhere: no such folder"),
    (["export", "bare", "new.safetensors"], "run.json"),
    (["export", "begun", "new.safetensors"], "begun holds no agent that could be used"),
    (["export", "run", "new.pt"], "an agent's file must end in .safetensors, but 'new.pt' does not"),
    (["export", "run", "nowhere/new.safetensors"], "there is no folder nowhere to write new.safetensors into"),
    (["export", "run", "new.safetensors", "--checkpoint", "7"], "(there are: 0, 1, best, last)"),
    (["runs", "text"], "text is a file, but runs are kept in a folder"),
    (["bench", "sleep"], "unknown benchmark 'sleep' (there are: beam, games"),
]  # fmt: skip


@pytest.fixture(scope="module")
def before(made) -> str:
    """What it holds; the same before each test, or one has failed."""
    return tree_hash(made)


@pytest.mark.parametrize(("words", "wrong"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_wrong_input_gets_one_line_and_status_2_and_writes_nothing(made, before, capsys, monkeypatch, words, wrong):
    monkeypatch.chdir(made)
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("beamzero: ") and err.count("\n") == 1 and wrong in err
    assert tree_hash(made) == before
    assert main([*words, "--json"]) == 2 and capsys.readouterr().out == "", "not even with --json"


READS = [
    ["battle", "tic_tac_toe", "probs:PIPE", "random"],
    ["battle", "tic_tac_toe", "alphabeta:depth=1,weights=PIPE", "random"],
    ["battle", "kalah", "alphabeta:depth=1,endgame=PIPE", "random"],
    ["battle", "tic_tac_toe", "lookahead:1,book=PIPE", "random"],
    ["replay", "PIPE"],
    ["export", "run", "new.safetensors"],
]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_nobody_waits_for_a_pipe_that_nobody_writes_to(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    for name in ("pipe.jsonl", "run/run.json"):
        os.mkfifo(tmp_path / name)
    assert main([word.replace("PIPE", "pipe.jsonl") for word in words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "it is no ordinary file" in err


def test_a_message_about_a_very_long_name_can_still_be_read(capsys):
    assert main(["recipes", "x" * 100_000]) == 2
    told = capsys.readouterr().err
    assert told.startswith("beamzero: unknown recipe 'xxx") and "xxx ... " in told and told.endswith(")\n")
    assert len(told) < 3100 and told.count("\n") == 1


def test_what_a_user_calls_things_is_neither_markup_nor_emoji(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    named = [":fire:", "[bold]:two:"]
    record = json.dumps({"game": "tic_tac_toe", "moves": [], "players": named})
    (tmp_path / ":fire:.jsonl").write_text(f"{record}\n{record}\n")
    assert main(["replay", ":fire:.jsonl"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in named)
    assert main(["replay", ":fire:.jsonl", "--number", "1"]) == 0
    assert f"{named[0]} v {named[1]}" in capsys.readouterr().out
    assert main(["runs", ":fire:"]) == 0
    assert "no runs in :fire:;" in capsys.readouterr().out
    assert main(["battle", "tic_tac_toe", ":two:", "random"]) == 2
    assert "unknown agent ''" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["train", "battle", "rate", "perft", "games", "runs", "export", "bench", "check"])
def test_every_command_explains_itself(capsys, command):
    assert main([command, "--help"]) == 0
    out, err = capsys.readouterr()
    assert "Usage: beamzero " + command in out and "--json" in out and err == ""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full here")
def test_a_result_that_cannot_be_printed_gets_one_line_and_status_1(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "beamzero", "recipes", "connect_four_quick"]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(words, cwd=tmp_path, env=environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 1
    assert ended.stderr == "beamzero: could not write what was to be printed: No space left on device\n"


def test_who_plays_with_a_closed_keyboard_has_left(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["play", "tic_tac_toe", "--agent", "human"]) == 0
    assert capsys.readouterr().err == ""


def test_a_folder_that_is_gone_is_said_to_be(tmp_path, monkeypatch, capsys):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(["perft", "mine.py:Game", "1"]) == 1
    assert capsys.readouterr().err == "beamzero: the folder in which this was started is not there any more\n"


@pytest.mark.parametrize("words", [["runs"], ["replay"], ["battle", "tic_tac_toe", "random"]], ids=" ".join)
def test_a_name_that_no_file_can_have_gets_one_line(capsys, words):
    assert main([*words[:-1], *words[-1:], f"{'probs:' * (len(words) > 1)}{'x' * 5000}"]) == 2
    told = capsys.readouterr().err
    assert told.endswith(": File name too long\n") and told.count("\n") == 1


def test_python_m_beamzero_is_the_command_and_a_reader_who_leaves_is_no_error(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}  # a bare checkout, wherever one is
    shell = f"{sys.executable} -m beamzero recipes connect_four_quick | head -n 1"
    words = ["bash", "-o", "pipefail", "-c", shell]
    listed = subprocess.run(words, cwd=tmp_path, env=environment, text=True, capture_output=True)
    assert listed.stdout.startswith("connect_four_quick: ") and listed.stdout.count("\n") == 1
    assert (listed.returncode, listed.stderr) == (0, "")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_walk_over_wrong_inputs_knows_every_command():
    path = ROOT / "benchmarks" / "soak" / "wrong_inputs.py"
    spec = importlib.util.spec_from_file_location("wrong_inputs", path)
    walk = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(walk)
        assert walk.USES.keys() == {name for name, entry in COMMAND_TABLE.items() if not entry.hidden}
        drawn = [walk.draw_trial(seed) for seed in range(200)]
        assert drawn == [walk.draw_trial(seed) for seed in range(200)] and len({one.words for one in drawn}) > 100
    finally:
        del sys.modules[spec.name]
