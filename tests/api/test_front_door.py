"""The front door: what `beamzero` offers to Python, by name, by type and by example."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import beamzero as bz
from beamzero.players.player import batch_of_one

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted({"beamzero", *(getattr(bz, name).__module__ for name in bz.__all__)})


def test_the_names_for_checkers_are_those_at_run_time():
    source = ast.parse((ROOT / "beamzero" / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in source.body if isinstance(node, ast.If))
    typed = {
        alias.asname or alias.name: f"{node.module}:{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == bz._HOMES and sorted(typed) == bz.__all__ == sorted(bz.__all__)
    assert dir(bz) == sorted([*bz.__all__, "__version__"])
    assert (ROOT / "beamzero" / "py.typed").exists()


def test_every_name_is_there_and_says_what_it_is():
    for name in bz.__all__:
        found = getattr(bz, name)
        assert inspect.getdoc(found), f"{name} has no docstring"
    with pytest.raises(AttributeError, match="module 'beamzero' has no attribute 'trian'"):
        _ = bz.trian


def test_importing_it_imports_no_jax():
    program = "import sys, beamzero; dir(beamzero); sys.exit('jax' in sys.modules or 'numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    found = doctest.testmod(module, extraglobs={"folder": tmp_path / "run"})
    assert found.attempted and not found.failed


@pytest.mark.parametrize("name", bz.__all__)
def test_every_name_has_an_example(name):
    assert ">>>" in (inspect.getdoc(getattr(bz, name)) or "")


def test_a_player_takes_one_position_or_a_batch_and_shows_a_table():
    player = bz.make_player("lookahead:3", "tic_tac_toe")
    position = player.game.position("a1 b1 a2 b2")
    one = player.think(position)
    assert int(one.action) == int(player.think(position.state).action) == 6 and one.values.shape == (9,)
    batch = player.think(batch_of_one(position.state), jax.random.key(0))
    assert batch.values.shape == (1, 9) and np.array_equal(batch.values[0], one.values)
    assert repr(one).splitlines()[1].split() == ["6", "+1.00", "100%", "proven"]
    assert repr(batch).splitlines()[1].split()[:2] == ["0", "6"]
    assert repr(player) == "<lookahead:3, a player of tic_tac_toe>"
    with pytest.raises(bz.BadInput, match=r"no state of tic_tac_toe.*game\.position\(\)"):
        player.think("a1")


def test_rules_say_what_they_take_where_they_get_a_name_or_a_position():
    game = bz.make_game("connect_four")
    position = game.position()
    with pytest.raises(bz.BadInput, match=r"the number of an action, not 'd': position\.play\('d'\)"):
        game.step(position.state, "d")
    with pytest.raises(bz.BadInput, match=r"legal takes a state, not a Position: position\.state"):
        game.legal(position)


@pytest.mark.slow
def test_a_net_of_a_cell_is_a_setting_for_a_type_checker(tmp_path):
    program = tmp_path / "own.py"
    program.write_text(
        "from flax import nnx\nimport beamzero as bz\n\nclass Mine(nnx.Module):\n    pass\n\n"
        'bz.Probs(value_net=Mine, q_net="mlp")\nbz.AlphaZero(net=Mine)\nbz.Td(value_net=Mine)\n'
        "reveal_type(bz.play_game)\nbz.Probs(value_net=3)\n"
    )
    words = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(program)]
    said = subprocess.run(words, capture_output=True, text=True, cwd=ROOT).stdout
    assert said.count(" error:") == 1 and 'own.py:11: error: Argument "value_net"' in said and "PlayedGame" in said
