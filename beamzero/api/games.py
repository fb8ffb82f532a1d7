"""Games that were played, from Python: between two agents, or read from a file; shown, reviewed and saved."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import jax
import jax.numpy as jnp
import numpy as np

from beamzero.api.objects import AnyAgent, AnyGame, as_player, as_players, known_game
from beamzero.api.progress import counting, phases
from beamzero.cli.terminal.playthrough import Playthrough
from beamzero.core.compiler import keep_compiled_code
from beamzero.core.tables import TextTable
from beamzero.games import Game
from beamzero.games.position import Position
from beamzero.games.views import side_names
from beamzero.players import Player
from beamzero.players.player import FORFEIT, batch_of_one
from beamzero.plots.measures import draw_review
from beamzero.records.files import add_records, check_format, read_records
from beamzero.records.record import Followed, move_text, replay_record, today, write_result
from beamzero.records.review import REVIEW_TITLES, Review, review

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class PlayedGame(Sequence[Position]):
    """A game that was played: a sequence of its positions, the first one before any move.

    >>> import beamzero as bz
    >>> played = bz.play_game("lookahead:2", "random", game="tic_tac_toe")
    >>> played.players, len(played) == len(played.moves) + 1, played[-1].over
    (('lookahead:2', 'random'), True, True)
    """

    def __init__(self, followed: Followed) -> None:
        self._followed = followed

    @property
    def game(self) -> Game:
        """Give the rules."""
        return self._followed.game

    @property
    def players(self) -> tuple[str, str]:
        """Name the players of the first and the second side; empty where they are not known."""
        return self._followed.record.players

    @property
    def moves(self) -> tuple[str, ...]:
        """List the moves; an outcome of chance follows its move after a colon, as in ``6/5:4-2``."""
        return tuple(map(self._move, range(len(self._followed.actions))))

    @property
    def result(self) -> float | None:
        """Give the result for the first side, from -1 to 1; None where the game was not finished."""
        last = self[-1]
        return last.score if last.over else self._followed.record.result

    @property
    def reason(self) -> str | None:
        """Say why the game ended as it did; None where it was not finished."""
        return self[-1].reason

    def __len__(self) -> int:
        return len(self._followed.states)

    @overload
    def __getitem__(self, ply: int) -> Position: ...

    @overload
    def __getitem__(self, ply: slice) -> Sequence[Position]: ...

    def __getitem__(self, ply: int | slice) -> Position | Sequence[Position]:
        if isinstance(ply, slice):
            return [self._position(number) for number in range(len(self))[ply]]
        return self._position(range(len(self))[ply])

    def __iter__(self) -> Iterator[Position]:
        return map(self._position, range(len(self)))

    def review(self, agent: AnyAgent, *, seed: int = 0, progress: bool = True) -> GameReview:
        """Let an agent evaluate every position: which moves were mistakes, and what would have been better."""
        keep_compiled_code()
        player = as_player(agent, self.game)
        with phases("reviewing", progress) as on_phase:
            found = review(self._followed, player, jax.random.key(seed), counting("reviewing", on_phase))
        return GameReview(self, player.name, found)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Add the game at the end of a file of games: .pgn (chess), .txt (a line of moves) or .jsonl (any game)."""
        place = Path(path)
        check_format(place, self.game.spec, self._followed.record.start)
        add_records(place, [self._followed.record])
        return place

    def as_dict(self) -> dict[str, Any]:
        """Give the game as plain data, as a line of a .jsonl file holds it."""
        return self._followed.record.as_json()

    def _move(self, number: int) -> str:
        followed = self._followed
        name = followed.game.action_name(followed.states[number], followed.actions[number])
        return move_text(name, followed.thrown[number] if followed.thrown else "")

    def _position(self, ply: int) -> Position:
        return Position(self.game, self._followed.states[ply], tuple(map(self._move, range(ply))))

    def _names(self) -> tuple[str, str]:
        first, second = (name or side for name, side in zip(self.players, self._sides(), strict=True))
        return first, second

    def _sides(self) -> Sequence[str]:
        return side_names(self.game.view(self._followed.states[0]))

    def _title(self) -> str:
        return " v ".join(self._names())

    def _ending(self) -> str:
        return " ".join(filter(None, (write_result(self.result), self.reason)))

    def _score_sheet(self) -> str:
        """Write the moves as people do, with a number for each move of the first side."""
        words: list[str] = []
        for number, (position, move) in enumerate(zip(self, self.moves, strict=False)):
            side = int(self.game.player(position.state))
            before = None if number == 0 else int(self.game.player(self._followed.states[number - 1]))
            if side == 0 and before != 0:
                words.append(f"{sum(word.endswith('.') for word in words) + 1}.")
            words.append(move)
        return " ".join(words)

    def __repr__(self) -> str:
        parts = (f"{self.game.spec}: {self._title()}", self._score_sheet(), "", repr(self[-1]), "", self._ending())
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        table = TextTable((self._title(),), [(self._score_sheet(),), (self._ending(),)])
        side = f'<div style="max-width:28em">{table.to_html()}</div>'
        board = self[-1].to_svg(size=320)
        return f'<div style="display:flex;gap:2em;align-items:center">{board}{side}</div>'


