"""The protocol of NBoard, version 2, for Othello on 8 x 8 squares.

Evaluations are in discs, for the side to move. Lines that cannot be understood are ignored; a game or move that cannot
be is answered by a status, and the last good position stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from beamzero.engines import ggf
from beamzero.engines.record import Record
from beamzero.engines.wire import Engine, Send
from beamzero.errors import BadInput
from beamzero.games import State
from beamzero.games.othello import Othello
from beamzero.players.analysis import move_names
from beamzero.players.thought import Budget, Thinker, Thought
from beamzero.search.limit import MAX_DEPTH

_WAITING = "waiting"
_SQUARES = 64


class NBoardEngine(Engine):
    """Thinks about the game that NBoard has on its board. NBoard, not the engine, plays the moves there."""

    def __init__(self, thinker: Thinker, name: str, send: Send, seed: int = 0) -> None:
        super().__init__(thinker, send, seed)
        assert isinstance(thinker.game, Othello)
        self.game, self.name = thinker.game, name
        self.record = Record(self.game)
        self.depth: int | None = None

    def warm_up(self) -> None:
        for state in Record(self.game).warm_up():
            self.thinker.warm_up(state, self.warm_up_key)

    def handle(self, line: str) -> bool:
        command, _, rest = line.strip().partition(" ")
        if command == "quit":
            return False
        if command in _COMMANDS:
            try:
                _COMMANDS[command](self, rest.strip())
            except BadInput as error:
                self._status(str(error))
            except Exception as error:  # whatever is wrong, the conversation goes on
                self._status(f"{type(error).__name__}: {error}")
        return True

    def _status(self, text: str) -> None:
        self.send(f"status {' '.join(text.split())[:200]}")

    # --- commands --------------------------------------------------------------------------------------------------

    def _nboard(self, rest: str) -> None:
        self.send(f"set myname beamzero {self.name}")

    def _set(self, rest: str) -> None:
        what, _, value = rest.partition(" ")
        if what == "game":
            record = ggf.read_game(self.game, value)
            self.stop()
            self.record = record
        elif what == "depth":
            self.depth = _whole(value, 1, MAX_DEPTH)

    def _move(self, rest: str) -> None:
        self.stop()
        ggf.play(self.record, rest)

    def _ping(self, rest: str) -> None:
        """What was found of another position must not come after the pong, so it waits for the search to end."""
        self.stop()
        self.later(lambda: self.send(f"pong {rest}"))

    def _go(self, rest: str) -> None:
        self._think(self._choose)

    def _hint(self, rest: str) -> None:
        number = _whole(rest or "1", 1, _SQUARES)
        self._think(lambda state, budget: self._evaluate(state, budget, number))

    def _analyze(self, rest: str) -> None:
        states = [state for state in self.record.states if not bool(self.game.over(state))]
        self._think(lambda state, budget: self._look_back(states, budget))

    def _learn(self, rest: str) -> None:
        self.send("learned")

    # --- thinking --------------------------------------------------------------------------------------------------

    def _think(self, job: Callable[[State, Budget], None]) -> None:
        """Do a job about the position on the board, and say what is being done."""
        if self.record.over:
            raise BadInput(f"the game is over: {self.game.outcome_reason(self.record.state)}")
        state, budget = self.record.state, Budget(depth=self.depth, own_time=True)

        def run() -> None:
            self._status("thinking")
            try:
                job(state, budget)
                self._status(_WAITING)
            except Exception as error:  # the conversation goes on
                self._status(f"{type(error).__name__}: {error}")

        self.begin(budget, run)

    def _choose(self, state: State, budget: Budget) -> None:
        thought = self.thinker.think(state, self.draw_key(), budget, self._tell_nodes)
        move = ggf.write_move(self.game.action_name(state, thought.line[0]))
        self.send(f"=== {move}/{self._discs(thought.value):.2f}/{budget.elapsed:.2f}")

    def _tell_nodes(self, thought: Thought) -> None:
        self.send(f"nodestats {thought.nodes} {thought.seconds:.2f}")

    def _evaluate(self, state: State, budget: Budget, number: int) -> None:
        """The best line as it is found, then the moves after the best one."""

        def tell(thought: Thought) -> None:
            self._tell_line(state, thought.line, thought.value, thought.depth)

        thought = self.thinker.think(state, self.draw_key(), budget, tell)
        if number == 1 or budget.stop.is_set():
            return
        ranked = self.thinker.rank(state, self.draw_key(), Budget(depth=thought.depth, own_time=True, stop=budget.stop))
        others = [(action, value) for action, value in ranked if action != thought.line[0] and math.isfinite(value)]
        for action, value in others[: number - 1]:
            self._tell_line(state, [action], value, thought.depth)

    def _tell_line(self, state: State, line: Sequence[int], value: float, depth: int) -> None:
        moves = "".join(ggf.write_move(name) for name in move_names(self.game, state, list(line)))
        self.send(f"search {moves} {self._discs(value):.2f} 0 {depth}")

    def _look_back(self, states: Sequence[State], budget: Budget) -> None:
        """What each position of the game is worth, the last one first."""
        for number in reversed(range(len(states))):
            if budget.stop.is_set():
                return
            each = Budget(depth=self.depth, own_time=True, stop=budget.stop)
            thought = self.thinker.think(states[number], self.draw_key(), each, lambda thought: None)
            self.send(f"analysis {number} {self._discs(thought.value):.2f}")

    def _discs(self, value: float) -> float:
        """A value of [-1, 1] in discs: the other way round than ``tanh(point * points / 2)``."""
        discs = 2 * math.atanh(max(-0.999999, min(0.999999, value))) / self.game.point
        return max(-float(_SQUARES), min(float(_SQUARES), discs)) + 0.0


def _whole(text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadInput(f"{text[:20]!r} is no whole number")
    return max(low, min(high, int(text)))


_COMMANDS: dict[str, Callable[[NBoardEngine, str], None]] = {
    "nboard": NBoardEngine._nboard,
    "set": NBoardEngine._set,
    "move": NBoardEngine._move,
    "hint": NBoardEngine._hint,
    "go": NBoardEngine._go,
    "ping": NBoardEngine._ping,
    "analyze": NBoardEngine._analyze,
    "learn": NBoardEngine._learn,
}
