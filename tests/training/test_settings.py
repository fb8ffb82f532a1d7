"""Every setting is explained and checked; every recipe is whole."""

from __future__ import annotations

import dataclasses
import importlib.resources
import tomllib

import pytest

from beamzero.algorithms.alphazero.settings import AlphaZeroSettings
from beamzero.algorithms.probs.settings import ProbsSettings
from beamzero.algorithms.td.settings import TdSettings
from beamzero.core.errors import BadInput
from beamzero.core.spec import field_types
from beamzero.games import make_game
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.recipes import Recipe, check_game, find_recipe, list_recipes, make_settings
from beamzero.training.settings import RunSettings, changeable_settings, describe_settings, setting_ranges

KINDS = {name: kind.settings_type for name, kind in ALGORITHMS.items()}
FIELDS = {name: field_types(kind) for name, kind in KINDS.items()}
NUMBERS = [(algorithm, name) for algorithm, kind in KINDS.items() for name in setting_ranges(kind)]
both = pytest.mark.parametrize("algorithm", KINDS)


def test_all_algorithms_have_what_every_run_has():
    assert {"probs": ProbsSettings, "alphazero": AlphaZeroSettings, "td": TdSettings} == KINDS
    for fields in FIELDS.values():
        assert field_types(RunSettings).items() < fields.items()


@both
def test_every_setting_has_a_docstring_of_its_own(algorithm):
    rows = describe_settings(KINDS[algorithm])
    assert [name for name, _, _ in rows] == list(FIELDS[algorithm])
    docs = [doc for _, _, doc in rows]
    assert all(doc.strip() and doc.rstrip().endswith((".", ")")) for doc in docs) and len(set(docs)) == len(docs)
    assert {name: default for name, default, _ in rows} == dataclasses.asdict(KINDS[algorithm]())


@both
def test_every_number_has_a_range_that_holds_its_default(algorithm):
    ranges = setting_ranges(KINDS[algorithm])
    assert ranges.keys() == {name for name, kind in FIELDS[algorithm].items() if kind in (int, float)}
    for name, (low, high) in ranges.items():
        assert low <= getattr(KINDS[algorithm](), name) <= high


@pytest.mark.parametrize(("algorithm", "name"), NUMBERS)
def test_a_number_out_of_range_is_refused(algorithm, name):
    low, high = setting_ranges(KINDS[algorithm])[name]
    for value in (low - 1, high * 2 + 1):
        with pytest.raises(BadInput, match=f"^{name} is {value}, but must be {low} to {high}$"):
            make_settings(None, {name: value}, algorithm)


@both
def test_help_says_what_each_setting_means(algorithm):
    kind = ALGORITHMS[algorithm].settings_type
    said = kind.__doc__.partition("Settings, with their defaults:")[2].strip().splitlines()
    assert said == [f"- {name}={default!r}: {about}" for name, default, about in describe_settings(kind)]


@both
def test_a_text_of_the_wrong_type_is_refused(algorithm):
    for name in (name for name, kind in FIELDS[algorithm].items() if kind is not str):
        with pytest.raises(BadInput, match=f"{name} is 'soon', but must be (true or false|a whole number|a number)"):
            make_settings(None, {name: "soon"}, algorithm)


def test_a_setting_of_the_other_algorithm_is_refused():
    with pytest.raises(BadInput, match=r"^a run of AlphaZero has no setting 'expand' \(it has: iterations, games, "):
        make_settings(None, {"expand": 3}, "alphazero")
    with pytest.raises(BadInput, match=r"^a run of PROBS has no setting 'sims' \(it has: iterations, games, "):
        make_settings(None, {"sims": 3})


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


def test_a_setting_that_changed_nothing_is_read_in_what_was_written_before_and_known_no_more():
    before = Recipe("before", "Of an earlier version.", "tic_tac_toe", "probs", {"noise": 0.5, "noise_alpha": 0.2})
    assert make_settings(before, {}) == ProbsSettings(noise=0.5)
    with pytest.raises(BadInput, match="a run of PROBS has no setting 'noise_alpha'"):
        make_settings(before, {"noise_alpha": "0.2"})


@pytest.mark.parametrize(("algorithm", "kind"), KINDS.items())
def test_settings_made_in_python_need_nothing_resolved_first(algorithm, kind):
    game = make_game("tic_tac_toe")
    made = ALGORITHMS[algorithm](game, kind())
    assert made.settings == kind().resolved(game) and made == ALGORITHMS[algorithm](game, made.settings)
    assert made.settings.precision == "float32" and "random" in made.settings.rate_against
    assert sum(made.bytes_needed().values()) > 0


def test_what_may_change_in_a_run_is_how_it_is_measured_and_saved():
    every = {name for fields in FIELDS.values() for name in fields}
    changeable = {name for kind in KINDS.values() for name in changeable_settings(kind)}
    assert every > changeable
    measured = ("rate_", "anchor_", "climb_", "checkpoint", "keep_")
    assert {name for name in every if name.startswith(measured)} == changeable


