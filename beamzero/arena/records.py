"""Games as they were played, move by move: how they are kept, made from a battle, and followed again."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from beamzero.arena.battle import Battle
from beamzero.errors import BadInput
from beamzero.games import Game, State, make_game
from beamzero.players.analysis import step

PASS = "pass"
"""What games call it that have it."""


@dataclasses.dataclass(frozen=True)
class GameRecord:
    """One game. Moves are what the game itself calls them, from the first one on."""

    game: str
    """Its spec, such as connect_four:rows=7."""
    moves: tuple[str, ...]
    players: tuple[str, str] = ("", "")
    """Who moved first, and who second; empty where nobody knows."""
    result: float | None = None
    """For the one who moved first: 1, 0 or -1, or points; None where the game was not finished."""
    start: str | None = None
    """Where it began, in the game's notation for positions; None for where every game of it begins."""
    random_plies: int = 0
    """How many of the first moves were drawn at random and say nothing about the players."""
    date: str = ""
    """The day, as 2026-01-31."""

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def result_text(result: float | None) -> str:
    """As in chess: 1-0, 0-1 or 1/2-1/2, and * where the game was not finished."""
    return "*" if result is None else "1-0" if result > 0 else "0-1" if result < 0 else "1/2-1/2"


def read_result(text: str) -> float | None:
    """What `result_text` wrote; None for anything else."""
    return {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}.get(text)


def today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


# --- made from games -------------------------------------------------------------------------------------------------


def record_of(
    game: Game, actions: Sequence[int], players: tuple[str, str], start: str | None = None, random_plies: int = 0
) -> GameRecord:
    """The record of the legal `actions`, played from the first position of the game or from `start`."""
    state, names = first_state(game, start), []
    for action in actions:
        names.append(game.action_name(state, action))
        state = step(game, state, action)
    result = float(game.score(state)) if bool(game.over(state)) else None
    return GameRecord(game.spec, tuple(names), players, result, start, random_plies, today())


def records_of(game: Game, battle: Battle) -> Iterator[GameRecord]:
    """The games of a battle, pair by pair: the same opening with either player moving first."""
    assert battle.moves is not None
    one, other = battle.agents
    by_opening = battle.moves.reshape(2, -1, battle.moves.shape[1]).swapaxes(0, 1)
    for pair, scores in zip(by_opening, battle.pair_scores, strict=True):
        for seat, (players, moves) in enumerate(zip(((one, other), (other, one)), pair, strict=True)):
            actions = moves[: int(np.sum(moves >= 0))].tolist()
            record = record_of(game, actions, players, random_plies=battle.random_plies)
            if record.result is None:  # one of them gave up, or it was cut
                result = float(2 * scores[seat] - 1) * (1 - 2 * seat)
                record = dataclasses.replace(record, result=result)
            yield record


# --- followed again --------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Followed:
    """A record that was found to be legal."""

    record: GameRecord
    game: Game
    states: list[State]
    """Every position, from the first one to the last: one more than there are moves."""
    actions: list[int]

    @property
    def over(self) -> bool:
        return bool(self.game.over(self.states[-1]))

    def play(self, action: int) -> None:
        self.actions.append(action)
        self.states.append(step(self.game, self.states[-1], action))

    def pass_where_one_must(self) -> None:
        """Make the passes that people leave out when they write a game down, since they are no choice."""
        while len(legal := self.game.legal_actions(self.states[-1])) == 1:
            if self.game.action_name(self.states[-1], legal[0]) != PASS:
                break
            self.play(legal[0])


def first_state(game: Game, start: str | None = None) -> State:
    return game.init(jax.random.key(0)) if start is None else game.read_position(start)


def follow(record: GameRecord, called: str = "", game: Game | None = None) -> Followed:
    """Play the moves of a record again; BadInput names the game (as `called`), the move's number and the move.

    `game` are the rules where they are at hand: then what the record says of its game is not looked at.
    """
    prefix = f"{called}: " if called else ""
    try:
        game = make_game(record.game) if game is None else game
        if game.num_chance:
            raise BadInput(f"{game.name} has chance events, whose games cannot be followed yet")
        if game.hidden and record.start is None:
            raise BadInput(f"games of {game.name} cannot be followed: the record does not say how the cards were dealt")
        followed = Followed(record, game, [first_state(game, record.start)], [])
    except BadInput as error:
        raise BadInput(f"{prefix}{error}") from None
    for number, move in enumerate(record.moves, 1):
        if move != PASS:
            followed.pass_where_one_must()
        followed.states[-1] = game.play_on(followed.states[-1])  # nobody claimed the draw
        try:
            action = game.parse_action(followed.states[-1], move)
        except BadInput as error:
            raise BadInput(f"{prefix}move {number}: {error}") from None
        followed.play(action)
    if record.result is not None:
        followed.pass_where_one_must()
    return followed
