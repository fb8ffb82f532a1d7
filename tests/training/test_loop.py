"""A run gives the same numbers however often it is stopped, and never harms what it has saved."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import numpy as np
import pytest

from beamzero.algorithms.probs.targets import QLoss
from beamzero.cli import main
from beamzero.core.errors import BadInput, RunStopped
from beamzero.games import make_game
from beamzero.players.trained import load_trained
from beamzero.storage.checkpoints import Checkpoints
from beamzero.storage.files import TEMPORARY
from beamzero.storage.metrics import Metrics, read_metrics
from beamzero.storage.run import Run
from beamzero.storage.seal import seal
from beamzero.training import pictures
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.fit import fit_pass
from beamzero.training.pictures import draw_run
from beamzero.training.report import Report, losses
from tests.training.toy import (
    GAME,
    NET,
    TOYS,
    assert_same_run,
    command,
    flip_a_byte,
    numbers,
    run_toy,
    same_bits,
    saved_tree,
    settings,
    start,
    tree_hash,
)

ITERATIONS = TOYS["probs"]["iterations"]


both = pytest.mark.parametrize("algorithm", ["probs", pytest.param("alphazero", marks=pytest.mark.slow)])
"""For a test that takes `algorithm`: once for each; others are about PROBS."""


@pytest.fixture
def algorithm() -> str:
    return "probs"


@pytest.fixture(scope="module")
def make_whole(tmp_path_factory) -> Callable[[str], Path]:
    @functools.cache
    def make(algorithm: str) -> Path:
        folder = tmp_path_factory.mktemp("whole") / algorithm
        outcome = run_toy(folder, algorithm=algorithm, seed=5, pictures=True)
        assert (outcome.iterations, outcome.interrupted) == (ITERATIONS, False)
        return folder

    return make


@pytest.fixture
def whole(make_whole, algorithm) -> Path:
    """A run that was never stopped."""
    return make_whole(algorithm)


def test_a_run_folder_holds_the_settings_the_numbers_the_last_checkpoints_the_best_and_a_picture(whole):
    records = read_metrics(whole)
    assert [record["iteration"] for record in records] == list(range(1, ITERATIONS + 1))
    assert [record["iteration"] for record in records if "rating" in record] == [1, 2, 4, 6, 8]
    for record in records:
        assert np.isfinite([record["value_loss"], record["q_loss"]]).all()
        assert 5 <= record["mean_turns"] <= 9 and record["states"] == record["mean_turns"] * 8 == record["searched"]
    checkpoints = Checkpoints(whole / "checkpoints", keep=1)
    strength = {r["iteration"]: r["rating"]["elo"] or r["rating"]["low"] for r in records if "rating" in r}
    assert checkpoints.best_step == max(strength, key=lambda step: (strength[step], -step))
    assert checkpoints.steps() == sorted({checkpoints.best_step, 6, 7, 8})
    about = Run.open(whole).about
    assert (about["game"], about["seed"], about["settings"]["expand"]) == (GAME, 5, 3)
    assert about["settings"]["precision"] == "float32", "what the machine decided is written down"
    assert (whole / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert not list(whole.rglob(f"{TEMPORARY}*"))


@pytest.mark.slow
def test_a_run_of_alphazero_holds_the_same_things(make_whole):
    whole = make_whole("alphazero")
    records = read_metrics(whole)
    assert [record["iteration"] for record in records] == list(range(1, ITERATIONS + 1))
    assert [record["iteration"] for record in records if "rating" in record] == [1, 2, 4, 6, 8]
    assert losses(records[-1]).keys() == {"value", "policy"}
    assert all(np.isfinite(list(losses(record).values())).all() for record in records)
    about = Run.open(whole).about
    assert (about["algorithm"], about["settings"]["sims"], about["settings"]["lanes"]) == ("alphazero", 4, 1)
    assert Checkpoints(whole / "checkpoints", keep=1).steps()[-3:] == [6, 7, 8]
    assert saved_tree(whole)[1].keys() == {"net", "best", "window"}
    assert (whole / "plot.png").read_bytes().startswith(b"\x89PNG")


@both
def test_the_picture_names_the_algorithm_and_its_losses(make_whole, algorithm, monkeypatch):
    run, drawn = Run.open(make_whole(algorithm)), []
    monkeypatch.setattr("beamzero.training.pictures.draw_training", lambda *given: drawn.append(given))
    monkeypatch.setattr("beamzero.training.pictures.write_png", lambda figure, path: None)
    draw_run(run)
    ((*_, losses, title),) = drawn
    names, by = {"probs": (["V", "Q"], "PROBS"), "alphazero": (["value", "policy"], "AlphaZero")}[algorithm]
    assert sorted(losses) == sorted(names) and title == f"tic_tac_toe by {by}, {ITERATIONS} iterations"
    assert all(len(values) == ITERATIONS for values in losses.values())


@both
def test_another_seed_is_another_run(whole, algorithm, tmp_path):
    run_toy(tmp_path / "run", algorithm=algorithm, seed=6, iterations=2)
    for one, other in zip(numbers(tmp_path / "run"), numbers(whole)[:2], strict=True):
        assert all(one[name] != other[name] for name in one if name.endswith("_loss"))


# --- killed ----------------------------------------------------------------------------------------------------------


def stop_when(process: subprocess.Popen[str], so: Callable[[], bool], begun: Callable[[], bool] | None = None) -> None:
    """Wait for a moment at which `so` holds, and freeze the process in it.

    Looking closely takes time from the process itself, so it is done only once it has `begun`.
    """
    while True:
        assert process.poll() is None, f"it ended before the moment came: {process.communicate()}"
        if begun is not None and not begun():
            time.sleep(0.02)
            continue
        begun = None
        if so():
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.02)
            if so():
                return
            process.send_signal(signal.SIGCONT)
        time.sleep(0.0005)


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def kill_in_the_middle_of_writing_a_checkpoint(process: subprocess.Popen[str], folder: Path) -> None:
    checkpoints = Checkpoints(folder / "checkpoints", keep=1)

    def so() -> bool:
        half = [path for path in checkpoints.folder.glob(f"{TEMPORARY}*") if not (path / "manifest.json").exists()]
        return bool(half) and checkpoints.steps()[-1:] > [1]

    stop_when(process, so, begun=(folder / "metrics.jsonl").exists)
    kill(process)
    assert list(checkpoints.folder.glob(f"{TEMPORARY}*")), "the kill left half a checkpoint"


def test_a_process_killed_again_and_again_gives_the_run_that_was_never_stopped(whole, tmp_path, capsys):
    folder = tmp_path / "run"
    checkpoints = Checkpoints(folder / "checkpoints", keep=1)

    def before_the_checkpoint_of_the_last_line_after(step: int) -> bool:
        return max(checkpoints.steps()) > step and len(numbers(folder)) > max(checkpoints.steps())

    kill_in_the_middle_of_writing_a_checkpoint(start(command(folder, "--seed", "5")), folder)

    # With a checkpoint only now and then, there is time to find it between a line and its checkpoint. The kill before
    # left such a line too, so a checkpoint of this process must have come first.
    step = max(checkpoints.steps())
    process = start(command(folder, "--resume", "--set", "checkpoint_every=2"))
    stop_when(
        process,
        lambda: before_the_checkpoint_of_the_last_line_after(step),
        begun=lambda: max(checkpoints.steps()) > step,
    )
    # While one process trains, another may not.
    before = tree_hash(folder)
    assert main(command(folder, "--resume")) == 2
    assert capsys.readouterr().err == (
        f"beamzero: another process is training in {folder}: stop it first, or name another folder\n"
    )
    assert tree_hash(folder) == before
    kill(process)
    assert len(numbers(folder)) > max(checkpoints.steps()), "the kill left a line without its checkpoint"
    assert max(checkpoints.steps()) < ITERATIONS

    assert main(command(folder, "--resume", "--json")) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["iterations"] == ITERATIONS
    assert "Traceback" not in err
    assert_same_run(folder, whole)
    assert not list(folder.rglob(f"{TEMPORARY}*"))


@pytest.mark.slow
def test_a_killed_process_of_alphazero_goes_on_the_same(make_whole, tmp_path):
    folder = tmp_path / "run"
    process = start(command(folder, "--seed", "5", algorithm="alphazero"))
    kill_in_the_middle_of_writing_a_checkpoint(process, folder)
    run_toy(folder, resume=True)
    assert_same_run(folder, make_whole("alphazero"))


class Killed(BaseException):
    """Nobody catches it, so what it ends is left as a kill would leave it."""


class StopAt(Report):
    """Raises `error` when it is told something for the `number`th time."""

    def __init__(self, number: int, error: type[BaseException]) -> None:
        self.number, self.error = number, error
        self.messages: list[str] = []

    def _told(self) -> None:
        self.number -= 1
        if self.number == 0:
            raise self.error

    def phase(self, name: str, done: int, total: int) -> None:
        self._told()

    def iteration(self, record: object) -> None:
        self._told()

    def message(self, text: str) -> None:
        self.messages.append(text)


@both
def test_stopped_at_every_phase_in_turn_it_gives_the_same_run(whole, algorithm, tmp_path):
    folder = tmp_path / "run"
    lives = 0
    while True:
        report = StopAt(1 + 2 * lives, Killed)  # each life a little longer than the one before, so that the run gets on
        with contextlib.suppress(Killed):
            run_toy(folder, report, algorithm=algorithm, seed=5, resume=folder.exists())
            break
        lives += 1
        assert not report.messages
    assert lives > 10
    assert_same_run(folder, whole)


@pytest.mark.slow
def test_a_kill_before_the_best_checkpoint_was_marked_is_made_good(whole, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Checkpoints, "mark_best", lambda self, step: (_ for _ in ()).throw(Killed))
        run_toy(folder, seed=5)
    run_toy(folder, resume=True)
    assert_same_run(folder, whole)


@pytest.mark.slow
def test_tensorboard_shows_every_iteration_once(whole, tmp_path):
    from tests.storage.test_metrics import events

    folder = tmp_path / "run"
    with pytest.raises(Killed):
        run_toy(folder, StopAt(30, Killed), seed=5)
    run_toy(folder, resume=True)

    def shown(folder: Path) -> list[tuple[int, float]]:
        """What TensorBoard draws: a purge takes away what was written before it from its step on."""
        losses: list[tuple[int, float]] = []
        for _, step, tag, value in events(folder):
            if tag == "purge":
                losses = [(s, v) for s, v in losses if s < step]
            elif tag == "value_loss":
                losses.append((step, value))
        return losses

    assert shown(folder) == shown(whole) and len(shown(folder)) == ITERATIONS


# --- interrupted -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@both
def test_ctrl_c_at_any_phase_saves_what_is_finished_and_the_rest_is_the_same(whole, algorithm, tmp_path):
    folder = tmp_path / "run"
    rated = {record["iteration"]: record["rating"] for record in numbers(whole) if "rating" in record}
    stops = 0
    while True:
        report = StopAt(4 + 5 * stops, KeyboardInterrupt)
        outcome = run_toy(folder, report, algorithm=algorithm, seed=5, resume=folder.exists(), checkpoint_every=100)
        step, _, note = saved_tree(folder)
        assert step == outcome.iterations and note["rating"] == outcome.rating
        assert note["rating"] == rated.get(step if step == 1 else step - step % 2), (
            "what was given up is not remembered either"
        )
        if not outcome.interrupted:
            break
        stops += 1
    assert stops > 5
    assert numbers(folder) == numbers(whole)
    assert same_bits(saved_tree(folder)[1], saved_tree(whole)[1])
    assert saved_tree(folder)[2]["best"] == saved_tree(whole)[2]["best"]
    best, expected = (Checkpoints(run / "checkpoints", keep=1).best_step for run in (folder, whole))
    assert best == expected


@pytest.mark.slow
def test_ctrl_c_while_a_line_is_written_gives_up_that_iteration_as_a_whole(whole, tmp_path, monkeypatch, capsys):
    append = Metrics.append

    def interrupted(self, record):
        append(self, record)
        if record["iteration"] == 4:
            signal.raise_signal(signal.SIGINT)

    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Metrics, "append", interrupted)
        assert main(command(folder, "--seed", "5", "--json")) == 130
    out, err = capsys.readouterr()
    outcome = json.loads(out)
    step, _, note = saved_tree(folder)
    assert (outcome["iterations"], outcome["interrupted"], step) == (3, True, 3)
    assert outcome["rating"] == note["rating"] == numbers(whole)[1]["rating"]
    assert err.splitlines()[-1].startswith("go on with: ") and "Traceback" not in err
    run_toy(folder, resume=True)
    assert_same_run(folder, whole)


def test_more_presses_do_not_disturb_what_the_first_has_begun(tmp_path, monkeypatch):
    append, save, drawn = Metrics.append, Checkpoints.save, []

    def press(*_):
        signal.raise_signal(signal.SIGINT)

    def interrupted_append(self, record):
        append(self, record)
        press()

    def interrupted_save(self, step, tree, note):
        press()
        save(self, step, tree, note)
        press()

    def interrupted_draw(run):
        press()
        drawn.append(run)

    monkeypatch.setattr(Metrics, "append", interrupted_append)
    monkeypatch.setattr(pictures, "draw_run", interrupted_draw)
    assert run_toy(tmp_path / "before", rate_every=0, pictures=True).interrupted, "while a line is written"
    monkeypatch.setattr(Metrics, "append", append)
    monkeypatch.setattr(Checkpoints, "save", interrupted_save)
    outcome = run_toy(tmp_path / "run", rate_every=0, pictures=True)
    assert (outcome.iterations, outcome.interrupted) == (0, True), "while it is saved for the first time"
    assert Checkpoints(outcome.run.checkpoints_folder, keep=1).verify(0) == []
    assert len(drawn) == 2


# --- damage and full disks -------------------------------------------------------------------------------------------


def test_a_damaged_newest_checkpoint_is_reported_and_the_one_before_it_is_used(whole, tmp_path, capsys):
    folder = tmp_path / "run"
    run_toy(folder, seed=5, iterations=6)
    flip_a_byte(folder, 6)
    capsys.readouterr()
    assert main(command(folder, "--resume", "--iterations", str(ITERATIONS))) == 0
    damaged = [line for line in capsys.readouterr().err.splitlines() if "damaged" in line]
    assert len(damaged) == 1 and damaged[0].startswith("checkpoint 6 in ")
    assert_same_run(folder, whole)


def test_where_no_checkpoint_is_whole_the_run_ends_in_one_line(tmp_path, capsys):
    folder = tmp_path / "run"
    run_toy(folder, iterations=1)
    for step in (0, 1):
        flip_a_byte(folder, step)
    before = numbers(folder)
    assert main(command(folder, "--resume")) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == f"beamzero: no checkpoint that is whole in {folder / 'checkpoints'}"
    assert numbers(folder) == before


@contextlib.contextmanager
def full_disk(limit: int) -> Iterator[None]:
    """A limit on the size of files is a full disk to whoever writes more than that."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["checkpoint", "metrics"])
