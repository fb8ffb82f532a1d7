"""How a text names a game, and what a wrong one is told."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import textwrap
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import jax
import numpy as np
import pytest

from beamzero.core.errors import BadInput
from beamzero.games import GAMES, Game, make_game, make_stored_game
from beamzero.games.connect_four.game import ConnectFour
from beamzero.games.tic_tac_toe import TicTacToe

NIM = '''
"""Nim with one heap: take 1 to `most` stones; who takes the last one wins."""
import dataclasses
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
from jax import Array

from beamzero.games import Game


class NimState(NamedTuple):
    heap: Array  # int32 [] stones left
    ply: Array  # int32 [] moves so far


@dataclasses.dataclass(frozen=True)
class Nim(Game):
    heap: int = 10
    most: int = 3
    note: str = "plain"

    name: ClassVar[str] = "nim"
    observation_shape = (1,)

    @property
    def num_actions(self):
        return self.most

    @property
    def max_moves(self):
        return self.most

    @property
    def max_plies(self):
        return self.heap

    def init(self, key):
        return NimState(jnp.int32(self.heap), jnp.int32(0))

    def player(self, state):
        return state.ply & 1

    def legal(self, state):
        return jnp.arange(self.most) < state.heap

    def step(self, state, action):
        return NimState(jnp.maximum(state.heap - action - 1, 0), state.ply + (state.heap > 0).astype(jnp.int32))

    def over(self, state):
        return state.heap == 0

    def score(self, state):
        return jnp.where(state.heap == 0, (2 * (state.ply & 1) - 1).astype(jnp.float32), 0.0)

    def observe(self, state):
        return state.heap[None].astype(jnp.float32)

    def action_name(self, state, action):
        return f"take {action + 1}"
'''


def error(*names, **options) -> str:
    """The one line that a wrong name gets."""
    with pytest.raises(BadInput) as caught:
        make_game(*names, **options)
    line = str(caught.value)
    assert line and "\n" not in line
    return line


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a file into an empty working directory."""
    monkeypatch.chdir(tmp_path)
    return lambda name, text: (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")


def test_a_bare_name_gives_the_game_with_its_defaults():
    assert make_game("tic_tac_toe") == TicTacToe()
    assert make_game(" connect_four ") == ConnectFour(6, 7, 4)
    assert {name: make_game(name).spec for name in GAMES} == {name: name for name in GAMES}


@pytest.mark.parametrize(
    "game",
    [
        make_game("connect_four:rows=4,columns=5,length=3"),
        make_game("connect_four: rows = 4 , columns=5,length=3"),
        make_game("connect_four", rows=4, columns=5, length=3),
        make_game("connect_four", rows="4", columns="5", length="3"),
        make_game("connect_four", rows=np.int64(4), columns=np.int32(5), length=3),
        make_game("connect_four:rows=4", columns=5, length=3),
        make_game("connect_four:rows=9,columns=5,length=3", rows=4),
    ],
)
def test_parameters_come_by_text_and_by_keyword(game):
    assert game == ConnectFour(rows=4, columns=5, length=3)
    assert hash(game) == hash(ConnectFour(rows=4, columns=5, length=3))
    assert game.spec == "connect_four:rows=4,columns=5,length=3"
    assert type(game.rows) is int


def test_the_spec_leaves_defaults_out():
    assert make_game("connect_four", rows=6, columns=8).spec == "connect_four:columns=8"


def test_an_unknown_game_is_told_the_nearest_and_all():
    line = error("conect_four")
    assert "did you mean connect_four?" in line
    assert all(name in line for name in GAMES)
    assert all(name in error("") for name in GAMES)
    assert error("hexx").endswith("pgx:NAME, open_spiel:NAME, FILE.py:CLASS)"), "libraries have too many to be read"


@pytest.mark.parametrize("name", ["connect_four:hight=4", "connect_four"])
def test_an_unknown_parameter_is_told_which_there_are(name):
    line = error(name, **({} if ":" in name else {"hight": 4}))
    assert "hight" in line and "rows, columns, length" in line
    assert "none" in error("tic_tac_toe:size=4")


@pytest.mark.parametrize("rows", ["four", "4.5", "", "true", 4.5, None, True, [4]])
def test_a_parameter_of_another_type_is_told_what_it_must_be(rows):
    line = error("connect_four", rows=rows)
    assert "rows" in line and "whole number" in line


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("connect_four:rows=1", "2 to 16"),
        ("connect_four:columns=17", "2 to 16"),
        ("connect_four:length=-3", "2 to 16"),
        ("connect_four:rows=4,columns=4,length=5", "does not fit"),
        ("connect_four:7", "parameter=value"),
        ("connect_four:rows=4,rows=5", "twice"),
        ('connect_four:rows="4', "cannot read"),
    ],
)
def test_a_parameter_out_of_range_is_told_the_range(name, said):
    assert said in error(name)


