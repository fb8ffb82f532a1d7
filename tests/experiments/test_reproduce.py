"""Studies: what was stopped goes on, nothing is done twice, and what comes out is what the runs measured."""

from __future__ import annotations

import collections
import csv
import dataclasses
import json
import re
import shutil
from pathlib import Path

import jax
import numpy as np
import pytest

from beamzero.arena.intervals import mean_spread
from beamzero.cli import main
from beamzero.core.errors import BadInput
from beamzero.experiments import studies, study_run
from beamzero.experiments.reproduce import Reproduced, reproduce
from beamzero.experiments.studies import STUDIES, make_study
from beamzero.experiments.study import ITSELF, SOLVED, Panel, Study, StudyRun, Trial
from beamzero.games import make_game
from beamzero.storage.metrics import read_metrics
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.recipes import find_recipe, make_settings
from tests.cli.json_keys import check_keys
from tests.training.toy import NET

SMALL = {
    "iterations": 2, "games": 8, "rate_every": 1, "rate_games": 8, "anchor_games": 8, "checkpoint_every": 1,
    "rate_against": "random lookahead:1", "value_net": NET, "q_net": NET,
}  # fmt: skip


def small_study(seeds: int = 2) -> Study:
    recipe = "tic_tac_toe_compare_probs"
    runs = [StudyRun(recipe, {"E": e}, {"expand": int(e)}, seed) for seed in range(seeds) for e in "24"]
    trials = (Trial("random", 8, published=0.9), Trial(ITSELF, 8, search="expand=3"), Trial(SOLVED, 8))
    return Study("small", "a small one", tuple(runs), (Panel("by E", "E"),), trials, anchors={"random": 1000})


@pytest.fixture
def trained(monkeypatch):
    """Count how often each run was taken up."""
    counts = collections.Counter()
    train = study_run.train

    def counted(order, report):
        counts[order.folder.name] += 1
        return train(order, report)

    monkeypatch.setattr(study_run, "train", counted)
    return counts


