"""Opening books at play: images of a position are one, files are whole or refused, players ask the book first."""

from __future__ import annotations

import dataclasses
import functools
import hashlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from beamzero.cli.moves import play_moves
from beamzero.core.errors import BadInput
from beamzero.games import GAMES, make_game
from beamzero.games.game import Game, State
from beamzero.players import make_player
from beamzero.players.analysis import analyse, step
from beamzero.players.book import BookPlayer, as_numbers, fold, fold_action, look_up, make_table, unfold_action
from beamzero.players.player import Player, SearchPlayer, batch_of_one
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.simple import AnyMove
from beamzero.search.simple import random_moves as any_moves
from beamzero.storage.bookfile import POSITION_BYTES, Book, load_book, save_book
from beamzero.training.opening_book.entries import BookEntry, make_book
from tests.games.play import ask_all, params, sample_states, stack

TIC_TAC_TOE = make_game("tic_tac_toe")
SMALL_FOUR = "connect_four:rows=4,columns=5,length=3"
slow = functools.partial(pytest.param, marks=pytest.mark.slow)


@functools.partial(jax.jit, static_argnums=0)
def folded_keys(game: Game, states: State):
    return jax.vmap(lambda state: fold(game, state).key)(states)


def key_of(game: Game, state: State) -> int:
    return int(as_numbers(folded_keys(game, batch_of_one(state)))[0])


_fold_action = jax.jit(lambda game, state, action: fold_action(fold(game, state), action), static_argnums=0)
_unfold_action = jax.jit(lambda game, state, action: unfold_action(fold(game, state), action), static_argnums=0)


def book_of(game: Game, answers: list[tuple[State, int, float]]) -> Book:
    """A book that answers each state with an action and a value."""
    entries = {
        key_of(game, state): BookEntry(int(_fold_action(game, state, jnp.int32(action))), value)
        for state, action, value in answers
    }
    return make_book(game, entries, {"from": "search", "agent": "hand", "plies": 1, "whole_plies": 1})


# --- images ----------------------------------------------------------------------------------------------------------


def square_maps(size: int) -> list[np.ndarray]:
    """The eight ways to lay a square board over itself: where each square goes."""
    squares = np.arange(size**2).reshape(size, size)
    turned = [np.rot90(squares, k) for k in range(4)]
    return [np.argsort(image.ravel()) for image in (*turned, *(image.T for image in turned))]


def replayed(game: Game, moves: list[int]) -> State:
    state = game.init(jax.random.key(0))
    for move in moves:
        state = step(game, state, move)
    return state


def images(game: Game, moves: list[int]) -> list[tuple[State, np.ndarray]]:
    """All images of the position after `moves`, and where actions go in them; without the help of `symmetries`."""
    if game.name == "connect_four":
        maps = [np.arange(game.num_actions), np.arange(game.num_actions)[::-1]]
    else:
        maps = square_maps(3 if game.name == "tic_tac_toe" else game.size)
    if game.name != "othello":
        return [(replayed(game, [int(to[move]) for move in moves]), to) for to in maps]
    squares, side = game.write_position(replayed(game, moves)).split()  # half of its images no game leads to
    texts = ["".join(np.array(list(squares))[np.argsort(to)]) + " " + side for to in maps]
    return [(game.read_position(text), np.append(to, to.size)) for text, to in zip(texts, maps)]


def random_moves(game: Game, plies: int, draw: np.random.Generator) -> list[int]:
    moves, state = [], game.init(jax.random.key(0))
    for _ in range(plies):
        moves.append(int(draw.choice(game.legal_actions(state))))
        state = step(game, state, moves[-1])
    return moves


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "number"),
    [(SMALL_FOUR, 2), slow("connect_four:columns=4", 2), slow("tic_tac_toe", 8), slow("othello", 8)],
)
def test_every_image_of_a_position_is_answered_with_the_image_of_the_move(name, number):
    game, draw = make_game(name), np.random.default_rng(1)
    for plies in (0, 1, 2, 3, 4):
        moves = random_moves(game, plies, draw)
        all_images = images(game, moves)
        assert len(all_images) == number
        action = int(draw.choice(game.legal_actions(all_images[0][0])))
        table = make_table(book_of(game, [(all_images[0][0], action, 0.25)]))
        states = stack(state for state, _ in all_images)
        answer = look_up(game, table, states)
        assert answer.found.all() and (answer.value == 0.25).all()
        for (state, _), found in zip(all_images, np.asarray(answer.action).tolist()):
            # Where an image is the position itself, its move is as good.
            same = [to for other, to in all_images if jax.tree.all(jax.tree.map(np.array_equal, other, state))]
            assert found in [int(to[action]) for to in same]
            assert found in game.legal_actions(state)


