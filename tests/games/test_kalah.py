"""Kalah, against the rules written out by hand, against known results, and as people see it."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.core.errors import BadInput
from beamzero.games import OPEN, make_game, sowing
from beamzero.games.kalah import Kalah, KalahState
from beamzero.search.perft import perft
from tests.games.play import ask, ask_all, at, play, step
from tests.games.sowing_by_hand import KalahByHand, count_lines, follow, play_by_hand

slow = functools.partial(pytest.param, marks=pytest.mark.slow)
VARIANTS = [
    (6, 6, False), slow(6, 4, False), (6, 4, True), slow(4, 5, True), (3, 2, False), slow(2, 12, True), (1, 5, False)
]  # fmt: skip
LONGEST = 200


def position(own: list[int], other: list[int], stores: tuple[int, int] = (0, 0), side: int = 0) -> KalahState:
    """A state by the mover's houses, the other side's, and their stores."""
    return KalahState(np.array([[*own, stores[0]], [*other, stores[1]]], np.uint8), np.uint8(side))


def move(state: KalahState, house: int, **options) -> tuple[list[int], list[int], list[int], bool]:
    """Houses of the side that moved, of the other, both stores, and whether the same side moves again."""
    game = Kalah(houses=state.pits.shape[1] - 1, **options)
    after = step(game, state, house - 1)
    again = bool(after.side == state.side)
    own, other = np.asarray(after.pits if again else after.pits[::-1]).tolist()
    return own[:-1], other[:-1], [own[-1], other[-1]], again


# --- sowing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("places", [3, 13, 18, 21])
def test_sowing_at_once_is_sowing_stone_by_stone(places):
    first, stones = (x.reshape(-1) for x in np.meshgrid(np.arange(places), np.arange(1, 241), indexing="ij"))
    sow = jax.jit(jax.vmap(functools.partial(sowing.sow, places=places)))
    gains, last = jax.device_get(sow(stones.astype(np.uint8), first.astype(np.uint8)))
    for i in range(len(first)):
        fell = [(first[i] + stone) % places for stone in range(stones[i])]
        assert (gains[i] == np.bincount(fell, minlength=places)).all()
        assert last[i] == fell[-1]


@pytest.mark.parametrize(("houses", "seeds", "empty_capture"), VARIANTS)
def test_random_games_go_as_they_go_by_hand(houses, seeds, empty_capture):
    game, by_hand = Kalah(houses, seeds, empty_capture), KalahByHand(houses, seeds, empty_capture)
    record = play_by_hand(by_hand, 300 if houses == 6 else 100, LONGEST)
    ours = follow(game, record)
    first_side_first = ours.states.side[..., None, None] == 0
    pits = np.where(first_side_first, ours.states.pits, ours.states.pits[..., ::-1, :]).astype(int)
    assert (
        np.concatenate([pits[..., 0, :-1], pits[..., 1, :-1], pits[..., -1]], -1) == record.positions[..., 1:]
    ).all()
    assert (ours.player == record.positions[..., 0]).all()
    assert (ours.legal == record.legal)[~record.over].all()
    assert (ours.over == record.over).all() and record.over[-1].all()
    assert (ours.score == record.score).all()
    assert (pits.sum(axis=(-2, -1)) == 2 * houses * seeds).all(), "no seed is lost"
    if houses == 6:
        assert min(by_hand.seen[clause] for clause in ("again", "capture")) > 1000
        assert (by_hand.seen["empty capture"] > 1000) == empty_capture
    if houses * seeds == 36:
        assert by_hand.seen["whole lap"] > 10


def test_a_seed_is_never_sown_into_the_other_store():
    assert move(position([0, 0, 8], [1, 1, 1], (2, 5)), 3) == ([1, 1, 1], [2, 2, 2], [4, 5], True)
    assert move(position([0, 0, 5], [1, 1, 1], (2, 5)), 3) == ([0, 0, 0], [2, 2, 0], [6, 5], False)


@pytest.mark.parametrize("empty_capture", [False, True])
def test_the_last_seed_in_an_empty_house_takes_the_opposite(empty_capture):
    options = {"empty_capture": empty_capture}
    assert move(position([1, 0, 2], [4, 5, 6]), 1, **options) == ([0, 0, 2], [4, 0, 6], [6, 0], False)
    assert move(position([1, 1, 2], [4, 5, 6]), 1, **options) == ([0, 2, 2], [4, 5, 6], [0, 0], False)  # not empty
    assert move(position([0, 0, 2], [0, 5, 6]), 3, **options) == ([0, 0, 0], [1, 5, 6], [1, 0], False)  # not one's own


def test_the_last_seed_opposite_an_empty_house_takes_only_where_that_is_allowed():
    state = position([1, 0, 2], [4, 0, 6])
    assert move(state, 1) == ([0, 1, 2], [4, 0, 6], [0, 0], False)
    assert move(state, 1, empty_capture=True) == ([0, 0, 2], [4, 0, 6], [1, 0], False)


def test_a_whole_lap_ends_in_the_house_it_came_from_and_takes():
    assert move(position([0, 7, 3], [1, 1, 1]), 2) == ([1, 0, 4], [2, 0, 2], [4, 0], False)


@pytest.mark.parametrize("side", [0, 1])
def test_the_last_seed_in_the_store_moves_again_unless_the_game_is_over(side):
    game = Kalah(houses=3, seeds=2)
    after = step(game, position([0, 2, 1], [1, 1, 1], (1, 5), side), 2)
    assert int(game.player(after)) == side and not bool(game.over(after))
    after = step(game, position([0, 0, 1], [1, 1, 1], (4, 4), side), 2)
    assert bool(game.over(after)) and float(game.score(after)) == (-1, 1)[side]


def test_the_game_ends_when_the_other_side_has_nothing_left_too():
    game = Kalah(houses=3, seeds=2)
    after = step(game, position([1, 0, 3], [0, 1, 0], (4, 3)), 0)
    assert bool(game.over(after)) and np.asarray(after.pits)[1].tolist() == [0, 0, 3, 6]
    assert float(game.score(after)) == 1, "9 of 12: what lies in its houses counts"


# --- known results -------------------------------------------------------------------------------------------------

PUBLISHED = {
    **{(1, seeds + 1): result for seeds, result in enumerate("DLWLWD")},
    **{(2, seeds + 1): result for seeds, result in enumerate("WLLLWW")},
    **{(3, seeds + 1): result for seeds, result in enumerate("DWW")},
    (4, 1): "W",
}
"""The first player's result in Irving, Donkers and Uiterwijk, "Solving Kalah" (2000), by houses and seeds."""


