"""The cost of the tests: seconds, memory, compilations, and the tests that cost most.

    python benchmarks/test_cost.py [test | test-all | PATH ...] [--warm] [--dearest 20] [--by-file] [--coverage]

Runs `make test`, `make test-all` or the tests of some files in one process, with this file as a plugin of pytest, on an
empty compilation cache (with --warm on the checkout's own), and prints a table. CPU seconds are those of the whole
machine, so let it do nothing else; those of a test count the processes that it waited for. Programs are those that its
own process compiled, or read from the cache. With --coverage the lines of the package that ran are counted too, which
makes everything slower: take the seconds from another call.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "BEAMZERO_TEST_COST"  # in the environment: where the plugin writes what it has measured

# --- the plugin, in each process that runs tests ----------------------------------------------------------------------


class Meter:
    """Writes a line of JSON for each test."""

    EVENTS: ClassVar = {  # what JAX calls what it does, and what it is called here
        "/jax/compilation_cache/cache_misses": "compiled",
        "/jax/compilation_cache/cache_hits": "read",
    }

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts: collections.Counter[str] = collections.Counter()
        from jax import monitoring

        monitoring.register_event_listener(self._count)

    def _count(self, event: str, **_: Any) -> None:
        if event in self.EVENTS:
            self.counts[self.EVENTS[event]] += 1

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        wall, times, counts = time.monotonic(), sum(os.times()[:4]), self.counts.copy()
        result = yield
        line = {
            "test": item.nodeid,
            "began": wall,
            "seconds": time.monotonic() - wall,
            "cpu": sum(os.times()[:4]) - times,
            "tier": next((mark for mark in ("slow", "external") if item.get_closest_marker(mark)), ""),
            **{name: self.counts[name] - counts[name] for name in self.EVENTS.values()},
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return result


def pytest_configure(config: pytest.Config) -> None:
    worker = getattr(config, "workerinput", {}).get("workerid", "main")
    if worker != "main" or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Meter(Path(os.environ[FOLDER]) / f"{worker}.jsonl"))


# --- the command ------------------------------------------------------------------------------------------------------


def main() -> int:
    from processes import describe, print_peak, run

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", default=["test"], help="test, test-all, or files and folders with tests")
    parser.add_argument("--warm", action="store_true", help="use what was compiled before")
    parser.add_argument("--dearest", type=int, default=20, metavar="N", help="how many of the dearest tests to name")
    parser.add_argument("--by-file", action="store_true", help="name files instead of tests")
    parser.add_argument("--coverage", action="store_true", help="count the lines of the package that ran")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, FOLDER: name, "PYTHONPATH": os.pathsep.join(_python_path())}
        if not arguments.warm:
            environment["JAX_COMPILATION_CACHE_DIR"] = str(folder / "cache")
        words = ["-p", "test_cost"]
        if arguments.coverage:
            words += ["--cov=beamzero", "--cov-report=term:skip-covered", "--cov-append"]
            (ROOT / ".coverage").unlink(missing_ok=True)
        usage = run(_command(arguments.tests, words), environment)
        tests = [json.loads(line) for path in folder.glob("*.jsonl") for line in path.open(encoding="utf-8")]
    print()
    print(f"{' '.join(arguments.tests)}, {'warm' if arguments.warm else 'cold'}: {describe(usage)}")
    print_peak(usage)
    for test in tests:
        if 0 <= usage.peak_moment - test["began"] <= test["seconds"]:
            print(f"    in {test['test']}")
    for tier, title in (("", "make test"), ("slow", "slow"), ("external", "external")):
        print_sums(title, [test for test in tests if test["tier"] == tier])
    print_dearest(by_file(tests) if arguments.by_file else tests, arguments.dearest)
    return usage.status


def _python_path() -> list[str]:
    """Return a PYTHONPATH with which pytest finds this file."""
    return [str(ROOT / "benchmarks"), *filter(None, [os.environ.get("PYTHONPATH")])]


def _command(tests: list[str], words: list[str]) -> list[str]:
    if tests in (["test"], ["test-all"]):
        return ["make", "-C", str(ROOT), *tests, f"ARGS={' '.join(words)}"]
    return [sys.executable, "-m", "pytest", "-q", *words, *tests]


def print_sums(title: str, tests: list[dict[str, Any]]) -> None:
    """Print one line about the tests of a tier."""
    if tests:
        cpu, compiled, read = (sum(test[name] for test in tests) for name in ("cpu", "compiled", "read"))
        print(f"  {title}: {len(tests)} tests, {cpu:.0f} CPU seconds, {compiled} programs compiled, {read} read")


def by_file(tests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sum up the cost of the tests of each file."""
    files: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for test in tests:
        figures = {key: value for key, value in test.items() if key not in ("test", "tier", "began")}
        files[test["test"].split("::")[0]].update(figures)
    return [{"test": file, "tier": "", **sums} for file, sums in files.items()]


def print_dearest(tests: list[dict[str, Any]], number: int) -> None:
    """Print the rows that cost most, as a table."""
    print()
    print("| CPU seconds | seconds | compiled | read | tier | test |")
    print("| ---: | ---: | ---: | ---: | --- | --- |")
    for test in sorted(tests, key=lambda test: -test["cpu"])[:number]:
        figures = f"{test['cpu']:.1f} | {test['seconds']:.1f} | {test['compiled']} | {test['read']}"
        print(f"| {figures} | {test['tier']} | {test['test']} |")


if __name__ == "__main__":
    sys.exit(main())
