"""Training runs, and the workers of those on a cluster, as plain data for pages. Missing figures are None."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.storage.folders import is_locked
from beamzero.storage.metrics import read_metrics
from beamzero.storage.run import Run, RunSummary
from beamzero.web.offers import Offers, checkpoints_of, title_of

_FIGURES = ("pieces", "pieces_per_second", "busy")


def describe_runs(offers: Offers) -> list[dict[str, Any]]:
    """Return all runs of the server's folder, the newest first."""
    return [_summary(name, run) for name, run in offers.list_runs().items()]


def _summary(name: str, run: RunSummary) -> dict[str, Any]:
    about = _about(run)
    rows = [] if run.damaged else read_metrics(run.folder)
    return {
        "id": name, "game": run.game, "title": title_of(run.game or "?"), "algorithm": run.algorithm,
        "recipe": about.get("recipe"), "iterations": run.iterations, "of": _length(about), "elo": _elo(run.rating),
        "seconds": rows[-1].get("total_seconds", 0.0) if rows else 0.0, "alive": is_locked(run.folder),
        "checkpoints": checkpoints_of(run), "damaged": "it cannot be read" if run.damaged else None,
    }  # fmt: skip


def run_rows(offers: Offers, name: str, after: int) -> dict[str, Any]:
    """Return the measurements of a run after an iteration, and the workers of the last one."""
    run = offers.run(name)
    if run.damaged:
        raise BadInput(f"run {name} cannot be read")
    records = read_metrics(run.folder)
    return {
        "rows": [_row(record) for record in records if record["iteration"] > after], "iterations": run.iterations,
        "of": _length(_about(run)), "alive": is_locked(run.folder),
        "workers": list_workers(records[-1]) if records else None,
    }  # fmt: skip


def _about(run: RunSummary) -> dict[str, Any]:
    return {} if run.damaged else Run.open(run.folder).about


def _length(about: dict[str, Any]) -> int | None:
    return about.get("settings", {}).get("iterations")


def _row(record: dict[str, Any]) -> dict[str, Any]:
    seconds = record.get("seconds", {})
    playing = seconds.get("self_play") if isinstance(seconds, dict) else None
    games = record.get("games")
    interval = record.get("gate_interval")
    return {
        "iteration": record["iteration"],
        "seconds": _finite(record.get("total_seconds")),
        "losses": {key: _finite(value) for key, value in record.items() if key == "loss" or key.endswith("_loss")},
        "games_per_second": _finite(games / playing) if games and playing else None,
        "elo": _elo(record.get("rating")),
        "gate": {"score": record.get("gate_score"), "low": interval[0], "high": interval[1]} if interval else None,
        "crew": workers_row(record),
    }


def _elo(rating: Any) -> dict[str, float | None] | None:
    if not isinstance(rating, dict) or "elo" not in rating:
        return None
    return {key: _finite(rating.get(key)) for key in ("elo", "low", "high")}


def workers_row(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the figures of all workers of an iteration together; None where there were none."""
    workers = _mapping(record.get("crew"))
    if not workers:
        return None
    spread = _mapping(workers.get("busy_by_worker"))
    return {
        **{key: _finite(workers.get(key)) for key in ("alive", "wanted", "deaths", "twice", *_FIGURES)},
        "least": _finite(spread.get("least")), "most": _finite(spread.get("most")),
    }  # fmt: skip


def list_workers(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a row for each worker of an iteration, or for each machine of many; None where there were none."""
    workers = _mapping(record.get("crew"))
    if not workers:
        return None
    so_far = _mapping(workers.get("since_start"))
    machines = _mapping(workers.get("by_host"))
    rows = list(_workers(_mapping(workers.get("by_worker")))) or [
        _worker_row(name, None, one) for name, one in machines.items()
    ]
    return {
        "iteration": record["iteration"], **{key: _finite(workers.get(key)) for key in ("alive", "wanted")},
        "deaths": _finite(so_far.get("deaths")), "twice": _finite(so_far.get("twice")), "rows": rows,
    }  # fmt: skip


def _workers(by_machine: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for machine, workers in by_machine.items():
        for name, one in _mapping(workers).items():
            if isinstance(one, Mapping):
                yield _worker_row(machine, name.removeprefix("worker_"), one)


def _worker_row(machine: str, worker: str | None, one: Any) -> dict[str, Any]:
    figures = _mapping(one)
    found = {key: _finite(figures.get(key)) for key in ("workers", *_FIGURES)}
    return {"machine": machine, "worker": worker, **found}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _finite(value: Any) -> float | None:
    """Return a finite number, or None, since JSON has no others."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
