"""A run climbs its ladder when it should, remembers how far it came, and learns the same as if it never had."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from beamzero.arena.ladder import make_ladder, play_ladder
from beamzero.cli import main
from beamzero.core.compiler import CompilationCount
from beamzero.games import make_game
from beamzero.nets import Net, count_parameters, make_net
from beamzero.players import make_player
from beamzero.storage.run import Run
from beamzero.training.measure import make_ladder_opponents
from beamzero.training.pictures import draw_run
from beamzero.training.recipes import find_recipe, make_settings
from beamzero.training.report import Report
from tests.training.toy import GAME, command, numbers, run_toy, same_bits, saved_tree, tree_hash

pytestmark = pytest.mark.slow  # every test trains and plays ladders

CLIMBING = {"algorithm": "alphazero", "seed": 5, "rate_every": 0, "keep_checkpoints": 10}
LADDER = {"climb_every": 3, "climb_depth": 3, "climb_by": "nothing"}
WHEN = [3, 6, 8]
"""The iterations after which a run of eight climbs: every third, and the last."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A run that climbed and was never stopped."""
    folder = tmp_path_factory.mktemp("climbing") / "run"
    run_toy(folder, **CLIMBING, **LADDER, pictures=True)
    return folder


def climbs(folder: Path) -> dict[int, dict]:
    return {record["iteration"]: record["climb"] for record in numbers(folder) if "climb" in record}


def test_it_climbs_every_so_many_iterations_and_at_the_end(whole):
    assert list(climbs(whole)) == WHEN
    for found in climbs(whole).values():
        assert 1 <= len(found["scores"]) <= 3 and found["of"] == 6
        assert found["total"] == sum(found["scores"]) and set(found["scores"]) <= {0.0, 0.5, 1.0, 1.5, 2.0}
        assert 0.0 not in found["scores"][:-1], "after two lost games it climbs no further"


def test_what_it_says_is_how_far_the_agent_of_that_iteration_climbs(whole):
    game = make_game(GAME)
    opponents = make_ladder(game, 3, "nothing")
    for step, found in climbs(whole).items():
        agent = make_player(f"alphazero:{whole},checkpoint={step}", game)
        assert play_ladder(game, agent, opponents, seed=5 + step).scores == found["scores"]


