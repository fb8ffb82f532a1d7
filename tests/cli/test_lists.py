"""What there is, for people and as JSON; and a run's agent as a file."""

from __future__ import annotations

import dataclasses
import json
import shutil
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from beamzero.algorithms.alphazero.settings import AlphaZeroSettings
from beamzero.arena.rating import elo_text
from beamzero.cli import main
from beamzero.cli.common import same_decimals, short_number
from beamzero.games import GAMES, make_game
from beamzero.games.connect_four import ConnectFour
from beamzero.players.trained import load_trained
from beamzero.storage.agentfile import load_agent
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.recipes import Recipe, list_recipes
from beamzero.training.settings import describe_settings
from tests.cli.json_keys import check_keys
from tests.training.toy import GAME, run_toy, same_bits


@pytest.fixture(scope="module")
def folder(tmp_path_factory, begun_run, rated_run):
    folder = tmp_path_factory.mktemp("runs")
    shutil.copytree(rated_run, folder / "rated")
    shutil.copytree(begun_run, folder / "group" / "begun")
    (folder / "broken").mkdir()
    (folder / "broken" / "run.json").write_text("{")
    return folder


def run_main(capsys, *words: str) -> str:
    assert main(list(words)) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_games(capsys):
    result = json.loads(run_main(capsys, "games", "--json"))
    rows = result["games"]
    assert "pgx:go_9x9" in result["pgx"] and "open_spiel:hex" in result["open_spiel"]
    assert [row["name"] for row in rows] == list(GAMES)
    by_name = {row["name"]: row for row in rows}
    assert by_name["connect_four"]["parameters"] == {"rows": 6, "columns": 7, "length": 4}
    assert by_name["connect_four"]["actions"] == 7 and all(row["about"] for row in rows)
    assert result["unusable"] == {}
    text = run_main(capsys, "games")
    others = [name.partition(":")[2] for name in (*result["pgx"], *result["open_spiel"])]
    assert {*GAMES, *others} <= set(text.split()), "whole, whatever the width"
    assert "rows=6, columns=7, length=4" in " ".join(text.split()) and "pgx:NAME" in text


def test_games_of_installed_packages(capsys, monkeypatch):
    class Sevens(ConnectFour):
        """Connect four as a package has it."""

        name = "sevens"

    def broken():
        raise ImportError("no module\nnamed x")

    loads = {"sevens": lambda: Sevens, "five": lambda: 5, "broken": broken}
    points = {name: SimpleNamespace(name=name, load=load) for name, load in loads.items()}
    monkeypatch.setitem(GAMES.__dict__, "_offered", points)
    monkeypatch.setattr(GAMES, "_registered", {})
    result = json.loads(run_main(capsys, "games", "--json"))
    check_keys("games", result)
    about = {"name": "sevens", "about": "Connect four as a package has it.", "actions": 7}
    assert result["games"][-1] == {**about, "parameters": {"rows": 6, "columns": 7, "length": 4}}
    assert [row["name"] for row in result["games"]] == [*GAMES.built_in, "sevens"]
    assert result["unusable"] == {
        "five": "'five' cannot be played: it is no Game",
        "broken": "the game 'broken' cannot be loaded: ImportError: no module named x",
    }
    text = run_main(capsys, "games")
    assert "\n sevens " in text and "an installed package offers five: 'five' cannot be played" in text
    assert run_main(capsys, "perft", "sevens:rows=4", "1").split() == ["1", "7"]


def test_agents(capsys):
    result = json.loads(run_main(capsys, "agents", "--json"))
    assert result.keys() == {"agents", "shipped"}
    known = {"random", "lookahead:D", "probs:PATH", "alphazero:PATH", "alphazero:PATH,sims=N", "mcts:sims=N"}
    assert known <= result["agents"].keys()
    assert "human" not in result["agents"], "which only play takes"
    text = run_main(capsys, "agents")
    assert all(name in text for name in [*result["agents"], *result["shipped"]])


