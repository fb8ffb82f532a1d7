"""Endgame tables of Kalah, against a plain search of every line, known results, and their own laws."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.core.compiler import CompilationCount
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.games.kalah import Kalah, KalahState
from beamzero.solvers import retrograde
from beamzero.solvers.endgame import EndgameTable, check_seeds, count_positions, endgame_table, index, position
from beamzero.solvers.retrograde import make_endgame_table
from tests.games.sowing_by_hand import KalahByHand, follow, play_by_hand

Houses = tuple[int, ...]
CAPTURES = [False, True]
SEEDS = {1: 12, 2: 24, 3: 12, 4: 8, 6: 8}
"""How many seeds the tables of these tests know, by houses."""


def table_of(houses: int, empty_capture: bool = False) -> EndgameTable:
    return _table_of(houses, empty_capture)


@functools.cache
def _table_of(houses: int, empty_capture: bool) -> EndgameTable:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrograde, "_CHUNK", 256)  # the tables are small
        return make_endgame_table(Kalah(houses, 12, empty_capture), SEEDS[houses])


class BruteForce:
    """How many seeds more the side to move gets, by trying every move; stores begin empty."""

    def __init__(self, empty_capture: bool) -> None:
        self.empty_capture = empty_capture
        self.known: dict[tuple[Houses, Houses], int] = {}

    def value(self, own: Houses, other: Houses) -> int:
        if (own, other) not in self.known:
            over = not any(own) or not any(other)
            self.known[own, other] = sum(own) - sum(other) if over else max(self.after_each_move(own, other))
        return self.known[own, other]

    def after_each_move(self, own: Houses, other: Houses) -> list[int]:
        values = []
        for house in np.flatnonzero(own).tolist():
            game = KalahByHand(len(own), 0, self.empty_capture)
            game.houses = [list(own), list(other)]
            game.play(house)
            mine, theirs = map(tuple, game.houses)
            rest = self.value(mine, theirs) if game.side == 0 else -self.value(theirs, mine)
            values.append(game.stores[0] + rest)
        return values


def positions_of(houses: int, seeds: int, places: np.ndarray) -> np.ndarray:
    """uint8 [n, 2, houses]: the positions at these places of a table."""
    return np.asarray(_positions(houses, seeds, np.asarray(places, np.int32)))


@jax.jit
def ask(probe: Any, states: KalahState) -> tuple[jax.Array, jax.Array]:
    """What a table says, as one program."""
    return probe(states)


@functools.partial(jax.jit, static_argnums=0)
def places_of(seeds: int, rows: np.ndarray) -> jax.Array:
    return jax.vmap(functools.partial(index, seeds=seeds))(rows)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _positions(houses: int, seeds: int, places: jax.Array) -> jax.Array:
    return jax.vmap(functools.partial(position, houses=houses, seeds=seeds))(places)


# --- the numbering -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("houses", "seeds"), [(1, 7), (2, 6), (3, 5), (6, 5), (10, 3)])
def test_every_position_has_one_place_and_every_place_one_position(houses, seeds):
    every = (
        [row for row in itertools.product(range(seeds + 1), repeat=2 * houses) if sum(row) <= seeds]
        if houses < 6
        else []
    )
    total = count_positions(houses, seeds)
    found = positions_of(houses, seeds, np.arange(total))
    rows = {tuple(row) for row in found.reshape(total, -1).tolist()}
    assert len(rows) == total and (not every or rows == set(every))
    assert (np.asarray(places_of(seeds, found)) == np.arange(total)).all()
    assert (np.diff(found.sum(axis=(1, 2), dtype=int)) >= 0).all(), "fewer seeds come first"


def test_large_places_are_told_apart_too():
    """Twenty seeds in twelve houses, where places come near to what a table may hold."""
    total = count_positions(6, 20)
    places = np.append(np.random.default_rng(0).integers(0, total, 5000), total - 1)
    found = positions_of(6, 20, places)
    assert found[-1].tolist() == [[20, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]] and found.sum(axis=(1, 2)).max() == 20
    assert (np.asarray(places_of(20, found)) == places).all()


def test_a_position_of_too_many_seeds_gets_a_place_within_the_table():
    rows = np.random.default_rng(0).integers(0, 20, (1000, 2, 6), dtype=np.uint8)
    places = np.asarray(places_of(7, rows))
    assert places.min() >= 0 and places.max() < count_positions(6, 7)


# --- the values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty_capture", CAPTURES)
@pytest.mark.parametrize(("houses", "seeds"), [(1, 12), (2, 9), (3, 7), (4, 5)])
def test_every_position_has_the_value_that_brute_force_finds(houses, seeds, empty_capture):
    values, brute = table_of(houses, empty_capture).values, BruteForce(empty_capture)
    number = count_positions(houses, seeds)
    every = positions_of(houses, SEEDS[houses], np.arange(number)).tolist()
    assert values[:number].tolist() == [brute.value(tuple(own), tuple(other)) for own, other in every]


@pytest.mark.parametrize("empty_capture", CAPTURES)
@pytest.mark.parametrize("houses", [3, pytest.param(6, marks=pytest.mark.slow)])
def test_a_thousand_larger_positions_have_the_value_that_brute_force_finds(houses, empty_capture):
    values, brute = table_of(houses, empty_capture).values, BruteForce(empty_capture)
    places = np.random.default_rng(0).choice(len(values), 1000, replace=False)
    rows = positions_of(houses, SEEDS[houses], places).tolist()
    assert values[places].tolist() == [brute.value(tuple(own), tuple(other)) for own, other in rows]


@pytest.mark.slow
def test_the_two_ways_to_capture_make_two_tables():
    standard, empty = (table_of(6, capture).values for capture in CAPTURES)
    assert 0.05 < (standard != empty).mean() < 0.5


@pytest.mark.parametrize("empty_capture", CAPTURES)
def test_a_table_of_fewer_seeds_is_the_beginning_of_one_of_more(empty_capture):
    short = make_endgame_table(Kalah(3, 2, empty_capture), 4).values
    assert (short == table_of(3, empty_capture).values[: len(short)]).all()


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_the_size_of_chunks_changes_nothing(monkeypatch, chunk):
    expected = table_of(2).values
    monkeypatch.setattr(retrograde, "_CHUNK", chunk)
    found = make_endgame_table(Kalah(2, 12), 5).values
    assert (found == expected[: len(found)]).all()


def test_progress_rises_to_the_number_of_positions():
    told: list[tuple[int, int]] = []
    table = make_endgame_table(Kalah(2, 12), 5, lambda *numbers: told.append(numbers))
    done, total = zip(*told)
    assert list(done) == sorted(set(done)) and done[-1] == len(table.values)
    assert set(total) == {len(table.values)}


# --- what a search asks --------------------------------------------------------------------------------------------

PUBLISHED = {
    (1, 1): 0,
    (1, 5): 1,
    (1, 6): 0,
    (2, 1): 1,
    (2, 2): -1,
    (2, 4): -1,
    (2, 6): 1,
    (3, 1): 0,
    (3, 2): 1,
    (4, 1): 1,
}
"""The first player's result in Irving, Donkers and Uiterwijk, "Solving Kalah" (2000), by houses and seeds."""


