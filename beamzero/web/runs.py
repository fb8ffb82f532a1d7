"""Training runs, as a page shows them."""

from __future__ import annotations

from typing import Any

from beamzero.core.errors import BadInput
from beamzero.storage.metrics import read_metrics
from beamzero.storage.run import Run, RunSummary, is_locked
from beamzero.web.offers import Offers, checkpoints_of, title_of
from beamzero.web.workers import crew_row, finite, list_workers


def list_runs(offers: Offers) -> list[dict[str, Any]]:
    """All runs of the server's folder, the newest first."""
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
    """What a run measured after an iteration, and who did the work of the last one."""
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
        "seconds": finite(record.get("total_seconds")),
        "losses": {key: finite(value) for key, value in record.items() if key == "loss" or key.endswith("_loss")},
        "games_per_second": finite(games / playing) if games and playing else None,
        "elo": _elo(record.get("rating")),
        "gate": {"score": record.get("gate_score"), "low": interval[0], "high": interval[1]} if interval else None,
        "crew": crew_row(record),
    }


def _elo(rating: Any) -> dict[str, float | None] | None:
    if not isinstance(rating, dict) or "elo" not in rating:
        return None
    return {key: finite(rating.get(key)) for key in ("elo", "low", "high")}
