"""Positions as FEN, moves as people write them: SAN (Nf3, exd5, O-O, e8=Q#) and UCI (g1f3, e7e8q)."""

from __future__ import annotations

from typing import NamedTuple

from beamzero.core.errors import BadInput
from beamzero.games.chess.moves import PIECE_LETTERS, Variant
from beamzero.games.chess.state import ChessState
from beamzero.games.views import PieceView

KINDS = {letter: kind for kind, letter in PIECE_LETTERS.items()}
GLYPHS = {"K": "♚", "Q": "♛", "R": "♜", "B": "♝", "N": "♞", "P": "♟"}
PIECES: dict[str, PieceView] = {
    letter if side == 0 else letter.lower(): {"glyph": glyph, "side": side}
    for side in (0, 1)
    for letter, glyph in GLYPHS.items()
}
"""How each letter on a board is drawn: upper case is white's."""

Cells = list[list[str]]
"""The letters of pieces, rank by rank from the first one up; "" for an empty square."""


class Fen(NamedTuple):
    """The parts of a line of FEN, as in ChessState."""

    words: list[int]
    castling: int
    passed: int
    clock: int
    ply: int


def cells(variant: Variant, state: ChessState) -> Cells:
    """List the letters on the squares, as white sees them."""
    own, *kinds = (int(state[i]) | int(state[i + 1]) << 32 for i in range(0, 8, 2))

    def letter(square: int) -> str:
        kind = sum((plane >> square & 1) << i for i, plane in enumerate(kinds))
        return "" if kind == 0 else PIECE_LETTERS[kind] if own >> square & 1 else PIECE_LETTERS[kind].lower()

    rows = [[letter(8 * rank + file) for file in range(variant.size)] for rank in range(variant.size)]
    return _from_other_side(rows) if int(state.ply) & 1 else rows


def _from_other_side(rows: Cells) -> Cells:
    """Turn the board round, and make white's pieces black: a position as the other side sees it."""
    return [[letter.swapcase() for letter in row] for row in reversed(rows)]


def _swap_sides(castling: int) -> int:
    return castling >> 2 | castling << 2 & 12


def square_name(bit: int) -> str:
    """Name a square, given by its bit, such as e4."""
    return f"{'abcdefgh'[bit & 7]}{(bit >> 3) + 1}"


# --- FEN -------------------------------------------------------------------------------------------------------------


def write_fen(variant: Variant, state: ChessState) -> str:
    """Write a position as FEN."""
    ranks = []
    for row in reversed(cells(variant, state)):
        text = "".join(letter or " " for letter in row)
        for empty in range(variant.size, 0, -1):
            text = text.replace(" " * empty, str(empty))
        ranks.append(text)
    ply, passed = int(state.ply), int(state.passed)
    rights = _swap_sides(int(state.castling)) if ply & 1 else int(state.castling)
    castling = "".join(letter for i, letter in enumerate("KQkq") if rights >> i & 1) or "-"
    rank = 2 if ply & 1 else variant.size - 3
    where = square_name(8 * rank + passed.bit_length() - 1) if passed else "-"
    return f"{'/'.join(ranks)} {'wb'[ply & 1]} {castling} {where} {int(state.clock)} {ply // 2 + 1}"


def read_fen(variant: Variant, text: str) -> Fen:
    """Read a line of FEN; BadInput where it cannot be a position of this game.

    Whether the side that is not to move stands in check is left to the rules.
    """
    fields = text.split()
    if not 4 <= len(fields) <= 6:
        raise _wrong(text, "a FEN has a board, the side to move, castling, en passant, and perhaps two counts")
    board, side, castling, passed, *counts = fields
    rows = _read_board(variant, text, board)
    if side not in ("w", "b"):
        raise _wrong(text, f"the side to move is {side!r}, but must be w or b")
    numbers = [*counts, "0", "1"][:2] if len(counts) != 1 else [counts[0], "1"]
    if not all(number.isascii() and number.isdigit() and len(number) < 6 for number in numbers):
        raise _wrong(text, "the counts at the end must be whole numbers")
    clock, number = int(numbers[0]), max(1, int(numbers[1]))
    rights = _read_castling(variant, text, rows, castling)
    return Fen(
        words=_pack(rows if side == "w" else _from_other_side(rows)),
        castling=rights if side == "w" else _swap_sides(rights),
        passed=_read_passed(variant, text, rows, side, passed),
        clock=clock,
        ply=2 * (number - 1) + "wb".index(side),
    )


def _wrong(text: str, why: str) -> BadInput:
    return BadInput(f"{text!r} is no position: {why}")


def _read_board(variant: Variant, text: str, board: str) -> Cells:
    size = variant.size
    known = "".join(letter for letter in "KQRBNP" if letter != "B" or size == 8)
    rows: Cells = []
    for line in reversed(board.split("/")):
        row: list[str] = []
        for letter in line:
            if letter.isascii() and letter.isdigit():
                row += [""] * int(letter)
            elif letter.upper() in known:
                row.append(letter)
            else:
                raise _wrong(text, f"{letter!r} is no piece ({known} for white, {known.lower()} for black)")
        rows.append(row)
    if len(rows) != size or any(len(row) != size for row in rows):
        raise _wrong(text, f"there must be {size} ranks of {size} squares")
    everything = [letter for row in rows for letter in row]
    for side, king in (("white", "K"), ("black", "k")):
        if everything.count(king) != 1:
            raise _wrong(text, f"{side} has {everything.count(king)} kings, but must have one")
        _check_numbers(variant, text, side, [x.upper() for x in everything if x and x.isupper() == king.isupper()])
    squares = {letter: (r, f) for r, row in enumerate(rows) for f, letter in enumerate(row) if letter in ("K", "k")}
    if max(abs(a - b) for a, b in zip(squares["K"], squares["k"], strict=True)) <= 1:
        raise _wrong(text, "the kings stand beside each other")
    if any(letter.upper() == "P" for letter in (*rows[0], *rows[-1])):
        raise _wrong(text, "a pawn stands on the first or the last rank")
    return rows


