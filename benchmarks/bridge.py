"""Averaging over clairvoyance in bridge: its time and its tricks, beside the double-dummy result.

    python benchmarks/bridge.py --cards --worlds 40            seconds a card
    python benchmarks/bridge.py --deals 200 --worlds 10        tricks of the declarer

Random deals. The side with more high-card points declares (A 4, K 3, Q 2, J 1; North and South if equal). Of every two
deals one is played in 3NT, by the stronger hand of that side, and one in four of its longer major (spades if equal), by
the hand with more of it. Each deal is played against random legal defence and against clairvoyant defence.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax
import jax.numpy as jnp
import numpy as np

from beamzero.games.bridge.game import Bridge, BridgeState
from beamzero.games.bridge.text import SUITS
from beamzero.players import Player, make_player
from beamzero.players.double_dummy import DDS

_POINTS = np.maximum(np.arange(52) % 13 - 8, 0)
_LONGEST = 52


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cards", action="store_true", help="measure seconds a card instead of tricks")
    parser.add_argument("--deals", type=int, default=200)
    parser.add_argument("--worlds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    by_game = draw_deals(options.deals, options.seed)
    measure = seconds_a_card if options.cards else tricks
    print(
        json.dumps({"worlds": options.worlds, "seed": options.seed, **measure(by_game, options.worlds, options.seed)})
    )


def draw_deals(count: int, seed: int) -> dict[Bridge, BridgeState]:
    """Draw the first states of `count` deals, by contract, which is chosen as described above."""
    rng = np.random.default_rng(seed)
    holders: dict[str, list[np.ndarray]] = {}
    for number in range(count):
        hand = rng.permutation(np.repeat(np.arange(4), 13))
        points = np.array([_POINTS[hand == seat].sum() for seat in range(4)])
        side = 0 if points[0] + points[2] >= 20 else 1
        lengths = np.array(
            [[(hand[13 * suit : 13 * suit + 13] == seat).sum() for suit in range(2)] for seat in range(4)]
        )
        major = int(np.argmax(lengths[side::2].sum(axis=0)))
        strength = points if number % 2 == 0 else lengths[:, major]
        declarer = max((side, side + 2), key=lambda seat: strength[seat])
        contract = "3NT" if number % 2 == 0 else f"4{SUITS[major]}"
        holders.setdefault(contract, []).append((hand - declarer) % 4)
    return {Bridge(contract): _first_states(Bridge(contract), np.array(rows)) for contract, rows in holders.items()}


def _first_states(game: Bridge, holder: np.ndarray) -> BridgeState:
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), len(holder)))
    return states._replace(holder=jnp.asarray(holder, jnp.uint8))


# --- seconds a card --------------------------------------------------------------------------------------------------


def seconds_a_card(by_game: dict[Bridge, BridgeState], worlds: int, seed: int) -> dict:
    """Measure the time for the first lead, dummy's first card and all cards of deals played one by one.

    Forced cards cost nothing. `core` is the time of all cores together, which other programs change less.
    """
    times: dict[str, list[tuple[float, float]]] = {"first lead": [], "first card of dummy": [], "all cards": []}
    for game, states in by_game.items():
        player = make_player(f"clairvoyance:worlds={worlds}", game)
        rows = [jax.tree.map(lambda x: x[row : row + 1], states) for row in range(len(states.plies))]
        state = rows[0]
        for _ in range(3):  # compiles
            state = _step(game, state, player.choose(state, jnp.ones(1, bool), jax.random.key(seed)))
        for row, state in enumerate(rows):
            for ply in range(_LONGEST):
                key = jax.random.fold_in(jax.random.key(seed), row * _LONGEST + ply)
                start, core = time.perf_counter(), time.process_time()
                action = jax.block_until_ready(player.choose(state, jnp.ones(1, bool), key))
                taken = time.perf_counter() - start, time.process_time() - core
                if ply < 2:
                    times[("first lead", "first card of dummy")[ply]].append(taken)
                times["all cards"].append(taken)
                state = _step(game, state, action)
            print(f"{game.contract}, deal {row + 1}", file=sys.stderr)
    found = {}
    for name, rows in times.items():
        wall, core = np.array(rows).T
        found[name] = {"mean": wall.mean(), "median": np.median(wall), "most": wall.max(), "core": core.mean()}
    return {"deals": len(times["first lead"]), "load": os.getloadavg()[0], "seconds": found}


_step = jax.jit(lambda game, states, actions: jax.vmap(game.step)(states, actions), static_argnums=0)


# --- tricks ----------------------------------------------------------------------------------------------------------


def tricks(by_game: dict[Bridge, BridgeState], worlds: int, seed: int) -> dict:
    """Count the declarer's tricks in every deal, by the kind of defence, and with open cards."""
    found: dict[str, dict[str, list[float]]] = {}
    for number, (game, states) in enumerate(by_game.items()):
        clairvoyant, at_random = make_player(f"clairvoyance:worlds={worlds}", game), make_player("random", game)
        kind = found.setdefault("3NT" if game.contract == "3NT" else "four of a major", {})
        key = jax.random.fold_in(jax.random.key(seed), number)
        columns = {
            "double dummy": _double_dummy(game, states),
            "against random defence": _play(game, states, clairvoyant, at_random, key),
            "against clairvoyant defence": _play(game, states, clairvoyant, clairvoyant, key),
            "made, double dummy": _double_dummy(game, states) >= game.bid.tricks,
        }
        columns["made, clairvoyant defence"] = columns["against clairvoyant defence"] >= game.bid.tricks
        for name, column in columns.items():
            kind.setdefault(name, []).extend(float(one) for one in column)
        print(f"{game.contract}: {len(states.plies)} deals", file=sys.stderr)
    for kind in found.values():
        pairs = zip(kind["against clairvoyant defence"], kind["double dummy"])
        kind["clairvoyant less double dummy"] = [played - solved for played, solved in pairs]
    return {
        kind: {"deals": len(rows["double dummy"]), **{name: _mean(column) for name, column in rows.items()}}
        for kind, rows in found.items()
    }


def _mean(numbers: list[float]) -> dict[str, float]:
    """Return the mean, and half the width of its 95% interval."""
    return {
        "mean": float(np.mean(numbers)),
        "half width of 95%": float(1.96 * np.std(numbers, ddof=1) / len(numbers) ** 0.5),
    }


def _double_dummy(game: Bridge, states: BridgeState) -> np.ndarray:
    """Count the declarer's tricks with open cards, after the best lead."""
    return np.round(13 - (DDS()(game, jax.device_get(states)).max(axis=1) * 13 + 13) / 2).astype(int)


def _play(game: Bridge, states: BridgeState, declarer: Player, defender: Player, key: jax.Array) -> np.ndarray:
    """Play all deals to the end, in lockstep. Returns the declarer's tricks."""
    for ply in range(_LONGEST):
        now = jax.random.fold_in(key, ply)
        declares = jax.vmap(game.player)(states) == 0
        first = declarer.choose(states, declares, jax.random.fold_in(now, 0))
        second = defender.choose(states, ~declares, jax.random.fold_in(now, 1))
        states = _step(game, states, jnp.where(declares, first, second))
    return np.asarray(states.won[:, 0]).astype(int)


if __name__ == "__main__":
    main()
