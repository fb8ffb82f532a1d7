"""The strength of an opening book: an agent with it against the same agent without.

    python benchmarks/book.py GAME AGENT BOOK [--games 200] [--random-plies 2] [--seed 0]

Prints the score of the agent with the book, how many of its moves came from the book, and how long either took for a
move. The games are those of `beamzero battle`, which begin with random plies; they are played twice, since the first
time programs are compiled.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.arena.battle import battle
from beamzero.core.compiler import keep_compiled_code
from beamzero.games import Game, State, make_game
from beamzero.players import Player, make_player
from beamzero.players.book import BookPlayer, with_book
from beamzero.search.evaluator import SearchResult


@dataclasses.dataclass
class Timed(Player):
    """A player, how many moves it made, how many of them from a book, and the seconds they took."""

    player: Player
    moves: int = 0
    from_book: int = 0
    seconds: float = 0.0

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.player.name

    @property
    def game(self) -> Game:  # type: ignore[override]
        return self.player.game

    @property
    def deterministic(self) -> bool:  # type: ignore[override]
        return self.player.deterministic

    def think_batch(self, states: State, key: Array) -> SearchResult:
        return self.player.think(states, key)

    def choose(self, states: State, mask: Array, key: Array) -> Array:
        if isinstance(self.player, BookPlayer):
            self.from_book += int(jnp.sum(mask & self.player.look_up(states).found))
        self.moves += int(jnp.sum(mask))
        began = time.perf_counter()
        chosen = jax.block_until_ready(self.player.choose(states, mask, key))
        self.seconds += time.perf_counter() - began
        return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("agent")
    parser.add_argument("book")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--random-plies", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    keep_compiled_code()
    game = make_game(arguments.game)
    alone = make_player(arguments.agent, game)
    pair = [with_book(alone, arguments.book), alone]
    for _ in range(2):
        timed = [Timed(player) for player in pair]
        played = battle(game, timed[0], timed[1], arguments.games, arguments.random_plies, arguments.seed)
    by_book, without = timed
    low, high = played.interval
    print(
        f"{game.spec}: {arguments.agent} with {arguments.book} scores {played.score:.3f} against itself without,"
        f" 95% interval {low:.3f} to {high:.3f}\n"
        f"{played.games} games from {played.openings} openings of {played.random_plies} random plies;"
        f" {by_book.from_book / by_book.moves:.1%} of {by_book.moves} moves came from the book\n"
        f"{1e3 * by_book.seconds / by_book.moves:.3g} ms a move with the book,"
        f" {1e3 * without.seconds / without.moves:.3g} ms without"
    )


if __name__ == "__main__":
    main()
