# %% [markdown]
# # A net of your own
#
# An nnx module is a net. Here one with residual layers plays against the default net. 70 s on two cores.

# %% install
# # BEAMZERO is a checkout, a wheel or git+ADDRESS of the repository: the package is not in an index yet.
# BEAMZERO = ".."
# %pip install --quiet {BEAMZERO}

# %%
import jax
from flax import nnx

import beamzero as bz

# %% [markdown]
# ## The net
#
# It takes `observation_shape`, `outputs` and `rngs`, and maps B observations to `[B, outputs]`. Further arguments with
# defaults, such as `channels`, are what a text can set.


# %%
class Residual(nnx.Module):
    def __init__(
        self, observation_shape: tuple[int, ...], outputs: int, rngs: nnx.Rngs, channels: int = 16, blocks: int = 2
    ) -> None:
        rows, columns, planes = observation_shape
        self.first = nnx.Conv(planes, channels, (3, 3), rngs=rngs)
        self.blocks = nnx.List([nnx.Conv(channels, channels, (3, 3), rngs=rngs) for _ in range(blocks)])
        self.head = nnx.Linear(rows * columns * channels, outputs, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = nnx.relu(self.first(x))
        for block in self.blocks:
            x = x + nnx.relu(block(x))
        return self.head(x.reshape(len(x), -1))


# %% [markdown]
# ## Two trainings that differ in the net alone
#
# PROBS has two nets: V judges positions, Q chooses moves. The class is the value of a setting; a text sets its
# arguments too. V is asked fifty times as often as Q, so it is smaller.

# %%
probs = bz.Probs(iterations=12, games=300, expand=8, noise=0.1, rate_every=6)
usual = bz.train("connect_four", probs, folder="runs/usual", resume=True)
print(usual)

# %%
small = "residual:channels=8,blocks=1"
own = bz.train("connect_four", probs, q_net=Residual, value_net=small, folder="runs/residual", resume=True)
print(own)

# %% [markdown]
# ## Which one is better?
#
# One look at the net for each move, no search. Here the residual nets scored 0.572, 95% interval 0.541 to 0.602.

# %%
result = bz.battle(own.player(), usual.player(), games=1000)
print(result)

# %%
low, high = result.interval
print("better" if low > 0.5 else "worse" if high < 0.5 else "no difference that 1000 games show")

# %% [markdown]
# Equal games are not equal seconds: a convolution takes longer on a CPU. And one training with each net says little of
# another: train more seeds before you choose.

# %%
print({run.folder.name: round(sum(sum(r["seconds"].values()) for r in run.metrics())) for run in (usual, own)})

# %% [markdown]
# AlphaZero has one net: `bz.train("connect_four", "alphazero", net=Residual)`.
