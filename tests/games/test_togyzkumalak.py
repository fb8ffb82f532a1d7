"""Togyzkumalak: a position for every clause of its rules, hundreds of games by hand, and what people see."""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.games.togyzkumalak import Togyzkumalak, TogyzkumalakState
from beamzero.search.perft import perft
from tests.games import play as played
from tests.games.play import ask, ask_all, at
from tests.games.sowing_by_hand import TogyzkumalakByHand, count_lines, follow, play_by_hand

GAME = Togyzkumalak()
step = functools.partial(played.step, GAME)
NO = 0
"""No tuzdyk; others are given by the number of their house, 1 to 9."""


def position(own: str, other: str, tuzdyks=(NO, NO), kazan: int | None = None, side: int = 0, ply: int = 0):
    """A state by the mover's houses and the other side's, as "1 0 3 ...", each from its own left.

    Stones that are not in the houses are in the kazans: the mover's has `kazan` of them, or half.
    """
    houses = np.array([own.split(), other.split()], np.uint8)
    rest = 162 - int(houses.sum(dtype=int))
    kazans = (rest // 2, rest - rest // 2) if kazan is None else (kazan, rest - kazan)
    held = [9 if house == NO else house - 1 for house in tuzdyks]
    arrays = (houses, np.array(kazans, np.uint8), np.array(held, np.uint8), np.uint8(side), np.uint16(ply))
    return TogyzkumalakState(*arrays)


class Outcome(NamedTuple):
    """What a move did, seen by the side that made it."""

    own: str
    other: str
    won: int  # stones for its own kazan
    given: int = 0  # stones for the other side's
    tuzdyk: int = NO  # the house that it holds now


def move(state: TogyzkumalakState, house: int) -> Outcome:
    after = step(state, house - 1)
    assert int(after.side) == 1 - int(state.side) and int(after.ply) == int(state.ply) + 1
    assert int(after.tuzdyks[0]) == int(state.tuzdyks[1]), "the other side's tuzdyk stays"
    other, own = (" ".join(map(str, np.asarray(row).tolist())) for row in after.houses)
    won = int(after.kazans[1]) - int(state.kazans[0])
    given = int(after.kazans[0]) - int(state.kazans[1])
    return Outcome(own, other, won, given, (int(after.tuzdyks[1]) + 1) % 10)


# --- the clauses ---------------------------------------------------------------------------------------------------


def test_the_first_stone_falls_into_the_house_it_came_from():
    state = position("0 3 0 0 0 0 0 0 1", "1 1 1 1 1 1 1 1 1")
    assert move(state, 2) == Outcome("0 1 1 1 0 0 0 0 1", "1 1 1 1 1 1 1 1 1", 0)


def test_a_single_stone_moves_to_the_next_house():
    state = position("1 3 0 0 0 0 0 0 1", "2 1 1 1 1 1 1 1 1")
    assert move(state, 1) == Outcome("0 4 0 0 0 0 0 0 1", "2 1 1 1 1 1 1 1 1", 0)
    assert move(state, 9) == Outcome("1 3 0 0 0 0 0 0 0", "0 1 1 1 1 1 1 1 1", 3, tuzdyk=1)


def test_an_even_count_is_taken_on_the_other_side_only():
    state = position("0 0 0 0 0 0 0 5 1", "1 1 5 1 1 1 1 1 1")
    assert move(state, 8) == Outcome("0 0 0 0 0 0 0 1 2", "2 2 0 1 1 1 1 1 1", 6)
    own = position("3 0 1 0 0 0 0 0 0", "1 1 1 1 1 1 1 1 1")
    assert move(own, 1) == Outcome("1 1 2 0 0 0 0 0 0", "1 1 1 1 1 1 1 1 1", 0)


def test_an_odd_count_stays():
    state = position("0 0 0 0 0 0 0 5 1", "1 1 6 1 1 1 1 1 1")
    assert move(state, 8) == Outcome("0 0 0 0 0 0 0 1 2", "2 2 7 1 1 1 1 1 1", 0)


def test_only_the_last_stone_takes():
    state = position("0 0 0 0 0 0 0 5 1", "1 1 4 1 1 1 1 1 1")
    assert move(state, 8) == Outcome("0 0 0 0 0 0 0 1 2", "2 2 5 1 1 1 1 1 1", 0)


def test_three_stones_make_a_tuzdyk():
    state = position("0 0 0 0 0 0 0 4 1", "4 2 1 1 1 1 1 1 1")
    assert move(state, 8) == Outcome("0 0 0 0 0 0 0 1 2", "5 0 1 1 1 1 1 1 1", 3, tuzdyk=2)


def test_no_second_tuzdyk():
    state = position("0 0 0 0 0 0 0 4 1", "4 2 1 0 1 1 1 1 1", tuzdyks=(4, NO))
    assert move(state, 8) == Outcome("0 0 0 0 0 0 0 1 2", "5 3 1 0 1 1 1 1 1", 0, tuzdyk=4)


def test_no_tuzdyk_in_the_ninth_house():
    state = position("0 0 0 0 0 0 0 0 10", "1 1 1 1 1 1 1 1 2")
    assert move(state, 9) == Outcome("0 0 0 0 0 0 0 0 1", "2 2 2 2 2 2 2 2 3", 0)
    eighth = position("0 0 0 0 0 0 0 0 9", "1 1 1 1 1 1 1 2 2")
    assert move(eighth, 9) == Outcome("0 0 0 0 0 0 0 0 1", "2 2 2 2 2 2 2 0 2", 3, tuzdyk=8)


def test_no_tuzdyk_of_the_number_of_the_other_side_s():
    houses = ("0 0 0 0 0 0 0 4 1", "4 2 1 1 1 1 1 1 1")
    assert move(position(*houses, tuzdyks=(NO, 2)), 8) == Outcome("0 0 0 0 0 0 0 1 2", "5 3 1 1 1 1 1 1 1", 0)
    assert move(position(*houses, tuzdyks=(NO, 1)), 8).tuzdyk == 2


def test_a_count_of_three_on_one_s_own_side_is_nothing():
    state = position("3 0 2 0 0 0 0 0 0", "1 1 1 1 1 1 1 1 1")
    assert move(state, 1) == Outcome("1 1 3 0 0 0 0 0 0", "1 1 1 1 1 1 1 1 1", 0)


def test_stones_that_fall_into_one_s_own_tuzdyk_are_won():
    state = position("0 0 0 0 0 0 0 0 6", "1 1 0 1 2 1 1 1 1", tuzdyks=(3, NO))
    assert move(state, 9) == Outcome("0 0 0 0 0 0 0 0 1", "2 2 0 2 3 1 1 1 1", 1, tuzdyk=3)


def test_stones_that_fall_into_the_other_s_tuzdyk_are_given():
    state = position("4 0 0 0 0 0 0 0 1", "1 1 1 1 1 1 1 1 1", tuzdyks=(NO, 3))
    assert move(state, 1) == Outcome("1 1 0 1 0 0 0 0 1", "1 1 1 1 1 1 1 1 1", 0, given=1)


def test_both_tuzdyks_take_their_stones_in_one_move():
    # House 7 itself, 8 (given), 9, 1 across (won), 2 across, which is even and taken.
    state = position("0 0 0 0 0 0 5 0 1", "0 1 1 1 1 1 1 1 1", tuzdyks=(1, 8))
    assert move(state, 7) == Outcome("0 0 0 0 0 0 1 0 2", "0 0 1 1 1 1 1 1 1", 3, given=1, tuzdyk=1)


def test_a_last_stone_in_a_tuzdyk_takes_nothing_more():
    own = position("0 0 0 0 0 0 0 0 4", "1 1 0 1 1 1 1 1 1", tuzdyks=(3, NO))
    assert move(own, 9) == Outcome("0 0 0 0 0 0 0 0 1", "2 2 0 1 1 1 1 1 1", 1, tuzdyk=3)
    other = position("1 0 0 0 0 0 0 0 4", "1 1 1 1 1 1 1 1 1", tuzdyks=(NO, 2))
    assert move(other, 1) == Outcome("0 0 0 0 0 0 0 0 4", "1 1 1 1 1 1 1 1 1", 0, given=1)


@pytest.mark.parametrize(
    ("stones", "expected"),
    [
        # 18: once round, the last into the house before.
        (18, Outcome("1 2 2 2 2 2 2 2 2", "2 2 2 2 2 2 2 2 0", 2)),
        # 19: the last comes back to where it began.
        (19, Outcome("2 2 2 2 2 2 2 2 2", "2 2 2 2 2 2 2 2 2", 0)),
        # 28: the tenth of the second lap is the first one across, which has three then.
        (28, Outcome("2 3 3 3 3 3 3 3 3", "0 2 2 2 2 2 2 2 2", 3, tuzdyk=1)),
        # 29: two of them, and so on.
        (29, Outcome("2 3 3 3 3 3 3 3 3", "3 0 2 2 2 2 2 2 2", 3, tuzdyk=2)),
        (38, Outcome("3 4 3 3 3 3 3 3 3", "3 3 3 3 3 3 3 3 3", 0)),
    ],
)
def test_more_stones_than_houses_go_round(stones, expected):
    assert move(position(f"{stones} 1 1 1 1 1 1 1 1", "1 1 1 1 1 1 1 1 1"), 1) == expected


def test_a_lap_passes_a_tuzdyk_twice():
    state = position("0 0 0 0 0 0 0 0 30", "1 0 1 1 1 1 1 1 1", tuzdyks=(2, NO))
    # 9 of its own side, 1 to 9 across, 1 to 9 of its own, then 1 to 9 across again and 1, 2 of its own.
    assert move(state, 9) == Outcome("2 2 1 1 1 1 1 1 2", "3 0 3 3 3 3 3 3 3", 2, tuzdyk=2)


def test_no_one_moves_from_a_tuzdyk():
    state = position("1 1 2 0 1 1 1 1 1", "1 1 1 1 1 1 1 1 1", tuzdyks=(NO, 4))
    assert GAME.legal_actions(state) == [0, 1, 2, 4, 5, 6, 7, 8]
    after = step(state, 2, 0)
    assert 3 not in GAME.legal_actions(after), "what falls into it does not stay"
    with pytest.raises(BadInput, match="legal: 12 23"):
        GAME.parse_action(after, "4")


# --- the end -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [0, 1])
def test_82_stones_win(side):
    houses = ("0 0 0 0 0 0 0 5 1", "1 1 5 1 1 1 1 1 1")
    won, short = (step(position(*houses, kazan=kazan, side=side), 7) for kazan in (76, 75))
    assert bool(GAME.over(won)) and float(GAME.score(won)) == (1, -1)[side]
    assert GAME.outcome_reason(won) == f"{('first', 'second')[side]} has 82 of 162 stones"
    assert not bool(GAME.over(short)) and float(GAME.score(short)) == 0


def test_the_other_side_can_win_by_a_stone_that_falls_into_its_tuzdyk():
    houses = ("1 0 0 0 0 0 0 0 4", "1 1 1 1 1 1 1 1 1")
    stones = 14
    after = step(position(*houses, tuzdyks=(NO, 2), kazan=162 - stones - 81), 0)
    assert bool(GAME.over(after)) and float(GAME.score(after)) == -1
    assert GAME.outcome_reason(after) == "second has 82 of 162 stones"


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("kazan", "score", "reason"),
    [
        (70, 1, "atsyrau: {other} has no stones to move, {mover} takes the 14 left; {mover} has 84 of 162 stones"),
        (67, 0, "atsyrau: {other} has no stones to move, {mover} takes the 14 left; draw: 81 stones each"),
    ],
)
def test_atsyrau_gives_what_is_left_to_the_side_that_has_it(side, kazan, score, reason):
    """The mover's single stone leaves the other side without any to move."""
    names = {"mover": ("first", "second")[side], "other": ("second", "first")[side]}
    before = position("1 0 0 0 0 0 0 0 13", "0 0 0 0 0 0 0 0 0", kazan=kazan, side=side)
    after = step(before, 0)
    assert bool(GAME.over(after)) and float(GAME.score(after)) == (score, -score)[side]
    assert GAME.outcome_reason(after) == reason.format(**names)
    assert GAME.legal_actions(after) == []


