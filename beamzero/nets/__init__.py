"""Networks, the texts that name them, and evaluators made of their weights."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Any, cast

import jax
import jax.numpy as jnp
from flax import nnx
from jax import Array
from jax.tree_util import Partial

from beamzero.core.errors import BadInput
from beamzero.core.registry import Registry, check_fields
from beamzero.core.spec import parse, parse_options
from beamzero.games import Game, State
from beamzero.nets.architectures import NetSettings
from beamzero.search.evaluator import Evaluator, zero_evaluator

__all__ = [
    "NETS",
    "AnyNet",
    "Net",
    "NetSettings",
    "Weights",
    "check_net",
    "compute_dtype",
    "count_parameters",
    "learned",
    "make_evaluator",
    "make_joint_evaluator",
    "make_net",
    "make_value_evaluator",
]

NETS = Registry("net", "beamzero.nets", "beamzero.nets.architectures:BUILT_IN_NETS", "beamzero.nets:check_net")
"""The nets that a text can name: those of this package, of installed packages, and those that Python has registered."""

Weights = dict[str, Any]
"""The weights of a net: a nested dict of float32 arrays. Batch norms have their running statistics among them."""

if TYPE_CHECKING:
    AnyNet = str | NetSettings | type[NetSettings] | type[nnx.Module]
else:
    AnyNet = str  # what it is once the settings are made
"""A net in the settings of an algorithm: a text such as "mlp:width=64", settings, or a class of yours."""

_LONGEST_TEXT = 1000

_RUNNING_STATISTICS = ("mean", "var")
"""Names of the running statistics of batch norms; no other weights have them."""


def make_net(text: AnyNet) -> NetSettings:
    """Make the settings of the net that a text such as ``mlp:width=256,depth=3`` names."""
    text = cast(str, text)
    if len(text) > _LONGEST_TEXT:
        raise BadInput(f"the text of a net has {len(text)} characters, but may have at most {_LONGEST_TEXT}")
    spec = parse(text)
    kind = NETS.find(spec.head)
    if spec.arguments:
        raise BadInput(f"cannot read {spec.arguments[0]!r} in the net {text!r}: write {spec.head}:key=value")
    return kind(**parse_options(spec.options, kind, spec.head))


def check_net(kind: Any, name: str) -> None:
    """Raise BadInput, with what is missing, where a class from outside does not describe a net."""
    if not isinstance(kind, type) or not issubclass(kind, NetSettings):
        raise BadInput(f"{name!r} is no net: it must be a subclass of NetSettings")
    missing = [member for member in ("build", "layers") if getattr(kind, member) is getattr(NetSettings, member)]
    if missing:
        raise BadInput(f"{name!r} is no net: it has no {', '.join(missing)}")
    check_fields(kind, f"{name!r} is no net")


@dataclasses.dataclass(frozen=True)
class Net:
    """One net for one game. The `head` says what it gives for B rows:

    - "value": float32 [B], one number, by tanh;
    - "scores": float32 [B, A], one number an action, linear;
    - "joint": both, as a pair, out of one body.
    """

    game: Game
    settings: NetSettings
    head: str
    dtype: str = "float32"

    @property
    def _definition(self) -> nnx.GraphDef:
        """Give the structure of the net's module."""
        return _without_weights(self)[0]

    def _build(self, key: Array) -> nnx.Module:
        """Make the net's module with random weights."""
        actions = self.game.num_actions
        outputs = {"value": 1, "scores": actions, "joint": actions + 1}[self.head]
        return self.settings.build(self.game.observation_shape, outputs, nnx.Rngs(key), jnp.dtype(self.dtype))

    @functools.partial(jax.jit, static_argnums=0, inline=True)
    def init(self, key: Array) -> Weights:
        """Draw random weights."""
        return nnx.to_pure_dict(nnx.split(self._build(key))[1])

    def shapes(self) -> Any:
        """Give the shapes and dtypes of the weights, without making any."""
        return jax.tree.map(lambda shape: shape, _without_weights(self)[1])  # dicts of the caller's own

    def bytes_per_row(self) -> int:
        """Count the bytes that a row takes while the net learns from it, about: inputs and outputs of its layers."""
        shape = self.game.observation_shape
        height, width = shape[:2] if len(shape) == 3 else (1, 1)
        shrink = 2 if getattr(self.settings, "padding", "same") == "valid" else 0
        numbers = 0
        for path, leaf in jax.tree_util.tree_leaves_with_path(self.shapes()):
            if path[-1].key != "kernel":
                continue
            inputs, outputs = leaf.shape[-2:]
            numbers += 2 * outputs if leaf.ndim == 2 else 0
            if leaf.ndim == 4:
                height, width = height - shrink, width - shrink
                patches = 0 if jax.default_backend() == "gpu" else leaf.shape[0] * leaf.shape[1] * inputs
                numbers += height * width * (patches + 2 * outputs)
        return 2 * 4 * math.prod(shape) + jnp.dtype(self.dtype).itemsize * numbers

    def on_observations(self, weights: Weights, observations: Array) -> Any:
        """Apply the net to observations [B, ...]. Returns what the head gives; no row depends on the others."""
        return self._by_head(nnx.merge(self._definition, weights)(observations))

    def while_learning(self, weights: Weights, observations: Array, real: Array) -> tuple[Any, Weights]:
        """Apply the net to observations [B, ...] with the statistics of the rows where `real` [B] holds.

        Returns what the head gives, and the moved running statistics: the part of the weights that gradients do not
        change, empty where there are no batch norms.
        """
        module = nnx.merge(self._definition, weights)
        outputs = self._by_head(module(observations, real))
        return outputs, nnx.to_pure_dict(nnx.state(module, nnx.BatchStat))

    def _by_head(self, output: Array) -> Any:
        """Turn the module's output [B, outputs] into what the head gives."""
        if self.head == "scores":
            return output
        value = jnp.tanh(output[:, -1])
        return value if self.head == "value" else (value, output[:, :-1])

    def __call__(self, weights: Weights, states: State) -> Any:
        """Apply the net to B states. Returns what the head gives."""
        return self.on_observations(weights, jax.vmap(self.game.observe)(states))