@pytest.mark.parametrize(("houses", "seeds"), PUBLISHED)
def test_a_table_of_all_seeds_knows_the_published_result_of_the_whole_game(houses, seeds):
    game = Kalah(houses, seeds)
    first = KalahState(np.array([[[*[seeds] * houses, 0]] * 2], np.uint8), np.zeros(1, np.uint8))
    known, score = ask(endgame_table(game, table_of(houses)), first)
    assert known.tolist() == [True] and score.tolist() == [PUBLISHED[houses, seeds]]


def result_by_hand(game: KalahByHand, known: dict[tuple[int, ...], int]) -> int:
    """The result for the first side if both play for nothing else, by trying every move."""
    if game.over():
        return game.score()
    key = tuple(game.position())
    if key not in known:
        results = []
        for house in game.legal():
            after = game.copy()
            after.play(house)
            results.append(result_by_hand(after, known))
        known[key] = min(results) if game.side else max(results)
    return known[key]


@pytest.mark.slow
@pytest.mark.parametrize("empty_capture", CAPTURES)
def test_endgames_that_come_up_have_the_result_that_brute_force_finds(empty_capture):
    """Finished games among them. Those of too many seeds are not known, and have no result yet."""
    game, seeds = Kalah(6, 3, empty_capture), SEEDS[6]
    record = play_by_hand(KalahByHand(6, 3, empty_capture), 40, 60)
    rows = record.positions.reshape(-1, record.positions.shape[-1])
    states = jax.tree.map(lambda field: field.reshape(-1, *field.shape[2:]), follow(game, record).states)
    known, score = map(np.asarray, ask(endgame_table(game, table_of(6, empty_capture)), states))
    assert (known == (rows[:, 1:13].sum(axis=1) <= seeds)).all() and 100 < known.sum() < len(known)
    assert (score[~known] == 0).all() and {-1, 0, 1} == set(score[known].tolist())
    results: dict[tuple[int, ...], int] = {}
    for row, found in zip(rows[known].tolist(), score[known].tolist()):
        by_hand = KalahByHand(6, 0, empty_capture)
        by_hand.side, by_hand.houses, by_hand.stores = row[0], [row[1:7], row[7:13]], row[13:]
        assert found == result_by_hand(by_hand, results) * (-1 if by_hand.side else 1)


