"""Games at one keyboard: the board is drawn, a person types moves and commands, and an agent answers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.table import Table
from rich.text import Text

from beamzero.cli.terminal.board import draw_board, in_colour, rolled_text, side_text
from beamzero.cli.terminal.playthrough import Playthrough
from beamzero.cli.terminal.values import draw_analysis, draw_review_lines, draw_values
from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.games.views import SIDE_NAMES, side_names
from beamzero.players import Player
from beamzero.players.analysis import analyse, list_moves
from beamzero.players.player import batch_of_one
from beamzero.records.files import add_records
from beamzero.records.record import GameRecord, today
from beamzero.records.review import review
from beamzero.search.evaluator import SearchResult
from beamzero.storage.interrupts import uninterrupted

HUMAN = "human"


class Quit(Exception):
    """The person wants to leave."""


class TerminalSession:
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
        self._save_path = save
        self._has_searched = False
        self._drawn: State | None = None
        self.interrupted = False
        self.played = Playthrough(game, seed, position, self._tell_roll)

    # --- the dialogue ------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Play until the person leaves."""
        try:
            while True:
                self.let_agent_move()
                self._draw_if_changed()
                self.handle(self.ask("another game? [new, undo, swap, quit] " if self.played.over else "> "))
        except (EOFError, KeyboardInterrupt) as end:
            self.interrupted = isinstance(end, KeyboardInterrupt)
            self.console.print()
        except Quit:
            pass
        finally:
            with uninterrupted():
                self.save()

    def let_agent_move(self) -> None:
        """Let the agent move for as long as it is its turn."""
        while self.played.to_move is not None and not self._is_person(self.played.to_move):
            action = int(self._search().action[0])
            assert self.player is not None
            move = self.game.action_name(self.played.state, action)
            self.console.print(
                Text.assemble(self._side_text(brief=True), f" {self.player.name} plays ", (move, "bold"))
            )
            self.played.play(action)

    def handle(self, text: str) -> None:
        """Do what the person typed. A legal move goes before a command of the same name."""
        text = text.strip()
        try:
            for action in self.played.read_moves(text):
                self.played.play(action)
        except BadInput as error:
            word = text.lower()
            word = AFTER_THE_END.get(word, word) if self.played.over else word
            word = SHORT.get(word, word)
            if word in COMMANDS:
                command, _ = COMMANDS[word]
                command(self)
            elif self.played.over:
                self._say("the game is over: new, undo, swap or quit")
            elif text:
                self._say(f"{error}; help lists the commands")

    def _is_person(self, side: int) -> bool:
        return self.player is None or side == self.side

    def _say(self, text: str) -> None:
        self.console.print(text, style="yellow")

    def _tell_roll(self, state: State, thrown: str) -> None:
        self.console.print(rolled_text(self.game, state, thrown, in_colour(self.console)))

    def _search(self) -> SearchResult:
        """Let the agent search the position."""
        assert self.player is not None
        with self._status():
            return jax.device_get(self.player.think(batch_of_one(self.played.state), self.played.draw_key()))

    @contextlib.contextmanager
    def _status(self) -> Iterator[None]:
        """Show that the agent searches, for as long as it does."""
        note = "thinking" if self._has_searched else "thinking (the first time, compiling takes a while)"
        with self.console.status(note) if self.console.is_terminal else contextlib.nullcontext():
            yield
        self._has_searched = True

    # --- the result --------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Add the game to the file of saved games, if there is one and a move was made."""
        if self._save_path is None or not self.played.moves:
            return
        names = [self.player.name if self.player and not self._is_person(side) else HUMAN for side in (0, 1)]
        result = float(self.game.score(self.played.state)) if self.played.over else None
        moves, players = tuple(self.played.moves), (names[0], names[1])
        record = GameRecord(self.game.spec, moves, players, result, self.played.start, 0, today())
        add_records(self._save_path, [record])
        self.console.print(f"added to {self._save_path}", style="dim")

    def report(self) -> dict[str, Any]:
        """Return the last game as JSON. Where two people play, there is no side, and the result is the first one's."""
        return {
            "game": self.game.spec,
            "agent": self.player.name if self.player else HUMAN,
            "side": SIDE_NAMES[self.side] if self.player else None,
            "position": self.played.start,
            "moves": self.played.moves,
            "result": self.result(),
            "reason": self.game.outcome_reason(self.played.state) if self.played.over else None,
        }

    def result(self) -> str:
        """Return win, draw, loss or unfinished, for the person."""
        if not self.played.over:
            return "unfinished"
        score = float(self.game.score(self.played.state)) * (-1 if self.player and self.side == 1 else 1)
        return "win" if score > 0 else "loss" if score < 0 else "draw"

    # --- the board ---------------------------------------------------------------------------------------------------

    def _draw_if_changed(self) -> None:
        """Draw the board, with the side to move or how the game ended; nothing where it stands there already."""
        if self.played.state is self._drawn:
            return
        self._drawn = self.played.state
        colour = in_colour(self.console)
        board = draw_board(self.game, self.played.state, self.played.before_last, self.seat, colour)
        self.console.print("", board, "", sep="\n")
        self.console.print(self._ending_text() if self.played.over else self._to_move_text(), soft_wrap=True)

    @property
    def seat(self) -> int:
        """The hand from which the board is seen: the one with which a person is to move, or moved last."""
        own = [turn.state for turn in self.played.turns if turn.side is not None and self._is_person(turn.side)]
        return int(self.game.seat(own[-1])) if own else self.side

    def _side_text(self, brief: bool = False) -> Text:
        """Name the side to move."""
        assert self.played.to_move is not None
        return side_text(self.game, self.played.state, self.played.to_move, in_colour(self.console), brief)

    def _to_move_text(self) -> Text:
        side, turns = self._side_text(), self.played.turns
        again = " again" if len(turns) > 1 and turns[-2].side == turns[-1].side else ""
        if self.player:
            return Text.assemble("you are ", side, f", your move{again}")
        return Text.assemble(side, f" to move{again}")

    def _ending_text(self) -> Text:
        reason, result = self.game.outcome_reason(self.played.state), self.result()
        if self.player is None or reason.startswith(result):
            return Text(f"the game is over: {reason}", "bold")
        words = {"win": ("you win", "bold green"), "loss": ("you lose", "bold red"), "draw": ("a draw", "bold")}
        head, style = words[result]
        return Text(f"{head}: {reason}", style)

    # --- commands ----------------------------------------------------------------------------------------------------

    def show_help(self) -> None:
        """List the legal moves and the commands."""
        state = self.played.state
        legal = [self.game.action_name(state, action) for action in self.game.legal_actions(state)]
        if legal:
            moves = Table.grid(padding=(0, 1))
            moves.add_row("a move:", Text(" ".join(legal), "bold"))
            self.console.print(moves)
        for word, (_, meaning) in COMMANDS.items():
            self.console.print(Text.assemble((f"{word:<8}", "bold"), meaning))

    def show_values(self) -> None:
        """Show the agent's value of every move."""
        if self._can_ask():
            assert self.player is not None
            found = list_moves(self.game, self.played.state, self._search(), tried_all=self.player.tries_all)
            self.console.print(draw_values(found))

    def show_analysis(self) -> None:
        """Show the agent's analysis of the position, as ``beamzero analyse`` does."""
        if self._can_ask():
            assert self.player is not None
            with self._status():
                found = analyse(self.game, self.player, self.played.state, self.played.draw_key())
            self.console.print("", draw_analysis(found, self._side_text()), "", sep="\n", soft_wrap=True)

    def show_review(self) -> None:
        """Show the agent's value of every position so far, and which moves were mistakes."""
        if self.player is None:
            return self._say("there is no agent to ask here: start with --agent NAME instead of human")
        if not self.played.moves:
            return self._say("there is no move to look at yet")
        if self.game.hidden and not self.played.over:
            return self._say("a review would tell what the agent holds: finish the game first")
        followed = self.played.followed()
        with self._status():
            found = review(followed, self.player, self.played.draw_key(), lambda done, total: None)
        names, colour = side_names(self.game.view(followed.states[0])), in_colour(self.console)
        sides = [
            side_text(self.game, followed.states[row.number - 1], row.side, colour, brief=True) for row in found.moves
        ]
        for line in draw_review_lines(found, sides, names):
            self.console.print(line, soft_wrap=True)
        self.console.print(f"{'now':>4} value {found.last:+z.2f} for {names[0]}")
        return None

    def show_hint(self) -> None:
        """Show the move that the agent would play."""
        if self._can_ask():
            result = self._search()
            best = list_moves(self.game, self.played.state, result, first=int(result.action[0]))[0]
            proven = ", proven" if best.proven else ""
            self.console.print(Text.assemble("hint: ", (best.move, "bold"), f" (value {best.value:+z.2f}{proven})"))

    def _can_ask(self) -> bool:
        """Tell whether there is an agent to ask and a move to choose; say why where not."""
        if self.player is None:
            self._say("there is no agent to ask here: start with --agent NAME instead of human")
        elif self.played.over:
            self._say("the game is over: there is no move left to value (undo takes one back)")
        return self.player is not None and not self.played.over

    def undo(self) -> None:
        """Take the person's last move back."""
        if self.game.hidden and self.player is not None:
            self._say("cards that were seen cannot be taken back")
        elif not self.played.undo(self._is_person):
            self._say("there is no move of yours to take back")

    def begin(self) -> None:
        """Save the game, and begin a new one."""
        self.save()
        self.played.begin()

    def swap(self) -> None:
        """Let the person play the other side; after the end, in a new game."""
        if self.player is None:
            return self._say("both sides are yours: there is nothing to swap")
        if self.game.hidden and not self.played.over:
            return self._say("to swap would show what the agent holds: finish the game first")
        self.side = 1 - self.side
        self._drawn = None
        if self.played.over:
            self.played.begin()
        return None

    def quit(self) -> None:
        """Leave."""
        raise Quit


COMMANDS: dict[str, tuple[Callable[[TerminalSession], None], str]] = {
    "help": (TerminalSession.show_help, "this list (also ?)"),
    "values": (TerminalSession.show_values, "the agent's value of every move"),
    "analyse": (TerminalSession.show_analysis, "all values, the chance to win and the line that the agent expects"),
    "review": (TerminalSession.show_review, "the agent's value of every move of the game so far"),
    "hint": (TerminalSession.show_hint, "the move that the agent would play"),
    "undo": (TerminalSession.undo, "take your last move back, with the answer to it"),
    "new": (TerminalSession.begin, "begin again"),
    "swap": (TerminalSession.swap, "play the other side"),
    "quit": (TerminalSession.quit, "leave (also Ctrl-D)"),
}
"""Commands that can be typed beside moves: the method that does it, and its meaning."""

SHORT = {"?": "help", "u": "undo", "q": "quit", "exit": "quit"}
AFTER_THE_END = {"": "new", "y": "new", "yes": "new", "n": "quit", "no": "quit"}