def tell(*told) -> None:
    """Report nothing."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[Path, Reproduced]:
    """A study that was done in one go, with its folder."""
    folder = tmp_path_factory.mktemp("studies") / "whole"
    found = reproduce(small_study(1), folder, tell, SMALL)
    assert found.complete and len(found.results) == 2
    return folder, found


def numbers(found: Reproduced) -> list[tuple]:
    return [(one.points, one.mean_turns, one.trials) for one in found.results]


@pytest.mark.slow
def test_a_study_that_is_stopped_gives_the_numbers_of_one_that_is_not(whole, tmp_path, trained, monkeypatch):
    clock = iter([0.0, 0.0, 1e9])  # the deadline is set, one run begins, and then the time is up
    with monkeypatch.context() as patch:
        for place in ("study_run", "reproduce"):
            patch.setattr(f"beamzero.experiments.{place}.now", lambda: next(clock, 1e9))
        part = reproduce(small_study(1), tmp_path / "part", tell, SMALL, minutes=1)
    assert not part.complete and len(part.results) < 2
    rest = reproduce(small_study(1), tmp_path / "part", tell, SMALL)
    assert rest.complete and numbers(rest) == numbers(whole[1])
    assert set(trained.values()) <= {1, 2} and len(trained) == 2
    trained.clear()
    again = reproduce(small_study(1), tmp_path / "part", tell, SMALL, minutes=1e-9)
    assert again == rest and not trained, "nothing is done twice, and what is there is shown however short the time is"
    more = reproduce(small_study(2), tmp_path / "part", tell, SMALL)
    assert len(more.results) == 4 and set(trained) == {"E_2-seed_1", "E_4-seed_1"}


@pytest.mark.slow
def test_a_study_that_is_shared_gives_the_numbers_of_one_that_is_not(whole, tmp_path, trained):
    shared = reproduce(small_study(1), tmp_path / "shared", tell, SMALL, workers=2)
    assert not trained, "others did it"
    assert shared.complete and numbers(shared) == numbers(whole[1])


@pytest.mark.slow
def test_an_interrupted_run_is_finished_and_not_repeated(tmp_path):
    heard = []

    def interrupt(name, done, total):
        heard.append(name)
        if done == 1 and name.endswith("self-play"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(small_study(1), tmp_path / "study", interrupt, SMALL)
    before = read_metrics(tmp_path / "study" / "E_2-seed_0")
    assert [record["iteration"] for record in before] == [1]
    done = reproduce(small_study(1), tmp_path / "study", tell, SMALL)
    after = read_metrics(tmp_path / "study" / "E_2-seed_0")
    assert done.complete and after[0] == before[0] and [record["iteration"] for record in after] == [1, 2]


@pytest.mark.slow
def test_the_command_draws_and_writes_what_the_runs_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(STUDIES, "probs-fig1", (small_study, 1))
    sets = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    folder = tmp_path / "out"
    assert main(["reproduce", "probs-fig1", "--out", str(folder), *sets, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    check_keys("reproduce", found)
    assert found["complete"] and [group["group"] for group in found["groups"]] == ["all", "E 2", "E 4"]
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader((folder / "points.csv").read_text().splitlines()))
    assert [(row["E"], row["iteration"]) for row in rows] == [("2", "1"), ("2", "2"), ("4", "1"), ("4", "2")]
    assert {"random", "lookahead:1"} == found["anchors"]["tic_tac_toe"].keys()
    last = [float(row["elo"] or row["low"] or row["high"]) for row in rows if row["iteration"] == "2"]
    assert found["groups"][0]["elo"] == pytest.approx(np.mean(last))
    trial = found["groups"][0]["trials"]["one look against random"]
    assert trial["published"] == 0.9 and trial["interval"][0] <= trial["value"] <= trial["interval"][1]
    assert main(["reproduce", "probs-fig1", "--out", str(folder), *sets]) == 0
    assert "Elo at the end" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["probs-fig9"], "probs-fig9"),
        (["probs-fig1", "--set", "gmaes=3"], "gmaes"),
        (["probs-fig1", "--set", "games"], "write --set key=value"),
        (["probs-fig1", "--set", "rate_every=0"], "rate_every is 0, but probs-fig1 draws ratings"),
        (["probs-fig1", "--set", "expand=3"], "probs-fig1 compares values of expand, so that none can be set for all"),
        (["probs-fig1", "--set", "rate_against=nobody"], "nobody"),
        (["probs-chess6x6", "--set", "q_net=conv:channels=8-8-8-8-8-8"], "do not fit on a 6x6 board"),
        (["probs-fig1", "--minutes", "0"], "minutes is 0.0, but must be more than 0"),
        (["probs-fig1", "--out", "full"], "full is there already and holds no study to go on with"),
        (["probs-fig1", "--out", "other", "--set", "games=10"], "other holds another study, with other changes"),
    ],
)
def test_what_cannot_be_reproduced_gets_one_line_and_writes_nothing(words, why, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    # All of its runs are checked, and there are fewer of them here.
    few = dataclasses.replace(small_study(1), name="probs-fig1")
    monkeypatch.setitem(STUDIES, "probs-fig1", (lambda seeds: few, 1))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "other").mkdir()
    terms = {"study": "probs-fig1", "changes": {}, "pieces": []}
    (tmp_path / "other" / "study.json").write_text(json.dumps(terms))
    before = sorted(tmp_path.rglob("*"))
    assert main(["reproduce", *words]) == 2
    said = capsys.readouterr().err
    assert why in said and len(said.strip().splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_every_run_of_a_study_can_be(name):
    study, nets = make_study(name), set()
    assert len({run.name for run in study.runs}) == len(study.runs)
    for run in study.runs:
        recipe = find_recipe(run.recipe)
        settings = make_settings(recipe, run.changes)
        assert settings.rate_every and settings.iterations == {**recipe.settings, **run.changes}["iterations"]
        assert re.fullmatch(r"[\w.-]+", run.name), "any file system takes it"
        chosen = tuple(value for key, value in dataclasses.asdict(settings).items() if key.endswith("net"))
        if (recipe.game, recipe.algorithm, chosen) not in nets:
            nets.add((recipe.game, recipe.algorithm, chosen))
            algorithm = ALGORITHMS[recipe.algorithm](make_game(recipe.game), settings)
            jax.eval_shape(algorithm.init, jax.random.key(0))
    assert all(any(panel.shows(run) for run in study.runs) for panel in study.panels)
    assert set(study.turns) <= {run.recipe for run in study.runs}


def test_figure_1_has_the_settings_of_the_paper():
    study = studies.make_study("probs-fig1")
    published = [run for run in study.runs if study.panels[0].shows(run)]
    assert len(published) == 2 * 9 * 3 and len(study.runs) == len(published) + 2 * 3
    first = published[: len(published) // 3]
    assert {run.seed for run in first} == {0}, "a whole figure with one seed comes first"
    wanted = {(e, m) for e in (10, 30, 100) for m in (2, 3, 99)}
    assert {(run.changes["expand"], run.changes["depth"]) for run in first} == wanted


def test_the_spread_of_a_mean_is_students():
    numbers = np.array([[1.0], [2.0], [6.0]])
    assert mean_spread(numbers)[0] == pytest.approx(4.302653 * np.std([1, 2, 6], ddof=1) / np.sqrt(3), rel=1e-5)
    assert mean_spread(numbers[:1])[0] == 0


@pytest.mark.slow
def test_damaged_files_of_a_study_are_named(whole, tmp_path):
    folder = tmp_path / "study"
    shutil.copytree(whole[0], folder)
    run = folder / "E_2-seed_0"
    kept = (run / "metrics.jsonl").read_bytes()
    (run / "metrics.jsonl").unlink()
    with pytest.raises(BadInput, match="E_2-seed_0 is damaged, it has no metrics: remove it"):
        reproduce(small_study(1), folder, tell, SMALL)
    (run / "metrics.jsonl").write_bytes(kept)
    (run / "trials.json").write_text("{")
    with pytest.raises(BadInput, match=r"trials\.json is damaged: remove it"):
        reproduce(small_study(1), folder, tell, SMALL)