class GameReview:
    """An agent's view of a game, move by move: values, what it would have played, and which moves were mistakes."""

    def __init__(self, played: PlayedGame, agent: str, found: Review) -> None:
        self.played, self.agent, self.found = played, agent, found

    @property
    def mistakes(self) -> list[str]:
        """List the moves that cost much, such as "12 d??"; "?" is a mistake, "??" a blunder."""
        return [f"{move.number} {move.move}{move.mark}" for move in self.found.moves if move.mark]

    def as_dicts(self) -> list[dict[str, Any]]:
        """Give a dict for each move, ready for a DataFrame. Values are those of the first side."""
        return self.found.as_dicts()

    def plot(self) -> Figure:
        """Draw who was ahead at each move; mistakes are named."""
        played = self.played
        return draw_review(self.found, f"{played.game.spec}: {played._title()}", self.agent, played._names())

    def _table(self) -> TextTable:
        rows = [
            (
                f"{row['number']}. {row['move']}{row['mark']}",
                f"{row['value']:+z.2f}",
                f"{row['value_after']:+z.2f}",
                row["best"] if row["mark"] else "",
            )
            for row in self.as_dicts()
        ]
        first = self.played._names()[0]
        return TextTable(REVIEW_TITLES, rows, [f"values for {first} as {self.agent} sees them"])

    def __repr__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().to_html()


def play_game(
    first: AnyAgent,
    second: AnyAgent,
    *,
    game: AnyGame | None = None,
    moves: str | Sequence[str] = (),
    start: str | None = None,
    seed: int = 0,
    progress: bool = True,
) -> PlayedGame:
    """Let two agents play one game, after `moves` or from the position `start` in the game's notation.

    >>> import beamzero as bz
    >>> bz.play_game("lookahead:3", "random", game="tic_tac_toe", moves="b2 a1").moves[:2]
    ('b2', 'a1')
    """
    keep_compiled_code()
    rules, players = as_players((first, second), game)
    shown = Playthrough(rules, seed, start, lambda state, thrown: None)
    shown.set_up(moves.replace(",", " ").split() if isinstance(moves, str) else moves)
    title, given_up = f"{players[0].name} v {players[1].name}", None
    with phases(title, progress) as on_phase:
        while (side := shown.to_move) is not None and given_up is None and len(shown.moves) < rules.max_plies:
            on_phase(title, len(shown.moves), rules.max_plies)
            action = _choose(players[side], shown)
            if action == FORFEIT:
                given_up = side
            else:
                shown.play(action)
    followed = shown.followed()
    result = float(rules.score(shown.state)) if shown.over else None if given_up is None else 2.0 * given_up - 1
    names = players[0].name, players[1].name
    record = dataclasses.replace(followed.record, players=names, result=result, start=shown.start, date=today())
    return PlayedGame(dataclasses.replace(followed, record=record))


def _choose(player: Player, shown: Playthrough) -> int:
    """Ask a player for its move in the last position of a game."""
    states, mask, key = batch_of_one(shown.state), jnp.ones(1, bool), shown.draw_key()
    if not player.follows_moves:
        return int(player.choose(states, mask, key)[0])
    moves = np.array([shown.followed().actions], np.int32)
    return int(player.choose_after(states, mask, key, moves)[0])


def read_games(path: str | os.PathLike[str], game: AnyGame | None = None) -> list[PlayedGame]:
    """Read the games of a file that `PlayedGame.save`, ``beamzero battle --save`` or another program has written.

    A file of plain lines of moves does not say its game, and a game of yours is not found by its name: give `game`.

    >>> import beamzero as bz
    >>> path = bz.play_game("lookahead:2", "random", game="tic_tac_toe").save(f"{folder}.jsonl")
    >>> len(bz.read_games(path))
    1
    """
    place, named = Path(path), None if game is None else known_game(game)
    records = read_records(place, None if named is None else named.spec)
    return [
        PlayedGame(replay_record(record, f"{place}: game {number}", named=named))
        for number, record in enumerate(records, 1)
    ]
