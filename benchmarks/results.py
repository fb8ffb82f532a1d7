"""The page of results: measured by commands, kept as files, and written from those.

    python benchmarks/results.py run NAME...    # run the commands of results/NAME.toml and keep what they said
    python benchmarks/results.py page           # write docs/results.md from all that is kept

A section is a file of the folder results. NAME.toml has a title, a text about it, and the commands, which all end in
--json; NAME.json beside it holds what each of them said, on what machine, when, and how long it took. Figures that no
single command prints stand in NAME.md, with their command, machine and day in the text. Sections come by their names.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from beamzero.records.record import today
from beamzero.storage.files import write_atomically

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "results"
PAGE = ROOT / "docs" / "results.md"
HEAD = """# Results

<!-- Written by `python benchmarks/results.py page` from the folder results: change those files, not this one. -->

Measured figures, each with its command, machine and day. The one that most readers look for: `make train` takes
four minutes on 2 cores, without a GPU, and its agent scores 0.889 (0.868 to 0.908) against a search of three plies.

| question | section |
|---|---|
| How strong is the first agent I train? | [The quick recipe](#the-quick-recipe-2-cores) |
| What do one, two or five minutes of training buy? | [a table for each game](#what-training-time-buys) |
| How strong are the agents that ship? | [a page of their own](agents.md) |
| Does the PROBS paper's first figure come out again? | [yes](#the-probs-papers-first-figure-h200) |
| Its second figure? | [yes](#the-probs-papers-second-figure-h200) |
| The chess 6x6 of its readme? | [in part](#the-readmes-chess-6x6-h200) |
| Which one setting makes PROBS better? | [a table](#what-helps-probs-one-setting-changed-at-a-time-h200) |
| And all of them together? | [by 300 Elo](#what-helps-probs-all-of-it-together-h200) |
| PROBS or AlphaZero? | [a page of its own](alphazero.md#probs-and-alphazero-under-one-budget) |
| How fast are the rules? | [Games](#games) |
| How fast is the beam search? | [0.80 of its bare nets, or more](#the-beam-search-against-its-bare-nets) |
| How fast are the other searches? | [tree](#monte-carlo-tree-search), [classic](search.md) |
| How often is an agent wrong? | [solved positions](#how-often-is-it-wrong) |

Words used below:

- *2 cores*: a virtual machine with two cores of an x86-64 server CPU and no GPU. *H200*: one NVIDIA H200.
- *One look*: the agent plays by its net alone, without a search.
- *E* and *M*: how many nodes the beam search expands, and how deep ([probs.md](probs.md)).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    commands.add_parser("run").add_argument("names", nargs="+")
    commands.add_parser("page")
    arguments = parser.parse_args()
    if arguments.what == "run":
        for name in arguments.names:
            run(name)
    write_atomically(PAGE, page())


def run(name: str) -> None:
    """Run a section's commands, and keep what they said once the last one is through."""
    section = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    measured = []
    for command in section["commands"]:
        print(command, flush=True)
        before = time.perf_counter()
        program, *words = shlex.split(command)
        words = [sys.executable, *words] if program == "python" else [sys.executable, "-m", program, *words]
        said = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
        seconds, result = round(time.perf_counter() - before, 1), json.loads(said.splitlines()[-1])
        measured.append({"command": command, "date": today(), "seconds": seconds, "result": result})
    here = machine()  # asked last: a GPU that this process holds is none for the commands
    measured = [{"command": entry["command"], "machine": here, **entry} for entry in measured]
    write_atomically(FOLDER / f"{name}.json", json.dumps(measured, indent=1) + "\n")


def machine() -> str:
    """Name a machine for the page: by its GPU, or its cores."""
    import jax

    device = jax.devices()[0]
    if device.platform != "cpu":
        return str(device.device_kind).removeprefix("NVIDIA ")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    processor = "" if platform.machine() == "x86_64" else f" ({platform.machine()})"
    return f"{cores} cores{processor}"


# --- the page --------------------------------------------------------------------------------------------------------


def page() -> str:
    names = sorted(path.stem for path in FOLDER.iterdir() if path.suffix in (".md", ".json"))
    return "\n".join([HEAD, *("\n".join(_section(name)) + "\n" for name in names)]).rstrip() + "\n"


def _section(name: str) -> Iterator[str]:
    if (FOLDER / f"{name}.md").exists():
        yield (FOLDER / f"{name}.md").read_text().rstrip()
        return
    about = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    measured = json.loads((FOLDER / f"{name}.json").read_text())
    yield f"## {about['title']}"
    if "about" in about:
        yield f"\n{about['about'].strip()}"
    yield ""
    yield from _TABLES[about["kind"]](measured)
    yield ""
    for place in sorted({(entry["machine"], entry["date"]) for entry in measured}):
        seconds = sum(entry["seconds"] for entry in measured if (entry["machine"], entry["date"]) == place)
        yield f"{place[0]}, {place[1]}, {seconds:.0f} s with compilation:\n"
        yield from (f"    {e['command']}" for e in measured if (e["machine"], e["date"]) == place)


def _row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _battles(measured: list[dict[str, Any]]) -> Iterator[str]:
    yield _row("", "score", "95% interval", "wins, draws, losses", "openings")
    yield "|---|---|---|---|---|"
    for entry in measured:
        found = entry["result"]
        low, high = found["interval"]
        tally = f"{found['wins']}, {found['draws']}, {found['losses']}"
        title = f"`{found['agents'][0]}` v `{found['agents'][1]}`"
        title += f", {found['game']}" if len({e["result"]["game"] for e in measured}) > 1 else ""
        opened = f"{found['openings']} of {found['random_plies']} plies"
        yield _row(title, f"{found['score']:.3f}", f"{low:.3f} to {high:.3f}", tally, opened)


def _elo(elo: float | None, low: float | None, high: float | None) -> tuple[str, str]:
    """Write a rating and its interval, or the bound of an agent that won or lost every game."""
    if elo is None:
        return "", f"{low:.0f} or more" if low is not None else f"at most {high:.0f}" if high is not None else ""
    return f"{elo:.0f}", f"{low:.0f} to {high:.0f}"


def _ratings(measured: list[dict[str, Any]]) -> Iterator[str]:
    for entry in measured:
        yield _row(entry["result"]["game"], "Elo", "95% interval", "score", "games")
        yield "|---|---|---|---|---|"
        for found in entry["result"]["ratings"]:
            elo = _elo(found["elo"], found["low"], found["high"])
            yield _row(f"`{found['agent']}`", *elo, f"{found['score']:.3f}", found["games"])
        yield ""


def _scores(measured: list[dict[str, Any]]) -> Iterator[str]:
    for entry in measured:
        found = entry["result"]
        classes = list(found["scores"][0]["classes"])
        yield _row(f"{found['game']}: errors, %", *classes, "all", "95% interval", "ms a move")
        yield "|---" * (len(classes) + 4) + "|"
        for row in found["scores"]:
            shares = [f"{100 * row['classes'][name]['rate']:.1f}" for name in classes]
            low, high = (100 * bound for bound in row["interval"])
            rest = (f"{100 * row['rate']:.2f}", f"{low:.2f} to {high:.2f}", f"{row['milliseconds']:.3g}")
            yield _row(f"`{row['agent']}`", *shares, *rest)
        yield ""


def _seconds(measured: list[dict[str, Any]]) -> Iterator[str]:
    """Write the figures of a command as rows of name and number."""
    for entry in measured:
        yield _row("", "")
        yield "|---|---|"
        yield from (_row(key, value) for key, value in entry["result"].items())


def _studies(measured: list[dict[str, Any]]) -> Iterator[str]:
    """Write the result of `beamzero reproduce`: the opponents, then the groups of trainings with their trials."""
    for entry in measured:
        found = entry["result"]
        for game, ratings in found["anchors"].items():
            yield _row(f"opponents in {game}", "Elo", "95% interval", "published")
            yield "|---|---|---|---|"
            for name, rating in ratings.items():
                yield _row(f"`{name}`", *_elo(*rating), found["published_anchors"].get(name, ""))
            yield ""
        heads = []
        for name, trial in found["groups"][0]["trials"].items():
            published = "" if trial["published"] is None else f" ({trial['published']} published)"
            heads.append(f"{trial['measures']}, {name}{published}")
        yield _row("", "trainings", "Elo at the end", *heads, "turns a game")
        yield "|---" * (len(heads) + 4) + "|"
        for group in found["groups"]:
            scores = [
                f"{one['value']:.3f}, {one['interval'][0]:.3f} to {one['interval'][1]:.3f}"
                for one in group["trials"].values()
            ]
            elo, interval = _elo(group["elo"], *group["interval"])
            yield _row(group["group"], group["trainings"], f"{elo}, {interval}", *scores, f"{group['mean_turns']:.1f}")
        yield ""


def _budgets(measured: list[dict[str, Any]]) -> Iterator[str]:
    """Write the result of `benchmarks/budget.py measure`."""
    for entry in measured:
        found = entry["result"]
        where = "two cores" if found["device"] == "cpu" else found["device"].removeprefix("NVIDIA ")
        title = f"{found['game']} by {found['recipe']}, {where}"
        yield _row(title, "iterations", f"one look against {found['against']}", f"with {found['search']}")
        yield "|---|---|---|---|"
        for moment in found["moments"]:
            scores = [
                f"{moment[how]['score']:.3f}, {moment[how]['interval'][0]:.3f} to {moment[how]['interval'][1]:.3f}"
                for how in ("one_look", "search")
            ]
            yield _row(f"{moment['seconds']:.0f} s", moment["iteration"], *scores)
        yield ""


_TABLES = {
    "battles": _battles,
    "ratings": _ratings,
    "scores": _scores,
    "figures": _seconds,
    "studies": _studies,
    "budgets": _budgets,
}

if __name__ == "__main__":
    main()