def test_recipes(capsys):
    found = json.loads(run_main(capsys, "recipes", "--json"))["recipes"]
    assert found.keys() == list_recipes().keys()
    assert all(row.keys() == {"game", "algorithm", "about", "takes"} for row in found.values())
    lines = run_main(capsys, "recipes").splitlines()
    games = [row["game"] for row in found.values()]
    assert [line for line in lines if line in games] == list(dict.fromkeys(games)), "a game once"
    named = {line.split()[0]: line.split(maxsplit=2)[1:] for line in lines if line[:4].strip() and line[0] == " "}
    assert named == {name: [row["algorithm"], row["takes"] or "-"] for name, row in found.items()}
    words = set(" ".join(lines).split())
    assert all(set(row["about"].split()) <= words for row in found.values()) and max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", list_recipes())
def test_one_recipe_with_every_setting(capsys, name):
    shown = json.loads(run_main(capsys, "recipes", name, "--json"))
    recipe = list_recipes()[name]
    kind = ALGORITHMS[recipe.algorithm].settings_type
    assert (shown["recipe"], shown["game"], shown["algorithm"]) == (name, recipe.game, recipe.algorithm)
    assert shown["settings"].keys() == {field.name for field in dataclasses.fields(kind)}
    assert shown["settings"].items() >= dict(recipe.settings).items()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_recipe_for_people_says_what_every_setting_means(capsys, algorithm):
    name = next(name for name, recipe in list_recipes().items() if recipe.algorithm == algorithm)
    text = run_main(capsys, "recipes", name)
    for key, _, doc in describe_settings(ALGORITHMS[algorithm].settings_type):
        assert f"\n {key} " in text and doc.split()[0] in text


def test_a_recipe_of_alphazero_shows_its_settings(capsys, monkeypatch):
    recipe = Recipe("toy", "A toy.", "tic_tac_toe", "alphazero", {"sims": 25})
    monkeypatch.setattr("beamzero.cli.commands.lists.find_recipe", {"toy": recipe}.get)
    shown = json.loads(run_main(capsys, "recipes", "toy", "--json"))
    assert shown["algorithm"] == "alphazero"
    assert shown["settings"] == dataclasses.asdict(AlphaZeroSettings(sims=25))
    text = run_main(capsys, "recipes", "toy")
    assert text.startswith("toy: A toy. (game tic_tac_toe, by AlphaZero)\nhow long it takes was not measured")
    assert "\n sims " in text and "\n rate_every " in text and "expand" not in text


def test_runs(capsys, folder):
    rows = {row["run"]: row for row in json.loads(run_main(capsys, "runs", str(folder), "--json"))["runs"]}
    assert rows.keys() == {str(folder / name) for name in ("rated", "group/begun", "broken")}
    keys = {"run", "game", "algorithm", "iterations", "rating", "modified", "damaged"}
    assert all(row.keys() == keys for row in rows.values())
    rated = rows[str(folder / "rated")]
    assert (rated["game"], rated["algorithm"], rated["iterations"], rated["damaged"]) == (GAME, "probs", 2, None)
    assert rated["rating"]["scores"].keys() == {"random", "lookahead:1"}
    assert rows[str(folder / "group/begun")]["rating"] is None
    assert "damaged" in rows[str(folder / "broken")]["damaged"]
    text = run_main(capsys, "runs", str(folder))
    lines = text.splitlines()
    assert lines[0].split() == ["run"] and lines[1].split()[:2] == ["game", "algorithm"], "which do not fit beside it"
    assert {f" {folder / 'rated'}", f" {folder / 'group/begun'}"} <= set(lines), "whole paths"
    assert max(len(line) for line in lines if str(folder) not in line) <= 80
    assert lines[-1].startswith(f"damaged: {folder / 'broken'}: ")