def test_a_full_disk_ends_the_run_in_one_line_and_it_can_go_on_later(whole, tmp_path, what, capsys):
    folder = tmp_path / "run"
    run_toy(folder, seed=5, iterations=4)
    before = saved_tree(folder)
    lines = (folder / "metrics.jsonl").stat().st_size
    limit = {"checkpoint": lines + 2000, "metrics": lines + 100}[what]
    words = command(folder, "--resume", "--iterations", "6")
    if what == "checkpoint":  # in a process of its own, which ends with what is left of a write that failed
        process = start(words, largest_file=limit)
        (out, err), status = process.communicate(), process.returncode
    else:
        with full_disk(limit):
            status = main(words)
        out, err = capsys.readouterr()
    assert (status, out) == (1, ""), err
    lines_said = err.splitlines()
    # Orbax's own threads now and then complain of a closed event loop when the process ends, after our line.
    where = next(i for i, line in enumerate(lines_said) if line.startswith("beamzero: "))
    others, last = lines_said[:where], lines_said[where]
    place = {"checkpoint": "checkpoint 5 in", "metrics": "metrics.jsonl"}[what]
    assert last.startswith("beamzero: the disk is full: could not write ") and place in last
    assert all(line.startswith(("tic_tac_toe by PROBS", "    ")) for line in others), err
    assert same_bits(saved_tree(folder), before), "the last good checkpoint is as it was"
    run_toy(folder, resume=True)
    assert_same_run(folder, whole)


