"""pgx's games for people: boards, names of moves, and why a game ended.

The states are those of `games.py`: a field for each array of pgx's own state, here always on the host. Where pgx
turns the board for the side to move, it is turned back.
"""

from __future__ import annotations

import abc
import dataclasses
import functools

import numpy as np

from beamzero.games import grid
from beamzero.games.game import State
from beamzero.games.views import GridView, PieceView, View

GO_LETTERS = "ABCDEFGHJKLMNOPQRST"


class PgxBoard(abc.ABC):
    """The board of one game as people see it."""

    sides: tuple[str, str] = ("X", "O")
    """The names of the first and of the second player."""

    @abc.abstractmethod
    def name(self, state: State, action: int) -> str:
        """Name the move `action` as players do."""

    @abc.abstractmethod
    def show(self, state: State) -> str:
        """Draw the board as lines of text."""

    def view(self, state: State) -> View:
        return {"kind": "text", "text": self.show(state)}

    def reason(self, state: State) -> str:
        score = float(state.score)
        if score == 0:
            return f"draw: {self.why_drawn(state)}"
        return self.why_won(state, *(self.sides if score > 0 else self.sides[::-1]))

    @abc.abstractmethod
    def why_won(self, state: State, winner: str, loser: str) -> str: ...

    @abc.abstractmethod
    def why_drawn(self, state: State) -> str: ...


# --- stones --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class StonesBoard(PgxBoard):
    """Stones of one kind on a board of `rows` and `columns`."""

    rows: int
    columns: int
    from_top: bool = True
    """True if pgx's first row is the last one for players, False if it is the first."""

    def stones(self, state: State) -> np.ndarray:
        """Return the stones, [rows * columns] in pgx's order: 1 for the first side, -1 for the second."""
        owner = np.asarray(state.x_board)
        return np.where(owner < 0, 0, 1 - 2 * owner)

    def cells(self, state: State) -> list[list[int | str]]:
        """List the rows of the board as a `GridView` has them."""
        board = (self.stones(state) % 3).reshape(self.rows, self.columns)
        return (board[::-1] if self.from_top else board).tolist()

    def show(self, state: State) -> str:
        return grid.draw(self.cells(state))

    def view(self, state: State) -> GridView:
        return grid.view(self.cells(state))

    def square(self, action: int) -> str:
        row, column = divmod(action, self.columns)
        return f"{grid.LETTERS[column]}{self.rows - row if self.from_top else row + 1}"

    def name(self, state: State, action: int) -> str:
        return self.square(action)

    def why_won(self, state: State, winner: str, loser: str) -> str:
        return f"{winner} has a line"

    def why_drawn(self, state: State) -> str:
        return "the board is full"


class ConnectFourBoard(StonesBoard):
    def name(self, state: State, action: int) -> str:
        return grid.LETTERS[action]

    def view(self, state: State) -> GridView:
        return grid.view(self.cells(state), gravity=True)


class OthelloBoard(StonesBoard):
    sides = ("Black", "White")

    def stones(self, state: State) -> np.ndarray:
        return np.asarray(state.x_board) * (1 - 2 * int(state.current_player))

    def view(self, state: State) -> GridView:
        return grid.view(self.cells(state), top_first=True, sides=list(self.sides), look="felt")

    def show(self, state: State) -> str:
        return "\n".join(reversed(grid.draw(self.cells(state)).splitlines()))  # the first row at the top

    def name(self, state: State, action: int) -> str:
        return "pass" if action == self.rows * self.columns else self.square(action)

    def why_won(self, state: State, winner: str, loser: str) -> str:
        counts = sorted(int((self.stones(state) == side).sum()) for side in (1, -1))
        return f"{winner} has {counts[1]} discs, {loser} {counts[0]}"

    def why_drawn(self, state: State) -> str:
        return f"{int((self.stones(state) == 1).sum())} discs each"


class HexBoard(StonesBoard):
    """Rows are slanted: a square touches those to its left and right, two of the row above and two of the one below."""

    def stones(self, state: State) -> np.ndarray:
        return np.sign(np.asarray(state.x_board)) * (1 - 2 * int(state.current_player))

    def show(self, state: State) -> str:
        *lines, letters = grid.draw(self.cells(state)).splitlines()
        return "\n".join([*(" " * (len(lines) - 1 - i) + line for i, line in enumerate(lines)), letters])

    def view(self, state: State) -> GridView:
        return grid.view(self.cells(state), slanted=True)

    def name(self, state: State, action: int) -> str:
        return "swap" if action == self.rows * self.columns else self.square(action)

    def why_won(self, state: State, winner: str, loser: str) -> str:
        return f"{winner} has joined {'bottom and top' if winner == self.sides[0] else 'left and right'}"


