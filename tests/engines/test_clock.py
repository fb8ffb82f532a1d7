"""How much of a clock a move takes: never more than there is, and enough is left for those to come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamzero.engines.clock import PeriodClock, seconds_for_move, seconds_of_movetime

TIMES = st.floats(-1.0, 1e5)
OVERHEAD = st.floats(0.0, 5.0)


@given(TIMES, st.floats(0.0, 60.0), st.none() | st.integers(-3, 200), OVERHEAD)
def test_a_move_never_takes_more_than_is_on_the_clock(remaining, increment, moves_to_go, overhead):
    seconds = seconds_for_move(remaining, increment, moves_to_go, overhead)
    assert 0 < seconds <= max(0.001, remaining - overhead)


@given(st.floats(0.1, 600.0), st.floats(0.0, 10.0), st.none() | st.integers(1, 60), st.floats(0.0, 0.2))
def test_a_flag_never_falls(main, increment, moves_to_go, overhead):
    """Each move costs what was planned and half of the overhead, for longer than any game lasts."""
    remaining = main
    for number in range(200):
        left = None if moves_to_go is None else moves_to_go - number % moves_to_go
        seconds = seconds_for_move(remaining, increment, left, overhead)
        if seconds > 0.001:  # at the very end of a clock nothing can be planned
            remaining -= seconds + overhead / 2
            assert remaining > 0
        remaining += increment + (main if left == 1 else 0)


@pytest.mark.parametrize("remaining", [60.0, 600.0])
def test_the_time_is_used(remaining):
    assert seconds_for_move(remaining, 0.0, None, 0.03) > remaining / 40
    assert seconds_for_move(remaining, 2.0, None, 0.03) > remaining / 40 + 1
    assert seconds_for_move(remaining, 0.0, 1, 0.03) == pytest.approx(0.9 * (remaining - 0.03))


@given(st.floats(0.0, 100.0), OVERHEAD)
def test_a_move_within_its_time(movetime, overhead):
    assert 0 < seconds_of_movetime(movetime, overhead) <= max(movetime, 0.001)


def test_periods_follow_the_main_time():
    clock = PeriodClock(10.0, 5.0, 2)
    assert (clock.remaining, clock.moves) == (10.0, 0)
    clock.spend(11.0)
    assert (clock.remaining, clock.moves) == (5.0, 2)
    clock.spend(4.0)
    assert (clock.remaining, clock.moves) == (1.0, 1) and clock.seconds(0.1) == pytest.approx(0.81)
    clock.spend(0.5)
    assert (clock.remaining, clock.moves) == (5.0, 2)
    assert PeriodClock(0.0, 3.0, 1).seconds(0.5) == pytest.approx(2.25)
