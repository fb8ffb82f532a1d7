"""Records of games, move by move: how they are kept, made from a battle, and replayed."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from beamzero.arena.battle import Battle
from beamzero.core.errors import BadInput
from beamzero.games import CHANCE, Game, State, make_stored_game
from beamzero.games.chance import NO_OUTCOME, parse_outcome, require_decision
from beamzero.players.analysis import step

_PASS = "pass"
"""The name of a pass in games that have one."""


@dataclasses.dataclass(frozen=True)
class GameRecord:
    """One game. Moves have the names that the game gives them, from the first one on.

    Where chance decides after a move, a colon and the outcome follow it: ``6/5:4-2``.
    """

    game: str
    """Its spec, such as connect_four:rows=7."""
    moves: tuple[str, ...]
    players: tuple[str, str] = ("", "")
    """The players of side 0 and of side 1; empty where they are not known."""
    result: float | None = None
    """The result for side 0: 1, 0 or -1, or points; None where the game was not finished."""
    start: str | None = None
    """The position where it began, in the game's notation; None for the first position of the game."""
    random_plies: int = 0
    """The number of first moves that were drawn at random and say nothing about the players."""
    date: str = ""
    """The day, as 2026-01-31."""

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def write_result(result: float | None) -> str:
    """Write a result as in chess: 1-0, 0-1 or 1/2-1/2, and * where the game was not finished."""
    return "*" if result is None else "1-0" if result > 0 else "0-1" if result < 0 else "1/2-1/2"


def read_result(text: str) -> float | None:
    """Read a text that `write_result` wrote; None for any other."""
    return {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}.get(text)