@pytest.mark.parametrize("algorithm", ["probs", "alphazero"])
def test_climbing_changes_nothing_that_is_learned(algorithm, tmp_path):
    given = {**CLIMBING, "algorithm": algorithm, "iterations": 3, "pictures": True}
    run_toy(tmp_path / "with", **given, **LADDER)
    run_toy(tmp_path / "without", **given)
    assert list(climbs(tmp_path / "with")) == [3] and not climbs(tmp_path / "without")
    assert same_bits(saved_tree(tmp_path / "with")[1], saved_tree(tmp_path / "without")[1])
    assert (tmp_path / "with" / "climb.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "without" / "climb.png").exists()


def test_the_picture_shows_points_against_games_played(whole, monkeypatch):
    drawn = []
    monkeypatch.setattr("beamzero.training.pictures.draw_ladder", lambda *given: given)
    monkeypatch.setattr("beamzero.training.pictures.write_png", lambda figure, path: drawn.append((path.name, figure)))
    draw_run(Run.open(whole))
    totals = [found["total"] for found in climbs(whole).values()]
    games = [8 * step for step in WHEN]
    assert drawn[1:] == [("climb.png", (games, totals, 6, "tic_tac_toe by AlphaZero against minimax"))]


def test_the_line_of_an_iteration_says_how_far_it_came_last(tmp_path, capsys):
    folder = tmp_path / "run"
    changes = {**LADDER, "climb_every": 2, "iterations": 3, "rate_every": 0}
    assert main(command(folder, algorithm="alphazero", **changes)) == 0
    _, *lines = capsys.readouterr().err.splitlines()
    shown = [re.search(r"  climb (\S+) of 6  ", line) for line in lines]
    first, second = (f"{found['total']:g}" for found in climbs(folder).values())
    assert [found and found[1] for found in shown] == [None, first, second]


# --- what is compiled ------------------------------------------------------------------------------------------------


class CountsByIteration(Report):
    """How much was compiled before the end of each iteration, pictures not counted."""

    def __init__(self, count: Callable[[], int]) -> None:
        self.count, self.counts = count, [0]

    def iteration(self, record: object) -> None:
        self.counts.append(self.count())


def test_nothing_compiles_after_the_first_climb(tmp_path):
    # Sizes and opponents that no other test has, so that they have something to compile.
    changes = {**CLIMBING, "iterations": 6, "games": 7, "rate_sims": 3, **LADDER, "climb_every": 2, "climb_depth": 4}
    with CompilationCount() as compiled:
        report = CountsByIteration(lambda: compiled.number)
        run_toy(tmp_path / "run", report, **changes)
    new = [after - before for before, after in zip(report.counts, report.counts[1:])]
    assert new[0] > 0 and new[2 - 1] > 0, "the first iteration and the first climb"
    assert not any(new[2:]), new


# --- stopped, and gone on with ---------------------------------------------------------------------------------------


class StopClimbing(Report):
    """Raises `error` at the second word of a climb."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error, self.left = error, 2

    def phase(self, name: str, done: int, total: int) -> None:
        self.left -= name == "climbing"
        if self.left == 0:
            raise self.error


class Killed(BaseException):
    """Nobody catches it, so what it ends is left as a kill would leave it."""


@pytest.mark.parametrize("error", [Killed, KeyboardInterrupt])
def test_stopped_in_the_middle_of_every_climb_it_gives_the_same_run(error, whole, tmp_path):
    folder = tmp_path / "run"
    for number in range(len(WHEN)):
        stopped = StopClimbing(error)
        with contextlib.suppress(Killed):
            outcome = run_toy(folder, stopped, resume=folder.exists(), **({} if number else CLIMBING | LADDER))
            assert outcome.interrupted and error is KeyboardInterrupt
        assert stopped.left == 0 and list(climbs(folder)) == WHEN[:number], "a climb that was given up is not told"
        run_toy(folder, resume=True, iterations=WHEN[number])
    assert numbers(folder) == numbers(whole)
    assert same_bits(saved_tree(folder)[1], saved_tree(whole)[1])


def test_how_a_run_climbs_may_change_when_it_goes_on(tmp_path):
    folder = tmp_path / "run"
    run_toy(folder, **CLIMBING, iterations=2)
    run_toy(folder, resume=True, climb_every=2, climb_depth=1, climb_by="nothing", iterations=5)
    assert [(step, len(found["scores"]), found["of"]) for step, found in climbs(folder).items()] == [
        (4, 1, 2),
        (5, 1, 2),
    ]


# --- bad input -------------------------------------------------------------------------------------------------------

NO_FEATURE = "beamzero: minimax:1,by=stores: tic_tac_toe has no feature 'stores' (by: nothing, "


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"climb_every": 1, "climb_by": "stores"}, NO_FEATURE),
        ({"climb_by": "stores"}, NO_FEATURE),
        ({"climb_depth": 0}, "beamzero: climb_depth is 0, but must be 1 to 64\n"),
        ({"climb_every": -1}, "beamzero: climb_every is -1, but must be 0 to "),
    ],
)
def test_a_ladder_that_is_none_is_found_before_anything_is_written(wrong, line, whole, tmp_path, capsys):
    assert main(command(tmp_path / "run", algorithm="alphazero", **wrong)) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(line) and err.count("\n") == 1
    assert not (tmp_path / "run").exists()
    before = tree_hash(whole)
    assert main(command(whole, "--resume", algorithm="alphazero", **wrong)) == 2
    assert capsys.readouterr().err.startswith(line) and tree_hash(whole) == before


def test_a_recipe_for_another_game_is_called_that_and_not_a_bad_ladder(tmp_path, capsys):
    assert main(["train", GAME, "--recipe", "kalah_alphazero", "--run", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err == "beamzero: the recipe kalah_alphazero is for kalah, not tic_tac_toe\n"


# --- the documents' recipes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "by"), [("tic_tac_toe", "nothing"), ("kalah", "stores")])
def test_the_papers_recipes_are_what_the_paper_says(game, by):
    made = make_settings(find_recipe(f"{game}_alphazero"), {})
    paper = {
        "games": 1, "iterations": 1500, "window": 50_000, "noise": 0.0, "temperature": 1.0, "greedy_games": 0.5,
        "sampled_moves": 0, "climb_every": 50, "climb_depth": 7, "climb_by": by, "unvisited": 0.0, "gate_games": 0,
        "search": "puct", "symmetry": False,
    }  # fmt: skip
    assert {key: getattr(made, key) for key in paper} == paper and made.l2 > 0
    assert made.net.startswith("dense:widths=") and made.net.count("-") == 2, "three hidden layers and the output"
    assert made.rate_sims == made.sims


def layer(inputs: int, outputs: int) -> int:
    """Parameters of a dense layer, or of a convolution with inputs for every square that it looks at."""
    return inputs * outputs + outputs


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        # Sums over the report's summaries of its models; a batch norm has two numbers for each feature.
        ("connect_four_alphazero_mlp", layer(84, 42) + layer(42, 21) + 2 * (42 + 21) + layer(21, 7) + layer(21, 1)),
        (
            "chess_alphazero",
            20 * layer(9 * 111, 111) + 10 * 2 * 111
            + layer(7104, 1024) + layer(1024, 1024) + 2 * 2 * 1024 + layer(1024, 4672) + layer(1024, 1),
        ),
    ],
)  # fmt: skip
def test_the_reports_recipes_have_its_nets_and_its_way_to_play(name, parameters):
    recipe = find_recipe(name)
    made = make_settings(recipe, {})
    assert count_parameters(Net(make_game(recipe.game), make_net(made.net), "joint").shapes()) == parameters
    assert (made.temperature, made.sampled_moves, made.greedy_games, made.l2) == (1.0, 0, 0.0, 0.0)


@pytest.mark.parametrize("name", ["tic_tac_toe_alphazero", "kalah_alphazero"])
def test_the_ladder_of_a_recipe_can_be_made(name):
    recipe = find_recipe(name)
    made = make_settings(recipe, {})
    opponents = make_ladder_opponents(made, make_game(recipe.game))
    assert [opponent.name for opponent in opponents] == [f"minimax:{depth},by={made.climb_by}" for depth in range(1, 8)]