def solve_by_hand(game: KalahByHand, known: dict[tuple[int, ...], int]) -> int:
    """How many seeds more the first side gets, both playing for seeds."""
    if game.over():
        return game.margin()
    place = tuple(game.position())
    if place not in known:
        values = []
        for house in game.legal():
            after = game.copy()
            after.play(house)
            values.append(solve_by_hand(after, known))
        known[place] = min(values) if game.side else max(values)
    return known[place]


def solve(game: Kalah) -> tuple[int, int]:
    """The first side's best score and margin, by listing every state that can come up.

    Each move loses weight (see `max_plies`), so that in order of weight the children of a state come before it.
    """
    first = jax.device_get(game.init(jax.random.key(0)))
    table, frontier = {}, {key(first): first}
    while frontier:
        chunk = [frontier.pop(place) for place in list(frontier)[:CHUNK]]
        padded = KalahState(*(np.stack(field) for field in zip(*chunk, *[first] * (CHUNK - len(chunk)))))
        children, over, score, player, legal = jax.device_get(expand(game, padded))
        for row, state in enumerate(chunk):
            moves = [] if over[row] else np.flatnonzero(legal[row])
            after = [KalahState(children.pits[row, move], children.side[row, move]) for move in moves]
            table[key(state)] = (state, int(score[row]), int(player[row]), [key(child) for child in after])
            frontier.update({key(child): child for child in after if key(child) not in table})
    values: dict[bytes, tuple[int, int]] = {}
    for place, (state, score, player, after) in sorted(table.items(), key=lambda item: weight(item[1][0].pits)):
        mover, other = state.pits.sum(axis=1, dtype=int)
        end = (score, int(mover - other) * (-1 if state.side else 1))
        values[place] = (min if player else max)([values[child] for child in after], default=end)
    return values[key(first)]


CHUNK = 256


