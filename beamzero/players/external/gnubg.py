"""GNU Backgammon as a player, asked through its socket."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import re
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.core.leaving import finalize
from beamzero.core.programs import find_program
from beamzero.core.spec import Spec
from beamzero.games import Game, State
from beamzero.games.backgammon.game import Backgammon
from beamzero.games.backgammon.text import dice_of
from beamzero.players.analysis import step
from beamzero.players.external.engines import Engine, EnginePool, ExternalPlayer, processes_of
from beamzero.players.external.process import EngineProcess, EngineTrouble
from beamzero.players.options import take
from beamzero.players.player import Player
from beamzero.search.evaluator import SearchResult

_START_SECONDS = 60.0
_PATIENCE = 60.0
_NUMBERS = re.compile("bar|off")
_PLANS = 100_000
"""The most moves of begun turns that are kept."""


@dataclasses.dataclass(frozen=True)
class GnubgSettings:
    """The settings of GNU Backgammon."""

    plies: int = 0
    """Plies of its search: 0 is one look at its net."""


class GnubgProcess:
    """One process, which answers on a socket of its own."""

    def __init__(self, command: str, settings: GnubgSettings) -> None:
        """Start the program; BadInput where there is no such program, or it does not listen."""
        self._folder = tempfile.mkdtemp()
        finalize(self, shutil.rmtree, self._folder, True)
        path = Path(self._folder) / "socket"
        setup = Path(self._folder) / "setup"
        # There is no cube here, and gammons count without one.
        setup.write_text(
            f"set evaluation chequer evaluation plies {settings.plies}\n"
            "set evaluation chequer evaluation cubeful off\n"
            "set jacoby off\n"
            f"external {path}\n"
        )
        self._process = EngineProcess(f"{command} -t -q -r -c {setup}")
        try:
            self._socket = _connect(path, self._process)
            self._lines = self._socket.makefile("r")
            self.title = f"GNU Backgammon {self._version()}"
        except (OSError, EngineTrouble):
            self.close()
            raise BadInput(f"{command!r} does not answer as GNU Backgammon does") from None

    def _version(self) -> str:
        """Ask for the version."""
        said = [self._ask("version"), *(self._lines.readline() for _ in range(3))]
        return next((line.partition(":")[2].strip() for line in said if line.startswith("Software")), "")

    def choose(self, board: str) -> str:
        """Ask for the moves of a whole turn, such as ``8/5 6/5``; the bar is 25 and off is 0."""
        return self._ask(board)

    def _ask(self, line: str) -> str:
        """Send a line. Returns the answer, one line."""
        try:
            self._socket.sendall(f"{line}\n".encode())
            answer = self._lines.readline()
        except OSError:
            raise EngineTrouble("gave no answer") from None
        if not answer:
            raise EngineTrouble("closed its socket")
        return answer.strip()

    def close(self) -> None:
        self.kill()

    def kill(self) -> None:
        with contextlib.suppress(AttributeError, OSError):
            self._socket.close()
        self._process.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


def _connect(path: Path, process: EngineProcess) -> socket.socket:
    """Connect to the socket of a process, as soon as that listens."""
    until = time.monotonic() + _START_SECONDS
    while True:
        try:
            link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            link.settimeout(_PATIENCE)
            link.connect(str(path))
            return link
        except OSError:
            link.close()
            if time.monotonic() > until or not process.is_alive:
                raise
            time.sleep(0.05)


class GnubgPlayer(ExternalPlayer):
    """GNU Backgammon, asked once a turn, when the dice are rolled; the further moves of the turn are kept."""

    def _answer(self, state: State, moves: Sequence[int] | None) -> int:
        legal = self.game.legal_actions(state)
        if self.game.action_name(state, legal[0]) == "pass":
            return legal[0]
        assert isinstance(self.pool, _Pool)
        plans = self.pool.plans
        if (known := plans.get(_mark(state))) is not None:
            return known
        if not int(state.low) and int(state.times) < 4:
            raise EngineTrouble("can only be asked about whole rolls")

        def question(engine: Engine) -> str:
            assert isinstance(engine, GnubgProcess)
            return engine.choose(board_line(state))

        said = str(self.pool.ask(question))
        line = follow(self.game, state, read_turn(said))
        if line is None:
            raise EngineTrouble(f"made the illegal move {said!r}")
        first, *later = line
        now = jax.device_get(step(self.game, state, first))
        for action in later:
            plans.put(_mark(now), action)
            now = jax.device_get(step(self.game, now, action))
        return first

    def think_batch(self, states: State, key: Array) -> SearchResult:
        raise BadInput(f"{self.name} says its moves and not what it thinks: it plays battles and ratings alone")


class _Plans:
    """Moves of begun turns, by position; the oldest are dropped."""

    def __init__(self) -> None:
        self._moves: collections.OrderedDict[bytes, int] = collections.OrderedDict()
        self._lock = threading.Lock()

    def put(self, mark: bytes, action: int) -> None:
        """Plan a move in a position."""
        with self._lock:
            self._moves[mark] = action
            if len(self._moves) > _PLANS:
                self._moves.popitem(last=False)

    def get(self, mark: bytes) -> int | None:
        """Find the planned move of a position. It stays, since another game may come to the same position."""
        with self._lock:
            return self._moves.get(mark)


class _Pool(EnginePool):
    """Processes of GNU Backgammon, and the moves of begun turns."""

    def __init__(self, start: Callable[[], Engine], processes: int) -> None:
        super().__init__(start, processes)
        self.plans = _Plans()


def _mark(state: Any) -> bytes:
    """Encode a state as bytes that no other state has."""
    numbers = [int(state.side), int(state.high), int(state.low), int(state.times)]
    return np.asarray(state.own).tobytes() + np.asarray(state.other).tobytes() + bytes(numbers)


def board_line(state: Any) -> str:
    """Write a position as FIBS does, from the mover's side: its own checkers positive, moving from 24 to 1."""
    own, other = np.asarray(state.own).tolist(), np.asarray(state.other).tolist()
    places = [-other[25], *(own[p] - other[25 - p] for p in range(1, 25)), own[25]]
    dice = dice_of(state)[:2]
    fields: list[Any] = ["board", "own", "other", 0, 0, 0, *places, 1, *dice, 0, 0]
    cube = [1, 1, 1, 0]  # in the middle, and not turned
    return ":".join(map(str, [*fields, *cube, 1, -1, 0, 25, own[0], other[0], own[25], other[25], 0, 0, 0, 0]))


