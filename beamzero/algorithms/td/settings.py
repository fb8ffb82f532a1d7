"""The settings of a TD(lambda) run."""

from __future__ import annotations

import dataclasses

from beamzero.nets import AnyNet, make_net
from beamzero.training.settings import RunSettings, setting


@dataclasses.dataclass(frozen=True)
class TdSettings(RunSettings):
    """Every setting of a TD(lambda) run.

    >>> import beamzero as bz
    >>> bz.Td(trace=0.5, value_net="mlp:width=64").trace
    0.5
    """

    trace: float = setting(
        0.7,
        "lambda: how much of what is learned comes from later moves and the result, rather than from the next move.",
        (0.0, 1.0),
    )
    explore: float = setting(
        0.0,
        "The probability of any move in place of the best. Where there are dice, they see to it that much is met.",
        (0.0, 1.0),
    )
    value_net: AnyNet = setting("mlp:width=128,depth=2", "The net, such as mlp:width=128,depth=2.")
    learning_rate: float = setting(0.001, "Learning rate (Adam).", (1e-9, 1.0))
    batch_size: int = setting(
        256, "Positions in a minibatch; every position of an iteration is learned from once.", (1, 10**6)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        make_net(self.value_net)
