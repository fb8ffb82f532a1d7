"""One name has one home, no caller asks what class an object is, and docstrings begin with a verb.

What does not hold yet is listed below by name or by file. The lists may only shrink: a new row fails, and so does a row
that is no longer needed.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from beamzero.cli.commands import COMMAND_TABLE

pytestmark = pytest.mark.check

ROOT = Path(__file__).resolve().parents[2]
FRONT_DOOR = {"analyse", "battle", "make_player", "rate", "score", "train"}
"""Functions of `beamzero` that take texts and objects, and call the function of the same name that does the work."""
Sources = Mapping[str, ast.Module]  # by path, such as beamzero/games/kalah.py

DUPLICATES: set[str] = set()
LADDERS: dict[str, int] = {
    "beamzero/nets/__init__.py": 1,  # `padding`, which only some nets have
}
OPENINGS: dict[str, int] = {}

BAD_OPENINGS = ("The same", "What", "Whether it")
FAMILIES = {
    "Player",
    "NetSettings",
    "RunSettings",
}  # abstract: to ask for one of these is fine, to ask for one of their kinds is not
PLACES = ("nets", "players", "search", "solvers", "training", "algorithms")
TYPE_VARIABLES = {"TypeVar", "TypeVarTuple", "ParamSpec"}
TELLTALE = {"kind", "name", "algorithm"}


def sources() -> Sources:
    """Parse every module of the package."""
    paths = sorted((ROOT / "beamzero").rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


# One name, one home


def command_functions(path: str) -> set[str]:
    """Name the functions of a module that are commands, of which only the table of commands knows."""
    places = [entry.place.split(":") for entry in COMMAND_TABLE.values()]
    return {function for module, function in places if path == f"beamzero/cli/commands/{module}.py"}


def public_names(path: str, tree: ast.Module) -> set[str]:
    """Name the classes, functions, constants and type aliases that a module defines for others."""
    found = set()
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Assign(value=ast.Call(func=func)) if last_name(func) in TYPE_VARIABLES:
                continue
            case ast.Assign(targets=targets):
                found |= {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return {name for name in found - command_functions(path) if not name.startswith("_")}


def duplicates(modules: Sources) -> dict[str, list[str]]:
    """Name what two or more modules define, with the modules."""
    homes = defaultdict(list)
    for path, tree in modules.items():
        for name in public_names(path, tree):
            homes[name].append(path)
    front = {name for name, paths in homes.items() if name in FRONT_DOOR and len(paths) == 2}
    return {name: paths for name, paths in sorted(homes.items()) if len(paths) > 1 and name not in front}


# No ladders over classes


def last_name(node: ast.AST) -> str:
    """Give `C` of both ``C`` and ``module.C``, nothing of anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def is_frozen(node: ast.ClassDef) -> bool:
    """Tell whether a class is a frozen dataclass by its decorators."""
    settings = [
        word for call in node.decorator_list if isinstance(call, ast.Call) for word in call.keywords if word.arg
    ]
    return any(word.arg == "frozen" for word in settings)


def is_runtime_protocol(node: ast.ClassDef) -> bool:
    """Tell whether a class is there to be asked for with `isinstance`."""
    return any(last_name(decorator) == "runtime_checkable" for decorator in node.decorator_list)


def members(node: ast.ClassDef) -> set[str]:
    """Name the fields and methods that a class defines."""
    fields = {last_name(inner.target) for inner in node.body if isinstance(inner, ast.AnnAssign)}
    return fields | {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)}


def concrete_classes(modules: Sources) -> dict[str, set[str]]:
    """Name the kinds of players, searches, settings and algorithms that the package defines, with their members."""
    found: set[str] = set()
    bases: dict[str, set[str]] = {}
    inside: dict[str, set[str]] = {}
    for path, tree in modules.items():
        place = path.split("/")[1]
        if place not in PLACES:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            bases[node.name] = {last_name(base) for base in node.bases}
            inside[node.name] = members(node)
            if node.name in FAMILIES:
                continue
            is_search = place in ("search", "solvers") and (is_frozen(node) or is_runtime_protocol(node))
            is_algorithm = place in ("training", "algorithms") and is_frozen(node) and "iterate" in members(node)
            if is_search or is_algorithm or node.name.endswith("Settings"):
                found.add(node.name)
    while new := {name for name, above in bases.items() if above & (found | FAMILIES)} - found:
        found |= new
    return {name: inside[name] for name in sorted(found)}