def test_stores_decide_with_the_table_who_wins():
    table = EndgameTable(1, False, 2, np.array([0, 0, 0, 0, 0, 0], np.int8))
    pits = np.array([[[1, 3], [1, 2]], [[1, 2], [1, 2]], [[1, 2], [1, 3]], [[2, 9], [1, 0]]], np.uint8)
    known, score = ask(endgame_table(Kalah(1, 12), table), KalahState(pits, np.zeros(4, np.uint8)))
    assert known.tolist() == [True, True, True, False] and score.tolist() == [1, 0, -1, 0]


def test_another_table_of_the_same_size_does_not_compile_again():
    game = Kalah(3, 12)
    states = jax.tree.map(lambda field: field[None], game.init(jax.random.key(0)))
    other = table_of(3)._replace(values=jnp.ones(len(table_of(3).values), jnp.int8))
    ask(endgame_table(game, table_of(3)), states)
    with CompilationCount() as count:
        ask(endgame_table(game, other), states)
    assert count.number == 0


# --- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "seeds", "said"),
    [
        ("kalah", 0, "kalah can hold 1 to 20 seeds, but 0 are asked for"),
        ("kalah", 21, "kalah can hold 1 to 20 seeds, but 21 are asked for"),
        ("kalah:houses=3,seeds=2", 13, "kalah:houses=3,seeds=2 can hold 1 to 12 seeds, but 13 are asked for"),
        ("kalah:houses=10", 13, "kalah:houses=10 can hold 1 to 12 seeds"),
        ("togyzkumalak", 5, "endgame tables are for kalah, but the game is togyzkumalak"),
    ],
)
def test_too_many_seeds_and_other_games_are_refused(game, seeds, said):
    with pytest.raises(BadInput, match=said):
        check_seeds(make_game(game), seeds)
    with pytest.raises(BadInput, match=said):
        make_endgame_table(make_game(game), seeds)


@pytest.mark.parametrize(
    ("game", "said"),
    [
        ("kalah", "is for kalah:houses=3, with any number of seeds, but the game is kalah"),
        ("kalah:houses=3,empty_capture=true", "is for kalah:houses=3, .* but the game is kalah:houses=3,empty_capture"),
        ("othello", "endgame tables are for kalah, but the game is othello"),
    ],
)
def test_a_table_of_another_game_is_refused(game, said):
    with pytest.raises(BadInput, match=said):
        endgame_table(make_game(game), table_of(3))


def test_a_table_serves_games_that_begin_with_any_number_of_seeds():
    for seeds in (1, 2, 12):
        assert endgame_table(Kalah(3, seeds), table_of(3))
