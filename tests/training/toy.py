"""Runs that are small enough to be made many times over, and what must be equal in two of them."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np

from beamzero.games import make_game
from beamzero.storage.checkpoints import Checkpoints
from beamzero.storage.metrics import read_metrics
from beamzero.storage.run import Run
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.executor import LOCAL_EXECUTOR, Executor
from beamzero.training.loop import Outcome, train
from beamzero.training.recipes import make_settings
from beamzero.training.report import NO_REPORT, Report
from beamzero.training.request import RunRequest

ROOT = Path(__file__).resolve().parents[2]
GAME = "tic_tac_toe"
NET = "mlp:width=16,depth=2"
_EVERY_RUN: dict[str, Any] = {
    "iterations": 8,
    "games": 8,
    "rate_every": 2,
    "rate_games": 8,
    "rate_against": "random lookahead:1",
    "anchor_games": 8,
}
TOYS: dict[str, dict[str, Any]] = {
    "probs": {
        **_EVERY_RUN,
        "expand": 3,
        "search_batch": 32,
        "value_net": NET,
        "q_net": NET,
        "value_batch_size": 32,
        "q_batch_size": 32,
    },
    "alphazero": {
        **_EVERY_RUN,
        "window": 150,
        "sims": 4,
        "net": NET,
        "batch_size": 16,
        "batches": 4,
    },
}
"""Small settings for each algorithm."""
SETTINGS = TOYS["probs"]


def settings(algorithm: str = "probs", **changes: Any) -> Any:
    return make_settings(None, {**TOYS[algorithm], **changes}, algorithm)


def request(folder: Path, **changes: Any) -> RunRequest:
    """`changes` are fields of RunRequest; those that are none are settings."""
    fields = {key: changes.pop(key) for key in list(changes) if key in RunRequest.__dataclass_fields__}
    if fields.get("resume"):
        return RunRequest(GAME, folder, changes=changes, **fields)
    toy = TOYS[fields.get("algorithm") or "probs"]
    return RunRequest(**{"game": GAME, "folder": folder, "changes": {**toy, **changes}, **fields})


def run_toy(folder: Path, report: Report = NO_REPORT, executor: Executor = LOCAL_EXECUTOR, **changes: Any) -> Outcome:
    """Without pictures, unless they are asked for: to draw them takes as long as to train."""
    return train(request(folder, **{"pictures": False, **changes}), report, executor)


def command(folder: Path, *more: str, algorithm: str = "probs", **changes: Any) -> list[str]:
    """The same as words of a command line."""
    chosen = changes if "--resume" in more else {**TOYS[algorithm], **changes}
    more = more if algorithm == "probs" else (*more, "--algo", algorithm)
    sets = [word for key, value in chosen.items() for word in ("--set", f"{key}={value}")]
    recipe = () if "--resume" in more or "--recipe" in more else ("--recipe", "none")
    return ["train", GAME, "--run", str(folder), *recipe, *sets, *more]


_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from beamzero.cli import main
sys.exit(main(sys.argv[2:]))
"""


def start(words: list[str], largest_file: int | None = None) -> subprocess.Popen[str]:
    """``python -m beamzero`` in a process of its own, which may be kept from writing files above a size."""
    how = ["-m", "beamzero"] if largest_file is None else ["-c", _LIMITED, str(largest_file)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, *how, *words], cwd=ROOT, text=True, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe
    )


def saved_tree(folder: Path, step: int | None = None) -> tuple[int, Any, dict[str, Any]]:
    """The step, the arrays and the note of a checkpoint, the last by default."""
    about = Run.open(folder).about
    made = make_settings(None, about["settings"], about["algorithm"])
    algorithm = ALGORITHMS[about["algorithm"]](make_game(GAME), made)
    like = jax.eval_shape(algorithm.init, jax.random.key(0)).as_tree()
    step, tree, note = Checkpoints(folder / "checkpoints", keep=1).restore(like, step)
    return step, jax.tree.map(np.asarray, tree), note


def same_bits(one: Any, other: Any) -> bool:
    """Whether two nests of arrays are equal bit for bit."""
    if jax.tree.structure(one) != jax.tree.structure(other):
        return False
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)


def numbers(folder: Path) -> list[dict[str, Any]]:
    """The lines of metrics, less what a clock says."""
    records = read_metrics(folder)
    return [{k: v for k, v in record.items() if k not in ("seconds", "total_seconds", "crew")} for record in records]


def assert_same_run(one: Path, other: Path) -> None:
    """The same numbers, no line twice, the same last weights and optimizer, the same checkpoints and best one."""
    assert numbers(one) == numbers(other)
    assert [record["iteration"] for record in numbers(one)] == list(range(1, len(numbers(one)) + 1))
    (step, tree, note), (other_step, other_tree, other_note) = saved_tree(one), saved_tree(other)
    assert step == other_step
    assert same_bits(tree, other_tree)
    assert [note[key] for key in ("rating", "best")] == [other_note[key] for key in ("rating", "best")]
    kept, other_kept = (Checkpoints(folder / "checkpoints", keep=1) for folder in (one, other))
    assert (kept.steps(), kept.best_step) == (other_kept.steps(), other_kept.best_step)
    assert (one / "anchors.json").read_text() == (other / "anchors.json").read_text()


def tree_hash(folder: Path) -> str:
    """Changes with any name or byte below a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(f"{path.relative_to(folder)} {path.is_dir()}".encode())
        digest.update(b"" if path.is_dir() else hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def flip_a_byte(folder: Path, step: int) -> None:
    """Damage the weights of one checkpoint."""
    path = max(folder.glob(f"checkpoints/{step:08d}-1/tree/**/d/*"), key=lambda path: path.stat().st_size)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