def test_defaults_that_depend_on_the_machine_are_resolved_once_what_depends_on_the_machine():
    settled = ProbsSettings().resolved(make_game("connect_four"))
    assert settled.precision == "float32" and settled.search_batch > 0
    assert settled.resolved(make_game("connect_four")) == settled
    chosen = ProbsSettings(search_batch=7, precision="bfloat16").resolved(make_game("connect_four"))
    assert (chosen.search_batch, chosen.precision) == (7, "bfloat16")
    assert ProbsSettings(expand=100_000).resolved(make_game("connect_four")).search_batch < 100, "memory sets a limit"


@pytest.mark.parametrize(
    ("games", "lanes"), [(1000, 8), (64, 8), (56, 4), (100, 4), (32, 4), (16, 2), (15, 1), (8, 1), (1, 1), (999, 1)]
)
def test_the_games_of_alphazero_are_shared_among_cores_in_equal_parts_of_eight_or_more(games, lanes):
    settled = AlphaZeroSettings(games=games).resolved(make_game("tic_tac_toe"))
    assert (settled.lanes, settled.precision) == (lanes, "float32") and "random" in settled.rate_against
    assert settled.resolved(make_game("tic_tac_toe")) == settled
    assert AlphaZeroSettings(games=games, lanes=1).resolved(make_game("tic_tac_toe")).lanes == 1


def test_a_gpu_plays_all_games_of_alphazero_as_one_batch(monkeypatch):
    monkeypatch.setattr("jax.default_backend", lambda: "gpu")
    settled = AlphaZeroSettings(rate_against="random").resolved(make_game("tic_tac_toe"))
    assert (settled.lanes, settled.precision) == (1, "bfloat16")


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"sims": 0}, "sims is 0, but must be 1 to 100000"),
        ({"search": "random"}, "search is 'random', but must be puct or gumbel"),
        ({"gate_games": 7}, "gate_games is 7, but must be even: openings are played with both colours"),
        ({"lanes": 3, "games": 8}, "lanes is 3, but must divide the 8 games of an iteration"),
        ({"net": "mlp:width=0"}, "mlp: width is 0, but must be 1 to 8192"),
        (
            {"search_value": 0.6, "evaluation_value": 0.5},
            "search_value and evaluation_value are shares of one whole: together at most 1",
        ),
        ({"handicap": 0.5}, "handicap is about the random moves that games begin with: set random_plies too"),
        ({"unvisited": -2}, "unvisited is -2.0, but must be -1.0 to 1.0"),
    ],
)
def test_settings_of_alphazero_are_checked(wrong, line):
    with pytest.raises(BadInput) as error:
        make_settings(None, wrong, "alphazero")
    assert str(error.value) == line


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
    check_game(recipe, make_game(recipe.game))
    assert recipe.name == name and recipe.algorithm in KINDS and recipe.about
    for key, value in recipe.settings.items():
        assert type(value) is FIELDS[recipe.algorithm][key], key
    make_settings(recipe, {})


def test_a_recipe_for_the_other_algorithm_is_refused():
    recipe = find_recipe("connect_four_quick")
    assert make_settings(recipe, {}, "probs") == make_settings(recipe, {})
    with pytest.raises(BadInput, match=r"^the recipe connect_four_quick is for probs, not alphazero$"):
        make_settings(recipe, {}, "alphazero")
    other = dataclasses.replace(recipe, algorithm="alphazero", settings={"sims": 7})
    assert make_settings(other, {}).sims == 7, "without a word it is the recipe's own algorithm"
    with pytest.raises(BadInput, match=r"^the recipe connect_four_quick is for alphazero, not probs$"):
        make_settings(other, {}, "probs")
    with pytest.raises(BadInput, match=r"^unknown algorithm 'sarsa' \(there are: alphazero, probs, td\)$"):
        make_settings(None, {}, "sarsa")


def test_a_recipe_serves_the_variants_of_its_game_but_no_other_game():
    recipe = find_recipe("kalah_alphazero_quick")
    check_game(recipe, make_game("kalah"))
    check_game(recipe, make_game("kalah:empty_capture=true"))
    with pytest.raises(BadInput, match=r"^the recipe kalah_alphazero_quick is for kalah, not togyzkumalak$"):
        check_game(recipe, make_game("togyzkumalak"))
    variant = dataclasses.replace(recipe, game="kalah:houses=4")
    check_game(variant, make_game("kalah:houses=4"))
    for other in ("kalah", "kalah:houses=5"):
        with pytest.raises(BadInput, match=f"is for kalah:houses=4, not {other}$"):
            check_game(variant, make_game(other))


def test_a_recipe_has_nothing_but_what_is_read():
    for file in (importlib.resources.files("beamzero") / "recipes").iterdir():
        if file.name.endswith(".toml"):
            assert tomllib.loads(file.read_text()).keys() - {"takes"} == {"about", "game", "algorithm", "settings"}


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
        **PAPER, "iterations": 100, "games": 1000, "value_learning_rate": 0.003, "q_learning_rate": 0.003,
        "rate_every": 1,
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
        **PAPER, "iterations": iterations, "games": 200, "expand": expand, "depth": 5,
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
