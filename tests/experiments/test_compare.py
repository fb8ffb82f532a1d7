"""Two ways of training under one budget: what is spent, what is kept, and going on after a stop."""

from __future__ import annotations

import csv
import dataclasses
import json
import shutil

import jax
import pytest

from beamzero.algorithms.alphazero.iterate import AlphaZero
from beamzero.algorithms.probs.iterate import Probs
from beamzero.core.errors import BadInput
from beamzero.experiments.compare import compare
from beamzero.experiments.comparison import Comparison, Point
from beamzero.games import make_game
from beamzero.players.trained import load_trained
from beamzero.search.simple import mean_moves
from beamzero.storage.folders import prepare_folder
from beamzero.training.recipes import Recipe
from tests.training.toy import GAME, TOYS

RECIPES = tuple(
    Recipe(f"toy_{name}", "", GAME, name, {key: value for key, value in TOYS[name].items() if key != "rate_against"})
    for name in ("probs", "alphazero")
)
AMOUNT = 3000


def comparison(**changes) -> Comparison:
    small = {
        "amount": AMOUNT, "seeds": 2, "points": 3, "rate_games": 8, "rate_against": "random lookahead:1",
        "battle_games": 8, "play_evaluations": 12,
    }  # fmt: skip
    return Comparison(make_game(GAME), RECIPES, **{**small, **changes})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare") / "there"
    shares: dict[str, list[float]] = {"Probs": [], "AlphaZero": []}
    spent: dict[str, list[int]] = {"Probs": [], "AlphaZero": []}
    with pytest.MonkeyPatch.context() as patch:
        for kind in (Probs, AlphaZero):
            patch.setattr(kind, "iterate", watched(kind, shares[kind.__name__], spent[kind.__name__]))
        found = compare(comparison(), folder, lambda name, done, total: None)
    return folder, found, shares, spent


def watched(kind, shares, spent):
    iterate = kind.iterate

    def watch(self, state, iteration, key, on_phase, share=None):
        state, record = iterate(self, state, iteration, key, on_phase, share)
        if share is not None:  # the iteration that compiles has none
            shares.append(share)
            # Every position that a net was asked about: those of the searches, and in PROBS one look at Q a move.
            looks = round(record["mean_turns"] * record["games"]) if kind is Probs else 0
            spent.append(record["evaluations"] + looks)
        return state, record

    return watch


@pytest.mark.slow
def test_every_training_spends_the_budget_and_no_iteration_more(finished):
    _, found, shares, spent = finished
    for name, kind in (("toy_probs", "Probs"), ("toy_alphazero", "AlphaZero")):
        starts = [i for i, share in enumerate(shares[kind]) if share == 0]
        assert len(starts) == 2, "one training a seed"
        for seed, (first, last) in enumerate(zip(starts, [*starts[1:], None], strict=True)):
            run, costs = found.points[name][seed], spent[kind][first:last]
            assert sum(costs[:-1]) < AMOUNT <= sum(costs) == run[-1].evaluations
            assert run[-1].iteration == len(costs) and run[-1].games == 8 * len(costs)
            paid = [sum(costs[:i]) / AMOUNT for i in range(len(costs))]
            assert shares[kind][first:last] == pytest.approx(paid), "learning rates follow what is spent"


@pytest.mark.slow
def test_ratings_come_at_even_steps_of_the_budget(finished):
    _, found, _, _ = finished
    for runs in found.points.values():
        for run in runs:
            assert len(run) == 3
            for number, point in enumerate(run, 1):
                assert point.evaluations >= AMOUNT * number / 3
                assert point.scores.keys() == {"random", "lookahead:1"}
            assert [point.seconds for point in run] == sorted(point.seconds for point in run)


@pytest.mark.slow
def test_agents_are_kept_and_meet_each_other_with_and_without_a_search(finished):
    folder, found, _, _ = finished
    game = make_game(GAME)
    for recipe in RECIPES:
        one, other = (
            load_trained(str(folder / f"{recipe.name}-{seed}.safetensors"), game, algorithm=recipe.algorithm)
            for seed in (0, 1)
        )
        assert one.info["iterations"] == found.points[recipe.name][0][-1].iteration
        leaves = zip(jax.tree.leaves(one.weights), jax.tree.leaves(other.weights), strict=True)
        assert any((a != b).any() for a, b in leaves), "another seed, another agent"
    expand = round(12 / (1 + mean_moves(game)))
    endings = [tuple(agent.rsplit(".", 1)[1] for agent in played.agents) for played in found.battles]
    look, search = ("safetensors", "safetensors"), (f"safetensors,expand={expand}", "safetensors,sims=12")
    assert endings == [look, look, search, search]
    assert all("toy_probs" in played.agents[0] and "toy_alphazero" in played.agents[1] for played in found.battles)