class Listening(Report):
    """Keeps all messages, and does something after an iteration."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.messages: list[str] = []
        self.then = then

    def message(self, text: str) -> None:
        self.messages.append(text)

    def iteration(self, record: object) -> None:
        self.then()


@pytest.mark.slow
def test_no_picture_ends_a_run(tmp_path, monkeypatch):
    monkeypatch.setattr("beamzero.training.pictures._SECONDS_BETWEEN_PICTURES", 0.0)
    report = Listening()
    with full_disk(30_000):
        assert run_toy(tmp_path / "full", report, iterations=2, pictures=True).iterations == 2
    (_, said) = report.messages  # the first one says that the training stops early
    assert said.startswith("the picture of the run could not be drawn: the disk is full: could not write ")
    assert not (tmp_path / "full" / "plot.png").exists()

    def spoil() -> None:
        with (tmp_path / "spoilt" / "metrics.jsonl").open("a") as file:
            file.write('{"iteration": "two"}\n')

    report = Listening(spoil)
    assert run_toy(tmp_path / "spoilt", report, iterations=2, pictures=True).iterations == 2
    (_, said) = report.messages  # the first one says that the training stops early
    assert "could not be drawn: line 2 of" in said


def test_a_run_whose_folder_is_deleted_stops_and_says_so(tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(RunStopped, match="run was deleted or moved while it was worked in"):
        run_toy(folder, Listening(lambda: shutil.rmtree(folder)), iterations=3, checkpoint_every=9)
    assert not folder.exists(), "and nothing is made again"


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"7", b"null", b'{"measured": {}, "elo": []}', b'{"measured": {}, "elo": {"random": "x"}}',
     b'{"elo": {}, "measured": 1}', seal({"measured": {}, "elo": {"random": None}}), seal({"measured": [], "elo": {}})],
)  # fmt: skip
def test_ratings_of_opponents_that_cannot_be_are_measured_anew(tmp_path, text):
    (tmp_path / "anchors.json").write_bytes(text)
    assert Run(tmp_path, {}).read_anchors() == {}


@pytest.mark.slow
def test_a_run_of_version_0_1_goes_on_with_one_warning_and_is_sealed_then(whole, tmp_path):
    folder = tmp_path / "run"
    run_toy(folder, seed=5, iterations=2)
    about = {**Run.open(folder).about, "format": "beamzero-run-1"}
    (folder / "run.json").write_text(json.dumps(about, indent=2) + "\n")
    lines = [json.dumps(record) + "\n" for record in read_metrics(folder)]
    (folder / "metrics.jsonl").write_text("".join(lines))
    (folder / "anchors.json").write_text(json.dumps(json.loads((folder / "anchors.json").read_text())))
    report = Listening()
    run_toy(folder, report, resume=True, iterations=4)
    assert len(report.messages) == 1 and "is a run of beamzero 0.1, which sealed no files" in report.messages[0]
    report = Listening()
    run_toy(folder, report, resume=True)
    assert report.messages == []
    assert_same_run(folder, whole)


def test_a_run_file_that_was_edited_is_no_run_to_go_on_with(whole, tmp_path, capsys):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    text = (folder / "run.json").read_text()
    for old, new in [('"seed": 5', '"seed": 6'), ('"lanes": 1', '"lanes": 2'), ("0.003", "0.3")]:
        assert old in text
        (folder / "run.json").write_text(text.replace(old, new))
        assert main(["train", GAME, "--run", str(folder), "--resume"]) == 2
        said = capsys.readouterr().err
        assert "run.json was changed since it was written" in said and said.count("\n") == 1
    about = Run.open(whole).about
    for opponent in ("gtp:sh", "mine.py:Mine,runs/x"):
        about["settings"]["rate_against"] = f"random {opponent}"
        (folder / "run.json").write_bytes(seal(about))
        assert main(["train", GAME, "--run", str(folder), "--resume"]) == 2
        said = capsys.readouterr().err
        assert f"such is started only where you name it: give --set rate_against='random {opponent}'" in said


def test_a_run_with_a_setting_that_is_no_more_goes_on(whole, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    about = Run.open(whole).about
    about["settings"]["noise_alpha"] = 0.5
    (folder / "run.json").write_bytes(seal(about))
    assert run_toy(folder, resume=True).iterations == len(numbers(whole))
    assert Run.open(folder).about == about, "what a run says of itself is not written anew"


# --- going on, and what may change -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_iterations_makes_a_run_longer_and_the_schedule_stays(whole, tmp_path):
    folder = tmp_path / "run"
    assert run_toy(folder, seed=5, iterations=3).iterations == 3
    assert run_toy(folder, resume=True, iterations=5).iterations == 5
    assert run_toy(folder, resume=True).iterations == ITERATIONS
    # Shorter runs are rated at their own ends as well.
    found = numbers(folder)
    rated = [record.pop("rating", None) is not None for record in found]
    assert rated == [True, True, True, True, True, True, False, True]
    assert found == [{k: v for k, v in record.items() if k != "rating"} for record in numbers(whole)]
    assert same_bits(saved_tree(folder)[1], saved_tree(whole)[1])
    assert run_toy(folder, resume=True).iterations == ITERATIONS, "a finished run stays finished"
    assert run_toy(folder, resume=True, iterations=ITERATIONS + 1).iterations == ITERATIONS + 1
    shares = [record["learning_rate_share"] for record in numbers(folder)]
    assert shares[-1] == shares[-2] == pytest.approx(0.05)


@pytest.mark.slow
@both
def test_how_a_run_is_measured_and_saved_may_change(whole, algorithm, tmp_path):
    folder = tmp_path / "run"
    run_toy(folder, algorithm=algorithm, seed=5, iterations=2)
    changes = {"rate_every": 3, "rate_games": 4, "rate_against": "random", "anchor_games": 4, "checkpoint_every": 2}
    if algorithm == "alphazero":
        changes["rate_sims"] = 3
    run_toy(folder, resume=True, keep_checkpoints=1, **changes)
    assert [set(record["rating"]["scores"]) for record in numbers(folder)[2:] if "rating" in record] == [{"random"}] * 3
    assert same_bits(saved_tree(folder)[1], saved_tree(whole)[1]), "and what is learned stays the same"


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--seed", "6"], "has seed 5, which cannot be changed by --resume"),
        (["--set", "games=16"], "games is 8 in "),
        (["--set", "iterations=9"], "iterations is 8 in "),
        (["--set", "q_learning_rate=0.1"], "q_learning_rate is 0.003 in "),
        (["--set", "q_net=mlp:width=8"], "q_net is mlp:width=16,depth=2 in "),
        (["--recipe", "connect_four_quick"], "and cannot be changed by --resume (only: "),
        (["--from", "elsewhere"], "is under way, so it cannot start from 'elsewhere'"),
        (["--set", "rate_games=7"], "rate_games is 7, but must be even"),
        (["--set", "rate_against=randm"], "unknown agent 'randm'; did you mean random?"),
        (["--set", "rate_against=random random"], "rate_against is 'random random'"),
        (["--set", "nonsense=1"], "has no setting 'nonsense'"),
        (["--set", "rate_sims=9"], "a run of PROBS has no setting 'rate_sims'"),
        (["--algo", "alphazero"], "holds a run of probs, not of alphazero"),
        (["--algo", "sarsa"], "unknown algorithm 'sarsa' (there are: alphazero, probs, td)"),
        (["--iterations", "0"], "iterations is 0"),
        (["--minutes", "-1"], "minutes is -1.0"),
    ],
)
def test_resume_refuses_what_would_make_it_another_run(whole, capsys, words, wrong):
    before = tree_hash(whole)
    assert main(["train", GAME, "--run", str(whole), "--resume", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("beamzero: ") and err.count("\n") == 1 and wrong in err
    assert tree_hash(whole) == before


@pytest.mark.slow
def test_resume_takes_the_algorithm_of_the_run_and_refuses_the_other(make_whole, capsys):
    whole = make_whole("alphazero")
    before = tree_hash(whole / "checkpoints")
    words = ["train", GAME, "--run", str(whole), "--resume"]
    for more, wrong in [
        (["--algo", "probs"], f"{whole} holds a run of alphazero, not of probs"),
        (["--recipe", "connect_four_quick"], "the recipe connect_four_quick is for probs, not alphazero"),
        (["--set", "sims=5"], "(only: anchor_games, checkpoint_every, climb_by, climb_depth, climb_every, "),
    ]:
        assert main([*words, *more]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("beamzero: ") and err.count("\n") == 1 and wrong in err
    assert main([*words, "--json"]) == 0, "a finished run stays finished"
    assert json.loads(capsys.readouterr().out)["iterations"] == ITERATIONS
    assert tree_hash(whole / "checkpoints") == before


def test_resume_refuses_another_game_and_a_run_is_not_begun_twice(whole, capsys):
    before = tree_hash(whole)
    assert main(["train", "connect_four", "--run", str(whole), "--resume"]) == 2
    assert f"{whole} holds a run of tic_tac_toe, not of connect_four" in capsys.readouterr().err
    assert main(command(whole)) == 2
    assert capsys.readouterr().err == (
        f"beamzero: {whole} already holds a run: go on with it by --resume, or name another folder\n"
    )
    assert tree_hash(whole) == before


def test_minutes_end_a_run_that_can_go_on(tmp_path):
    folder = tmp_path / "run"
    outcome = run_toy(folder, minutes=0.01, iterations=10**6, rate_every=0)
    assert outcome.iterations < 10**6 and not outcome.interrupted
    assert len(numbers(folder)) == outcome.iterations == saved_tree(folder)[0]
    assert run_toy(folder, resume=True, iterations=outcome.iterations + 1).iterations == outcome.iterations + 1


# --- starting from an agent ------------------------------------------------------------------------------------------


def test_from_a_run_takes_the_weights_and_the_optimizer_along(whole, tmp_path):
    run_toy(tmp_path / "run", start_from=str(whole), iterations=1)
    _, tree, _ = saved_tree(whole)
    assert same_bits(saved_tree(tmp_path / "run", 0)[1], tree)
    assert int(tree["q"]["optimizer"].count) > 0
    run_toy(tmp_path / "same", start_from=f"probs:{whole}", iterations=1)
    assert_same_run(tmp_path / "same", tmp_path / "run")


def test_from_an_agent_file_takes_the_weights_and_a_fresh_optimizer(whole, tmp_path):
    file = tmp_path / "agent.safetensors"
    load_trained(str(whole), make_game(GAME)).save(file)
    run_toy(tmp_path / "run", start_from=str(file), iterations=1)
    _, tree, _ = saved_tree(whole)
    _, begun, _ = saved_tree(tmp_path / "run", 0)
    for net in ("value", "q"):
        assert same_bits(begun[net]["weights"], tree[net]["weights"])
        assert not any(np.any(leaf) for leaf in jax.tree.leaves(begun[net]["optimizer"]))


@pytest.mark.slow
def test_a_run_from_an_agent_goes_on_the_same_after_a_kill_at_its_very_beginning(whole, tmp_path):
    run_toy(tmp_path / "one", start_from=str(whole), iterations=2)
    with pytest.raises(Killed):
        run_toy(tmp_path / "two", StopAt(1, Killed), start_from=str(whole))
    run_toy(tmp_path / "two", resume=True, iterations=2)
    assert_same_run(tmp_path / "one", tmp_path / "two")


def test_other_nets_other_games_and_no_agents_are_no_start(whole, tmp_path):
    file = tmp_path / "agent.safetensors"
    load_trained(str(whole), make_game(GAME)).save(file)
    empty = Run.create(tmp_path / "empty", {**Run.open(whole).about})
    before = tree_hash(tmp_path)
    for start_from, changes, wrong in [
        (whole, {"q_net": "mlp:width=8,depth=2"}, "q_net mlp:width=16,depth=2, which is not the one of this run"),
        (file, {"q_net": "mlp:width=8,depth=2"}, "q_net mlp:width=16,depth=2, which is not the one of this run"),
        (file, {"value_net": "mlp:width=16,depth=3"}, "value_net"),
        (whole, {"game": "connect_four"}, "plays tic_tac_toe, not connect_four"),
        (file, {"game": "connect_four"}, "plays tic_tac_toe, not connect_four"),
        (empty.folder, {}, "holds no agent that could be used"),
        (tmp_path, {}, "there is no run in"),
        ("random", {}, "no agent 'random'"),
        (tmp_path / "none.safetensors", {}, "there is no agent file"),
    ]:
        with pytest.raises(BadInput, match=wrong):
            run_toy(tmp_path / "run", start_from=str(start_from), **changes)
    assert tree_hash(tmp_path) == before


@pytest.mark.slow
def test_alphazero_from_a_run_takes_all_along_and_from_a_file_the_weights(make_whole, tmp_path):
    whole, file = make_whole("alphazero"), tmp_path / "agent.safetensors"
    load_trained(str(whole), make_game(GAME), algorithm="alphazero").save(file)
    tree = saved_tree(whole)[1]
    run_toy(tmp_path / "run", algorithm="alphazero", start_from=f"alphazero:{whole}", iterations=1)
    assert same_bits(saved_tree(tmp_path / "run", 0)[1], tree)
    run_toy(tmp_path / "weights", algorithm="alphazero", start_from=str(file), iterations=1)
    begun = saved_tree(tmp_path / "weights", 0)[1]
    assert same_bits([begun["best"], begun["net"]["weights"]], [tree["best"], tree["best"]])
    assert not any(np.any(leaf) for leaf in jax.tree.leaves(begun["net"]["optimizer"]))
    assert same_bits(begun["window"], fresh_window())


def fresh_window():
    algorithm = ALGORITHMS["alphazero"](make_game(GAME), settings("alphazero"))
    return jax.tree.map(np.asarray, algorithm.init(jax.random.key(0)).as_tree()["window"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["run", "file"])
def test_alphazero_does_not_start_from_another_algorithm_game_or_net(make_whole, tmp_path, kind):
    places = {algorithm: make_whole(algorithm) for algorithm in TOYS}
    if kind == "file":
        for algorithm, run in places.items():
            places[algorithm] = tmp_path / f"{algorithm}.safetensors"
            load_trained(str(run), make_game(GAME), algorithm=algorithm).save(places[algorithm])
    before = tree_hash(tmp_path)
    mine, other = places["alphazero"], places["probs"]
    net = "mlp:width=8,depth=2"
    for start_from, changes, wrong in [
        (other, {}, f"{other} was trained by probs, but this run is one of alphazero"),
        (f"probs:{other}", {}, f"{other} was trained by probs, but this run is one of alphazero"),
        (mine, {"algorithm": "probs"}, f"{mine} was trained by alphazero, but this run is one of probs"),
        (mine, {"net": net}, f"{mine} has the net {NET}, which is not the one of this run, {net}"),
        (mine, {"game": "connect_four"}, f"{mine} plays tic_tac_toe, not connect_four"),
    ]:
        with pytest.raises(BadInput) as error:
            run_toy(tmp_path / "new", **{"algorithm": "alphazero", "start_from": str(start_from), **changes})
        assert str(error.value) == wrong
    assert tree_hash(tmp_path) == before


# --- all the rest ----------------------------------------------------------------------------------------------------


def test_a_loss_that_is_no_number_ends_the_run_and_leaves_the_last_good_checkpoint(tmp_path, capsys, monkeypatch):
    fits = itertools.count(1)

    def spoiled(loss, batch_size, learner, *rest):
        if isinstance(loss, QLoss) and next(fits) == 3:
            learner = learner._replace(weights=jax.tree.map(lambda x: x * np.float32(np.inf), learner.weights))
        return fit_pass(loss, batch_size, learner, *rest)

    monkeypatch.setattr("beamzero.algorithms.probs.iterate.fit_pass", spoiled)
    folder = tmp_path / "run"
    assert main(command(folder, rate_every=0)) == 1
    out, err = capsys.readouterr()
    last = err.splitlines()[-1]
    assert out == "" and "Traceback" not in err
    assert last.startswith("beamzero: the loss of Q is ") and "try a smaller learning rate (it was 0.002" in last
    assert len(numbers(folder)) == Checkpoints(folder / "checkpoints", keep=1).steps()[-1] == 2
    trained = load_trained(str(folder), make_game(GAME))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(trained.weights))


def test_what_is_wrong_inside_is_not_taken_for_bad_input():
    assert not issubclass(RunStopped, BadInput)
