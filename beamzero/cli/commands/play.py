"""A game in the terminal: a person against an agent, or two people at one keyboard."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import jax
import jax.numpy as jnp
import typer
from jax import Array
from rich.console import Console
from rich.table import Table
from rich.text import Text

from beamzero.cli.commands.analyse import analyse_command
from beamzero.cli.common import AsJson, GameName, Moves, SaveGames, err, out, print_json
from beamzero.cli.position import Position, split_moves
from beamzero.cli.terminal.board import SIDES, draw_board, in_colour, rolled_text, side_names, side_text
from beamzero.cli.terminal.keyboard import keyboard
from beamzero.cli.terminal.values import draw_analysis, draw_move, draw_values
from beamzero.core.errors import BadInput
from beamzero.games import Game, State, make_game
from beamzero.games.chance import parse_outcome
from beamzero.players import Player, make_player
from beamzero.players.agent_kind import agent_kind, agent_text
from beamzero.players.analysis import analyse, list_moves, step
from beamzero.players.levels import LEVELS
from beamzero.players.player import batch_of_one
from beamzero.players.trained import load_info, shipped_agents
from beamzero.records.files import add_records, check_format
from beamzero.records.record import (
    Followed,
    GameRecord,
    first_state,
    has_notation,
    is_chance,
    move_text,
    nothing_to_decide,
    resolve,
    split_move,
    today,
)
from beamzero.records.review import review
from beamzero.search.evaluator import SearchResult
from beamzero.search.lookahead import affordable_depth
from beamzero.storage.interrupts import uninterrupted
from beamzero.storage.run import list_runs
from beamzero.training.algorithm import ALGORITHMS

HUMAN = "human"
RUNS = "runs"
NOBODY = -1

AGENT_HELP = "Who plays against you, or human for a second person; by default a trained agent if there is one."
LEVEL_HELP = "How strong a trained agent plays; full, where nothing is said of how it searches."
SEED_HELP = "The same seed gives the same answers to the same moves; by default they differ each time."

COMMANDS = {
    "help": "this list (also ?)",
    "values": "what the agent thinks of every move",
    "analyse": "the same, with the chance to win and the line that it expects",
    "review": "what it thinks of every move of the game so far",
    "hint": "the move that the agent would play",
    "undo": "take your last move back, with the answer to it",
    "new": "begin again",
    "swap": "play the other side",
    "quit": "leave (also Ctrl-D)",
}
SHORT = {"?": "help", "u": "undo", "q": "quit", "exit": "quit"}
AFTER_THE_END = {"": "new", "y": "new", "yes": "new", "n": "quit", "no": "quit"}


def register(app: typer.Typer) -> None:
    app.command("play")(play_command)
    app.command("analyse")(analyse_command)


def play_command(
    game: GameName,
    agent: Annotated[str | None, typer.Option(help=AGENT_HELP)] = None,
    level: Annotated[str | None, typer.Option(metavar="|".join(LEVELS), help=LEVEL_HELP)] = None,
    side: Annotated[
        str, typer.Option(metavar="first|second", help="Your side; in most games the first begins.")
    ] = "first",
    position: Position = None,
    moves: Moves = "",
    seed: Annotated[int | None, typer.Option(min=0, max=2**31 - 1, help=SEED_HELP)] = None,
    save: SaveGames = None,
    json: AsJson = False,
) -> None:
    """Play in the terminal; help lists what can be typed there."""
    if side not in SIDES:
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
    session = Session(rules, player, console, keyboard(console), SIDES.index(side), seed, position, save)
    session.set_up(split_moves(moves), first)
    who = f"you against {name}{why}" if player else "two people"
    console.print(Text.assemble((rules.spec, "bold"), f": {who}; help lists the commands"), soft_wrap=True)
    session.run()
    if json:
        print_json(session.report())
    if session.interrupted:
        raise KeyboardInterrupt


def default_agent(game: Game, level: str | None = None) -> tuple[str, str]:
    """The agent that plays when none is named, and why this one: it ships, was trained here, or there is no other."""
    for name, path in shipped_agents().items():
        info = load_info(path)
        if info["game"] == game.identity:
            return f"{info['algorithm']}:{name},level={level or 'full'}", " (it ships with beamzero)"
    for run in list_runs(RUNS):
        algorithm = run.algorithm or ""
        if run.damaged is None and run.game == game.identity and algorithm in ALGORITHMS and run.iterations:
            options = agent_kind(algorithm).to_play({}) if level is None else {"level": level}
            return agent_text(algorithm, str(run.folder), options), f" (the newest run in {RUNS})"
    if level is not None:
        raise BadInput(f"only trained agents have levels, and none of {game.name} ships or is in {RUNS}")
    if game.hidden:
        solved, guessing = ("cfr", " (the game is solved)"), ("clairvoyance", " (it guesses what is hidden)")
        return solved if game.lists_deals else guessing
    if game.num_chance:
        return "expectiminimax:depth=2", f" (no trained agent for this game ships or is in {RUNS})"
    return f"lookahead:{affordable_depth(game)}", f" (no trained agent for this game ships or is in {RUNS})"


@dataclasses.dataclass(frozen=True, eq=False)
class Turn:
    """A position in which someone has to choose, and what they chose; the last one of a game is still open."""

    state: State
    side: int
    """Who is to move, or NOBODY once the game is over."""
    move: str = ""
    thrown: str = ""
    """What chance decided after the move."""


class Quit(Exception):
    """The person wants to leave."""


class Session:
    """Games at one keyboard, one after the other. `side` is the person's; `player` is None where two people play.

    They begin at `position`, in the notation of the game, or where the game does (None). Games in which a move was made
    are added to the file `save`.
    """

    def __init__(
        self,
        game: Game,
        player: Player | None,
        console: Console,
        ask: Callable[[str], str],
        side: int = 0,
        seed: int = 0,
        position: str | None = None,
        save: Path | None = None,
    ) -> None:
        self.game, self.player, self.console, self.ask, self.side = game, player, console, ask, side
        self.position, self.save = position, save
        self._key = jax.random.key(seed)
        self._games = 0
        self._thought = False
        self._changed = True
        self.interrupted = False
        self.turns: list[Turn] = []
        self.begin()

    # --- the game --------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        return self.turns[-1].state

    @property
    def over(self) -> bool:
        return self.turns[-1].side == NOBODY

    @property
    def moves(self) -> list[str]:
        """The moves so far, as records write them."""
        return [move_text(turn.move, turn.thrown) for turn in self.turns[:-1]]

    @property
    def start(self) -> str | None:
        """Where the game began, as records say it: nothing where every game of it begins alike."""
        alike = not (self.game.hidden or self.game.num_chance) or not has_notation(self.game)
        return self.position if self.position or alike else self.game.write_position(self.turns[0].state)

    def _draw_key(self) -> Array:
        """Another key for each game and each position in it, the same ones for the same seed."""
        return jax.random.fold_in(jax.random.fold_in(self._key, self._games), len(self.turns))

    def keep(self) -> None:
        """Add the game to the file of saved games, if there is one and a move was made."""
        if self.save is None or not self.moves:
            return
        names = [self.player.name if self.player and not self._is_person(side) else HUMAN for side in (0, 1)]
        result = float(self.game.score(self.state)) if self.over else None
        moves, players = tuple(self.moves), (names[0], names[1])
        add_records(self.save, [GameRecord(self.game.spec, moves, players, result, self.start, 0, today())])
        self.console.print(f"added to {self.save}", style="dim", markup=False)

    def begin(self) -> None:
        """A new game."""
        self._games += 1
        self.turns = []
        first = self.game.init(self._draw_key()) if self.position is None else first_state(self.game, self.position)
        self._arrive(first)

    def set_up(self, moves: Sequence[str], first: State | None = None) -> None:
        """Play `moves`, written as records do, for both sides, from `first` where it is given.

        BadInput with the number of the one that cannot be played. Dice of which nothing is said are thrown.
        """
        if first is not None:
            self.turns = []
            self._arrive(first)
        for number, move in enumerate(moves, 1):
            try:
                name, thrown = split_move(self.game, move)
                self.play(self.game.parse_action(self.state, name), thrown)
            except BadInput as error:
                raise BadInput(f"move {number}: {error}") from None

    def play(self, action: int, thrown: str = "") -> str:
        """Play a legal move for the side whose turn it is, and give its name; the dice then fall as `thrown` says."""
        turn = self.turns[-1]
        move = self.game.action_name(turn.state, action)
        after = step(self.game, turn.state, action)
        if thrown and not is_chance(self.game, after):
            raise nothing_to_decide(thrown)
        outcome = parse_outcome(self.game, after, thrown) if thrown else None
        self.turns[-1] = dataclasses.replace(turn, move=move)
        self._arrive(after, outcome)
        return move

    def _arrive(self, state: State, outcome: int | None = None) -> None:
        """Throw the dice where that comes next, unless their `outcome` is given, and let the next one choose."""
        if is_chance(self.game, state):
            if outcome is None:
                _, key = jax.random.split(self._draw_key())  # an agent has drawn its move with the key itself
                outcome = int(jax.random.categorical(key, jnp.log(self.game.chance(state))))
            thrown = self.game.outcome_name(state, outcome)
            state = resolve(self.game, state, outcome)
            if self.turns:
                self.turns[-1] = dataclasses.replace(self.turns[-1], thrown=thrown)
            self.console.print(rolled_text(self.game, state, thrown, in_colour(self.console)))
        over = bool(self.game.over(state))
        self.turns.append(Turn(state, NOBODY if over else int(self.game.player(state))))
        self._changed = True

    def undo(self) -> bool:
        """Go back to before the person's last move; False where there is none."""
        for number in reversed(range(len(self.turns) - 1)):
            if self._is_person(self.turns[number].side):
                self.turns[number:] = [dataclasses.replace(self.turns[number], move="", thrown="")]
                self._changed = True
                return True
        return False

    def _is_person(self, side: int) -> bool:
        return self.player is None or side == self.side

    def think(self) -> SearchResult:
        """What the agent thinks of the position."""
        assert self.player is not None
        with self._waiting():
            result = jax.device_get(self.player.think(batch_of_one(self.state), self._draw_key()))
        self._thought = True
        return result

    def _waiting(self) -> contextlib.AbstractContextManager[object]:
        """Says that the agent thinks, for as long as it does."""
        note = "thinking" if self._thought else "thinking (the first time, compiling takes a while)"
        return self.console.status(note) if self.console.is_terminal else contextlib.nullcontext()

    def report(self) -> dict[str, Any]:
        """The last game as JSON. Where two people play, there is no side and the result is the first player's."""
        return {
            "game": self.game.spec,
            "agent": self.player.name if self.player else HUMAN,
            "side": SIDES[self.side] if self.player else None,
            "position": self.start,
            "moves": self.moves,
            "result": self.result(),
            "reason": self.game.outcome_reason(self.state) if self.over else None,
        }

    def result(self) -> str:
        """win, draw, loss or unfinished, for the person."""
        if not self.over:
            return "unfinished"
        score = float(self.game.score(self.state)) * (-1 if self.player and self.side == 1 else 1)
        return "win" if score > 0 else "loss" if score < 0 else "draw"

    # --- the talk --------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Play until the person leaves."""
        try:
            while True:
                self.answer()
                self.draw()
                self.obey(self.ask("another game? [new, undo, swap, quit] " if self.over else "> "))
        except (EOFError, KeyboardInterrupt) as end:
            self.interrupted = isinstance(end, KeyboardInterrupt)
            self.console.print()
        except Quit:
            pass
        finally:
            with uninterrupted():
                self.keep()

    def answer(self) -> None:
        """Let the agent move for as long as it is its turn."""
        while not self.over and not self._is_person(self.turns[-1].side):
            action = int(self.think().action[0])
            assert self.player is not None
            move = self.game.action_name(self.state, action)
            self.console.print(
                Text.assemble(self._side_text(brief=True), f" {self.player.name} plays ", (move, "bold"))
            )
            self.play(action)

    def obey(self, text: str) -> None:
        """Do what the person typed. A legal move goes before a command of the same name."""
        text = text.strip()
        try:
            for action in self._read_moves(text):
                self.play(action)
        except BadInput as error:
            word = text.lower()
            word = AFTER_THE_END.get(word, word) if self.over else word
            word = SHORT.get(word, word)
            if word in COMMANDS:
                getattr(self, f"_do_{word}")()
            elif self.over:
                self._say("the game is over: new, undo, swap or quit")
            elif text:
                self._say(f"{error}; help lists the commands")

    def _read_moves(self, text: str) -> list[int]:
        """The move that a text names; or several of one turn, where a side moves more than once: ``8/5 6/5``."""
        words, side = text.split(), self.turns[-1].side
        if len(words) < 2 or self.over:
            return [self.game.parse_action(self.state, text)]
        try:
            return [self.game.parse_action(self.state, text)]
        except BadInput:
            state, actions = self.state, list[int]()
            for word in words:
                if bool(self.game.over(state)) or int(self.game.player(state)) != side:
                    raise BadInput(f"{word!r} is one move too many: the turn is over before it") from None
                actions.append(self.game.parse_action(state, word))
                state = step(self.game, state, actions[-1])
            return actions

    def _say(self, text: str) -> None:
        self.console.print(text, style="yellow", markup=False)

    def draw(self) -> None:
        """The board, and whose turn it is or how the game ended; nothing where it has not changed."""
        if not self._changed:
            return
        self._changed = False
        board = draw_board(self.game, self.state, self._before(), self._seat(), in_colour(self.console))
        self.console.print("", board, "", sep="\n")
        self.console.print(self._ending() if self.over else self._turn(), soft_wrap=True)

    def _seat(self) -> int:
        """Who looks at the board: the hand with which a person is to move, or moved last."""
        own = [turn.state for turn in self.turns if turn.side != NOBODY and self._is_person(turn.side)]
        return int(self.game.seat(own[-1])) if own else self.side

    def _before(self) -> State | None:
        """The position before the last move, or before the first one where a side moved several times running."""
        *earlier, _ = self.turns
        moved = [turn.state for turn in itertools.takewhile(lambda t: t.side == earlier[-1].side, reversed(earlier))]
        return moved[-1] if moved else None

    def _side_text(self, brief: bool = False) -> Text:
        """What the side to move is called."""
        return side_text(self.game, self.state, self.turns[-1].side, in_colour(self.console), brief)

    def _turn(self) -> Text:
        side = self._side_text()
        again = " again" if len(self.turns) > 1 and self.turns[-2].side == self.turns[-1].side else ""
        if self.player:
            return Text.assemble("you are ", side, f", your move{again}")
        return Text.assemble(side, f" to move{again}")

    def _ending(self) -> Text:
        reason, result = self.game.outcome_reason(self.state), self.result()
        if self.player is None or reason.startswith(result):
            return Text(f"the game is over: {reason}", "bold")
        words = {"win": ("you win", "bold green"), "loss": ("you lose", "bold red"), "draw": ("a draw", "bold")}
        head, style = words[result]
        return Text(f"{head}: {reason}", style)

    # --- commands, each named after its word -----------------------------------------------------------------------

    def _do_help(self) -> None:
        legal = [self.game.action_name(self.state, action) for action in self.game.legal_actions(self.state)]
        if legal:
            moves = Table.grid(padding=(0, 1))
            moves.add_row("a move:", Text(" ".join(legal), "bold"))
            self.console.print(moves)
        for word, meaning in COMMANDS.items():
            self.console.print(Text.assemble((f"{word:<8}", "bold"), meaning))

    def _do_values(self) -> None:
        if self._can_ask():
            self.console.print(draw_values(list_moves(self.game, self.state, self.think())))

    def _do_analyse(self) -> None:
        if self._can_ask():
            assert self.player is not None
            with self._waiting():
                found = analyse(self.game, self.player, self.state, self._draw_key())
            self._thought = True
            self.console.print("", draw_analysis(found, self._side_text()), "", sep="\n", soft_wrap=True)

    def _do_review(self) -> None:
        if self.player is None:
            return self._say("there is no agent to ask here: start with --agent NAME instead of human")
        if not self.moves:
            return self._say("there is no move to look at yet")
        if self.game.hidden and not self.over:
            return self._say("a review would tell what the agent holds: finish the game first")
        states = [turn.state for turn in self.turns]
        actions = [self.game.parse_action(turn.state, turn.move) for turn in self.turns[:-1]]
        followed = Followed(GameRecord(self.game.spec, tuple(self.moves)), self.game, states, actions)
        with self._waiting():
            found = review(followed, self.player, self._draw_key(), lambda done, total: None)
        width = max(len(row.move) + len(row.mark) for row in found.moves)
        for row in found.moves:
            side = side_text(self.game, states[row.number - 1], row.side, in_colour(self.console), brief=True)
            self.console.print(draw_move(row, side, width), soft_wrap=True)
        self.console.print(f"{'now':>4} value {found.last:+z.2f} for {side_names(self.game.view(states[0]))[0]}")
        return None

    def _do_hint(self) -> None:
        if self._can_ask():
            result = self.think()
            best = list_moves(self.game, self.state, result, first=int(result.action[0]))[0]
            proven = ", proven" if best.proven else ""
            self.console.print(Text.assemble("hint: ", (best.move, "bold"), f" (value {best.value:+z.2f}{proven})"))

    def _can_ask(self) -> bool:
        """Whether there is an agent and something to ask it; says so if not."""
        if self.player is None:
            self._say("there is no agent to ask here: start with --agent NAME instead of human")
        elif self.over:
            self._say("the game is over: there is no move left to value (undo takes one back)")
        return self.player is not None and not self.over

    def _do_undo(self) -> None:
        if self.game.hidden and self.player is not None:
            self._say("cards that were seen cannot be taken back")
        elif not self.undo():
            self._say("there is no move of yours to take back")

    def _do_new(self) -> None:
        self.keep()
        self.begin()

    def _do_swap(self) -> None:
        if self.player is None:
            return self._say("both sides are yours: there is nothing to swap")
        if self.game.hidden and not self.over:
            return self._say("to swap would show what the agent holds: finish the game first")
        self.side = 1 - self.side
        self._changed = True
        if self.over:
            self.begin()

    def _do_quit(self) -> None:
        raise Quit