@functools.partial(jax.jit, static_argnums=0)
def expand(game: Kalah, states: KalahState) -> tuple:
    """The states after every move [CHUNK, houses], and what the rules say of the states."""
    moves = jnp.arange(game.houses, dtype=jnp.int32)
    children = jax.vmap(jax.vmap(game.step, (None, 0)), (0, None))(states, moves)
    return children, *(jax.vmap(ask)(states) for ask in (game.over, game.score, game.player, game.legal))


def key(state: KalahState) -> bytes:
    return state.pits.tobytes() + state.side.tobytes()


def weight(pits: np.ndarray) -> np.ndarray:
    """What `max_plies` counts, of pits [..., 2, houses + 1]."""
    houses = pits.shape[-1] - 1
    each = np.array([houses * (houses - 1) + houses - house for house in range(houses)] + [0])
    return (pits.astype(int) * each).sum(axis=(-2, -1))


SOLVED = [slow(*size) if size[1] > 3 or size == (3, 3) else size for size in PUBLISHED]


@pytest.mark.parametrize(("houses", "seeds"), SOLVED)
def test_small_boards_have_the_value_that_brute_force_and_the_literature_give(houses, seeds):
    score, margin = solve(Kalah(houses, seeds))
    assert margin == solve_by_hand(KalahByHand(houses, seeds), {})
    assert score == np.sign(margin) == {"W": 1, "D": 0, "L": -1}[PUBLISHED[houses, seeds]]


@pytest.mark.parametrize(("houses", "seeds"), [size for size in SOLVED if size != slow(3, 3)])
def test_small_boards_with_empty_capture_have_the_value_that_brute_force_gives(houses, seeds):
    score, margin = solve(Kalah(houses, seeds, empty_capture=True))
    assert margin == solve_by_hand(KalahByHand(houses, seeds, empty_capture=True), {})
    assert score == np.sign(margin)


def test_the_two_variants_differ_where_they_should():
    """Both ways the second player wins Kalah(2, 4), but by 12 seeds where an empty house may be taken from."""
    assert [solve(Kalah(2, 4, empty_capture)) for empty_capture in (False, True)] == [(-1, -10), (-1, -12)]


@pytest.mark.parametrize(("houses", "seeds", "empty_capture"), VARIANTS[:4])
def test_there_are_as_many_lines_of_play_as_by_hand(houses, seeds, empty_capture):
    by_hand = count_lines(KalahByHand(houses, seeds, empty_capture), 5)
    assert perft(Kalah(houses, seeds, empty_capture), 5) == by_hand


# --- how long a game can be ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("houses", [1, 3, 6, 10])
def test_every_move_loses_weight_so_that_max_plies_bounds_every_game(houses):
    """Of any position at all, with piles up to all 240 seeds, as the proof has it."""
    game = Kalah(houses=houses, seeds=12)
    draw = np.random.default_rng(0)
    shares = draw.dirichlet([0.1] * (2 * houses + 2), 10_000)
    pits = np.floor(shares * draw.integers(2, 241, (10_000, 1))).astype(np.uint8).reshape(-1, 2, houses + 1)
    states = KalahState(pits, np.zeros(len(pits), np.uint8))

    @jax.jit
    def move(states: KalahState, draws: jax.Array) -> tuple:
        return jax.vmap(game.step)(states, jax.vmap(game.pick)(states, draws)), ~jax.vmap(game.over)(states)

    after, running = jax.device_get(move(states, draw.random(len(pits), np.float32)))
    assert running.sum() > 1000 or houses == 1
    assert (weight(after.pits) < weight(pits))[running].all()
    assert (after.pits.sum(axis=(1, 2), dtype=int) == pits.sum(axis=(1, 2), dtype=int)).all(), "no seed is lost"
    first = game.init(jax.random.key(0))
    assert weight(np.asarray(first.pits)) == game.max_plies


# --- what a search asks --------------------------------------------------------------------------------------------


def outcomes_by_hand(game: Kalah, pits: np.ndarray, side: int) -> dict[int, tuple[bool, int]]:
    """For each house that row `side` of `pits` can move from: whether it moves again, and the seeds it captures."""
    found = {}
    for house in np.flatnonzero(pits[side, :-1]).tolist():
        by_hand = KalahByHand(game.houses, game.seeds, game.empty_capture)
        by_hand.houses, by_hand.stores, by_hand.side = pits[:, :-1].tolist(), pits[:, -1].tolist(), side
        stones, before = by_hand.houses[side][house], sum(by_hand.stores)
        by_hand.play(house)
        sown_into_store = (house + stones + game.houses + 1) // (2 * game.houses + 1)
        found[house] = by_hand.side == side, sum(by_hand.stores) - before - sown_into_store
    return found


