# %% [markdown]
# # First steps
#
# Load an agent that ships, ask it about a position, and measure it. 30 s on two cores.

# %% install
# # BEAMZERO is a checkout, a wheel or git+ADDRESS of the repository: the package is not in an index yet.
# BEAMZERO = ".."
# %pip install --quiet {BEAMZERO}

# %%
import beamzero as bz

# %% [markdown]
# ## A position
#
# A game makes positions; a position knows its legal moves and draws itself.

# %%
game = bz.make_game("connect_four")
position = game.position("d c d c")
print(position)

# %%
print(position.legal)

# %% [markdown]
# ## Ask an agent
#
# `sims` is how long it searches. Values are for the side to move: -1 is a loss, 1 a win.

# %%
agent = bz.load("connect_four", sims=100)
found = bz.analyse(agent, position)
print(found)

# %% [markdown]
# Every result is plain data too.

# %%
print(found.best, found.value, found.line)

# %%
print([(move.move, round(move.value, 2)) for move in found.moves])

# %% [markdown]
# ## Measure
#
# A battle plays every opening with both colours. The interval says how sure the score is.

# %%
quick = bz.load("connect_four", sims=10)
result = bz.battle(quick, "alphabeta:depth=4", games=200)
print(result)

# %%
print(result.score, result.interval)

# %% [markdown]
# Ratings place several agents on one scale; `random` is 1000.

# %%
ratings = bz.rate(quick, "lookahead:2", "alphabeta:depth=4", games=100)
print(ratings)

# %%
ratings.plot().savefig("ratings.png")

# %%
print(ratings.as_dicts()[0])

# %% [markdown]
# In solved positions there is no opponent: an error is a move that throws away a win or a draw.

# %%
scores = bz.score(quick, "lookahead:4", game=game, positions=200)
print(scores)

# %% [markdown]
# Next: [a game of your own](own_game.ipynb).