# --- a user's own file ---------------------------------------------------------------------------------------------


def test_a_class_in_a_file_is_a_game(write, tmp_path):
    write("nim.py", NIM)
    game = make_game("nim.py:Nim,heap=5")
    assert (game.heap, game.most) == (5, 3)
    assert make_game(f"{tmp_path / 'nim.py'}:Nim", heap=5) == game
    state = game.init(jax.random.key(0))
    for text in ("take 3", "TAKE 2"):
        state = game.step(state, game.parse_action(state, text))
    assert bool(game.over(state)) and float(game.score(state)) == -1
    assert game.outcome_reason(state) == "second player wins"
    assert game.view(state) == {"kind": "text", "text": game.show(state)}


def test_the_spec_of_a_game_in_a_file_makes_it_again(write):
    """Agents store the spec of their game, so it must lead back to the file; a folder may be moved as a whole."""
    write("nim.py", NIM)
    for text in ("nim.py:Nim", "nim.py:Nim,heap=5", 'nim.py:Nim,note="a, b"'):
        game = make_game(text)
        assert game.spec == text
        assert make_game(game.spec) == game
        assert hash(make_game(game.spec)) == hash(game)


def test_the_spec_of_a_game_in_a_file_elsewhere_has_the_whole_path(write, tmp_path, monkeypatch):
    write("nim.py", NIM)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    text = f"{tmp_path / 'nim.py'}:Nim,heap=5"
    assert make_game(text).spec == text


def test_two_files_of_one_name_are_two_games(write, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(f"{folder}/nim.py", NIM)
    assert make_game("a/nim.py:Nim") != make_game("b/nim.py:Nim")
    assert make_game("a/nim.py:Nim") == make_game("a/nim.py:Nim")


def test_parameters_of_a_game_in_a_file_are_checked_too(write):
    write("nim.py", NIM)
    assert "heap, most, note" in error("nim.py:Nim,size=3")
    assert "whole number" in error("nim.py:Nim,heap=x")
    write("needs.py", NIM.replace("heap: int = 10", "heap: int"))
    assert "heap" in error("needs.py:Nim")
    assert make_game("needs.py:Nim,heap=4").heap == 4
    write("refuses.py", NIM + "\n    def __post_init__(self):\n        raise ValueError('too\\nbad')\n")
    assert "too bad" in error("refuses.py:Nim")


def test_a_wrong_class_is_told_which_there_are(write):
    write("nim.py", NIM)
    assert "Nim" in error("nim.py:Nimm")
    assert "Nim" in error("nim.py:NimState")
    assert "ClassName" in error("nim.py")
    assert "ClassName" in error("nim.py:Nim,Nim")
    assert "none.py" in error("none.py:Nim")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class Nim(", "SyntaxError"),
        ("import no_such_module", "no_such_module"),
        ("raise ValueError('two\\nlines')", "two lines"),
        ("x = 1", "Nim"),
        ("Nim = 1", "Nim"),
    ],
)
def test_a_broken_file_is_told_in_one_line(write, text, said):
    write("broken.py", text)
    line = error("broken.py:Nim")
    assert "broken.py" in line and said in line


def test_a_file_can_be_mended_and_tried_again(write):
    write("nim.py", "class Nim(")
    error("nim.py:Nim")
    write("nim.py", NIM)
    assert make_game("nim.py:Nim").heap == 10


def test_a_class_with_methods_missing_is_told_which(write):
    write("nim.py", NIM.replace("def over(", "def ober(").replace("def score(", "def skore("))
    line = error("nim.py:Nim")
    assert "over, score" in line


def test_a_class_that_is_no_frozen_dataclass_is_told_so(write):
    """Two games that do not compare equal would be compiled twice, and could not be named again."""
    write("plain.py", NIM.replace("@dataclasses.dataclass(frozen=True)", ""))
    assert "dataclass" in error("plain.py:Nim")
    write("thawed.py", NIM.replace("(frozen=True)", ""))
    assert "dataclass" in error("thawed.py:Nim")
    for kind in ("tuple", "'int | None'"):
        write("odd.py", NIM.replace("heap: int = 10", f"heap: {kind} = 10"))
        assert "a bool, int, float or str" in error("odd.py:Nim")


def test_a_class_without_a_name_goes_by_its_file(write):
    write("nim.py", NIM.replace('name: ClassVar[str] = "nim"', ""))
    assert make_game("nim.py:Nim,heap=5").spec == "nim.py:Nim,heap=5"
    assert "size" in error("nim.py:Nim,size=3")


# --- an installed package's ----------------------------------------------------------------------------------------