def test_a_side_may_run_out_of_stones_while_the_other_is_to_move():
    state = position("0 0 0 0 0 0 0 0 1", "0 0 0 0 1 0 0 0 1")
    after = step(state, 8)
    assert not bool(GAME.over(after)), "the other side has stones and can give some"
    assert bool(GAME.over(step(after, 0)))
    assert not bool(GAME.over(step(after, 8)))


def test_81_stones_each_is_a_draw():
    state = position("0 0 0 0 0 0 0 0 1", "1 0 0 0 0 0 0 0 0", kazan=79)
    after = step(state, 8)
    assert np.asarray(after.kazans).tolist() == [81, 81]
    assert bool(GAME.over(after)) and float(GAME.score(after)) == 0
    assert GAME.outcome_reason(after) == "draw: 81 stones each"


def test_81_stones_do_not_win_yet():
    assert not bool(GAME.over(position("1 0 0 0 0 0 0 0 0", "1 0 0 0 0 0 0 0 0", kazan=81)))


def test_stones_can_go_round_for_ever_so_that_a_long_game_is_a_draw():
    """Two stones that follow each other at half a ring's distance never meet."""
    game = Togyzkumalak(max_plies=40)
    state = position("1 0 0 0 0 0 0 0 0", "1 0 0 0 0 0 0 0 0", kazan=81)
    positions = []
    while not bool(game.over(state)):
        positions.append(np.asarray(state.houses).tolist())
        state = played.step(game, state, max(game.legal_actions(state)))
    assert len(positions) == 40 and positions[0] == positions[18]
    assert float(game.score(state)) == 0 and game.outcome_reason(state) == "draw: 40 moves"


