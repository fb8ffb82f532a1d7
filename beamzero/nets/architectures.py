"""The networks, in flax.nnx. Each maps observations [B, *observation_shape] to [B, outputs].

A net is called with the observations alone in play, and with `real` [B] as well in learning. That only matters to batch
norms: in play they use their running mean and variance, so that a row never depends on the others; in learning they use
those of the rows where `real` holds, and move the running ones a tenth of the way there.

A net is described by a frozen dataclass whose fields are its settings, so that a text such as ``mlp:width=256,depth=3``
describes its shape in full, and an agent file can hold it.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from flax import nnx
from jax import Array

from beamzero.core.errors import BadInput

_SLOPE = 0.01
"""The slope of the leaky ReLU on the negative side, as in the PROBS paper."""

_MOST_LAYERS = 64


def _activate(x: Array) -> Array:
    """Apply the leaky ReLU."""
    return nnx.leaky_relu(x, _SLOPE)


def _batch_norm(features: int, rngs: nnx.Rngs) -> nnx.BatchNorm:
    """Make a batch norm that computes in float32, which a mean over thousands of rows needs."""
    return nnx.BatchNorm(features, momentum=0.9, epsilon=1e-5, use_fast_variance=False, dtype=jnp.float32, rngs=rngs)


def _normalize(norm: nnx.BatchNorm | nnx.LayerNorm, x: Array, real: Array | None) -> Array:
    """Normalize `x` [B, ..., features]; in learning, batch norms use the rows where `real` [B] holds."""
    if isinstance(norm, nnx.LayerNorm):
        return norm(x)
    if real is None:
        return norm(x, use_running_average=True)
    return norm(x, use_running_average=False, mask=real.reshape(-1, *(1,) * (x.ndim - 1)))


@dataclasses.dataclass(frozen=True)
class NetSettings:
    """The settings of a net. `build` makes the module for one game.

    >>> import beamzero as bz
    >>> from beamzero.nets import NETS
    >>> list(NETS.built_in)
    ['conv', 'dense', 'mlp', 'resnet']
    >>> net = NETS["mlp"](width=64, depth=2)
    >>> net.layers
    3
    >>> bz.Probs(value_net=net).value_net
    'mlp:width=64,depth=2'
    """

    name: ClassVar[str] = ""
    """The name that stands first in the text of a net; by default that of the class, in small letters."""

    @property
    def layers(self) -> int | None:
        """Count the layers with a kernel, the head among them, without building the module; None if not known."""
        raise NotImplementedError

    def build(self, observation_shape: tuple[int, ...], outputs: int, rngs: nnx.Rngs, dtype: Any) -> nnx.Module:
        """Make the module, with random float32 weights, that computes in `dtype`."""
        raise NotImplementedError


class _Conv3x3(nnx.Module):
    """A 3x3 convolution, computed in the faster of two ways for the device and the channels; both share the weights."""

    def __init__(self, inputs: int, outputs: int, padding: str, rngs: nnx.Rngs, dtype: Any) -> None:
        self.conv = nnx.Conv(inputs, outputs, (3, 3), padding=padding.upper(), rngs=rngs, dtype=dtype)
        self.inputs, self.padded, self.dtype = inputs, padding == "same", dtype

    def __call__(self, x: Array) -> Array:
        # A CPU is 20 times slower at a convolution's gradient than at matrix products, a GPU slow on few channels.
        if jax.default_backend() == "gpu" and self.inputs > 16:
            return self.conv(x)
        if self.padded:
            x = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        height, width = x.shape[1] - 2, x.shape[2] - 2
        patches = jnp.concatenate(
            [x[:, i : i + height, j : j + width] for i in range(3) for j in range(3)], axis=3
        ).astype(self.dtype)
        kernel = self.conv.kernel[...].reshape(9 * self.inputs, -1).astype(self.dtype)
        assert self.conv.bias is not None
        return patches @ kernel + self.conv.bias[...].astype(self.dtype)[None, None, None]


class _DenseModule(nnx.Module):
    """Dense layers of any widths, each with the activation and perhaps a batch norm, then a linear head in float32."""

    def __init__(
        self, inputs: int, widths: tuple[int, ...], outputs: int, rngs: nnx.Rngs, dtype: Any, batch_norm: bool = False
    ) -> None:
        self.depth, self.batch_norm = len(widths), batch_norm
        for i, width in enumerate(widths):
            setattr(self, f"dense_{i}", nnx.Linear(inputs, width, rngs=rngs, dtype=dtype))
            if batch_norm:
                setattr(self, f"norm_{i}", _batch_norm(width, rngs))
            inputs = width
        self.head = nnx.Linear(inputs, outputs, rngs=rngs, dtype=jnp.float32)

    def __call__(self, x: Array, real: Array | None = None) -> Array:
        x = x.reshape(x.shape[0], -1)
        for i in range(self.depth):
            x = getattr(self, f"dense_{i}")(x)
            if self.batch_norm:
                x = _normalize(getattr(self, f"norm_{i}"), x, real)
            x = _activate(x)
        return self.head(x.astype(jnp.float32))


@dataclasses.dataclass(frozen=True)
class Dense(NetSettings):
    """Plain dense layers of `widths`, written ``42-21``; with `norm` batch, a batch norm after each. Fits any board."""

    widths: str = "128-64"
    norm: str = "none"

    name: ClassVar[str] = "dense"

    def __post_init__(self) -> None:
        _widths(self.widths, "dense: widths")
        _one_of("dense: norm", self.norm, "none", "batch")

    @property
    def layers(self) -> int:
        return len(_widths(self.widths, "dense: widths")) + 1

    def build(self, observation_shape: tuple[int, ...], outputs: int, rngs: nnx.Rngs, dtype: Any) -> nnx.Module:
        widths = _widths(self.widths, "dense: widths")
        return _DenseModule(math.prod(observation_shape), widths, outputs, rngs, dtype, self.norm == "batch")


@dataclasses.dataclass(frozen=True)
class Conv(NetSettings):
    """3x3 convolutions, then dense layers, as in the PROBS paper. Widths are written ``32-64``."""

    channels: str = "32-64"
    dense: str = "160-112"
    padding: str = "valid"

    name: ClassVar[str] = "conv"

    def __post_init__(self) -> None:
        _widths(self.channels, "conv: channels")
        _widths(self.dense, "conv: dense")
        _one_of("conv: padding", self.padding, "valid", "same")

    @property
    def layers(self) -> int:
        return len(_widths(self.channels, "conv: channels")) + len(_widths(self.dense, "conv: dense")) + 1

    def build(self, observation_shape: tuple[int, ...], outputs: int, rngs: nnx.Rngs, dtype: Any) -> nnx.Module:
        return _ConvModule(self, observation_shape, outputs, rngs, dtype)


class _ConvModule(nnx.Module):
    """The module of `Conv`."""

    def __init__(self, settings: Conv, shape: tuple[int, ...], outputs: int, rngs: nnx.Rngs, dtype: Any) -> None:
        height, width, inputs = _board(shape, settings.name)
        channels = _widths(settings.channels, "channels")
        shrink = 2 * len(channels) if settings.padding == "valid" else 0
        if min(height, width) <= shrink:
            raise BadInput(
                f"conv: {len(channels)} valid 3x3 layers do not fit on a {height}x{width} board; use padding=same"
            )
        self.depth = len(channels)
        for i, outputs_here in enumerate(channels):
            setattr(self, f"conv_{i}", _Conv3x3(inputs, outputs_here, settings.padding, rngs, dtype))
            inputs = outputs_here
        flat = (height - shrink) * (width - shrink) * inputs
        self.tail = _DenseModule(flat, _widths(settings.dense, "dense"), outputs, rngs, dtype)

    def __call__(self, observations: Array, real: Array | None = None) -> Array:
        x = observations
        for i in range(self.depth):
            x = _activate(getattr(self, f"conv_{i}")(x))
        return self.tail(x, real)


@dataclasses.dataclass(frozen=True)
class MLP(NetSettings):
    """`depth` dense layers of `width`, each but the first with a residual connection. Fits any observation."""

    width: int = 256
    depth: int = 3

    name: ClassVar[str] = "mlp"

    def __post_init__(self) -> None:
        _between("mlp: width", self.width, 1, 8192)
        _between("mlp: depth", self.depth, 1, _MOST_LAYERS)

    @property
    def layers(self) -> int:
        return self.depth + 1

    def build(self, observation_shape: tuple[int, ...], outputs: int, rngs: nnx.Rngs, dtype: Any) -> nnx.Module:
        return _MLPModule(self, math.prod(observation_shape), outputs, rngs, dtype)


class _MLPModule(nnx.Module):
    """The module of `MLP`."""

    def __init__(self, settings: MLP, inputs: int, outputs: int, rngs: nnx.Rngs, dtype: Any) -> None:
        self.depth = settings.depth
        for i in range(settings.depth):
            setattr(self, f"dense_{i}", nnx.Linear(inputs, settings.width, rngs=rngs, dtype=dtype))
            inputs = settings.width
        self.head = nnx.Linear(inputs, outputs, rngs=rngs, dtype=jnp.float32)

    def __call__(self, observations: Array, real: Array | None = None) -> Array:
        x = observations.reshape(observations.shape[0], -1)
        for i in range(self.depth):
            y = _activate(getattr(self, f"dense_{i}")(x))
            x = x + y if i else y
        return self.head(x.astype(jnp.float32))


@dataclasses.dataclass(frozen=True)
class ResNet(NetSettings):
    """`blocks` residual blocks of a norm and two 3x3 convolutions with `channels` channels, then `dense` layers.

    With `norm` batch, a batch norm comes after each dense layer too. Without a `stem`, the convolution that makes
    `channels` planes out of the board's, the board must have as many itself.
    """

    channels: int = 64
    blocks: int = 4
    dense: str = "128"
    norm: str = "layer"
    stem: bool = True

    name: ClassVar[str] = "resnet"

    def __post_init__(self) -> None:
        _between("resnet: channels", self.channels, 1, 2048)
        _between("resnet: blocks", self.blocks, 1, 80)
        _widths(self.dense, "resnet: dense")
        _one_of("resnet: norm", self.norm, "layer", "batch")

    @property
    def layers(self) -> int:
        return int(self.stem) + 2 * self.blocks + len(_widths(self.dense, "resnet: dense")) + 1

    def build(self, observation_shape: tuple[int, ...], outputs: int, rngs: nnx.Rngs, dtype: Any) -> nnx.Module:
        return _ResNetModule(self, observation_shape, outputs, rngs, dtype)


class _ResNetModule(nnx.Module):
    """The module of `ResNet`."""

    def __init__(self, settings: ResNet, shape: tuple[int, ...], outputs: int, rngs: nnx.Rngs, dtype: Any) -> None:
        height, width, inputs = _board(shape, settings.name)
        self.blocks, self.stem, self.dtype, channels = settings.blocks, settings.stem, dtype, settings.channels
        if self.stem:
            self.first = _Conv3x3(inputs, channels, "same", rngs, dtype)
        elif inputs != channels:
            raise BadInput(
                f"resnet: stem=false needs a board of {channels} planes, but this one has {inputs}; use stem=true"
            )
        for i in range(2 * settings.blocks):
            setattr(self, f"conv_{i}", _Conv3x3(channels, channels, "same", rngs, dtype))
        batch_norm = settings.norm == "batch"
        for i in range(settings.blocks):
            norm = _batch_norm(channels, rngs) if batch_norm else nnx.LayerNorm(channels, rngs=rngs, dtype=dtype)
            setattr(self, f"norm_{i}", norm)
        widths = _widths(settings.dense, "resnet: dense")
        self.tail = _DenseModule(height * width * channels, widths, outputs, rngs, dtype, batch_norm)

    def __call__(self, observations: Array, real: Array | None = None) -> Array:
        x = _activate(self.first(observations)) if self.stem else observations.astype(self.dtype)
        for i in range(self.blocks):
            y = _normalize(getattr(self, f"norm_{i}"), x, real)
            y = _activate(getattr(self, f"conv_{2 * i}")(y))
            x = x + getattr(self, f"conv_{2 * i + 1}")(y)
        return self.tail(_activate(x), real)


def _widths(text: str, what: str) -> tuple[int, ...]:
    """Read widths such as ``32-64``; `what` names the setting in errors."""
    try:
        widths = tuple(int(part) for part in str(text).split("-"))
    except ValueError:
        raise BadInput(f"{what} is {text!r}, but must be whole numbers joined by '-', such as 32-64") from None
    if len(widths) > _MOST_LAYERS:
        raise BadInput(f"{what} has {len(widths)} layers, but may have at most {_MOST_LAYERS}")
    for width in widths:
        _between(what, width, 1, 8192)
    return widths


def _between(what: str, value: int, low: int, high: int) -> None:
    """Raise BadInput where a setting is not within its bounds."""
    if not low <= value <= high:
        raise BadInput(f"{what} is {value}, but must be {low} to {high}")


def _one_of(what: str, value: str, *allowed: str) -> None:
    """Raise BadInput where a setting is none of the allowed texts."""
    if value not in allowed:
        raise BadInput(f"{what} is {value!r}, but must be {' or '.join(allowed)}")


def _board(shape: tuple[int, ...], name: str) -> tuple[int, int, int]:
    """Take height, width and channels of observations; BadInput where they have another shape."""
    if len(shape) != 3:
        raise BadInput(
            f"{name} needs observations of height, width and channels, but this game's have shape {shape}; use mlp"
        )
    return shape[0], shape[1], shape[2]


BUILT_IN_NETS = {net.name: f"beamzero.nets.architectures:{net.__name__}" for net in (Conv, Dense, MLP, ResNet)}
"""The places where the nets are defined, by name, for the registry of nets."""
