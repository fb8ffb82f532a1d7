"""An engine that the tests start: ``fake_engine.py PROTOCOL [FAULT AFTER [FILE]]``, which goes wrong after so many
answers, and starts only once where it is given a file to remember that by.

By GTP it plays tic-tac-toe, by UCI chess; always the first move that it may make.
"""

from __future__ import annotations

import sys
import time

GREETINGS = {"protocol_version": "2", "name": "Fake", "version": "1"}
SQUARES = [f"{file}{rank}" for rank in (1, 2, 3) for file in "abc"]


def say(text: str) -> None:
    print(text, flush=True)


def go_wrong(fault: str) -> str:
    """The move of one that goes wrong, if it makes one."""
    if fault == "die":
        sys.exit(3)
    if fault == "hang":
        time.sleep(1000)
    return "z9"


def gtp(fault: str, after: int) -> None:
    taken: set[str] = set()
    answers = 0
    for line in sys.stdin:
        word, *rest = line.split() or [""]
        if word == "genmove":
            answers += 1
            move = go_wrong(fault) if answers > after else next(square for square in SQUARES if square not in taken)
            say(f"= {move.upper()}\n")
        elif word == "play" and rest[1].lower() in taken:
            say("? illegal move\n")
        elif word == "quit":
            say("=\n")
            return
        else:
            if word == "play":
                taken.add(rest[1].lower())
            elif word == "clear_board":
                taken.clear()
            say(f"= {GREETINGS.get(word, '')}\n")


def uci(fault: str, after: int) -> None:
    import chess

    board, answers = chess.Board(), 0
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["uci"]:
            say("id name Fake 1\noption name Hash type spin default 1 min 1 max 10\nuciok")
        elif words[:1] == ["isready"]:
            say("readyok")
        elif words[:2] == ["position", "fen"]:
            board = chess.Board(" ".join(words[2:]))
        elif words[:1] == ["go"]:
            answers += 1
            move = go_wrong(fault) if answers > after else min(move.uci() for move in board.legal_moves)
            say(f"info depth 1 score cp 100 nodes 7 pv {move}\nbestmove {move}")
        elif words[:1] == ["quit"]:
            return


if __name__ == "__main__":
    if sys.argv[1] == "silent":
        time.sleep(1000)
    if len(sys.argv) > 4:
        with open(sys.argv[4], "x"):
            pass
    given_fault, given_after = (sys.argv[2], int(sys.argv[3])) if len(sys.argv) > 2 else ("", 10**9)
    {"gtp": gtp, "uci": uci}[sys.argv[1]](given_fault, given_after)
