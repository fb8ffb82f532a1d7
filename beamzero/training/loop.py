"""A training run from its first iteration to its last: checkpoints, metrics, ratings, and going on after a kill.

The numbers of an iteration depend on the state before it, the seed and its number, and on nothing else. So a run that
was killed and resumed from a checkpoint gives the numbers of a run that never stopped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

import jax
from jax import Array

from beamzero.core.errors import BadInput, RunStopped
from beamzero.games import Game, make_game
from beamzero.storage.checkpoints import Checkpoints
from beamzero.storage.interrupts import heeding_interrupts, uninterrupted
from beamzero.storage.metrics import Metrics, Mirror, is_rating
from beamzero.storage.run import Run
from beamzero.storage.wandb_log import WandbLog, check_wandb
from beamzero.training.algorithm import Algorithm, TrainingState
from beamzero.training.executor import LOCAL_EXECUTOR, Executor
from beamzero.training.measure import Measurements
from beamzero.training.pictures import RunPictures
from beamzero.training.recipes import describe_choice
from beamzero.training.report import NO_REPORT, Report
from beamzero.training.request import RunRequest, create_run, load_start, resume_run


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a run."""

    run: Run
    game: Game
    algorithm: Algorithm
    iterations: int
    seconds: float
    rating: dict[str, Any] | None
    interrupted: bool


def train(request: RunRequest, report: Report = NO_REPORT, executor: Executor = LOCAL_EXECUTOR) -> Outcome:
    """Train as requested. Ctrl-C saves the last finished iteration and returns; so does running out of minutes.

    The `executor` plays and searches; the numbers do not depend on which one it is.
    """
    game = make_game(request.game)
    if request.iterations is not None and request.iterations < 1:
        raise BadInput(f"iterations is {request.iterations}, but must be 1 or more")
    if request.minutes is not None and not request.minutes > 0:
        raise BadInput(f"minutes is {request.minutes}, but must be more than 0")
    if request.wandb is not None:
        check_wandb(request.wandb)
    run, algorithm, seed = resume_run(request, game) if request.resume else create_run(request, game)
    with (
        run.lock() as check_folder,
        Metrics(run.folder, report.message, _mirrors(request, run, report)) as metrics,
        heeding_interrupts() as ask_for_interrupt,
    ):
        if not run.sealed:
            report.message(
                f"{run.folder} is a run of beamzero 0.1, which sealed no files: they cannot be checked for damage"
                " and are used as they are; from now on they are sealed"
            )
            run = run.seal()
        if not request.resume and not request.changes:
            report.message(describe_choice(request.recipe, game, request.algorithm))
        if not request.resume and request.iterations is not None and request.iterations < algorithm.settings.iterations:
            planned, asked = algorithm.settings.iterations, request.iterations
            report.message(
                f"stops after {asked} of the {planned} iterations over which learning rates fall; the setting"
                f" iterations={asked} plans a whole training of {asked}"
            )
        training = _Training(request, run, algorithm, seed, executor, metrics, report, ask_for_interrupt, check_folder)
        return training.go()


def _mirrors(request: RunRequest, run: Run, report: Report) -> list[Mirror]:
    """Open what gets the numbers of the run besides its own files."""
    if request.wandb is None:
        return []
    log = WandbLog(request.wandb, run.folder, run.about, report.message)
    if log.url:
        report.message(f"the run at Weights & Biases: {log.url}")
    return [log]


@functools.partial(jax.jit, static_argnums=0)
def _init(algorithm: Algorithm, key: Array) -> TrainingState:
    """Make the first state; runs with equal settings share the program."""
    return algorithm.init(key)


