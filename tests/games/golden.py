"""Golden playthroughs: one random game of each kind, written down as people would read it.

They show at a glance what a change does to the rules or to what people see. After a change that was meant, write them
again and read the difference:

    PYTHONPATH=. python tests/games/golden.py --write [GAME]...

(Run as a file: pgx installs a package of its own that is called `tests`, and -m would look there.)
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import jax

from beamzero.games import CHANCE, GAMES, Game, make_game
from beamzero.players.analysis import step

FOLDER = Path(__file__).resolve().parent.parent / "golden"
SEED = 7
COMMAND = "PYTHONPATH=. python tests/games/golden.py --write"


def path(name: str) -> Path:
    return FOLDER / f"{name}.txt"


def playthrough(game: Game, seed: int = SEED) -> str:
    """One random game as text. The draws come from Python's `random`, which is the same everywhere."""
    draw = random.Random(seed)
    state = jax.device_get(game.init(jax.random.key(seed)))
    resolve, look = jax.jit(game.resolve), jax.jit(lambda state: (game.over(state), game.player(state)))
    lines = [f"{game.spec}: a random game, seed {seed}"]
    ply = 0
    while not look(state)[0]:
        player = int(look(state)[1])
        lines += ["", game.show(state, 0)]
        if player == CHANCE:
            chances = [float(p) for p in game.chance(state)]
            action = draw.choices(range(len(chances)), chances)[0]
            lines += [f"ply {ply}, chance: outcome {action} of probability {chances[action]:.4f}"]
        else:
            legal = game.legal_actions(state)
            action = legal[int(draw.random() * len(legal))]
            names = " ".join(game.action_name(state, move) for move in legal)
            lines += [f"ply {ply}, player {player}, legal: {names}", f"plays {game.action_name(state, action)}"]
        state = jax.device_get(resolve(state, action) if player == CHANCE else step(game, state, action))
        ply += 1
    lines += ["", game.show(state, 0), f"over after {ply} plies: {game.outcome_reason(state)}"]
    lines += [f"score for player 0: {float(game.score(state)):g}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME", help="all games by default")
    parser.add_argument("--write", action="store_true", help="replace the files; without it, print")
    arguments = parser.parse_args()
    for name in arguments.games or GAMES:
        text = playthrough(make_game(name))
        if arguments.write:
            path(name).write_text(text, encoding="utf-8")
        else:
            print(text)


if __name__ == "__main__":
    main()
