"""The games, and how a text names one.

- ``connect_four``, ``connect_four:rows=7,columns=8``: a game of this package, with parameters;
- ``pgx:go_9x9``: a game of the pgx library, of two players with open information and without dice;
- ``mygame.py:MyGame``, ``mygame.py:MyGame,size=5``: a class in a file of yours;
- a name that an installed package offers through the entry point ``beamzero.games``.
"""

from __future__ import annotations

import functools
import importlib.metadata
import inspect
import os
from pathlib import Path
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.core.registry import load_file
from beamzero.core.spec import field_types, parse, parse_options, unknown
from beamzero.games.backgammon import Backgammon
from beamzero.games.bridge import Bridge
from beamzero.games.checkers import Checkers
from beamzero.games.chess import Chess, Chess6x6
from beamzero.games.connect_four import ConnectFour
from beamzero.games.faults import one_line
from beamzero.games.game import CHANCE, OPEN, Game, State
from beamzero.games.kalah import Kalah
from beamzero.games.othello import Othello
from beamzero.games.pgx.games import PGX_GAMES, find_pgx_game
from beamzero.games.poker import KuhnPoker, LeducPoker
from beamzero.games.tic_tac_toe import TicTacToe
from beamzero.games.togyzkumalak import Togyzkumalak

__all__ = ["CHANCE", "GAMES", "OPEN", "Game", "State", "make_game", "make_stored_game"]

GAMES: dict[str, type[Game]] = {
    game.name: game
    for game in (
        TicTacToe,
        ConnectFour,
        Othello,
        Checkers,
        Kalah,
        Togyzkumalak,
        Chess6x6,
        Chess,
        Backgammon,
        KuhnPoker,
        LeducPoker,
        Bridge,
    )
}
"""The games of this package, in the order in which `beamzero games` lists them."""


def make_game(name: str, **options: Any) -> Game:
    """The game that `name` names; keyword arguments are parameters, as in ``make_game("connect_four", rows=7)``."""
    spec = parse(name)
    kind = _find(spec.head, spec.arguments)
    values = parse_options({**spec.options, **options}, kind, kind.name)
    try:
        return kind(**values)
    except BadInput:
        raise
    except Exception as error:
        raise BadInput(f"{name!r} cannot be played: {_one_line(error, inspect.getsourcefile(kind))}") from error


def make_stored_game(text: str, given: Game | None = None, option: str = "--game") -> Game:
    """The game that a record, a run or an agent says it is of. No Python file is run because a data file names it.

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


def _find(head: str, arguments: tuple[str, ...]) -> type[Game]:
    if head.endswith(".py"):
        if len(arguments) != 1:
            raise BadInput(f"name the class in {head!r} as {head}:ClassName")
        kind = _load_class(Path(os.path.realpath(head)), arguments[0])
    elif head == "pgx":
        if len(arguments) != 1:
            raise BadInput(f"name a game of pgx as pgx:NAME (there are: {', '.join(PGX_GAMES)})")
        kind = find_pgx_game(arguments[0])
    elif arguments:
        raise BadInput(f"cannot read {arguments[0]!r} after {head!r}: write {head}:parameter=value")
    elif head in GAMES:
        kind = GAMES[head]
    else:
        offered = {point.name: point for point in importlib.metadata.entry_points(group="beamzero.games")}
        if head not in offered:
            raise unknown("game", head, {*GAMES, *offered, *(f"pgx:{name}" for name in PGX_GAMES)})
        try:
            kind = _checked(offered[head].load(), head)
        except (ImportError, AttributeError) as error:
            raise BadInput(f"{head!r} cannot be loaded: {_one_line(error)}") from error
    return kind


@functools.cache
def _load_class(path: Path, name: str) -> type[Game]:
    """The class `name` of a Python file; the same object each time, so that equal games stay equal."""
    if not path.is_file():
        raise BadInput(f"no file {path.name!r} to read a game from")
    try:
        module = load_file(path)
    except (Exception, SystemExit) as error:
        raise BadInput(f"{path.name} cannot be loaded: {_one_line(error, str(path))}") from error
    found = [key for key, value in vars(module).items() if _is_game(value) and value is not Game]
    if name not in found:
        raise unknown(f"game class in {path.name}", name, found)
    kind = _checked(getattr(module, name), name)
    kind.source = f"{path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}:{name}"
    if not hasattr(kind, "name"):
        kind.name = name
    return kind


def _is_game(kind: Any) -> bool:
    return inspect.isclass(kind) and issubclass(kind, Game)


def _checked(kind: Any, name: str) -> type[Game]:
    if not _is_game(kind):
        raise BadInput(f"{name!r} cannot be played: it is no Game")
    if inspect.isabstract(kind):
        raise BadInput(f"{name!r} cannot be played: {', '.join(sorted(kind.__abstractmethods__))} not written yet")
    if not getattr(getattr(kind, "__dataclass_params__", None), "frozen", False):
        raise BadInput(f"{name!r} cannot be played: write @dataclasses.dataclass(frozen=True) above the class")
    try:
        types = set(field_types(kind).values())
    except KeyError:
        types = {object}
    if not types <= {bool, int, float, str}:
        raise BadInput(f"{name!r} cannot be played: a parameter must be a bool, int, float or str")
    return kind


def _one_line(error: BaseException, file: str | None = None) -> str:
    return one_line(error, (file,))
