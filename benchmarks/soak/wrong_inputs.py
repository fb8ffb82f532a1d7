"""Give commands wrong values for their arguments and options, and look at how they end.

    python benchmarks/soak/wrong_inputs.py --tries 300 --seed 0
    python benchmarks/soak/wrong_inputs.py --only 4711           # repeat the try of that seed, and show what it said
    python benchmarks/soak/wrong_inputs.py --right               # the uses that are changed: all must be accepted

A wrong input must get one line and status 2, and leave every file as it was: no traceback, no wait for a pipe that
no process writes to, nothing half written. Each try has a seed, which decides the command, what is changed in a short
and right use of it, and what is typed. Commands and options are those that ``beamzero --help`` lists. Values that turn
out to be valid count too; a command that then has much to do is stopped. Needs Linux.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import hashlib
import multiprocessing
import os
import random
import resource
import shlex
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
sys.path.append(str(ROOT / "benchmarks"))  # where this file is run on its own

from soak.tries import Count, draw_seeds, run_tries  # noqa: E402

_PATIENCE = 45.0
"""Seconds after which a command is stopped."""
_MEMORY = 12 * 2**30
_CRASHED = 70
"""The status of a command that ended in an exception."""

_TOY = {
    "games": 8, "rate_every": 0, "anchor_games": 8, "window": 150, "sims": 4, "net": "mlp:width=16,depth=2",
    "batch_size": 16, "batches": 4,
}  # fmt: skip
_SETTINGS = [word for key, value in _TOY.items() for word in ("--set", f"{key}={value}")]
_GAME = "tic_tac_toe"
USES: dict[str, tuple[list[str], list[str]]] = {
    "games": ([], []),
    "agents": ([], []),
    "recipes": (["connect_four_quick"], []),
    "runs": (["folder"], []),
    "export": (["run", "new.safetensors"], []),
    "train": ([_GAME], ["--algo", "alphazero", "--run", "new", "--iterations", "1", *_SETTINGS]),
    "compare": (
        [_GAME],
        [
            *("--recipes", "tic_tac_toe_alphazero_quick tic_tac_toe_best", "--amount", "1", "--seeds", "1"),
            *("--points", "1", "--rate-games", "2", "--battle-games", "0", "--out", "new"),
        ],
    ),
    "reproduce": (["probs-fig2"], ["--seeds", "1", "--minutes", "0.01", "--out", "new", *_SETTINGS[:2]]),
    "battle": ([_GAME, "random", "lookahead:1"], ["--games", "4", "--save", "new.jsonl"]),
    "perft": ([_GAME, "2"], []),
    "rate": ([_GAME, "lookahead:1"], ["--games", "4", "--store", "new.db", "--plot", "new.png"]),
    "score": ([_GAME, "random"], ["--positions", "4", "--plot", "new.png"]),
    "verify-agents": (["othello"], []),
    "ladder": ([_GAME, "random"], ["--depth", "1"]),
    "exhaust": ([_GAME, "lookahead:1"], []),
    "exploit": (["kuhn_poker", "cfr:iterations=10"], ["--asked", "2"]),
    "fit-eval": (
        [_GAME],
        [
            *("--games", "20", "--rounds", "1", "--depth", "1", "--trial-games", "4", "--battle-games", "0"),
            *("--out", "new.weights.json", "--plot", "new.png"),
        ],
    ),
    "book": ([_GAME], ["--agent", "lookahead:1", "--plies", "1", "--out", "new.book"]),
    "play": ([_GAME], ["--agent", "random", "--save", "new.jsonl"]),
    "analyse": ([_GAME, "random"], ["--moves", "a1"]),
    "draw": ([_GAME], ["--moves", "a1", "--agent", "random", "--size", "100", "--out", "new.svg"]),
    "replay": (["games.jsonl"], ["--number", "1", "--agent", "random", "--plot", "new.png"]),
    "serve": (
        [],
        ["--port", "0", "--no-warm", "--no-browser", "--game", _GAME, "--keep", "new.db", "--runs", "folder"],
    ),
    "engine": (["gtp", _GAME, "random"], []),
    "check": ([_GAME], ["--games", "1"]),
    "table": (["kalah:houses=3,seeds=2"], ["--seeds", "3", "--out", "new.table"]),
    "bench": (["games"], ["--game", _GAME]),
    "doctor": ([], []),
}
"""A short and right use of each command: its arguments and its options."""
_LONG = {"compare", "reproduce", "verify-agents"}
"""Commands that have much to do whatever one asks for: they are stopped sooner."""

_ENDS = ("", ".png", ".safetensors", ".jsonl", ".txt", ".pgn", ".book", ".db", ".table", ".weights.json", ".py:Game")
_PLACES = (
    *("text", "folder", "full", "dangling", "loop", "null", "full-disk", "zero", "fifo", "secret", "sqlite"),
    *("nowhere/new", "text/new", "sealed/new", "locked/new", "run", "games.jsonl", ".", "/", "~", "new"),
)
_NUMBERS = (
    *("-1", "0", "1", "2", "3", "7", "-0", "0.5", "1e3", "nan", "inf", "-inf", "1e309", "2147483647", "2147483648"),
    *("4294967296", "9223372036854775807", "9223372036854775808", "9" * 20, "-" + "9" * 20, "9" * 5000, "0x10"),
    *("１２", "1_000", "1,000"),
)
_TEXTS = (
    *("", " ", "\t", "a\nb", "'", '"', "\\", "\0", "\udcff", "x" * 300, "x" * 5000, "x" * 100_000, "☃", "[bold]"),
    *("[/]", ":fire:", "$x^$", "--", "-", "=", "a=b", "=b", "a=", ",", ":", "::", "a:b=c,d", "%s", "{0}", "*"),
    *("None", "true", "random", "human", "nobody", "tic_tac_toe", "chess", "local:", "first", "a1", "127.0.0.1:1"),
)
_PROGRAMS = ("cat", "true", "false", "sleep 60", "yes", "nothing-of-that-name", "text", "folder", "fifo", "")
_TYPED = (
    *("a1", "b2", "quit", "help", "values", "analyse", "undo", "new", "swap", "q", "b", "1", "genmove b"),
    *("boardsize 3", "list_commands", "play b a1"),
)
_AGENT_KEYS = (
    *("depth", "seconds", "nodes", "sims", "expand", "strict", "checkpoint", "level", "book", "weights", "by", "c"),
    *("hash", "quiet", "order", "rolls", "worlds", "solver", "iterations", "processes", "set", "elo", "plies", "path"),
)
_GAME_KEYS = ("rows", "columns", "length", "size", "houses", "seeds", "empty_capture", "deal", "")
_FILES = {"save", "plot", "store", "path", "read", "file", "keep", "run", "runs", "folder", "start_from"}
_AGENTS = {"agent", "opponent", "agents"}


@dataclasses.dataclass(frozen=True)
class Trial:
    """A try, as its seed decides."""

    seed: int
    command: str
    words: tuple[str, ...]
    typed: str
    """The text on stdin."""

    def __str__(self) -> str:
        text = shlex.join(word if len(word) < 200 else f"{word[:20]}...({len(word)})" for word in self.words)
        return f"beamzero {text}".encode("unicode_escape").decode()


def draw_trial(seed: int, commands: Sequence[str] = tuple(USES)) -> Trial:
    """Draw the try of a seed."""
    from beamzero.cli.loading import load_command

    rng = random.Random(seed)
    name = rng.choice(list(commands))
    arguments, options = (list(words) for words in USES[name])
    parameters = list(load_command(name).params)
    for _ in range(rng.choice((1, 1, 1, 2))):
        parameter = rng.choice(parameters)
        if parameter.param_type_name == "argument":
            place = min([p for p in parameters if p.param_type_name == "argument"].index(parameter), len(arguments))
            arguments[place : place + 1] = [draw_value(rng, parameter.name)]
        else:
            options = _with_option(rng, options, parameter)
    words = [name, *options, *arguments] if rng.random() < 0.3 else [name, *arguments, *options]
    if rng.random() < 0.05:
        words = _misspelt(rng, words)
    typed = "".join(f"{_typed(rng)}\n" for _ in range(rng.randrange(6)))
    return Trial(seed, name, tuple(words), typed)


def _with_option(rng: random.Random, options: list[str], parameter: Any) -> list[str]:
    option = rng.choice([*parameter.opts, *parameter.secondary_opts])
    if option in options and not (parameter.multiple and rng.random() < 0.5):
        place = options.index(option)
        options = options[:place] + options[place + 1 + (not parameter.is_flag) :]
    if parameter.is_flag:
        return [*options, option]
    return [*options, option, *(draw_value(rng, parameter.name) for _ in range(max(parameter.nargs, 1)))]


def _misspelt(rng: random.Random, words: list[str]) -> list[str]:
    """Add a word, leave one out, or move one."""
    place = rng.randrange(len(words))
    return rng.choice((words[:place] + words[place + 1 :], [*words, rng.choice(_TEXTS)], rng.sample(words, len(words))))


def _typed(rng: random.Random) -> str:
    return rng.choice(_TYPED) if rng.random() < 0.5 else rng.choice(_TEXTS + _NUMBERS)


def draw_value(rng: random.Random, name: str) -> str:
    """Draw what is given for a parameter: often something of its kind, else anything."""
    kind = rng.random()
    if name == "set_" and kind < 0.7:
        return _draw_setting(rng)
    if name in _FILES and kind < 0.7:
        return rng.choice(_PLACES) + rng.choice(_ENDS)
    if name in _AGENTS and kind < 0.7:
        return _draw_agent(rng)
    if name == "game" and kind < 0.7:
        return _draw_game(rng)
    return rng.choice(rng.choice((_NUMBERS, _NUMBERS, _TEXTS, _PLACES)))


def _draw_setting(rng: random.Random) -> str:
    from beamzero.algorithms.alphazero.settings import AlphaZeroSettings
    from beamzero.training.settings import describe_settings

    key = rng.choice([key for key, *_ in describe_settings(AlphaZeroSettings)])
    return f"{key}={rng.choice(_NUMBERS if rng.random() < 0.7 else _TEXTS)}"


def _draw_agent(rng: random.Random) -> str:
    from beamzero.core.registry import ALGORITHMS
    from beamzero.players import AGENTS

    head = rng.choice([*AGENTS, *ALGORITHMS])
    if head in ("uci", "gtp"):
        return f"{head}:{_quoted(rng.choice(_PROGRAMS))},seconds={rng.choice(_NUMBERS)}"
    path = rng.choice(("tic_tac_toe", "run", *_PLACES)) if head in ("probs", "alphazero", "td") else ""
    key = rng.choice(_AGENT_KEYS)
    value = rng.choice(_PLACES) if key in ("book", "weights", "path") else rng.choice(_NUMBERS + _TEXTS)
    return f"{head}:{','.join(filter(None, (path, f'{key}={_quoted(value)}')))}"


def _draw_game(rng: random.Random) -> str:
    from beamzero.games import GAMES
    from beamzero.games.pgx.games import PGX_GAMES

    if rng.random() < 0.3:
        return rng.choice((*(f"{place}.py:Game" for place in _PLACES), *(f"faulty.py:{name}" for name in _FAULTS)))
    if rng.random() < 0.2:
        return f"pgx:{rng.choice((*PGX_GAMES, 'nothing', ''))}"
    return f"{rng.choice(list(GAMES))}:{rng.choice(_GAME_KEYS)}={rng.choice(_NUMBERS + _TEXTS)}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# --- the folder in which a command runs ------------------------------------------------------------------------------

_FAULTS = ("Step", "Legal", "Init", "View", "Made", "Shape", "Abstract", "Fine", "Nothing")
_FAULTY = """
import dataclasses
import jax.numpy as jnp
from beamzero.games import Game
from beamzero.games.tic_tac_toe import TicTacToe


