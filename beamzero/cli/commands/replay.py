"""`beamzero replay`: saved games, move by move, with an agent's values of their positions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import jax
import typer
from rich.table import Table
from rich.text import Text

from beamzero.cli.common import AsJson, Seed, err, keyboard, out, print_json, progress_bar
from beamzero.cli.terminal.board import draw_board, in_colour, rolled_text, side_text
from beamzero.cli.terminal.values import draw_bar, draw_move, draw_review_lines
from beamzero.core.errors import BadInput
from beamzero.games import OPEN, make_game
from beamzero.games.views import side_names
from beamzero.players import make_player
from beamzero.plots.measures import draw_review
from beamzero.plots.style import check_picture_path, write_png
from beamzero.records.files import FORMATS, read_records
from beamzero.records.record import Followed, GameRecord, replay_record, write_result
from beamzero.records.review import Review, Reviewed, review
from beamzero.storage.files import writing

_STEPS = "Enter goes on, b back, a number there, q leaves"


def replay_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=f"Games that were saved: {', '.join(FORMATS)}.")],
    number: Annotated[
        int | None, typer.Option(min=1, help="Which game of the file; by default they are listed.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="An agent that evaluates every position.")] = None,
    game: Annotated[
        str | None, typer.Option(help="The game, where a .txt file does not say it, or it is a Python file of yours.")
    ] = None,
    step: Annotated[bool, typer.Option("--step", help="Show one position at a time.")] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw into this PNG who was ahead at each move.")
    ] = None,
    seed: Seed = 0,
    json: AsJson = False,
) -> None:
    """Step through a saved game, with an agent's values of its positions, and draw who was ahead at each move."""
    named = None if game is None else make_game(game)
    records = read_records(file, game)
    if plot is not None and agent is None:
        raise BadInput("--plot needs --agent as well: someone has to say who is ahead")
    if plot is not None:
        check_picture_path(plot)
    if number is None and len(records) > 1:
        if agent is not None or step:
            raise BadInput(f"{file} holds {len(records)} games: give --number as well")
        return _list(records, json)
    number = number or 1
    if number > len(records):
        raise BadInput(f"{file} holds {len(records)} game{'s' * (len(records) > 1)}, but number is {number}")
    followed = replay_record(records[number - 1], f"{file}: game {number}", named=named)
    seen = None if agent is None else _review(followed, agent, seed)
    if plot is not None and seen is not None and agent is not None:
        names = (followed.record.players[0] or "the first side", followed.record.players[1] or "the second side")
        with writing(str(plot)):
            write_png(draw_review(seen, f"{followed.game.spec}: {names[0]} v {names[1]}", agent, names), plot)
    if json:
        return print_json(_as_json(followed, seen))
    if step:
        _step_through(followed, seen)
    else:
        _show_all(followed, seen)
    if plot is not None:
        out.print(f"who was ahead when is in {plot}", style="dim")
    return None


def _review(followed: Followed, agent: str, seed: int) -> Review:
    player = make_player(agent, followed.game)
    with progress_bar("thinking") as update:
        return review(followed, player, jax.random.key(seed), lambda done, total: update("thinking", done, total))


# --- all games of a file ---------------------------------------------------------------------------------------------


def _list(records: list[GameRecord], json: bool) -> None:
    if json:
        return print_json({"games": [record.as_json() for record in records]})
    table = Table(box=None, header_style="bold")
    for title in ("number", "game", "first", "second", "result", "moves"):
        table.add_column(title, justify="right" if title in ("number", "moves") else "left")
    for number, record in enumerate(records, 1):
        table.add_row(str(number), record.game, *record.players, write_result(record.result), str(len(record.moves)))
    out.print(table)
    out.print(f"\n{len(records)} games; --number shows one of them", style="dim")
    return None


# --- one game --------------------------------------------------------------------------------------------------------


def _as_json(followed: Followed, seen: Review | None) -> dict[str, object]:
    about = {**followed.record.as_json(), "game": followed.game.spec, "reason": _reason(followed)}
    if seen is not None:
        about["values"] = seen.curve
        about["review"] = seen.as_dicts()
    return about


def _reason(followed: Followed) -> str | None:
    return followed.game.outcome_reason(followed.states[-1]) if followed.over else None


