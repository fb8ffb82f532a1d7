"""Registries of things by name: built-in ones, those of installed packages, and those of a user's file.

A registry knows names. What a name stands for is imported when somebody asks for it, so that a low layer of the package
can look up what a higher one defines, and a plug-in that is not used is never imported.
"""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.core.spec import field_types, unknown

USER_MODULE = "beamzero_user_"
"""How the names of modules begin that were loaded from files of users."""


class Registry(Mapping[str, Any]):
    """Things of one kind by name, such as ``Registry("algorithm", "beamzero.algorithms", "beamzero.algorithms")``.

    `group` is the entry point under which installed packages offer theirs. `built_in` is a module that has a table
    `BUILT_IN`: for each name, the ``module:object`` that it stands for. `check` is a ``module:function`` that is called
    with each thing from outside and its name, and raises BadInput where it is not what it should be.
    """

    def __init__(self, kind: str, group: str, built_in: str, check: str) -> None:
        self.kind, self.group, self._built_in, self._check = kind, group, built_in, check
        self._registered: dict[str, Any] = {}
        self._sources: dict[str, str] = {}

    def __iter__(self) -> Iterator[str]:
        """The built-in names first, then those from outside."""
        return iter(dict.fromkeys([*self.built_in, *self._registered, *self._offered]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in self._registered or name in self.built_in or name in self._offered

    def __getitem__(self, name: str) -> Any:
        if name in self._registered:
            return self._registered[name]
        if name in self.built_in:
            return load_object(self.built_in[name])
        if name in self._offered:
            return self._load(name)
        raise KeyError(name)

    def find(self, name: str) -> Any:
        """Get what `name` stands for; BadInput with all names where there is no such thing."""
        if name not in self:
            raise unknown(self.kind, name, self)
        return self[name]

    def register(self, name: str, thing: Any, source: str = "") -> None:
        """Add a thing for the rest of this process. `source` is the text that names it, where that is not `name`."""
        if not name.isidentifier() or name in self.built_in:
            raise BadInput(f"{name!r} cannot be the name of your {self.kind}: {self._why_not(name)}")
        self._checked(thing, name)
        self._registered[name] = thing
        self._sources[name] = source or name

    def read(self, text: str) -> str:
        """Give the name that a text of a person says: the text, or the class of ``file.py:Class``, which is registered.

        The file is run, so the text must not come from a data file.
        """
        head, _, name = text.partition(":")
        return self.register_file(head, name) if head.endswith(".py") else text

    def register_file(self, head: str, name: str) -> str:
        """Add the class `name` of the Python file `head`, which a person must have named; returns its name."""
        path = Path(os.path.realpath(head))
        if not path.is_file():
            raise BadInput(f"no file {path.name!r} to read your {self.kind} from")
        try:
            module = load_file(path)
        except (Exception, SystemExit) as error:
            raise BadInput(f"{path.name} cannot be loaded: {describe_error(error, str(path))}") from error
        classes = [key for key, value in vars(module).items() if inspect.isclass(value) and _defined_in(value, module)]
        if name not in classes:
            raise unknown(f"{self.kind} in {path.name}", name, classes)
        self.register(name, getattr(module, name), f"{head}:{name}")
        return name

    def source(self, name: str) -> str:
        """Give the text that names a thing in any process: ``file.py:Class`` for one of a user's file."""
        return self._sources.get(name, name)

    def name_of(self, thing: Any) -> str:
        """Give the name of a thing that is registered."""
        return next(name for name in self if self[name] is thing)

    @functools.cached_property
    def built_in(self) -> dict[str, str]:
        """The names that come with the package, and where each is defined."""
        return load_object(f"{self._built_in}:BUILT_IN")

    @functools.cached_property
    def _offered(self) -> dict[str, importlib.metadata.EntryPoint]:
        return {point.name: point for point in importlib.metadata.entry_points(group=self.group)}

    def _load(self, name: str) -> Any:
        try:
            thing = self._offered[name].load()
        except Exception as error:
            raise BadInput(f"the {self.kind} {name!r} cannot be loaded: {describe_error(error)}") from error
        self.register(name, thing)
        return thing

    def _checked(self, thing: Any, name: str) -> None:
        check: Callable[[Any, str], None] = load_object(self._check)
        check(thing, name)

    def _why_not(self, name: str) -> str:
        return "it is one of this package's" if name in self.built_in else "write letters, digits and _"


def load_object(place: str) -> Any:
    """Import what ``module:object`` names."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


@functools.cache
def load_file(path: Path) -> ModuleType:
    """Run a Python file that a person named, once in a process; its errors are the caller's to describe."""
    name = f"{USER_MODULE}{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_Unwritten(name, str(path)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def missing_members(thing: Any, protocol: type) -> list[str]:
    """Name the members of a protocol that a class or an object does not have."""
    wanted = {name for part in protocol.__mro__[:-1] for name in (*vars(part), *inspect.get_annotations(part))}
    has = set(dir(thing)) | set(getattr(thing, "__dataclass_fields__", ()))
    return sorted(name for name in wanted - has if not name.startswith("_"))


def check_frozen(kind: type, wrong: str) -> None:
    """Raise BadInput, which begins with `wrong`, unless a class is a frozen dataclass: equal ones compile once."""
    if not getattr(getattr(kind, "__dataclass_params__", None), "frozen", False):
        raise BadInput(f"{wrong}: write @dataclasses.dataclass(frozen=True) above {kind.__name__}")


def check_fields(kind: type, wrong: str) -> None:
    """Raise BadInput, which begins with `wrong`, unless a class is a frozen dataclass of plain values."""
    check_frozen(kind, wrong)
    try:
        types = set(field_types(kind).values())
    except KeyError:
        types = {object}
    if not types <= {bool, int, float, str}:
        raise BadInput(f"{wrong}: each field of {kind.__name__} must be a bool, int, float or str")


def describe_error(error: BaseException, file: str = "") -> str:
    """Describe an error of a plug-in in one line, with the last line of its `file` that it passed."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    where = f", {Path(file).name} line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}{where}: {' '.join(str(error).split()) or 'no more is said'}"


class _Unwritten(importlib.machinery.SourceFileLoader):
    """Loads a user's file and leaves no bytecode beside it."""

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        pass


def _defined_in(kind: type, module: ModuleType) -> bool:
    return kind.__module__ == module.__name__


ALGORITHMS = Registry(
    "algorithm", "beamzero.algorithms", "beamzero.algorithms", "beamzero.training.algorithm:check_algorithm"
)
"""The ways to train."""