@functools.lru_cache(maxsize=256)
def _without_weights(net: Net) -> tuple[nnx.GraphDef, Any]:
    """Trace a net's module, which takes long, once. Returns its structure, and the shapes of its weights."""
    definition, state = nnx.split(nnx.eval_shape(lambda: net._build(jax.random.key(0))))
    return definition, nnx.to_pure_dict(state)


def compute_dtype(precision: str) -> str:
    """Choose the dtype that nets compute in: `precision`, where "auto" is bfloat16 on a GPU and float32 elsewhere."""
    if precision != "auto":
        return precision
    return "bfloat16" if jax.default_backend() == "gpu" else "float32"


def make_evaluator(value_net: Net, value_weights: Weights, q_net: Net, q_weights: Weights) -> Evaluator:
    """Make the evaluator of two nets: V, with the head "value", and Q, with the head "scores"."""
    return Evaluator(value=Partial(value_net, value_weights), scores=Partial(q_net, q_weights))


def make_value_evaluator(net: Net, weights: Weights) -> Evaluator:
    """Make the evaluator of one net with the head "value"; the scores of all moves are 0."""
    return zero_evaluator(net.game)._replace(value=Partial(net, weights))


def make_joint_evaluator(net: Net, weights: Weights) -> Evaluator:
    """Make the evaluator of one net with a "joint" head; its scores are the policy's logits."""
    value, scores = (Partial(_OneOfBoth(net, index), weights) for index in (0, 1))
    return Evaluator(value=value, scores=scores, both=Partial(net, weights))


@dataclasses.dataclass(frozen=True)
class _OneOfBoth:
    """One output of a net with a "joint" head: 0 is the value, 1 are the scores."""

    net: Net
    index: int

    def __call__(self, weights: Weights, states: State) -> Array:
        return self.net(weights, states)[self.index]


def learned(weights: Weights) -> list[Any]:
    """List the arrays that are learned: all but running statistics."""
    leaves = jax.tree_util.tree_leaves_with_path(weights)
    return [leaf for path, leaf in leaves if path[-1].key not in _RUNNING_STATISTICS]


def count_parameters(weights: Weights) -> int:
    """Count the numbers that a net learns; running statistics do not count."""
    return sum(x.size for x in learned(weights))