@pytest.mark.slow
def test_the_table_has_a_row_for_each_rating(finished):
    folder, found, _, _ = finished
    rows = list(csv.DictReader((folder / "compare.csv").read_text().splitlines()))
    points = [point for runs in found.points.values() for run in runs for point in run]
    assert [(row["recipe"], int(row["seed"]), int(row["evaluations"])) for row in rows] == [
        (point.recipe, point.seed, point.evaluations) for point in points
    ]
    assert float(rows[0]["score against random"]) == points[0].scores["random"]
    net = 18 * 16 + 16 + 16 * 16 + 16
    assert found.parameters == {"toy_probs": 2 * net + 17 + 17 * 9, "toy_alphazero": net + 17 * 10}


@pytest.mark.slow
def test_what_is_finished_is_not_done_again(finished, monkeypatch):
    folder, found, _, _ = finished
    trained: list[int] = []
    iterate = AlphaZero.iterate

    def count(self, state, iteration, *rest):
        trained.append(iteration)
        return iterate(self, state, iteration, *rest)

    def never(self, *_):
        raise AssertionError("PROBS is finished")

    monkeypatch.setattr(Probs, "iterate", never)
    monkeypatch.setattr(AlphaZero, "iterate", count)
    again = compare(comparison(), folder, lambda name, done, total: None)
    assert not trained and again.points == found.points
    (folder / "toy_alphazero-1.json").unlink()  # as if it had been stopped there
    again = compare(comparison(), folder, lambda name, done, total: None)
    assert len(trained) == 1 + found.points["toy_alphazero"][1][-1].iteration

    def but_seconds(runs):
        return [[point._replace(seconds=0.0) for point in run] for run in runs]

    for name in found.points:
        assert but_seconds(again.points[name]) == but_seconds(found.points[name])


@pytest.mark.slow
def test_seconds_as_a_budget_count_training_alone(tmp_path, monkeypatch):
    def iterate(self, state, iteration, key, on_phase, share=None):
        return state, {"evaluations": 10, "games": 1, "seconds": {"self_play": 1.0, "fit": 0.5}}

    monkeypatch.setattr(Probs, "iterate", iterate)
    monkeypatch.setattr(AlphaZero, "iterate", iterate)
    wanted = comparison(budget="seconds", amount=6, seeds=1, points=2, battle_games=0)
    found = compare(wanted, tmp_path / "there", lambda name, done, total: None)
    for runs in found.points.values():
        assert [(point.iteration, point.seconds) for point in runs[0]] == [(2, 3.0), (4, 6.0)]
    assert found.battles == []


@pytest.mark.slow
def test_one_iteration_may_pass_several_marks(tmp_path, monkeypatch):
    def iterate(self, state, iteration, key, on_phase, share=None):
        return state, {"evaluations": 70, "games": 1, "seconds": {}}

    monkeypatch.setattr(Probs, "iterate", iterate)
    monkeypatch.setattr(AlphaZero, "iterate", iterate)
    wanted = comparison(amount=100, seeds=1, points=4, battle_games=0)
    found = compare(wanted, tmp_path / "there", lambda name, done, total: None)
    assert [point.iteration for point in found.points["toy_probs"][0]] == [1, 1, 2, 2]


@pytest.mark.slow
def test_another_comparison_is_not_mixed_with_the_one_that_is_there(finished, tmp_path):
    folder, *_ = finished
    with pytest.raises(BadInput, match="holds another comparison, with other amount, seeds: give another folder"):
        compare(comparison(amount=5000, seeds=3), folder, lambda name, done, total: None)
    (tmp_path / "thesis.txt").write_text("dear reader")
    with pytest.raises(BadInput, match="is there already and holds no comparison to go on with"):
        compare(comparison(), tmp_path, lambda name, done, total: None)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("text", ["[{", "[]", '[{"elo": "x"}]'])
@pytest.mark.parametrize(("file", "message"), [("compare.json", "give another folder"), ("toy_probs-0.json", "remove")])
def test_damaged_files_are_named(file, message, text, tmp_path):
    wanted = comparison()
    (tmp_path / "compare.json").write_text(json.dumps(wanted.terms()))
    (tmp_path / "toy_probs-0.safetensors").write_text("")
    (tmp_path / file).write_text(text)
    with pytest.raises(BadInput, match=f"{file} is damaged.*: {message}"):
        compare(wanted, tmp_path, lambda name, done, total: None)