def test_a_game_won_with_the_last_move_is_no_draw():
    houses = ("0 0 0 0 0 0 0 5 1", "1 1 5 1 1 1 1 1 1")
    after = step(position(*houses, kazan=76, ply=GAME.max_plies - 1), 7)
    assert float(GAME.score(after)) == 1


@pytest.mark.parametrize("plies", [0, 10_001])
def test_a_cut_out_of_range_is_told_the_range(plies):
    with pytest.raises(BadInput, match=f"max_plies is {plies}, but must be 1 to 10000"):
        make_game("togyzkumalak", max_plies=plies)


# --- hundreds of games ----------------------------------------------------------------------------------------------

RARE = {
    "single stone": 2000, "more than a lap": 200, "even capture": 2000, "tuzdyk": 200, "atsyrau": 5,
    "into a tuzdyk of one's own": 2000, "into the other's tuzdyk": 2000, "last stone into a tuzdyk": 200,
    "refused: has one": 200, "refused: ninth house": 10, "refused: same number": 5,
}  # fmt: skip
"""How often the random games below must come upon each clause, at least."""


def test_random_games_go_as_they_go_by_hand():
    by_hand = TogyzkumalakByHand()
    record = play_by_hand(by_hand, 256, GAME.max_plies)
    ours = follow(GAME, record)
    by_side = ours.states.side == 1
    houses, kazans, tuzdyks = (
        np.where(by_side.reshape(*by_side.shape, *[1] * (pair.ndim - 2)), pair[:, :, ::-1], pair)
        for pair in (ours.states.houses, ours.states.kazans, ours.states.tuzdyks)
    )
    played = np.concatenate([houses.reshape(*by_side.shape, 18), kazans, tuzdyks], axis=-1)
    assert (played == record.positions[..., 1:]).all()
    assert (ours.player == record.positions[..., 0]).all()
    assert (ours.legal == record.legal)[~record.over].all()
    assert (ours.over == record.over).all()
    assert (ours.score == record.score).all()
    assert (houses.sum(axis=(-2, -1), dtype=int) + kazans.sum(axis=-1, dtype=int) == 162).all(), "no stone is lost"
    tuzdyk = tuzdyks[..., ::-1, None] == np.arange(9)
    assert (houses[tuzdyk] == 0).all(), "a tuzdyk is empty"
    assert {clause: by_hand.seen[clause] >= often for clause, often in RARE.items()} == dict.fromkeys(RARE, True)


