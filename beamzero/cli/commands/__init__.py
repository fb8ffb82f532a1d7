"""One file a command. The table here is all that the command line knows of them before one is called."""

from __future__ import annotations

from typing import NamedTuple


class CommandEntry(NamedTuple):
    """A command that is imported when it is called."""

    place: str
    """The ``module:function`` below this package."""
    about: str
    """The first line of the function's docstring, for `beamzero --help`."""
    hidden: bool = False


_LADDER = CommandEntry(
    "ladder:ladder_command",
    "Play a ladder of minimax opponents of depth 1, 2, 3 ..., two games each, until the agent loses both games.",
)

COMMAND_TABLE = {
    "games": CommandEntry("games:games", "List the games that can be played, with their parameters."),
    "agents": CommandEntry("lists:agents", "List the agents that can be named, and the trained ones that ship."),
    "recipes": CommandEntry("lists:recipes", "List the recipes for training, or show one with all its settings."),
    "runs": CommandEntry("runs:runs", "List the training runs below a folder."),
    "export": CommandEntry(
        "export:export_command", "Write a run's agent as one .safetensors file with its settings inside."
    ),
    "train": CommandEntry(
        "train:train_command", "Train an agent by self-play; Ctrl-C saves and stops, --resume goes on."
    ),
    "compare": CommandEntry(
        "compare:compare_command",
        "Train by several recipes from scratch under the same budget, with several seeds, and draw strength against"
        " it.",
    ),
    "reproduce": CommandEntry(
        "reproduce:reproduce_command",
        "Repeat the trainings of a published figure or of a table of ours, rate them on the way, and draw the figure.",
    ),
    "battle": CommandEntry(
        "battle:battle_command",
        "Let two agents play many games: wins, draws, losses by who moved first, the score with its 95% interval.",
    ),
    "perft": CommandEntry(
        "perft:perft_command", "Count the lines of play, move by move: the classic check of the rules."
    ),
    "rate": CommandEntry(
        "rate:rate_command",
        "Rate agents: Elo with 95% intervals, where random is 1000, and their scores against each other.",
    ),
    "score": CommandEntry(
        "score:score_command",
        "Score agents on solved positions: how often their move throws away a win or a draw, by difficulty.",
    ),
    "verify-agents": CommandEntry(
        "verify:verify_agents",
        "Measure again the strength that the files of shipped agents claim; exit status 1 where a claim does not hold.",
    ),
    "ladder": _LADDER,
    "climb": _LADDER._replace(hidden=True),  # its name in earlier versions: scripts use it
    "exhaust": CommandEntry(
        "exhaust:exhaust_command",
        "Play an agent against every possible reply, from both sides: proof that it never loses, or a line where it"
        " does.",
    ),
    "exploit": CommandEntry(
        "exploit:exploit_command",
        "Find the best response to an agent, and how much it wins: 0 where no opponent can exploit the agent.",
    ),
    "fit-eval": CommandEntry(
        "fit_eval:fit_eval_command",
        "Learn the weights of a game's evaluation from self-play, and play a battle against those made by hand.",
    ),
    "book": CommandEntry(
        "book:book_command",
        "Make an opening book by deep search or from self-play; any agent plays from it with book=FILE.",
    ),
    "play": CommandEntry("play:play_command", "Play in the terminal; type help there for the commands."),
    "analyse": CommandEntry(
        "analyse:analyse_command",
        "Show what an agent thinks of a position: the value of each legal move, and the line it expects.",
    ),
    "draw": CommandEntry(
        "draw:draw_command",
        "Draw a position as an SVG picture: the board, the last move, and what an agent thinks of the moves.",
    ),
    "replay": CommandEntry(
        "replay:replay_command",
        "Step through a saved game, with an agent's values of its positions, and draw who was ahead at each move.",
    ),
    "serve": CommandEntry(
        "serve:serve",
        "Serve the web page: play with the mouse, see what agents think, watch training runs. Ctrl-C ends it.",
    ),
    "engine": CommandEntry(
        "engine:engine_command",
        "Serve an agent to another program over stdin and stdout: uci for chess, nboard for Othello, gtp for the rest.",
    ),
    "check": CommandEntry(
        "check:check_command",
        "Test the rules of a game: a line for each law that is broken (exit status 1), and the speed of random play.",
    ),
    "table": CommandEntry(
        "table:table_command", "Solve all endgames of Kalah with few seeds in the houses, for searches to look up."
    ),
    "bench": CommandEntry(
        "bench:bench_command",
        "Measure throughput on this machine, with --peers beside that of other libraries in the same run.",
    ),
    "doctor": CommandEntry("doctor:doctor", "Say what this machine has for beamzero, and what is missing or broken."),
}
"""By name, in the order in which help lists them."""