def _show_all(followed: Followed, seen: Review | None) -> None:
    """Print the last board, and every move."""
    out.print(_title(followed), "", _board(followed, len(followed.actions)), "", sep="\n")
    if followed.record.start is not None:
        out.print(f"from {followed.record.start}", style="dim", soft_wrap=True)
    for line in _lines(followed, seen):
        out.print(line, soft_wrap=True)
    out.print(Text(f"\n{_ending(followed)}", "bold"))


def _plain(followed: Followed) -> list[Reviewed]:
    """List the moves of a game without a review."""
    game = followed.game
    named = zip(followed.states, followed.actions, strict=False)
    return [
        Reviewed(number, int(game.player(state)), game.action_name(state, action), 0.0, "", 0.0)
        for number, (state, action) in enumerate(named, 1)
    ]


def _lines(followed: Followed, seen: Review | None) -> Iterator[Text]:
    """Draw each move, below it the roll that followed, and where an agent has seen them titles above."""
    rows = seen.moves if seen is not None else _plain(followed)
    if seen is not None and rows:
        names = side_names(followed.game.view(followed.states[0]))
        sides = [_side(followed, row) for row in rows]
        title, *lines = draw_review_lines(seen, sides, names, followed.record.random_plies)
        yield title
    else:
        lines = [_line(followed, row) for row in rows]
    for row, line in zip(rows, lines, strict=True):
        yield line
        if thrown := followed.thrown[row.number - 1]:
            yield _rolled(followed, row, thrown)


def _rolled(followed: Followed, row: Reviewed, thrown: str) -> Text:
    return Text.assemble("     ", rolled_text(followed.game, followed.states[row.number], thrown, in_colour(out)))


def _line(followed: Followed, row: Reviewed) -> Text:
    """Draw a move without values."""
    return draw_move(row, _side(followed, row), 4, at_random=row.number <= followed.record.random_plies)


def _side(followed: Followed, row: Reviewed) -> Text:
    return side_text(followed.game, followed.states[row.number - 1], row.side, in_colour(out), brief=True)


def _title(followed: Followed) -> Text:
    first, second = (name or "?" for name in followed.record.players)
    date = f", {followed.record.date}" if followed.record.date else ""
    return Text.assemble((followed.game.spec, "bold"), f": {first} v {second}{date}")


def _ending(followed: Followed) -> str:
    known = followed.record.result
    if known is None and followed.over:
        known = float(followed.game.score(followed.states[-1]))
    result = write_result(known)
    return f"{result}  {_reason(followed) or ('the game was not finished' if result == '*' else '')}".rstrip()


def _board(followed: Followed, ply: int) -> Text:
    before = followed.states[ply - 1] if ply else None
    seat = OPEN if followed.game.hidden else 0
    return draw_board(followed.game, followed.states[ply], before, seat, in_colour(out))


def _print_step(followed: Followed, row: Reviewed) -> None:
    """Print the move that led to a position, and the roll that followed."""
    out.print(_line(followed, row), soft_wrap=True)
    if thrown := followed.thrown[row.number - 1]:
        out.print(_rolled(followed, row, thrown), soft_wrap=True)


def _step_through(followed: Followed, seen: Review | None) -> None:
    """Show one position at a time, as the person asks for them."""
    ask, ply, last = keyboard(out), 0, len(followed.actions)
    rows = seen.moves if seen is not None else _plain(followed)
    out.print(_title(followed), Text(_STEPS, "dim"), sep="\n")
    while True:
        out.print("", _board(followed, ply), "", sep="\n")
        if ply:
            _print_step(followed, rows[ply - 1])
        if seen is not None:
            value = seen.curve[ply]
            out.print(Text.assemble(f"     value {value:+z.2f}  ", draw_bar(value)))
        if ply == last:
            out.print(Text(_ending(followed), "bold"))
        try:
            typed = ask(f"{ply} of {last} > ").strip().lower()
        except (EOFError, KeyboardInterrupt) as end:
            out.print()
            if isinstance(end, KeyboardInterrupt):
                raise
            return None
        if typed in ("q", "quit", "exit"):
            return None
        if typed.isdecimal():
            ply = int(typed)
        elif typed in ("b", "back", "p"):
            ply -= 1
        elif typed in ("", "n", "next"):
            ply += 1
        else:
            err.print(_STEPS, style="yellow")
        ply = min(max(ply, 0), last)