def test_there_are_as_many_lines_of_play_as_by_hand():
    assert perft(GAME, 4) == count_lines(TogyzkumalakByHand(), 4)


def test_no_stone_is_lost_whatever_the_position():
    """Of any position at all, with piles up to all 162 stones and tuzdyks anywhere."""
    draw, number = np.random.default_rng(0), 5_000
    tuzdyks = draw.integers(0, 10, (number, 2), dtype=np.uint8)
    houses = np.floor(162 * draw.dirichlet([0.1] * 20, number)[:, :18]).astype(np.uint8).reshape(number, 2, 9)
    houses[tuzdyks[:, ::-1, None] == np.arange(9)] = 0
    kazan = draw.integers(0, 163 - houses.sum(axis=(1, 2), dtype=int))
    kazans = np.stack([kazan, 162 - houses.sum(axis=(1, 2), dtype=int) - kazan], axis=1).astype(np.uint8)
    states = TogyzkumalakState(houses, kazans, tuzdyks, np.zeros(number, np.uint8), np.zeros(number, np.uint16))
    actions = ask_all(GAME, "pick", states, draw.random(number, np.float32))
    after = ask_all(GAME, "step", states, actions)
    assert (after.houses.sum(axis=(1, 2), dtype=int) + after.kazans.sum(axis=1, dtype=int) == 162).all()
    assert (after.ply == 1).mean() > 0.5, "most of them went on"


