"""Every setting is explained and checked; every recipe is whole."""

from __future__ import annotations

import dataclasses
import importlib.resources
import tomllib

import pytest

from beamzero.errors import BadInput
from beamzero.games import make_game
from beamzero.spec import field_types
from beamzero.training.config import (
    _RANGES,
    CHANGEABLE,
    ProbsSettings,
    describe_settings,
    find_recipe,
    list_recipes,
    make_settings,
    settle,
)
from beamzero.training.probs import Probs

FIELDS = field_types(ProbsSettings)


def test_every_setting_has_a_docstring_of_its_own():
    rows = describe_settings()
    assert [name for name, _, _ in rows] == list(FIELDS)
    docs = [doc for _, _, doc in rows]
    assert all(doc.strip() and doc.rstrip().endswith((".", ")")) for doc in docs) and len(set(docs)) == len(docs)
    assert {name: default for name, default, _ in rows} == dataclasses.asdict(ProbsSettings())


def test_every_number_has_a_range_that_holds_its_default():
    assert _RANGES.keys() == {name for name, kind in FIELDS.items() if kind in (int, float)}
    for name, (low, high) in _RANGES.items():
        assert low <= getattr(ProbsSettings(), name) <= high


@pytest.mark.parametrize("name", _RANGES)
def test_a_number_out_of_range_is_refused(name):
    low, high = _RANGES[name]
    for value in (low - 1, high * 2 + 1):
        with pytest.raises(BadInput, match=f"^{name} is {value}, but must be {low} to {high}$"):
            make_settings(None, {name: value})


@pytest.mark.parametrize("name", [name for name, kind in FIELDS.items() if kind is not str])
def test_a_text_of_the_wrong_type_is_refused(name):
    with pytest.raises(BadInput, match=f"{name} is 'soon', but must be (true or false|a whole number|a number)"):
        make_settings(None, {name: "soon"})


def test_texts_become_values_of_the_right_type():
    texts = {"games": "64", "temperature": "1", "symmetry": "false", "q_net": "mlp:width=8"}
    made = make_settings(None, texts)
    assert (made.games, made.symmetry, made.q_net) == (64, False, "mlp:width=8")
    assert made.temperature == 1.0 and isinstance(made.temperature, float)
    assert (
        dataclasses.replace(made, games=1000, temperature=0.1, symmetry=True, q_net=ProbsSettings.q_net)
        == ProbsSettings()
    )


def test_changes_go_over_the_recipe_and_the_recipe_over_the_defaults():
    recipe = find_recipe("connect_four_paper_small")
    made = make_settings(recipe, {"expand": "30"})
    assert (made.expand, made.temperature, made.keep_checkpoints) == (30, 1.0, ProbsSettings.keep_checkpoints)


def test_what_may_change_in_a_run_is_how_it_is_measured_and_saved():
    assert FIELDS.keys() > CHANGEABLE
    assert {name for name in FIELDS if name.startswith(("rate_", "anchor_", "checkpoint", "keep_"))} == CHANGEABLE


def test_settle_decides_once_what_depends_on_the_machine():
    settled = settle(ProbsSettings(), make_game("connect_four"))
    assert settled.precision == "float32" and settled.search_batch > 0
    assert settle(settled, make_game("connect_four")) == settled
    chosen = settle(ProbsSettings(search_batch=7, precision="bfloat16"), make_game("connect_four"))
    assert (chosen.search_batch, chosen.precision) == (7, "bfloat16")
    assert settle(ProbsSettings(expand=100_000), make_game("connect_four")).search_batch < 100, "memory sets a limit"


def test_q_games_must_fit():
    assert ProbsSettings(games=10, q_games=6, q_games_per_step=3).q_games_per_step == 3
    for wrong in ({"q_games": 11}, {"q_games_per_step": 3}, {"q_games": 6, "q_games_per_step": 4}):
        with pytest.raises(BadInput, match="q_games"):
            ProbsSettings(games=10, **wrong)


