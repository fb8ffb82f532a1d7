# %% [markdown]
# # The paper's first figure, in small
#
# The PROBS paper trains Connect Four with two sizes of nets and several depths of the beam search, and draws Elo by
# iteration. Here is a small part of it: a twelfth of the games, four trainings. 3 minutes on two cores.
#
# All of it is `beamzero reproduce probs-fig1`; [docs/results.md](../docs/results.md) has what came out.

# %% install
# # BEAMZERO is a checkout, a wheel or git+ADDRESS of the repository: the package is not in an index yet.
# BEAMZERO = ".."
# %pip install --quiet {BEAMZERO}

# %%
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import beamzero as bz

# %% [markdown]
# ## The trainings
#
# A recipe is a set of settings that comes with the package. What is given by name replaces one of them. The paper has
# 100 iterations of 1000 games, E = 10, 30, 100, and M = 2, 3, 99.

# %%
NETS, DEPTHS = ("small", "large"), (2, 99)
runs = {
    (net, depth): bz.train(
        "connect_four",
        recipe=f"connect_four_paper_{net}",
        folder=f"runs/figure-one/{net}-{depth}",
        depth=depth,
        expand=10,
        games=400,
        iterations=20,
        rate_every=2,
        resume=True,
    )
    for net, depth in product(NETS, DEPTHS)
}

# %% [markdown]
# ## The figure
#
# On the left the mean over M for each net, on the right the mean over the nets for each M, as in the paper.


# %%
def elo(run: bz.TrainingRun) -> dict[int, float]:
    """Give the rating by iteration; one that is not finite is left out."""
    rated = {record["iteration"]: record.get("rating") for record in run.metrics()}
    return {iteration: rating["elo"] for iteration, rating in rated.items() if rating and rating["elo"] is not None}


def draw_mean(axes: Axes, chosen: list[bz.TrainingRun], label: str) -> None:
    """Draw the mean rating of some trainings, at the iterations that all of them have."""
    curves = [elo(run) for run in chosen]
    common = sorted(set.intersection(*(set(curve) for curve in curves)))
    axes.plot(common, [float(np.mean([curve[at] for curve in curves])) for at in common], marker=".", label=label)


figure, (by_net, by_depth) = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
for net in NETS:
    draw_mean(by_net, [runs[net, depth] for depth in DEPTHS], f"{net} nets")
for depth in DEPTHS:
    draw_mean(by_depth, [runs[net, depth] for net in NETS], f"M = {depth}")
for axes in (by_net, by_depth):
    axes.axhline(1603, color="grey", linestyle="--", label="lookahead:3 in the paper")
    axes.set(xlabel="iteration", ylabel="Elo, random = 1000")
    axes.legend()
figure.savefig("figure_one_small.png")

# %% [markdown]
# ## The end of each training
#
# Here all four ended between 1425 and 1449, each with an interval of about 40 to either side: after a twelfth of the
# games neither nets nor M make a difference that shows. In the whole figure the large nets are 67 Elo better. One seed
# each: trainings that differ in the seed alone are up to 100 Elo apart.

# %%
for (net, depth), run in runs.items():
    rating = run.rating or {}
    print(f"{net} nets, M = {depth}:", {key: rating[key] and round(rating[key]) for key in ("elo", "low", "high")})

# %% [markdown]
# ## Against the opponent of the paper
#
# The paper says: with M = 2 the agent beats a search of three plies. After a twelfth of the games it does not yet: here
# it scored 0.31, 95% interval 0.26 to 0.36.

# %%
print(bz.battle(runs["large", 2].player(), "lookahead:3", games=400))
