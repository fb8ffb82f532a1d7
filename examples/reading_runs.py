# %% [markdown]
# # Reading runs
#
# A run folder keeps metrics, settings and checkpoints. Here they become tables and curves. 1 minute on two cores.
#
# Tables are pandas DataFrames where pandas is installed (`pip install pandas`), and lists of dicts elsewhere.

# %% install
# # BEAMZERO is a checkout, a wheel or git+ADDRESS of the repository: the package is not in an index yet.
# BEAMZERO = ".."
# %pip install --quiet {BEAMZERO} pandas

# %%
from typing import Any

import matplotlib.pyplot as plt

import beamzero as bz

try:
    from pandas import DataFrame as table
except ImportError:
    table = list

# %% [markdown]
# ## Three runs
#
# They differ in one setting. `keep_checkpoints` says how many of the last ones stay.

# %%
runs = {
    f"E = {expand}": bz.train(
        "connect_four",
        bz.Probs(iterations=20, games=200, expand=expand, noise=0.1, value_net="mlp:width=64,depth=2"),
        folder=f"runs/reading/expand-{expand}",
        rate_every=4,
        rate_games=200,
        checkpoint_every=5,
        keep_checkpoints=10,
        resume=True,
    )
    for expand in (4, 8, 16)
}

# %% [markdown]
# A run that is there is opened by its folder.

# %%
run = bz.TrainingRun("runs/reading/expand-8")
print(run)

# %% [markdown]
# ## Metrics as a table
#
# One row for each iteration. `seconds` and `rating` hold dicts; take what you need.


# %%
def row(name: str, record: dict[str, Any]) -> dict[str, Any]:
    """Give one row of the table: the run, the iteration, losses, evaluations, seconds and rating."""
    kept = {key: record[key] for key in ("iteration", "value_loss", "q_loss", "evaluations")}
    elo = (record.get("rating") or {}).get("elo")
    return {"run": name, **kept, "seconds": sum(record["seconds"].values()), "elo": elo}


rows = [row(name, record) for name, run in runs.items() for record in run.metrics()]
print(table(rows[-5:]))

# %% [markdown]
# ## A row for each run

# %%
ends = [
    {
        "run": name,
        "expand": run.settings["expand"],
        "evaluations": sum(one["evaluations"] for one in rows if one["run"] == name),
        "seconds": sum(one["seconds"] for one in rows if one["run"] == name),
        "elo": (run.rating or {}).get("elo"),
    }
    for name, run in runs.items()
]
print(table(ends))

# %% [markdown]
# ## Several runs in one picture

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
for name in runs:
    own = [one for one in rows if one["run"] == name]
    rated = [one for one in own if one["elo"] is not None]
    left.plot([one["iteration"] for one in own], [one["q_loss"] for one in own], label=name)
    right.plot([one["iteration"] for one in rated], [one["elo"] for one in rated], marker=".", label=name)
left.set(xlabel="iteration", ylabel="loss of Q")
right.set(xlabel="iteration", ylabel="Elo, random = 1000")
left.legend()
figure.savefig("reading_runs.png")

# %% [markdown]
# ## Checkpoints rated
#
# Old checkpoints of a run play each other: does it still get better?

# %%
print(run.checkpoints)

# %%
ratings = bz.rate(*(run.player(checkpoint=step) for step in run.checkpoints), "lookahead:2", games=100)
print(ratings)

# %%
print(table(ratings.as_dicts()))
