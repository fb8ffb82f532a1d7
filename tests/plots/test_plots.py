"""The picture of a run: written whole, for every kind of rating, with labels that do not touch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamzero.arena.rating import Rating
from beamzero.arena.score import Scored, Share
from beamzero.plots.measures import draw_curves, draw_scores
from beamzero.plots.style import STYLE, move_apart, write_png
from beamzero.plots.training import draw_gates, draw_ladder, draw_training

PNG = b"\x89PNG\r\n\x1a\n"
ANCHORS = {"random": 1000.0, "lookahead:1": 1300.0, "lookahead:2": 1310.0, "lookahead:3": 1320.0}
LOSSES = {"V": [0.9, 0.5, 0.4], "Q": [0.3, 0.2, 0.1]}


@pytest.mark.parametrize(
    "iterations, elo, low, high, losses",
    [
        ([0, 1, 2], [1000.0, 1200.0, 1400.0], [950.0, 1150.0, 1340.0], [1050.0, 1250.0, 1470.0], LOSSES),
        ([0, 1, 2], [None, 1200.0, None], [None, 1150.0, 1600.0], [900.0, 1250.0, None], LOSSES),
        ([1], [None], [None], [None], {"V": [0.5]}),
        ([], [], [], [], {}),
    ],
    ids=["ratings", "bounds", "no number", "nothing yet"],
)
def test_every_kind_of_run_is_drawn(tmp_path, iterations, elo, low, high, losses):
    path = tmp_path / "training.png"
    write_png(draw_training(iterations, elo, low, high, ANCHORS, losses, "Connect Four, PROBS"), path)
    assert path.read_bytes().startswith(PNG)
    assert [file.name for file in tmp_path.iterdir()] == ["training.png"]


def test_a_failed_drawing_leaves_the_old_picture_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "training.png"
    path.write_bytes(b"old")

    def full_disk(*_):
        raise OSError("no space left")

    monkeypatch.setattr("beamzero.storage.files.os.replace", full_disk)
    figure = draw_training([1], [1100.0], [1000.0], [1200.0], ANCHORS, LOSSES, "title")
    with pytest.raises(OSError):
        write_png(figure, path)
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["training.png"]


@pytest.mark.parametrize("climbs", [0, 1, 30])
def test_climbs_are_drawn_however_many_there_are(tmp_path, climbs):
    path = tmp_path / "climb.png"
    games, points = [50 * (i + 1) for i in range(climbs)], [i / 2 for i in range(climbs)]
    write_png(draw_ladder(games, points, 14, "kalah by AlphaZero"), path)
    assert path.read_bytes().startswith(PNG)
    assert [file.name for file in tmp_path.iterdir()] == ["climb.png"]


def test_climbs_are_points_against_games_below_a_dashed_line_at_the_most():
    (axes,) = draw_ladder([50, 100, 150], [3.0, 14.0, 8.5], 14, "title").axes
    curve, most = axes.lines
    assert curve.get_xydata().tolist() == [[50, 3.0], [100, 14.0], [150, 8.5]] and curve.get_linestyle() == "-"
    assert list(most.get_ydata()) == [14, 14] and most.get_linestyle() == "--"
    assert axes.get_xlim()[0] == 0 and axes.get_ylim()[0] == 0 and axes.get_ylim()[1] > 14


def test_gates_add_up_what_the_nets_that_passed_gained():
    gates = [(0.75, (0.6, 0.9), True), (0.4, (0.3, 0.5), False), (1.0, (0.9, 1.0), True)]
    figure = draw_gates([1, 2, 3], *(list(column) for column in zip(*gates, strict=True)), "title")
    above, below = figure.axes
    assert above.lines[0].get_ydata().tolist() == [0.75, 0.4, 1.0]
    first = 400 * np.log10(3)
    np.testing.assert_allclose(below.lines[0].get_ydata(), [first, first, first + 400 * np.log10(99)])


def test_gates_are_drawn_whole(tmp_path):
    write_png(draw_gates([1], [0.5], [(0.4, 0.6)], [True], "title"), tmp_path / "gate.png")
    assert (tmp_path / "gate.png").read_bytes().startswith(PNG)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=10).map(sorted))
def test_labels_are_spread_below_the_top(places):
    apart = move_apart(places, gap=6.0, top=100.0)
    assert len(apart) == len(places)
    assert max(apart) <= 100.0
    assert all(np.diff(apart) >= 6.0 - 1e-9)


def test_labels_with_room_stay_where_they_are():
    assert move_apart([0.0, 10.0, 50.0], gap=6.0, top=100.0) == [0.0, 10.0, 50.0]


def test_curves_of_runs_are_drawn_though_some_have_only_bounds(tmp_path):
    def rated(name: str, elo: float | None) -> Rating:
        return Rating(name, elo, 1100.0 if elo is None else elo - 50, None if elo is None else elo + 50, 10, 0.5)

    curves = {
        "probs:$run": {0: rated("a", 1000.0), 5: rated("b", 1200.0), 10: rated("c", None)},
        "alphazero:other": {1: rated("d", None)},
    }
    figure = draw_curves(curves, [rated("random", 1000.0), rated("lookahead:2", None)], "Kalah")
    write_png(figure, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(PNG)


def test_dollars_in_a_title_begin_no_formula(tmp_path):
    figure = draw_training([], [], [], [], {}, {"value": [1.0]}, "the title $x^$ of [bold] " * 9)
    write_png(figure, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size


def test_a_figure_keeps_its_style_wherever_it_is_rendered():
    figure = draw_ladder([50, 100], [3.0, 14.0], 14, "title")
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert {line.get_color() for line in axes.get_xgridlines() + axes.get_ygridlines()} == {STYLE["grid.color"]}


@pytest.mark.parametrize("milliseconds", [0.001, 0.022, 10.0, 33.3])
def test_the_scores_of_one_agent_are_drawn_whatever_its_time(tmp_path, milliseconds):
    scored = Scored("random", {"all": Share(6, 2)}, {}, milliseconds)
    figure = draw_scores([scored], "one agent")
    write_png(figure, tmp_path / "scores.png")
    low, high = figure.axes[0].get_xlim()
    assert low < milliseconds < high