class GoBoard(StonesBoard):
    sides = ("Black", "White")

    def stones(self, state: State) -> np.ndarray:
        return np.sign(np.asarray(state.x_board))

    def show(self, state: State) -> str:
        *lines, letters = grid.draw(self.cells(state)).splitlines()
        margin = len(letters) - len(letters.lstrip())
        return "\n".join([*lines, " " * margin + " ".join(GO_LETTERS[: self.columns])])

    def view(self, state: State) -> GridView:
        letters = GO_LETTERS[: self.columns]
        return grid.view(self.cells(state), sides=list(self.sides), look="wood", letters=letters)

    def name(self, state: State, action: int) -> str:
        row, column = divmod(action, self.columns)
        return "pass" if row == self.rows else f"{GO_LETTERS[column]}{self.rows - row}"

    def why_won(self, state: State, winner: str, loser: str) -> str:
        if bool(state.x_is_psk):
            return f"{loser} repeated a position, so {winner} wins"
        end = "both passed" if int(state.x_consecutive_pass_count) >= 2 else f"after {int(state.step_count)} plies"
        return f"{end}: {winner} has the larger area (White's counts 7.5 more)"


# --- pieces --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ChessBoard(PgxBoard):
    """Chess on `size` files and ranks. pgx numbers squares up the files, and turns the board for Black."""

    size: int
    planes: int
    board: str
    clock: str
    plies: int

    sides = ("White", "Black")

    def pieces(self, state: State) -> np.ndarray:
        """Return the pieces, [file, rank]: White's are positive."""
        board = np.asarray(getattr(state, self.board)).reshape(self.size, self.size)
        return -board[:, ::-1] if int(state.current_player) else board

    def cells(self, state: State) -> list[list[int | str]]:
        names = ("", *"PNBRQK", *"kqrbnp")
        return [[names[int(piece)] for piece in rank] for rank in self.pieces(state).T]

    def show(self, state: State) -> str:
        return grid.draw(self.cells(state))

    def view(self, state: State) -> GridView:
        glyphs = zip("PNBRQKpnbrqk", "♙♘♗♖♕♔♟♞♝♜♛♚", strict=True)
        pieces: dict[str, PieceView] = {text: {"glyph": glyph, "side": int(text.islower())} for text, glyph in glyphs}
        return grid.view(self.cells(state), pieces=pieces, checkered=True, sides=list(self.sides), turn=True)

    def name(self, state: State, action: int) -> str:
        """Name a move as in UCI: from square and to square, and what a pawn becomes."""
        start, plane = divmod(action, self.planes)
        end = int(_chess_targets(self.size)[start, plane])
        pawn = abs(int(np.asarray(getattr(state, self.board))[start])) == 1
        promoted = "rbn"[plane // 3] if plane < 9 else "q" if pawn and end % self.size == self.size - 1 else ""
        return self._square(state, start) + self._square(state, end) + promoted

    def _square(self, state: State, square: int) -> str:
        file, rank = divmod(square, self.size)
        return f"{grid.LETTERS[file]}{self.size - rank if int(state.current_player) else rank + 1}"

    def why_won(self, state: State, winner: str, loser: str) -> str:
        return f"checkmate, {winner} wins"

    def why_drawn(self, state: State) -> str:
        seen = np.asarray(state.x_hash_history if self.board == "x_board" else state.hash_history)
        if (seen == seen[0]).all(axis=1).sum() >= 3:
            return "the same position three times"
        if int(getattr(state, self.clock)) >= 100:
            return "fifty moves without a capture or a pawn move"
        return f"{self.plies} plies" if int(state.step_count) >= self.plies else "stalemate, or too few pieces to mate"


@functools.cache
def _chess_targets(size: int) -> np.ndarray:
    """Return the square that a move goes to, [from square, plane], both as the mover sees them."""
    if size == 8:
        from pgx._src.games.chess import FROM_PLANE

        return np.asarray(FROM_PLANE)
    from pgx._src.gardner_chess_utils import TO_MAP

    return np.asarray(TO_MAP)


@dataclasses.dataclass(frozen=True)
class ShogiBoard(PgxBoard):
    """Pieces that come back from the hand. Squares are a file from the right and a rank from the top, as in USI: 7g.

    pgx numbers the squares down the files from the right, and turns the board round for the second side.
    """

    files: int
    ranks: int
    board: str
    hand: str
    letters: tuple[str, ...]
    """The kinds of pieces in pgx's order; the second side's follow in the same order."""
    plies: int

    sides = ("first player", "second player")

    def pieces(self, state: State) -> np.ndarray:
        """Return the kinds of pieces, [file, rank]: more by the number of kinds for the second side's; -1 for none."""
        board = np.asarray(getattr(state, self.board)).reshape(self.files, self.ranks)
        if int(state.current_player) == 0:
            return board
        kinds = len(self.letters)
        return np.where(board < 0, -1, (board + kinds) % (2 * kinds))[::-1, ::-1]

    def show(self, state: State) -> str:
        """Draw the board, with the second side's pieces and hand in small letters."""
        texts = (*self.letters, *(letter.lower() for letter in self.letters), "·")
        board = self.pieces(state)[::-1].T
        lines = ["".join(f"{texts[piece]:>3}" for piece in row) + f"  {grid.LETTERS[r]}" for r, row in enumerate(board)]
        lines.append("".join(f"{file:>3}" for file in range(self.files, 0, -1)))
        hands = np.asarray(getattr(state, self.hand))[:: -1 if int(state.current_player) else 1]
        for side, hand in enumerate(hands):
            held = [f"{letter}*{count}" for letter, count in zip(self.letters, hand.tolist()) if count]
            lines.append(f"{self.sides[side]} holds {' '.join(held[::-1]) or 'nothing'}")
        return "\n".join(lines)

    def _square(self, state: State, square: int) -> str:
        square = self.files * self.ranks - 1 - square if int(state.current_player) else square
        file, rank = divmod(square, self.ranks)
        return f"{file + 1}{grid.LETTERS[rank]}"

    def name(self, state: State, action: int) -> str:
        """Name a move by two squares and a + for promotion, or a piece, a star and a square: 7g7f, 8h2b+, P*5e."""
        plane, square = divmod(action, self.files * self.ranks)
        if plane >= 20:
            return f"{self.letters[plane - 20]}*{self._square(state, square)}"
        across, down = _SHOGI_STEPS[plane % 10]
        board = np.asarray(getattr(state, self.board))
        file, rank = divmod(square, self.ranks)
        file, rank = file + across, rank + down
        while board[file * self.ranks + rank] < 0:
            file, rank = file + across, rank + down
        start = self._square(state, file * self.ranks + rank)
        return f"{start}{self._square(state, square)}{'+' if plane >= 10 else ''}"

    def why_won(self, state: State, winner: str, loser: str) -> str:
        return f"checkmate, {winner} wins"

    def why_drawn(self, state: State) -> str:
        return f"{self.plies} plies"


_SHOGI_STEPS = ((0, 1), (-1, 1), (1, 1), (-1, 0), (1, 0), (0, -1), (-1, -1), (1, -1), (-1, 2), (1, 2))
"""For each direction of a move, the step back from where it ends, as files and ranks."""


class AnimalShogiBoard(ShogiBoard):
    """Chick, elephant, giraffe, lion and hen on three files and four ranks."""

    def name(self, state: State, action: int) -> str:
        plane, square = divmod(action, self.files * self.ranks)
        if plane >= 8:
            return f"{self.letters[plane - 8]}*{self._square(state, square)}"
        across, down = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))[plane]
        return self._square(state, square) + self._square(state, square + across * self.ranks + down)

    def why_won(self, state: State, winner: str, loser: str) -> str:
        # The loser is to move: the winner's lion stands on the rank next to it.
        home = np.asarray(state.board).reshape(self.files, self.ranks)[:, -1]
        return f"{winner}'s lion has crossed the board" if (home == 8).any() else f"checkmate, {winner} wins"

    def why_drawn(self, state: State) -> str:
        return super().why_drawn(state) if int(state.step_count) >= self.plies else "the same position three times"


BOARDS: dict[str, PgxBoard] = {
    "animal_shogi": AnimalShogiBoard(3, 4, "board", "hand", tuple("CEGLH"), 256),
    "chess": ChessBoard(8, 73, "x_board", "x_halfmove_count", 512),
    "connect_four": ConnectFourBoard(6, 7),
    "gardner_chess": ChessBoard(5, 49, "board", "halfmove_count", 256),
    "go_9x9": GoBoard(9, 9),
    "go_19x19": GoBoard(19, 19),
    "hex": HexBoard(11, 11, from_top=False),
    "othello": OthelloBoard(8, 8, from_top=False),
    "shogi": ShogiBoard(
        9, 9, "x_board", "x_hand", (*"PLNSBRGK", "+P", "+L", "+N", "+S", "+B", "+R"), 512
    ),
    "tic_tac_toe": StonesBoard(3, 3),
}  # fmt: skip