def today() -> str:
    """Give the day in UTC, as 2026-01-31."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


# --- made from games -------------------------------------------------------------------------------------------------


def record_of(
    game: Game,
    actions: Sequence[int],
    players: tuple[str, str],
    start: str | None = None,
    random_plies: int = 0,
    outcomes: Sequence[int] | None = None,
) -> GameRecord:
    """Make the record of the legal `actions`, played from the first position of the game or from `start`.

    `outcomes` are those of chance after each of them, NO_OUTCOME where there was none.
    """
    state, names = first_state(game, start), []
    for number, action in enumerate(actions):
        outcome = NO_OUTCOME if outcomes is None else outcomes[number]
        after = step(game, state, action)
        thrown = "" if outcome == NO_OUTCOME else game.outcome_name(after, outcome)
        names.append(move_text(game.action_name(state, action), thrown))
        state = after if outcome == NO_OUTCOME else resolve(game, after, outcome)
    result = float(game.score(state)) if bool(game.over(state)) else None
    return GameRecord(game.spec, tuple(names), players, result, start, random_plies, today())


def records_of(game: Game, battle: Battle) -> Iterator[GameRecord]:
    """Yield the games of a battle, pair by pair: the same opening with either player moving first."""
    assert battle.moves is not None
    pairs = len(battle.pair_scores)
    for number, scores in enumerate(battle.pair_scores):
        start, starter = None, 0 if battle.starters is None else int(battle.starters[number])
        if battle.firsts is not None:
            start = game.write_position(jax.tree.map(lambda x, number=number: x[number], battle.firsts))
        for seat, side in enumerate((starter, 1 - starter)):  # of the first-named player
            players = battle.agents if side == 0 else battle.agents[::-1]
            moves = battle.moves[seat * pairs + number]
            actions = moves[: int(np.sum(moves >= 0))].tolist()
            outcomes = None if battle.outcomes is None else battle.outcomes[seat * pairs + number].tolist()
            record = record_of(game, actions, players, start, battle.random_plies, outcomes)
            if record.result is None:  # one of them gave up, or it was cut
                result = float(2 * scores[seat] - 1) * (1 - 2 * side)
                record = dataclasses.replace(record, result=result)
            yield record


def has_notation(game: Game) -> bool:
    """Tell whether positions of a game can be written as text."""
    return type(game).write_position is not Game.write_position


def move_text(name: str, thrown: str) -> str:
    """Write a move as a record does, with the outcome of chance after it, if there is one."""
    return f"{name}:{thrown}" if thrown else name


def split_move(game: Game, move: str) -> tuple[str, str]:
    """Split a move of a record into its name and the outcome of chance after it, empty where there is none."""
    name, _, thrown = move.partition(":") if game.num_chance else (move, "", "")
    return name, thrown


def nothing_to_decide(thrown: str) -> BadInput:
    """Make the error for an outcome of chance where chance is not next."""
    return BadInput(f"chance has nothing to decide after the move, but {thrown!r} follows it")


def is_chance(game: Game, state: State) -> bool:
    """Tell whether chance decides next."""
    return bool(game.num_chance) and not bool(game.over(state)) and int(game.player(state)) == CHANCE


def resolve(game: Game, state: State, outcome: int) -> State:
    """Let chance decide as `outcome` says, by a compiled program."""
    return _resolve(game, state, jnp.int32(outcome))


_resolve = jax.jit(lambda game, state, outcome: game.resolve(state, outcome), static_argnums=0)


# --- replayed --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Followed:
    """A record whose moves were replayed, and are legal."""

    record: GameRecord
    game: Game
    states: list[State]
    """Every position, from the first one to the last: one more than there are moves."""
    actions: list[int]
    thrown: list[str] = dataclasses.field(default_factory=list)
    """The outcome of chance after each move, empty where there was none."""

    @property
    def over(self) -> bool:
        return bool(self.game.over(self.states[-1]))

    def play(self, action: int, thrown: str = "") -> None:
        """Make a move, and let chance decide as `thrown` says where it is to; BadInput where that cannot be."""
        after = step(self.game, self.states[-1], action)
        if is_chance(self.game, after):
            if not thrown:
                raise BadInput("it does not say what chance decided after the move")
            after = resolve(self.game, after, parse_outcome(self.game, after, thrown))
        elif thrown:
            raise nothing_to_decide(thrown)
        self.actions.append(action)
        self.thrown.append(thrown)
        self.states.append(after)

    def play_named(self, move: str) -> None:
        """Make a move as a record writes it."""
        name, thrown = split_move(self.game, move)
        self.play(self.game.parse_action(self.states[-1], name), thrown)

    def pass_where_one_must(self) -> None:
        """Make the passes that people leave out when they write a game down, since they are no choice.

        Not where there are dice: their outcome after a pass is written behind it.
        """
        if self.game.num_chance:
            return
        while len(legal := self.game.legal_actions(self.states[-1])) == 1:
            if self.game.action_name(self.states[-1], legal[0]) != _PASS:
                break
            self.play(legal[0])


def first_state(game: Game, start: str | None = None) -> State:
    """Give the position where a game begins: its first one, or `start` in the game's notation."""
    return game.init(jax.random.key(0)) if start is None else require_decision(game, game.read_position(start))


def replay_record(
    record: GameRecord, called: str = "", game: Game | None = None, named: Game | None = None
) -> Followed:
    """Play the moves of a record again; BadInput names the game (as `called`), the move's number and the move.

    With `game` these are the rules, and those that the record names are ignored. `named` is a game that the person
    named, for records of a game that is a Python file.
    """
    prefix = f"{called}: " if called else ""
    try:
        game = make_stored_game(record.game, named) if game is None else game
        if record.start is None and (game.hidden or game.num_chance) and record.moves:
            how = "how the cards were dealt" if game.hidden else "what was rolled first"
            raise BadInput(f"games of {game.name} cannot be followed: the record does not say {how}")
        followed = Followed(record, game, [first_state(game, record.start)], [])
    except BadInput as error:
        raise BadInput(f"{prefix}{error}") from None
    for number, move in enumerate(record.moves, 1):
        if move != _PASS:
            followed.pass_where_one_must()
        followed.states[-1] = game.play_on(followed.states[-1])  # no player claimed the draw
        try:
            followed.play_named(move)
        except BadInput as error:
            raise BadInput(f"{prefix}move {number}: {error}") from None
    if record.result is not None:
        followed.pass_where_one_must()
    return followed
