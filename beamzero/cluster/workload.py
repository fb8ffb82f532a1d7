"""Workload of each worker and machine of a cluster since the last line of the log. On disk, items are `pieces`."""

from __future__ import annotations

import collections
import re
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

MOST_NAMED = 64
"""Where there are more workers, or machines, they have no figures of their own: a line of a log must stay readable."""


class WorkerShare(NamedTuple):
    """The work of one worker since the line before."""

    number: int
    host: str
    items: int
    seconds: float
    """How long it worked, also on an item that is not done yet."""
    span: float
    """How long it could have worked."""


class Workload:
    """Asks for `facts` as `Pool.facts` gives them, and sums up the work since the last time."""

    def __init__(self, facts: Callable[[], Mapping[str, Any]], clock: Callable[[], float] = time.monotonic) -> None:
        self.facts, self.clock = facts, clock
        self.before, self.at = facts(), clock()

    def since_last(self) -> dict[str, Any]:
        """Sum up the work since the last call. `busy` is from 0 to 1: the share of their time that workers worked."""
        now, at, before = self.facts(), self.clock(), self.before
        span = max(at - self.at, 1e-9)
        shares = [_share(number, one, before, span) for number, one in now["by_worker"].items()]
        new = {key: now[key] - before[key] for key in ("pieces", "deaths", "twice")}
        self.before, self.at = now, at
        by_host = collections.defaultdict(list)
        for share in sorted(shares, key=lambda share: (share.host, share.number)):
            by_host[share.host].append(share)
        busy = sorted(share.seconds / share.span for share in shares) or [0.0]
        return {
            "alive": now["alive"], "wanted": now["wanted"], "deaths": new["deaths"], "twice": new["twice"],
            **_sums(new["pieces"], shares, span),
            "busy_by_worker": {
                "least": _short(busy[0]), "median": _short(statistics.median(busy)), "most": _short(busy[-1]),
            },
            "since_start": {key: now[key] for key in new},
            **({"by_host": _by_host(by_host, span)} if len(by_host) <= MOST_NAMED else {}),
            **({"by_worker": _by_worker(by_host, span)} if len(shares) <= MOST_NAMED else {}),
        }  # fmt: skip


def _share(number: int, now: Mapping[str, Any], facts: Mapping[str, Any], span: float) -> WorkerShare:
    before = facts["by_worker"].get(number, {"pieces": 0, "seconds": 0.0, "under_way": 0.0})
    could = max(min(span, now["age"]), 1e-9)
    worked = now["seconds"] + now["under_way"] - before["seconds"] - before["under_way"]
    # An item under way is timed here, one that is done by the worker, without the way there and back.
    return WorkerShare(number, _tag(now["host"]), now["pieces"] - before["pieces"], min(max(worked, 0.0), could), could)


def _by_host(by_host: Mapping[str, Sequence[WorkerShare]], span: float) -> dict[str, Any]:
    return {
        host: {"workers": len(shares), **_sums(sum(share.items for share in shares), shares, span)}
        for host, shares in by_host.items()
    }


def _by_worker(by_host: Mapping[str, Sequence[WorkerShare]], span: float) -> dict[str, Any]:
    """Sum up by machine and worker, so that a curve of TensorBoard says where a worker is."""
    return {
        host: {f"worker_{share.number}": _sums(share.items, [share], span) for share in shares}
        for host, shares in by_host.items()
    }


def _sums(items: int, shares: Sequence[WorkerShare], span: float) -> dict[str, float]:
    seconds, could = sum(share.seconds for share in shares), sum(share.span for share in shares)
    return {
        "pieces": items, "seconds": _short(seconds), "busy": _short(seconds / could if could else 0.0),
        "pieces_per_second": _short(items / span),
    }  # fmt: skip


def _tag(host: str) -> str:
    """Turn the name of a machine into a part of a tag of TensorBoard."""
    return re.sub(r"[^\w.-]", "_", host, flags=re.ASCII) or "unknown"


def _short(value: float) -> float:
    """Round to four digits."""
    return float(f"{value:.4g}")
