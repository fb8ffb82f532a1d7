"""The pages of the reference, made of the code: of registries, settings, commands and docstrings."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from beamzero.cli.commands import COMMAND_TABLE
from beamzero.cli.commands.games import list_games
from beamzero.cli.commands.lists import agent_texts
from beamzero.cli.json_keys import JSON_KEYS
from beamzero.cli.loading import load_command
from beamzero.core.spec import field_types
from beamzero.games import LIBRARIES
from beamzero.nets import NETS
from beamzero.players.trained import load_info, shipped_agents
from beamzero.records.files import FORMATS
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.recipes import list_recipes
from beamzero.training.settings import RunSettings, changeable_settings, describe_settings, setting_ranges

NAMES = {
    "train": ("Train and load", ["train", "TrainingRun", "load", "Probs", "AlphaZero", "Td", "RunSettings"]),
    "play": (
        "Games, players and analysis",
        [
            "make_game",
            "Game",
            "Position",
            "make_player",
            "Player",
            "Limit",
            "analyse",
            "PositionAnalysis",
            "play",
            "play_game",
            "PlayedGame",
            "read_games",
        ],
    ),
    "measure": ("Measure", ["battle", "Battle", "rate", "Ratings", "score", "Scores"]),
    "extend": ("Add your own", ["Search", "Algorithm", "setting", "NetSettings", "BadInput"]),
}
"""The pages about Python, with the names of `beamzero` that each explains."""

TYPES = ["AnyGame", "AnyAgent", "AnyAlgorithm"]
"""Names of `beamzero.api.objects` that stand in signatures: the arguments that may be objects or texts."""

SETTINGS = {"Probs", "AlphaZero", "Td", "RunSettings"}
"""Names whose fields have a page of their own."""

FILES = {
    "The folder of a run": "beamzero.storage.run",
    "Checkpoints": "beamzero.storage.checkpoints",
    "Metrics": "beamzero.storage.metrics",
    "The file of an agent": "beamzero.storage.agentfile",
    "An opening book": "beamzero.storage.bookfile",
    "An endgame table": "beamzero.storage.tablefile",
    "Weights of an evaluation": "beamzero.storage.weightsfile",
    "Results of battles": "beamzero.arena.store",
    "The folder of a comparison": "beamzero.experiments.compare",
    "The folder of a reproduced figure": "beamzero.experiments.reproduce",
    "Games in the browser": "beamzero.web.store",
    "Seals": "beamzero.storage.seal",
}
"""The kinds of files that are written, with the module whose docstring explains each."""


# Markdown


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table; the cells are Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def code(value: object) -> str:
    """Write a value as it is typed."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`" if text else ""


def prose(text: str) -> str:
    """Write a text for people as Markdown: what looks like markup there stays as it is."""
    sign_or_code = re.compile(r"(`[^`]*`)|([<>*_|\[\]])")
    return sign_or_code.sub(lambda found: found[1] or f"\\{found[2]}", " ".join(text.split()))


def docstring(thing: Any) -> str:
    """Give a docstring as Markdown."""
    return inspect.getdoc(thing) or ""


# The pages


def python_page(title: str, names: Sequence[str]) -> str:
    """Make the page about some names of `beamzero`, which mkdocstrings fills."""
    parts = [f"# {title}\n\nAll of it is in `import beamzero as bz`.\n"]
    for name in names:
        parts.append(f"::: beamzero.{name}\n" + ("    options:\n      members: false\n" if name in SETTINGS else ""))
        if name in SETTINGS:
            parts.append(_where_settings_are(name))
    return "\n".join(parts)


def types_page() -> str:
    """Make the page about the types of arguments."""
    parts = [f"::: beamzero.api.objects.{name}\n    options:\n      show_root_full_path: false\n" for name in TYPES]
    return "\n".join(
        ["# Types of arguments\n\nFunctions of `beamzero` take objects or the texts that name them.\n", *parts]
    )


def _where_settings_are(name: str) -> str:
    pages = [(algorithm, ALGORITHMS[algorithm]) for algorithm in ALGORITHMS.built_in]
    found = [f"[{one.title}](../settings/{key}.md)" for key, one in pages if name in ("RunSettings", _front_name(key))]
    return f"Its settings, with their defaults and ranges: {', '.join(found)}.\n"


