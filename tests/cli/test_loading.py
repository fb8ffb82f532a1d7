"""Commands are imported when they are called: help, versions and wrong words wait for no JAX."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from typer.main import get_group

import beamzero
from beamzero.cli import app, main
from beamzero.cli.commands import COMMAND_TABLE
from beamzero.cli.loading import load_command
from beamzero.core import compiler
from tests.conftest import ROOT

HEAVY = {"jax", "jaxlib", "numpy"}
NETS_AND_PLOTS = {"flax", "optax", "orbax", "scipy", "matplotlib", "mctx", "tensorboardX"}


def python(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", program], env=environment, text=True, capture_output=True)


def imported_by(program: str) -> set[str]:
    """Name the packages that a process has imported when it has run `program`."""
    ended = python(f"{program}\nimport sys\nprint('imported', *sys.modules, file=sys.stderr)")
    assert ended.returncode == 0, ended.stderr
    return {name.partition(".")[0] for name in ended.stderr.splitlines()[-1].split()[1:]}


@pytest.mark.parametrize("name", COMMAND_TABLE)
def test_the_table_says_of_a_command_what_the_command_says(name):
    command, entry = load_command(name), COMMAND_TABLE[name]
    assert (command.name, command.help.splitlines()[0], command.hidden) == (name, entry.about, entry.hidden)


def test_the_table_knows_every_file_of_commands():
    files = {path.stem for path in (ROOT / "beamzero" / "cli" / "commands").glob("*.py")} - {"__init__"}
    assert files == {entry.place.partition(":")[0] for entry in COMMAND_TABLE.values()}
    assert list(get_group(app).commands) == list(COMMAND_TABLE)


def test_help_lists_the_commands_in_order_but_for_hidden_ones(capsys):
    assert main(["--help"]) == 0
    listed = re.findall(r"^│ ([a-z][\w-]*) ", capsys.readouterr().out, re.MULTILINE)
    assert listed == [name for name, entry in COMMAND_TABLE.items() if not entry.hidden]
    assert "climb" not in listed and main(["climb", "--help"]) == 0
    assert "Usage: beamzero climb" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["", *COMMAND_TABLE])
def test_every_command_has_the_short_word_for_help(capsys, name):
    assert main([*name.split(), "--help"]) == 0
    long = capsys.readouterr().out
    assert main([*name.split(), "-h"]) == 0
    assert capsys.readouterr().out == long
    assert re.search(r"--help +<bool> " if name else r"--help +-h +<bool> ", long), "only the first help tells of it"


def test_what_needs_no_jax_imports_none():
    program = "from beamzero.cli import main\nstatus = [main(words) for words in {words}]\nassert status == {status}"
    right = imported_by(program.format(words=[["--help"], ["-h"], ["--version"]], status=[0, 0, 0]))
    wrong = imported_by(program.format(words=[["fly"], ["--colour"], [], ["a\0"]], status=[2, 2, 2, 2]))
    assert "rich" in right and not HEAVY & (right | wrong)
    assert not HEAVY & imported_by("import beamzero")


def test_games_need_neither_nets_nor_devices_and_runs_no_jax():
    program = """
from beamzero.cli import main
assert main(["games"]) == 0
from jax._src import xla_bridge
assert not xla_bridge.backends_are_initialized()
"""
    found = imported_by(program)
    assert "jax" in found and not NETS_AND_PLOTS & found
    assert "jax" not in imported_by("from beamzero.cli import main\nassert main(['runs', 'nowhere']) == 0")


def test_a_command_keeps_what_it_compiles(monkeypatch, capsys):
    kept = []
    monkeypatch.setattr(compiler, "keep_compiled_code", lambda: kept.append(1))
    assert main(["perft", "tic_tac_toe", "1"]) == 0 and kept == [1]
    assert main(["--help"]) == 0 and kept == [1]


def test_ctrl_c_while_a_command_is_imported():
    ended = python("""
import signal, sys
class Slow:
    def find_spec(self, name, path, target=None):
        if name == "beamzero.cli.commands.perft":
            signal.raise_signal(signal.SIGINT)
            print("went on")
sys.meta_path.insert(0, Slow())
sys.argv = ["beamzero", "perft", "tic_tac_toe", "1"]
from beamzero.__main__ import run
run()
""")
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "beamzero: interrupted\n")


def test_version(capsys, monkeypatch):
    assert main(["--version"]) == 0
    line = rf"beamzero {re.escape(beamzero.__version__)}, JAX \d+\.\d+\.\d+\S*, Python 3\.\d+\.\d+\S*\n"
    assert re.fullmatch(line, capsys.readouterr().out)
    monkeypatch.setattr("importlib.metadata.version", _missing)
    assert main(["--version"]) == 0 and ", no JAX, Python 3." in capsys.readouterr().out


def _missing(name: str) -> str:
    import importlib.metadata

    raise importlib.metadata.PackageNotFoundError(name)
