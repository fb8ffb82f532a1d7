"""External engines as players: they are asked position by position, in processes of their own.

An engine that dies, hangs or makes an illegal move forfeits that game: it chooses -1 there and is started again, and
`troubles` keeps the reason.
"""

from __future__ import annotations

import dataclasses
import math
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

import jax
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.core.leaving import finalize
from beamzero.core.spec import Spec
from beamzero.games import GAMES, Game, State
from beamzero.players.analysis import step
from beamzero.players.external.gtp import GtpProcess, GtpSettings
from beamzero.players.external.process import EngineTrouble
from beamzero.players.external.uci import Choice, UciProcess, UciSettings
from beamzero.players.options import take
from beamzero.players.player import FORFEIT, Player
from beamzero.search.evaluator import SearchResult

_T = TypeVar("_T")

_MOST_PROCESSES = 64
_GRACE = 20.0
"""Seconds beyond its limit after which an engine counts as hanging."""


class Engine(Protocol):
    """One process of an engine."""

    title: str

    def close(self) -> None: ...

    def kill(self) -> None: ...


class EnginePool:
    """Processes of one engine, each for one position at a time. They end with the pool at the latest."""

    def __init__(self, start: Callable[[], Engine], processes: int) -> None:
        self._start, self.processes = start, processes
        first = start()
        self.title = first.title
        self._running = [first]
        self._idle: queue.LifoQueue[Engine | None] = queue.LifoQueue()
        for engine in (*[None] * (processes - 1), first):  # the others start when they are needed
            self._idle.put(engine)
        self._given_up = False
        finalize(self, _kill_all, self._running)

    def ask(self, question: Callable[[Engine], object]) -> object:
        """Put a question to an engine. After EngineTrouble it is ended, and another one is started when needed."""
        engine = self._idle.get()
        try:
            if self._given_up:
                raise EngineTrouble("was ended")
            engine = engine or self._start_again()
            return question(engine)
        except EngineTrouble:
            if engine is not None:
                engine.close()
                self._running.remove(engine)
            engine = None
            raise
        finally:
            self._idle.put(engine)

    def _start_again(self) -> Engine:
        """Start another process; EngineTrouble where that fails."""
        try:
            engine = self._start()
        except BadInput as error:
            raise EngineTrouble(f"cannot be started again: {error}") from None
        self._running.append(engine)
        return engine

    def give_up(self) -> None:
        """Kill all processes at once, busy ones too; later questions raise EngineTrouble."""
        self._given_up = True
        _kill_all(self._running)

    def close(self) -> None:
        """Close the idle processes."""
        idle = [self._idle.get() for _ in range(self._idle.qsize())]
        for engine in idle:
            if engine is not None:
                engine.close()
                self._running.remove(engine)
            self._idle.put(None)


def _kill_all(engines: list[Engine]) -> None:
    for engine in list(engines):
        engine.kill()


@dataclasses.dataclass(frozen=True, repr=False)
class ExternalPlayer(Player):
    """A player by an external engine, of any protocol."""

    name: str
    game: Game
    command: str
    title: str
    """The engine's own name, with its version."""
    settings: Any
    deterministic: bool
    pool: EnginePool = dataclasses.field(compare=False, repr=False)
    troubles: list[str] = dataclasses.field(default_factory=list, compare=False)
    """Errors of the engine, one for each game that it forfeited."""

    def _answer(self, state: State, moves: Sequence[int] | None) -> int:
        """Ask for the move in one position, after `moves`; EngineTrouble where there is none, or an illegal one."""
        raise NotImplementedError

    def choose(self, states: State, mask: Array, key: Array) -> Array:
        return self._choose(states, mask, None)

    def choose_after(self, states: State, mask: Array, key: Array, moves: np.ndarray) -> Array:
        return self._choose(states, mask, moves)

    def _choose(self, states: State, mask: Array, moves: np.ndarray | None) -> Array:
        """Choose moves, int32 [B], in the rows of `mask` [B]; FORFEIT, with the reason in `troubles`, after errors."""
        host, rows = jax.device_get(states), np.flatnonzero(np.asarray(mask))
        chosen = np.zeros(len(np.asarray(mask)), np.int32)

        def one(row: int) -> int:
            past = None if moves is None else moves[row][moves[row] >= 0].tolist()
            try:
                return self._answer(jax.tree.map(lambda x: x[row], host), past)
            except EngineTrouble as trouble:
                self.troubles.append(f"{self.name} ({self.title}) {trouble}")
                return FORFEIT

        chosen[rows] = self._side_by_side(one, rows.tolist())
        return jax.device_put(chosen)

    def _side_by_side(self, job: Callable[[int], _T], rows: list[int]) -> list[_T]:
        """Do a job for each row, as many at once as there are processes. Returns the results."""
        with ThreadPoolExecutor(self.pool.processes) as threads:
            try:
                return list(threads.map(job, rows))
            except KeyboardInterrupt:  # without waiting for the engines
                threads.shutdown(wait=False, cancel_futures=True)
                self.pool.give_up()
                raise

    def _legal(self, state: State, move: str) -> int:
        """Read a move as an action; EngineTrouble where it is illegal."""
        try:
            return self.game.parse_action(state, move)
        except BadInput:
            raise EngineTrouble(f"made the illegal move {move!r}") from None


