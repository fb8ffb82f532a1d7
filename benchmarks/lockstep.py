"""The time of a battle of many games: two agents with one look at a net each, all games in lockstep.

    python benchmarks/lockstep.py [--games 1000] [--json]

The nets are those of the recipe connect_four_quick with random weights, which cost as much as trained ones. Printed is
the time of a second battle, when all is compiled.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax

from beamzero.arena.battle import battle
from beamzero.games import Game, make_game
from beamzero.nets import Net, make_evaluator, make_net
from beamzero.players.player import SearchPlayer
from beamzero.search.simple import OneLook
from beamzero.training.recipes import find_recipe


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    game = make_game("connect_four")
    one, other = net_player(game, 0), net_player(game, 1)
    battle(game, one, other, games=arguments.games)
    before = time.perf_counter()
    played = battle(game, one, other, games=arguments.games, seed=1)
    seconds = time.perf_counter() - before
    found = {
        "games": played.games,
        "plies of a game": round(played.mean_plies, 1),
        "seconds": round(seconds, 2),
        "games/s": round(played.games / seconds),
        "moves/s": round(played.games * played.mean_plies / seconds),
    }
    print(json.dumps(found) if arguments.json else "\n".join(f"{name:>16}  {value:,}" for name, value in found.items()))


def net_player(game: Game, seed: int) -> SearchPlayer:
    settings = find_recipe("connect_four_quick").settings
    value = Net(game, make_net(settings["value_net"]), "value")
    scores = Net(game, make_net(settings["q_net"]), "scores")
    keys = jax.random.split(jax.random.key(seed))
    evaluator = make_evaluator(value, value.init(keys[0]), scores, scores.init(keys[1]))
    return SearchPlayer(f"net {seed}", game, OneLook(), evaluator)


if __name__ == "__main__":
    main()
