# %% [markdown]
# # An algorithm of your own
#
# [own_algorithm.py](own_algorithm.py) holds a game, a net, a search and an algorithm. Here they are used as classes.
# 25 s on two cores.
#
# The file must lie beside this one: in Colab upload it, or clone the repository.

# %% install
# # BEAMZERO is a checkout, a wheel or git+ADDRESS of the repository: the package is not in an index yet.
# BEAMZERO = ".."
# %pip install --quiet {BEAMZERO}

# %%
from own_algorithm import MonteCarlo, Nim, Rollouts

import beamzero as bz

# %% [markdown]
# ## Train
#
# Game and algorithm are classes; settings of the algorithm go by name.

# %%
run = bz.train(Nim, MonteCarlo, folder="runs/nim", iterations=20, games=100, rate_every=10, resume=True)
print(run)

# %%
run.plot().savefig("nim.png")

# %% [markdown]
# ## What it learned
#
# Who leaves a multiple of four stones wins. Of ten stones the best move takes two.

# %%
agent = run.player()
print(bz.analyse(agent))

# %%
print(bz.battle(agent, "lookahead:2", games=50))

# %% [markdown]
# ## Against the search of the same file

# %%
print(bz.battle(agent, Rollouts(games=50), games=50))

# %% [markdown]
# [docs/add-your-own-algorithm.md](../docs/add-your-own-algorithm.md) explains the file step by step.