def imported_modules(tree: ast.Module) -> set[str]:
    """Name what a module imports whole, such as `os`: to ask what a platform has is no ladder."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import))
    return {alias.asname or alias.name.split(".")[0] for node in imports for alias in node.names}


def is_text(node: ast.AST) -> bool:
    """Tell whether an expression is a text, or a collection of texts or of names in capitals."""
    match node:
        case ast.Constant(value=str()):
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return all(is_text(part) or last_name(part).isupper() for part in parts)
    return False


def assignments(tree: ast.Module) -> dict[str, ast.AST]:
    """Give the expression behind every name that a module assigns."""
    found: dict[str, ast.AST] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                found |= zip(map(last_name, names), values, strict=False)
    return found


def ladders(tree: ast.Module, classes: Mapping[str, set[str]]) -> Iterator[int]:
    """Yield the line of every question that a module asks about the class or the name of an object."""
    aliases = assignments(tree)
    modules = imported_modules(tree)
    known = set[str]().union(*classes.values())

    def meant(node: ast.AST) -> ast.AST:
        return aliases.get(last_name(node), node)

    def about(node: ast.AST) -> bool:
        return any(last_name(inner) in classes for inner in ast.walk(meant(node)))

    def tells(node: ast.AST) -> bool:
        match node:
            case ast.Attribute(attr="head", value=ast.Name(id="spec" | "agent")):
                return True
            case ast.Attribute(attr=name, value=ast.Name() | ast.Attribute() as value):
                return name in TELLTALE and last_name(value) not in modules | {"field"}
            case ast.Name(id="algorithm") | ast.Subscript(slice=ast.Constant(value="algorithm")):
                return True
            case ast.Call(func=ast.Name(id="type")):
                return True
        return False

    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kind]) if about(kind):
                yield node.lineno
            case ast.Call(func=ast.Name(id="hasattr" | "getattr" as asked), args=[_, name, *default]):
                about_ours = not isinstance(name, ast.Constant) or name.value in known
                if about_ours and (default or asked == "hasattr"):
                    yield node.lineno
            case ast.Compare(left=left, comparators=[right]) if tells(left) and (is_text(meant(right)) or about(right)):
                yield node.lineno
            case ast.match_case(pattern=pattern) if any(
                isinstance(inner, ast.MatchClass) and last_name(inner.cls) in classes for inner in ast.walk(pattern)
            ):
                yield pattern.lineno


# Docstrings


def bad_openings(tree: ast.Module) -> Iterator[int]:
    """Yield the line of every docstring, of a field too, that does not make sense alone."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                if text.lstrip().startswith(tuple(f"{words} " for words in BAD_OPENINGS)):
                    yield node.lineno


# The comparison


def complaints(found: Mapping[str, int], allowed: Mapping[str, int], what: str) -> list[str]:
    """Say for every row where `found` is not what is `allowed`."""
    wrong = []
    for row in sorted(found.keys() | allowed.keys()):
        now, before = found.get(row, 0), allowed.get(row, 0)
        if now > before:
            wrong.append(f"{row}: {now} {what}, {before} allowed")
        elif now < before:
            wrong.append(
                f"{row}: {now} {what}, {before} listed: " + (f"write {now}" if now else "take it off the list")
            )
    return wrong


def count(lines: Mapping[str, Iterator[int]]) -> Counter[str]:
    """Count lines by file, without the files that have none."""
    return +Counter({path: sum(1 for _ in found) for path, found in lines.items()})


def test_no_public_name_has_two_homes() -> None:
    found = duplicates(sources())
    new = [f"{name} is defined in {', '.join(found[name])}" for name in sorted(found.keys() - DUPLICATES)]
    old = [f"{name} is defined once or not at all: take it off the list" for name in sorted(DUPLICATES - found.keys())]
    assert not new + old, "\n".join(new + old)