@dataclasses.dataclass(frozen=True)
class Fine(TicTacToe):
    name = "fine"


class Step(Fine):
    def step(self, state, action):
        return 1 / 0


class Legal(Fine):
    def legal(self, state):
        return 1 / 0


class Init(Fine):
    def init(self, key):
        return 1 / 0


class View(Fine):
    def view(self, state, seat=0):
        return 1 / 0


@dataclasses.dataclass(frozen=True)
class Made(Fine):
    def __post_init__(self):
        1 / 0


class Shape(Fine):
    def legal(self, state):
        return jnp.ones(4, bool)


class Abstract(Game):
    pass
"""
_RECORD = '{"game": "tic_tac_toe", "moves": ["a1", "b2", "a2"], "players": [":two:", "[bold]$x^$"]}\n'


def furnish(folder: Path) -> None:
    """Put into a folder what wrong values name: files and folders of all kinds."""
    (folder / "text").write_text("hello")
    (folder / "games.jsonl").write_text(2 * _RECORD)
    (folder / "faulty.py").write_text(_FAULTY)
    for name in ("folder", "full", "sealed", "locked"):
        (folder / name).mkdir()
    (folder / "full" / "notes").write_text("mine")
    (folder / "locked" / "new").symlink_to("/proc/new")
    with contextlib.closing(sqlite3.connect(folder / "sqlite")) as database:
        database.execute("create table notes (text)")
    for end in dict.fromkeys(end.removesuffix(":Game") for end in _ENDS):
        for name, target in {"dangling": "nothing", "null": "/dev/null", "full-disk": "/dev/full"}.items():
            (folder / f"{name}{end}").symlink_to(target)
        (folder / f"zero{end}").symlink_to("/dev/zero")
        (folder / f"loop{end}").symlink_to(f"loop{end}")
        os.mkfifo(folder / f"fifo{end}")
        (folder / f"secret{end}").write_text("mine")
        (folder / f"secret{end}").chmod(0)
        if end:
            (folder / f"text{end}").write_text("hello")
            (folder / f"sqlite{end}").write_bytes((folder / "sqlite").read_bytes())
            (folder / f"folder{end}").mkdir()
    (folder / "sealed").chmod(0o500)


def _listing(folder: Path) -> dict[str, str]:
    """List all that is in a folder, with its kind and content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        content = ""
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(folder))] = f"{path.lstat().st_mode:o} {content}"
    return found


