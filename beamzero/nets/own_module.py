"""Nets out of modules of users: an nnx module with plain arguments becomes settings that a text can name."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from typing import Any, ClassVar

import jax.numpy as jnp
from flax import nnx
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.core.spec import quote
from beamzero.nets import NETS, Net, NetSettings

_GIVEN = ("observation_shape", "outputs", "rngs", "dtype")
"""Arguments that every module may take, and that are no settings of its own."""


class _Module(nnx.Module):
    """A user's module, called as all nets are."""

    def __init__(self, module: nnx.Module, takes_real: bool) -> None:
        self.module, self.takes_real = module, takes_real

    def __call__(self, x: Array, real: Array | None = None) -> Array:
        found = self.module(x, real) if self.takes_real else self.module(x)
        return found.astype(jnp.float32)


@functools.cache
def settings_of_module(module: type[nnx.Module]) -> type[NetSettings]:
    """Make the class of settings of a module, whose further arguments become its fields.

    The module is made as ``Mine(observation_shape, outputs, rngs)``, by keyword, and maps observations [B, ...] to
    numbers [B, outputs]. Arguments beside these, such as ``width: int = 64``, must have defaults that a text can hold;
    ``dtype`` is given where it is asked for.
    """
    parameters = dict(list(inspect.signature(module.__init__).parameters.items())[1:])
    wrong = f"{module.__name__} is no net"
    if missing := [name for name in _GIVEN[:3] if name not in parameters]:
        raise BadInput(f"{wrong}: its __init__ has no argument {', '.join(missing)}")
    own = {name: one for name, one in parameters.items() if name not in _GIVEN}
    odd = [name for name, one in own.items() if type(one.default) not in (bool, int, float, str)]
    if odd:
        raise BadInput(f"{wrong}: its argument {odd[0]} needs a default that is a bool, int, float or str")
    takes_real = "real" in inspect.signature(module.__call__).parameters

    def build(
        self: NetSettings, observation_shape: tuple[int, ...], outputs: int, rngs: nnx.Rngs, dtype: Any
    ) -> nnx.Module:
        given = dict(zip(_GIVEN, (observation_shape, outputs, rngs, dtype), strict=True))
        asked = {name: value for name, value in given.items() if name in parameters}
        return _Module(module(**asked, **{name: getattr(self, name) for name in own}), takes_real)

    return dataclasses.make_dataclass(
        module.__name__,
        [(name, type(one.default), dataclasses.field(default=one.default)) for name, one in own.items()],
        bases=(_OwnModule,),
        namespace={"build": build, "name": module.__name__.lower(), "__module__": module.__module__},
        frozen=True,
    )


@dataclasses.dataclass(frozen=True)
class _OwnModule(NetSettings):
    """Settings of a user's module."""

    name: ClassVar[str] = ""
    layers = None  # known once it is built


def is_net(value: Any) -> bool:
    """Tell whether a setting is a net as an object: settings, a class of settings, or an nnx module's class."""
    if inspect.isclass(value):
        return issubclass(value, NetSettings | nnx.Module)
    return isinstance(value, NetSettings)


def net_text(net: NetSettings | type[NetSettings] | type[nnx.Module]) -> str:
    """Write the text that makes a net again; its class is registered where no text could find it."""
    if inspect.isclass(net) and issubclass(net, nnx.Module):
        net = settings_of_module(net)
    settings = net() if inspect.isclass(net) else net
    kind = type(settings)
    name = kind.name or kind.__name__.lower()
    kind.name = name
    if name not in NETS or NETS[name] is not kind:
        NETS.register(name, kind)
    changed = [
        f"{field.name}={quote(getattr(settings, field.name))}"
        for field in dataclasses.fields(settings)
        if getattr(settings, field.name) != field.default
    ]
    return name + (":" + ",".join(changed) if changed else "")


def check_output(net: Net) -> None:
    """Raise BadInput where a user's net cannot be built for the game, or gives numbers of the wrong shape."""
    name = net.settings.name
    if name in NETS.built_in:
        return
    rows, shape = 2, net.game.observation_shape
    outputs = {"value": 1, "scores": net.game.num_actions, "joint": net.game.num_actions + 1}[net.head]

    def apply() -> Any:
        module = net.settings.build(shape, outputs, nnx.Rngs(0), jnp.dtype(net.dtype))
        return module(jnp.zeros((rows, *shape), jnp.float32))

    try:
        found = nnx.eval_shape(apply)
    except Exception as error:
        said = " ".join(str(error).split())[:300]
        raise BadInput(f"the net {name} cannot be used for {net.game.spec}: {type(error).__name__}: {said}") from error
    if getattr(found, "shape", None) != (rows, outputs):
        gives = getattr(found, "shape", type(found).__name__)
        raise BadInput(
            f"the net {name} gives {gives} for {rows} positions of {net.game.spec}, but must give {(rows, outputs)}"
        )
