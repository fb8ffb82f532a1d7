"""The protocol of NBoard, version 2, for Othello on 8 x 8 squares.

Evaluations are in discs, for the side to move. Lines that cannot be understood are ignored. An illegal game or move
is answered by a status, and the last legal position stays.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from beamzero.core.errors import BadInput
from beamzero.engines.game import ProtocolGame
from beamzero.engines.wire import ProtocolEngine, Send
from beamzero.games import State
from beamzero.games.othello.game import Othello
from beamzero.players import Player
from beamzero.players.analysis import list_moves, move_names
from beamzero.search.drive import Snapshot, Timer, Watch, no_watch
from beamzero.search.limit import MAX_DEPTH, Limit

_WAITING = "waiting"
_SQUARES = 64
_PASS = "PA"
_TAG = re.compile(r"([A-Z]+)\[([^\]]*)\]")


class NBoardEngine(ProtocolEngine):
    """Searches positions of the game on NBoard's board. NBoard, not the engine, plays the moves there."""

    def __init__(self, player: Player, name: str, send: Send, seed: int = 0) -> None:
        super().__init__(player, send, seed)
        assert isinstance(player.game, Othello)
        self.game, self.name = player.game, name
        self.played = ProtocolGame(self.game)
        self.depth: int | None = None

    def warm_up(self) -> None:
        for state in ProtocolGame(self.game).warm_up():
            self.player.warm_up(state, self.warm_up_key)

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

    # --- commands ----------------------------------------------------------------------------------------------------

    def _nboard(self, rest: str) -> None:
        self.send(f"set myname beamzero {self.name}")

    def _set(self, rest: str) -> None:
        what, _, value = rest.partition(" ")
        if what == "game":
            played = read_ggf(self.game, value)
            self.stop()
            self.played = played
        elif what == "depth":
            self.depth = _whole(value, 1, MAX_DEPTH)

    def _move(self, rest: str) -> None:
        self.stop()
        play_ggf_move(self.played, rest)

    def _ping(self, rest: str) -> None:
        """Answer pong when the search that runs has ended, since no result of it may come after the pong."""
        self.stop()
        self.later(lambda: self.send(f"pong {rest}"))

    def _go(self, rest: str) -> None:
        self._think(self._choose)

    def _hint(self, rest: str) -> None:
        number = _whole(rest or "1", 1, _SQUARES)
        self._think(lambda state, timer: self._evaluate(state, timer, number))

    def _analyze(self, rest: str) -> None:
        states = [state for state in self.played.states if not bool(self.game.over(state))]
        self._think(lambda state, timer: self._look_back(states, timer))

    def _learn(self, rest: str) -> None:
        self.send("learned")

    # --- searches ----------------------------------------------------------------------------------------------------

    def _think(self, job: Callable[[State, Timer], None]) -> None:
        """Run `job` on the position on the board, with a status before and after it."""
        if self.played.over:
            raise BadInput(f"the game is over: {self.game.outcome_reason(self.played.state)}")
        state, timer = self.played.state, Timer()

        def run() -> None:
            self._status("thinking")
            try:
                job(state, timer)
                self._status(_WAITING)
            except Exception as error:  # the conversation goes on
                self._status(f"{type(error).__name__}: {error}")

        self.begin(timer, run)

    def _consider(
        self, state: State, timer: Timer, depth: int | None, watch: Watch = no_watch, player: Player | None = None
    ) -> Snapshot:
        """Search under the agent's own limit, and no deeper than `depth`."""
        player = player or self.player
        limit = Limit(depth=depth).within(player.limit)
        return player.consider(state, self.draw_key(), limit or None, timer, watch)

    def _choose(self, state: State, timer: Timer) -> None:
        found = self._consider(state, timer, self.depth, self._tell_nodes)
        move = write_ggf_move(self.game.action_name(state, found.action))
        self.send(f"=== {move}/{self._discs(found.value):.2f}/{timer.elapsed:.2f}")

    def _tell_nodes(self, found: Snapshot) -> None:
        self.send(f"nodestats {found.nodes} {found.seconds:.2f}")

    def _evaluate(self, state: State, timer: Timer, number: int) -> None:
        """Send the best line as it is found, then the next best moves."""

        def tell(found: Snapshot) -> None:
            self._tell_line(state, found.line, found.value, _depth(found))

        best = self._consider(state, timer, self.depth, tell)
        if number == 1 or timer.stopped:
            return
        every = self._consider(state, timer.again(), _depth(best), player=self.player.with_every_move())
        ranked = list_moves(self.game, state, every.result, first=every.action)
        others = [move for move in ranked if move.action != best.action and math.isfinite(move.value)]
        for move in others[: number - 1]:
            self._tell_line(state, [move.action], move.value, _depth(best))

    def _tell_line(self, state: State, line: Sequence[int], value: float, depth: int) -> None:
        moves = "".join(write_ggf_move(name) for name in move_names(self.game, state, list(line)))
        self.send(f"search {moves} {self._discs(value):.2f} 0 {depth}")

    def _look_back(self, states: Sequence[State], timer: Timer) -> None:
        """Send the value of each position of the game, the last one first."""
        for number in reversed(range(len(states))):
            if timer.stopped:
                return
            found = self._consider(states[number], timer.again(), self.depth)
            self.send(f"analysis {number} {self._discs(found.value):.2f}")

    def _discs(self, value: float) -> float:
        """Convert a value of [-1, 1] to discs: the inverse of ``tanh(point * points / 2)``."""
        discs = 2 * math.atanh(max(-0.999999, min(0.999999, value))) / self.game.point
        return max(-float(_SQUARES), min(float(_SQUARES), discs)) + 0.0


def _depth(found: Snapshot) -> int:
    return min(MAX_DEPTH, found.depth or len(found.line))


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


# --- games in GGF, as NBoard sends them: (;GM[Othello]BO[8 ---...--- *]B[F5//1.2]W[F6];) ------------------------------


def read_ggf(game: Othello, text: str) -> ProtocolGame:
    """Read a game in GGF; BadInput where it has no board or a move is illegal."""
    tags = _TAG.findall(text)
    boards = [value for tag, value in tags if tag == "BO"]
    if len(boards) != 1:
        raise BadInput(f"{text[:80]!r} is no game of Othello: it needs one board, BO[8 ...]")
    played = ProtocolGame(game, game.read_position(_position(game, boards[0])))
    for tag, value in tags:
        if tag in ("B", "W"):
            if played.side != "BW".index(tag):
                raise BadInput(f"{tag}[{value}] is out of turn")
            play_ggf_move(played, value)
    return played


def _position(game: Othello, board: str) -> str:
    """Translate a board such as ``8 --*O...  *`` into the game's own notation."""
    size, *rest = board.split() or [""]
    squares = "".join(rest).replace("*", "X")
    if size != str(game.size) or len(squares) != game.size**2 + 1:
        raise BadInput(f"{board[:80]!r} is no board of {game.size} x {game.size} squares and a side to move")
    return f"{squares[:-1]} {squares[-1]}"


def play_ggf_move(played: ProtocolGame, text: str) -> None:
    """Play a move such as ``F5/0.5/1.2``; its evaluation and time are ignored."""
    name = text.split("/")[0].strip()
    played.play("pass" if name.upper() in (_PASS, "PASS", "--") else name)


def write_ggf_move(name: str) -> str:
    """Return the name in GGF of the move that the game calls `name`."""
    return _PASS if name == "pass" else name.upper()