# --- what a search asks --------------------------------------------------------------------------------------------


@functools.cache
def some_positions(number: int) -> TogyzkumalakState:
    """Running positions [number] of random games, on the host."""
    record = play_by_hand(TogyzkumalakByHand(), 60, 300, seed=2)
    running = jax.tree.map(lambda field: field[~record.over], follow(GAME, record).states)
    chosen = np.random.default_rng(0).permutation(len(running.side))[:number]
    return jax.tree.map(lambda field: field[chosen], running)


def by_hand(state: TogyzkumalakState) -> TogyzkumalakByHand:
    """The same position in plain Python, its mover first."""
    game = TogyzkumalakByHand()
    game.houses, game.kazans = np.asarray(state.houses).tolist(), np.asarray(state.kazans).tolist()
    game.tuzdyks = [None if house == 9 else int(house) for house in state.tuzdyks]
    return game


def outcomes_by_hand(state: TogyzkumalakState, side: int) -> dict[int, tuple[int, int, bool]]:
    """For each house that a side can move from: the stones it wins, those it gives, whether it makes a tuzdyk."""
    found = {}
    for house in np.flatnonzero(state.houses[side]).tolist():
        game = by_hand(state)
        game.side, before, had = side, list(game.kazans), game.tuzdyks[side]
        game.play(house)
        won, given = (game.kazans[each] - before[each] for each in (side, 1 - side))
        found[house] = won, given, game.tuzdyks[side] != had
    return found


def prospects_by_hand(state: TogyzkumalakState, side: int) -> list[int]:
    own, other = np.asarray(state.houses[side]).tolist(), np.asarray(state.houses[1 - side]).tolist()
    held, largest, making = (int(state.tuzdyks[side]) + 1) % 10, 0, False
    for house, (_, _, makes) in outcomes_by_hand(state, side).items():
        last = house + max(own[house] - 1, 1)
        if own[house] <= 18 and 9 <= last < 18:
            across = other[last - 9]
            largest = max(largest, across + 1 if across % 2 else 0)
            making |= makes
    return [int(state.kazans[side]), held, sum(n > 0 for n in own), sum(own), largest, int(making)]


