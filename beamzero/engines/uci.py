"""UCI, the protocol between chess programs and boards.

Lines that cannot be understood are ignored. An illegal position or move is answered by an ``info string``, and the last
legal position stays.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from jax import Array

from beamzero import __version__
from beamzero.core.errors import BadInput
from beamzero.engines.chess_positions import ChessPosition, as_chess, uci_line, uci_moves
from beamzero.engines.clock import seconds_for_move, seconds_of_movetime
from beamzero.engines.wire import ProtocolEngine, Send
from beamzero.games import Game
from beamzero.games.chess.state import ChessState
from beamzero.players import Player
from beamzero.search.drive import Snapshot, Timer
from beamzero.search.limit import MAX_DEPTH, Limit
from beamzero.search.protocol import UNLIMITED, Option

_OVERHEAD = "Move Overhead"
_VARIANT = "UCI_Variant"
_HIGHEST_CENTIPAWNS = 9_999
_NO_MOVE = "0000"
_LONGEST_SECONDS = 86_400.0

_NUMBERS = ("wtime", "btime", "winc", "binc", "movestogo", "movetime", "depth", "nodes", "mate")
"""Words of `go` that a whole number follows."""


class UciEngine(ProtocolEngine):
    """Plays chess, or chess on 6 x 6 squares as a variant."""

    def __init__(self, player: Player, name: str, send: Send, seed: int = 0) -> None:
        super().__init__(player, send, seed)
        self.game, self.name = as_chess(player.game), name
        self.position = ChessPosition(self.game)
        self.overhead = Option(30, 0, 5000)
        self._sound = player

    def warm_up(self) -> None:
        """Run all that a move needs once, in positions from each kind of `position` command.

        Options that fail here, such as a hash table that does not fit into memory, are taken back.
        """
        player = self.player
        try:
            position = ChessPosition(self.game)
            first = self.game.write_position(position.state)
            move = next(iter(uci_moves(self.game, position.state).values()))
            for fen, moves in ((None, []), (first, []), (first, [move])):
                position.set(fen, moves)
                self._limit_of(["wtime", "0", "btime", "0"])
                uci_moves(self.game, position.state)
                player.warm_up(position.state, self.warm_up_key)
            self._sound = player
        except Exception as error:
            self.say(f"{type(error).__name__}: {error}")
            self.player = self._sound

    def say(self, text: str) -> None:
        """Send a line for people."""
        self.send(f"info string {' '.join(text.split())[:400]}")

    def handle(self, line: str) -> bool:
        words = line.split()
        # What comes before a known word is noise, says the protocol.
        while words and words[0] not in _COMMANDS:
            words.pop(0)
        if not words:
            return True
        if words[0] == "quit":
            return False
        try:
            _COMMANDS[words[0]](self, words[1:])
        except BadInput as error:
            self.say(str(error))
        except Exception as error:  # whatever is wrong, the game goes on
            self.say(f"{type(error).__name__}: {error}")
        return True

    # --- commands ----------------------------------------------------------------------------------------------------

    def _uci(self, words: Sequence[str]) -> None:
        self.send(f"id name beamzero {__version__} {self.name}")
        self.send("id author the beamzero authors")
        for name, (default, low, high) in {_OVERHEAD: self.overhead, **self.player.options}.items():
            self.send(f"option name {name} type spin default {default} min {low} max {high}")
        if variant := self.game.uci_variant:
            self.send(f"option name {_VARIANT} type combo default {variant} var {variant}")
        self.send("uciok")

    def _isready(self, words: Sequence[str]) -> None:
        self.when_warm(lambda: self.send("readyok"))

    def _setoption(self, words: Sequence[str]) -> None:
        text = " ".join(words)
        name, _, value = text.removeprefix("name ").partition(" value ")
        name, value = name.strip().lower(), value.strip()
        if name == _VARIANT.lower():
            if value != self.game.name:
                raise BadInput(f"{_VARIANT} is {value!r}, but must be {self.game.name}")
            return
        settings = {_OVERHEAD: self.overhead, **self.player.options}
        known = next((known for known in settings if known.lower() == name), None)
        if known is None:
            raise BadInput(f"there is no option {name!r}")
        setting = settings[known]
        number = _whole(value)
        if number is None or not setting.low <= number <= setting.high:
            raise BadInput(f"{known} is {value!r}, but must be {setting.low} to {setting.high}")
        if known == _OVERHEAD:
            self.overhead = setting._replace(default=number)
        elif number != setting.default:
            self.player = self.player.with_option(known, number)
            self.prepare()

    def _position(self, words: Sequence[str]) -> None:
        first = words[: words.index("moves")] if "moves" in words else words
        moves = words[len(first) + 1 :]
        if first[:1] == ["fen"]:
            self.position.set(" ".join(first[1:]), moves)
        elif list(first) == ["startpos"]:
            self.position.set(None, moves)
        else:
            raise BadInput("a position is startpos or fen FEN, then perhaps moves and some of them")

    def _go(self, words: Sequence[str]) -> None:
        state, limit, key, timer = self.position.state, self._limit_of(words), self.draw_key(), Timer()
        player, endless = self.player, "infinite" in words or "ponder" in words
        if endless and limit is None:
            limit = Limit()
        self.begin(timer, lambda: self._search(player, state, key, limit, timer, endless))

    def _stop(self, words: Sequence[str]) -> None:
        self.stop()

    def _nothing(self, words: Sequence[str]) -> None:
        """Ignore the command: no search uses results of an earlier one, and there is no log."""

    # --- searches ----------------------------------------------------------------------------------------------------

    def _limit_of(self, words: Sequence[str]) -> Limit | None:
        """Read the limit of a `go` command; None where it has none. Words that are no numbers count as not given."""
        given = {w: _whole(n) for w, n in itertools.pairwise([*words, ""]) if w in _NUMBERS}
        said = {word: number for word, number in given.items() if number is not None}
        seconds = None
        overhead = self.overhead.default / 1000
        own, increment = ("wtime", "winc") if int(self.game.player(self.position.state)) == 0 else ("btime", "binc")
        if "movetime" in said:
            seconds = seconds_of_movetime(said["movetime"] / 1000, overhead)
        elif own in said:
            seconds = seconds_for_move(
                said[own] / 1000, max(0, said.get(increment, 0)) / 1000, said.get("movestogo"), overhead
            )
        depth = said.get("depth", 2 * said["mate"] if "mate" in said else None)
        nodes = said.get("nodes")
        limit = Limit(
            seconds=None if seconds is None else min(seconds, _LONGEST_SECONDS),
            depth=None if depth is None else max(1, min(depth, MAX_DEPTH)),
            nodes=None if nodes is None else max(1, min(nodes, UNLIMITED - 1)),
        )
        return limit or None

    def _search(
        self, player: Player, state: ChessState, key: Array, limit: Limit | None, timer: Timer, endless: bool
    ) -> None:
        """Search, send lines on the way, and answer with a legal move; after `infinite`, not before a stop."""
        legal = uci_moves(self.game, state)
        best = next(iter(legal.values()), _NO_MOVE)
        if legal:
            try:
                found = player.consider(state, key, limit, timer, lambda snapshot: self._tell(state, snapshot))
                best = legal[found.action]
            except Exception as error:  # a search that fails must not lose the game
                self.say(f"{type(error).__name__}: {error}")
        if endless:
            timer.wait()
        self.send(f"bestmove {best}")

    def _tell(self, state: ChessState, found: Snapshot) -> None:
        milliseconds = int(1000 * found.seconds)
        speed = int(found.nodes / max(found.seconds, 1e-3))
        self.send(
            f"info depth {found.depth or len(found.line)}"
            f" score {score_text(self.game, found.value, found.outlook.plies)}"
            f" nodes {found.nodes} nps {speed} time {milliseconds}"
            f" pv {' '.join(uci_line(self.game, state, found.line))}"
        )


_COMMANDS = {
    "uci": UciEngine._uci,
    "isready": UciEngine._isready,
    "setoption": UciEngine._setoption,
    "position": UciEngine._position,
    "go": UciEngine._go,
    "stop": UciEngine._stop,
    "ponderhit": UciEngine._stop,
    "ucinewgame": UciEngine._nothing,
    "debug": UciEngine._nothing,
    "register": UciEngine._nothing,
    "quit": UciEngine._stop,
}


def score_text(game: Game, value: float, plies: int | None) -> str:
    """Write a value for the side to move: ``mate -2``, in moves, or ``cp 35``, in hundredths of a pawn."""
    if plies is not None:
        moves = (plies + 1) // 2
        return f"mate {moves if value > 0 else -moves}"
    return f"cp {centipawns(game, value)}"


def centipawns(game: Game, value: float) -> int:
    """Convert a value of [-1, 1] to hundredths of a point: the inverse of ``tanh(point * points / 2)``."""
    points = 2 * math.atanh(max(-0.999999, min(0.999999, value))) / game.point
    return round(max(-_HIGHEST_CENTIPAWNS, min(_HIGHEST_CENTIPAWNS, 100 * points)))


def _whole(text: str) -> int | None:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None
