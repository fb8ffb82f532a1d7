"""Opening books in the making: what belongs in, what the answers are, and what time and few games do to them."""

from __future__ import annotations

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.arena.battle import battle
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.games.game import Game, State
from beamzero.players import make_player
from beamzero.players.analysis import step
from beamzero.players.book import BookPlayer, Table, as_numbers, fold, look_up, make_table
from beamzero.players.player import batch_of_one
from beamzero.storage.bookfile import Book
from beamzero.training.opening_book import entries as book_entries
from beamzero.training.opening_book import from_search as book_search
from beamzero.training.opening_book.entries import BookEntry, Clock
from beamzero.training.opening_book.from_games import (
    TRUST,
    FromSelfPlay,
    Tried,
    _gather,
    _play,
    _Ply,
    best_moves,
    self_play_book,
)
from beamzero.training.opening_book.from_search import FromSearch, search_book

TIC_TAC_TOE = make_game("tic_tac_toe")


@functools.cache
def made(game: str, agent: str, plies: int, any_plies: int = 0, replies: int = 0) -> Book:
    rules = make_game(game)
    return search_book(rules, make_player(agent, rules), FromSearch(plies, any_plies, replies))


def answer(game: Game, table: Table, state: State) -> int | None:
    found = look_up(game, table, batch_of_one(state))
    return int(found.action[0]) if bool(found.found[0]) else None