@pytest.mark.slow
def test_a_number_that_is_a_text_is_damage_too(finished, tmp_path):
    folder, *_ = finished
    there = tmp_path / "there"
    shutil.copytree(folder, there)
    path = there / "toy_probs-0.json"
    path.write_text(path.read_text().replace('"games": ', '"games": "many", "seconds": ', 1))
    with pytest.raises(BadInput, match=r"toy_probs-0\.json is damaged: remove it"):
        compare(comparison(), there, lambda name, done, total: None)


@pytest.mark.slow
def test_battles_may_change_when_it_goes_on_and_nobody_trains_again(finished, monkeypatch, tmp_path):
    folder, *_ = finished
    there = tmp_path / "there"
    shutil.copytree(folder, there)

    def never(self, *_):
        raise AssertionError("all is finished")

    for kind in (Probs, AlphaZero):
        monkeypatch.setattr(kind, "iterate", never)
    again = compare(comparison(battle_games=2, play_evaluations=20), there, lambda name, done, total: None)
    assert [played.games for played in again.battles] == [2] * 4 and "sims=20" in again.battles[-1].agents[1]


def test_everybody_is_rated_by_one_look_and_plays_no_gate():
    greedy = RECIPES[1].settings | {"rate_sims": 25, "gate_games": 10}
    recipes = (RECIPES[0], dataclasses.replace(RECIPES[1], settings=greedy))
    chosen = Comparison(make_game(GAME), recipes).algorithm(recipes[1]).settings
    assert (chosen.rate_sims, chosen.gate_games) == (0, 0)


def test_a_bound_is_no_number():
    point = Point("a", 0, 1, 1, 1, 1.0, 1200.0, 1100.0, 1300.0, {})
    assert (point.strength, point.bound) == (1200.0, "")
    assert (point._replace(elo=None).strength, point._replace(elo=None).bound) == (1100.0, ">")
    assert point._replace(elo=None, low=None).bound == "<"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": "coffee"}, "the budget is 'coffee', but must be evaluations or seconds"),
        ({"amount": 0}, "amount is 0, but must be 1 to 1e.15"),
        ({"amount": float("nan")}, "amount is nan, but must be 1 to 1e.15"),
        ({"amount": float("inf")}, "amount is inf, but must be 1 to 1e.15"),
        ({"seeds": 0}, "seeds is 0, but must be 1 to 1000"),
        ({"points": 10**10}, "points is 1e.10, but must be 1 to 1000"),
        ({"play_evaluations": 10**6}, "play_evaluations is 1e.06, but must be 1 to 100000"),
        ({"rate_games": 5}, "rate_games is 5, but must be even"),
    ],
)
def test_wrong_terms_get_one_line(changes, message):
    with pytest.raises(BadInput, match=message):
        comparison(**changes)


def test_recipes_must_be_several_and_for_the_game():
    with pytest.raises(BadInput, match="two recipes or more can be compared, and none twice, but these are: toy_probs"):
        Comparison(make_game(GAME), RECIPES[:1])
    with pytest.raises(BadInput, match="none twice, but these are: toy_probs toy_probs"):
        Comparison(make_game(GAME), RECIPES[:1] * 2)
    with pytest.raises(BadInput, match="the recipe toy_probs is for tic_tac_toe, not kalah"):
        Comparison(make_game("kalah"), RECIPES)


def test_a_comparison_that_was_begun_with_a_setting_that_is_no_more_goes_on(tmp_path):
    wanted = comparison()
    before = wanted.terms()
    before["recipes"]["toy_probs"]["noise_alpha"] = 0.5
    assert wanted.renew(before) == wanted.terms() != before
    (tmp_path / "compare.json").write_text(json.dumps(before))
    prepare_folder(tmp_path, "compare.json", wanted.terms(), "comparison", renew=wanted.renew)
    before["recipes"]["toy_probs"]["noise"] = 0.5
    for text in (json.dumps(before), "[]", '{"recipes": 3}', '{"recipes": {"toy_probs": 3}}', "{}"):
        (tmp_path / "compare.json").write_text(text)
        with pytest.raises(BadInput, match=r"with other recipes: give another|is damaged or cannot be read"):
            prepare_folder(tmp_path, "compare.json", wanted.terms(), "comparison", renew=wanted.renew)
