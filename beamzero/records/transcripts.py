"""Games as players write them down: one line a game, nothing but the moves.

A line that begins with # says something about the game below it: ``# game othello``, ``# players A | B``, ``# result
1-0``, ``# random 2`` (moves that opened it at random) and ``# date 2026-01-31``. The game stays the same for all below.
How the moves stand in a line is up to the game: see `Game.write_moves`.
"""

from __future__ import annotations

from collections.abc import Iterator

from beamzero.core.errors import BadInput
from beamzero.games import GAMES, Game
from beamzero.records.record import GameRecord, read_result, write_result


def write_transcript(record: GameRecord) -> str:
    """Write the lines of one game."""
    if record.start is not None:
        raise BadInput("a game that begins from a position of its own cannot be written as a line of moves: use .jsonl")
    about = f"# game {record.game}\n# players {record.players[0]} | {record.players[1]}\n"
    about += f"# result {write_result(record.result)}\n# random {record.random_plies}\n# date {record.date}\n"
    return about + _kind(record.game).write_moves(record.moves) + "\n"


def read_transcripts(text: str, game: str | None = None) -> Iterator[GameRecord]:
    """Read the games of a file; `game` is the game of those that do not name one."""
    about: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            key, _, value = line[1:].strip().partition(" ")
            about[key] = value.strip()
        elif line.strip():
            spec = about.get("game") or game
            if spec is None:
                raise BadInput("the file does not say which game it holds: give --game as well")
            first, _, second = f" {about.get('players', '')} ".partition(" | ")  # either may be empty
            random = about.get("random", "0")
            yield GameRecord(
                game=spec,
                moves=tuple(_kind(spec).read_moves(line.strip())),
                players=(first.strip(), second.strip()),
                result=read_result(about.get("result", "")),
                random_plies=int(random) if random.isdecimal() else 0,
                date=about.get("date", ""),
            )
            about = {"game": spec}


def _kind(spec: str) -> type[Game]:
    """Find the class of a game of this package by its spec. No other is loaded because a file names it."""
    return GAMES.get(spec.partition(":")[0], Game)
