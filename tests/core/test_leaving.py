"""A command's process ends after Ctrl-C with one line and status 130, whatever it was doing."""

from __future__ import annotations

import subprocess
import sys

import pytest

LINE = "beamzero: interrupted\n"

_ENTER = """
import atexit, signal, sys, threading, types
from beamzero.__main__ import run
from beamzero.core.leaving import finalize

def press():
    signal.raise_signal(signal.SIGINT)

class Freed:
    def __del__(self):
        press()

def main():
{main}

sys.modules["beamzero.cli"] = types.SimpleNamespace(main=main)
{before}
run()
"""


def enter(main: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Enter as a command does, in a process of its own, with another `main` that is quick to import."""
    text = _ENTER.format(main="\n".join(f"    {line}" for line in main.splitlines()), before=before)
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("module", ["core.leaving", "cli"])
def test_an_interrupt_while_python_imports(module):
    importing = f"""
class Slow:
    def find_spec(self, name, path, target=None):
        if name == "beamzero.{module}":
            press()
            print("went on")
del sys.modules["beamzero.{module}"]
sys.meta_path.insert(0, Slow())
"""
    ended = enter("pass", importing)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", LINE)


@pytest.mark.parametrize(
    "main",
    [
        pytest.param("press()", id="at work"),
        pytest.param("print('begun')\ntry:\n    press()\nfinally:\n    press(); press(); print('saved')", id="saving"),
        pytest.param("Freed()\nthreading.Event().wait()", id="in a destructor"),
        pytest.param("try:\n    press()\nexcept KeyboardInterrupt:\n    raise ValueError from None", id="an error"),
        pytest.param("try:\n    press()\nexcept KeyboardInterrupt:\n    [press() for _ in 'abc']\n"
                     "    threading.Event().wait()", id="hanging"),
        pytest.param("finalize(Freed, print, 'ended')\npress()", id="with something to end"),
        pytest.param("atexit.register(press)\nreturn 0", id="at the end"),
    ],
)  # fmt: skip
def test_every_interrupt_gets_one_line(main):
    ended = enter(main)
    assert (ended.returncode, ended.stderr) == (130, LINE)
    assert ended.stdout == "begun\nsaved\n" * ("saved" in main) + "ended\n" * ("ended" in main)


def test_who_has_said_it_does_not_say_it_again():
    ended = enter("try:\n    press()\nexcept KeyboardInterrupt:\n    print('go on with --resume')\n    return 130")
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "go on with --resume\n", "")


def test_threads_are_left_behind():
    ended = enter("threading.Thread(target=threading.Event().wait).start()\npress()")
    assert (ended.returncode, ended.stderr) == (130, LINE)


def test_an_ignored_interrupt_stays_ignored():
    ended = enter("press()\nprint('went on')\nreturn 3", "signal.signal(signal.SIGINT, signal.SIG_IGN)")
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "went on\n", "")


def test_a_bug_is_still_shown():
    ended = enter("raise RuntimeError('a bug')")
    assert ended.returncode == 1 and "RuntimeError: a bug" in ended.stderr
    ended = enter(
        "class Fails:\n    def __del__(self):\n        raise ValueError('in a destructor')\nFails()\nreturn 0"
    )
    assert ended.returncode == 0 and "ValueError: in a destructor" in ended.stderr


def test_an_interrupt_while_a_command_is_imported_ends_it_at_once():
    importing = "from beamzero.core.leaving import importing\nwith importing():\n    {}\n"
    ended = enter(importing.format("press()\n    print('went on')"))
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", LINE)
    after = "try:\n    press()\nexcept KeyboardInterrupt:\n    print('heard')\n    raise"
    ended = enter(importing.format("pass") + after)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "heard\n", LINE)