def wild_positions(game: Kalah, number: int) -> KalahState:
    """Positions [number] of any kind: from few seeds to many, in even houses and in piles of several laps."""
    draw = np.random.default_rng(0)
    shares = draw.dirichlet([0.3] * (2 * game.houses + 2), number)
    total = draw.integers(2, 2 * game.houses * game.seeds + 1, (number, 1))
    pits = np.floor(shares * total).astype(np.uint8).reshape(number, 2, game.houses + 1)
    return KalahState(pits, draw.integers(0, 2, number, dtype=np.uint8))


@pytest.mark.parametrize(("houses", "seeds", "empty_capture"), [*VARIANTS, slow(10, 12, False), slow(3, 12, True)])
def test_features_are_what_one_counts_by_hand(houses, seeds, empty_capture):
    game = Kalah(houses, seeds, empty_capture)
    states = wild_positions(game, 200)
    features = ask_all(game, "features", states).tolist()
    for pits, found in zip(states.pits.astype(int), features, strict=True):
        counts = []
        for side in (0, 1):
            moves = outcomes_by_hand(game, pits, side).values()
            largest = max((taken for _, taken in moves), default=0)
            counts.append([pits[side, -1], pits[side, :-1].sum(), len(moves), sum(on for on, _ in moves), largest])
        assert found == [mine - theirs for mine, theirs in zip(*counts)]


@pytest.mark.parametrize(("houses", "seeds", "empty_capture"), [*VARIANTS, slow(10, 12, False)])
def test_extra_turns_come_first_then_captures_by_their_seeds_and_these_are_noisy(houses, seeds, empty_capture):
    game = Kalah(houses, seeds, empty_capture)
    states = wild_positions(game, 200)

    @jax.jit
    def told(states: KalahState) -> tuple:
        actions = jnp.arange(houses, dtype=jnp.int32)
        return tuple(jax.vmap(jax.vmap(ask, (None, 0)), (0, None))(states, actions) for ask in (game.noisy, game.order))

    noisy, order = jax.device_get(told(states))
    for row, pits in enumerate(states.pits):
        moves = outcomes_by_hand(game, pits.astype(int), 0)

        def rank(house: int) -> tuple[bool, int, int]:
            again, taken = moves[house]
            return again, house if again else min(taken, 19), -house

        assert sorted(moves, key=lambda house: -order[row, house]) == sorted(moves, key=rank, reverse=True)
        assert {house: bool(noisy[row, house]) for house in moves} == {h: any(moves[h]) for h in moves}
    assert order.min() >= 0 and order.max() <= 255


@pytest.mark.parametrize(("houses", "seeds"), [(6, 6), (3, 2), slow(10, 12), (1, 5)])
def test_positions_that_differ_anywhere_have_different_keys(houses, seeds):
    pits = 2 * houses + 2
    flipped = np.concatenate(
        [np.zeros((2, pits), np.uint8), np.eye(pits, dtype=np.uint8), np.eye(pits, dtype=np.uint8) << 7]
    )
    near = KalahState((flipped ^ 5).reshape(-1, 2, houses + 1), np.array([1] + [0] * (2 * pits + 1), np.uint8))
    wild = wild_positions(Kalah(houses, seeds), 3000)
    for states in (near, wild):
        keys = ask_all(Kalah(houses, seeds), "hash", states)
        rows = np.concatenate([states.pits.reshape(len(states.side), -1), states.side[:, None]], axis=1)
        assert len(np.unique(keys, axis=0)) == len(np.unique(rows, axis=0))


# --- what a net and people see -------------------------------------------------------------------------------------


def test_a_net_sees_the_mover_s_pits_first_and_most_of_them_between_0_and_1():
    seen = ask(Kalah(houses=3, seeds=2), "observe", position([0, 2, 4], [1, 0, 6], (6, 3), side=1))
    assert np.allclose(seen[..., 0], [[0, 0.5, 1, 1], [0.25, 0, 1.5, 0.5]])
    facts = play(Kalah()).facts
    seen = facts.observation[~facts.over]
    assert ((seen >= 0) & (seen <= 1)).mean() > 0.98 and seen.max() < 4


