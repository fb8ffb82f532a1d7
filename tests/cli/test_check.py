"""`beamzero check`: a game that keeps the laws passes, and each law that is broken gets its line."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from beamzero.bench import games as bench_games
from beamzero.bench.timing import seconds_of
from beamzero.cli import main
from beamzero.cli.commands import check
from beamzero.core.errors import BadInput
from beamzero.games import CHANCE, GAMES, Game, make_game
from beamzero.games.game import keep_if
from beamzero.games.laws import check_laws
from beamzero.games.shapes import wrong_sizes


class NimState(NamedTuple):
    heap: Array  # int32 [] stones left
    ply: Array  # int32 [] moves so far; even: side 0 to move


@dataclasses.dataclass(frozen=True)
class Nim(Game):
    """Take 1 to 3 of ten; who takes the last one wins."""

    name: ClassVar[str] = "nim"
    num_actions = 3
    max_moves = 3
    max_plies = 10
    observation_shape = (2,)

    def init(self, key):
        return NimState(jnp.int32(10), jnp.int32(0))

    def player(self, state):
        return state.ply % 2

    def legal(self, state):
        return jnp.arange(1, 4) <= state.heap

    def step(self, state, action):
        return keep_if(self.over(state), state, NimState(state.heap - action - 1, state.ply + 1))

    def over(self, state):
        return state.heap <= 0

    def score(self, state):
        return jnp.where(self.over(state), 2 * (state.ply % 2) - 1, 0).astype(jnp.float32)

    def observe(self, state):
        return jnp.stack([state.heap, 10 - state.heap]).astype(jnp.float32)

    def action_name(self, state, action):
        return f"take {action + 1}"


class Board(Nim):
    """The same on a board that can be mirrored: stones are put on free squares, and all of them are alike."""

    num_actions = 4
    max_moves = 4
    max_plies = 4
    observation_shape = (4,)

    def init(self, key):
        return BoardState(jnp.zeros(4, bool), jnp.int32(0))

    def legal(self, state):
        return ~state.squares

    def step(self, state, action):
        squares = state.squares | (jnp.arange(4) == action)
        return keep_if(self.over(state), state, BoardState(squares, state.ply + 1))

    def over(self, state):
        return state.squares[0] & state.squares[3]

    def observe(self, state):
        return state.squares.astype(jnp.float32)

    def symmetries(self, observation, values):
        return jnp.stack([observation, observation[::-1]]), jnp.stack([values, values[::-1]])


class BoardState(NamedTuple):
    squares: Array  # bool [4]
    ply: Array  # int32 []


class Dice(Nim):
    """Nim in which a throw of three says, once, how many may be taken at first."""

    num_chance = 3
    max_plies = 11

    def init(self, key):
        return NimState(jnp.int32(0), jnp.int32(0))

    def player(self, state):
        return jnp.where(state.heap == 0, CHANCE, state.ply % 2)

    def next_side(self, state):
        return state.ply % 2

    def over(self, state):
        return (state.heap == 0) & (state.ply > 0)

    def chance(self, state):
        return jnp.full(3, 1 / 3, jnp.float32)

    def resolve(self, state, outcome):
        return NimState(outcome + 4, state.ply)


FOR_PEOPLE = {"action_name", "parse_action", "show", "view", "places", "outcome_reason"}


def change(base: type[Game], **members: Any) -> Game:
    """A game that differs from `base` in some members.

    Where only what people see is another, it is equal to one of `base`, so that it needs no programs of its own.
    """
    if not members.keys() <= FOR_PEOPLE:
        return type("Changed", (base,), members)()
    game = base()
    for name, member in members.items():
        object.__setattr__(game, name, functools.partial(member, game))
    return game


@pytest.mark.parametrize("kind", [Nim, Board, Dice])
def test_a_game_that_keeps_the_laws_has_nothing_broken(kind):
    found = check_laws(kind(), games=32)
    assert found.broken == []
    assert sum(found.results) == found.games == 32
    assert 1 <= found.mean_plies <= kind.max_plies and found.positions == pytest.approx(32 * found.mean_plies)


@pytest.mark.parametrize("name", ["tic_tac_toe", pytest.param("connect_four", marks=pytest.mark.slow)])
def test_games_of_the_package_keep_the_laws(name):
    assert name in GAMES and check_laws(make_game(name), games=16).broken == []


def if_over(self, state, action):
    return state if self.over(state) else NimState(state.heap - action - 1, state.ply + 1)


def one_image(self, observation, values):
    return observation, values


def wrong_mirror(self, observation, values):
    return jnp.stack([observation, observation[::-1]]), jnp.stack([values, values])


def not_moved(self, observation, values):
    return jnp.stack([observation, observation[::-1]]), jnp.stack([values, 0 * values])


def turned_first(self, observation, values):
    return jnp.stack([observation[::-1], observation]), jnp.stack([values[::-1], values])


def refuse(self, state, text):
    raise BadInput("no")


def repeat_last(self, state):
    moves, count = Nim.moves(self, state)
    return jnp.where(jnp.arange(3) < count, moves[0], 0), count


def case(base: type[Game], line: str, **members: Any) -> tuple[type[Game], str, dict[str, Any]]:
    """A game that differs from `base` in some members, and what must be in the line that it gets."""
    return base, line, members


BROKEN = [
    # sizes
    case(Nim, "num_actions is 0, but must be a whole number, 1 or more", num_actions=0),
    case(Nim, "max_moves is 4, but there are only 3 actions", max_moves=4),
    case(Nim, "max_plies is 2.5, but must be a whole number, 1 or more", max_plies=2.5),
    case(Nim, "observation_shape is 2, but must be a tuple of whole numbers, 1 or more each", observation_shape=2),
    # shapes and dtypes, found without playing
    case(Nim, "init gives a tuple, but must give a NamedTuple of arrays", init=lambda self, key: (jnp.int32(10),)),
    case(
        Nim,
        "init gives plain numbers as ply: write jnp.int32(0) in place of 0",
        init=lambda self, key: NimState(jnp.int32(10), 0),
    ),
    case(Nim, "legal gives bool [4], but must give bool [3]", legal=lambda self, state: jnp.ones(4, bool)),
    case(Nim, "legal gives float32 [3], but must give bool [3]", legal=lambda self, state: jnp.ones(3)),
    case(Nim, "score gives int32 [], but must give float32 []", score=lambda self, state: state.ply),
    case(Nim, "over gives int32 [], but must give bool []", over=lambda self, state: state.ply),
    case(Nim, "player gives bool [], but must give int32 []", player=lambda self, state: state.ply == 1),
    case(
        Nim,
        "observe gives int32 [1], but must give float32 [2]",
        observe=lambda self, state: state.heap[None],
    ),
    case(
        Nim,
        "moves gives int32 [3], but must give int32 [3], int32 []",
        moves=lambda self, state: jnp.zeros(3, jnp.int32),
    ),
    case(Nim, "step cannot be compiled: TracerBoolConversionError, test_check.py line ", step=if_over),
    case(Nim, "; use jnp.where, & and | in place of if, and, or", step=if_over),
    case(
        Nim,
        "step gives ply as float32 [], but init gives int32 []",
        step=lambda self, state, action: state._replace(ply=state.ply.astype(jnp.float32)),
    ),
    case(
        Nim,
        "step gives ply as weak int32 [], but init gives int32 []",
        step=lambda self, state, action: state._replace(ply=jnp.where(action == 0, 1, 2)),
    ),
    case(Nim, "step gives no NamedTuple, but init gives heap, ply", step=lambda self, state, action: state.heap),
    case(
        Board,
        "symmetries gives float32 [4], float32 [4], but must give float32 [S, 4], float32 [S, 4]",
        symmetries=one_image,
    ),
    # rules, found by random play
    case(Nim, "player is 2, but must be 0 or 1 (after take ", player=lambda self, state: state.ply),
    case(
        Nim,
        "legal allows no move, but the game is not over (after take ",
        legal=lambda self, state: jnp.arange(1, 4) <= state.heap - 1,
    ),
    case(Nim, "legal allows 3 moves, but max_moves is 2 (at the start)", max_moves=2),
    case(Nim, "moves does not list exactly what legal allows (at the start)", moves=repeat_last),
    case(Nim, "score is 1, but the game is not over (at the start)", score=lambda self, state: jnp.float32(1)),
    case(
        Nim,
        "score is 10, but must lie in [-1, 1] (after take ",
        score=lambda self, state: jnp.where(self.over(state), 10.0, 0.0),
    ),
    case(
        Nim,
        "observe gives what is not a finite number (at the start)",
        observe=lambda self, state: jnp.log(Nim.observe(self, state)),
    ),
    case(
        Nim,
        "step changes a finished game: end it with keep_if(self.over(state), state, changed) (after take ",
        step=lambda self, state, action: NimState(state.heap - action - 1, state.ply + 1),
    ),
    case(Nim, "the game goes on, but max_plies is 5 (after take ", max_plies=5),
    case(
        Dice,
        "chance gives no probabilities that add up to 1 (at the start)",
        chance=lambda self, state: jnp.ones(3, jnp.float32),
    ),
    # what people see
    case(
        Nim,
        "action_name calls the actions 0 and 1 both 'take' (",
        action_name=lambda self, state, action: "take",
    ),
    case(
        Nim,
        "action_name calls a move 'a,0', but must give one line of text without a comma (",
        action_name=lambda self, state, action: f"a,{action}",
    ),
    case(Nim, "ZeroDivisionError, test_check.py line ", action_name=lambda self, state, action: 1 / 0),
    case(Nim, "parse_action does not read 'take 1', which action_name gave: no (", parse_action=refuse),
    case(
        Nim,
        "parse_action reads 'take 1' as action 9, but it is the name of action 0 (",
        parse_action=lambda self, state, text: 9,
    ),
    case(
        Nim,
        "pick does not give each legal action an equal share of [0, 1) (",
        pick=lambda self, state, draw: jnp.int32(0),
    ),
    case(Nim, "show gives '', but must give lines of text (", show=lambda self, state, seat=0: ""),
    case(
        Nim,
        "view must give a dict with a kind, of plain numbers, texts, lists and dicts only (",
        view=lambda self, state, seat=0: {"kind": "heap", "heap": state.heap},
    ),
    case(
        Nim,
        "view gives cells that are not 2 rows of 1 (",
        view=lambda self, state, seat=0: {"kind": "grid", "rows": 2, "columns": 1, "cells": [[0]]},
    ),
    case(
        Nim,
        "places gives [[0, 7]] for 'take 1', but must give at most two places of the board (",
        view=lambda self, state, seat=0: {"kind": "grid", "rows": 1, "columns": 1, "cells": [[0]]},
        places=lambda self, state, action: [[0, 7]],
    ),
    case(
        Nim,
        "outcome_reason gives 'a\\nb', but must give one line of text (",
        outcome_reason=lambda self, state: "a\nb",
    ),
    case(
        Nim,
        "outcome_reason says 'nobody wins' of a drawn game, but must have the word draw in it (",
        score=lambda self, state: jnp.float32(0),
        outcome_reason=lambda self, state: "nobody wins",
    ),
    # dice
    case(
        Dice,
        "next_side is -1, but must say which side chooses after the chance event (at the start)",
        next_side=Game.next_side,
    ),
    case(
        Dice,
        "next_side is 1, but player 0 is to move (after ",
        next_side=lambda self, state: jnp.where(state.heap == 0, 0, 1 - state.ply % 2),
    ),
    case(
        Dice,
        "a chance event follows another: make one event of them (",
        resolve=lambda self, state, outcome: NimState(jnp.where(outcome == 0, 0, outcome + 4), state.ply),
    ),
    # symmetries
    case(
        Board,
        "the first of the symmetries is not the observation and the values themselves (",
        symmetries=turned_first,
    ),
    case(Board, "symmetries must only move the values of actions about (at the start)", symmetries=not_moved),
    case(Board, "symmetries do not fit the rules (after take ", symmetries=wrong_mirror),
]


@pytest.mark.slow
@pytest.mark.parametrize(("base", "line", "members"), BROKEN, ids=[line for _, line, _ in BROKEN])
def test_a_broken_law_gets_one_line_that_says_which_and_where(base, line, members):
    broken = check_laws(change(base, **members), games=32).broken
    assert [found for found in broken if line in found], broken
    assert not any("\n" in found for found in broken)
    assert len(broken) <= 2, "and little else is blamed"


PAIRS = "float32 [S, 4], float32 [S, 4]"
UNFIT = [
    (lambda self, seen, values: {(seen, values)}, f"unhashable type: 'DynamicJaxprTracer'; it must give {PAIRS}"),
    (lambda self, seen, values: {(0, 1), (1, 0)}, f"which is not a valid JAX type; it must give {PAIRS}"),
    (frozenset({(0, 1)}), f"symmetries is a frozenset, but must be a method; it must give {PAIRS}"),
    (lambda self, seen, values: None, f"symmetries gives nothing, but must give {PAIRS}"),
    (
        lambda self, seen, values: {"seen": seen[None], "values": values[None]},
        f"symmetries gives a dict of float32 [1, 4], float32 [1, 4], but must give {PAIRS}",
    ),
    (
        lambda self, seen, values: (seen[None][:0], values[None][:0]),
        f"symmetries gives float32 [0, 4], float32 [0, 4], but must give {PAIRS}",
    ),
]


@pytest.mark.parametrize(("symmetries", "line"), UNFIT)
def test_symmetries_of_another_shape_are_told_the_one_that_is_wanted(symmetries, line):
    (broken,) = check_laws(change(Board, symmetries=symmetries)).broken
    assert broken.startswith("symmetries ") and broken.endswith(line)


@pytest.mark.parametrize("name", ["stake", "feature_names", "point_weights", "point"])
def test_what_the_host_reads_is_not_kept_on_the_device(name):
    (line,) = check_laws(change(Nim, **{name: jnp.arange(2)})).broken
    assert line == f"{name} is a JAX array, which is kept on the device, but must be plain numbers or texts of Python"


@pytest.mark.parametrize("array", [jnp, np])
def test_a_field_that_is_an_array_is_told_where_it_belongs(array):
    members = {"__annotations__": {"table": "Array"}, "table": array.arange(4)}
    with pytest.raises(TypeError, match=r"^table is an array, but a field is a parameter.*or put it above the class$"):
        type("Field", (Nim,), members)
    kept = type("Kept", (Nim,), {**members, "__annotations__": {"table": "ClassVar[Array]"}})
    assert not list(wrong_sizes(kept()))


@pytest.mark.parametrize(
    ("members", "line"),
    [
        ({"action_name": lambda self, state, action: np.int32(action)}, "action_name calls a move "),
        ({"parse_action": lambda self, state, text: jnp.int32(int(text[5:]) - 1)}, " as the JAX array "),
        ({"view": lambda self, state, seat=0: {"kind": "grid"}}, "view gives cells that are not None rows of None"),
        ({"show": lambda self, state, seat=0: show_nothing()}, "show fails: ZeroDivisionError"),
    ],
)
def test_what_people_see_is_named_where_it_fails(members, line):
    broken = check_laws(change(Nim, **members), games=32).broken
    assert [found for found in broken if line in found], broken


def show_nothing():
    def show():
        return 1 / 0

    return show()


def test_a_fault_of_people_s_sight_is_told_once():
    twice = change(Nim, action_name=lambda self, state, action: "take", show=lambda self, state, seat=0: "")
    assert len(check_laws(twice, games=32).broken) == 2


# --- the command -----------------------------------------------------------------------------------------------------

FILE = """
from tests.cli.test_check import *