def read_turn(said: str) -> list[tuple[int, int]]:
    """Read moves such as ``25/23 8/5*`` as pairs of a source and a target; EngineTrouble for any other text."""
    try:
        pairs = [move.rstrip("*").split("/") for move in said.split()]
        return [(int(source), int(target)) for source, target in pairs]
    except ValueError:
        raise EngineTrouble(f"said {said!r} instead of a move") from None


def follow(game: Game, state: Any, turn: list[tuple[int, int]]) -> list[int] | None:
    """Find actions that make all moves of a turn, in a legal order; None where there is none."""
    if not turn:
        return []
    for action in game.legal_actions(state):
        made = read_turn(_NUMBERS.sub(lambda word: {"bar": "25", "off": "0"}[word[0]], _plain(game, state, action)))
        if not made or made[0] not in turn:
            continue
        rest = list(turn)
        rest.remove(made[0])
        after = jax.device_get(step(game, state, action))
        if not rest:
            return [action] if int(after.high) == 0 else None
        if int(after.high) and (later := follow(game, after, rest)) is not None:
            return [action, *later]
    return None


def _plain(game: Game, state: Any, action: int) -> str:
    """Name a move without a star or a die; an empty text for a pass."""
    name = game.action_name(state, action)
    return "" if name == "pass" else name.partition("(")[0].rstrip("*")


def make_gnubg(name: str, spec: Spec, game: Game) -> Player:
    """Make a player such as ``gnubg`` or ``gnubg:plies=2``."""
    argument, options = take(spec, name, "plies", {"plies": int, "command": str, "processes": int})
    if not isinstance(game, Backgammon):
        raise BadInput(f"{name} plays backgammon, not {game.name}")
    plies = options.get("plies", 0) if argument is None else _number(name, argument)
    if not 0 <= plies <= 4:
        raise BadInput(f"{name}: plies is {plies}, but must be 0 to 4")
    command, settings = options.get("command", "gnubg"), GnubgSettings(plies)
    if not command.strip():
        raise BadInput(f"{name}: command is empty, but must name a program")
    try:
        find_program(command.split()[0])
    except BadInput as error:
        raise BadInput(f"{name}: {error} (Debian and Ubuntu: apt install gnubg)") from None
    pool = _Pool(lambda: GnubgProcess(command, settings), processes_of(name, options))
    return GnubgPlayer(name, game, command, pool.title, settings, True, pool)


def _number(name: str, text: str) -> int:
    """Read the number of plies."""
    if not text.isdigit():
        raise BadInput(f"{name}: plies is {text!r}, but must be a number")
    return int(text)
