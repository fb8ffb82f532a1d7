"""The recipes that come with beamzero can be followed."""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.search.memory import total_bytes
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.loop import train
from beamzero.training.recipes import check_game, find_recipe, list_recipes, make_settings
from beamzero.training.request import RunRequest
from tests.training.toy import NET, numbers

TOY_SIZE: dict[str, dict[str, Any]] = {
    "probs": {"expand": 2, "value_net": NET, "q_net": NET, "search_batch": 64, "drop_ratio": 0},
    "alphazero": {"sims": 2, "net": NET, "window": 200, "batch_size": 16, "batches": 2, "lanes": 1, "gate_games": 0},
    "td": {"value_net": NET, "batch_size": 16},
}


def kinds_of_recipes() -> list[str]:
    """One recipe of Connect Four for each algorithm, and for PROBS with Q taught by some games and by all; and one of
    the largest games for each algorithm.

    What a run compiles takes long, and other games add nothing to it that tests of their rules do not see.
    """
    kinds: dict[Any, str] = {}
    for name, recipe in list_recipes().items():
        if (recipe.game, recipe.algorithm) in {
            ("connect_four", "probs"), ("connect_four", "alphazero"), ("togyzkumalak", "probs"), ("chess", "alphazero"),
            ("backgammon", "td"),
        }:  # fmt: skip
            kinds.setdefault((recipe.game, recipe.algorithm, bool(recipe.settings.get("q_games"))), name)
    return list(kinds.values())


@functools.cache
def first_shapes(game: str, algorithm: str, nets: tuple[tuple[str, str], ...]) -> Any:
    """What a run with these nets begins with; other settings make no difference to them."""
    made = ALGORITHMS[algorithm](make_game(game), make_settings(None, dict(nets), algorithm))
    return jax.eval_shape(made.init, jax.random.key(0)).as_tree()


@pytest.mark.slow
@pytest.mark.parametrize("name", list_recipes())
def test_every_recipe_has_settings_and_nets_for_its_game(name):
    recipe = list_recipes()[name]
    settings = dataclasses.asdict(make_settings(recipe, {}).resolved(make_game(recipe.game)))
    nets = tuple((key, value) for key, value in settings.items() if key.endswith("net"))
    state = first_shapes(recipe.game, recipe.algorithm, nets)
    weights = [leaf for leaf in jax.tree.leaves(state) if jnp.issubdtype(leaf.dtype, jnp.floating)]
    assert nets and weights and all(leaf.size for leaf in weights)


@pytest.mark.parametrize("name", list_recipes())
def test_every_recipe_fits_into_the_memory_of_the_machine_that_it_is_for(name):
    """Those for a GPU are meant for eighty gigabytes; the others for a computer with eight, of which six are free."""
    recipe = list_recipes()[name]
    game = make_game(recipe.game)
    made = ALGORITHMS[recipe.algorithm](game, make_settings(recipe, {}).resolved(game))
    gigabytes = 80 if "GPU" in recipe.about or "H200" in recipe.takes else 6
    assert total_bytes(made.bytes_needed()) < gigabytes * 2**30


@pytest.mark.parametrize("name", list_recipes())
def test_a_recipe_says_how_long_it_takes_and_on_what_or_nothing(name):
    """Those for `beamzero compare` last as long as their budget; an empty text of others was not measured yet."""
    recipe = list_recipes()[name]
    time, machine = r"(half a minute|1 minute|[1-9]\d* minutes|1 hour|[1-9]\d* hours)", r"(2 cores|an H200)"
    assert re.fullmatch(f"({time} on {machine})?", recipe.takes)
    assert recipe.takes or not name.endswith(("_quick", "_strong", "_best", "_finish"))


@pytest.mark.slow
@pytest.mark.parametrize("name", kinds_of_recipes())
def test_recipes_run_at_toy_size(name, tmp_path):
    recipe = list_recipes()[name]
    rated = recipe.game == "connect_four"  # Battles in larger games take long to compile, and are no part of a recipe.
    changes = {
        **TOY_SIZE[recipe.algorithm], "games": 8, "max_turns": 12, "iterations": 1, "rate_every": int(rated),
        "rate_games": 4, "anchor_games": 4, "rate_against": "random", "climb_every": 0,
    }  # fmt: skip
    some = 4 if recipe.settings.get("q_games") else 0
    if recipe.algorithm == "probs":
        changes |= {"q_games": some, "q_games_per_step": some}
    outcome = train(RunRequest(recipe.game, tmp_path / "run", recipe=recipe, changes=changes))
    (record,) = numbers(tmp_path / "run")
    assert outcome.iterations == 1 and record["states"] > 8
    if recipe.algorithm == "probs":
        assert 0 < record["searched"] < record["states"] if some else record["searched"] == record["states"]
    assert outcome.rating == record.get("rating") and (outcome.rating is not None) == rated


MINE = """
about = "mine"
game = "tic_tac_toe"
algorithm = "probs"

[settings]
games = 12
"""


def test_a_recipe_of_ones_own_is_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(MINE)
    recipe = find_recipe(str(path))
    assert (recipe.name, recipe.game, make_settings(recipe, {}).games) == ("mine", "tic_tac_toe", 12)
    check_game(recipe, make_game("tic_tac_toe"))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("games = ", "cannot be read: Invalid value"),
        (
            MINE.replace("[settings]", "[setings]"),
            "has no entry 'setings' (it has: about, takes, game, algorithm, settings)",
        ),
        (MINE.replace('algorithm = "probs"', ""), "needs a text 'algorithm'"),
        (MINE.replace("probs", "probz"), "unknown algorithm 'probz'; did you mean probs?"),
        (MINE + 'rate_against = "random uci:program"', "rates against a program, which is started only by --set"),
    ],
)
def test_a_file_that_is_no_recipe_is_refused_in_one_line(tmp_path, text, wrong):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(BadInput) as error:
        find_recipe(str(tmp_path / "mine.toml"))
    assert wrong in str(error.value) and "\n" not in str(error.value)
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        find_recipe(str(tmp_path / "none.toml"))


def test_a_recipe_runs_no_game_that_it_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text("open('ran', 'w').close()")
    (tmp_path / "mine.toml").write_text(MINE.replace("tic_tac_toe", "evil.py:X"))
    with pytest.raises(BadInput, match=r"it is of 'evil\.py:X', not of 'tic_tac_toe'"):
        check_game(find_recipe("mine.toml"), make_game("tic_tac_toe"))
    assert not (tmp_path / "ran").exists()
