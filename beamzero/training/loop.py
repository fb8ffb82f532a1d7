"""A training run from its first iteration to its last: checkpoints, metrics, ratings, and going on after a kill.

The numbers of an iteration depend on the state before it, the seed and its number, and on nothing else. So a run that
was killed and resumed from a checkpoint gives the numbers of a run that never stopped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.arena.ladder import climb
from beamzero.arena.round_robin import measure_anchors, rate_against_anchors
from beamzero.core.errors import BadInput, RunStopped
from beamzero.games import Game, make_game
from beamzero.players import Player
from beamzero.plots.png import write_png
from beamzero.plots.training import draw_climbs, draw_gates, draw_training
from beamzero.storage.checkpoints import Checkpoints
from beamzero.storage.files import reason, write_atomically, writing
from beamzero.storage.interrupts import heeding_interrupts, uninterrupted
from beamzero.storage.metrics import Metrics, is_rating, read_metrics
from beamzero.storage.run import Run
from beamzero.storage.seal import seal, unseal
from beamzero.training.algorithm import ALGORITHMS, Algorithm, TrainingState
from beamzero.training.executor import LOCAL_EXECUTOR, Executor
from beamzero.training.report import QUIET, Report, losses
from beamzero.training.request import RunRequest, create_run, load_start, make_opponents, make_rungs, resume_run

_SECONDS_BETWEEN_PLOTS = 20.0


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


def train(request: RunRequest, report: Report = QUIET, executor: Executor = LOCAL_EXECUTOR) -> Outcome:
    """Train as requested. Ctrl-C saves the last finished iteration and returns; so does running out of minutes.

    The `executor` plays and searches; the numbers do not depend on who that is.
    """
    game = make_game(request.game)
    if request.iterations is not None and request.iterations < 1:
        raise BadInput(f"iterations is {request.iterations}, but must be 1 or more")
    if request.minutes is not None and not request.minutes > 0:
        raise BadInput(f"minutes is {request.minutes}, but must be more than 0")
    run, algorithm, seed = resume_run(request, game) if request.resume else create_run(request, game)
    rungs = make_rungs(algorithm.settings, game)
    with (
        run.lock() as check_folder,
        Metrics(run.folder, warn=report.message) as metrics,
        heeding_interrupts() as ask_for_interrupt,
    ):
        if not run.sealed:
            report.message(
                f"{run.folder} is a run of beamzero 0.1, which sealed no files: they are believed, and sealed"
            )
            run = run.seal()
        training = _Training(
            request, run, algorithm, seed, rungs, metrics, report, ask_for_interrupt, executor, check_folder
        )
        return training.go()


@functools.partial(jax.jit, static_argnums=0)
def _init(algorithm: Algorithm, key: Array) -> TrainingState:
    """The first state; runs with equal settings share the program."""
    return algorithm.init(key)


def _compile(game: Game, rungs: Sequence[Player]) -> None:
    """Compile every rung's program, since the higher ones may only be reached late in a run.

    They are asked about the two games of a rung, but have the move in neither, so that none of them searches.
    """
    keys = jax.random.split(jax.random.key(0), 2)
    states, turn = jax.vmap(game.init)(keys), jnp.zeros(2, jnp.bool_)
    for rung in rungs:
        rung.choose(states, turn, keys[0])


class _Training:
    """One process's share of a run."""

    def __init__(
        self,
        request: RunRequest,
        run: Run,
        algorithm: Algorithm,
        seed: int,
        rungs: Sequence[Player],
        metrics: Metrics,
        report: Report,
        ask_for_interrupt: Callable[[], None],
        executor: Executor,
        check_folder: Callable[[], None],
    ) -> None:
        self.game, self.settings = algorithm.game, algorithm.settings
        self.run, self.algorithm, self.seed, self.rungs = run, algorithm, seed, rungs
        self.metrics, self.report, self.ask_for_interrupt = metrics, report, ask_for_interrupt
        self.executor, self.check_folder = executor, check_folder
        self.init_key, self.key = jax.random.split(jax.random.key(seed))
        self.checkpoints = Checkpoints(run.checkpoints_folder, self.settings.keep_checkpoints)
        self.known_anchors, self.pictures = request.anchors, request.pictures
        self.until = request.iterations or self.settings.iterations
        self.deadline = None if request.minutes is None else time.monotonic() + 60 * request.minutes
        self.started = time.monotonic()
        self.saved: int | None = None
        self.rating: dict[str, Any] | None = None
        self.best: dict[str, Any] | None = None  # the iteration that was rated highest, and its Elo
        self.seconds_before = 0.0
        self.last_plot = time.monotonic()
        self.climbed = self.warned_of_picture = False

    def go(self) -> Outcome:
        self.state, self.done = self._first_state()
        interrupted = False
        recipe = self.run.about.get("recipe")
        title = f"{self.game.spec} by {self.algorithm.title}" + (f", {recipe}" if recipe else "")
        self.report.begin(title, self.done, self.until)
        try:
            if self.saved is None:
                self._save()
            opponents, anchors = self._anchors()
            while self.done < self.until and not self._out_of_time():
                self._iterate(opponents, anchors)
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
        self._plot(final=True)
        return Outcome(self.run, self.game, self.algorithm, self.done, self._seconds(), self.rating, interrupted)

    def _iterate(self, opponents: Sequence[Player], anchors: dict[str, float]) -> None:
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
            record["rating"] = rating = self._rate(state, done, opponents, anchors)
            # An agent that never lost has only a lower bound.
            strength = rating["elo"] if rating["elo"] is not None else rating["low"]
            if strength is not None and (best is None or strength > best["elo"]):
                best = {"iteration": done, "elo": strength}
        if self.settings.climb_every and (done % self.settings.climb_every == 0 or last):
            record["climb"] = self._climb(state, done)
        record["total_seconds"] = self._seconds()
        self.check_folder()
        # First the line, then the checkpoint: a kill between them costs a line that is written again.
        self.metrics.append(record)
        # All at once, so that Ctrl-C finds either the iteration before or this one.
        self.state, self.done, self.rating, self.best = state, done, rating, best
        if self._is_best() or done % self.settings.checkpoint_every == 0 or last:
            self._save()
        self.report.iteration(record)
        self._plot()

    def _phase(self, name: str, done: int, total: int) -> None:
        self.ask_for_interrupt()
        self.report.phase(name, done, total)

    # --- beginning and going on ------------------------------------------------------------------------------------

    def _first_state(self) -> tuple[TrainingState, int]:
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

    # --- measuring -------------------------------------------------------------------------------------------------

    def _anchors(self) -> tuple[list[Player], dict[str, float]]:
        """The opponents of ratings, and their own ratings, which are measured once for a run."""
        if not self.settings.rate_every:
            return [], {}
        opponents = make_opponents(self.settings, self.game)
        wanted = {"against": self.settings.rate_against, "games": self.settings.anchor_games}
        path = self.run.folder / "anchors.json"
        known = read_anchors(path)
        if known.get("measured") == wanted:
            return opponents, known["elo"]
        elo = dict(self.known_anchors or {}) or measure_anchors(
            self.game,
            opponents,
            self.settings.anchor_games,
            self.seed,
            lambda _, done, total: self._measuring(done, total),
        )
        with writing(str(path)):
            self.check_folder()
            write_atomically(path, seal({"measured": wanted, "elo": elo}))
        return opponents, elo

    def _measuring(self, done: int, total: int) -> None:
        self._phase("measuring opponents", done, total)

    def _rate(
        self, state: TrainingState, done: int, opponents: Sequence[Player], anchors: dict[str, float]
    ) -> dict[str, Any]:
        rating, battles = rate_against_anchors(
            self.game, self.algorithm.player(state), opponents, anchors, self.settings.rate_games, self.seed + done,
            lambda _, done, total: self._phase("rating", done, total),
        )  # fmt: skip
        scores = {name: battle.score for name, battle in battles.items()}
        return {"elo": rating.elo, "low": rating.low, "high": rating.high, "scores": scores}

    def _climb(self, state: TrainingState, done: int) -> dict[str, Any]:
        self._phase("climbing", 0, len(self.rungs))
        if not self.climbed:
            _compile(self.game, self.rungs)
            self.climbed = True
        found = climb(
            self.game, self.algorithm.player(state), self.rungs, self.seed + done,
            lambda done, total: self._phase("climbing", done, total),
        )  # fmt: skip
        return {"scores": found.scores, "total": found.total, "of": 2 * len(self.rungs)}

    def _plot(self, final: bool = False) -> None:
        if not self.pictures or (not final and time.monotonic() - self.last_plot < _SECONDS_BETWEEN_PLOTS):
            return
        self.last_plot = time.monotonic()
        self.check_folder()
        try:
            draw_run(self.run)
        except Exception as error:  # whatever is wrong with a picture, the training goes on
            if not self.warned_of_picture:
                self.report.message(f"the picture of the run could not be drawn: {reason(error)}")
            self.warned_of_picture = True


