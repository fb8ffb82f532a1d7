"""What can be added from outside: by name, lazily, and refused in one line where it is not what it should be."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import subprocess
import sys
from types import SimpleNamespace

import pytest

from beamzero.algorithms.td.iterate import TD
from beamzero.algorithms.td.settings import TdSettings
from beamzero.core.errors import BadInput
from beamzero.core.registry import ALGORITHMS, Registry
from beamzero.core.user_code import load_file
from beamzero.nets import NETS, NetSettings, make_net
from beamzero.nets.architectures import MLP
from beamzero.training.settings import RunSettings

BUILT_IN = {"pi": "math:pi", "tau": "math:tau"}


def check(thing: object, name: str) -> None:
    if thing is None:
        raise BadInput(f"{name!r} is nothing")


@pytest.fixture
def registry() -> Registry:
    return Registry("number", "beamzero.numbers", "tests.core.test_registry:BUILT_IN", "tests.core.test_registry:check")


@pytest.fixture
def offered(monkeypatch) -> dict[str, object]:
    """What installed packages offer, by name; an error is raised when it is loaded."""
    things: dict[str, object] = {}

    def load(name: str) -> object:
        if isinstance(things[name], Exception):
            raise things[name]
        return things[name]

    def entry_points(group: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name, load=lambda name=name: load(name)) for name in things]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    return things


@pytest.fixture(autouse=True)
def _forget(monkeypatch) -> None:
    for kept in (ALGORITHMS, NETS):
        monkeypatch.setattr(kept, "_registered", dict(kept._registered))
    load_file.cache_clear()


def refused(add, *arguments) -> str:
    with pytest.raises(BadInput) as error:
        add(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_built_in_names_come_first_then_what_was_registered_then_what_packages_offer(registry, offered):
    offered["seven"] = 7
    registry.register("three", 3)
    assert list(registry) == ["pi", "tau", "three", "seven"] and len(registry) == 4
    assert registry["three"] == 3 and registry.find("seven") == 7 and 3.1 < registry["pi"] < 3.2
    assert "seven" in registry and "eight" not in registry
    assert registry.name_of(7) == "seven" and registry.source("seven") == "seven"
    assert refused(registry.find, "thre") == (
        "unknown number 'thre'; did you mean three? (there are: pi, seven, tau, three)"
    )


def test_a_name_of_the_package_cannot_be_taken(registry):
    assert refused(registry.register, "pi", 3) == "'pi' cannot be the name of your number: it is one of this package's"
    assert refused(registry.register, "a b", 3).endswith("write letters, digits and _")
    assert refused(registry.register, "none", None) == "'none' is nothing"
    assert list(registry) == ["pi", "tau"]


def test_a_plug_in_that_cannot_be_loaded_is_refused_by_name(registry, offered):
    offered.update(broken=ImportError("no module\nnamed x"), nothing=None)
    assert refused(registry.find, "broken") == "the number 'broken' cannot be loaded: ImportError: no module named x"
    assert refused(registry.find, "nothing") == "'nothing' is nothing"
    assert 3.1 < registry["pi"] < 3.2, "which needs none of them"


def test_a_file_is_read_once_and_only_for_a_class_of_its_own(registry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("from pathlib import Path\n\nclass Mine:\n    pass\n\nclass Other:\n    pass\n")
    assert [registry.read(text) for text in ("pi", "mine.py:Mine", "mine.py:Other", "mine.py:Mine")] == [
        "pi", "Mine", "Other", "Mine"
    ]  # fmt: skip
    assert registry["Mine"].__module__ == registry["Other"].__module__ == "beamzero_user_mine"
    assert registry.source("Mine") == "mine.py:Mine" and list(tmp_path.iterdir()) == [tmp_path / "mine.py"]
    assert refused(registry.read, "mine.py:Path") == "unknown number in mine.py 'Path' (there are: Mine, Other)"
    assert refused(registry.read, "mine.py") == "unknown number in mine.py '' (there are: Mine, Other)"
    assert refused(registry.read, "their.py:X") == "no file 'their.py' to read your number from"
    (tmp_path / "wrong.py").write_text("x = 1\n1 / 0\n")
    line = "wrong.py cannot be loaded: ZeroDivisionError, wrong.py line 2: division by zero"
    assert refused(registry.read, "wrong.py:X") == line


def test_what_is_no_algorithm_is_told_what_it_lacks():
    class Empty:
        pass

    line = refused(ALGORITHMS.register, "empty", Empty)
    assert line.startswith("'empty' is no algorithm: it has no agent, bytes_needed, compared, from_agent, ")
    assert refused(ALGORITHMS.register, "mcts", TD).endswith("name of your algorithm: other agents go by it")
    assert refused(ALGORITHMS.register, "five", 5) == "'five' is no algorithm: it must be a class"

    class HalfAgent(TD):
        agent = SimpleNamespace(nets={})

    line = refused(ALGORITHMS.register, "half", HalfAgent)
    assert line.startswith("'half' is no algorithm: it has no agent.at_budget, agent.evaluator, agent.full, ")

    class Free(TD):
        settings_type = dict

    assert "its settings_type must be a subclass of RunSettings" in refused(ALGORITHMS.register, "free", Free)

    @dataclasses.dataclass(frozen=True)
    class Lists(RunSettings):
        sizes: list = dataclasses.field(default_factory=list)

    class WithList(TD):
        settings_type = Lists

    line = refused(ALGORITHMS.register, "listed", WithList)
    assert line == "'listed' is no algorithm: each field of Lists must be a bool, int, float or str"
    assert not {"empty", "five", "half", "free", "listed"} & set(ALGORITHMS)


def test_an_algorithm_of_an_installed_package_is_one_like_any_other(offered, monkeypatch):
    class Sarsa(TD):
        title = "SARSA"

    monkeypatch.setitem(ALGORITHMS.__dict__, "_offered", {"sarsa": SimpleNamespace(load=lambda: Sarsa)})
    assert list(ALGORITHMS) == ["probs", "alphazero", "td", "sarsa"]
    assert ALGORITHMS.find("sarsa").settings_type is TdSettings


def test_a_net_from_outside_is_named_like_any_other():
    @dataclasses.dataclass(frozen=True)
    class Wide(MLP):
        name = "wide"

    NETS.register("wide", Wide)
    assert make_net("wide:width=8") == Wide(width=8)

    class Empty(NetSettings):
        pass

    assert refused(NETS.register, "empty", Empty) == "'empty' is no net: it has no build, layers"
    assert refused(NETS.register, "text", "mlp") == "'text' is no net: it must be a subclass of NetSettings"
    assert refused(make_net, "empty:width=3").startswith("unknown net 'empty'")


def test_the_names_are_known_without_any_algorithm_being_imported():
    code = "import sys, beamzero.core.registry as r; print(list(r.ALGORITHMS.built_in), 'jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['probs', 'alphazero', 'td'] False\n"
