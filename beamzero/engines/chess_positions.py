"""Chess in the terms of UCI: positions by FEN and moves, moves in long algebraic notation."""

from __future__ import annotations

from collections.abc import Sequence

import jax

from beamzero.core.errors import BadInput
from beamzero.games import Game
from beamzero.games.chess import Chess, Chess6x6, notation
from beamzero.games.chess.state import ChessState
from beamzero.players.analysis import step

ChessGame = Chess | Chess6x6


def as_chess(game: Game) -> ChessGame:
    assert isinstance(game, ChessGame)
    return game


class ChessPosition:
    """The position on the board, with the FEN and the moves that led to it."""

    def __init__(self, game: ChessGame) -> None:
        self.game = game
        self._fen: str | None = None
        self._moves: list[str] = []
        self._states: list[ChessState] = [self._first(None)]

    @property
    def state(self) -> ChessState:
        """The last position. It is over only where no move is legal: after other draws, games are played on."""
        return self._states[-1]

    def set(self, fen: str | None, moves: Sequence[str]) -> None:
        """Set the position after `moves` from `fen`, or from the start (None); BadInput leaves it as it was.

        Moves that the last call had too are not played again.
        """
        known = 0
        if fen == self._fen:
            while known < min(len(moves), len(self._moves)) and moves[known] == self._moves[known]:
                known += 1
            states = self._states[: known + 1]
        else:
            states = [self._first(fen)]
        for move in moves[known:]:
            states.append(self._play(states[-1], move))
        self._fen, self._moves, self._states = fen, list(moves), states

    def _first(self, fen: str | None) -> ChessState:
        if fen is None:
            return self.game.init(jax.random.key(0))
        return self.game.play_on(self.game.read_position(self._with_a_low_number(fen)))

    def _with_a_low_number(self, fen: str) -> str:
        """Return `fen`, with move number 1 where its game is longer than the rules here allow."""
        fields = fen.split()
        late = len(fields) == 6 and fields[5].isdigit() and 2 * int(fields[5]) >= self.game.max_plies
        return " ".join([*fields[:5], "1"]) if late else fen

    def _play(self, state: ChessState, move: str) -> ChessState:
        for action, known in uci_moves(self.game, state).items():
            if known == move.lower():
                return self.game.play_on(step(self.game, state, action))
        raise BadInput(f"{move[:8]!r} is not a legal move in {self.game.write_position(state)}")


def uci_moves(game: ChessGame, state: ChessState) -> dict[int, str]:
    """Return the legal actions of `state`, each in long algebraic notation."""
    rows, side = notation.cells(game.variant, state), int(state.ply) & 1
    return {a: notation.read_action(game.variant, rows, side, a).uci for a in game.legal_actions(state)}


def uci_line(game: ChessGame, state: ChessState, line: Sequence[int]) -> list[str]:
    """Write the moves of a line from `state` in long algebraic notation.

    The rules are not asked, since a clock may be running: a text only needs to know whether a pawn moves. A castled
    rook and a pawn taken in passing stay where they were, which changes no text.
    """
    rows, side = notation.cells(game.variant, state), int(state.ply) & 1
    texts = []
    for action in line:
        move = notation.read_action(game.variant, rows, side, action)
        texts.append(move.uci)
        piece = rows[move.origin >> 3][move.origin & 7]
        rows[move.target >> 3][move.target & 7] = move.promotion or piece
        rows[move.origin >> 3][move.origin & 7] = ""
        side = 1 - side
    return texts