def _front_name(algorithm: str) -> str:
    """Give the name in `beamzero` of the settings of an algorithm."""
    return ALGORITHMS[algorithm].settings_type.__name__.removesuffix("Settings")


def settings_page(algorithm: str) -> str:
    """Make the page about the settings of an algorithm."""
    kind = ALGORITHMS[algorithm].settings_type
    shared = {field.name for field in dataclasses.fields(RunSettings)}
    rows, titles = _setting_rows(kind), ("setting", "meaning", "default", "allowed")
    return "\n".join([
        f"# Settings of {ALGORITHMS[algorithm].title}\n",
        f"On the command line `beamzero train GAME --algo {algorithm} --set NAME=VALUE`, in Python"
        f" `bz.{_front_name(algorithm)}(NAME=VALUE)`. A star marks what may change when a run goes on.\n",
        f"## Of {ALGORITHMS[algorithm].title} alone\n",
        table(titles, (row for name, row in rows if name not in shared)),
        "## Of every run\n",
        table(titles, (row for name, row in rows if name in shared)),
    ])  # fmt: skip


def _setting_rows(kind: type[RunSettings]) -> list[tuple[str, list[str]]]:
    ranges, changeable, types = setting_ranges(kind), changeable_settings(kind), field_types(kind)
    rows = []
    for name, default, about in describe_settings(kind):
        low_high = ranges.get(name)
        allowed = types[name].__name__ if low_high is None else " to ".join(map(_number, low_high))
        shown = "true or false" if allowed == "bool" else "text" if allowed == "str" else allowed
        star = " \\*" if name in changeable else ""
        rows.append((name, [code(name) + star, prose(about), code(default), shown]))
    return rows


def _number(value: float) -> str:
    """Write a bound for people: whole numbers with commas."""
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


def recipes_page() -> str:
    """Make the page about recipes: what each is for, and what it sets."""
    parts = ["# Recipes\n\nSettings that are known to work: `beamzero train GAME --recipe NAME`. What a recipe does not"
             " set is the default.\n"]  # fmt: skip
    for recipe in list_recipes().values():
        changed = "\n".join(f"{name} = {value}" for name, value in recipe.settings.items())
        title = ALGORITHMS[recipe.algorithm].title
        parts.append(f"## {recipe.name}\n\n{prose(recipe.about)}\n\nOf `{recipe.game}`, by {title}.\n")
        parts.append(f"```ini\n{changed}\n```\n")
    return "\n".join(parts)


def nets_page() -> str:
    """Make the page about nets and their parameters."""
    parts = ["# Nets\n\nA net is named by a text, such as `mlp:width=256,depth=3`, or made in Python.\n"]
    for name in NETS.built_in:
        kind = NETS[name]
        fields = [[code(field.name), code(field.default)] for field in dataclasses.fields(kind)]
        parts.append(f"## {name}\n\n{docstring(kind)}\n\n{table(('parameter', 'default'), fields)}")
    return "\n".join(parts)


def games_page() -> str:
    """Make the page about games and their parameters."""
    rows = [
        [code(row["name"]), "<br>".join(code(f"{key}={value}") for key, value in row["parameters"].items()) or "-",
         str(row["actions"]), prose(row["about"])]
        for row in list_games()
    ]  # fmt: skip
    others = [f"## Through {name}\n\n{', '.join(code(f'{name}:{game}') for game in known)}\n"
              for name, (_, known) in LIBRARIES.items()]  # fmt: skip
    about = docstring(importlib.import_module("beamzero.games")).partition("\n\n")[2]
    return "\n".join([
        f"# Games\n\nA text names a game:\n\n{about}\n",
        table(("game", "parameters and defaults", "actions", "what it is"), rows), *others,
    ])  # fmt: skip


def agents_page() -> str:
    """Make the page about the texts that name agents."""
    rows = [[code(name), prose(about)] for name, about in agent_texts().items()]
    shipped = [
        [code(f"{info['algorithm']}:{name}"), code(info["game"])]
        for name, info in ((name, load_info(path)) for name, path in shipped_agents().items())
    ]
    about = docstring(importlib.import_module("beamzero.players")).partition("\n\n")[2]
    return "\n".join([
        "# Names of agents\n\nA text names an agent, on the command line and in Python.\n",
        table(("agent", "what it is"), rows), f"## All options\n\n{about}\n",
        "## Agents that ship\n", table(("agent", "plays"), shipped),
        "What was measured of them: [agents that ship](../agents.md).\n",
    ])  # fmt: skip


