"""One game in play: its moves, its seats, its clock and how it ended. It knows no network, no time and no agents.

Callers pass the time, so that clocks can be tested without waiting. The side to move and whether the game is over are
plain values: reading them calls no rules, so the event loop may do it. All else that asks the rules is done in the
worker thread.
"""

from __future__ import annotations

import dataclasses
import random
import secrets
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from beamzero.core.errors import BadInput
from beamzero.games import OPEN, Game, State
from beamzero.players.analysis import step
from beamzero.records.pgn import VARIANTS
from beamzero.records.record import Followed, GameRecord, is_chance, move_text, replay_record, resolve, today
from beamzero.web.offers import HUMAN_SEAT

RESIGNED, ON_TIME = "resigned", "time"


@dataclasses.dataclass
class GameClock:
    """Seconds that each side has left. `since` is when the one that runs was started; None where none runs."""

    left: list[float]
    increment: float
    past: list[list[float]] = dataclasses.field(default_factory=list)
    """Seconds of both sides before each move, to give back where it is taken back."""
    since: float | None = None

    def now(self, side: int | None, now: float) -> list[float]:
        """Return the seconds that both have left at `now`, when `side` is to move."""
        since = self.since  # once: it may be stopped in another thread
        used = 0.0 if since is None else now - since
        return [max(0.0, left - used) if one == side else left for one, left in enumerate(self.left)]


