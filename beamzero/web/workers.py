"""Who did the work of a run on a cluster, as a page shows it. What a line of metrics does not have is None."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

FIGURES = ("pieces", "pieces_per_second", "busy")


def crew_row(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The workers of an iteration taken together; None where there were none."""
    crew = _table(record.get("crew"))
    if not crew:
        return None
    spread = _table(crew.get("busy_by_worker"))
    return {
        **{key: finite(crew.get(key)) for key in ("alive", "wanted", "deaths", "twice", *FIGURES)},
        "least": finite(spread.get("least")), "most": finite(spread.get("most")),
    }  # fmt: skip


def list_workers(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """Each worker of an iteration, or each machine where there were too many; None where there were none."""
    crew = _table(record.get("crew"))
    if not crew:
        return None
    so_far = _table(crew.get("since_start"))
    machines = _table(crew.get("by_host"))
    rows = list(_workers(_table(crew.get("by_worker")))) or [_row(name, None, one) for name, one in machines.items()]
    return {
        "iteration": record["iteration"], "alive": finite(crew.get("alive")), "wanted": finite(crew.get("wanted")),
        "deaths": finite(so_far.get("deaths")), "twice": finite(so_far.get("twice")), "rows": rows,
    }  # fmt: skip


def _workers(by_machine: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for machine, workers in by_machine.items():
        for name, one in _table(workers).items():
            if isinstance(one, Mapping):
                yield _row(machine, name.removeprefix("worker_"), one)


def _row(machine: str, worker: str | None, one: Any) -> dict[str, Any]:
    figures = _table(one)
    found = {key: finite(figures.get(key)) for key in ("workers", *FIGURES)}
    return {"machine": machine, "worker": worker, **found}


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def finite(value: Any) -> float | None:
    """JSON has no word for what is not finite."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
