"""Makes the puzzles of chess and chess6x6: positions where the side to move mates in 2 or in 3, and all moves that do.

    python benchmarks/truth_mates.py chess --engine stockfish [--positions 200] [--seed 0]
    python benchmarks/truth_mates.py chess6x6 --engine fairy-stockfish

The engine speaks UCI. It plays games against itself in which half of the moves are random, so that mates come up, and
gives at most one position of a kind from each game. Which moves mate in that number of moves is found by our
alpha-beta, which tries all lines: an engine leaves out some of them, and so misses moves that are as good. Run from the
root of the checkout.
"""

from __future__ import annotations

import argparse
import functools
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax
import numpy as np
from jax import Array

from beamzero.arena.truth import Puzzle, folder, write_puzzles
from beamzero.core.compiler import keep_compiled_code
from beamzero.games import Game, State
from beamzero.games.chess import Chess, Chess6x6
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from beamzero.search.evaluator import zero_evaluator

_CHESS6X6 = """[chess6x6:losalamos]
doubleStep = true
doubleStepRegionWhite = *2
doubleStepRegionBlack = *5
enPassantRegion = *3 *4
castling = true
castlingKingFile = d
castlingKingsideFile = f
castlingQueensideFile = b
castlingRookKingsideFile = f
castlingRookQueensideFile = a
promotionPieceTypes = q
startFen = rnqknr/pppppp/6/6/PPPPPP/RNQKNR w KQkq - 0 1
stalemateValue = draw
"""
_GAMES: dict[str, Chess | Chess6x6] = {"chess": Chess(), "chess6x6": Chess6x6()}
_PLIES = 5
"""The depth of the engine's searches, in plies."""

_MATES = (2, 3)
_OPENING = 6
_LONGEST = 200


class Engine:
    """A UCI engine in a process of its own."""

    def __init__(self, command: str) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command.split(), text=True, stdin=pipe, stdout=pipe, bufsize=1)
        self.ask("uci", "uciok")

    def ask(self, question: str, last: str) -> list[str]:
        """Return the lines of an answer, up to the one that begins with `last`."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{question}\n")
        lines = [self._process.stdout.readline()]
        while not lines[-1].startswith(last):
            assert lines[-1], "the engine has ended"
            lines.append(self._process.stdout.readline())
        return lines

    def set(self, **options: object) -> None:
        self.ask("\n".join([*(f"setoption name {key} value {options[key]}" for key in options), "isready"]), "readyok")

    def legal(self, fen: str) -> list[str]:
        lines = self.ask(f"position fen {fen}\ngo perft 1", "Nodes searched")
        return [line.split(":")[0] for line in lines if re.match(r"[a-h]\d[a-h]\d\w?:", line)]

    def play(self, fen: str, move: str) -> str:
        """Return the position after a move."""
        (line,) = (line for line in self.ask(f"position fen {fen} moves {move}\nd", "Checkers") if "Fen: " in line)
        return line.split("Fen: ")[1].strip()

    def look(self, fen: str, depth: int) -> tuple[str, int]:
        """Return the best move, and in how many moves it mates; 0 where the engine sees no mate."""
        mate = 0
        for line in self.ask(f"position fen {fen}\ngo depth {depth}", "bestmove"):
            if found := re.search(r" score (mate|cp) (-?\d+)", line):
                mate = max(0, int(found[2])) if found[1] == "mate" else 0
        return line.split()[1], mate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=_GAMES)
    parser.add_argument("--engine", required=True, help="the command that starts it")
    parser.add_argument("--positions", type=int, default=200, help="of each class")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    keep_compiled_code()
    rng, engine = random.Random(arguments.seed), Engine(arguments.engine)
    puzzles: dict[int, dict[str, list[str]]] = {mate: {} for mate in _MATES}
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as rules:
        rules.write(_CHESS6X6)
        rules.flush()
        if arguments.game == "chess6x6":
            engine.set(VariantPath=rules.name, UCI_Variant="chess6x6")
        while any(len(found) < arguments.positions for found in puzzles.values()):
            wanted = {mate for mate in _MATES if len(puzzles[mate]) < arguments.positions}
            for mate, (fen, right) in _game(engine, rng, _GAMES[arguments.game], wanted).items():
                puzzles[mate][fen] = right
            print("\r" + ", ".join(f"{len(puzzles[mate])} mates in {mate}" for mate in _MATES), end="", file=sys.stderr)
    print(file=sys.stderr)
    rows = [Puzzle(f"mate in {mate}", fen, tuple(right)) for mate in _MATES for fen, right in puzzles[mate].items()]
    write_puzzles(folder() / f"{arguments.game}.txt", rows)


def _game(
    engine: Engine, rng: random.Random, game: Chess | Chess6x6, wanted: set[int]
) -> dict[int, tuple[str, list[str]]]:
    """Play a game of the engine against itself. Returns its puzzles by the moves to mate: position and right moves.

    It ends when there is one for every number of moves that is `wanted`.
    """
    found: dict[int, tuple[str, list[str]]] = {}
    fen = game.start
    for ply in range(_LONGEST):
        best, mate = engine.look(fen, _PLIES)
        if found.keys() >= wanted or not (legal := engine.legal(fen)):
            break
        if mate in wanted - found.keys():
            right = right_moves(game, fen, legal, mate)
            if 0 < len(right) < len(legal):
                found[mate] = fen, right
        fen = engine.play(fen, rng.choice(legal) if ply < _OPENING or rng.random() < 0.5 else best)
    return found


def right_moves(game: Game, fen: str, legal: list[str], mate: int) -> list[str]:
    """Return the `legal` moves that force mate in `mate` moves; none where one is quicker."""
    state = game.read_position(fen)
    if _mating(game, mate - 1, state).any():
        return []
    mating = np.asarray(_mating(game, mate, state))
    return sorted(move for move in legal if mating[game.parse_action(state, move)])


@functools.partial(jax.jit, static_argnums=(0, 1))
def _mating(game: Game, mate: int, state: State) -> Array:
    """Find the moves that force mate in so many moves at most, by trying all lines of that length. Returns bool [A]."""
    search = AlphaBeta(2 * mate - 1, deepen=False, every_move=True)
    states = jax.tree.map(lambda x: x[None], state)
    return search(game, zero_evaluator(game), states, jax.random.key(0)).values[0] == 1.0


if __name__ == "__main__":
    main()
