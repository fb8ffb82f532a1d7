"""`make setup` on machines that lack something: one line that says what to do; what is stale is made anew."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.check

ROOT = Path(__file__).resolve().parents[2]

PYTHON = """#!/bin/sh
echo "$0 $*" >> "$CALLS"
case "$*" in
  *version_info*) exit $OLD ;;
  *ensurepip*) exit $NO_VENV ;;
  "-m venv --clear "*) [ $NO_ROOM_FOR_VENV = 0 ] || exit 1; rm -rf "$4"; mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
  *"pip install"*) echo "Collecting jax"; echo "$PIP_SAYS"; exit $PIP ;;
esac
"""
"""Stands in for Python: what it can do is in the environment."""
DF = """#!/bin/sh
echo "Filesystem 1024-blocks Used Available Capacity Mounted on"
echo "/dev/sda 100 0 $FREE 0% /"
"""
FINE = {"OLD": "0", "NO_VENV": "0", "NO_ROOM_FOR_VENV": "0", "PIP": "0", "PIP_SAYS": "", "FREE": "9000000"}


class Checkout:
    """A folder with all that the set-up looks at, and the programs that it calls."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls, self.venv = folder, folder / "calls", folder / ".venv"
        for name in ("pyproject.toml", "constraints.txt", "Makefile"):
            shutil.copy(ROOT / name, folder / name)
        shutil.copytree(ROOT / "tools", folder / "tools")
        (folder / "bin").mkdir()
        for name, text in (("some-python", PYTHON), ("df", DF)):
            (folder / "bin" / name).write_text(text)
            (folder / "bin" / name).chmod(0o755)

    def set_up(
        self, python: str = "some-python", target: str = "setup-dev", **machine: str
    ) -> tuple[int, list[str], list[str]]:
        """The exit status, what was said, and the calls of Python, without its name."""
        self.calls.write_text("")
        path = os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]])
        outside = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
        environment = {**outside, **FINE, **machine, "PATH": path, "CALLS": str(self.calls)}
        words = ["make", "--silent", target, f"PYTHON={python}"]
        run = subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        said = [line for line in (run.stdout + run.stderr).splitlines() if not line.startswith("make: ***")]
        return run.returncode, said, self.calls.read_text().splitlines()


@pytest.fixture
def checkout(tmp_path) -> Checkout:
    return Checkout(tmp_path)


@pytest.mark.parametrize(
    ("python", "machine", "line"),
    [
        ("no-such-python", {}, "Python 3.11 or newer is needed, and no-such-python is not that: name another by make"),
        ("some-python", {"OLD": "1"}, "Python 3.11 or newer is needed, and some-python is not that: name another by"),
        ("some-python", {"NO_VENV": "1"}, "some-python has no venv: install it (Debian and Ubuntu: apt install"),
        ("some-python", {"FREE": "2000000"}, "2000 MB of disk space are left in ., and 3000 MB are needed: make room"),
        ("some-python", {"NO_ROOM_FOR_VENV": "1"}, "some-python cannot make an environment in .venv: see what"),
        (
            "some-python",
            {"PIP": "1", "PIP_SAYS": "ERROR: Could not install packages: No space left on device"},
            "could not install what is needed: ERROR: Could not install packages: No space left on device (all that",
        ),
    ],
)
def test_what_is_missing_is_said_in_one_line(checkout, python, machine, line):
    status, said, _ = checkout.set_up(python, **machine)
    assert status != 0 and said[-1].startswith(f"beamzero: {line}")
    assert said[:-1] in ([], ["Installing beamzero and what it needs into .venv (a minute or two)"])
    assert not (checkout.venv / ".ready-dev").exists()


def test_it_is_done_once(checkout):
    status, said, calls = checkout.set_up()
    assert status == 0 and len(said) == 1 and sum("pip install" in call for call in calls) == 1
    status, said, calls = checkout.set_up()
    assert (status, said) == (0, []) and not any("-m " in call for call in calls)


def test_what_only_tests_need_is_installed_for_them_alone(checkout):
    status, said, calls = checkout.set_up(target="setup")
    assert status == 0 and any(".[web]" in call for call in calls)
    assert said[-1].startswith("Ready. Try: .venv/bin/beamzero play connect_four")
    assert not any("pip install" in call for call in checkout.set_up(target="setup")[2])
    assert any(".[dev]" in call for call in checkout.set_up()[2])
    assert not any("pip install" in call for call in checkout.set_up(target="setup")[2])


def test_the_documentation_is_built_with_what_it_needs_alone(checkout):
    checkout.set_up(target="setup")
    status, said, calls = checkout.set_up(target="docs")
    assert status == 0 and any(".[docs]" in call for call in calls)
    assert calls[-1].endswith("-m mkdocs build --strict"), said
    for target in ("setup", "docs"):
        assert not any("pip install" in call for call in checkout.set_up(target=target)[2])


def test_other_requirements_are_installed_into_what_is_there(checkout):
    checkout.set_up()
    (checkout.folder / "constraints.txt").write_text("jax==0.0.1\n")
    status, _, calls = checkout.set_up()
    assert status == 0 and any("pip install" in call for call in calls) and not any("--clear" in call for call in calls)


@pytest.mark.parametrize("how", ["its Python has gone", "it was made elsewhere"])
def test_a_stale_environment_is_made_anew(checkout, how):
    checkout.set_up()
    if how == "its Python has gone":
        (checkout.venv / "bin" / "python").unlink()
        (checkout.venv / "bin" / "python").symlink_to(checkout.folder / "nowhere")
    else:
        ready = checkout.venv / ".ready-dev"
        ready.write_text(ready.read_text().replace(str(checkout.folder), "/elsewhere"))
    status, said, calls = checkout.set_up()
    assert status == 0 and len(said) == 1 and sum("venv --clear" in call for call in calls) == 1
    assert checkout.set_up()[1] == []


def test_something_else_of_that_name_is_not_touched(checkout):
    checkout.venv.write_text("mine")
    status, said, _ = checkout.set_up()
    assert status != 0 and said == [
        "beamzero: .venv is in the way: it should be a folder with a Python environment, so move it elsewhere"
    ]
    assert checkout.venv.read_text() == "mine"


def test_room_is_asked_for_before_every_use(checkout):
    checkout.set_up()
    status, said, _ = checkout.set_up(FREE="5000")
    assert status != 0 and said == [
        "beamzero: 5 MB of disk space are left in ., and 1000 MB are needed: make room there"
    ]