def test_features_are_what_one_counts_by_hand():
    states = some_positions(600)
    features = ask_all(GAME, "features", states)
    seen = set()
    for row, found in enumerate(features.tolist()):
        mine, theirs = (prospects_by_hand(at(states, row), side) for side in (0, 1))
        assert found == [own - other for own, other in zip(mine, theirs)]
        seen |= {index for index, value in enumerate(found) if value}
    assert seen == set(range(len(GAME.feature_names)))


def test_moves_are_ordered_by_gain_and_large_gains_and_tuzdyks_are_noisy():
    states = some_positions(600)

    @jax.jit
    def told(states: TogyzkumalakState) -> tuple:
        actions = jnp.arange(9, dtype=jnp.int32)
        return tuple(jax.vmap(jax.vmap(ask, (None, 0)), (0, None))(states, actions) for ask in (GAME.noisy, GAME.order))

    noisy, order = jax.device_get(told(states))
    assert order.min() >= 0 and order.max() <= 255
    tuzdyks = 0
    for row in range(len(order)):
        for house, (won, given, makes) in outcomes_by_hand(at(states, row), 0).items():
            assert order[row, house] == max(0, 16 + won - given + 30 * makes)
            assert noisy[row, house] == (makes or won >= 6)
            tuzdyks += makes
    assert tuzdyks > 25


@pytest.mark.slow
def test_positions_that_differ_anywhere_have_different_keys():
    state = position("1 2 3 4 5 6 7 8 9", "9 8 7 6 5 4 3 2 1", tuzdyks=(2, 3))
    others = [state, state._replace(side=np.uint8(1))]
    for field in ("houses", "kazans", "tuzdyks"):
        value = np.asarray(getattr(state, field))
        for place in range(value.size):
            for bit in (1, 128):
                changed = value.copy()
                changed.flat[place] ^= bit
                others.append(state._replace(**{field: changed}))
    assert len(np.unique(ask_all(GAME, "hash", played.stack(others)), axis=0)) == len(others)
    states = some_positions(3000)._replace(ply=np.zeros(3000, np.uint16))
    rows = np.concatenate([np.asarray(field).reshape(3000, -1) for field in states[:4]], axis=1)
    keys = ask_all(GAME, "hash", states)
    assert len(np.unique(keys, axis=0)) == len(np.unique(rows, axis=0))


@pytest.mark.parametrize("max_plies", [500, 64, 20])
def test_the_number_of_moves_counts_in_keys_where_the_cut_is_within_64_plies(max_plies):
    game = Togyzkumalak(max_plies=max_plies)
    state = position("1 2 3 4 5 6 7 8 9", "9 8 7 6 5 4 3 2 1")
    states = played.stack(state._replace(ply=np.uint16(ply)) for ply in range(max_plies + 1))
    keys = [tuple(key) for key in ask_all(game, "hash", states).tolist()]
    near = min(max_plies, 64) + 1
    assert len(set(keys[-near:])) == near
    assert len(set(keys[:-near])) == (max_plies > 64) and not set(keys[:-near]) & set(keys[-near:])


# --- what a net and people see -------------------------------------------------------------------------------------


def test_a_net_sees_the_houses_the_kazans_and_the_tuzdyks_from_the_mover_s_side():
    state = position("18 9 2 0 0 0 0 0 1", "0 1 0 0 0 0 0 3 4", tuzdyks=(1, 5), kazan=41, side=1)
    seen = ask(GAME, "observe", state)
    assert np.allclose(seen[..., 0] * 18, np.asarray(state.houses))
    assert np.allclose(seen[0, :, 1], 0.5) and np.allclose(seen[1, :, 1] * 82, 83)
    assert np.argwhere(seen[..., 2]).tolist() == [[0, 4], [1, 0]]
    assert seen[..., 3].tolist() == [[0, 1, 0, 0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0, 0, 1, 0]]


