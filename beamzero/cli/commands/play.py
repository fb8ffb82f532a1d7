"""`beamzero play`: a game in the terminal against an agent, or of two people at one keyboard."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer
from rich.text import Text

from beamzero.cli.common import (
    RUNS_FOLDER,
    AnySeed,
    AsJson,
    GameName,
    Moves,
    SaveGames,
    StartPosition,
    err,
    keyboard,
    out,
    print_json,
)
from beamzero.cli.moves import split_moves
from beamzero.cli.terminal.session import HUMAN, TerminalSession
from beamzero.core.errors import BadInput
from beamzero.games import Game, make_game
from beamzero.games.views import SIDE_NAMES
from beamzero.players import make_player
from beamzero.players.agent_kind import agent_kind, agent_text
from beamzero.players.levels import LEVELS
from beamzero.players.trained import load_info, shipped_agents
from beamzero.records.files import check_format
from beamzero.records.record import first_state
from beamzero.search.lookahead import affordable_depth
from beamzero.storage.run import list_runs
from beamzero.training.algorithm import ALGORITHMS

_Agent = Annotated[
    str | None,
    typer.Option(
        help="The agent to play against, or human for a second person; by default a trained agent if there is one."
    ),
]
_Level = Annotated[
    str | None,
    typer.Option(
        metavar="|".join(LEVELS),
        help="How strong a trained agent plays; by default full, unless its name says how it searches.",
    ),
]
_Side = Annotated[str, typer.Option(metavar="first|second", help="Your side; in most games the first begins.")]


def play_command(
    game: GameName,
    agent: _Agent = None,
    level: _Level = None,
    side: _Side = "first",
    position: StartPosition = None,
    moves: Moves = "",
    seed: AnySeed = None,
    save: SaveGames = None,
    json: AsJson = False,
) -> None:
    """Play in the terminal; type help there for the commands."""
    if side not in SIDE_NAMES:
        raise BadInput(f"side is {side!r}, but must be first or second")
    rules = make_game(game)
    if save is not None:
        check_format(save, rules.spec, position)
    name, why = (agent, "") if agent is not None else default_agent(rules, level)
    if agent is not None and level is not None:
        name = f"{agent},level={level}"
    player = None if name == HUMAN else make_player(name, rules, others=[HUMAN])
    console = err if json else out
    # Moves mean something from a first roll or deal that is known: that of analyse, unless a seed draws another.
    first = first_state(rules, position) if moves and seed is None else None
    seed = secrets.randbelow(2**31) if seed is None else seed
    session = TerminalSession(rules, player, console, keyboard(console), SIDE_NAMES.index(side), seed, position, save)
    session.played.set_up(split_moves(moves), first)
    who = f"you against {name}{why}" if player else "two people"
    console.print(Text.assemble((rules.spec, "bold"), f": {who}; help lists the commands"), soft_wrap=True)
    session.run()
    if json:
        print_json(session.report())
    if session.interrupted:
        raise KeyboardInterrupt


def default_agent(game: Game, level: str | None = None) -> tuple[str, str]:
    """Choose the agent that plays where none is named: one that ships, the newest run, or a search.

    Returns its text and the reason for people, in brackets. BadInput where a `level` needs a trained agent and there is
    none.
    """
    for name, path in shipped_agents().items():
        info = load_info(path)
        if info["game"] == game.identity:
            return f"{info['algorithm']}:{name},level={level or 'full'}", " (it ships with beamzero)"
    for run in list_runs(RUNS_FOLDER):
        algorithm = run.algorithm or ""
        if run.damaged is None and run.game == game.identity and algorithm in ALGORITHMS and run.iterations:
            options = agent_kind(algorithm).to_play({}) if level is None else {"level": level}
            return agent_text(algorithm, str(run.folder), options), f" (the newest run in {RUNS_FOLDER})"
    if level is not None:
        raise BadInput(f"only trained agents have levels, and none of {game.name} ships or is in {RUNS_FOLDER}")
    if game.hidden:
        solved, guessing = ("cfr", " (the game is solved)"), ("clairvoyance", " (it guesses what is hidden)")
        return solved if game.lists_deals else guessing
    search = "expectiminimax:depth=2" if game.num_chance else f"lookahead:{affordable_depth(game)}"
    return search, f" (no trained agent for this game ships or is in {RUNS_FOLDER})"
