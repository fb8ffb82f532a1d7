"""Chances of winning by evaluation: binned right, with intervals that hold what they should."""

import math

import numpy as np
import pytest

from beamzero.arena.calibration import bin_of, calibrate, grows, wilson
from beamzero.plots.measures import draw_calibration
from beamzero.plots.style import write_png


def calibrated(points, result, game=None):
    game = range(len(points)) if game is None else game
    return calibrate(np.array(points, np.float64), np.array(result, np.float64), np.array(game))


def test_positions_fall_into_the_bin_that_holds_their_evaluation():
    bins = calibrated([-9, -4, -1, 0, 0.5, 1, 2.5, 4, 99], [0, 0, 0.5, 1, 0, 1, 1, 1, 1])
    assert [(b.low, b.high) for b in bins][:2] == [(-math.inf, -4), (-4, -2)] and bins[-1].high == math.inf
    assert [b.positions for b in bins] == [1, 1, 1, 1, 2, 1, 2]
    assert [b.chance for b in bins] == [0, 0, 0.5, 1, 0.5, 1, 1]
    assert bins[4].mean == 0.75
    assert (bin_of(bins, 1.0).low, bin_of(bins, 3.0).low) == (0.5, 2.0)


def test_a_game_counts_once_in_a_bin():
    bins = calibrated([1] * 9 + [1, 3], [1] * 9 + [0, 1], [7] * 9 + [8, 8])
    assert (bin_of(bins, 1.0).positions, bin_of(bins, 1.0).games, bin_of(bins, 1.0).chance) == (10, 2, 0.5)
    assert bin_of(bins, 3.0).games == 1


def test_an_empty_bin_knows_nothing():
    empty = bin_of(calibrated([1], [1]), 3.0)
    assert (empty.games, empty.interval) == (0, (0.0, 1.0)) and math.isnan(empty.chance)


def test_growth_is_seen_and_missed():
    assert grows(calibrated([-9, 1, 3], [0, 0.5, 1]))
    assert not grows(calibrated([-9, 1, 3], [0, 0.5, 0.5]))
    assert not grows(calibrated([-9, 1, 3], [0.5, 0, 1]))
    assert not grows(calibrated([1], [1])), "one bin says nothing about growth"


def test_the_interval_holds_the_chance_nineteen_times_in_twenty():
    rng = np.random.default_rng(0)
    for chance, games in ((0.5, 50), (0.9, 100), (0.98, 200)):
        held = [
            low <= chance <= high for low, high in (wilson(x / games, games) for x in rng.binomial(games, chance, 2000))
        ]
        assert 0.92 <= np.mean(held) <= 0.98
    assert wilson(1.0, 10).high == 1.0 and wilson(1.0, 10).low == pytest.approx(0.7225, abs=1e-4)


def test_the_picture_is_written_whole(tmp_path):
    bins = calibrated([-9, 1, 3], [0, 0.5, 1])
    write_png(draw_calibration(bins, 0.3, 0.1, "Kalah"), tmp_path / "chance.png")
    assert (tmp_path / "chance.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert [path.name for path in tmp_path.iterdir()] == ["chance.png"]