# --- recipes ---------------------------------------------------------------------------------------------------------


def test_every_recipe_file_is_listed_and_the_papers_and_ours_are_there():
    files = {f.name for f in (importlib.resources.files("beamzero") / "recipes").iterdir() if f.name.endswith(".toml")}
    assert {f"{name}.toml" for name in list_recipes()} == files
    assert {
        "connect_four_paper_small", "connect_four_paper_large", "connect_four_quick",
        "othello_paper", "togyzkumalak_paper", "chess6x6_readme",
    } <= list_recipes().keys()  # fmt: skip
    with pytest.raises(BadInput, match=r"unknown recipe 'connect_four'; did you mean"):
        find_recipe("connect_four")


@pytest.mark.parametrize("name", list_recipes())
def test_a_recipe_names_a_known_game_and_settings_of_the_right_type_in_range(name):
    recipe = find_recipe(name)
    game = make_game(recipe.game)
    assert (recipe.name, recipe.algorithm) == (name, "probs") and recipe.about
    for key, value in recipe.settings.items():
        assert type(value) is FIELDS[key], key
    algorithm = Probs(game, make_settings(recipe, {}))
    assert algorithm.value_net.shapes() and algorithm.q_net.shapes(), "its nets fit the game"


def test_a_recipe_has_nothing_but_what_is_read():
    for file in (importlib.resources.files("beamzero") / "recipes").iterdir():
        if file.name.endswith(".toml"):
            assert tomllib.loads(file.read_text()).keys() == {"about", "game", "algorithm", "settings"}


PAPER = {
    "q_games": 0, "q_games_per_step": 0, "max_turns": 100, "replay_capacity": 100_000, "drop_ratio": 0.0,
    "temperature": 1.0, "sampled_moves": 0, "noise": 0.25, "final_learning_rate": 1.0, "value_batch_size": 128,
    "q_batch_size": 128, "value_passes": 1, "q_passes": 1, "symmetry": False, "strict_depth": False,
}  # fmt: skip


def settings_of(name, keys):
    made = make_settings(find_recipe(name), {})
    return {key: getattr(made, key) for key in keys}


@pytest.mark.parametrize("size", ["small", "large"])
def test_the_papers_recipes_are_section_6_of_the_paper(size):
    paper = {
        **PAPER, "iterations": 100, "games": 1000, "noise_alpha": 0.5, "value_learning_rate": 0.003,
        "q_learning_rate": 0.003, "rate_every": 1,
    }  # fmt: skip
    assert settings_of(f"connect_four_paper_{size}", paper) == paper
    made = make_settings(find_recipe(f"connect_four_paper_{size}"), {})
    assert made.expand in (10, 30, 100) and made.depth in (2, 3, 99)


@pytest.mark.parametrize(
    ("name", "iterations", "expand", "rate"),
    [("togyzkumalak_paper", 326, 50, 0.0003), ("othello_paper", 200, 500, 0.001)],
)
def test_the_papers_larger_games_are_section_6_of_the_paper_too(name, iterations, expand, rate):
    paper = {
        **PAPER, "iterations": iterations, "games": 200, "expand": expand, "depth": 5, "noise_alpha": 0.2,
        "value_learning_rate": rate, "q_learning_rate": rate,
    }  # fmt: skip
    assert settings_of(name, paper) == paper


def test_the_readmes_recipe_is_the_readmes_command_in_whole_moves():
    readme = {
        "games": 6000, "q_games": 3000, "q_games_per_step": 3000, "drop_ratio": 0.75, "value_learning_rate": 0.0003,
        "q_learning_rate": 0.0003, "value_batch_size": 256, "q_batch_size": 256, "max_turns": 200 // 2, "expand": 50,
        "depth": 100, "sampled_moves": 20 // 2, "rate_games": 100,
    }  # fmt: skip
    assert settings_of("chess6x6_readme", readme) == readme
