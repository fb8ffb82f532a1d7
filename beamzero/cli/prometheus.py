"""Metrics of a training run for Prometheus, served for as long as the command runs."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from beamzero.core.errors import BadInput
from beamzero.storage.metrics import read_metrics
from beamzero.storage.run import Run
from beamzero.training.report import Report, losses

Prometheus = Annotated[
    str | None,
    typer.Option(
        metavar="[HOST:]PORT",
        help="Serve the run's numbers to Prometheus while it goes on, at http://HOST:PORT/metrics; by default the host "
        "is 127.0.0.1, and port 0 is any that is free.",
    ),
]

HERE = "127.0.0.1"

Values = Mapping[tuple[str, ...], float]
"""The values of a metric, by the values of its labels."""

_COUNTS = {
    "games": ("games", "Games played"),
    "states": ("states", "States that were played"),
    "searched": ("searched_states", "States that were searched after the games"),
    "evaluations": ("evaluations", "Evaluations that searches asked for"),
}
"""Counts of a record, by their keys: the metric's name and its meaning."""


@contextlib.contextmanager
def metrics_at(address: str | None, say: Callable[[str], None]) -> Iterator[Any]:
    """Yield a registry of metrics that is served at `address` until the block ends; None without an address."""
    if address is None:
        yield None
        return
    host, port = split_address(address)
    try:
        from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
    except ImportError:
        raise BadInput("--prometheus needs prometheus-client: pip install 'beamzero[cluster]'") from None
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    try:
        server, thread = start_http_server(port, host, registry)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"cannot serve metrics at {address}: {why.lower()}") from None
    try:
        shown = f"[{host}]" if ":" in host else host
        say(f"metrics for Prometheus are at http://{shown}:{server.server_port}/metrics")
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def split_address(text: str) -> tuple[str, int]:
    """Read the host and the port of ``PORT``, ``HOST:PORT`` or ``[::1]:PORT``."""
    found = re.fullmatch(r"(?:(?:\[([^\[\]]+)\]|([^\[\]:]+)):)?([0-9]{1,5})", text)
    if found is None or int(found[3]) > 65535:
        raise BadInput(f"--prometheus is PORT or HOST:PORT, with a port from 0 to 65535, and not {text!r}")
    return found[1] or found[2] or HERE, int(found[3])


class PrometheusReport(Report):
    """Keeps the numbers of the run in `folder` for Prometheus, and passes everything on to the display.

    Counts are those of the whole run, before it was resumed too. `workers` is asked how they are at every scrape; it
    answers as `Pool.facts` does.
    """

    def __init__(
        self, display: Report, registry: Any, folder: Path, workers: Callable[[], Mapping[str, Any]] | None = None
    ) -> None:
        self.display, self.folder, self.workers = display, folder, workers
        self.labels: dict[str, str] = {}
        """Labels of all metrics; empty before the run begins, when there are no metrics yet."""
        self.done = self.planned = 0
        self.done_at: float | None = None
        self.last: Mapping[str, Any] = {}
        self.rating: Mapping[str, Any] = {}
        self.counts: dict[str, int] = {}
        self.phases: dict[str, float] = {}
        self.lock = threading.Lock()
        registry.register(self)

    def begin(self, title: str, done: int, total: int) -> None:
        about = Run.open(self.folder).about
        with self.lock:
            self.labels = {"game": about["game"], "algorithm": about["algorithm"], "run": str(self.folder)}
            self.done, self.planned = done, total
            for record in read_metrics(self.folder):
                self._add(record)
        self.display.begin(title, done, total)

    def phase(self, name: str, done: int, total: int) -> None:
        self.display.phase(name, done, total)

    def iteration(self, record: Mapping[str, Any]) -> None:
        with self.lock:
            self._add(record)
            self.done, self.done_at = record["iteration"], time.time()
        self.display.iteration(record)

    def message(self, text: str) -> None:
        self.display.message(text)

    def _add(self, record: Mapping[str, Any]) -> None:
        self.last, self.rating = record, record.get("rating") or self.rating
        for key in _COUNTS.keys() & record.keys():
            self.counts[key] = self.counts.get(key, 0) + record[key]
        for phase, seconds in record.get("seconds", {}).items():
            self.phases[phase] = self.phases.get(phase, 0.0) + seconds

    # --- in a thread of the server -----------------------------------------------------------------------------------

    def collect(self) -> Iterator[Any]:
        """Yield all metrics as they are now; the registry calls it at every scrape."""
        with self.lock:
            if not self.labels:
                return
            found = list(self._of_run())
        yield from found
        if self.workers is not None:
            yield from self._of_workers(self.workers())

    def _of_run(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        gauges = {
            "iterations": ("Iterations done", self.done),
            "iterations_planned": ("Iterations that the run goes to", self.planned),
            "last_iteration_timestamp_seconds": ("When the last iteration was done", self.done_at),
            "training_seconds": ("Seconds of training in all", self.last.get("total_seconds")),
            "elo": ("The last rating", self.rating.get("elo")),
            "elo_low": ("Lower end of its 95% interval", self.rating.get("low")),
            "elo_high": ("Upper end of its 95% interval", self.rating.get("high")),
        }
        for name, (text, value) in gauges.items():
            if value is not None:
                yield self._family(GaugeMetricFamily, name, text, {(): value})
        for key, (name, text) in _COUNTS.items():
            if key in self.counts:
                yield self._family(CounterMetricFamily, name, text, {(): self.counts[key]})
        phases: Values = {(phase,): seconds for phase, seconds in self.phases.items()}
        yield self._family(CounterMetricFamily, "phase_seconds", "Seconds by what was done", phases, "phase")
        by_net: Values = {(name,): loss for name, loss in losses(self.last).items()}
        yield self._family(GaugeMetricFamily, "loss", "Losses of the last iteration", by_net, "name")

    def _of_workers(self, facts: Mapping[str, Any]) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        yield self._family(GaugeMetricFamily, "workers_wanted", "Workers asked for", {(): facts["wanted"]})
        yield self._family(GaugeMetricFamily, "workers_alive", "Workers that live", {(): facts["alive"]})
        for name, key, text in (
            ("worker_deaths", "deaths", "Workers that died since the command began"),
            ("pieces", "pieces", "Pieces of work done, by the dead too"),
            ("pieces_twice", "twice", "Pieces that were done for a second time, for nothing"),
        ):
            yield self._family(CounterMetricFamily, name, text, {(): facts[key]})
        for name, key, text in (
            ("worker_pieces", "pieces", "Pieces of work that a worker did"),
            ("worker_busy_seconds", "seconds", "Seconds that it took for them"),
        ):
            values: Values = {(str(number), one["host"]): one[key] for number, one in facts["by_worker"].items()}
            yield self._family(CounterMetricFamily, name, text, values, "worker", "host")

    def _family(self, kind: Callable[..., Any], name: str, text: str, values: Values, *labels: str) -> Any:
        """Make a metric with the labels of the run and then its own."""
        family = kind(f"beamzero_{name}", f"{text}.", labels=[*self.labels, *labels])
        for own, value in values.items():
            family.add_metric([*self.labels.values(), *own], value)
        return family
