# %% [markdown]
# # A game of your own
#
# Domineering in one cell: checked, trained by PROBS, measured, saved. 1 minute on two cores.
#
# Both sides put dominoes on a board, the first side upright ones, the second side lying ones. Who cannot move loses.

# %% install
# # BEAMZERO is a checkout, a wheel or git+ADDRESS of the repository: the package is not in an index yet.
# BEAMZERO = ".."
# %pip install --quiet {BEAMZERO}

# %%
import dataclasses
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

import beamzero as bz
from beamzero.games import grid
from beamzero.games.game import keep_if
from beamzero.games.views import GridView

# %% [markdown]
# ## The rules
#
# Each rule is a function of one state. The second side sees the board turned over its diagonal, so that both sides put
# upright dominoes, and one net plays both. A move is the lower square of its domino.


# %%
class DomineeringState(NamedTuple):
    owners: Array  # int32 [size, size] 0 free, 1 the first side's, 2 the second side's
    ply: Array  # int32 [] moves so far


@dataclasses.dataclass(frozen=True)
class Domineering(bz.Game):
    """Put dominoes on a board, upright ones against lying ones; who cannot move loses."""

    size: int = 6

    name: ClassVar[str] = "domineering"

    @property
    def num_actions(self) -> int:
        return (self.size - 1) * self.size

    @property
    def max_moves(self) -> int:
        return self.num_actions

    @property
    def max_plies(self) -> int:
        return self.size * self.size // 2

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return (self.size, self.size, 1)

    def init(self, key: Array) -> DomineeringState:
        return DomineeringState(jnp.zeros((self.size, self.size), jnp.int32), jnp.int32(0))

    def player(self, state: DomineeringState) -> Array:
        return state.ply % 2

    def _seen(self, state: DomineeringState) -> Array:
        """Turn the board, int32 [size, size], so that the mover's dominoes are upright."""
        return jnp.where(self.player(state) == 0, state.owners, state.owners.T)

    def legal(self, state: DomineeringState) -> Array:
        free = self._seen(state) == 0
        return (free[:-1] & free[1:]).reshape(-1)

    def step(self, state: DomineeringState, action: Array) -> DomineeringState:
        return keep_if(self.over(state), state, self.put(state, action))

    def put(self, state: DomineeringState, action: Array) -> DomineeringState:
        row, column = action // self.size, action % self.size
        mine = self.player(state).astype(jnp.int32) + 1
        seen = self._seen(state).at[row, column].set(mine).at[row + 1, column].set(mine)
        return DomineeringState(jnp.where(self.player(state) == 0, seen, seen.T), state.ply + 1)

    def over(self, state: DomineeringState) -> Array:
        return ~jnp.any(self.legal(state))

    def score(self, state: DomineeringState) -> Array:
        first_lost = self.player(state) == 0
        return jnp.where(self.over(state), jnp.where(first_lost, -1.0, 1.0), 0.0).astype(jnp.float32)

    def observe(self, state: DomineeringState) -> Array:
        return (self._seen(state) > 0).astype(jnp.float32)[:, :, None]

    def symmetries(self, observation: Array, values: Array) -> tuple[Array, Array]:
        """Give each position also turned by half, which is worth the same."""
        return jnp.stack([observation, observation[::-1, ::-1]]), jnp.stack([values, values[::-1]])

    def show(self, state: DomineeringState, seat: int = 0) -> str:
        return grid.draw(np.asarray(state.owners).tolist())

    def view(self, state: DomineeringState, seat: int = 0) -> GridView:
        return grid.view(np.asarray(state.owners).tolist())

    def action_name(self, state: DomineeringState, action: int) -> str:
        row, column = divmod(action, self.size)
        if int(self.player(state)) == 1:
            row, column = column, row
        return f"{grid.LETTERS[column]}{row + 1}"

    def outcome_reason(self, state: DomineeringState) -> str:
        return f"{'XO'[int(self.player(state))]} cannot move"


# %% [markdown]
# ## Does it keep the laws?
#
# Before a training begins, random games test the rules. Here is a rule that is wrong: a finished game must stay as it
# is.


# %%
@dataclasses.dataclass(frozen=True)
class Broken(Domineering):
    """Domineering where a domino can be put after the end."""

    name: ClassVar[str] = "broken"

    def step(self, state: DomineeringState, action: Array) -> DomineeringState:
        return self.put(state, action)


try:
    bz.train(Broken, folder="runs/broken")
except bz.BadInput as error:
    print(error)

# %% [markdown]
# ## Train
#
# The class goes where the name of a game goes. `resume=True` goes on with a run that is there, so that the cell can be
# run again.

# %%
probs = bz.Probs(
    iterations=60,
    games=400,
    expand=16,
    value_net="mlp:width=64,depth=2",
    q_net="conv:channels=16-32,dense=64,padding=same",
    rate_against="random lookahead:1",
    rate_every=8,
)
run = bz.train(Domineering, probs, folder="runs/domineering", resume=True)
print(run)

# %%
run.plot().savefig("domineering.png")

# %% [markdown]
# ## Ask it
#
# The position after two moves, with the value of each move on the board.

# %%
agent = run.player(expand=50)
print(bz.analyse(agent, moves="b2 c5"))

# %% [markdown]
# ## Measure it
#
# Against a search of two plies, and against alpha-beta that sees four.

# %%
print(bz.battle(agent, "lookahead:2", games=200))

# %%
print(bz.battle(agent, "alphabeta:depth=4", games=100))

# %% [markdown]
# ## Save it and load it again
#
# The file holds weights and texts, never code. So another process is given the class.

# %%
path = run.export("domineering.safetensors")
loaded = bz.load(path, game=Domineering, expand=50)
print(bz.analyse(loaded, moves="b2 c5").best)
