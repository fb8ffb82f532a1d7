"""Bridge with all cards open, as a search for the best play sees it."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from beamzero.games.bridge.game import HELD, NO_SEAT, Bridge, BridgeState
from beamzero.games.hashing import hash_words, pack_bytes

_RANK = np.arange(13, dtype=np.int32)


@dataclasses.dataclass(frozen=True)
class OpenBridge(Bridge):
    """Lets a hand play only the lowest of cards that are as good as each other, such as its 8 and its 7.

    Two cards of a hand are so where no other hand holds a card between them, nor has one in the trick under way. A
    search then looks at some twentieth of the positions, and finds the same number of tricks.
    """

    name: ClassVar[str] = "open_bridge"
    hidden: ClassVar[bool] = False

    def legal(self, state: BridgeState) -> Array:
        return super().legal(state) & (self.stand_in(state) == np.arange(52))

    def stand_in(self, state: BridgeState) -> Array:
        """Find for each card of the hand to play the lowest one that is as good, int32 [52]; meaningless for others."""
        mine = ((state.holder == self.next_hand(state)) & (state.ply == HELD)).reshape(4, 13)
        next_below = _last_before(_is_live(state), mine.astype(jnp.int32) + 2 * _RANK[None])  # odd where it is mine
        lowest = mine & (next_below % 2 == 0)
        run = lax.cummax(jnp.where(lowest, _RANK[None], -1), axis=1)
        return (run + 13 * np.arange(4, dtype=np.int32)[:, None]).reshape(52)

    def hash(self, state: BridgeState) -> Array:
        """Give positions one key if the same cards are left but for those that are gone: only which beats which counts.

        The best play is then the same too, card for card in their order, though not by name.
        """
        live = _is_live(state)
        whose = jnp.where(state.ply == HELD, state.holder, state.holder + NO_SEAT).reshape(4, 13) + np.uint8(1)
        place = jnp.cumsum(live, axis=1, dtype=jnp.int32) - 1
        chosen = live[:, None] & (place[:, None] == _RANK[None, :, None])  # [4, 13, 13]
        packed = jnp.sum(jnp.where(chosen, whose[:, None], np.uint8(0)), axis=2, dtype=jnp.uint8)
        return hash_words(*pack_bytes(packed.reshape(52), state.leader[None], state.won))


def _is_live(state: BridgeState) -> Array:
    """Tell, bool [4, 13], which cards are in a hand or in the trick under way."""
    in_trick = jnp.any(state.trick[:, None] == np.arange(52, dtype=np.uint8)[None], axis=0)
    return ((state.ply == HELD) | in_trick).reshape(4, 13)


def _last_before(there: Array, numbers: Array) -> Array:
    """Find for each rank the rising `numbers` of the next lower rank that is `there`, int32 [4, 13]; -2 for none."""
    last = lax.cummax(jnp.where(there, numbers, -2), axis=1)
    return jnp.pad(last[:, :-1], ((0, 0), (1, 0)), constant_values=-2)
