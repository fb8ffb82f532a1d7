"""`beamzero draw`: a position as an SVG picture, with an agent's values of the moves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import jax
import typer

from beamzero.cli.common import AsJson, GameName, Moves, Seed, StartPosition, err, print_json
from beamzero.cli.moves import follow_moves
from beamzero.core.errors import BadInput
from beamzero.drawing import LARGEST, SMALLEST, Marks, ValuedMove, draw_svg, mark_values
from beamzero.games import Game, State, make_game
from beamzero.games.places import Place
from beamzero.players import make_player
from beamzero.players.analysis import analyse
from beamzero.records.record import Followed
from beamzero.storage.files import check_writable, write_atomically, writing


def draw_command(
    game: GameName,
    position: StartPosition = None,
    moves: Moves = "",
    agent: Annotated[str | None, typer.Option(help="An agent whose values of the moves are drawn.")] = None,
    size: Annotated[int, typer.Option(min=SMALLEST, max=LARGEST, help="The width in pixels.")] = 480,
    turned: Annotated[bool, typer.Option("--turned", help="As the second side sees the board.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The .svg file to write; without it, the SVG is printed.")
    ] = None,
    seed: Seed = 0,
    json: AsJson = False,
) -> None:
    """Draw a position as an SVG picture: the board, the last move, and what an agent thinks of the moves.

    Of many moves, the best five are marked. Hidden cards are drawn face down, unless the side to move sees them.
    """
    rules = make_game(game)
    if out is not None:
        _check_name(out)
    followed = follow_moves(rules, moves, position)
    state = followed.states[-1]
    marks = {} if agent is None else _ask(rules, agent, state, seed)
    seat = 0 if followed.over else int(rules.seat(state))
    svg = draw_svg(rules.view(state, seat), last=_last_places(followed), marks=marks, size=size, turned=turned)
    if out is not None:
        with writing(str(out)):
            write_atomically(out, svg)
    if json:
        names = [rules.action_name(*move) for move in zip(followed.states, followed.actions)]
        told = {"game": rules.spec, "out": None if out is None else str(out), "moves": names}
        return print_json(told if out else {**told, "svg": svg})
    if out is None:
        print(svg, end="")
    return None


def _check_name(path: Path) -> None:
    """Raise BadInput where no drawing could be written, before an agent thinks."""
    check_writable(path, "a drawing is")
    if path.suffix.lower() != ".svg":
        raise BadInput(f"a drawing's file must end in .svg, but {path.name!r} does not")


def _last_places(followed: Followed) -> list[Place]:
    """List the places of the last move; none before the first."""
    if not followed.actions:
        return []
    return followed.game.places(followed.states[-2], followed.actions[-1])


def _ask(game: Game, agent: str, state: State, seed: int) -> Marks:
    """Ask an agent for the values of the moves."""
    player = make_player(agent, game)
    if bool(game.over(state)):
        raise BadInput(f"the game is over: {game.outcome_reason(state)}")
    with err.status("thinking (the first time, compiling takes a while)"):
        analysis = analyse(game, player, state, jax.random.key(seed))
    moves = [
        ValuedMove(move.move, game.places(state, move.action), move.value) for move in analysis.moves if move.tried
    ]
    return mark_values(moves)
