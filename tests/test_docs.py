"""The guide to adding a game: its code makes a game that keeps the laws, its commands run and print what it says."""

from __future__ import annotations

import importlib
import importlib.metadata
import io
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np
import pytest

from beamzero.cli import main
from beamzero.games import GAMES, make_game

GUIDE = Path(__file__).resolve().parent.parent / "docs" / "add-your-own-game.md"

TOY = {
    "train": "--iterations 1 --set games=8 --set expand=4 --set rate_every=0 "
    "--set value_net=mlp:width=16 --set q_net=mlp:width=16",
    "battle": "--games 8",
}
"""What makes the long commands short. They are not held to the figures of a real run."""
FEWER = "expand=100", "expand=4"
"""And what makes their searches small."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def sessions() -> list[tuple[str, str]]:
    """Every command of the guide, with what it prints."""
    text = "".join(blocks("console")).replace("\\\n", " ")
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Where a reader of the guide sits, with the files that it says to write."""
    folder = tmp_path_factory.mktemp("evening")
    game, test = [], []
    for block in blocks("python"):
        (test if block.startswith("# test_mygame.py\n") else game).append(block)
    (folder / "mygame.py").write_text("\n".join(game), encoding="utf-8")
    (folder / "test_mygame.py").write_text("\n".join(test), encoding="utf-8")
    return folder


@pytest.fixture
def there(folder, monkeypatch) -> Iterator[Path]:
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("mygame", None)


def install(folder: Path) -> None:
    """What `pip install -e .` does with the guide's pyproject.toml, as far as names of games go."""
    (project,) = blocks("toml")
    points = tomllib.loads(project)["project"]["entry-points"]
    about = folder / "my_breakthrough-1.0.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-breakthrough\nVersion: 1.0\n")
    lines = [
        line for group, names in points.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in names.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")


def typed(output: str) -> str:
    """What the person types in a session of `play`."""
    return "".join(line[2:] + "\n" for line in output.splitlines() if line.startswith("> "))


def same(printed: str, expected: str) -> bool:
    """Whether two outputs are equal, but for spaces at the end of lines and the speed of this machine."""
    one, other = (re.sub(r"[\d,]+ steps/s", "N steps/s", text) for text in (printed, expected))
    return [line.rstrip() for line in one.splitlines()] == [line.rstrip() for line in other.splitlines()]


@pytest.mark.slow
def test_every_command_of_the_guide_runs_and_prints_what_it_says(there, monkeypatch, capsys):
    install(there)
    points = {point.name: point for point in importlib.metadata.entry_points(group=GAMES.group)}
    monkeypatch.setitem(GAMES.__dict__, "_offered", points)  # which another test may have looked up before
    seen = []
    for command, expected in sessions():
        program, *words = shlex.split(command)
        assert program == "beamzero"
        seen.append(words[0])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed(expected)))
        words = [word.replace(*FEWER) for word in words]
        assert main([*words, *shlex.split(TOY.get(words[0], ""))]) == 0, command
        printed = capsys.readouterr().out
        if words[0] == "play":  # how the agent breaks ties is its own affair
            assert same(printed.split("> ")[0], expected.split("> ")[0]) and " plays " in printed
        elif expected and words[0] not in TOY:
            assert same(printed, expected), f"{command} prints\n{printed}"
    assert set(seen) == {"check", "perft", "play", "train", "battle", "analyse", "export"}
    assert (there / "breakthrough.safetensors").is_file()


def test_the_test_of_the_guide_passes(there):
    test = importlib.import_module("test_mygame")
    try:
        test.test_breakthrough_keeps_the_laws()
    finally:
        sys.modules.pop("test_mygame", None)


def test_the_game_of_the_guide_is_the_one_that_others_know(there):
    """Move by move against OpenSpiel, whose first player sits at the top."""
    import pyspiel

    game = make_game("mygame.py:Breakthrough", size=6)
    theirs = pyspiel.load_game("breakthrough(rows=6,columns=6)")
    step, over, legal = (jax.jit(rule) for rule in (game.step, game.over, game.legal))
    draw = np.random.default_rng(0)

    def turned(name: str) -> str:
        return "".join(str(7 - int(sign)) if sign.isdigit() else sign for sign in name.rstrip("*"))

    for _ in range(6):
        state, other = game.init(jax.random.key(0)), theirs.new_initial_state()
        while not bool(over(state)):
            assert not other.is_terminal() and int(game.player(state)) == other.current_player()
            mine = {game.action_name(state, action): action for action in np.flatnonzero(legal(state)).tolist()}
            known = {turned(other.action_to_string(action)): action for action in other.legal_actions()}
            assert mine.keys() == known.keys()
            name = draw.choice(sorted(mine))
            state = step(state, mine[name])
            other.apply_action(known[name])
        assert other.is_terminal() and float(game.score(state)) == other.returns()[0]


def test_the_mistakes_in_the_guide_get_the_lines_that_it_quotes(there):
    """Each row of the table names a line that `check` can say: its fixed words are in the source of the laws."""
    games = GUIDE.parent.parent / "beamzero" / "games"
    laws = "".join((games / name).read_text(encoding="utf-8") for name in ("laws.py", "shapes.py"))
    table = GUIDE.read_text(encoding="utf-8").partition("### What usually goes wrong")[2]
    rows = re.findall(r"^\| `([a-z].*?)` \|", table, re.MULTILINE)
    assert len(rows) >= 8
    names = "symmetries|step|legal|init|score|ply|TracerBoolConversionError|mygame.py line"
    for row in rows:
        words = re.sub(rf"\b({names})\b|\b(bool|int32|float32) \[[\d, ]*\]|\d+|\.\.\.|[:,]", "@", row)
        for part in filter(None, (part.strip() for part in words.split("@"))):
            assert part in laws, f"{row!r}: no law says {part!r}"
