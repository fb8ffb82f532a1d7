"""Our chess engine against another one, move by move through python-chess: does it ever run out of time or cheat?

    python benchmarks/uci_match.py [--agent alphabeta:seconds=1] [--games 50] [--seconds 0.1] [--json]

The opponent is Stockfish at its lowest strength where it is found, else the engine itself in a second process. Each
opening of random plies is played with both colours. A move is late where it comes more than `--grace` after its time,
by the clock of the referee, who waits at the other end of a pipe on the same machine. The late moves of the opponent
say what that machine does to any engine.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import time
from pathlib import Path
from typing import NamedTuple

import chess
import chess.engine
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from beamzero.arena.intervals import score_interval

ROOT = Path(__file__).resolve().parent.parent

_LONGEST_GAME = 400
"""Plies, after which a game counts as a draw."""


class Played(NamedTuple):
    """One game, from our side."""

    score: float
    moves: int
    """That we made."""
    late: int
    illegal: int
    slowest: float
    """Seconds of our slowest move."""
    others_late: int
    """Late moves of the opponent: what the machine does to any engine."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="alphabeta:seconds=1")
    parser.add_argument("--games", type=int, default=50, help="an even number: both colours of each opening")
    parser.add_argument("--seconds", type=float, default=0.1, help="for a move")
    parser.add_argument("--grace", type=float, default=0.05, help="seconds by which a move may be late")
    parser.add_argument("--opponent", help="a UCI engine; stockfish by default, where it is found")
    parser.add_argument("--random-plies", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    ours = [sys.executable, "-m", "beamzero", "engine", "uci", "chess", arguments.agent]
    found = arguments.opponent or shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
    # The first start compiles, which takes longer than python-chess would wait.
    with (
        chess.engine.SimpleEngine.popen_uci(ours, timeout=300, cwd=ROOT) as engine,
        chess.engine.SimpleEngine.popen_uci([found] if found else ours, timeout=300, cwd=ROOT) as opponent,
    ):
        engine.ping()
        opponent.ping()
        if "Skill Level" in opponent.options:
            opponent.configure({"Skill Level": opponent.options["Skill Level"].min})
        draw, games = random.Random(arguments.seed), []
        for number in range(arguments.games // 2):
            opening = _random_opening(draw, arguments.random_plies)
            for colour in (chess.WHITE, chess.BLACK):
                games.append(_play(engine, opponent, opening, colour, arguments.seconds, arguments.grace))
            print(f"{2 * number + 2} games, {sum(game.score for game in games):g} points", file=sys.stderr, flush=True)
        names = [engine.id.get("name", "beamzero"), opponent.id.get("name", "itself")]
    table = _table(names, games, arguments.seconds)
    print(json.dumps(table) if arguments.json else "\n".join(f"{key:22} {value}" for key, value in table.items()))


def _random_opening(draw: random.Random, plies: int) -> chess.Board:
    board = chess.Board()
    for _ in range(plies):
        board.push(draw.choice(list(board.legal_moves)))
    return board if not board.is_game_over() else _random_opening(draw, plies)


def _play(
    engine: chess.engine.SimpleEngine,
    opponent: chess.engine.SimpleEngine,
    opening: chess.Board,
    colour: chess.Color,
    seconds: float,
    grace: float,
) -> Played:
    """Play a game from `opening`, our side with `colour`. An illegal move loses; a late one is counted."""
    board, limit, token = opening.copy(), chess.engine.Limit(time=seconds), object()
    moves, late, others_late, slowest = 0, 0, 0, 0.0
    # Both are told of the new game first, so that this is not a part of their first move.
    engine.play(board, chess.engine.Limit(depth=1), game=token)
    while board.outcome(claim_draw=True) is None and board.ply() < _LONGEST_GAME:
        ours = board.turn == colour
        began = time.perf_counter()
        try:
            move = (engine if ours else opponent).play(board, limit, game=token).move
        except chess.engine.EngineError:
            move = None
        took = time.perf_counter() - began
        if ours:
            moves, late, slowest = moves + 1, late + (took > seconds + grace), max(slowest, took)
        else:
            others_late += took > seconds + grace
        if move is None or move not in board.legal_moves:
            return Played(float(not ours), moves, late, int(ours), slowest, others_late)
        board.push(move)
    outcome = board.outcome(claim_draw=True)
    score = 0.5 if outcome is None or outcome.winner is None else float(outcome.winner == colour)
    return Played(score, moves, late, 0, slowest, others_late)


def _table(names: list[str], games: list[Played], seconds: float) -> dict[str, object]:
    scores = np.array([game.score for game in games])
    low, high = score_interval(scores.reshape(-1, 2))
    return {
        "engine": names[0],
        "opponent": names[1],
        "games": len(games),
        "seconds a move": seconds,
        "moves": sum(game.moves for game in games),
        "time forfeits": sum(game.late > 0 for game in games),
        "late moves": sum(game.late for game in games),
        "slowest move": round(max(game.slowest for game in games), 4),
        "opponent's late moves": sum(game.others_late for game in games),
        "illegal moves": sum(game.illegal for game in games),
        "wins": int((scores == 1).sum()),
        "draws": int((scores == 0.5).sum()),
        "losses": int((scores == 0).sum()),
        "score": round(float(scores.mean()), 4),
        "interval": [round(low, 4), round(high, 4)],
    }


if __name__ == "__main__":
    main()