@functools.partial(jax.jit, static_argnums=0)
def looks(game: Game, state: State) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Who moves, whether it is over, and what it is worth then."""
    return game.player(state), game.over(state), game.score(state)


def name_of(state: State) -> bytes:
    return b"".join(np.asarray(x).tobytes() for x in state)


# --- from search -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "agent", "plies", "any_plies"),
    [
        pytest.param("tic_tac_toe", "alphabeta:depth=9", 9, 0, marks=pytest.mark.slow),
        pytest.param("tic_tac_toe", "lookahead:1", 6, 2, marks=pytest.mark.slow),
        ("kalah:houses=3,seeds=2", "lookahead:1", 7, 0),  # where a side moves again
    ],
)
def test_a_side_that_follows_the_book_is_never_left_alone_whatever_the_other_plays(name, agent, plies, any_plies):
    game = make_game(name)
    table = make_table(made(name, agent, plies, any_plies))
    for side in (0, 1):
        level = {name_of(first): first for first in [game.init(jax.random.key(0))]}
        for ply in range(plies):
            after = {}
            for state in level.values():
                moves = game.legal_actions(state)
                if moves and int(looks(game, state)[0]) == side:
                    move = answer(game, table, state)
                    assert move in moves, f"after {ply} plies the book has no legal move in\n{game.show(state)}"
                    moves = moves if ply < any_plies else [move]
                children = [step(game, state, move) for move in moves]
                after |= {name_of(child): child for child in children}
            level = after


@functools.cache
def best_result(state: tuple) -> int:
    """What tic-tac-toe is worth to the side to move, by trying everything; boards are nine signs of X, O and none."""
    board, side = state
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    if any({board[a], board[b], board[c]} == {1 - side} for a, b, c in lines):
        return -1
    free = [square for square in range(9) if board[square] is None]
    return max((-best_result(played(board, square, side)) for square in free), default=0)


def played(board: tuple, square: int, side: int) -> tuple:
    return (*board[:square], side, *board[square + 1 :]), 1 - side


@pytest.mark.slow
def test_a_full_book_of_tic_tac_toe_plays_perfectly_against_any_opponent():
    """Every line of the other side is tried, and from every position the book gets what it is worth, or more."""
    table = make_table(made("tic_tac_toe", "alphabeta:depth=9", 9))

    @functools.cache
    def worst(line: tuple[int, ...], side: int) -> int:
        """The worst result for `side`, which plays from the book, after the moves of `line`."""
        state, board = TIC_TAC_TOE.init(jax.random.key(0)), ((None,) * 9, 0)
        for move in line:
            state, board = step(TIC_TAC_TOE, state, move), played(board[0], move, board[1])
        _, over, score = looks(TIC_TAC_TOE, state)
        if over:
            return int(score) * (1 - 2 * side)
        if len(line) % 2 == side:
            move = answer(TIC_TAC_TOE, table, state)
            assert -best_result(played(board[0], move, side)) == best_result(board), "a move that gives something away"
            return worst((*line, move), side)
        return min(worst((*line, move), side) for move in TIC_TAC_TOE.legal_actions(state))

    assert worst((), 0) == 0 and worst((), 1) == 0


@pytest.mark.slow
def test_values_are_what_positions_are_worth():
    book = made("tic_tac_toe", "alphabeta:depth=9", 9, 9)
    assert len(book) == 627, "all positions that are not over, images counted once"
    table = make_table(book)
    for moves in itertools.permutations(range(9), 3):
        state, board = TIC_TAC_TOE.init(jax.random.key(0)), ((None,) * 9, 0)
        for move in moves:
            state, board = step(TIC_TAC_TOE, state, move), played(board[0], move, board[1])
        found = look_up(TIC_TAC_TOE, table, batch_of_one(state))
        assert float(found.value[0]) == best_result(board)
        if moves[0] > 2:
            break


@pytest.mark.slow
@pytest.mark.parametrize(("name", "plies"), [("tic_tac_toe", 4), ("connect_four", 3), ("kalah:houses=3,seeds=2", 4)])
def test_where_any_ply_may_be_played_anyhow_all_positions_are_in_the_book_once(name, plies):
    game = make_game(name)
    level, images = {b"": game.init(jax.random.key(0))}, set()
    for _ in range(plies):
        for state in level.values():
            images.add(one_image(game, state))
        after = {}
        for state in level.values():
            for move in game.legal_actions(state):
                child = step(game, state, move)
                if not looks(game, child)[1]:
                    after[name_of(child)] = child
        level = after
    assert len(made(name, "lookahead:1", plies, plies)) == len(images)


observe = jax.jit(lambda game, state: game.observe(state), static_argnums=0)


def one_image(game: Game, state: State) -> bytes:
    """The least of the boards that are images of each other."""
    if type(game).symmetries is Game.symmetries:
        return name_of(state)
    observation = np.asarray(observe(game, state))
    ways = [observation, observation[:, ::-1]]
    if game.name != "connect_four":
        ways += [image.transpose(1, 0, 2) for image in ways]
        ways += [image[::-1, ::-1] for image in ways]
    return min(np.ascontiguousarray(image).tobytes() for image in ways)


@pytest.mark.slow
def test_fewer_replies_make_a_smaller_book_and_keep_the_best_ones(monkeypatch):
    sizes = [len(made("connect_four", "lookahead:1", 4, 0, replies)) for replies in (1, 3, 0)]
    assert sizes[0] < sizes[1] < sizes[2]
    monkeypatch.setattr(book_search, "_SHORT_DEPTH", 9)
    start = TIC_TAC_TOE.init(jax.random.key(0))
    table = make_table(made("tic_tac_toe", "alphabeta:depth=9", 3, 0, 1))
    first = answer(TIC_TAC_TOE, table, start)
    after, board = step(TIC_TAC_TOE, start, first), played((None,) * 9, first, 0)
    replies = [
        move
        for move in TIC_TAC_TOE.legal_actions(after)
        if answer(TIC_TAC_TOE, table, step(TIC_TAC_TOE, after, move)) is not None
    ]
    # One reply, or its images, and none that loses: to a corner seven of eight do, to the centre the four edges.
    assert 1 <= len(replies) <= 4 and all(-best_result(played(board[0], move, 1)) == 0 for move in replies)


def test_the_same_seed_gives_the_same_book():
    one, other = (
        search_book(TIC_TAC_TOE, make_player("lookahead:1", TIC_TAC_TOE), FromSearch(4), seed=3) for _ in range(2)
    )
    assert (one.keys == other.keys).all() and (one.moves == other.moves).all() and one.about == other.about


def test_progress_tells_of_every_position():
    told = []
    book = search_book(
        TIC_TAC_TOE,
        make_player("lookahead:1", TIC_TAC_TOE),
        FromSearch(3, any_plies=0),
        on_progress=lambda what, done, total: told.append((what, done, total)),
    )
    assert told[0] == ("ply 1 of 3", 0, 1) and told[1] == ("ply 1 of 3", 1, 1)
    last = {what: (done, total) for what, done, total in told}
    assert list(last) == ["ply 1 of 3", "ply 2 of 3", "ply 3 of 3"]
    assert all(done == total for done, total in last.values())
    assert sum(total for _, total in last.values()) == len(book)


@pytest.mark.parametrize("stop_after", [1, 2, 4, 7])
def test_when_the_time_is_over_the_book_holds_what_was_finished(monkeypatch, stop_after):
    done: set[tuple[str, int]] = set()
    monkeypatch.setattr(Clock, "is_over", property(lambda self: len(done) >= stop_after))
    book = search_book(
        TIC_TAC_TOE,
        make_player("lookahead:1", TIC_TAC_TOE),
        FromSearch(9, any_plies=2),
        minutes=1,
        on_progress=lambda what, number, _: done.add((what, number)) if number else None,
    )
    # 1 position at the first ply, 3 at the second, 12 at the third.
    assert len(book) == stop_after
    assert book.about["whole_plies"] == {1: 1, 2: 1, 4: 2, 7: 2}[stop_after]
    assert answer(TIC_TAC_TOE, make_table(book), TIC_TAC_TOE.init(jax.random.key(0))) is not None


def test_minutes_are_kept(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(book_entries.time, "monotonic", lambda: now[0])
    clock, endless = Clock(2), Clock(None)
    assert not clock.is_over
    now[0] += 119
    assert not clock.is_over
    now[0] += 2
    assert clock.is_over and not endless.is_over
    for minutes in (0, -1, float("nan"), float("inf")):
        with pytest.raises(BadInput, match="but must be more than 0"):
            Clock(minutes)


@pytest.mark.parametrize(
    ("plan", "wrong"),
    [
        (FromSearch(0), "plies is 0, but must be 1 to 9"),
        (FromSearch(10), "plies is 10, but must be 1 to 9"),
        (FromSearch(3, any_plies=4), "any plies is 4, but must be 0 to the plies of the book, 3"),
        (FromSearch(3, any_plies=-1), "any plies is -1, but must be 0 to"),
        (FromSearch(3, replies=-1), "replies is -1, but must be 0 for all, or more"),
        (FromSelfPlay(0), "self-play is 0 games, but must be 1 or more"),
        (FromSelfPlay(9, plies=0), "plies is 0, but must be 1 to 9"),
        (FromSelfPlay(9, least=0), "least is 0, but must be 1 or more"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(plan, wrong):
    make = self_play_book if isinstance(plan, FromSelfPlay) else search_book
    with pytest.raises(BadInput, match=wrong):
        make(TIC_TAC_TOE, make_player("random", TIC_TAC_TOE), plan)


# --- from self-play --------------------------------------------------------------------------------------------------


def tried(*rows: tuple[int, int, float, int]) -> Tried:
    """Moves (position, move, result, how often), in a mixed order."""
    listed = [(key, move, result) for key, move, result, times in rows for _ in range(times)]
    np.random.default_rng(0).shuffle(listed)
    keys, moves, results = zip(*listed)
    return Tried(np.array(keys, np.uint64), np.array(moves, np.int32), np.array(results, np.float32))


def test_the_move_with_the_best_mean_result_is_taken():
    entries = best_moves(tried((7, 0, 1, 30), (7, 0, -1, 50), (7, 2, 1, 60), (7, 2, -1, 20), (9, 1, -1, 40)), 20)
    assert entries.keys() == {7, 9}
    assert entries[7].move == 2 and entries[9].move == 1
    mean = (30 - 50 + 60 - 20) / 160
    assert entries[7].value == pytest.approx((60 - 20 + TRUST * mean) / (80 + TRUST))
    assert entries[9] == BookEntry(1, pytest.approx(-1))


def test_one_lucky_game_does_not_decide():
    entries = best_moves(tried((7, 0, 1, 60), (7, 0, -1, 20), (7, 1, 1, 1), (7, 2, -1, 40)), 20)
    assert entries[7].move == 0


def test_a_position_that_came_up_too_seldom_is_left_out():
    rows = tried((1, 0, 1, 19), (2, 0, 1, 10), (2, 1, 1, 10))
    assert best_moves(rows, 20).keys() == {2}
    assert best_moves(rows, 21) == {}


def test_results_are_those_of_the_side_that_moved():
    place = np.arange(6).reshape(2, 3)  # [T, G]
    plies = _Ply(
        key=np.stack([np.zeros((2, 3), np.uint32), place.astype(np.uint32)], axis=-1),
        move=place.astype(np.int32) + 10,
        player=np.array([[0, 0, 0], [1, 1, 0]]),
        counts=np.array([[True, False, True], [True, True, True]]),
    )
    found = _gather(plies, np.array([1, -1, 0.5], np.float32))
    assert found.key.tolist() == [0, 2, 3, 4, 5] and found.move.tolist() == [10, 12, 13, 14, 15]
    assert found.result.tolist() == [1, 0.5, -1, 1, 0.5]


@pytest.mark.slow
def test_moves_are_tried_at_every_ply_and_only_what_follows_is_counted():
    """Of an agent that never errs: before the move to try anything may be played, after it nothing is given away."""
    player = make_player("alphabeta:depth=9", TIC_TAC_TOE)
    plan = FromSelfPlay(128, plies=3, slip=0.0)
    found = _play(TIC_TAC_TOE, player, plan, 128, jax.random.key(0))
    # A third of the games count at each of their three plies, a third at the last two, the rest at the last one.
    assert len(found.key) == pytest.approx(128 * (3 + 2 + 1) / 3, rel=0.15)
    start = key_of_start()
    at_start = found.result[found.key == start]
    assert len(at_start) == pytest.approx(128 / 3, rel=0.4) and (at_start == 0).all(), "every first move draws"


def key_of_start() -> int:
    return int(as_numbers(fold(TIC_TAC_TOE, TIC_TAC_TOE.init(jax.random.key(0))).key))


@pytest.mark.slow
def test_a_book_of_random_games_knows_a_good_first_move_and_beats_random_play():
    player = make_player("random", TIC_TAC_TOE)
    book = self_play_book(TIC_TAC_TOE, player, FromSelfPlay(4000, plies=3), seed=1)
    assert 4000 <= book.about["games"] < 4128 and book.about["from"] == "self-play"
    table = make_table(book)
    assert answer(TIC_TAC_TOE, table, TIC_TAC_TOE.init(jax.random.key(0))) == 4, "the centre wins most random games"
    result = battle(TIC_TAC_TOE, BookPlayer("book", TIC_TAC_TOE, player, table, False), player, 400, 0)
    assert result.interval.low > 0.5


@pytest.mark.slow
def test_self_play_stops_with_the_clock_and_asks_for_more_games_where_there_are_too_few(monkeypatch):
    player = make_player("random", TIC_TAC_TOE)
    with pytest.raises(BadInput, match="no position came up 1000 times in 4 games: play more, or set least lower"):
        self_play_book(TIC_TAC_TOE, player, FromSelfPlay(4, least=1000))
    monkeypatch.setattr(Clock, "is_over", True)
    book = self_play_book(TIC_TAC_TOE, player, FromSelfPlay(100_000, least=1), minutes=1)
    assert book.about["games"] == 128


@pytest.mark.slow
def test_an_agent_that_always_answers_the_same_still_plays_different_games():
    player = make_player("alphabeta:depth=1", TIC_TAC_TOE)
    book = self_play_book(TIC_TAC_TOE, player, FromSelfPlay(128, plies=1, least=1), seed=2)
    assert player.deterministic and len(book) == 1
    assert -1 < float(book.values[0]) < 1 and float(jnp.abs(book.values[0])) > 0
