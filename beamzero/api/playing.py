"""Agents from Python: made, asked about positions, and played against."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from beamzero.api.objects import AnyAgent, AnyGame, as_player, known_game
from beamzero.cli.commands.play import default_agent
from beamzero.cli.common import out
from beamzero.cli.terminal.session import TerminalSession
from beamzero.core.compiler import keep_compiled_code
from beamzero.core.errors import BadInput
from beamzero.core.tables import TextTable
from beamzero.drawing import ValuedMove, mark_values
from beamzero.games.position import Position
from beamzero.players import Player
from beamzero.players.analysis import Analysis, MoveValue
from beamzero.players.analysis import analyse as analyse_state


def make_player(agent: AnyAgent, game: AnyGame, **options: Any) -> Player:
    """Make the player that a text names, such as "alphabeta:depth=6" or "probs:runs/mine,seconds=1".

    A `Search` of yours may stand in place of the text, as a class or an object. `options` are those of the agent, such
    as ``seconds=1``.

    >>> import beamzero as bz
    >>> bz.make_player("lookahead:2", "connect_four").name
    'lookahead:2'
    >>> bz.make_player("alphabeta", "connect_four", depth=6).name
    'alphabeta:depth=6'
    """
    return as_player(agent, known_game(game), options)


class PositionAnalysis:
    """An agent's view of a position: the value of each move, and the line that it expects.

    >>> import beamzero as bz
    >>> found = bz.analyse("lookahead:3", game="tic_tac_toe", moves="a1 b1 a2 b2")
    >>> found.best, found.value, len(found.moves)
    ('a3', 1.0, 5)
    >>> found.to_svg().startswith("<svg")
    True
    """

    def __init__(self, position: Position, agent: str, found: Analysis) -> None:
        self.position, self.agent, self.found = position, agent, found

    @property
    def value(self) -> float:
        """Give the value of the position for the side to move, from -1 to 1."""
        return self.found.value

    @property
    def best(self) -> str:
        """Name the move to play."""
        return self.found.best

    @property
    def line(self) -> list[str]:
        """List the moves that the agent expects, the best one first."""
        return self.found.line

    @property
    def moves(self) -> Sequence[MoveValue]:
        """List all legal moves with value and policy, the likeliest first."""
        return self.found.moves

    def as_dict(self) -> dict[str, Any]:
        """Give the analysis as plain data, with the keys of ``beamzero analyse --json``."""
        return {"game": self.position.game.spec, "agent": self.agent, **self.found.as_json()}

    def to_svg(self, **options: Any) -> str:
        """Draw the board with the values of the likeliest moves on it."""
        game, state = self.position.game, self.position.state
        tried = [move for move in self.moves if move.tried]
        moves = [ValuedMove(move.move, game.places(state, move.action), move.value) for move in tried]
        return self.position.to_svg(marks=mark_values(moves), **options)

    def _table(self) -> TextTable:
        rows = [
            (
                move.move,
                f"{move.value:+z.2f}" if move.tried else "-",
                f"{move.policy:.0%}",
                "proven" if move.proven else "",
            )
            for move in self.moves
        ]
        notes = [f"best line: {' '.join(self.line)}", f"{self.agent}, {self.found.nodes:,} positions searched"]
        return TextTable(("move", "value", "policy", ""), rows, notes)

    def __repr__(self) -> str:
        return f"{self.position!r}\n\n{self._table()}"

    def _repr_mimebundle_(self, **_: Any) -> Mapping[str, str]:
        parts = f"{self.to_svg()}<div>{self._table().to_html()}</div>"
        page = f'<div style="display:flex;gap:2em;align-items:center">{parts}</div>'
        return {"text/html": page, "text/plain": repr(self)}


def analyse(
    agent: AnyAgent,
    position: Position | None = None,
    *,
    moves: str | Sequence[str] = (),
    game: AnyGame | None = None,
    seed: int = 0,
) -> PositionAnalysis:
    """Ask what an agent thinks of a position, or of the game's first one after `moves`.

    >>> import beamzero as bz
    >>> bz.analyse("lookahead:3", game="tic_tac_toe", moves="a1 b1 a2 b2").best
    'a3'
    """
    keep_compiled_code()
    if not (position is None or isinstance(position, Position)):
        raise BadInput(f"position is {position!r}, but must be a Position: moves are given as moves={position!r}")
    rules = position.game if position is not None else None if game is None else known_game(game)
    player = as_player(agent, rules)
    if position is None:
        position = player.game.position(moves)
    elif moves:
        position = position.play(*(moves.replace(",", " ").split() if isinstance(moves, str) else moves))
    if position.over:
        raise BadInput(f"the game is over: {position.reason}")
    found = analyse_state(player.game, player, position.state, jax.random.key(seed))
    return PositionAnalysis(position, player.name, found)


def play(
    game: AnyGame,
    agent: AnyAgent | None = None,
    *,
    side: int = 0,
    seed: int | None = None,
    ask: Callable[[str], str] = input,
) -> None:
    """Play against an agent by typing moves; "help" lists the commands, "quit" ends.

    Without `agent` the one that ships or was trained last plays. `side` is yours, 0 for the first. ``beamzero serve``
    opens the same in a browser. `ask` gets a prompt and returns what is typed.

    >>> import beamzero as bz
    >>> bz.play("tic_tac_toe", "random", ask=lambda prompt: "quit")  # doctest: +ELLIPSIS
    tic_tac_toe...
    """
    keep_compiled_code()
    rules = known_game(game)
    if side not in (0, 1):
        raise BadInput(f"side is {side!r}, but must be 0 or 1")
    player = as_player(default_agent(rules)[0] if agent is None else agent, rules)
    out.print(f"{rules.spec}: you against {player.name}; help lists the commands", soft_wrap=True)
    drawn = secrets.randbelow(2**31) if seed is None else seed
    session = TerminalSession(rules, player, out, functools.partial(_typed, ask), side, drawn)
    session.played.set_up([], None)
    session.run()


def _typed(ask: Callable[[str], str], prompt: str) -> str:
    """Ask the person; BadInput in a notebook that is run without one."""
    try:
        return ask(prompt)
    except NotImplementedError:
        raise BadInput("this notebook cannot ask for moves: run it where you can type, or give ask=") from None
