"""Averaging over clairvoyance as a player of games with hidden cards."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.core.spec import Spec, convert, unknown
from beamzero.games import Game, State
from beamzero.games.bridge.game import Bridge
from beamzero.players.double_dummy import DDS, Endings
from beamzero.players.options import take
from beamzero.players.player import Player
from beamzero.search.evaluator import SearchResult
from beamzero.solvers.clairvoyance import Clairvoyance, Solver
from beamzero.solvers.exhaustive import Exhaustive


@dataclasses.dataclass(frozen=True)
class ClairvoyantPlayer(Player):
    """Deals what it does not know many times, solves each deal with open cards, and plays what is best on average."""

    name: str
    game: Game
    search: Clairvoyance
    deterministic: bool = False

    def bytes_needed(self, rows: int, thinking: bool = False) -> int:
        return self.search.bytes_needed(self.game, rows)

    def think(self, states: State, key: Array) -> SearchResult:
        return self.search(self.game, states, key)

    def choose(self, states: State, mask: Array, key: Array) -> Array:
        """Nothing is solved where there is but one move."""
        wanted = np.asarray(_has_choice(self.game, states, mask))
        return self.search(self.game, states, key, wanted).action


@functools.partial(jax.jit, static_argnums=0)
def _has_choice(game: Game, states: State, mask: Array) -> Array:
    return mask & (jnp.sum(jax.vmap(game.legal)(states), axis=1) > 1)


def make_clairvoyant(name: str, spec: Spec, game: Game) -> Player:
    """``clairvoyance:worlds=40``; ``solver=`` dds, alphabeta (both of bridge) or minimax (of small games)."""
    argument, options = take(spec, name, "worlds", {"worlds": int, "solver": str})
    if not game.hidden:
        raise BadInput(f"{name}: {game.name} hides nothing, so there is nothing to average over: alphabeta solves it")
    worlds = options.get("worlds", Clairvoyance.worlds if argument is None else argument)
    solvers = _solvers(game)
    solver = options.get("solver", next(iter(solvers)))
    if solver not in solvers:
        raise unknown(f"solver of {game.name}", solver, solvers)
    try:
        search = Clairvoyance(
            solvers[solver](), convert(worlds, int, f"{name}: worlds") if isinstance(worlds, str) else worlds
        )
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None
    return ClairvoyantPlayer(name, game, search)


def _solvers(game: Game) -> Mapping[str, Callable[[], Solver]]:
    """The solvers that can be named, the usual one first."""
    small = {"minimax": Exhaustive}
    return {"dds": DDS, "alphabeta": Endings, **small} if isinstance(game, Bridge) else small
