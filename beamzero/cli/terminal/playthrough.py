"""A game while it is played: its positions, its moves and what chance decided. Nothing is printed here."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.games.chance import parse_outcome
from beamzero.players.analysis import step
from beamzero.records.record import (
    Followed,
    GameRecord,
    first_state,
    has_notation,
    is_chance,
    move_text,
    nothing_to_decide,
    resolve,
    split_move,
)


@dataclasses.dataclass(frozen=True, eq=False)
class Turn:
    """A position in which a side has to choose, and its move; the last turn of a game has no move yet."""

    state: State
    side: int | None
    """The side to move; None once the game is over."""
    move: str = ""
    thrown: str = ""
    """The outcome of chance after the move, such as ``4-2``; empty where chance has no say."""


class Playthrough:
    """Games of one kind, one after the other. Each begins at `position`, or where the game does (None).

    `on_roll` is called with the state and the outcome's name when chance has decided. The same seed gives the same dice
    and deals.
    """

    def __init__(self, game: Game, seed: int, position: str | None, on_roll: Callable[[State, str], None]) -> None:
        self.game, self.position, self._on_roll = game, position, on_roll
        self._key = jax.random.key(seed)
        self._games = 0
        self.turns: list[Turn] = []
        self.begin()

    @property
    def state(self) -> State:
        return self.turns[-1].state

    @property
    def to_move(self) -> int | None:
        """The side to move; None once the game is over."""
        return self.turns[-1].side

    @property
    def over(self) -> bool:
        return self.to_move is None

    @property
    def moves(self) -> list[str]:
        """The moves so far, as records write them."""
        return [move_text(turn.move, turn.thrown) for turn in self.turns[:-1]]

    @property
    def start(self) -> str | None:
        """The first position, as records write it; None where all games of this kind begin alike."""
        alike = not (self.game.hidden or self.game.num_chance) or not has_notation(self.game)
        return self.position if self.position or alike else self.game.write_position(self.turns[0].state)

    @property
    def before_last(self) -> State | None:
        """The position before the last side's moves: before the first one where it moved several times running."""
        *earlier, _ = self.turns
        moved = [turn.state for turn in itertools.takewhile(lambda t: t.side == earlier[-1].side, reversed(earlier))]
        return moved[-1] if moved else None

    def followed(self) -> Followed:
        """Return the game so far in the form that a review reads."""
        actions = [self.game.parse_action(turn.state, turn.move) for turn in self.turns[:-1]]
        record = GameRecord(self.game.spec, tuple(self.moves))
        thrown = [turn.thrown for turn in self.turns[:-1]]
        return Followed(record, self.game, [turn.state for turn in self.turns], actions, thrown)

    def draw_key(self) -> Array:
        """Return the random key of this position: another one for each game and each position in it."""
        return jax.random.fold_in(jax.random.fold_in(self._key, self._games), len(self.turns))

    def begin(self) -> None:
        """Begin a new game."""
        self._games += 1
        self.turns = []
        first = self.game.init(self.draw_key()) if self.position is None else first_state(self.game, self.position)
        self._arrive(first)

    def set_up(self, moves: Sequence[str], first: State | None = None) -> None:
        """Play `moves`, written as in records, for both sides, from `first` where it is given.

        BadInput names the number of a move that cannot be played. Dice are thrown where a move does not say how they
        fell.
        """
        if first is not None:
            self.turns = []
            self._arrive(first)
        for number, move in enumerate(moves, 1):
            try:
                name, thrown = split_move(self.game, move)
                self.play(self.game.parse_action(self.state, name), thrown)
            except BadInput as error:
                raise BadInput(f"move {number}: {error}") from None

    def read_moves(self, text: str) -> list[int]:
        """Read the action that `text` names, or several of one turn where a side moves more than once: ``8/5 6/5``."""
        words, side = text.split(), self.to_move
        if len(words) < 2 or self.over:
            return [self.game.parse_action(self.state, text)]
        try:
            return [self.game.parse_action(self.state, text)]
        except BadInput:
            state, actions = self.state, list[int]()
            for word in words:
                if bool(self.game.over(state)) or int(self.game.player(state)) != side:
                    raise BadInput(f"{word!r} is one move too many: the turn is over before it") from None
                actions.append(self.game.parse_action(state, word))
                state = step(self.game, state, actions[-1])
            return actions

    def play(self, action: int, thrown: str = "") -> None:
        """Make a legal move for the side to move; the dice then fall as `thrown` says, or at random."""
        turn = self.turns[-1]
        after = step(self.game, turn.state, action)
        if thrown and not is_chance(self.game, after):
            raise nothing_to_decide(thrown)
        outcome = parse_outcome(self.game, after, thrown) if thrown else None
        self.turns[-1] = dataclasses.replace(turn, move=self.game.action_name(turn.state, action))
        self._arrive(after, outcome)

    def _arrive(self, state: State, outcome: int | None = None) -> None:
        """Add a turn for `state`, after chance has decided where it is to: `outcome`, or one drawn at random."""
        if is_chance(self.game, state):
            if outcome is None:
                _, key = jax.random.split(self.draw_key())  # an agent has drawn its move with the key itself
                outcome = int(jax.random.categorical(key, jnp.log(self.game.chance(state))))
            thrown = self.game.outcome_name(state, outcome)
            state = resolve(self.game, state, outcome)
            if self.turns:
                self.turns[-1] = dataclasses.replace(self.turns[-1], thrown=thrown)
            self._on_roll(state, thrown)
        self.turns.append(Turn(state, None if bool(self.game.over(state)) else int(self.game.player(state))))

    def undo(self, is_person: Callable[[int], bool]) -> bool:
        """Go back to before the last move of a side for which `is_person`. Returns False where there is none."""
        for number, turn in reversed(list(enumerate(self.turns[:-1]))):
            if turn.side is not None and is_person(turn.side):
                self.turns[number:] = [dataclasses.replace(turn, move="", thrown="")]
                return True
        return False
