"""GTP, the protocol of Go programs and of others: a process that speaks it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beamzero.core.errors import BadInput
from beamzero.players.external.process import EngineProcess, EngineTrouble

_GREETING_SECONDS = 20.0
_COLOURS = ("B", "W")
_PASS = "pass"


@dataclasses.dataclass(frozen=True)
class GtpSettings:
    """The setup of an engine."""

    patience: float
    """Seconds without an answer after which the engine counts as hanging."""
    size: int | None = None
    """The size of the board, where it has one."""
    setup: tuple[str, ...] = ()
    """Commands that are sent first."""


class Refused(EngineTrouble):
    """The engine refused a command."""


class GtpProcess:
    """One process that speaks GTP."""

    def __init__(self, command: str, settings: GtpSettings) -> None:
        """Start the program; BadInput where it speaks another protocol, or refuses a command."""
        self._settings = settings
        self._process = EngineProcess(command)
        try:
            version = self._ask("protocol_version", _GREETING_SECONDS)
            if version.strip() != "2":
                raise EngineTrouble(f"said {version!r} when it was asked for its version")
        except EngineTrouble as trouble:
            self.close()
            raise BadInput(f"{command!r} does not speak GTP: it {trouble}") from None
        try:
            self.title = f"{self._ask('name', _GREETING_SECONDS)} {self._ask('version', _GREETING_SECONDS)}".strip()
            size = [] if settings.size is None else [f"boardsize {settings.size}"]
            for line in (*size, *settings.setup):
                self._ask(line, _GREETING_SECONDS)
        except EngineTrouble as trouble:
            self.close()
            raise BadInput(f"{command!r} {trouble}") from None

    def choose(self, moves: Sequence[tuple[int, str]], side: int) -> str:
        """Ask for a move of `side` after the `moves`, each with the side that made it."""
        self._ask("clear_board")
        for mover, move in moves:
            try:
                self._ask(f"play {_COLOURS[mover]} {move}")
            except Refused:
                if move != _PASS:  # where one must pass, some engines do so by themselves and refuse the command
                    raise
        return self._ask(f"genmove {_COLOURS[side]}").strip()

    def _ask(self, command: str, seconds: float | None = None) -> str:
        """Send a command. Returns the answer, which ends with an empty line."""
        self._process.send(command)
        begun = False

        def is_last(line: str) -> bool:
            nonlocal begun
            begun = begun or bool(line.strip())
            return begun and not line.strip()

        lines = self._process.wait_for(is_last, seconds or self._settings.patience)
        text = "\n".join(lines).strip()
        if not text.startswith("="):
            said = text.lstrip("?").strip().splitlines()
            raise Refused(f"answered {command!r} with {said[0] if said else text!r}")
        return text[1:].strip()

    def close(self) -> None:
        self._process.close()

    def kill(self) -> None:
        self._process.kill()
