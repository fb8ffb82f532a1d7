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


@dataclasses.dataclass(frozen=True, repr=False)
class ClairvoyantPlayer(Player):
    """A player that deals the hidden cards many times, solves each deal with open cards, and plays the best average."""

    name: str
    game: Game
    search: Clairvoyance
    deterministic: bool = False

    def bytes_needed(self, rows: int, with_results: bool = False) -> int:
        return self.search.bytes_needed(self.game, rows)

    def think_batch(self, states: State, key: Array) -> SearchResult:
        return self.search(self.game, states, key)

    def choose(self, states: State, mask: Array, key: Array) -> Array:
        """Choose moves as `Player.choose` does; a position with one legal move is not solved."""
        wanted = np.asarray(_has_choice(self.game, states, mask))
        return self.search(self.game, states, key, wanted).action


@functools.partial(jax.jit, static_argnums=0)
def _has_choice(game: Game, states: State, mask: Array) -> Array:
    """Tell, bool [B], which rows of `mask` [B] have more than one legal move."""
    return mask & (jnp.sum(jax.vmap(game.legal)(states), axis=1) > 1)


def make_clairvoyant(name: str, spec: Spec, game: Game) -> Player:
    """Make a player such as ``clairvoyance:worlds=40``; ``solver=`` dds, alphabeta (both for bridge) or minimax."""
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
    """List the solvers for a game by name, the default first."""
    small = {"minimax": Exhaustive}
    return {"dds": DDS, "alphabeta": Endings, **small} if isinstance(game, Bridge) else small