@dataclasses.dataclass(frozen=True)
class Good(Nim):
    pass

@dataclasses.dataclass(frozen=True)
class Bad(Nim):
    def score(self, state):
        return jnp.float32(1)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("games")
    (folder / "mine.py").write_text(FILE)
    return folder


@pytest.fixture
def file(folder, monkeypatch):
    """What is measured is measured for an instant."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(bench_games, "_BATCHES", {"cpu": (64,)})
    for module in (check, bench_games):
        monkeypatch.setattr(module, "seconds_of", lambda *functions, seconds: seconds_of(*functions, seconds=0.0))


def test_a_good_game_is_praised_and_measured(file, capsys):
    assert main(["check", "mine.py:Good", "--games", "16"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith("16 random games of mine.py:Good, ") and ": the first side won " in lines[0]
    assert lines[1].endswith(" steps/s of random play") and lines[2:] == ["all laws hold"]
    assert err == ""


def test_a_bad_game_is_told_what_is_broken_with_status_1(file, capsys):
    assert main(["check", "mine.py:Bad"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "broken: score is 1, but the game is not over (at the start)"
    assert lines[-1] == "1 law broken"


def test_json_has_the_findings(file, capsys):
    assert main(["check", "mine.py:Good", "--games", "16", "--seed", "3", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["game"], result["broken"], result["games"]) == ("mine.py:Good", [], 16)
    assert result["results"].keys() == {"first", "draw", "second"} and sum(result["results"].values()) == 16
    assert result["steps_per_second"] > 0 and result["mean_plies"] * 16 == result["positions"]
    assert main(["check", "mine.py:Bad", "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert len(result["broken"]) == 1 and result["steps_per_second"] is None


def test_wrong_input_is_one_line_with_status_2(capsys):
    for words in (["check", "nim"], ["check", "tic_tac_toe", "--games", "0"], ["check"]):
        assert main(words) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("beamzero: ") and err.count("\n") == 1
