"""Strength by training time: the strength of one run's agent at several moments.

    python benchmarks/budget.py train kalah kalah_alphazero_quick --marks 30 60 120 300 600 --out runs/budget/kalah
    python benchmarks/budget.py collect runs/kalah --out runs/budget/kalah
    python benchmarks/budget.py measure runs/budget/kalah --against alphabeta:depth=5 --search sims=100 --json

`train` goes on with the run up to each mark, in seconds of training, and writes the agent of that moment; it can run on
another machine than `measure`, which lets each of them play one opponent with one look and with a search. A mark
that is passed on the way to the one before, or that comes after the recipe is done, has no agent. `collect` takes the
agents of a run's checkpoints instead, as many as it kept, rounded to 16 bits.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from beamzero.arena.battle import battle
from beamzero.core.spec import quote
from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.players.trained import load_trained
from beamzero.storage.agentfile import load_agent
from beamzero.storage.checkpoints import Checkpoints
from beamzero.storage.files import write_atomically
from beamzero.storage.metrics import read_metrics
from beamzero.storage.run import Run
from beamzero.training.recipes import find_recipe

FILE = "budget.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train")
    training.add_argument("game")
    training.add_argument("recipe")
    training.add_argument("--marks", type=float, nargs="+", default=[30, 60, 120, 300, 600])
    training.add_argument("--out", type=Path, required=True)
    collecting = commands.add_parser("collect")
    collecting.add_argument("run", type=Path)
    collecting.add_argument("--out", type=Path, required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("folder", type=Path)
    measuring.add_argument("--against", required=True)
    measuring.add_argument("--search", default="sims=100")
    measuring.add_argument("--games", type=int, default=200)
    measuring.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    {"train": train, "collect": collect, "measure": measure}[arguments.command](arguments)


def train(arguments: argparse.Namespace) -> None:
    """Train up to each mark, and write the agent of that moment."""
    run, folder = arguments.out / "run", arguments.out
    if run.exists():
        sys.exit(f"{run} is there already: give another folder")
    folder.mkdir(parents=True, exist_ok=True)
    moments: list[dict[str, float | str]] = []
    before, done = 0.0, 0
    for mark in sorted(arguments.marks):
        if before >= mark or done == find_recipe(arguments.recipe).settings["iterations"]:
            continue
        words = ["--resume"] if run.exists() else ["--recipe", arguments.recipe]
        _beamzero("train", arguments.game, "--run", str(run), "--minutes", str((mark - before) / 60), *words)
        records = read_metrics(run)
        if not records:
            continue  # the time was not enough for one iteration
        last = records[-1]
        before, done = last["total_seconds"], last["iteration"]
        name = f"agent-{mark:g}.safetensors"
        _beamzero("export", str(run), str(folder / name))
        moments.append({"agent": name, "seconds": last["total_seconds"], "iteration": last["iteration"]})
    _write(folder, run, moments)


def collect(arguments: argparse.Namespace) -> None:
    """Write the agents of the checkpoints that a run has kept."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    run = Run.open(arguments.run)
    game = make_game(run.about["game_text"])
    seconds = {record["iteration"]: record["total_seconds"] for record in read_metrics(arguments.run)}
    moments: list[dict[str, float | str]] = []
    for step in Checkpoints(run.checkpoints_folder, keep=1).steps():
        if step not in seconds:  # before the first iteration
            continue
        name = f"agent-{step}.safetensors"
        load_trained(str(arguments.run), game, str(step), algorithm=None).save(arguments.out / name, half=True)
        moments.append({"agent": name, "seconds": seconds[step], "iteration": step})
    _write(arguments.out, arguments.run, moments)


def _write(folder: Path, run: Path, moments: list[dict[str, float | str]]) -> None:
    about = Run.open(run).about
    record = {"game": about["game_text"], "recipe": about["recipe"], "device": about["device"], "moments": moments}
    write_atomically(folder / FILE, json.dumps(record, indent=1) + "\n")


def _beamzero(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "beamzero", *words], check=True, stdout=subprocess.DEVNULL)


def measure(arguments: argparse.Namespace) -> None:
    """Measure the score of the agent of each moment, with one look and with a search."""
    record = json.loads((arguments.folder / FILE).read_text())
    game = make_game(record["game"])
    opponent = make_player(arguments.against, game)
    for moment in record["moments"]:
        path = arguments.folder / moment["agent"]
        kind = load_agent(path)[1]["algorithm"]
        for title, options in (("one_look", ""), ("search", f",{arguments.search}")):
            found = battle(
                game, make_player(f"{kind}:{quote(str(path))}{options}", game), opponent, arguments.games, seed=0
            )
            moment[title] = {"score": found.score, "interval": [found.interval.low, found.interval.high]}
        if not arguments.json:
            scores = [f"{moment[title]['score']:.3f}" for title in ("one_look", "search")]
            print(f"{moment['seconds']:.0f} s, {moment['iteration']} iterations: {', '.join(scores)}", flush=True)
    if arguments.json:
        print(json.dumps({**record, "against": arguments.against, "search": arguments.search}))


if __name__ == "__main__":
    main()