class UciPlayer(ExternalPlayer):
    """An engine that speaks UCI. It gets the FEN of a position alone, so it does not know earlier positions."""

    def _answer(self, state: State, moves: Sequence[int] | None) -> int:
        return self._legal(state, self._said(state, 1).move)

    def _said(self, state: State, moves: int) -> Choice:
        """Ask for the best move of a position, and the scores of `moves` moves."""
        fen = self.game.write_position(state)

        def question(engine: Engine) -> Choice:
            assert isinstance(engine, UciProcess)
            return engine.choose(fen, moves)

        said = self.pool.ask(question)
        assert isinstance(said, Choice)
        return said

    def think_batch(self, states: State, key: Array) -> SearchResult:
        """Give the move that the engine would play, and the values of all moves from a second search."""
        host = jax.device_get(states)
        batch = len(jax.tree.leaves(host)[0])
        try:
            rows = self._side_by_side(
                lambda row: self._think_one(jax.tree.map(lambda x: x[row], host)), list(range(batch))
            )
        except EngineTrouble as trouble:
            raise BadInput(f"{self.name} ({self.title}) {trouble}") from None
        return SearchResult(*(jax.device_put(np.stack(part)) for part in zip(*rows, strict=True)))

    def _think_one(self, state: State) -> tuple[Any, ...]:
        """Give the fields of a SearchResult of one position; moves without a score count as the worst."""
        legal = self.game.legal_actions(state)
        chosen, all_moves = self._said(state, 1), self._said(state, len(legal))
        best = self._legal(state, chosen.move)
        pawns = {self._legal(state, move): score for move, score in (all_moves.scores | chosen.scores).items()}
        known = {action: _value(self.game, score) for action, score in pawns.items()}
        values = np.full(self.game.num_actions, -np.inf, np.float32)
        values[legal] = min(known.values(), default=0.0)
        values[list(known)] = list(known.values())
        policy = np.zeros_like(values)
        policy[best] = 1
        proven = np.zeros(values.shape, np.bool_)
        proven[[action for action, score in pawns.items() if math.isinf(score)]] = True
        return np.int32(best), values, policy, values[best], np.int32(max(1, chosen.nodes)), proven


class GtpPlayer(ExternalPlayer):
    """An engine that speaks GTP. It gets all moves of a game, since GTP has no other way to set up a position."""

    follows_moves = True

    def _answer(self, state: State, moves: Sequence[int] | None) -> int:
        if len(legal := self.game.legal_actions(state)) == 1:
            return legal[0]  # perhaps a pass, which not every engine makes
        past = self._history(self._known(moves))
        side = int(self.game.player(state))

        def question(engine: Engine) -> str:
            assert isinstance(engine, GtpProcess)
            return engine.choose(past, side)

        move = str(self.pool.ask(question)).lower()
        if move == "resign":
            raise EngineTrouble("resigned")
        return self._legal(state, move)

    def _known(self, moves: Sequence[int] | None) -> Sequence[int]:
        """Return the moves so far; BadInput where the caller does not know them."""
        if moves is None:
            raise BadInput(f"{self.name} has to be told how a position came about: it plays battles and ratings alone")
        return moves

    def _history(self, moves: Sequence[int]) -> list[tuple[int, str]]:
        """Name the moves of a game, each with the side that made it."""
        state, history = self.game.init(jax.random.key(0)), []
        for action in moves:
            history.append((int(self.game.player(state)), self.game.action_name(state, action)))
            state = step(self.game, state, action)
        return history

    def think_batch(self, states: State, key: Array) -> SearchResult:
        self._known(None)
        raise AssertionError