@dataclasses.dataclass
class GameSession:
    """A game in play."""

    id: str
    client: str
    """The browser that it belongs to."""
    name: str
    """The game's name among clients."""
    followed: Followed
    seats: list[str]
    """HUMAN_SEAT or an agent's id, for each side."""
    clock: GameClock | None = None
    ending: tuple[str, int] | None = None
    """Why it ended before the rules ended it, and the side that lost by it."""
    paused: bool = False
    moves: list[str] = dataclasses.field(init=False)
    """The moves so far, as the game names them."""
    _by_rules: int | None = dataclasses.field(init=False)
    """The side to move by the rules; None where they ended the game."""

    def __post_init__(self) -> None:
        # As the game names them, however they were written.
        made = zip(self.followed.states, self.followed.actions, self.followed.thrown, strict=False)
        self.moves = [move_text(self.game.action_name(state, action), thrown) for state, action, thrown in made]
        self._ask_rules()

    def _ask_rules(self) -> None:
        """Note which side is to move in the last position."""
        self._by_rules = None if self.followed.over else int(self.game.player(self.state))

    @classmethod
    def open(cls, id: str, client: str, name: str, game: Game, stored: dict[str, Any], now: float) -> GameSession:
        """Make a session of the data that is kept on disk; BadInput where they are of no legal game."""
        if game.hidden and game.num_chance:
            raise BadInput(f"{game.name} hides what chance decides, which the page would show")
        if game.hidden and list(stored["seats"]) == [HUMAN_SEAT, HUMAN_SEAT]:
            raise BadInput(f"two people cannot play {game.name} at one screen: each would see what is hidden from them")
        start = stored.get("start")
        if start is None and (game.num_chance or game.hidden):  # games of it do not begin alike
            # All 64 bits of a key: with fewer, a person who sees a part of the deal could find the rest by trying.
            key = jax.random.wrap_key_data(jnp.array([secrets.randbits(32) for _ in range(2)], jnp.uint32))
            start = game.write_position(game.init(key))
        record = GameRecord(game.spec, tuple(stored.get("moves", ())), start=start)
        followed = replay_record(record, game=game)
        followed.states[:] = [jax.device_get(state) for state in followed.states]
        clock = stored.get("clock")
        session = cls(
            id, client, name, followed, list(stored["seats"]),
            GameClock(list(clock["left"]), clock["increment"], clock.get("past", [])) if clock else None,
            (stored["ending"][0], stored["ending"][1]) if stored.get("ending") else None, bool(stored.get("paused")),
        )  # fmt: skip
        if session.clock is not None:
            missing = session.ply - len(session.clock.past)
            session.clock.past += [list(session.clock.left) for _ in range(missing)]
        session.start_clock(now)
        return session

    def as_json(self, now: float) -> dict[str, Any]:
        """Return the plain data from which `open` makes the session again."""
        clock = self.clock and {
            "left": self.clock.now(self.to_move, now), "increment": self.clock.increment, "past": self.clock.past,
        }  # fmt: skip
        return {
            "moves": list(self.moves), "start": self.followed.record.start, "seats": self.seats, "clock": clock,
            "ending": self.ending and list(self.ending), "paused": self.paused,
        }  # fmt: skip

    # --- the state of the game ---------------------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        return self.followed.game

    @property
    def state(self) -> State:
        return self.followed.states[-1]

    @property
    def ply(self) -> int:
        return len(self.followed.actions)

    @property
    def over(self) -> bool:
        return self.ending is not None or self._by_rules is None

    @property
    def to_move(self) -> int | None:
        """The side to move; None once the game is over."""
        return None if self.ending is not None else self._by_rules

    @property
    def mover(self) -> str | None:
        """The seat to move, HUMAN_SEAT or an agent's id; None once the game is over."""
        side = self.to_move  # once: it may change in another thread
        return None if side is None else self.seats[side]

    @property
    def score(self) -> float:
        """The result for side 0 of a game that is over."""
        return float(2 * self.ending[1] - 1) if self.ending else float(self.game.score(self.state))

    @property
    def secret(self) -> bool:
        """True while a person plays who must not see all cards."""
        return self.game.hidden and not self.over and HUMAN_SEAT in self.seats

    def forbid_while_secret(self, what: str) -> None:
        """Raise BadInput where `what` would show a person cards that they must not see."""
        if self.secret:
            raise BadInput(f"{what}: there are hidden cards, so only once the game is over")

    def reason(self, sides: Sequence[str]) -> str:
        """Say why the game is over."""
        if self.ending is None:
            return self.game.outcome_reason(self.state)
        how, loser = self.ending
        return f"{sides[loser]} resigned" if how == RESIGNED else f"{sides[loser]} ran out of time"

    @property
    def formats(self) -> list[str]:
        """The formats in which the game can be written down now."""
        if self.secret:
            return []
        pgn = self.name.partition(":")[0] in VARIANTS
        return ["jsonl", *(["txt"] if self.followed.record.start is None else []), *(["pgn"] if pgn else [])]

    def record(self, names: Sequence[str]) -> GameRecord:
        self.forbid_while_secret("a game as a file says how the cards were dealt")
        result = self.score if self.over else None
        start = self.followed.record.start
        return GameRecord(self.game.spec, tuple(self.moves), (names[0], names[1]), result, start, 0, today())

    # --- what can be done --------------------------------------------------------------------------------------------

    def play(self, action: int, now: float) -> None:
        """Make a legal move for the side to move."""
        side = self.to_move
        assert side is not None
        if self._flag(now):
            return
        if self.clock is not None:
            self.clock.past.append(list(self.clock.left))
            if self.clock.since is not None:
                self.clock.left[side] = self.clock.now(side, now)[side] + self.clock.increment
        after, thrown = step(self.game, self.state, action), ""
        if is_chance(self.game, after):
            probs = np.asarray(self.game.chance(after), np.float64)
            outcome = random.SystemRandom().choices(range(len(probs)), probs.tolist())[0]
            thrown, after = self.game.outcome_name(after, outcome), resolve(self.game, after, outcome)
        self.moves.append(move_text(self.game.action_name(self.state, action), thrown))
        self.followed.actions.append(action)
        self.followed.thrown.append(thrown)
        self.followed.states.append(jax.device_get(after))
        self._ask_rules()
        self.start_clock(now)

    def play_named(self, move: str, ply: int, now: float) -> None:
        """Make the move that a person named; BadInput where it is not theirs to make, or not legal."""
        if self.over:
            raise BadInput("the game is over")
        if ply != self.ply:
            raise BadInput(f"that was move {ply + 1}, but the game is at move {self.ply + 1}")
        if self.mover != HUMAN_SEAT:
            raise BadInput("it is not your turn")
        self.play(self.game.parse_action(self.state, move), now)

    def undo(self, now: float) -> None:
        """Go back to before the last move of a person; BadInput where there is none."""
        if self.game.hidden:
            raise BadInput("cards that were seen cannot be taken back")
        sides = [int(self.game.player(state)) for state in self.followed.states[: self.ply]]
        mine = [ply for ply, side in enumerate(sides) if self.seats[side] == HUMAN_SEAT]
        if not mine:
            raise BadInput("there is no move of yours to take back")
        for kept in (self.moves, self.followed.actions, self.followed.thrown):
            del kept[mine[-1] :]
        del self.followed.states[mine[-1] + 1 :]
        self._ask_rules()
        self.ending = None
        if self.clock is not None:
            self.clock.left = self.clock.past[mine[-1]]
            del self.clock.past[mine[-1] :]
        self.start_clock(now)

    def resign(self) -> None:
        """Resign for the person to move, or else for the only person."""
        if self.over:
            raise BadInput("the game is over")
        people = [side for side in (0, 1) if self.seats[side] == HUMAN_SEAT]
        if not people:
            raise BadInput("two agents play here: there is nobody to resign")
        self.ending = (RESIGNED, self.to_move if self.to_move in people else people[0])

    def swap(self, now: float) -> None:
        """Exchange the two seats."""
        if self.over:
            raise BadInput("the game is over: begin a new one")
        if self.game.hidden:
            raise BadInput("cards that were seen cannot be unseen: begin a new game to play the other side")
        self.stop_clock(now)
        self.seats.reverse()
        self.start_clock(now)

    def pause(self, paused: bool, now: float) -> None:
        if HUMAN_SEAT in self.seats:
            raise BadInput("only a game between two agents can be paused")
        self.paused = paused
        self.stop_clock(now)
        self.start_clock(now)

    def flag(self, now: float) -> bool:
        """End the game where the side to move has no time left. Returns True where that has just happened."""
        return not self.over and self._flag(now)

    def _flag(self, now: float) -> bool:
        side = self.to_move
        if self.clock is None or self.clock.since is None or side is None or self.clock.now(side, now)[side] > 0:
            return False
        self.clock.left[side] = 0.0
        self.clock.since = None
        self.ending = (ON_TIME, side)
        return True

    def start_clock(self, now: float) -> None:
        """Let the clock of the side to move run: from the third move of the game on, and unless it is paused."""
        if self.clock is not None:
            self.clock.since = now if self.ply >= 2 and not self.over and not self.paused else None

    def stop_clock(self, now: float) -> None:
        """Take off the time that was used so far, and no more until the clock is started again."""
        if self.clock is not None:
            self.clock.left = self.clock.now(self.to_move, now)
            self.clock.since = None

    # --- what a person may see ---------------------------------------------------------------------------------------

    def state_at(self, ply: int, variation: Sequence[str]) -> State:
        """Return the state after `ply` moves of the game and then a `variation`; BadInput where there is none."""
        if variation:
            self.forbid_while_secret("moves cannot be tried")
        if not 0 <= ply <= self.ply:
            raise BadInput(f"there is no position after {ply} moves: the game has {self.ply}")
        state = self.followed.states[ply]
        for number, move in enumerate(variation, 1):
            try:
                action = self.game.parse_action(state, move)
            except BadInput as error:
                raise BadInput(f"move {number} of the variation: {error}") from None
            state = jax.device_get(step(self.game, state, action))
        return state

    def may_choose(self, state: State) -> bool:
        """Tell whether a person may know the legal moves of a position: where cards are hidden, only of their own."""
        return not self.secret or self.seats[int(self.game.player(state))] == HUMAN_SEAT

    def viewpoint(self, ply: int) -> int:
        """Return the seat from which a position is seen: that from which a person chose last, or is to choose."""
        if not self.secret:
            return OPEN
        side, seen = self.seats.index(HUMAN_SEAT), self.followed.states[: ply + 1]
        own = [state for state in seen if int(self.game.player(state)) == side]
        return int(self.game.seat(own[-1])) if own else side
