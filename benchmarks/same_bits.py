"""Fingerprints of what searches find and trainings learn, to compare before and after a change.

    python benchmarks/same_bits.py > before.txt
    (change something)
    python benchmarks/same_bits.py | diff before.txt -

One line for each case: a name, and the first digits of the SHA-256 of all its numbers. On one machine, on its CPU, the
lines are the same as long as the same bits come out. Cases: what every agent thinks of positions of random games and
the moves that it plays there; what `analyse` says; the weights and metrics of a few iterations of each algorithm.
`--only TEXT` does the cases whose names hold TEXT.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax
import numpy as np

from beamzero.cli import main as beamzero
from beamzero.games import Game, make_game
from beamzero.players import make_player

POSITIONS = 12
FAIR = ["random", "lookahead:2", "minimax:2", "alphabeta:3", "alphabeta:nodes=300", "alphabeta:3,order=false,hash=0"]
TREES = ["mcts:sims=30", "mcts:30,c=2"]
AGENTS: dict[str, list[str]] = {
    "tic_tac_toe": [*FAIR, *TREES, "lookahead:4", "alphazero:tic_tac_toe", "alphazero:tic_tac_toe,sims=20"],
    "connect_four": [*FAIR, *TREES, "alphazero:connect_four", "alphazero:connect_four,sims=25,c=1"],
    "connect_four:rows=4,columns=5,length=3": [*FAIR, *TREES],
    "kalah": [*FAIR, *TREES, "alphazero:kalah", "alphazero:kalah,sims=20", "alphazero:kalah,level=easy"],
    "othello:size=6": [*FAIR, *TREES],
    "togyzkumalak": ["alphabeta:2", "mcts:sims=10", "alphazero:togyzkumalak,sims=10"],
    "checkers": ["lookahead:2", "alphabeta:3", "mcts:sims=10"],
    "chess6x6": ["lookahead:1", "alphabeta:2", "mcts:sims=5", "alphazero:chess6x6", "alphazero:chess6x6,sims=10"],
    "backgammon": ["random", "expectiminimax:1", "expectiminimax:nodes=300", "expectiminimax:2,rolls=2", "mcts:sims=8",
                   "td:backgammon", "td:backgammon,depth=1", "td:backgammon,level=hard"],
    "leduc_poker": ["cfr:iterations=50", "clairvoyance:worlds=5"],
}  # fmt: skip
BEAMS = ["probs:{}", "probs:{},expand=15", "probs:{},expand=20,depth=2", "probs:{},expand=20,depth=2,strict=true"]
SMALL = "mlp:width=16,depth=2"
RUNS: dict[str, list[str]] = {
    "probs": ["tic_tac_toe", "--set", "iterations=3", "--set", "games=16", "--set", "expand=4",
              "--set", f"value_net={SMALL}", "--set", f"q_net={SMALL}"],
    "probs dice": ["backgammon:max_plies=60", "--set", "iterations=1", "--set", "games=4", "--set", "expand=3",
                   "--set", f"value_net={SMALL}", "--set", f"q_net={SMALL}"],
    "alphazero": ["kalah:houses=3,seeds=2", "--algo", "alphazero", "--set", "iterations=3", "--set", "games=16",
                  "--set", "sims=6", "--set", f"net={SMALL}"],
    "alphazero gumbel": ["tic_tac_toe", "--algo", "alphazero", "--set", "iterations=2", "--set", "games=8",
                         "--set", "sims=4", "--set", "search=gumbel", "--set", f"net={SMALL}"],
    "td": ["backgammon:max_plies=60", "--algo", "td", "--set", "iterations=2", "--set", "games=4",
           "--set", f"value_net={SMALL}"],
}  # fmt: skip
ALL_RUNS = ["--seed", "3", "--set", "rate_every=0", "--json"]


def fingerprint(tree: Any) -> str:
    """Sum up all numbers of a pytree, their shapes and their types in a few digits."""
    digest = hashlib.sha256()
    for leaf in jax.tree.leaves(jax.device_get(tree)):
        array = np.asarray(leaf)
        digest.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
    return digest.hexdigest()[:16]


def positions(game: Game) -> Any:
    """Return states of random games, none of them over, each in its own ply, in which a side has to choose."""
    from beamzero.games.chance import draw_chance
    from beamzero.games.game import keep_if
    from beamzero.search.simple import random_moves

    @jax.jit
    def start(key: jax.Array) -> Any:
        return draw_chance(game, jax.vmap(game.init)(jax.random.split(key, POSITIONS)), jax.random.fold_in(key, 1))

    @jax.jit
    def play(states: Any, key: jax.Array, ply: jax.Array) -> Any:
        going = (jax.numpy.arange(POSITIONS) >= ply) & ~jax.vmap(game.over)(states)
        moved = jax.vmap(game.step)(states, random_moves(game, states, jax.random.fold_in(key, 2 * ply + 2)))
        moved = draw_chance(game, moved, jax.random.fold_in(key, 2 * ply + 3))
        going &= ~jax.vmap(game.over)(moved)
        return jax.vmap(keep_if)(going, moved, states)

    states = start(jax.random.key(7))
    for ply in range(POSITIONS):
        states = play(states, jax.random.key(7), jax.numpy.int32(ply))
    return states


def of_agent(text: str, game: Game, states: Any) -> Iterator[tuple[str, str]]:
    """Sum up an agent's search results of positions, and the moves that it plays in half of them."""
    player = make_player(text, game)
    yield "think", fingerprint(player.think(states, jax.random.key(5)))
    mask = np.arange(POSITIONS) % 2 == 0
    yield "choose", fingerprint(np.asarray(player.choose(states, jax.numpy.asarray(mask), jax.random.key(6)))[mask])


