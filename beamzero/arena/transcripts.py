"""Games as players write them down: one line a game, nothing but the moves.

A line that begins with # says something about the game below it: ``# game othello``, ``# players A | B``, ``# result
1-0``, ``# random 2`` (moves that opened it at random) and ``# date 2026-01-31``. The game stays the same for all below.
Connect Four's columns stand side by side, as letters or as numbers from 1 on; so do Othello's squares, where passes are
left out, since they are never a choice. In all other games there are spaces between the moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from beamzero.arena.records import PASS, GameRecord, read_result, result_text
from beamzero.errors import BadInput

_SQUARES = re.compile(r"[a-z]\d+", re.IGNORECASE)


def write_transcript(record: GameRecord) -> str:
    """The lines of one game."""
    if record.start is not None:
        raise BadInput("a game that begins from a position of its own cannot be written as a line of moves: use .jsonl")
    name = record.game.partition(":")[0]
    moves = [move for move in record.moves if not (name == "othello" and move == PASS)]
    side_by_side = name in ("connect_four", "othello")
    about = f"# game {record.game}\n# players {record.players[0]} | {record.players[1]}\n"
    about += f"# result {result_text(record.result)}\n# random {record.random_plies}\n# date {record.date}\n"
    return about + ("" if side_by_side else " ").join(moves) + "\n"


def read_transcripts(text: str, game: str | None = None) -> Iterator[GameRecord]:
    """The games of a file; `game` is what those are that do not say so."""
    about: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            key, _, value = line[1:].strip().partition(" ")
            about[key] = value.strip()
        elif line.strip():
            spec = about.get("game") or game
            if spec is None:
                raise BadInput("the file does not say which game it holds: give --game as well")
            first, _, second = about.get("players", "").partition(" | ")
            random = about.get("random", "0")
            yield GameRecord(
                game=spec,
                moves=tuple(_split(spec, line.strip())),
                players=(first.strip(), second.strip()),
                result=read_result(about.get("result", "")),
                random_plies=int(random) if random.isdecimal() else 0,
                date=about.get("date", ""),
            )
            about = {"game": spec}


def _split(spec: str, line: str) -> list[str]:
    name = spec.partition(":")[0]
    if name == "connect_four":
        marks = "".join(line.split())
        return [chr(ord("a") + int(mark) - 1) if mark in "123456789" else mark for mark in marks]
    if name == "othello" and _SQUARES.fullmatch(line.split()[0][:2]) and not line.count(" "):
        squares = _SQUARES.findall(line)
        if "".join(squares) == line:
            return squares
    return line.split()