def commands_page() -> str:
    """Make the page about all commands."""
    parts = [
        "# Commands\n\n`beamzero COMMAND --help` prints the same. `python -m beamzero` works without installing.\n"
    ]
    return "\n".join([*parts, *(_command_section(name) for name, entry in COMMAND_TABLE.items() if not entry.hidden)])


def _command_section(name: str) -> str:
    command = load_command(name)
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join(["beamzero", name, *command.collect_usage_pieces(context)])
    records = (parameter.get_help_record(context) for parameter in command.params)
    rows = [[code(record[0]), *_split_facts(record[1])] for record in records if record is not None]
    keys = f"With `--json` it prints [these keys](json.md#{name}).\n" if name in JSON_KEYS else ""
    about = "\n\n".join(prose(part) for part in (command.help or "").split("\n\n"))
    return f"## {name}\n\n{about}\n\n```text\n{usage}\n```\n\n{table(('', 'meaning', 'default, range'), rows)}\n{keys}"


def _split_facts(help_text: str) -> tuple[str, str]:
    """Split the help of an option into its meaning and what typer adds in brackets: default and range."""
    about, _, facts = help_text.partition("  [")
    return prose(about), prose(facts.removesuffix("]").removeprefix("default: "))


def json_page() -> str:
    """Make the page about what commands print with --json."""
    about = docstring(importlib.import_module("beamzero.cli.json_keys"))
    parts = [f"# What `--json` prints\n\nOne object on stdout; messages go to stderr.\n\n{about}\n"]
    for name, keys in JSON_KEYS.items():
        rows = [[code(key), prose(text)] for key, text in keys.items()]
        parts.append(f"## {name}\n\n{table(('key', 'meaning'), rows)}")
    return "\n".join(parts)


def files_page() -> str:
    """Make the page about the files that are written."""
    about = "Files are written whole or not at all; those of earlier versions are read, or refused in a line."
    parts = [f"# Files\n\n{about}\n"]
    parts += [f"## {title}\n\n{docstring(importlib.import_module(module))}\n" for title, module in FILES.items()]
    formats = table(("ends in", "holds"), ([code(end), about] for end, about in FORMATS.items()))
    return "\n".join([*parts, f"## Games\n\nThe format goes by the end of the name.\n\n{formats}"])


def index_page() -> str:
    """Make the page that lists the others of the reference."""
    python = [f"- [{title}](python/{page}.md): {', '.join(map(code, names))}" for page, (title, names) in NAMES.items()]
    python.append(f"- [Types of arguments](python/types.md): {', '.join(map(code, TYPES))}")
    settings = [f"- [Settings of {ALGORITHMS[name].title}](settings/{name}.md)" for name in ALGORITHMS.built_in]
    others = [
        "- [Recipes](recipes.md), settings that are known to work",
        "- [Nets](nets.md)",
        "- [Games](games.md) and their parameters",
        "- [Names of agents](agents.md) and their options",
        "- [Commands](commands.md), what they print with [`--json`](json.md), the [files](files.md) that are written",
    ]
    about = "# Reference\n\nThese pages are made of the code whenever the site is built.\n"
    return "\n".join([about, *python, *settings, *others, ""])


GENERATED: Mapping[str, Callable[[], str]] = {
    "reference/index.md": index_page,
    **{f"reference/python/{page}.md": functools.partial(python_page, *about) for page, about in NAMES.items()},
    "reference/python/types.md": types_page,
    **{f"reference/settings/{name}.md": functools.partial(settings_page, name) for name in ALGORITHMS.built_in},
    "reference/recipes.md": recipes_page,
    "reference/nets.md": nets_page,
    "reference/games.md": games_page,
    "reference/agents.md": agents_page,
    "reference/commands.md": commands_page,
    "reference/json.md": json_page,
    "reference/files.md": files_page,
}
"""By the place in the site: what makes the page."""