def _check_numbers(variant: Variant, text: str, side: str, pieces: list[str]) -> None:
    """Refuse more pieces than pawns could have become, which could have more legal moves than `max_moves`."""
    usual = {"Q": 1, "R": 2, "B": 2, "N": 2} if variant.size == 8 else {"Q": 1, "R": 2, "N": 2}
    extra = {letter: max(0, pieces.count(letter) - number) for letter, number in usual.items()}
    promoted = sum(extra.values())
    if pieces.count("P") + promoted > variant.size:
        raise _wrong(text, f"{side} has more pawns and promoted pieces than the {variant.size} pawns it began with")
    if variant.size != 8 and promoted != extra["Q"]:
        raise _wrong(text, f"{side} has more than two rooks or knights, but a pawn becomes a queen")


def _read_castling(variant: Variant, text: str, rows: Cells, castling: str) -> int:
    if castling == "-":
        return 0
    if not castling or any(letter not in "KQkq" for letter in castling) or len(set(castling)) != len(castling):
        raise _wrong(text, f"castling is {castling!r}, but must be some of KQkq, or -")
    for letter in castling:
        row = rows[0] if letter.isupper() else rows[-1]
        king, rook = ("K", "R") if letter.isupper() else ("k", "r")
        if row[variant.king_file] != king or row[-1 if letter in "Kk" else 0] != rook:
            raise _wrong(text, f"castling {letter} is allowed, but king and rook are not where they began")
    return sum(1 << "KQkq".index(letter) for letter in castling)


def _read_passed(variant: Variant, text: str, rows: Cells, side: str, passed: str) -> int:
    """Read the file, as a bit, where a pawn may be taken in passing."""
    if passed == "-":
        return 0
    rank = variant.size - 3 if side == "w" else 2
    file = "abcdefgh"[: variant.size].find(passed[:1])
    if len(passed) != 2 or file < 0 or passed[1] != str(rank + 1):
        raise _wrong(text, f"en passant is {passed!r}, but must be a square of rank {rank + 1}, or -")
    ahead, behind, pawn = (rank - 1, rank + 1, "p") if side == "w" else (rank + 1, rank - 1, "P")
    if rows[ahead][file] != pawn or rows[rank][file] or rows[behind][file]:
        raise _wrong(text, f"no pawn can just have passed over {passed}")
    return 1 << file


def _pack(rows: Cells) -> list[int]:
    planes = [0, 0, 0, 0]
    for rank, row in enumerate(rows):
        for file, letter in enumerate(row):
            if letter:
                square = 1 << 8 * rank + file
                kind = KINDS[letter.upper()]
                for i, isin in enumerate((letter.isupper(), kind & 1, kind & 2, kind & 4)):
                    planes[i] |= square if isin else 0
    return [word for plane in planes for word in (plane & 0xFFFFFFFF, plane >> 32)]


# --- moves -----------------------------------------------------------------------------------------------------------


class WrittenMove(NamedTuple):
    """A move for people: bits of squares as white sees them, and the letter of what a pawn becomes, or ""."""

    origin: int
    target: int
    promotion: str

    @property
    def uci(self) -> str:
        return square_name(self.origin) + square_name(self.target) + self.promotion.lower()


def read_action(variant: Variant, rows: Cells, side: int, action: int) -> WrittenMove:
    """Read an action of `side` as a move for people; `rows` is the board before it."""
    size = variant.size
    plane, square = divmod(action, size**2)
    origin = 8 * (square // size) + square % size
    target = origin + int(variant.offsets[plane])
    if side == 1:
        origin, target = (8 * (size - 1 - (bit >> 3)) + (bit & 7) for bit in (origin, target))
    first_under = 8 * (size - 1) + 8
    promotion = ""
    if plane >= first_under:
        promotion = PIECE_LETTERS[variant.underpromotions[(plane - first_under) // 3]]
    elif rows[origin >> 3][origin & 7].upper() == "P" and target >> 3 in (0, size - 1):
        promotion = "Q"
    return WrittenMove(origin, target, promotion)


def write_san(rows: Cells, move: WrittenMove, others: list[WrittenMove], suffix: str) -> str:
    """Write a move in SAN; `others` are the legal moves, `suffix` says check or mate."""
    piece = rows[move.origin >> 3][move.origin & 7].upper()
    name = square_name(move.target)
    if piece == "K" and abs(move.target - move.origin) == 2:
        return ("O-O" if move.target > move.origin else "O-O-O") + suffix
    takes = "x" if rows[move.target >> 3][move.target & 7] else ""
    if piece == "P":
        if move.origin & 7 != move.target & 7:
            name = f"{square_name(move.origin)[0]}x{name}"
        return name + (f"={move.promotion}" if move.promotion else "") + suffix
    rivals = [
        other.origin
        for other in others
        if other.target == move.target
        and other.origin != move.origin
        and rows[other.origin >> 3][other.origin & 7].upper() == piece
    ]
    origin = square_name(move.origin)
    if not rivals:
        where = ""
    elif all(rival & 7 != move.origin & 7 for rival in rivals):
        where = origin[0]
    elif all(rival >> 3 != move.origin >> 3 for rival in rivals):
        where = origin[1]
    else:
        where = origin
    return f"{piece}{where}{takes}{name}{suffix}"