@pytest.mark.slow
@pytest.mark.parametrize("name", [SMALL_FOUR, "tic_tac_toe", slow("othello")])
def test_folding_an_action_and_unfolding_it_gives_it_back(name):
    """Or a mirror image of it, where the position is its own: what follows is the same."""
    game, draw = make_game(name), np.random.default_rng(4)
    for plies in (0, 1, 3, 4):
        state = replayed(game, random_moves(game, plies, draw))
        for action in game.legal_actions(state):
            back = int(_unfold_action(game, state, _fold_action(game, state, jnp.int32(action))))
            assert key_of(game, step(game, state, back)) == key_of(game, step(game, state, action))
            assert back == action or plies <= 3


@functools.partial(jax.jit, static_argnums=0)
def _after_one_ply(game: Game, states: State) -> tuple[State, Array]:
    actions = jnp.arange(game.num_actions, dtype=jnp.int32)
    legal = jax.vmap(game.legal)(states) & ~jax.vmap(game.over)(states)[:, None]
    return jax.vmap(jax.vmap(game.step, (None, 0)), (0, None))(states, actions), legal


def all_positions(game: Game) -> State:
    """All of them, as many stones at a time as there are; no ply has more than 2048."""
    found, now = [], stack([jax.device_get(game.init(jax.random.key(0)))])
    while number := len(jax.tree.leaves(now)[0]):
        found.append(now)
        filled = jax.tree.map(lambda x, number=number: x[np.arange(2048) % number], now)
        after, legal = jax.device_get(_after_one_ply(game, filled))
        after = jax.tree.map(lambda x, there=legal[:number], number=number: x[:number][there], after)
        names = [b"".join(x[row].tobytes() for x in after) for row in range(int(legal[:number].sum()))]
        first = list({name: row for row, name in enumerate(names)}.values())
        now = jax.tree.map(lambda x, first=first: x[first], after)
    return jax.tree.map(lambda *x: np.concatenate(x), *found)


def test_tic_tac_toe_has_765_positions_that_are_no_images_of_each_other():
    states = all_positions(TIC_TAC_TOE)
    keys = as_numbers(folded_keys(TIC_TAC_TOE, states))
    assert len(keys) == 5478 and len(np.unique(keys)) == 765
    over = ask_all(TIC_TAC_TOE, "over", states)
    assert len(np.unique(keys[~over])) == 627


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def openings(game: Game, games: int, plies: int) -> State:
    """The positions of `plies` random plies of some games."""

    def ply(states: State, key: Array) -> tuple[State, State]:
        return jax.vmap(game.step)(states, any_moves(game, states, key)), states

    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), games))
    _, seen = jax.lax.scan(ply, states, jax.random.split(jax.random.key(1), plies))
    return jax.tree.map(lambda x: x.reshape(games * plies, *x.shape[2:]), seen)


OPEN = [name for name in GAMES if name != "chess" and not GAMES[name].hidden]
"""Chess is tried below; books go by the whole position, which some games hide."""


