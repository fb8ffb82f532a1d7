"""OpenSpiel's side of a game: C++ on the host, asked about positions that are given by all that was chosen so far."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from beamzero.core.errors import BadInput
from beamzero.core.spec import Scalar

KEPT = 16_384
"""The number of positions that a host keeps, so that the next move is one call and not the whole game again."""

MOST_CHOICES, MOST_SEEN, LARGEST_PARAMETER = 2**15, 2**18, 100_000
"""The most actions, numbers in an observation and the largest parameter of a game that can be loaded."""


class Facts(NamedTuple):
    """Answers of the rules about N positions."""

    player: np.ndarray  # int8 [N] the side to move, or CHANCE
    side: np.ndarray  # int8 [N] the side that chooses next
    over: np.ndarray  # bool [N]
    score: np.ndarray  # float32 [N] for side 0
    legal: np.ndarray  # uint8 [N, L] the legal actions as bits


class Host:
    """The rules of one game of OpenSpiel.

    A position is the vector of all choices so far, moves and outcomes of chance, and their number. The last positions
    are kept as OpenSpiel has them; one that is not is played again from the start, so that keeping changes no answer.
    """

    def __init__(self, name: str, parameters: Mapping[str, Scalar]) -> None:
        self.name = name
        self.game = _load(name, parameters)
        self.num_actions: int = self.game.num_distinct_actions()
        self.num_chance: int = self.game.max_chance_outcomes()
        self.most = max(abs(self.game.min_utility()), abs(self.game.max_utility()))
        self.shape: tuple[int, ...] = tuple(self.game.observation_tensor_shape())
        self.dtype = np.dtype(np.int16)
        _check_sizes(self)
        self._kept: dict[bytes, Any] = {}
        self._lock = threading.Lock()
        _try_out(self)

    def find(self, history: np.ndarray) -> Any:
        """Return OpenSpiel's state after the choices `history` [length]; the caller does not change it."""
        key = np.ascontiguousarray(history, self.dtype).tobytes()
        with self._lock:
            state = self._kept.get(key)
            if state is None:
                state = self._kept[key] = self._play(key)
                if len(self._kept) > KEPT:
                    del self._kept[next(iter(self._kept))]
        return state

    def _play(self, key: bytes) -> Any:
        """Play the choices of `key`: the last of them after the position before it, where that is kept.

        What chance cannot do is passed over: searches look at all outcomes, and weigh such a one by nothing.
        """
        before = self._kept.get(key[: -self.dtype.itemsize]) if key else None
        choices = np.frombuffer(key, self.dtype).tolist()
        state = self.game.new_initial_state() if before is None else before.clone()
        for choice in choices if before is None else choices[-1:]:
            if not state.is_chance_node() or choice in state.legal_actions():
                state.apply_action(choice)
        return state

    # --- what compiled programs ask, about any number of positions -------------------------------------------------

    def facts(self, history: Any, length: Any, wanted: Any) -> Facts:
        """Say what the rules say of positions [...]; anything where they are not `wanted`."""
        shape = np.shape(length)
        size = int(np.prod(shape, dtype=np.int64))
        player, side = np.zeros(size, np.int8), np.zeros(size, np.int8)
        over, score = np.zeros(size, np.bool_), np.zeros(size, np.float32)
        legal = np.zeros((size, self.num_actions), np.bool_)
        for row, state in self._wanted(history, length, wanted):
            if state.is_terminal():
                over[row], score[row] = True, np.clip(state.returns()[0] / self.most, -1, 1)
            else:
                player[row], side[row] = state.current_player(), _next_side(state)
                if not state.is_chance_node():
                    legal[row, state.legal_actions()] = True
        bits = np.packbits(legal, axis=1)
        found = Facts(player, side, over, score, bits)
        return Facts(*(x.reshape(shape + x.shape[1:]) for x in found))

    def chance(self, history: Any, length: Any, wanted: Any) -> np.ndarray:
        """Return the probabilities of the outcomes of chance events, float32 [..., C]; zeros where not `wanted`."""
        probs = np.zeros((np.size(length), self.num_chance), np.float32)
        for row, state in self._wanted(history, length, wanted):
            for outcome, share in state.chance_outcomes():
                probs[row, outcome] = share
        return probs.reshape(*np.shape(length), self.num_chance)

    def observe(self, history: Any, length: Any, wanted: Any, side: Any) -> np.ndarray:
        """Return what `side` sees, float32 [..., *shape]; zeros where not `wanted`."""
        seen = np.zeros((np.size(length), int(np.prod(self.shape))), np.float32)
        sides = np.asarray(side).reshape(-1)
        for row, state in self._wanted(history, length, wanted):
            seen[row] = state.observation_tensor(int(sides[row]))
        return seen.reshape(*np.shape(length), *self.shape)

    def _wanted(self, history: Any, length: Any, wanted: Any) -> Iterator[tuple[int, Any]]:
        """Yield the rows of the positions that are wanted, counted through all leading axes, and their states."""
        rows = np.asarray(history).reshape(np.size(length), -1)
        lengths = np.asarray(length).reshape(-1)
        for row in np.flatnonzero(np.asarray(wanted).reshape(-1)).tolist():
            yield row, self.find(rows[row, : lengths[row]])


