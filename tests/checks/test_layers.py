"""Each layer of the package imports only from itself and from those before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.check

PACKAGE = Path(__file__).resolve().parents[2] / "beamzero"

# Two names in one group do not import each other. The command line starts the web page and the engines, so it is last.
ORDER = [
    {"core"},
    {"games"},
    {"drawing"},
    {"adapters"},
    {"search"},
    {"solvers"},
    {"nets"},
    {"storage"},
    {"players"},
    {"arena"},
    {"records"},
    {"plots"},
    {"training"},
    {"algorithms"},
    {"experiments"},
    {"cluster"},
    {"bench"},
    {"web", "engines"},
    {"cli"},
    {"api"},
    {"__main__"},
]
RANK = {name: rank for rank, group in enumerate(ORDER) for name in group}

DATA = {"recipes", "agents"}  # folders that hold files, not code
BASE = {path.stem for path in PACKAGE.glob("*.py")} - RANK.keys() - {"__init__"}  # none: what all need is in core
COPYLEFT = {"chess", "pyffish", "bitbully"}  # GPL and AGPL: for tests and benchmarks only


def imports(source: str, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything that `source`, the text of `module`, imports anywhere in it."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=name, names=names, level=level):
                base = name or ""
                if level:
                    parents = module.split(".")
                    parents = parents[: len(parents) - level + is_package]
                    base = ".".join([*parents, name] if name else parents)
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Attribute(attr="import_module") | ast.Name(id="import_module" | "__import__"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """What is wrong with the imports of `module` (its dotted name), one line each."""
    _, _, inside = module.partition(".")
    here = inside.split(".")[0]
    wrong = []
    for line, name in imports(source, module, is_package):
        top, *rest = name.split(".")
        there = rest[0] if rest else ""
        if top in COPYLEFT:
            problem = "is GPL or AGPL, so the package must not import it"
        elif top != "beamzero" or here in ("", there) or there in BASE | DATA | {"__version__"}:
            continue  # beamzero/__init__.py offers what it likes, and a layer may use itself
        elif there not in RANK:
            problem = "goes through the package's front door: import it from the layer that defines it"
        elif here not in RANK:
            problem = f"is a layer, and {here} stands below them all"
        elif RANK[there] >= RANK[here]:
            problem = f"does not come before {here}"
        else:
            continue
        wrong.append(f"{module}, line {line}: {name} {problem}")
    return wrong


def modules() -> list[tuple[str, Path]]:
    """Dotted name and file of every module in the package."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return found


def test_every_module_imports_only_from_its_layer_and_those_before() -> None:
    wrong = [
        line
        for module, path in modules()
        for line in violations(path.read_text(encoding="utf-8"), module, path.name == "__init__.py")
    ]
    assert not wrong, "\n".join(wrong)


def test_every_folder_of_the_package_has_a_place_in_the_order() -> None:
    folders = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE}
    assert folders <= RANK.keys() | DATA, f"give {sorted(folders - RANK.keys() - DATA)} a place in ORDER"


@pytest.mark.parametrize(
    ("module", "source", "named"),
    [
        ("beamzero.games.kalah", "from beamzero.search.beam import search", "beamzero.search.beam"),
        ("beamzero.games.kalah", "from beamzero import training", "beamzero.training"),
        ("beamzero.games.kalah", "import beamzero.nets", "beamzero.nets"),
        ("beamzero.games.kalah", "def f():\n    from ..players import make", "beamzero.players"),
        ("beamzero.games.kalah", "if TYPE_CHECKING:\n    from beamzero.storage import Run", "beamzero.storage"),
        ("beamzero.games.kalah", "importlib.import_module('beamzero.arena')", "beamzero.arena"),
        ("beamzero.games.kalah", "from beamzero import make_player", "beamzero.make_player"),
        ("beamzero.games.kalah", "import beamzero", "beamzero"),
        ("beamzero.web.server", "from beamzero.engines import uci", "beamzero.engines"),
        ("beamzero.web.server", "from beamzero import cli", "beamzero.cli"),
        ("beamzero.core.spec", "from beamzero.games import make_game", "beamzero.games"),
        ("beamzero.games.chess", "import chess", "chess"),
        ("beamzero.players.uci", "from chess.engine import SimpleEngine", "chess.engine"),
        ("beamzero", "import pyffish", "pyffish"),
    ],
)
def test_the_checker_sees_a_violation(module: str, source: str, named: str) -> None:
    (wrong,) = violations(source, module)
    assert wrong.startswith(f"{module}, line ")
    assert named in wrong


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("beamzero.search.beam", "from beamzero.games import chess"),
        ("beamzero.games.checkers.game", "from . import chess\nfrom .bits import shift"),
        ("beamzero.games.kalah", "from beamzero.core.errors import BadInput\nfrom beamzero import __version__"),
        ("beamzero.core.spec", "from beamzero.core.errors import BadInput"),
        ("beamzero.cli", "from beamzero.web import server\nfrom beamzero.engines import uci"),
        ("beamzero.__main__", "from beamzero.cli import main"),
        ("beamzero", "from beamzero.players import make_player"),
        ("beamzero.games.kalah", "import jax.numpy as jnp"),
    ],
)
def test_the_checker_lets_the_rest_pass(module: str, source: str) -> None:
    assert violations(source, module) == []
