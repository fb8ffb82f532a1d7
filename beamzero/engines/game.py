"""A game that another program leads by a protocol: its positions so far."""

from __future__ import annotations

from collections.abc import Iterator

import jax

from beamzero.core.errors import BadInput
from beamzero.games import CHANCE, Game, State
from beamzero.players.analysis import step


class ProtocolGame:
    """The positions of a game from the first one on. An illegal move raises BadInput and changes nothing."""

    def __init__(self, game: Game, first: State | None = None) -> None:
        if game.num_chance:
            raise BadInput(f"{game.name} has chance events, which engines do not speak of")
        self.game = game
        self.states = [game.init(jax.random.key(0)) if first is None else first]

    @property
    def state(self) -> State:
        return self.states[-1]

    @property
    def over(self) -> bool:
        return bool(self.game.over(self.state))

    @property
    def side(self) -> int:
        """The side to move; CHANCE once the game is over, so that it is neither."""
        return CHANCE if self.over else int(self.game.player(self.state))

    def play(self, text: str) -> None:
        """Play the move that the game calls `text`."""
        self.play_action(self.game.parse_action(self.state, text))

    def play_action(self, action: int) -> None:
        self.states.append(step(self.game, self.state, action))

    def warm_up(self) -> Iterator[State]:
        """Yield the first position and one after a move, so that all that playing needs is compiled."""
        for _ in range(2):
            yield self.state
            self.play(self.game.action_name(self.state, self.game.legal_actions(self.state)[0]))

    def undo(self) -> None:
        if len(self.states) == 1:
            raise BadInput("there is no move to take back")
        self.states.pop()

    def clear(self) -> None:
        """Go back to the first position."""
        del self.states[1:]