def _next_side(state: Any) -> int:
    """Return the side that chooses next: after a chance event, the one that its first outcome leads to."""
    if not state.is_chance_node():
        return int(state.current_player())
    after = state.child(state.chance_outcomes()[0][0])
    return max(0, int(after.current_player()))


# --- which games can be loaded ---------------------------------------------------------------------------------------


def _load(name: str, parameters: Mapping[str, Scalar]) -> Any:
    """Load a game of OpenSpiel; BadInput in one line where it has no such game or refuses the parameters."""
    import pyspiel

    if any(abs(value) > LARGEST_PARAMETER for value in parameters.values() if not isinstance(value, str)):
        raise BadInput(f"open_spiel:{name} cannot be played with a parameter above {LARGEST_PARAMETER:,}")
    try:
        game = pyspiel.load_game(name, dict(parameters))
        game.observation_tensor_shape()
    except Exception as error:
        raise BadInput(f"open_spiel:{name} cannot be loaded: {_in_one_line(error)}") from error
    if game.num_players() != 2:
        raise BadInput(f"open_spiel:{name} cannot be played, for it has {game.num_players()} players")
    return game


def _check_sizes(host: Host) -> None:
    """Raise BadInput where a board is far too large, or too small to be one: C++ may then end this process."""
    most_seen = float(np.prod(host.shape, dtype=np.float64))
    least = min(host.num_actions, host.game.max_game_length(), *host.shape)
    if least < 1 or max(host.num_actions, host.num_chance) > MOST_CHOICES or most_seen > MOST_SEEN:
        raise BadInput(f"open_spiel:{host.name} cannot be played on a board of such a size")


def _try_out(host: Host, games: int = 4) -> None:
    """Raise BadInput where OpenSpiel fails in random games, or chance decides twice in a row: here it is one event."""
    draw = random.Random(0)
    try:
        twice = [_chance_decides_twice(host.game.new_initial_state(), draw) for _ in range(games)]
    except Exception as error:
        raise BadInput(f"open_spiel:{host.name} cannot be played: {_in_one_line(error)}") from error
    if any(twice):
        raise BadInput(f"open_spiel:{host.name} cannot be played, for chance decides twice in a row in it")


def _chance_decides_twice(state: Any, draw: random.Random, plies: int = 60) -> bool:
    """Play some plies of a random game, and tell whether one chance event follows another in it."""
    was_chance, twice = False, False
    for _ in range(plies):
        if state.is_terminal():
            break
        if not state.legal_actions():
            raise ValueError("a side has no legal move")
        twice = twice or (was_chance and state.is_chance_node())
        was_chance = state.is_chance_node()
        str(state), state.observation_tensor(_next_side(state))
        state.apply_action(draw.choice(state.legal_actions()))
    return twice


def _in_one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
