"""Games of Othello in GGF, as NBoard sends them: ``(;GM[Othello]BO[8 ---...--- *]B[F5//1.2]W[F6];)``."""

from __future__ import annotations

import re

from beamzero.core.errors import BadInput
from beamzero.engines.record import Record
from beamzero.games.othello.game import Othello

_PASS = "PA"

_TAG = re.compile(r"([A-Z]+)\[([^\]]*)\]")


def read_game(game: Othello, text: str) -> Record:
    """Read a game in GGF; BadInput where it has no board or a move is illegal."""
    tags = _TAG.findall(text)
    boards = [value for tag, value in tags if tag == "BO"]
    if len(boards) != 1:
        raise BadInput(f"{text[:80]!r} is no game of Othello: it needs one board, BO[8 ...]")
    record = Record(game, game.read_position(_position(game, boards[0])))
    for tag, value in tags:
        if tag in ("B", "W"):
            if record.side != "BW".index(tag):
                raise BadInput(f"{tag}[{value}] is out of turn")
            play_move(record, value)
    return record


def _position(game: Othello, board: str) -> str:
    """Translate a board such as ``8 --*O...  *`` into the game's own notation."""
    size, *rest = board.split() or [""]
    squares = "".join(rest).replace("*", "X")
    if size != str(game.size) or len(squares) != game.size**2 + 1:
        raise BadInput(f"{board[:80]!r} is no board of {game.size} x {game.size} squares and a side to move")
    return f"{squares[:-1]} {squares[-1]}"


def play_move(record: Record, text: str) -> None:
    """Play a move such as ``F5/0.5/1.2``; its evaluation and time are ignored."""
    name = text.split("/")[0].strip()
    record.play("pass" if name.upper() in (_PASS, "PASS", "--") else name)


def write_move(name: str) -> str:
    """Return the name in GGF of the move that the game calls `name`."""
    return _PASS if name == "pass" else name.upper()
