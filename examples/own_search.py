# %% [markdown]
# # A search of your own
#
# One class. It then plays, is rated, and keeps to a clock. 20 s on two cores.
#
# This search plays random games after each move. It spends them where they help most: on the moves that did best so
# far and on those that were hardly tried (UCB1, a bandit). Does that beat as many games after each move?

# %% install
# # BEAMZERO is a checkout, a wheel or git+ADDRESS of the repository: the package is not in an index yet.
# BEAMZERO = ".."
# %pip install --quiet {BEAMZERO}

# %%
import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

import beamzero as bz
from beamzero.games import State
from beamzero.search.children import listed_moves
from beamzero.search.evaluator import Evaluator, RootMoves, SearchResult, choose_move, side_sign
from beamzero.search.protocol import Spent
from beamzero.search.simple import random_moves

# %% [markdown]
# ## The search
#
# It searches B positions at once, in units of work: here a unit is one random game from each position. `Tried` is all
# that it knows so far.


# %%
class Tried(NamedTuple):
    states: State  # [B, ...] the positions
    moves: Array  # int32 [B, K] their legal moves, in K slots
    listed: Array  # bool [B, K] the slots that hold a move
    visits: Array  # float32 [B, K] games that began with each move
    total: Array  # float32 [B, K] the sum of their results, for the side to move
    units: Array  # int32 [] games from each position
    key: Array


@dataclasses.dataclass(frozen=True)
class Bandit(bz.Search):
    """Play random games after the moves of a position; `c` is how much it tries what it seldom tried."""

    games: int = 200
    c: float = 0.7

    by_chance = True  # what it finds depends on the key

    @property
    def units(self) -> int:
        return self.games

    def nodes_of_unit(self, game: bz.Game) -> int:
        return game.max_plies

    def start(self, game: bz.Game, evaluator: Evaluator, states: State, key: Array) -> Tried:
        moves, _, listed = listed_moves(game, states)
        nothing = jnp.zeros(moves.shape, jnp.float32)
        return Tried(states, moves, listed, nothing, nothing, jnp.int32(0), key)

    def advance(self, game: bz.Game, evaluator: Evaluator, carry: Tried, budget: Array | int) -> Tried:
        last = jnp.minimum(carry.units + budget, self.games)
        return lax.while_loop(lambda now: now.units < last, functools.partial(self.one_game, game), carry)

    def done(self, game: bz.Game, carry: Tried) -> Array:
        return jnp.full(carry.moves.shape[0], carry.units >= self.games)

    def result(self, game: bz.Game, carry: Tried, key: Array) -> SearchResult:
        mean = carry.total / jnp.maximum(carry.visits, 1)
        values = jnp.where(carry.listed, jnp.where(carry.visits > 0, mean, -1.0), -jnp.inf)
        known = RootMoves(carry.moves, carry.listed, values, proven=jnp.zeros(values.shape, jnp.bool_))
        return choose_move(game, known, self.spent(game, carry).nodes, key)

    def spent(self, game: bz.Game, carry: Tried) -> Spent:
        nothing = jnp.zeros(carry.moves.shape[0], jnp.int32)
        return Spent(carry.units, nodes=nothing + carry.units * game.max_plies, evaluations=nothing, depth=nothing)

    def one_game(self, game: bz.Game, carry: Tried) -> Tried:
        """Play one random game from each position, after the move that looks best with what is unknown of it."""
        mean = carry.total / jnp.maximum(carry.visits, 1)
        unknown = jnp.sqrt(jnp.log1p(carry.units.astype(jnp.float32)) / jnp.maximum(carry.visits, 0.01))
        slot = jnp.argmax(jnp.where(carry.listed, mean + self.c * unknown, -jnp.inf), axis=1)[:, None]
        first = jnp.take_along_axis(carry.moves, slot, axis=1)[:, 0]
        key = jax.random.fold_in(carry.key, carry.units)

        def ply(number: Array, states: State) -> State:
            return jax.vmap(game.step)(states, random_moves(game, states, jax.random.fold_in(key, number)))

        last = lax.fori_loop(1, game.max_plies, ply, jax.vmap(game.step)(carry.states, first))
        result = side_sign(game, carry.states) * jax.vmap(game.score)(last)
        tried = (jnp.arange(carry.visits.shape[1])[None] == slot).astype(jnp.float32)
        return carry._replace(
            visits=carry.visits + tried, total=carry.total + tried * result[:, None], units=carry.units + 1
        )


# %% [markdown]
# ## Ask it
#
# The class or an object of it goes where an agent goes.

# %%
print(bz.analyse(Bandit(games=500), game="connect_four", moves="d c d c d"))

# %% [markdown]
# ## Does it help to choose?
#
# With a large `c` all moves are tried equally often. Both play as many games. It helps: here the score was 0.584, 95%
# interval 0.552 to 0.615.

# %%
result = bz.battle(Bandit(games=100), Bandit(games=100, c=1000.0), game="connect_four", games=1000)
print(result)

# %%
print(bz.battle(Bandit(games=100), "lookahead:2", game="connect_four", games=200))

# %% [markdown]
# ## Under a clock
#
# Every search can be stopped at any unit. Options go by name.

# %%
game = bz.make_game("connect_four")
fast = bz.make_player(Bandit(games=100_000), game, seconds=0.05)
print(bz.analyse(fast, game.position("d c d c d")).found.nodes // game.max_plies, "games in 0.05 s")

# %%
# How often does it err where the best move is known?
print(bz.score(Bandit(games=100), Bandit(games=1000), "lookahead:2", game=game, positions=20))
