# %% [markdown]
# # PROBS and AlphaZero side by side
#
# Both learn tic-tac-toe with nets of the same size and about the same number of evaluations, three times each. Then
# both are asked for their move in solved positions. 90 s on two cores.

# %% install
# # BEAMZERO is a checkout, a wheel or git+ADDRESS of the repository: the package is not in an index yet.
# BEAMZERO = ".."
# %pip install --quiet {BEAMZERO}

# %%
from itertools import accumulate

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import ttest_ind

import beamzero as bz

# %% [markdown]
# ## The two algorithms
#
# PROBS asks its nets about 34,000 positions an iteration, AlphaZero about 4,000. So AlphaZero has eight times the
# iterations. It also learns from each position many times, as it keeps old games; PROBS forgets them, so it makes
# sixteen passes over the new ones. With a single pass it erred in 20% of the positions.

# %%
NET = "mlp:width=64,depth=3"
ALGORITHMS = {
    "PROBS": bz.Probs(
        iterations=30,
        rate_every=3,
        games=100,
        expand=10,
        noise=0.1,
        value_passes=16,
        q_passes=16,
        value_net=NET,
        q_net=NET,
    ),
    "AlphaZero": bz.AlphaZero(iterations=240, rate_every=24, games=32, sims=25, c=2.0, batch_size=128, net=NET),
}
SEEDS = range(3)

# %%
runs = {
    (name, seed): bz.train("tic_tac_toe", algorithm, folder=f"runs/side-by-side/{name}-{seed}", seed=seed, resume=True)
    for name, algorithm in ALGORITHMS.items()
    for seed in SEEDS
}

# %% [markdown]
# ## Curves
#
# The rating against what was spent: evaluations of the nets on the left, seconds on the right. One line for each
# training.


# %%
def rated(run: bz.TrainingRun, spent: list[float]) -> tuple[list[float], list[float]]:
    """Give what was spent and the Elo rating, at each rating that is finite."""
    ratings = [(cost, record.get("rating")) for cost, record in zip(spent, run.metrics(), strict=True)]
    points = [(cost, rating["elo"]) for cost, rating in ratings if rating and rating["elo"] is not None]
    return [cost for cost, _ in points], [elo for _, elo in points]


figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
for (name, seed), run in runs.items():
    color, label = "C0" if name == "PROBS" else "C1", name if seed == 0 else None
    records = run.metrics()
    evaluations = list(accumulate(record["evaluations"] for record in records))
    seconds = list(accumulate(sum(record["seconds"].values()) for record in records))
    left.plot(*rated(run, evaluations), color=color, label=label)
    right.plot(*rated(run, seconds), color=color, label=label)
left.set(xlabel="evaluations", ylabel="Elo, random = 1000")
right.set(xlabel="seconds")
left.legend()
figure.savefig("probs_and_alphazero.png")

# %%
for name in ALGORITHMS:
    records = runs[name, 0].metrics()
    asked = sum(record["evaluations"] for record in records)
    took = sum(sum(record["seconds"].values()) for record in records)
    print(f"{name}: {asked:,} evaluations, {took:.1f} s")

# %% [markdown]
# ## Errors in solved positions
#
# Each agent makes one look at its net for a move, without a search.

# %%
scores = bz.score(*(run.player() for run in runs.values()))
print(scores)

# %% [markdown]
# ## What it means
#
# Here AlphaZero erred in 1.5% of the positions and PROBS in 3.5%; the difference is 2.0, 95% interval 0.9 to 3.2. So
# with a million evaluations on this small game AlphaZero errs less. Other games and settings may differ.
#
# A training is one sample, so the interval is over trainings (Welch's t), not over positions.

# %%
errors = [100 * row["all"] for row in scores.as_dicts()]
of_probs, of_alphazero = np.array(errors[: len(SEEDS)]), np.array(errors[len(SEEDS) :])
low, high = ttest_ind(of_probs, of_alphazero, equal_var=False).confidence_interval(0.95)
fewer = "PROBS errs less" if high < 0 else "AlphaZero errs less" if low > 0 else "no difference is shown"
print(
    f"{fewer}: PROBS errs in {of_probs.mean():.1f}% of the positions, AlphaZero in {of_alphazero.mean():.1f}%; "
    f"the difference is {of_probs.mean() - of_alphazero.mean():+.1f}, 95% interval {low:+.1f} to {high:+.1f}."
)