def _check_record(record: Mapping[str, Any], title: str) -> None:
    """Raise RunStopped where an algorithm does not say what every line of metrics has."""
    missing = [name for name in ("games", "evaluations", "seconds") if name not in record]
    if missing:
        raise RunStopped(f"{title} does not say the {', '.join(missing)} of an iteration")


def _read_note(note: Mapping[str, Any], step: int) -> tuple[dict[str, Any] | None, dict[str, Any] | None, float]:
    """The last rating, the best iteration and the seconds before, as a checkpoint notes them."""
    match note:
        case {"rating": rating, "best": dict() | None as best, "seconds": int() | float() as seconds}:
            whole = rating is None or (is_rating(rating) and "scores" in rating)
            if whole and (best is None or best.keys() == {"iteration", "elo"}):
                return rating, best, float(seconds)
    raise BadInput(f"checkpoint {step} does not say what a run must know to go on")


def read_anchors(path: Path) -> dict[str, Any]:
    """How the opponents' ratings were measured, and the ratings; empty where they are not there or were changed.

    They are measured again then, which gives the same numbers.
    """
    try:
        known = unseal(path.read_bytes())
    except (OSError, ValueError):
        return {}
    elo = known.get("elo")
    whole = isinstance(elo, dict) and all(
        isinstance(value, int | float) and math.isfinite(value) for value in elo.values()
    )
    return known if whole and isinstance(known.get("measured"), dict) else {}