@pytest.fixture
def offer(monkeypatch):
    """Let installed packages seem to offer games: name to what loading gives, or the error it raises."""

    def install(**games):
        def load(thing):
            if isinstance(thing, Exception):
                raise thing
            return thing

        points = {name: SimpleNamespace(load=lambda thing=thing: load(thing)) for name, thing in games.items()}
        monkeypatch.setitem(GAMES.__dict__, "_offered", points)

    monkeypatch.setattr(GAMES, "_registered", {})
    return install


def test_an_entry_point_offers_a_game(offer):
    class Sevens(ConnectFour):
        name = "sevens"

    offer(sevens=Sevens)
    game = make_game("sevens:rows=7")
    assert type(game) is Sevens and game.rows == 7
    assert game.spec == "sevens:rows=7"
    assert make_game(game.spec) == game
    assert "sevens" in error("sevns")
    assert list(GAMES) == [*GAMES.built_in, "sevens"]
    assert make_game("connect_four") == ConnectFour()


def test_a_name_that_only_a_package_can_have_is_read_too(offer):
    offer(**{"four-in-a-row": ConnectFour})
    assert make_game("four-in-a-row:rows=7") == ConnectFour(rows=7)


def test_an_entry_point_that_is_no_game_is_told_in_one_line(offer):
    offer(number=3, broken=ImportError("no module\nnamed x"))
    assert error("number") == "'number' cannot be played: it is no Game"
    assert "'broken' cannot be loaded: ImportError: no module named x" in error("broken")
    assert make_game("kalah").name == "kalah", "which needs none of them"


# --- Python's ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Wide(ConnectFour):
    columns: int = 9
    name: ClassVar[str] = "wide"


def test_a_class_that_python_registers_goes_by_its_name(offer):
    offer()
    GAMES.register("wide", Wide)
    game = make_game("wide:rows=7")
    assert game == Wide(rows=7) and game.spec == "wide:rows=7"
    assert make_game(game.spec) == make_stored_game(game.spec) == game
    assert list(GAMES) == [*GAMES.built_in, "wide"] and "did you mean wide?" in error("wid")


def test_a_class_without_a_name_gets_the_one_it_is_registered_by(offer):
    offer()
    exec(NIM.replace('name: ClassVar[str] = "nim"', ""), scope := {"__name__": __name__})
    nim = scope["Nim"]
    GAMES.register("matches", nim)
    assert make_game("matches:heap=5").spec == "matches:heap=5" and GAMES["matches"] is nim


@pytest.mark.parametrize(
    ("name", "kind", "line"),
    [
        ("kalah", Wide, "'kalah' cannot be the name of your game: it is one of this package's"),
        ("a game", Wide, "'a game' cannot be the name of your game: write letters, digits and _"),
        ("five", 5, "'five' cannot be played: it is no Game"),
        ("plain", type("Plain", (Game,), {}), "'plain' cannot be played: action_name, init, "),
    ],
)
def test_what_cannot_be_registered_is_refused(offer, name, kind, line):
    offer()
    with pytest.raises(BadInput) as caught:
        GAMES.register(name, kind)
    assert str(caught.value).startswith(line) and list(GAMES) == list(GAMES.built_in)


def test_a_game_is_its_own_name():
    game = ConnectFour(rows=7)
    assert make_game(game) is game
    assert error(game, rows=8) == "'connect_four:rows=7' has its parameters: give rows with a name or a class"


def test_a_class_is_made_with_its_parameters():
    assert make_game(Wide) == Wide() and make_game(Wide, rows="7") == Wide(rows=7)
    assert make_game(ConnectFour, columns=8) == ConnectFour(columns=8)
    assert "hight" in error(Wide, hight=4) and "2 to 16" in error(Wide, rows=1)
    assert error(int) == "'int' cannot be played: it is no Game"
    assert error(5) == "'5' cannot be played: it is no Game"


def test_a_class_of_a_notebook_has_no_file(monkeypatch):
    notebook = ModuleType("a_notebook")
    monkeypatch.setitem(sys.modules, "a_notebook", notebook)
    exec(NIM.replace('name: ClassVar[str] = "nim"', ""), vars(notebook))
    assert make_game(notebook.Nim, heap=5).spec == "Nim:heap=5"
    exec(NIM + "\n    def __post_init__(self):\n        raise ValueError('too\\nbad')\n", vars(notebook))
    assert error(notebook.Nim) == "'Nim' cannot be played: ValueError: too bad"


def test_a_game_is_imported_when_it_is_asked_for():
    code = (
        "import sys; from beamzero.games import GAMES, make_game; list(GAMES); make_game('kalah');"
        "asked = ('beamzero.games.kalah', 'beamzero.games.chess', 'pgx', 'pyspiel');"
        "print([name for name in asked if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['beamzero.games.kalah']\n"
