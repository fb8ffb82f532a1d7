"""The agents of this package that need no training, by the names with which their texts begin."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from beamzero.core.errors import BadInput
from beamzero.core.spec import Spec, convert
from beamzero.games import Game
from beamzero.players.clairvoyant import make_clairvoyant
from beamzero.players.classic import make_alphabeta, make_expectiminimax, make_minimax
from beamzero.players.external.engines import make_gtp, make_uci
from beamzero.players.external.gnubg import make_gnubg
from beamzero.players.options import take
from beamzero.players.player import Player, SearchPlayer
from beamzero.players.solved import make_cfr
from beamzero.players.trees import make_mcts
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.lookahead import Lookahead
from beamzero.search.simple import AnyMove


@dataclasses.dataclass(frozen=True)
class BuiltInAgent:
    """A kind of agent: how it is made, and what has to be known of it before one is made."""

    make: Callable[[str, Spec, Game], Player]
    """Function of a name, its parts and a game that makes the player."""
    options: str
    """Text that may stand behind its name, such as ``:D``."""
    about: str
    """Description of the agent for people."""
    sees_everything: bool = True
    """True if it uses the whole state, so that it cannot play where something is hidden."""
    knows_chance: bool = False
    """True if it plays where chance decides between the moves."""
    starts_program: bool = False
    """True if making it starts another program."""


def _random(name: str, spec: Spec, game: Game) -> Player:
    """Make the player ``random``."""
    take(spec, name, "", {})
    return SearchPlayer(name, game, AnyMove(), zero_evaluator(game), deterministic=False)


def _lookahead(name: str, spec: Spec, game: Game) -> Player:
    """Make a player such as ``lookahead:2``."""
    argument, options = take(spec, name, "depth", {"depth": int})
    depth = options.get("depth", argument)
    if depth is None:
        raise BadInput(f"{name} needs a depth, such as lookahead:2")
    search = Lookahead(convert(depth, int, f"{name}: depth") if isinstance(depth, str) else depth)
    return SearchPlayer(name, game, search, zero_evaluator(game), deterministic=False)


AGENTS: Mapping[str, BuiltInAgent] = {
    "random": BuiltInAgent(_random, "", "any legal move", sees_everything=False, knows_chance=True),
    "lookahead": BuiltInAgent(
        _lookahead, ":D", "sees wins and losses within D plies, D from 1 to 4; also one_step_lookahead and so on"
    ),
    "minimax": BuiltInAgent(
        make_minimax, ":D", "every line of D plies, with the game's own evaluation; by=FEATURE, by=nothing"
    ),
    "alphabeta": BuiltInAgent(
        make_alphabeta, ":D", "the same moves sooner, with deepening, a table and quiescence; also seconds=S, nodes=N"
    ),
    "expectiminimax": BuiltInAgent(
        make_expectiminimax, ":D", "games with dice such as backgammon, D turns deep; also seconds=S, nodes=N, rolls=N",
        knows_chance=True,
    ),
    "mcts": BuiltInAgent(
        make_mcts, ":sims=N",
        "Monte Carlo tree search by random games, N simulations a move, no net; also seconds=S, nodes=N",
        knows_chance=True,
    ),
    "cfr": BuiltInAgent(
        make_cfr, ":iterations=N",
        "a small game of hidden cards such as leduc_poker, solved by N iterations of CFR+", sees_everything=False,
    ),
    "clairvoyance": BuiltInAgent(
        make_clairvoyant, ":worlds=N",
        "a game of hidden cards such as bridge, dealt N times and solved with open cards", sees_everything=False,
    ),
    "uci": BuiltInAgent(
        make_uci, ":PROGRAM,seconds=S",
        "a chess program such as stockfish, for chess and chess6x6; also depth=, nodes=, elo=",
        starts_program=True,
    ),
    "gtp": BuiltInAgent(
        make_gtp, ":PROGRAM", "a program that speaks GTP, such as gtp-rhino for othello; in battles and ratings",
        starts_program=True,
    ),
    "gnubg": BuiltInAgent(make_gnubg, "", "GNU Backgammon; plies=N", knows_chance=True, starts_program=True),
}  # fmt: skip
