"""`beamzero analyse`: an agent's values of the moves in a position, and the line that it expects."""

from __future__ import annotations

from typing import Annotated

import jax
import typer
from rich.text import Text

from beamzero.cli.commands.play import default_agent
from beamzero.cli.common import AsJson, GameName, Moves, Seed, StartPosition, err, out, print_json
from beamzero.cli.moves import play_moves
from beamzero.cli.terminal.board import draw_board, in_colour, side_text
from beamzero.cli.terminal.values import draw_analysis
from beamzero.core.errors import BadInput
from beamzero.games import Game, State, make_game
from beamzero.players import make_player
from beamzero.players.analysis import Analysis, Step, analyse

_Agent = Annotated[
    str | None,
    typer.Argument(
        metavar="AGENT",
        help="An agent, such as lookahead:2 or probs:runs/connect_four; by default the one that `play` takes.",
    ),
]


def analyse_command(
    game: GameName,
    agent: _Agent = None,
    position: StartPosition = None,
    moves: Moves = "",
    seed: Seed = 0,
    json: AsJson = False,
) -> None:
    """Show what an agent thinks of a position: the value of each legal move, and the line it expects."""
    rules = make_game(game)
    name, why = (agent, "") if agent is not None else default_agent(rules)
    player = make_player(name, rules)
    state = play_moves(rules, moves, position)
    if bool(rules.over(state)):
        raise BadInput(f"the game is over: {rules.outcome_reason(state)}")
    with err.status("thinking (the first time, compiling takes a while)") as status:

        def tell(step: Step) -> None:
            status.update(Text(f"depth {step.depth}  {step.value:+z.2f}  {' '.join(step.line[:8])}"))

        analysis = analyse(rules, player, state, jax.random.key(seed), tell)
    if json:
        # Where cards are hidden, a position would tell them all, unless the one who asks has given it.
        shown = _notation(rules, state) if position or not rules.hidden else None
        about = {"game": rules.spec, "agent": name, "position": shown}
        return print_json({**about, **analysis.as_json(), "depths": [step._asdict() for step in analysis.steps]})
    if why:
        out.print(Text(f"{name}{why}\n"), soft_wrap=True)
    _show(rules, state, analysis)
    return None


def _notation(game: Game, state: State) -> str | None:
    """Write the position in the notation of the game; None where it has none."""
    try:
        return game.write_position(state)
    except BadInput:
        return None


def _show(game: Game, state: State, analysis: Analysis) -> None:
    colour = in_colour(out)
    side = side_text(game, state, int(game.player(state)), colour)
    out.print(draw_board(game, state, None, int(game.seat(state)), colour), "", sep="\n")
    out.print(draw_analysis(analysis, side), soft_wrap=True)
