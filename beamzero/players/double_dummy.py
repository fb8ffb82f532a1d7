"""Solvers of bridge with open cards: the DDS library, which is part of endplay, and our own alpha-beta near the end."""

from __future__ import annotations

import dataclasses
import functools
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.cores import side_by_side, to_host
from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.games.bridge.game import HELD, NO_CARD, Bridge, BridgeState
from beamzero.games.bridge.open_cards import OpenBridge
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from beamzero.search.evaluator import zero_evaluator

_one_at_a_time = threading.Lock()
"""A lock around DDS, which has threads of its own and one set of tables for them."""


def load_dds() -> Any:
    """Load the library; BadInput where it is not installed."""
    try:
        from endplay import _dds
    except (ImportError, RuntimeError) as error:  # RuntimeError: the library is not for this machine
        raise BadInput("DDS solves the deals, and is not here: pip install 'beamzero[cards]'") from error
    return _dds


@dataclasses.dataclass(frozen=True)
class DDS:
    """Bo Haglund's and Soren Hein's double-dummy solver, on all cores; see `clairvoyance.Solver`."""

    def __post_init__(self) -> None:
        load_dds()

    def __call__(self, game: Game, states: State) -> np.ndarray:
        assert isinstance(game, Bridge)
        dds, count = load_dds(), len(states.plies)
        tricks = np.full((count, 52), -1, np.int32)
        for first in range(0, count, dds.MAXNOOFBOARDS):
            part = slice(first, first + dds.MAXNOOFBOARDS)
            tricks[part] = _solve(dds, game.bid.trump, jax.tree.map(lambda x: np.asarray(x)[part], states))
        return _values(states, tricks)


def _solve(dds: Any, trump: int, states: BridgeState) -> np.ndarray:
    """Count the tricks that the side to move still takes after each card, int32 [N, 52]; -1 for cards it cannot play.

    Raises BadInput where DDS refuses a deal, or does not answer for exactly the cards that can be played.
    """
    count = len(states.plies)
    boards, solved = dds.boards(), dds.solvedBoards()
    table = np.frombuffer(boards, np.dtype(dds.boards))[0]
    table["target"][:], table["solutions"][:], table["mode"][:] = 0, 3, 1  # every card, with its tricks
    deals = table["deals"][:count]
    deals["trump"], deals["first"] = trump, states.leader
    order = (states.leader[:, None] + np.arange(3)) % 4
    played = np.take_along_axis(np.asarray(states.trick), np.asarray(order, np.int64), axis=1).astype(np.int32)
    there = played != NO_CARD
    deals["currentTrickSuit"] = np.where(there, played // 13, 0)
    deals["currentTrickRank"] = np.where(there, played % 13 + 2, 0)
    held = (np.asarray(states.holder)[:, None] == np.arange(4)[:, None]) & np.asarray(states.ply == HELD)[:, None]
    deals["remainCards"] = held.reshape(count, 4, 4, 13) @ (4 << np.arange(13))
    boards.noOfBoards = count
    try:
        with _one_at_a_time:
            dds.SolveAllBoardsBin(boards, solved)
    except dds.DDSError as error:
        raise BadInput(f"DDS cannot solve the deal: {error}") from error
    answers = np.frombuffer(solved, np.dtype(dds.solvedBoards))[0]["solvedBoard"][:count]
    listed = np.arange(13) < answers["cards"][:, None]
    ranks = answers["equals"] | (1 << answers["rank"])  # of equal cards one is named, and the others are listed
    names_card = (ranks[..., None] >> (np.arange(13) + 2) & 1) == 1  # [N, 13 answers, 13 ranks]
    tricks = np.full((count, 4, 13), -1, np.int32)
    row, answer, rank = np.nonzero(names_card & listed[..., None])
    tricks[row, answers["suit"][row, answer], rank] = answers["score"][row, answer]
    # Not every fault comes back as an error, but then the answers are missing.
    if not np.array_equal(tricks.reshape(count, 52) >= 0, _playable(states, held, there, played)):
        raise BadInput("DDS cannot solve the deal: it does not say for every card how many tricks it takes")
    return tricks.reshape(count, 52)


def _playable(states: BridgeState, held: np.ndarray, there: np.ndarray, played: np.ndarray) -> np.ndarray:
    """Tell which cards can be played, bool [N, 52], of those that each hand holds, `held` [N, 4, 52].

    `played` [N, 3] are the cards of this trick, where `there` [N, 3].
    """
    turn = (np.asarray(states.leader, np.int64) + np.asarray(states.plies, np.int64)) % 4
    hand = held[np.arange(len(turn)), turn]
    follows = hand & there[:, :1] & (played[:, :1] // 13 == np.arange(52) // 13)
    return np.where(follows.any(axis=1, keepdims=True), follows, hand)


def _values(states: BridgeState, tricks: np.ndarray) -> np.ndarray:
    """Turn further `tricks` [N, 52] of the side to move into its final `Bridge.score`, float32 [N, 52]."""
    side = (np.asarray(states.leader, np.int64) + np.asarray(states.plies, np.int64)) % 2
    won = np.take_along_axis(np.asarray(states.won, np.int64), side[:, None], axis=1) + tricks
    return np.where(tricks >= 0, (2 * won - 13) / 13, -np.inf).astype(np.float32)


@dataclasses.dataclass(frozen=True)
class Endings:
    """Our own solver by alpha-beta, for endings of at most `cards` cards a hand; see `clairvoyance.Solver`."""

    cards: int = 6

    def __call__(self, game: Game, states: State) -> np.ndarray:
        assert isinstance(game, Bridge)
        if (left := 13 - int(np.min(states.plies)) // 4) > self.cards:
            raise BadInput(f"alphabeta solves endings of {self.cards} cards or fewer a hand, and here there are {left}")
        rows = [jax.tree.map(lambda x: np.asarray(x)[row], states) for row in range(len(states.plies))]
        open_game = OpenBridge(game.contract, game.declarer)
        found = side_by_side(lambda row: _search(open_game, 4 * self.cards, to_host(row)), rows, on_host=True)
        return np.stack([np.asarray(values) for values in found])


@functools.partial(jax.jit, static_argnums=(0, 1))
def _search(game: OpenBridge, plies: int, state: BridgeState) -> Array:
    """Give the value of each legal card for the side to move, float32 [52]; equal cards have equal values."""
    search = AlphaBeta(depth=plies, deepen=False, every_move=True)
    states = jax.tree.map(lambda x: jnp.asarray(x)[None], state)
    values = search(game, zero_evaluator(game), states, jax.random.key(0)).values[0]
    may_play = Bridge.legal(game, state)
    return jnp.where(may_play, values[game.stand_in(state)], -jnp.inf)
