"""OpenSpiel's side of a game: C++ on the host, asked about positions that are given by all that was chosen so far."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from beamzero.core.errors import BadInput
from beamzero.core.spec import Scalar

KEPT = 16_384
"""The number of positions that a host keeps, so that the next move is one call and not the whole game again."""

MOST_CHOICES, MOST_SEEN, LARGEST_PARAMETER = 2**15, 2**18, 10_000
"""The most actions, numbers in an observation and the largest parameter of a game that can be loaded."""

_POWERS = {"dims": 4, "num_dice": 6}
"""Parameters with which a game grows as a power, and the largest of each: beyond it C++ would work for hours."""

_MOST_WON = {"maedn": 1.0}
"""The most that one of two players can win, where OpenSpiel says more: three is what one of four wins."""


def facts_type(num_actions: int) -> np.dtype:
    """Return the type of what the rules say of a position, as it crosses to compiled programs: in one run of bytes."""
    fields = [("player", "i1"), ("side", "i1"), ("over", "?"), ("", "u1"), ("score", "<f4")]
    return np.dtype([*fields, ("legal", "u1", (-(-num_actions // 8),))])


class Host:
    """The rules of one game of OpenSpiel.

    A position is the vector of all choices so far, moves and outcomes of chance. The last positions are kept as
    OpenSpiel has them; one that is not is played again from the start, so that keeping changes no answer.
    """

    def __init__(self, name: str, parameters: Mapping[str, Scalar]) -> None:
        self.name = name
        self.game = _load(name, parameters)
        self.num_actions: int = self.game.num_distinct_actions()
        self.num_chance: int = self.game.max_chance_outcomes()
        self.most = _MOST_WON.get(name, max(abs(self.game.min_utility()), abs(self.game.max_utility())))
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

    # --- what compiled programs ask --------------------------------------------------------------------------------
    #
    # Each takes `asked`, int16 [..., H + 1]: the choices so far, -1 after them, and last the side that sees the
    # position, or -1 where nothing is to be said. One array each way, since each more takes as long as a move.

    def facts(self, asked: Any) -> np.ndarray:
        """Say who is to move, what is legal and how it ended: the bytes of `facts_type`, uint8 [..., size]."""
        said = np.zeros(_rows(asked), facts_type(self.num_actions))
        for row, _, state in self._wanted(asked):
            if state.is_terminal():
                said["over"][row], said["score"][row] = True, np.clip(state.returns()[0] / self.most, -1, 1)
                continue
            said["player"][row], said["side"][row] = state.current_player(), _next_side(state)
            if not state.is_chance_node():
                legal = np.zeros(self.num_actions, np.bool_)
                legal[state.legal_actions()] = True
                said["legal"][row] = np.packbits(legal)
        return said.view(np.uint8).reshape(*asked.shape[:-1], said.itemsize)

    def chance(self, asked: Any) -> np.ndarray:
        """Return the probabilities of the outcomes of chance events, float32 [..., C]."""
        probs = np.zeros((_rows(asked), self.num_chance), np.float32)
        for row, _, state in self._wanted(asked):
            for outcome, share in state.chance_outcomes():
                probs[row, outcome] = share
        return probs.reshape(*asked.shape[:-1], self.num_chance)

    def observe(self, asked: Any) -> np.ndarray:
        """Return what a side sees, float32 [..., *shape]."""
        seen = np.zeros((_rows(asked), int(np.prod(self.shape))), np.float32)
        for row, side, state in self._wanted(asked):
            seen[row] = state.observation_tensor(side)
        return seen.reshape(*asked.shape[:-1], *self.shape)

    def _wanted(self, asked: Any) -> Iterator[tuple[int, int, Any]]:
        """Yield the rows, counted through all leading axes, of which something is to be said: row, side and state."""
        rows = np.asarray(asked).reshape(_rows(asked), -1)
        for row in np.flatnonzero(rows[:, -1] >= 0).tolist():
            history = rows[row, :-1]
            yield row, int(rows[row, -1]), self.find(history[: np.count_nonzero(history >= 0)])


def _rows(asked: Any) -> int:
    """Count the positions that are asked about."""
    return int(np.prod(asked.shape[:-1], dtype=np.int64))


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

    for key, value in parameters.items():
        most = _POWERS.get(key, LARGEST_PARAMETER)
        if not isinstance(value, str) and abs(value) > most:
            raise BadInput(f"open_spiel:{name} cannot be played with {key}={value}: {most:,} is the most")
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