def test_runs_whose_paths_are_short_are_a_table(capsys, folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr("beamzero.cli.common.out._width", 100)
    lines = run_main(capsys, "runs", folder.name).splitlines()
    assert lines[0].split()[:3] == ["run", "game", "algorithm"] and len(lines) == 4


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [([0.0123, 45.678], ["0.012", "45.678"]), ([2.1, 1234], ["2.1", "1,234.0"]), ([0.0], ["0.0"]), ([30], ["30"])],
)
def test_the_numbers_of_a_column_have_the_same_decimals(numbers, texts):
    assert same_decimals(numbers) == texts


@pytest.mark.parametrize(("number", "text"), [(12_345_678, "12.3M"), (4775, "4.8K"), (2e9, "2.0G"), (950, "950")])
def test_a_large_number_has_one_decimal(number, text):
    assert short_number(number) == text


def test_where_there_are_no_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_main(capsys, "runs") == "no runs in runs; beamzero train makes one\n"
    assert json.loads(run_main(capsys, "runs", "--json")) == {"runs": []}
    assert not list(tmp_path.iterdir())


def test_export_writes_the_agent_of_any_checkpoint(capsys, folder, tmp_path):
    file = tmp_path / "agent.safetensors"
    result = json.loads(run_main(capsys, "export", str(folder / "rated"), str(file), "--json"))
    assert result == {"file": str(file), "game": GAME, "iterations": 2}
    trained, run = (load_trained(str(place), make_game(GAME)) for place in (file, folder / "rated"))
    assert same_bits(trained.weights, run.weights)
    text = run_main(capsys, "export", str(folder / "rated"), str(file), "--checkpoint", "1")
    assert "tic_tac_toe, 1 iterations" in " ".join(text.split())
    assert load_trained(str(file), make_game(GAME)).info["iterations"] == 1
    assert json.loads(run_main(capsys, "export", str(folder / "rated"), str(file), "--checkpoint", "best", "--json"))[
        "iterations"
    ] in (1, 2)


def test_export_halves_a_file_by_rounding_its_weights(capsys, folder, tmp_path):
    whole, half = (tmp_path / f"{name}.safetensors" for name in ("whole", "half"))
    run_main(capsys, "export", str(folder / "rated"), str(whole))
    run_main(capsys, "export", str(folder / "rated"), str(half), "--half")
    tensors = [load_agent(file)[0] for file in (whole, half)]
    assert sum(tensor.nbytes for tensor in tensors[0].values()) == 2 * sum(x.nbytes for x in tensors[1].values())
    assert half.stat().st_size < whole.stat().st_size
    exact, rounded = (load_trained(str(file), make_game(GAME)).weights for file in (whole, half))
    for one, other in zip(jax.tree.leaves(exact), jax.tree.leaves(rounded), strict=True):
        assert other.dtype == one.dtype
        np.testing.assert_allclose(other, one, rtol=2**-11, atol=2**-24)


@pytest.mark.slow
def test_export_takes_the_agent_of_either_algorithm(capsys, tmp_path):
    file = tmp_path / "agent.safetensors"
    run_toy(tmp_path / "run", algorithm="alphazero", iterations=1, rate_every=0)
    result = json.loads(run_main(capsys, "export", str(tmp_path / "run"), str(file), "--json"))
    assert result == {"file": str(file), "game": GAME, "iterations": 1}
    trained, run = (
        load_trained(str(place), make_game(GAME), algorithm="alphazero") for place in (file, tmp_path / "run")
    )
    assert same_bits(trained.weights, run.weights)


@pytest.mark.parametrize(
    ("rating", "text"),
    [
        (None, "-"),
        ({"elo": 1234.6, "low": 1200.2, "high": 1270.0}, "1235 [1200, 1270]"),
        ({"elo": None, "low": 1500.4, "high": None}, "over 1500"),
        ({"elo": None, "low": None, "high": 700.0}, "under 700"),
        ({"elo": None, "low": None, "high": None}, "unknown"),
    ],
)
def test_a_rating_as_text(rating, text):
    assert elo_text(rating) == text
