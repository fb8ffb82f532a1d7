"""Registries of things by name: built-in ones, those of installed packages, and those of a user's file.

A registry knows names. The object behind a name is imported when a caller asks for it, so that a low layer of the
package can look up what a higher one defines, and a plug-in that is not used is never imported.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.core.spec import field_types, unknown
from beamzero.core.user_code import describe_error, load_user_file


class Registry(Mapping[str, Any]):
    """Things of one kind by name: ``NETS["mlp"]`` is a class, ``NETS.register("mine", Mine)`` adds one.

    `kind` is what errors call such a thing. `group` is the entry point under which installed packages offer theirs.
    `built_in` is the ``module:table`` of those that come with the package: a dict from each name to a
    ``module:object``. `check` is a ``module:function`` that is called with each thing from outside and its name, and
    raises BadInput where the thing cannot be used.
    """

    def __init__(self, kind: str, group: str, built_in: str, check: str) -> None:
        self.kind, self.group, self._built_in, self._check = kind, group, built_in, check
        self._registered: dict[str, Any] = {}
        self._sources: dict[str, str] = {}

    def __iter__(self) -> Iterator[str]:
        """Yield the built-in names first, then those from outside."""
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
        self.register(name, load_user_class(head, name, self.kind), f"{head}:{name}")
        return name

    def source(self, name: str) -> str:
        """Give the text that names a thing in any process: ``file.py:Class`` for one of a user's file."""
        return self._sources.get(name, name)

    def is_lasting(self, name: str) -> bool:
        """Tell whether every process finds `name` by itself: it is built in, or an installed package offers it."""
        return name in self.built_in or name in self._offered

    def name_of(self, thing: Any) -> str:
        """Give the name of a thing that is registered."""
        return next(name for name in self if self[name] is thing)

    @functools.cached_property
    def built_in(self) -> dict[str, str]:
        """The names that come with the package, and where each is defined, without importing any."""
        return load_object(self._built_in)

    @functools.cached_property
    def _offered(self) -> dict[str, importlib.metadata.EntryPoint]:
        return {point.name: point for point in importlib.metadata.entry_points(group=self.group)}

    def _load(self, name: str) -> Any:
        try:
            thing = self._offered[name].load()
        except Exception as error:
            raise BadInput(f"the {self.kind} {name!r} cannot be loaded: {describe_error(error)}") from error
        self._checked(thing, name)
        self._registered[name] = thing
        return thing

    def _checked(self, thing: Any, name: str) -> None:
        check: Callable[[Any, str], None] = load_object(self._check)
        check(thing, name)

    def _why_not(self, name: str) -> str:
        return "it is one of this package's" if name in self.built_in else "write letters, digits and _"


def load_object(place: str) -> Any:
    """Import the object that ``module:object`` names."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def load_user_class(head: str, name: str, kind: str) -> type:
    """Load the class `name` of the Python file `head`, which a person must have named. Errors call it a `kind`."""
    module = load_user_file(head, f"your {kind}")
    classes = {key: value for key, value in vars(module).items() if inspect.isclass(value)}
    own = [key for key, value in classes.items() if _defined_in(value, module)]
    if name not in own:
        raise unknown(f"{kind} in {Path(str(module.__file__)).name}", name, own)
    return classes[name]


def missing_members(thing: Any, protocol: type) -> list[str]:
    """Name the members of a protocol that a class or an object does not have."""
    wanted = {name for part in protocol.__mro__[:-1] for name in (*vars(part), *inspect.get_annotations(part))}
    has = set(dir(thing)) | set(getattr(thing, "__dataclass_fields__", ()))
    return sorted(name for name in wanted - has if not name.startswith("_"))


def is_frozen(kind: type) -> bool:
    """Tell whether a class is a frozen dataclass, so that equal objects compile once."""
    return getattr(getattr(kind, "__dataclass_params__", None), "frozen", False)


def has_plain_fields(kind: type) -> bool:
    """Tell whether every field of a dataclass is a bool, int, float or str, so that a text can say its value."""
    try:
        return set(field_types(kind).values()) <= {bool, int, float, str}
    except KeyError:
        return False


def check_frozen(kind: type, wrong: str) -> None:
    """Raise BadInput, which begins with `wrong`, unless a class is a frozen dataclass."""
    if not is_frozen(kind):
        raise BadInput(f"{wrong}: write @dataclasses.dataclass(frozen=True) above {kind.__name__}")


def check_fields(kind: type, wrong: str) -> None:
    """Raise BadInput, which begins with `wrong`, unless a class is a frozen dataclass of plain values."""
    check_frozen(kind, wrong)
    if not has_plain_fields(kind):
        raise BadInput(f"{wrong}: each field of {kind.__name__} must be a bool, int, float or str")


def _defined_in(kind: type, module: ModuleType) -> bool:
    return kind.__module__ == module.__name__


ALGORITHMS = Registry(
    "algorithm",
    "beamzero.algorithms",
    "beamzero.algorithms:BUILT_IN_ALGORITHMS",
    "beamzero.training.algorithm:check_algorithm",
)
"""The algorithms that can train an agent."""

SEARCHES = Registry(
    "search",
    "beamzero.searches",
    "beamzero.players.own_search:BUILT_IN_SEARCHES",
    "beamzero.players:check_search",
)
"""Searches from outside as agents, by the game's own evaluation; those of the package have texts of their own."""