def draw_run(run: Run) -> None:
    """The curves of a run as pictures in its folder; nothing before its first iteration."""
    records = read_metrics(run.folder)
    if not records:
        return
    title = ALGORITHMS[run.about["algorithm"]].title
    rated = [record for record in records if record.get("rating")]
    anchors = read_anchors(run.folder / "anchors.json")
    with writing(str(run.plot_path)):
        figure = draw_training(
            [record["iteration"] for record in rated],
            [record["rating"]["elo"] for record in rated],
            [record["rating"]["low"] for record in rated],
            [record["rating"]["high"] for record in rated],
            anchors.get("elo", {}),
            {name: [losses(record)[name] for record in records] for name in losses(records[-1])},
            f"{run.about['game']} by {title}, {records[-1]['iteration']} iterations",
        )
        write_png(figure, run.plot_path)
    _draw_climbs(run, records, f"{run.about['game']} by {title} against minimax")
    _draw_gates(run, records, f"{run.about['game']} by {title}, each net against the best before")


def _draw_climbs(run: Run, records: Sequence[dict[str, Any]], title: str) -> None:
    """How far up the ladder the agent came, against the games it had played; nothing where it never climbed."""
    played = itertools.accumulate(record["games"] for record in records)
    climbs = [(games, record["climb"]) for games, record in zip(played, records) if "climb" in record]
    if not climbs:
        return
    path = run.folder / "climb.png"
    with writing(str(path)):
        totals, most = [found["total"] for _, found in climbs], climbs[-1][1]["of"]
        write_png(draw_climbs([games for games, _ in climbs], totals, most, title), path)


def _draw_gates(run: Run, records: Sequence[dict[str, Any]], title: str) -> None:
    """How each net did against the best one before; nothing where they never met."""
    gates = [record for record in records if "gate_score" in record]
    if not gates:
        return
    path = run.folder / "gate.png"
    with writing(str(path)):
        figure = draw_gates(
            [record["iteration"] for record in gates],
            [record["gate_score"] for record in gates],
            [record["gate_interval"] for record in gates],
            [record["gate_passed"] for record in gates],
            title,
        )
        write_png(figure, path)