@pytest.mark.parametrize("empty_capture", [False, True])
def test_a_net_sees_which_moves_go_on_and_what_they_take(empty_capture):
    game = Kalah(seeds=4, empty_capture=empty_capture)
    states = follow(game, record := play_by_hand(KalahByHand(6, 4, empty_capture), 20, LONGEST)).states
    for ply, row in np.argwhere(~record.over)[::7]:
        before = at(states, ply, row)
        seen = ask(game, "observe", before)
        for turned, mover in ((0, before), (1, before._replace(pits=before.pits[::-1]))):
            for house in range(6):
                again = taken = 0
                if mover.pits[0, house]:
                    _, _, stores, again = move(mover, house + 1, empty_capture=empty_capture)
                    sown_into_store = (house + int(mover.pits[0, house]) + 7) // 13
                    taken = stores[0] - int(mover.pits[0, -1]) - sown_into_store
                assert seen[turned, house].tolist()[1:] == [again, taken / 8]
        assert (seen[:, 6, 1:] == 0).all()


def test_the_board_is_drawn_from_the_seat_s_side():
    game = Kalah(houses=3, seeds=12)
    state = position([1, 2, 3], [14, 5, 0], (40, 7), side=1)
    below = """\
        3    2    1   second
╭────┬────┬────┬────┬────╮
│    │  3 │  2 │  1 │    │
│ 40 ├────┼────┼────┤  7 │
│    │ 14 │  5 │  0 │    │
╰────┴────┴────┴────┴────╯
        1    2    3   first"""
    turned = """\
        3    2    1   first
╭────┬────┬────┬────┬────╮
│    │  0 │  5 │ 14 │    │
│  7 ├────┼────┼────┤ 40 │
│    │  1 │  2 │  3 │    │
╰────┴────┴────┴────┴────╯
        1    2    3   second"""
    assert game.show(state) == below and game.show(state, seat=1) == turned
    assert game.show(state, seat=OPEN) == below, "all see a board without hidden cards, and it needs one side below"
    assert game.view(state) == game.view(state, seat=1)
    assert game.view(state) == {
        "kind": "sowing",
        "houses": [[14, 5, 0], [1, 2, 3]],
        "stores": [7, 40],
        "marked": [],
        "turn": True,
    }


def test_moves_are_named_by_house_and_empty_houses_are_refused():
    game = make_game("kalah:houses=3,seeds=2")
    state = position([0, 2, 4], [1, 0, 5], side=1)
    assert [game.action_name(state, action) for action in game.legal_actions(state)] == ["2", "3"]
    assert game.parse_action(state, " 3 ") == 2
    for text in ("1", "4", "0", "b", "22"):
        with pytest.raises(BadInput, match=r"legal: 2 3"):
            game.parse_action(state, text)


@pytest.mark.parametrize(
    ("own", "other", "stores", "side", "score", "reason"),
    [
        ([0, 0, 0], [1, 0, 2], (4, 5), 0, -1, "second has 8 of 12 seeds"),
        ([0, 0, 0], [1, 0, 2], (4, 5), 1, 1, "first has 8 of 12 seeds"),
        ([1, 0, 0], [0, 0, 0], (6, 5), 1, -1, "second has 7 of 12 seeds"),
        ([0, 1, 0], [0, 0, 0], (5, 6), 0, 0, "draw: 6 seeds each"),
    ],
)
def test_a_finished_game_says_who_has_how_many(own, other, stores, side, score, reason):
    game, state = Kalah(houses=3, seeds=2), position(own, other, stores, side)
    assert bool(game.over(state)) and float(game.score(state)) == score
    assert game.outcome_reason(state) == reason


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kalah:houses=0", "houses is 0, but must be 1 to 10"),
        ("kalah:houses=11", "houses is 11, but must be 1 to 10"),
        ("kalah:seeds=0", "seeds is 0, but must be 1 to 12"),
        ("kalah:seeds=13", "seeds is 13, but must be 1 to 12"),
        ("kalah:empty_capture=yes", "empty_capture"),
    ],
)
def test_a_parameter_out_of_range_is_told_the_range(name, said):
    with pytest.raises(BadInput, match=said):
        make_game(name)