# --- one try ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Ending:
    """The end of a command."""

    status: int | None
    """None where it was stopped."""
    stdout: str
    stderr: str
    seconds: float
    changed: tuple[str, ...]
    """Files that are not as they were."""

    def verdict(self) -> str:
        """Give "refused", "failed", "accepted", "stopped" while it was at work, or what is wrong."""
        said = f"{self.stdout}\n{self.stderr}"
        lines = self.stderr.splitlines()
        if "Traceback (most recent call last)" in said or self.status == _CRASHED:
            return f"WRONG: traceback: {lines[-1] if lines else ''}"
        if self.status is None:
            return "stopped"
        if self.status < 0:
            return f"WRONG: ended by {signal.Signals(-self.status).name}"
        if unfinished := [name for name in self.changed if ".writing-" in name or name.endswith(".tmp")]:
            return f"WRONG: left {', '.join(unfinished)}"
        if self.status == 0:
            return "accepted"
        if self.status == 1:
            return "failed" if said.strip() else "WRONG: failed without a word"
        if self.status != 2:
            return f"WRONG: status {self.status}"
        if len(lines) != 1 or not lines[0].startswith("beamzero: ") or len(lines[0]) > 5000:
            return f"WRONG: said {len(lines)} lines"
        if self.stdout:
            return "WRONG: printed a result too"
        if self.changed:
            return f"WRONG: wrote {', '.join(self.changed)}"
        return "refused"