@pytest.mark.parametrize(
    "name",
    params(
        [*OPEN, "kalah:seeds=4", "othello:size=6"],
        ["chess6x6", "othello", "backgammon", "checkers", "connect_four", "kalah:seeds=4", "othello:size=6"],
    ),
)
def test_positions_with_one_key_are_one_position_or_images_of_it(name):
    game = make_game(name)
    states = jax.device_get(openings(game, 128, 5))
    keys = as_numbers(folded_keys(game, states))
    boards: dict[int, set[str]] = {}
    for row, key in enumerate(keys.tolist()):
        boards.setdefault(key, set()).add(game.show(jax.tree.map(lambda x, row=row: x[row], states)))
    shown = set.union(*boards.values())
    most = {"connect_four": 2, "tic_tac_toe": 8, "othello": 4}.get(game.name, 1)  # a game of Othello leads to four
    assert max(map(len, boards.values())) == most
    # Where there are no images: about as many keys as boards. How they were reached hardly counts.
    assert len(shown) / most <= len(boards) <= 1.1 * len(shown)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        slow("chess", "e4,e5,Nf3,Nc6,Bc4", "Nf3,Nc6,e4,e5,Bc4"),  # the clock and what was there before differ
        ("connect_four", "d,b,a", "a,b,d"),
        ("connect_four", "d,b,a", "g,f,d"),
        ("checkers", "11-15,24-20,12-16", "12-16,24-20,11-15"),
    ],
)
def test_a_position_has_one_key_however_it_was_reached(name, one, other):
    game = make_game(name)
    first, second = (key_of(game, play_moves(game, moves)) for moves in (one, other))
    assert first == second


# --- files -----------------------------------------------------------------------------------------------------------


def first_states() -> list[State]:
    start = TIC_TAC_TOE.init(jax.random.key(0))
    return [start, *(step(TIC_TAC_TOE, start, action) for action in (0, 1, 4))]


@pytest.fixture
def book() -> Book:
    return book_of(TIC_TAC_TOE, list(zip(first_states(), (4, 4, 4, 0), (0, 0.5, -1, 1))))


@pytest.fixture
def path(tmp_path, book):
    save_book(tmp_path / "ttt.book", book)
    return tmp_path / "ttt.book"


def test_a_book_comes_back_as_it_was(path, book):
    loaded = load_book(path)
    assert (loaded.game, loaded.key_check, loaded.about) == (book.game, book.key_check, book.about)
    for name in ("keys", "moves", "values"):
        one, other = getattr(loaded, name), getattr(book, name)
        assert one.dtype == other.dtype and (one == other).all()
    assert len(loaded) == 4


def test_it_takes_twelve_bytes_a_position_and_the_same_book_gives_the_same_bytes(path, book, tmp_path):
    assert POSITION_BYTES == 12
    assert path.read_bytes()[-48:-16] == book.keys.tobytes()
    save_book(tmp_path / "again.book", load_book(path))
    assert (tmp_path / "again.book").read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.book", "ttt.book"]