@dataclasses.dataclass(eq=False)
class _Training:
    """One process's share of a run."""

    request: RunRequest
    run: Run
    algorithm: Algorithm
    seed: int
    executor: Executor
    metrics: Metrics
    report: Report
    ask_for_interrupt: Callable[[], None]
    """Raises KeyboardInterrupt if Ctrl-C was pressed."""
    check_folder: Callable[[], None]
    """Raises RunStopped if the run's folder is gone."""

    def __post_init__(self) -> None:
        request, self.game, self.settings = self.request, self.algorithm.game, self.algorithm.settings
        self.measurements = Measurements(self.run, self.algorithm, self.seed, self._phase, self.check_folder)
        self.pictures = RunPictures(self.run, self.report, self.check_folder) if request.pictures else None
        self.init_key, self.key = jax.random.split(jax.random.key(self.seed))
        self.checkpoints = Checkpoints(self.run.checkpoints_folder, self.settings.keep_checkpoints)
        self.until = request.iterations or self.settings.iterations
        self.deadline = None if request.minutes is None else time.monotonic() + 60 * request.minutes
        self.started = time.monotonic()
        self.saved: int | None = None
        self.rating: dict[str, Any] | None = None
        self.best: dict[str, Any] | None = None  # the iteration that was rated highest, and its Elo
        self.seconds_before = 0.0

    def go(self) -> Outcome:
        """Iterate until all is done, the time is over or Ctrl-C is pressed; then save."""
        self.state, self.done = self._first_state()
        interrupted = False
        recipe = self.run.about.get("recipe")
        title = f"{self.game.spec} by {self.algorithm.title}" + (f", {recipe}" if recipe else "")
        self.report.begin(title, self.done, self.until)
        try:
            if self.saved is None:
                self._save()
            self.measurements.find_anchors(self.request.anchors)
            while self.done < self.until and not self._out_of_time():
                self._iterate()
                self.ask_for_interrupt()
        except KeyboardInterrupt:
            interrupted = True
        except RunStopped:
            with contextlib.suppress(RunStopped):  # the disk may be what is full
                if self.saved != self.done:
                    self._save()
            raise
        if self.saved != self.done:
            self._save()
        if self.pictures:
            self.pictures.draw(final=True)
        return Outcome(self.run, self.game, self.algorithm, self.done, self._seconds(), self.rating, interrupted)

    def _iterate(self) -> None:
        """Do an iteration, measure its agent, write its line of metrics, and save a checkpoint where one is due."""
        state, record = self.algorithm.iterate(self.state, self.done, self.key, self._phase, executor=self.executor)
        _check_record(record, self.algorithm.title)
        done, rating, best = self.done + 1, self.rating, self.best
        record = {"iteration": done, **record}
        if facts := self.executor.facts():
            record["crew"] = facts
        last = done == self.until or self._out_of_time()
        every = self.settings.rate_every
        # The first iteration is rated too: where the curve begins, and so that nothing is left to compile later.
        if every and (done == 1 or done % every == 0 or last):
            record["rating"] = rating = self.measurements.rate(state, done)
            # An agent that never lost has only a lower bound.
            strength = rating["elo"] if rating["elo"] is not None else rating["low"]
            if strength is not None and (best is None or strength > best["elo"]):
                best = {"iteration": done, "elo": strength}
        if self.settings.climb_every and (done % self.settings.climb_every == 0 or last):
            record["climb"] = self.measurements.play_ladder(state, done)
        record["total_seconds"] = self._seconds()
        self.check_folder()
        # First the line, then the checkpoint: a kill between them costs a line that is written again.
        self.metrics.append(record)
        # All at once, so that Ctrl-C finds either the iteration before or this one.
        self.state, self.done, self.rating, self.best = state, done, rating, best
        if self._is_best() or done % self.settings.checkpoint_every == 0 or last:
            self._save()
        self.report.iteration(record)
        if self.pictures:
            self.pictures.draw()

    def _phase(self, name: str, done: int, total: int) -> None:
        self.ask_for_interrupt()
        self.report.phase(name, done, total)

    # --- beginning and going on ------------------------------------------------------------------------------------

    def _first_state(self) -> tuple[TrainingState, int]:
        """Make or restore the state that the run goes on from. Returns also the iterations that are done."""
        fresh = _init(self.algorithm, self.init_key)
        if self.checkpoints.steps():
            with uninterrupted():
                found = self.checkpoints.restore(fresh.as_tree(), warn=self.report.message)
            self.metrics.rewind(found.step)
            self.saved = found.step
            self.rating, self.best, self.seconds_before = _read_note(found.note, found.step)
            self.done = found.step
            self._mark_best()  # which a kill may have left undone
            return self.algorithm.from_tree(found.tree), found.step
        self.metrics.rewind(0)
        start_from = self.run.about["from"]
        if start_from is None:
            return fresh, 0
        return load_start(start_from, self.run.about["algorithm"], self.algorithm, fresh, self.report), 0

    def _save(self) -> None:
        self.report.phase("saving", 0, 1)
        note = {"rating": self.rating, "best": self.best, "seconds": self._seconds()}
        self.check_folder()
        with uninterrupted():
            self.checkpoints.save(self.done, self.state.as_tree(), note)
            self.saved = self.done
            self._mark_best()

    def _is_best(self) -> bool:
        return self.best is not None and self.best["iteration"] == self.done

    def _mark_best(self) -> None:
        if self._is_best() and self.checkpoints.best_step != self.done:
            self.checkpoints.mark_best(self.done)

    def _seconds(self) -> float:
        return self.seconds_before + time.monotonic() - self.started

    def _out_of_time(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline


def _check_record(record: Mapping[str, Any], title: str) -> None:
    """Raise RunStopped where an algorithm does not say what every line of metrics has."""
    missing = [name for name in ("games", "evaluations", "seconds") if name not in record]
    if missing:
        raise RunStopped(f"{title} does not say the {', '.join(missing)} of an iteration")


def _read_note(note: Mapping[str, Any], step: int) -> tuple[dict[str, Any] | None, dict[str, Any] | None, float]:
    """Read the last rating, the best iteration and the seconds before from the note of a checkpoint."""
    match note:
        case {"rating": rating, "best": dict() | None as best, "seconds": int() | float() as seconds}:
            whole = rating is None or (is_rating(rating) and "scores" in rating)
            if whole and (best is None or best.keys() == {"iteration", "elo"}):
                return rating, best, float(seconds)
    raise BadInput(f"checkpoint {step} does not say what a run must know to go on")