def test_no_caller_asks_for_the_class_of_a_player_search_or_algorithm() -> None:
    modules = sources()
    classes = concrete_classes(modules)
    wrong = complaints(count({path: ladders(tree, classes) for path, tree in modules.items()}), LADDERS, "questions")
    assert not wrong, "\n".join(wrong)


def test_docstrings_make_sense_alone() -> None:
    wrong = complaints(count({path: bad_openings(tree) for path, tree in sources().items()}), OPENINGS, "docstrings")
    assert not wrong, "\n".join(wrong)


# The checkers themselves


def parse(text: str) -> ast.Module:
    return ast.parse(text)


def test_a_name_with_two_homes_is_seen() -> None:
    modules = {
        "beamzero/games/one.py": parse(
            "from b import Gone\nT = TypeVar('T')\nclass Frame: ...\n__all__ = []\ndef _own(): ..."
        ),
        "beamzero/search/two.py": parse(
            "T = TypeVar('T')\nFrame: TypeAlias = int\n__all__ = []\ndef _own(): ...\nLIMIT, x = 1, 2"
        ),
        "beamzero/cli/commands/serve.py": parse("def serve(): ...\nLIMIT = 1"),
        "beamzero/engines/four.py": parse("def serve(): ..."),
    }
    assert duplicates(modules) == {
        "Frame": ["beamzero/games/one.py", "beamzero/search/two.py"],
        "LIMIT": ["beamzero/search/two.py", "beamzero/cli/commands/serve.py"],
    }


def test_the_kinds_of_players_searches_settings_and_algorithms_are_known() -> None:
    found = concrete_classes(sources()).keys()
    assert found >= {"SearchPlayer", "BookPlayer", "AlphaBeta", "MCTS", "ProbsSettings", "AlphaZero"}
    assert not found & {"Player", "Game", "Search", "Algorithm", "SearchResult"}


CLASSES = {"SearchPlayer": {"search", "seconds"}, "MCTS": {"sims"}}


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(player, SearchPlayer)",
        "isinstance(player, (str, players.SearchPlayer))",
        "isinstance(player, Player | SearchPlayer)",
        "KINDS = (MCTS, SearchPlayer)\nisinstance(player, KINDS)",
        "type(player) is SearchPlayer",
        "hasattr(player, 'search')",
        "getattr(self.player, 'seconds', None)",
        "getattr(self.player, field, None)",
        "player.kind == 'book'",
        "spec.head in ('uci', 'gtp')",
        "CHESS = 'chess'\nself.game.name != CHESS",
        "GAMES = {'chess', 'go'}\ngame.name not in GAMES",
        "recipe.algorithm in ('td', 'probs')",
        "about['algorithm'] == 'td'",
        "algorithm == 'td'",
        "match player:\n    case SearchPlayer(search=x): ...",
    ],
)
def test_a_question_is_seen(source: str) -> None:
    assert len(list(ladders(parse(source), CLASSES))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(player, Player)",
        "isinstance(x, str | int)",
        "import os\nhasattr(os, 'killpg')\nos.name == 'nt'",
        "getattr(error, 'strerror', None)",
        "getattr(settings, name)",
        "one.name == other.name",
        "self.head == 'joint'",
        "from registry import ALGORITHMS\nalgorithm in ALGORITHMS",
        "Path(x).name == 'beamzero'",
        "match message:\n    case Move(): ...",
    ],
)
def test_other_questions_are_not(source: str) -> None:
    assert list(ladders(parse(source), CLASSES)) == []


def test_a_docstring_that_makes_no_sense_alone_is_seen() -> None:
    text = (
        '"""What it is."""\nx = 1\n"""Whether it is."""\ndef f():\n    """The same for one."""\n    return "What now"'
    )
    assert list(bad_openings(parse(text))) == [1, 3, 5]
    assert list(bad_openings(parse('"""Whatever, whether that is the same."""'))) == []


def test_a_list_may_only_shrink() -> None:
    wrong = complaints({"a": 2, "b": 1, "c": 1}, {"a": 1, "b": 3, "c": 1, "d": 1}, "questions")
    assert wrong == [
        "a: 2 questions, 1 allowed",
        "b: 1 questions, 3 listed: write 1",
        "d: 0 questions, 1 listed: take it off the list",
    ]