def analysis(text: str, spec: str) -> str:
    """Sum up the output of `beamzero analyse` for the first position."""
    said = _without_time(json.loads(_stdout(["analyse", spec, text, "--json"])))
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


def training(words: list[str], folder: Path) -> Iterator[tuple[str, str]]:
    """Sum up the last weights of a run, and its metrics without the seconds."""
    from beamzero.storage.metrics import read_metrics

    _stdout(["train", *words, "--run", str(folder), *ALL_RUNS])
    _stdout(["export", str(folder), str(folder) + ".safetensors"])
    from safetensors.numpy import load_file

    yield "weights", fingerprint(load_file(str(folder) + ".safetensors"))
    lines = [_without_time(line) for line in read_metrics(folder)]
    yield "metrics", hashlib.sha256(json.dumps(lines, sort_keys=True).encode()).hexdigest()[:16]


def _without_time(line: Any) -> Any:
    if isinstance(line, dict):
        return {key: _without_time(value) for key, value in line.items() if "second" not in key and key != "crew"}
    return [_without_time(item) for item in line] if isinstance(line, list) else line


def _stdout(words: list[str]) -> str:
    import contextlib
    import io

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        status = beamzero(words)
    if status:
        raise SystemExit(f"beamzero {' '.join(words)} ended with {status}: {said.getvalue()}")
    return said.getvalue()


def cases(folder: Path) -> Iterator[tuple[str, Callable[[], Iterator[tuple[str, str]]]]]:
    """Yield every case with the function that does it."""
    for name, words in RUNS.items():
        yield f"train {name}", functools.partial(training, words, folder / name.replace(" ", "_"))
    games = {**AGENTS, "tic_tac_toe ": BEAMS, "backgammon:max_plies=60": BEAMS[:2]}
    for spec, texts in games.items():
        for text in texts:
            run = "probs" if "tic" in spec else "probs dice"
            path = folder / run.replace(" ", "_")

            def ask(
                spec: str = spec.strip(), text: str = text.format(path), run: str = run, path: Path = path
            ) -> Iterator[tuple[str, str]]:
                if text.startswith("probs:") and not path.exists():
                    list(training(RUNS[run], path))
                game = make_game(spec)
                yield from of_agent(text, game, positions(game))
                if not game.hidden:
                    yield "analyse", analysis(text, spec)

            yield f"{spec.strip()} {text}", ask


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="do the cases whose names hold this")
    wanted = parser.parse_args().only
    with tempfile.TemporaryDirectory() as name:
        for case, ask in cases(Path(name)):
            if wanted in case:
                for what, found in ask():
                    print(f"{case}: {what}: {found}", flush=True)


if __name__ == "__main__":
    main()
