"""One position of a game as a value that draws itself: SVG in a notebook, text in a terminal."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from beamzero.core.errors import BadInput
from beamzero.core.registry import load_object
from beamzero.games.chance import parse_outcome, require_decision
from beamzero.games.game import CHANCE, Game, State
from beamzero.games.views import side_names


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Position:
    """A position of a game, and the moves that led to it. Playing a move gives another position.

    >>> import beamzero as bz
    >>> bz.make_game("chess").position("e4 e5").to_move
    'White'
    """

    game: Game
    state: State
    moves: tuple[str, ...] = ()
    """The moves that were played to reach it, from the position where it began."""

    def play(self, *moves: str) -> Position:
        """Play moves by their names, such as "d", or "6/5:4-2" where dice are rolled after the move."""
        position = self
        for number, move in enumerate(moves, 1):
            if not isinstance(move, str):
                raise BadInput(f"play takes the names of moves, not {move!r}: position.legal lists them")
            try:
                position = position._after(move.strip())
            except BadInput as error:
                raise BadInput(f"move {number}: {error}" if len(moves) > 1 else str(error)) from None
        return position

    def _after(self, move: str) -> Position:
        game = self.game
        name, _, thrown = move.partition(":") if game.num_chance else (move, "", "")
        after = game.step(self.state, jnp.int32(game.parse_action(self.state, name)))
        if game.num_chance and not bool(game.over(after)) and int(game.player(after)) == CHANCE:
            if not thrown:
                raise BadInput("it does not say what chance decided after the move")
            after = game.resolve(after, jnp.int32(parse_outcome(game, after, thrown)))
        elif thrown:
            raise BadInput(f"chance has nothing to decide after the move, but {thrown!r} follows it")
        return Position(game, after, (*self.moves, move))

    @property
    def legal(self) -> list[str]:
        """List the names of the legal moves; none once the game is over."""
        return [self.game.action_name(self.state, action) for action in self.game.legal_actions(self.state)]

    @property
    def over(self) -> bool:
        """Tell whether the game has ended."""
        return bool(self.game.over(self.state))

    @property
    def score(self) -> float | None:
        """Give the result for the first side, from -1 to 1; None while the game runs."""
        return float(self.game.score(self.state)) if self.over else None

    @property
    def side(self) -> int | None:
        """Give the side to move, 0 or 1; None once the game is over."""
        return None if self.over else int(self.game.player(self.state))

    @property
    def to_move(self) -> str | None:
        """Name the side to move, as the game's players do; None once the game is over."""
        return None if self.side is None else side_names(self.game.view(self.state))[self.side]

    @property
    def reason(self) -> str | None:
        """Say why the game ended as it did; None while it runs."""
        return self.game.outcome_reason(self.state) if self.over else None

    def to_svg(self, **options: Any) -> str:
        """Draw the board as SVG; `options` are those of `beamzero.drawing.draw_svg`, such as ``size=400``."""
        draw = load_object("beamzero.drawing:draw_svg")  # drawing stands on games, so it is found when it is asked for
        return str(draw(self.game.view(self.state, self._seat), **options))

    @property
    def _seat(self) -> int:
        return 0 if self.over else int(self.game.seat(self.state))

    def _caption(self) -> str:
        return self.reason or f"{self.to_move} to move"

    def __repr__(self) -> str:
        return f"{self.game.show(self.state, self._seat)}\n{self._caption()}"

    def _repr_mimebundle_(self, **_: Any) -> Mapping[str, str]:
        return {"image/svg+xml": self.to_svg(), "text/plain": repr(self)}


def make_position(game: Game, moves: str | Sequence[str] = (), start: str | None = None) -> Position:
    """Play `moves` from the game's first position, or from `start` in its notation, such as a FEN.

    A text holds moves with commas or spaces between them.
    """
    state = game.init(jax.random.key(0)) if start is None else require_decision(game, game.read_position(start))
    words = moves.replace(",", " ").split() if isinstance(moves, str) else list(moves)
    begun = Position(game, state)
    for number, word in enumerate(words, 1):
        try:
            begun = begun.play(word)
        except BadInput as error:
            raise BadInput(f"move {number}: {error}") from None
    return begun
