"""Metrics go to Weights & Biases as well, where a person asks for it; a module of the same shape stands in for it."""

from __future__ import annotations

import builtins
import sys
from types import SimpleNamespace

import pytest

from beamzero.cli import main
from beamzero.core.errors import BadInput
from beamzero.storage.metrics import read_metrics
from beamzero.storage.run import Run
from beamzero.storage.wandb_log import check_wandb, run_id
from tests.training.toy import command, run_toy

TOY = {"rate_every": 0, "checkpoint_every": 2}


class Cloud:
    """Keeps what runs log, by their ids, as the service does: a step that is past is not written again."""

    def __init__(self) -> None:
        self.runs: dict[str, dict] = {}
        self.begun: list[dict] = []
        self.key = True
        self.broken: Exception | None = None

    def login(self, prompt: bool) -> bool:
        assert not prompt
        return self.key

    def init(self, **words):
        if self.broken:
            raise self.broken
        self.begun.append(words)
        logged = self.runs.setdefault(words["id"], {})
        return Logged(self, logged)


class Logged:
    def __init__(self, cloud: Cloud, logged: dict) -> None:
        self.cloud, self.logged, self.url, self.finished = cloud, logged, "https://example.org/run", False

    @property
    def step(self) -> int:
        return max(self.logged, default=-1) + 1

    def log(self, scalars: dict, step: int) -> None:
        if self.cloud.broken:
            raise self.cloud.broken
        assert step not in self.logged and not self.finished
        self.logged[step] = scalars

    def finish(self) -> None:
        self.finished = True


@pytest.fixture
def cloud(monkeypatch) -> Cloud:
    cloud = Cloud()
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=cloud.init, login=cloud.login))
    monkeypatch.delenv("WANDB_MODE", raising=False)
    return cloud


def test_a_run_that_goes_on_is_the_same_run_there_and_each_iteration_is_logged_once(cloud, tmp_path):
    folder = tmp_path / "mine"
    run_toy(folder, wandb="games", iterations=1, **TOY)
    run_toy(folder, wandb="games", iterations=3, resume=True)
    one, other = cloud.begun
    assert (one["project"], one["name"], one["resume"], one["dir"]) == ("games", "mine", "allow", str(folder))
    assert other["id"] == one["id"] == run_id(Run.open(folder).about)
    assert one["config"].items() >= {"game": "tic_tac_toe", "algorithm": "probs", "seed": 0, "games": 8}.items()
    (logged,) = cloud.runs.values()
    assert list(logged) == [1, 2, 3]
    for record in read_metrics(folder):
        assert logged[record["iteration"]]["value_loss"] == record["value_loss"]
        assert any(tag.startswith("seconds/") for tag in logged[record["iteration"]])


def test_two_runs_have_two_ids_and_a_seal_is_no_part_of_them():
    about = {"game": "chess", "seed": 1, "created": "2026-01-01", "format": "beamzero-run-1"}
    assert run_id(about) == run_id({**about, "format": "beamzero-run-2", "seal": "abc"})
    assert run_id(about) != run_id({**about, "seed": 2})


def test_what_fails_there_is_told_once_and_the_run_goes_on(cloud, tmp_path, capsys):
    cloud.broken = OSError("no\nnetwork")
    assert main([*command(tmp_path / "run", "--wandb", "games", **TOY), "--iterations", "2"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    line = "Weights & Biases fails, so the numbers go to metrics.jsonl only: OSError: no network"
    assert said.count(line) == 1
    assert len(read_metrics(tmp_path / "run")) == 2


@pytest.mark.parametrize(
    ("project", "change", "wrong"),
    [
        ("a/b", {}, "the W&B project is 'a/b', but must be 1 to 128 characters without spaces and / \\ # ? % :"),
        ("", {}, "the W&B project is ''"),
        ("games", {"key": False}, "Weights & Biases knows no API key here: wandb login, or WANDB_MODE=offline"),
    ],
)
def test_what_cannot_be_logged_is_one_line_and_nothing_is_written(cloud, tmp_path, capsys, project, change, wrong):
    vars(cloud).update(change)
    assert main(command(tmp_path / "run", "--wandb", project)) == 2
    said = capsys.readouterr()
    assert wrong in said.err and said.err.count("\n") == 1 and said.out == "" and not list(tmp_path.iterdir())


def test_a_package_that_is_missing_is_told_how_to_get(tmp_path, capsys, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "wandb":
            raise ModuleNotFoundError("No module named 'wandb'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(command(tmp_path / "run", "--wandb", "games")) == 2
    line = "beamzero: logging to Weights & Biases needs wandb: pip install 'beamzero[wandb]'\n"
    assert capsys.readouterr().err == line and not list(tmp_path.iterdir())


def test_a_folder_of_logs_is_not_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(__path__=["wandb"]))
    with pytest.raises(BadInput, match=r"needs wandb: pip install"):
        check_wandb("games")


def test_no_key_is_needed_offline(cloud, monkeypatch):
    cloud.key = False
    monkeypatch.setenv("WANDB_MODE", "offline")
    check_wandb("games")
