"""Files of games, whose format goes by the end of their name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.records.pgn import VARIANTS, read_pgn, write_pgn
from beamzero.records.record import GameRecord, has_notation
from beamzero.records.transcripts import read_transcripts, write_transcript
from beamzero.storage.files import check_writable, read_file, taking_turns, write_atomically, writing

FORMATS = {
    ".pgn": "the games of chess and chess6x6",
    ".txt": "one line of moves a game",
    ".jsonl": "one JSON object a game, for all games and programs",
}


def check_format(path: Path, game: str, start: str | None = None) -> None:
    """Raise BadInput where games of this kind, from this position, cannot be written to a file of this name."""
    if path.suffix not in FORMATS:
        raise BadInput(f"{path}: a file of games ends in {', '.join(FORMATS)}")
    rules = make_game(game)
    if path.suffix == ".pgn" and game.partition(":")[0] not in VARIANTS:
        others = ".jsonl" if rules.num_chance or rules.hidden else ".txt or .jsonl"
        raise BadInput(f"{path}: PGN is for {' and '.join(VARIANTS)}; use {others} for {game}")
    if path.suffix == ".txt" and start is not None:
        raise BadInput(f"{path}: a line of moves cannot say from which position it begins; use .jsonl")
    if rules.num_chance or rules.hidden:
        if not has_notation(rules):
            raise BadInput(f"{path}: games of {game} cannot be saved, for there is no way to write how they were dealt")
        if path.suffix != ".jsonl":
            raise BadInput(f"{path}: a line of moves cannot say how a game of {game} began; use .jsonl")
    check_writable(path, "a file of games is")


def add_records(path: Path, records: Iterable[GameRecord]) -> int:
    """Add games at the end of a file, which is made where there is none. Returns the number of games.

    Whatever happens, the file holds either all of them or none. Processes that add at the same time take turns.
    """
    texts = [format_record(record, path.suffix) for record in records]
    with writing(str(path)), taking_turns(path) as before:
        if before and not before.endswith(b"\n"):
            before += b"\n"
        write_atomically(path, before + "".join(texts).encode())
    return len(texts)


def format_record(record: GameRecord, kind: str) -> str:
    """Write a game as a file of this kind, one of FORMATS, holds it; with the end of the last line."""
    if kind == ".pgn":
        return write_pgn(record)
    if kind == ".txt":
        return write_transcript(record)
    return json.dumps(record.as_json()) + "\n"


def read_records(path: Path, game: str | None = None) -> list[GameRecord]:
    """Read all games of a file; BadInput says what is wrong with it, and where. Moves are not checked yet."""
    try:
        text = _text(path)
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not text" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise BadInput(f"{path}: {reason}") from None
    if path.suffix not in FORMATS:
        raise BadInput(f"{path}: a file of games ends in {', '.join(FORMATS)}")
    try:
        records = list(parse_records(text, path.suffix, game))
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    if not records:
        raise BadInput(f"{path}: holds no game")
    return records


def _text(path: Path) -> str:
    """Decode a file. PGN is Latin-1 by its standard, and UTF-8 by habit."""
    content = read_file(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if path.suffix != ".pgn":
            raise
        return content.decode("latin-1")


def parse_records(text: str, kind: str, game: str | None = None) -> Iterator[GameRecord]:
    """Parse the text of a file of this kind, one of FORMATS; `game` is the game of plain lines of moves."""
    if kind == ".pgn":
        return read_pgn(text)
    if kind == ".txt":
        return read_transcripts(text, game)
    lines = ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())
    return (_from_json(number, line) for number, line in lines)


def _from_json(number: int, line: str) -> GameRecord:
    """Parse line `number` of a file of JSON lines; BadInput where it is no game."""
    wrong = BadInput(f"line {number} is no game: it must be an object with at least game and moves")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise wrong from None
    if not isinstance(found, dict) or not isinstance(found.get("game"), str):
        raise wrong
    moves, players = found.get("moves"), found.get("players", ["", ""])
    if not (isinstance(moves, list) and all(isinstance(move, str) for move in moves)):
        raise wrong
    if not (isinstance(players, list) and len(players) == 2 and all(isinstance(name, str) for name in players)):
        raise BadInput(f"line {number}: players must be two names")
    result, start = found.get("result"), found.get("start")
    if not (result is None or isinstance(result, int | float)) or not (start is None or isinstance(start, str)):
        raise BadInput(f"line {number}: result must be a number or null, and start a position or null")
    random_plies, date = found.get("random_plies", 0), found.get("date", "")
    if not isinstance(random_plies, int) or not isinstance(date, str):
        raise BadInput(f"line {number}: random_plies must be a number, and date a text")
    return GameRecord(found["game"], tuple(moves), (players[0], players[1]), result, start, random_plies, date)