def test_a_net_sees_what_every_move_does():
    states = follow(GAME, record := play_by_hand(TogyzkumalakByHand(), 8, 300, seed=1)).states
    for ply, row in np.argwhere(~record.over)[::21]:
        before = at(states, ply, row)
        seen = ask(GAME, "observe", before)
        turned = before._replace(houses=before.houses[::-1], kazans=before.kazans[::-1], tuzdyks=before.tuzdyks[::-1])
        ends = np.zeros((2, 18))  # how many moves end in each place of the ring that begins with the side's own houses
        for side, state in enumerate((before, turned)):
            for house in range(9):
                stones = int(state.houses[0, house])
                if stones == 0:
                    assert seen[side, house, [4, 5, 8, 9]].tolist() == [0, 0, 0, 0]
                    continue
                last = (house + max(stones - 1, 1)) % 18
                ends[side, last] += 1
                outcome = move(state, house + 1)
                makes = outcome.tuzdyk != (int(state.tuzdyks[0]) + 1) % 10
                expected = [outcome.won / 18, makes, last >= 9, (last % 9 + 1) / 9]
                assert np.allclose(seen[side, house, [4, 5, 8, 9]], expected)
        assert np.allclose(seen[..., 6] * 3, ends[::-1, 9:])
        assert np.allclose(seen[..., 7] * 3, ends[:, :9])


def test_the_board_is_drawn_from_the_seat_s_side_with_tuzdyks_marked():
    state = position("1 2 3 4 5 6 7 8 9", "10 0 0 0 0 0 0 0 21", tuzdyks=(2, 1), kazan=40, side=1)
    state.houses[0, 0] = 0
    below = """\
        9    8    7    6    5    4    3    2    1   second
╭────┬────┬────┬────┬────┬────┬────┬────┬────┬────┬────╮
│    │  9 │  8 │  7 │  6 │  5 │  4 │  3 │  2 │  × │    │
│ 40 ├────┼────┼────┼────┼────┼────┼────┼────┼────┤ 46 │
│    │ 10 │  × │  0 │  0 │  0 │  0 │  0 │  0 │ 21 │    │
╰────┴────┴────┴────┴────┴────┴────┴────┴────┴────┴────╯
        1    2    3    4    5    6    7    8    9   first"""
    assert GAME.show(state) == below
    assert GAME.show(state, seat=1).splitlines()[4] == "│    │  × │  2 │  3 │  4 │  5 │  6 │  7 │  8 │  9 │    │"
    assert GAME.view(state) == GAME.view(state, seat=1)
    assert GAME.view(state) == {
        "kind": "sowing",
        "houses": [[10, 0, 0, 0, 0, 0, 0, 0, 21], [0, 2, 3, 4, 5, 6, 7, 8, 9]],
        "stores": [46, 40],
        "marked": [[1, 0], [0, 1]],
        "turn": True,
    }


def test_a_move_is_written_as_on_a_score_sheet_and_may_be_typed_by_its_house_alone():
    state = position("0 0 0 0 0 0 0 4 1", "2 2 1 1 1 1 1 1 1")
    names = {action: GAME.action_name(state, action) for action in GAME.legal_actions(state)}
    assert names == {7: "82x", 8: "91x"}
    for text, action in {"82x": 7, "82X": 7, " 8 ": 7, "91x": 8, "9": 8}.items():
        assert GAME.parse_action(state, text) == action
    for text in ("82", "7", "0", "10", "92", "x", "99", ""):
        with pytest.raises(BadInput, match="legal: 82x 91x"):
            GAME.parse_action(state, text)
    first = GAME.init(jax.random.key(0))
    assert " ".join(GAME.action_name(first, action) for action in range(9)) == "19 21 32 43 54 65 76 87 98"
