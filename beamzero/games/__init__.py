"""The games, and how a text names one.

- ``connect_four``, ``connect_four:rows=7,columns=8``: a game of this package, with parameters;
- ``pgx:go_9x9``: a game of the pgx library, of two players with open information and without dice;
- ``open_spiel:hex``, ``open_spiel:hex,board_size=7``: a game of OpenSpiel, of two players with open information;
- ``mygame.py:MyGame``, ``mygame.py:MyGame,size=5``: a class in a file of yours;
- a name that an installed package offers through the entry point ``beamzero.games``, or that ``GAMES.register`` added.
"""

from __future__ import annotations

import functools
import inspect
import os
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.core.registry import Registry, has_plain_fields, is_frozen
from beamzero.core.spec import parse, parse_options, unknown
from beamzero.core.user_code import describe_error, load_user_file, source_files
from beamzero.games.game import CHANCE, OPEN, Game, State
from beamzero.games.open_spiel.games import SPIEL_GAMES, find_spiel_game
from beamzero.games.pgx.games import PGX_GAMES, find_pgx_game

__all__ = ["CHANCE", "GAMES", "LIBRARIES", "OPEN", "Game", "State", "is_of_library", "make_game", "make_stored_game"]

BUILT_IN_GAMES = {
    "tic_tac_toe": "beamzero.games.tic_tac_toe:TicTacToe",
    "connect_four": "beamzero.games.connect_four:ConnectFour",
    "othello": "beamzero.games.othello:Othello",
    "checkers": "beamzero.games.checkers:Checkers",
    "kalah": "beamzero.games.kalah:Kalah",
    "togyzkumalak": "beamzero.games.togyzkumalak:Togyzkumalak",
    "chess6x6": "beamzero.games.chess:Chess6x6",
    "chess": "beamzero.games.chess:Chess",
    "backgammon": "beamzero.games.backgammon:Backgammon",
    "kuhn_poker": "beamzero.games.poker:KuhnPoker",
    "leduc_poker": "beamzero.games.poker:LeducPoker",
    "bridge": "beamzero.games.bridge:Bridge",
}
"""By name: the class, which is imported when it is asked for. In the order in which `beamzero games` lists them."""

GAMES = Registry("game", "beamzero.games", "beamzero.games:BUILT_IN_GAMES", "beamzero.games:check_game_class")
"""The games that go by a bare name: those of this package, of installed packages, and those that Python registered."""

LIBRARIES: dict[str, tuple[Callable[[str], type[Game]], tuple[str, ...]]] = {
    "pgx": (find_pgx_game, tuple(PGX_GAMES)),
    "open_spiel": (find_spiel_game, SPIEL_GAMES),
}
"""By name: what finds the class of a game of another library, and the games that are known to be playable."""


def is_of_library(name: str) -> bool:
    """Tell whether a game of another library has this name, so that every process finds it."""
    library, colon, _ = name.partition(":")
    return bool(colon) and library in LIBRARIES


def make_game(game: str | type[Game] | Game, **options: Any) -> Game:
    """Make a game of a text such as ``connect_four:rows=7`` or of a class; a Game is returned as it is.

    Keyword arguments are parameters: ``make_game("connect_four", rows=7)``, ``make_game(MyGame, size=5)``.

    >>> make_game("connect_four", rows=7, columns=8).num_actions
    8
    """
    if isinstance(game, Game):
        if options:
            raise BadInput(f"{game.spec!r} has its parameters: give {', '.join(options)} with a name or a class")
        return game
    if isinstance(game, str):
        name, spec = game, parse(game)
        kind = _find(spec.head, spec.arguments)
        options = {**spec.options, **options}
    else:
        name, kind = getattr(game, "__name__", repr(game)), game
        check_game_class(kind, name)
    values = parse_options(options, kind, kind.name)
    try:
        return kind(**values)
    except BadInput:
        raise
    except Exception as error:
        raise BadInput(f"{name!r} cannot be played: {describe_error(error, source_files(kind))}") from error


def make_stored_game(text: str, given: Game | None = None, option: str = "--game") -> Game:
    """Make the game that a record, a run or an agent says it is of. No Python file is run because a data file names it.

    `given` is the game that the person named by `option`, where that was done: it is the one if the class and its
    parameters are the same, wherever the file lies.
    """
    spec = parse(text)
    if not spec.head.endswith(".py"):
        return make_game(text)
    if given is None:
        raise BadInput(
            f"it is of {text!r}, a Python file, and such a file is run only where you name it: give {option} {text}"
        )
    mine, kind = parse(given.spec), type(given)
    same_class = mine.head.endswith(".py") and mine.arguments == spec.arguments
    if not same_class or kind(**parse_options(spec.options, kind, kind.name)) != given:
        raise BadInput(f"it is of {text!r}, not of {given.spec!r} as {option} says")
    return given


def check_game_class(kind: Any, name: str) -> None:
    """Raise BadInput where a class from outside cannot be played; one that has no name of its own gets `name`."""
    if not _is_game(kind):
        raise BadInput(f"{name!r} cannot be played: it is no Game")
    if inspect.isabstract(kind):
        raise BadInput(f"{name!r} cannot be played: {', '.join(sorted(kind.__abstractmethods__))} not written yet")
    if not is_frozen(kind):
        raise BadInput(f"{name!r} cannot be played: write @dataclasses.dataclass(frozen=True) above the class")
    if not has_plain_fields(kind):
        raise BadInput(f"{name!r} cannot be played: a parameter must be a bool, int, float or str")
    if not kind.name or any(kind.name == given for given in map(_NAMED.get, kind.__mro__[1:])):
        kind.name = _NAMED[kind] = name


_NAMED: weakref.WeakKeyDictionary[type, str] = weakref.WeakKeyDictionary()
"""Classes that had no name, and the names that they got: a class that inherits from one has none of its own."""


def _find(head: str, arguments: tuple[str, ...]) -> type[Game]:
    """Find the class that the text ``head:argument`` names."""
    if head.endswith(".py"):
        if len(arguments) != 1:
            raise BadInput(f"name the class in {head!r} as {head}:ClassName")
        return _load_class(Path(os.path.realpath(head)), arguments[0])
    if head in LIBRARIES:
        find, known = LIBRARIES[head]
        if len(arguments) != 1:
            raise BadInput(f"name a game of {head} as {head}:NAME (there are: {', '.join(known)})")
        return find(arguments[0])
    if arguments:
        raise BadInput(f"cannot read {arguments[0]!r} after {head!r}: write {head}:parameter=value")
    if head not in GAMES:
        others = (f"{library}:{name}" for library, (_, known) in LIBRARIES.items() for name in known)
        forms = [*(f"{library}:NAME" for library in LIBRARIES), "FILE.py:CLASS"]
        raise unknown("game", head, {*GAMES, *others}, listed=[*sorted(GAMES), *forms])
    return GAMES[head]


@functools.cache
def _load_class(path: Path, name: str) -> type[Game]:
    """Load the class `name` of a Python file: one object for all calls, so that equal games stay equal."""
    module = load_user_file(str(path), "a game")
    found = [key for key, value in vars(module).items() if _is_game(value) and value is not Game]
    if name not in found:
        raise unknown(f"game class in {path.name}", name, found)
    kind = getattr(module, name)
    check_game_class(kind, name)
    kind.source = f"{path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}:{name}"
    return kind


def _is_game(kind: Any) -> bool:
    return inspect.isclass(kind) and issubclass(kind, Game)