def _value(game: Game, pawns: float) -> float:
    """Turn a number of pawns into a value, as the game's own evaluation does."""
    return math.tanh(0.5 * game.point * pawns) if math.isfinite(pawns) else math.copysign(1.0, pawns)


# --- from texts ------------------------------------------------------------------------------------------------------


def make_uci(name: str, spec: Spec, game: Game) -> Player:
    """Make a player such as ``uci:stockfish,seconds=0.1``."""
    if not game.speaks_uci:
        known = " and ".join(sorted(name for name in GAMES.built_in if GAMES[name].speaks_uci))
        raise BadInput(f"{name}: UCI is for {known}, not for {game.name}")
    kinds = {
        "command": str, "depth": int, "nodes": int, "seconds": float, "elo": int, "skill": int, "hash": int,
        "set": str, "processes": int,
    }  # fmt: skip
    argument, options = take(spec, name, "command", kinds)
    command = options.get("command", argument) or ""
    limits = [key for key in ("depth", "nodes", "seconds") if key in options]
    if len(limits) != 1:
        raise BadInput(f"{name} needs one limit: depth=N, nodes=N or seconds=S")
    number = options[limits[0]]
    if not 0 < number < 1e9:
        raise BadInput(f"{name}: {limits[0]} is {number:g}, but must be more than 0")
    limit = f"movetime {max(1, round(1000 * number))}" if limits == ["seconds"] else f"{limits[0]} {number}"
    before = [("UCI_LimitStrength", "true"), ("UCI_Elo", str(options["elo"]))] if "elo" in options else []
    before += [
        (title, str(options[key])) for key, title in (("skill", "Skill Level"), ("hash", "Hash")) if key in options
    ]
    settings = UciSettings(
        limit=limit,
        patience=_GRACE + (number if limits == ["seconds"] else 10 * _GRACE),
        options=(*before, *_assignments(name, options.get("set", ""))),
        variant=game.name,
    )
    pool = EnginePool(lambda: UciProcess(command, settings, game.uci_variant), processes_of(name, options))
    weakened = {"elo", "skill", "set"} & set(options)  # whatever else is set may make it play at random
    return UciPlayer(name, game, command, pool.title, settings, limits != ["seconds"] and not weakened, pool)


def make_gtp(name: str, spec: Spec, game: Game) -> Player:
    """Make a player such as ``gtp:gtp-rhino``."""
    argument, options = take(
        spec, name, "command", {"command": str, "set": str, "seconds": float, "processes": int, "random": bool}
    )
    command = options.get("command", argument) or ""
    seconds = options.get("seconds", 10 * _GRACE)
    settings = GtpSettings(
        patience=_GRACE + seconds,
        size=game.gtp_size,
        setup=tuple(part.strip() for part in options.get("set", "").split(";") if part.strip()),
    )
    pool = EnginePool(lambda: GtpProcess(command, settings), processes_of(name, options))
    return GtpPlayer(name, game, command, pool.title, settings, not options.get("random", True), pool)


def processes_of(name: str, options: dict) -> int:
    """Read the number of processes from the options."""
    processes = options.get("processes", 1)
    if not 1 <= processes <= _MOST_PROCESSES:
        raise BadInput(f"{name}: processes is {processes}, but must be 1 to {_MOST_PROCESSES}")
    return int(processes)


def _assignments(name: str, text: str) -> list[tuple[str, str]]:
    """Split a text such as ``Hash=16;Threads=1`` into names and values."""
    pairs = [part.partition("=") for part in text.split(";") if part.strip()]
    for option, equals, _ in pairs:
        if not equals:
            raise BadInput(f"{name}: set has {option.strip()!r}, but must be NAME=VALUE;NAME=VALUE")
    return [(option.strip(), value.strip()) for option, _, value in pairs]
