"""Networks, how a text names one, and how weights become an evaluator."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax import Array
from jax.tree_util import Partial

from beamzero.errors import BadInput
from beamzero.games import Game, State
from beamzero.nets.architectures import MLP, Conv, NetSettings, ResNet
from beamzero.search.evaluator import Evaluator
from beamzero.spec import parse, parse_options, unknown

__all__ = ["NETS", "Net", "Weights", "compute_dtype", "count_parameters", "make_evaluator", "make_net"]

NETS: dict[str, type[NetSettings]] = {net.name: net for net in (Conv, MLP, ResNet)}

Weights = dict[str, Any]
"""The weights of a net: a nested dict of float32 arrays."""


def make_net(text: str) -> NetSettings:
    """The net that a text such as ``mlp:width=256,depth=3`` names."""
    spec = parse(text)
    if spec.head not in NETS:
        raise unknown("net", spec.head, NETS)
    if spec.arguments:
        raise BadInput(f"cannot read {spec.arguments[0]!r} in the net {text!r}: write {spec.head}:key=value")
    kind = NETS[spec.head]
    return kind(**parse_options(spec.options, kind, spec.head))


@dataclasses.dataclass(frozen=True)
class Net:
    """One net for one game: `head` is "value" (one number, tanh) or "scores" (one number an action, linear)."""

    game: Game
    settings: NetSettings
    head: str
    dtype: str = "float32"

    @functools.cached_property
    def _definition(self) -> nnx.GraphDef:
        return nnx.split(nnx.eval_shape(lambda: self._build(jax.random.key(0))))[0]

    def _build(self, key: Array) -> nnx.Module:
        outputs = 1 if self.head == "value" else self.game.num_actions
        return self.settings.build(self.game.observation_shape, outputs, nnx.Rngs(key), jnp.dtype(self.dtype))

    def init(self, key: Array) -> Weights:
        """New random weights."""
        return nnx.to_pure_dict(nnx.split(self._build(key))[1])

    def shapes(self) -> Any:
        """The weights' shapes and dtypes, without making any."""
        return jax.eval_shape(self.init, jax.random.key(0))

    def on_observations(self, weights: Weights, observations: Array) -> Array:
        """Observations [B, ...] to float32 [B] (value) or [B, A] (scores)."""
        output = nnx.merge(self._definition, weights)(observations)
        return jnp.tanh(output[:, 0]) if self.head == "value" else output

    def __call__(self, weights: Weights, states: State) -> Array:
        """The same for a batch of states."""
        return self.on_observations(weights, jax.vmap(self.game.observe)(states))


def compute_dtype(precision: str) -> str:
    """What nets compute in: `precision`, where "auto" means bfloat16 on a GPU and float32 elsewhere."""
    if precision != "auto":
        return precision
    return "bfloat16" if jax.default_backend() == "gpu" else "float32"


def make_evaluator(value_net: Net, value_weights: Weights, q_net: Net, q_weights: Weights) -> Evaluator:
    """The evaluator of PROBS: V and Q are two nets."""
    return Evaluator(value=Partial(value_net, value_weights), scores=Partial(q_net, q_weights))


def count_parameters(weights: Weights) -> int:
    """How many numbers a net has learned."""
    return sum(x.size for x in jax.tree.leaves(weights))