class Soak:
    """Tries commands, each in a process of its own that has beamzero loaded already, and in a new folder."""

    def __init__(self, folder: Path) -> None:
        from beamzero.cli.commands import COMMAND_TABLE

        self.folder = folder
        self._context = multiprocessing.get_context("forkserver")
        modules = sorted({entry.place.partition(":")[0] for entry in COMMAND_TABLE.values()})
        commands = [f"beamzero.cli.commands.{module}" for module in modules]
        self._context.set_forkserver_preload([*commands, "beamzero.web.app", __name__])
        train = ["train", _GAME, *USES["train"][1]]
        self.folder.joinpath("first").mkdir()
        ending = self._run(train, "", self.folder / "first", lambda stdout: False, 600.0)
        if ending.status != 0:
            raise SystemExit(f"no run could be made to try things with: {ending.stderr}")

    def attempt(self, trial: Trial) -> Ending:
        """Run the command of a trial in a new folder, until it ends or waits for too long."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="try-", ignore_cleanup_errors=True) as place:
            folder = Path(place)
            furnish(folder)
            os.system(f"cp -r {shlex.quote(str(self.folder / 'first' / 'new'))} {shlex.quote(str(folder / 'run'))}")
            serves = trial.command == "serve"
            patience = _PATIENCE / 3 if trial.command in _LONG else _PATIENCE
            return self._run(list(trial.words), trial.typed, folder, lambda said: serves and said > 0, patience)

    def _run(self, words: list[str], typed: str, folder: Path, is_done: Any, patience: float) -> Ending:
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="said-") as said:
            stdin, stdout, stderr, ended = (Path(said) / name for name in ("stdin", "stdout", "stderr", "status"))
            stdin.write_bytes(typed.encode(errors="surrogateescape"))
            stdout.touch()
            before, began = _listing(folder), time.monotonic()
            cache = str(self.folder / "cache")
            process = self._context.Process(target=_command_process, args=(words, str(folder), said, cache))
            process.start()
            while process.is_alive() and time.monotonic() < began + patience and not is_done(stdout.stat().st_size):
                process.join(0.05)
            status = int(ended.read_text()) if ended.exists() else process.exitcode
            if process.is_alive():
                assert process.pid is not None
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.join()
                status = 0 if is_done(stdout.stat().st_size) else None
            after = _listing(folder)
            changed = tuple(name for name in before | after if before.get(name) != after.get(name))
            out, err = (path.read_text(errors="replace") if path.exists() else "" for path in (stdout, stderr))
            return Ending(status, out, err, time.monotonic() - began, changed)


def _command_process(words: list[str], folder: str, said: str, cache: str) -> None:
    """Run one command as a shell would, in the process of a try."""
    os.setsid()
    os.chdir(folder)
    os.environ.update({"XDG_CACHE_HOME": cache, "XDG_DATA_HOME": folder, "HOME": folder})
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(os.open(f"{said}/{name}", os.O_RDWR | os.O_CREAT), number)
    sys.stdin = open(0, errors="surrogateescape", closefd=False)  # noqa: SIM115 - for as long as the process lives
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from beamzero.cli import main as command_line

    try:
        status = command_line(words)
    except BaseException:
        traceback.print_exc()
        status = _CRASHED
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        Path(said, "status").write_text(str(status))  # which the server of forks loses at times
        os._exit(status)


# --- many of them ----------------------------------------------------------------------------------------------------


def wrong_input_trials(
    rng: random.Random,
    tries: int,
    commands: Sequence[str] = tuple(USES),
    at_once: int = 2,
    only: int | None = None,
    seconds: float = float("inf"),
) -> Count[Trial, Ending]:
    """Give `commands` so many wrong inputs, `at_once` at a time, and print what is wrong with how they end.

    No try begins after `seconds`. With `only`, repeat the one of that seed.
    """
    with tempfile.TemporaryDirectory(prefix="wrong-inputs-", ignore_cleanup_errors=True) as folder:
        return run_tries(
            draw_seeds(rng, tries, only), lambda seed: draw_trial(seed, commands), Soak(Path(folder)).attempt, at_once,
            seconds, lambda stderr: _shortened(stderr, whole=only is not None),
        )  # fmt: skip


def try_right_uses(commands: Sequence[str]) -> int:
    """Run the right use of each command, and print how it ended; status 1 where one was not accepted."""
    status = 0
    with tempfile.TemporaryDirectory(prefix="wrong-inputs-", ignore_cleanup_errors=True) as folder:
        soak = Soak(Path(folder))
        for name in commands:
            arguments, options = USES[name]
            ending = soak.attempt(Trial(0, name, (name, *arguments, *options), "quit\n"))
            print(f"{name:14} {ending.verdict()}, {ending.seconds:.1f} s", flush=True)
            if ending.verdict() != "accepted":
                status = 1
                print("    " + "\n    ".join(_shortened(ending.stderr, whole=False)), flush=True)
    return status


def _shortened(stderr: str, whole: bool) -> list[str]:
    """Shorten the output of a command; of a traceback, keep the places in our own files and the end."""
    lines = stderr.strip().splitlines()
    if whole or len(lines) < 8:
        return lines
    ours = [line for line in lines if f'File "{ROOT}' in line]
    return [line[:400] for line in (*ours[-6:], *lines[-3:])]


def main() -> int:
    """Run the tries, and print how often each command ended how; status 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, metavar="SEED", help="repeat the try of this seed (with its --command)")
    parser.add_argument("--command", action="append", choices=USES, help="may be repeated; by default all")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no try after so long")
    parser.add_argument("--right", action="store_true", help="try the right use of each command, unchanged")
    options = parser.parse_args()
    if options.right:
        return try_right_uses(options.command or tuple(USES))
    count = wrong_input_trials(
        random.Random(options.seed), options.tries, options.command or tuple(USES), options.at_once, options.only,
        60 * options.minutes,
    )  # fmt: skip
    for trial in count.stopped:
        print(f"stopped, seed {trial.seed}: {trial}")
    total: dict[str, int] = collections.Counter()
    for command, verdicts in count.verdicts.items():
        total.update(verdicts)
        print(f"{command:14}", ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items())))
    kinds = ", ".join(f"{number} {verdict}" for verdict, number in sorted(total.items()))
    print(f"{sum(total.values())} tries: {kinds}")
    return 1 if count.failures else 0


if __name__ == "__main__":
    sys.exit(main())