def test_a_flip_of_any_byte_and_a_cut_at_any_place_is_noticed(path):
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(BadInput):
            load_book(path)
        path.write_bytes(whole[:place])
        with pytest.raises(BadInput):
            load_book(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(BadInput, match="is damaged: its content does not match its SHA-256"):
        load_book(path)


def test_what_is_wrong_with_a_file_is_said_in_one_line(path, tmp_path):
    whole = path.read_bytes()
    wrong = {
        "none.book": (None, "there is no opening book .*none.book"),
        "text.book": (b"hello\n", "is not a beamzero opening book"),
        "empty.book": (b"", "is not a beamzero opening book"),
        "later.book": (
            whole.replace(b"book-1", b"book-2", 1),
            "format 'beamzero-book-2', but .* reads 'beamzero-book-1'",
        ),
    }
    for name, (data, line) in wrong.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(BadInput, match=line) as error:
            make_player(f"random:book={tmp_path / name}", TIC_TAC_TOE)
        assert "\n" not in str(error.value)
    with pytest.raises(BadInput, match="is a folder, but an opening book is one file"):
        load_book(tmp_path)
    with pytest.raises(BadInput, match="is a folder, but an opening book is one file"):
        make_player("random:book=", TIC_TAC_TOE)


@pytest.mark.parametrize(
    ("positions", "about", "body"),
    [
        ("0", "{}", b""),
        ("1.0", "{}", bytes(12)),
        ("2", "{}", bytes(12)),
        ("2", "{}", bytes(24)),  # a key twice
        ("1", "{}", bytes(10) + b"\0\x7e"),  # a value that is no number
        ("1", "{}", bytes(10) + b"\0\x40"),  # a value of 2
        ("1", "3", bytes(12)),
        ("1", "{", bytes(12)),
    ],
)
def test_a_stranger_s_file_with_a_right_sum_and_wrong_content_is_refused(tmp_path, positions, about, body):
    header = f'{{"positions": {positions}, "game": "tic_tac_toe", "key_check": "", "about": {about}}}'
    content = header.encode() + b"\n" + body
    path = tmp_path / "odd.book"
    path.write_bytes(b"\n".join([b"beamzero-book-1", hashlib.sha256(content).hexdigest().encode(), content]))
    with pytest.raises(BadInput, match="is no opening book that this version can read"):
        load_book(path)


def test_the_book_of_another_game_or_with_other_keys_is_refused(path, book, tmp_path):
    with pytest.raises(BadInput, match="is an opening book of tic_tac_toe, not of connect_four:rows=5"):
        make_player(f"random:book={path}", make_game("connect_four:rows=5"))
    save_book(path, dataclasses.replace(book, key_check="0" * 16))
    with pytest.raises(BadInput, match="by a version of beamzero that knew positions by other keys: make it again"):
        make_player(f"random:book={path}", TIC_TAC_TOE)


def test_a_book_that_cannot_be_written_leaves_nothing(tmp_path, book):
    for place in (tmp_path / "none" / "a.book", tmp_path):
        with pytest.raises(BadInput, match=r"there is no folder|is a folder"):
            save_book(place, book)
    assert list(tmp_path.iterdir()) == []


# --- looking up ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_key_of_a_book_is_found_and_no_other():
    """With any number of positions: the table is filled up to a power of two."""
    states = sample_states(TIC_TAC_TOE, 200)
    keys = as_numbers(folded_keys(TIC_TAC_TOE, states))
    legal = ask_all(TIC_TAC_TOE, "legal", states)
    _, first = np.unique(keys, return_index=True)
    for size in (3, 64):
        chosen = np.random.default_rng(size).permutation(first)[:size]
        rows = [jax.tree.map(lambda x, row=row: x[row], states) for row in chosen]
        book = book_of(
            TIC_TAC_TOE, [(state, int(np.argmax(legal[row])), row / 256) for row, state in zip(chosen.tolist(), rows)]
        )
        answer = look_up(TIC_TAC_TOE, make_table(book), states)
        assert (np.asarray(answer.found) == np.isin(keys, keys[chosen])).all()
        assert legal[np.arange(200), answer.action][np.asarray(answer.found)].all()
        assert (answer.value[chosen] == chosen / 256).all()


@pytest.mark.parametrize("move", [9, 65535])
def test_a_move_that_is_not_legal_is_no_answer(book, move):
    table = make_table(dataclasses.replace(book, moves=np.full(4, move, np.uint16)))
    states = stack(first_states())
    assert not look_up(TIC_TAC_TOE, table, states).found.any()
    taken = _fold_action(TIC_TAC_TOE, first_states()[3], jnp.int32(4))
    table = make_table(dataclasses.replace(book, moves=np.full(4, taken, np.uint16)))
    assert look_up(TIC_TAC_TOE, table, states).found.tolist()[3] is False


# --- playing ---------------------------------------------------------------------------------------------------------


class Watched(Player):
    """Chooses at random, and remembers what it was asked."""

    name, game, deterministic = "watched", TIC_TAC_TOE, False

    def __init__(self):
        self.asked, self.thoughts = [], 0
        self.inner = SearchPlayer("random", TIC_TAC_TOE, AnyMove(), zero_evaluator(TIC_TAC_TOE), deterministic=False)

    def think_batch(self, states, key):
        self.thoughts += 1
        return self.inner.think_batch(states, key)

    def choose(self, states, mask, key):
        self.asked.append(np.asarray(mask).tolist())
        return self.inner.choose(states, mask, key)


def watched(book: Book) -> BookPlayer:
    return BookPlayer("both", TIC_TAC_TOE, Watched(), make_table(book), False)


def some_states() -> State:
    """In the book, not, in, not, in, in."""
    start, corner, edge, centre = first_states()
    other = step(TIC_TAC_TOE, corner, 1)
    return stack([start, other, corner, step(TIC_TAC_TOE, centre, 1), edge, centre])


def test_the_other_player_is_asked_only_for_what_is_not_in_the_book(book):
    player, states = watched(book), some_states()
    moves = player.choose(states, jnp.ones(6, jnp.bool_), jax.random.key(0))
    assert player.player.asked == [[False, True, False, True, False, False]]
    assert ask_all(TIC_TAC_TOE, "legal", states)[np.arange(6), moves].all()
    assert moves[0] == 4 and moves[2] == 4 and moves[5] in (0, 2, 6, 8)
    player.choose(states, jnp.array([True, False, True, True, True, False]), jax.random.key(0))
    assert player.player.asked[1:] == [[False, False, False, True, False, False]]


def test_it_is_not_asked_at_all_where_the_book_knows_everything(book):
    player, states = watched(book), some_states()
    moves = player.choose(states, jnp.array([True, False, True, False, True, True]), jax.random.key(0))
    assert player.player.asked == [] and moves[0] == 4
    player.think(jax.tree.map(lambda x: x[:1], states), jax.random.key(0))
    assert player.player.thoughts == 0


def test_what_it_thinks_of_a_book_position_is_the_book_s_move_and_value(book):
    player, states = watched(book), some_states()
    result = jax.device_get(player.think(states, jax.random.key(0)))
    assert player.player.thoughts == 1
    legal = ask_all(TIC_TAC_TOE, "legal", states)
    assert (np.isfinite(result.values) == legal).all()
    assert result.value.tolist() == [0, 0, 0.5, 0, -1, 1]
    for row in (0, 2, 4, 5):
        assert result.policy[row, result.action[row]] == 1 and result.policy[row].sum() == 1
        assert result.values[row, result.action[row]] == result.value[row] == result.values[row].max()
    assert result.nodes.tolist() == [0, 1, 0, 1, 0, 0]
    assert result.policy[1].max() == pytest.approx(1 / 7)


@pytest.mark.parametrize(
    ("name", "deterministic"),
    [
        ("random:book=BOOK", False),
        ('lookahead:2,book="BOOK"', False),
        slow("two_step_lookahead:book=BOOK", False),
        slow("minimax:depth=2,book=BOOK", False),
        ("alphabeta:depth=2,book=BOOK", True),
        slow("alphabeta:seconds=0.01,book=BOOK", False),
    ],
)
def test_any_agent_takes_a_book(path, name, deterministic):
    name = name.replace("BOOK", str(path))
    player = make_player(name, TIC_TAC_TOE)
    assert isinstance(player, BookPlayer)
    assert (player.name, player.deterministic, player.game) == (name, deterministic, TIC_TAC_TOE)
    states = stack(first_states()[:3])
    assert player.choose(states, jnp.ones(3, jnp.bool_), jax.random.key(0)).tolist() == [4, 4, 4]


def test_without_a_book_an_agent_is_what_it_was(path):
    assert not isinstance(make_player("alphabeta:depth=2", TIC_TAC_TOE), BookPlayer)
    with pytest.raises(BadInput, match="random has no option 'bok'"):
        make_player(f"random:bok={path}", TIC_TAC_TOE)


def test_an_analysis_begins_with_the_move_of_the_book(path):
    player = make_player(f"lookahead:1,book={path}", TIC_TAC_TOE)
    start, corner = first_states()[:2]
    for state, value in ((start, 0), (corner, 0.5)):
        found = analyse(TIC_TAC_TOE, player, state, jax.random.key(0))
        assert (found.best, found.line[0], found.value) == ("b2", "b2", value)
    other = step(TIC_TAC_TOE, corner, 1)
    alone = analyse(TIC_TAC_TOE, make_player("lookahead:1", TIC_TAC_TOE), other, jax.random.key(0))
    assert analyse(TIC_TAC_TOE, player, other, jax.random.key(0)).value == pytest.approx(alone.value)
