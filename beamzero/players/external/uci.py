"""UCI, the protocol of chess programs: a process that speaks it."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path

from beamzero.core.errors import BadInput
from beamzero.players.external.process import EngineProcess, EngineTrouble

_GREETING_SECONDS = 20.0
_VARIANT_FILES = {"chess6x6": Path(__file__).parent / "chess6x6.ini"}
"""Files with the rules of variants, for engines that read them."""

_OPTION = re.compile(r"option name (?P<name>.+?) type (?P<kind>\w+)(?P<rest>.*)")


@dataclasses.dataclass(frozen=True)
class UciSettings:
    """The setup of an engine, and its limit."""

    limit: str
    """The limit as the command `go` takes it: depth 5, nodes 1000 or movetime 100."""
    patience: float
    """Seconds without an answer after which the engine counts as hanging."""
    options: tuple[tuple[str, str], ...] = ()
    """Names and values, in the order in which they are set."""
    variant: str = "chess"
    """The name of the game: other rules make it another player."""


@dataclasses.dataclass(frozen=True)
class Choice:
    """The answer of an engine in one position."""

    move: str
    scores: dict[str, float]
    """Scores in pawns for the side to move, infinite for a mate, of the chosen move and perhaps of others."""
    nodes: int


class UciProcess:
    """One process that speaks UCI."""

    def __init__(self, command: str, settings: UciSettings, variant: str | None = None) -> None:
        """Start the program; BadInput where it speaks another protocol, or lacks an option or the variant."""
        self._settings, self._variant = settings, variant
        self._process = EngineProcess(command)
        try:
            self.title, self._known = self._greet(command)
            for name, value in self._all_options(command):
                self._process.send(f"setoption name {name} value {value}" if value else f"setoption name {name}")
            self._wait_until_ready()
        except EngineTrouble as trouble:
            self.close()
            raise BadInput(f"{command!r} {trouble}") from None
        except BadInput:
            self.close()
            raise

    def _greet(self, command: str) -> tuple[str, dict[str, str]]:
        """Greet the program. Returns its title, and the line that declares each of its options, by lower-case name."""
        self._process.send("uci")
        try:
            lines = self._process.wait_for(lambda line: line.strip() == "uciok", _GREETING_SECONDS)
        except EngineTrouble as trouble:
            raise BadInput(f"{command!r} does not speak UCI: it {trouble}") from None
        known = {match["name"].lower(): line for line in lines if (match := _OPTION.match(line))}
        names = [line.removeprefix("id name ").strip() for line in lines if line.startswith("id name ")]
        return names[0] if names else command, known

    def _all_options(self, command: str) -> list[tuple[str, str]]:
        """List the options to set, those of the variant too; BadInput where the engine does not have one."""
        options = list(self._settings.options)
        if variant := self._variant:
            if "uci_variant" not in self._known:
                raise BadInput(f"{command!r} plays chess alone, not {variant}")
            if variant not in self._known["uci_variant"].split():
                if variant not in _VARIANT_FILES or "variantpath" not in self._known:
                    raise BadInput(f"{command!r} does not know the variant {variant}")
                options.append(("VariantPath", str(_VARIANT_FILES[variant])))
            options.append(("UCI_Variant", variant))
        for name, value in options:
            if name.lower() not in self._known:
                raise BadInput(f"{command!r} has no option {name!r}")
            _check_range(command, name, value, self._known[name.lower()])
        return options

    def _wait_until_ready(self) -> None:
        self._process.send("isready")
        self._process.wait_for(lambda line: line.strip() == "readyok", max(self._settings.patience, _GREETING_SECONDS))

    def choose(self, fen: str, moves: int = 1) -> Choice:
        """Ask for the best move of a position, and for the scores of `moves` moves, if the engine can give them."""
        if "multipv" in self._known:
            self._process.send(f"setoption name MultiPV value {moves}")
        # Nothing is left of the position before, so that the answer depends on this one alone.
        self._process.send("ucinewgame")
        self._wait_until_ready()
        self._process.send(f"position fen {fen}")
        self._process.send(f"go {self._settings.limit}")
        lines = self._process.wait_for(lambda line: line.startswith("bestmove"), self._settings.patience)
        words = lines[-1].split()
        if len(words) < 2:
            raise EngineTrouble(f"said {lines[-1]!r}")
        return _choice(words[1], lines)

    def close(self) -> None:
        self._process.close()

    def kill(self) -> None:
        self._process.kill()


def _check_range(command: str, name: str, value: str, line: str) -> None:
    """Raise BadInput where an option is out of range, since engines ignore such a number silently."""
    bounds = re.search(r"type spin .*\bmin (-?\d+) max (-?\d+)", line)
    if bounds and not (re.fullmatch(r"-?\d+", value) and int(bounds[1]) <= int(value) <= int(bounds[2])):
        raise BadInput(f"{command!r}: {name} is {value}, but must be {bounds[1]} to {bounds[2]}")


def _choice(move: str, lines: list[str]) -> Choice:
    """Read scores and nodes from the lines before a move."""
    scores: dict[str, float] = {}
    nodes = 0
    for line in lines:
        words = line.split()
        if words[:1] != ["info"]:
            continue
        if "nodes" in words[:-1] and (count := words[words.index("nodes") + 1]).isdecimal():
            nodes = int(count)
        if "score" in words and "pv" in words[:-1]:
            score = _score(words[words.index("score") + 1 :])
            if score is not None:
                scores[words[words.index("pv") + 1]] = score
    return Choice(move, scores, nodes)


def _score(words: list[str]) -> float | None:
    """Read a score in pawns from the words after "score"; None where they cannot be read."""
    try:
        number = int(words[1])
    except (IndexError, ValueError):
        return None
    if words[0] == "cp":
        return number / 100
    return math.copysign(math.inf, number) if words[0] == "mate" else None
