"""GTP version 2, which was made for Go, for other games.

Black is the side that moves first. Moves are the game's own texts; Othello's squares are written as vertices, D3. A
command that cannot be done is answered by ``? why``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from beamzero import __version__
from beamzero.core.errors import BadInput
from beamzero.engines.clock import PeriodClock
from beamzero.engines.game import ProtocolGame
from beamzero.engines.wire import ProtocolEngine, Send
from beamzero.players import Player
from beamzero.search.drive import Timer
from beamzero.search.limit import Limit

_COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}
_SIDES = ("black", "white")

OVERHEAD = 0.05
"""Seconds that a move costs beside its search."""

_LONGEST_SECONDS = 86_400.0


class GtpEngine(ProtocolEngine):
    """Answers commands in the order in which they come, each when it is done."""

    def __init__(self, player: Player, name: str, send: Send, seed: int = 0) -> None:
        super().__init__(player, send, seed)
        self.game, self.name = player.game, name
        self.played = ProtocolGame(self.game)
        self._time: tuple[float, float, int] | None = None
        self._clocks: list[PeriodClock] | None = None

    def warm_up(self) -> None:
        for state in ProtocolGame(self.game).warm_up():
            self.player.warm_up(state, self.warm_up_key)

    def handle(self, line: str) -> bool:
        text = "".join(" " if letter == "\t" else letter for letter in line if letter == "\t" or letter >= " ")
        words = text.partition("#")[0].split()
        number = words.pop(0) if words and words[0].isascii() and words[0].isdigit() else ""
        if not words:
            return True
        self.later(lambda: self._answer(number, words[0], words[1:]))
        return words[0] != "quit"

    def _answer(self, number: str, command: str, words: Sequence[str]) -> None:
        try:
            if command not in _COMMANDS:
                raise BadInput("unknown command")
            sign, text = "=", _COMMANDS[command](self, words)
        except BadInput as error:
            sign, text = "?", str(error)
        except Exception as error:  # whatever happens, the referee gets an answer
            sign, text = "?", f"{type(error).__name__}: {error}"
        # An empty line ends an answer, so there must be none inside.
        lines = [line.rstrip() for line in text.splitlines() if line.strip()]
        gap = "\n" if text.startswith("\n") else " "
        self.send(f"{sign}{number}{gap}{chr(10).join(lines)}".rstrip() + "\n")

    def close(self, patience: float | None = None) -> bool:
        """Answer all commands, then end."""
        done = self.wait()
        return super().close() and done

    # --- commands ----------------------------------------------------------------------------------------------------

    def _known_command(self, words: Sequence[str]) -> str:
        return "true" if words[:1] and words[0] in _COMMANDS else "false"

    def _boardsize(self, words: Sequence[str]) -> str:
        size = _number(words, 0)
        view = self.game.view(self.played.state)
        if view["kind"] == "grid" and size not in (view["rows"], view["columns"]):
            raise BadInput("unacceptable size")
        return self._clear_board(words)

    def _clear_board(self, words: Sequence[str]) -> str:
        self.played.clear()
        self._clocks = self._time and [PeriodClock(*self._time) for _ in _SIDES]
        return ""

    def _komi(self, words: Sequence[str]) -> str:
        _number(words, 0)
        return ""

    def _play(self, words: Sequence[str]) -> str:
        if len(words) != 2:
            raise BadInput("a colour and a move are needed")
        self._check_turn(words[0])
        try:
            self.played.play(words[1])
        except BadInput as error:
            raise BadInput(f"illegal move: {error}") from None
        return ""

    def _check_turn(self, colour: str) -> None:
        if colour.lower() not in _COLOURS:
            raise BadInput("invalid color")
        side = _COLOURS[colour.lower()]
        if self.played.over:
            raise BadInput(f"illegal move: the game is over, {self.game.outcome_reason(self.played.state)}")
        if side != self.played.side:
            raise BadInput(f"illegal move: it is the turn of {_SIDES[1 - side]}")

    def _genmove(self, words: Sequence[str]) -> str:
        began = time.monotonic()
        move, action = self._think(words)
        if self._clocks:
            self._clocks[self.played.side].spend(time.monotonic() - began)
        self.played.play_action(action)
        return move

    def _reg_genmove(self, words: Sequence[str]) -> str:
        return self._think(words)[0]

    def _think(self, words: Sequence[str]) -> tuple[str, int]:
        self._check_turn(words[0] if words else "")
        clock = self._clocks and self._clocks[self.played.side]
        self._timer = Timer()
        limit = Limit(seconds=min(clock.seconds(OVERHEAD), _LONGEST_SECONDS)) if clock else None
        state = self.played.state
        action = self.player.consider(state, self.draw_key(), limit, self._timer).action
        return self.game.gtp_move(self.game.action_name(state, action)), action

    def _all_legal(self, words: Sequence[str]) -> str:
        self._check_turn(words[0] if words else "")
        state = self.played.state
        names = [self.game.action_name(state, action) for action in self.game.legal_actions(state)]
        return " ".join(self.game.gtp_move(name) for name in names)

    def _undo(self, words: Sequence[str]) -> str:
        try:
            self.played.undo()
        except BadInput:
            raise BadInput("cannot undo") from None
        return ""

    def _showboard(self, words: Sequence[str]) -> str:
        return "\n" + self.game.show(self.played.state)

    def _final_score(self, words: Sequence[str]) -> str:
        """Answer ``B+12``, ``W+1`` or ``0``: discs in Othello, else 1 for a win."""
        if not self.played.over:
            raise BadInput("cannot score: the game is not over")
        lead = self.game.lead(self.played.state)
        return f"{'B' if lead > 0 else 'W'}+{abs(lead):g}" if lead else "0"

    def _time_settings(self, words: Sequence[str]) -> str:
        main, period, moves = (_number(words, i) for i in range(3))
        if min(main, period, moves) < 0:
            raise BadInput("times must not be negative")
        endless = period > 0 and moves == 0
        self._time = None if endless else (main, period, int(moves))
        self._clocks = self._time and [PeriodClock(*self._time) for _ in _SIDES]
        return ""

    def _time_left(self, words: Sequence[str]) -> str:
        colour = words[0].lower() if words else ""
        if colour not in _COLOURS:
            raise BadInput("invalid color")
        seconds, moves = max(0.0, _number(words, 1)), max(0.0, _number(words, 2))
        if self._clocks is None:
            self._clocks = [PeriodClock(seconds, 0.0, 0) for _ in _SIDES]
        clock = self._clocks[_COLOURS[colour]]
        clock.remaining, clock.moves = seconds, int(moves)
        return ""


def _number(words: Sequence[str], place: int) -> float:
    try:
        number = float(words[place])
    except (IndexError, ValueError):
        raise BadInput("syntax error: a number is missing") from None
    if not abs(number) < 1e9:
        raise BadInput("syntax error: a number is out of range")
    return number


_Command = Callable[[GtpEngine, Sequence[str]], str]

_COMMANDS: dict[str, _Command] = {
    "protocol_version": lambda engine, words: "2",
    "name": lambda engine, words: f"beamzero {engine.name}",
    "version": lambda engine, words: __version__,
    "known_command": GtpEngine._known_command,
    "list_commands": lambda engine, words: "\n".join(_COMMANDS),
    "quit": lambda engine, words: "",
    "boardsize": GtpEngine._boardsize,
    "clear_board": GtpEngine._clear_board,
    "komi": GtpEngine._komi,
    "play": GtpEngine._play,
    "genmove": GtpEngine._genmove,
    "reg_genmove": GtpEngine._reg_genmove,
    "all_legal": GtpEngine._all_legal,
    "undo": GtpEngine._undo,
    "showboard": GtpEngine._showboard,
    "final_score": GtpEngine._final_score,
    "time_settings": GtpEngine._time_settings,
    "time_left": GtpEngine._time_left,
}
