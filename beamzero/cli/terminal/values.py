"""Values of moves and positions by an agent, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from beamzero.players.analysis import Analysis, MoveValue, Step
from beamzero.records.review import REVIEW_TITLES, Review, Reviewed


def draw_values(moves: Sequence[MoveValue], policy: bool = False) -> Text:
    """Draw a line for each move: its value as a number and a bar, its probability if `policy`, best and proven."""
    width = max(4, *(len(move.move) for move in moves))
    head = f" {'move':<{width}}  value  {'loss ':>{_BAR}} {' win':<{_BAR}}" + ("  policy" if policy else "")
    return Text("\n").join(
        [Text(head.rstrip(), "dim"), *(_value_line(move, moves[0], width, policy) for move in moves)]
    )


def _value_line(move: MoveValue, best: MoveValue, width: int, policy: bool) -> Text:
    is_best = (move.policy, move.value) == (best.policy, best.value)
    line = Text.assemble(
        (f" {move.move:<{width}}", "bold" if is_best else ""),
        f"  {move.value:+z.2f}  " if move.tried else f"  {'-':>5}  ",
        draw_bar(move.value if move.tried else 0.0),
        f"  {move.policy:>6.1%}" if policy else "",
        ("  ◂ best", "bold green") if is_best else "",
        f"  proven {_result(move)}" if move.proven else "",
    )
    line.rstrip()
    return line


_BAR = 12
"""Characters on either side of a bar's middle."""


def draw_bar(value: float) -> Text:
    """Draw a bar from the middle: to the right and green for a win, to the left and red for a loss."""
    halves = round(min(abs(value), 1.0) * _BAR * 2)
    full, half = divmod(halves, 2)
    left = ("▐" * half + "█" * full) if value < 0 else ""
    right = ("█" * full + "▌" * half) if value > 0 else ""
    return Text.assemble((f"{left:>{_BAR}}", "red"), ("│", "dim"), (f"{right:<{_BAR}}", "green"))


def _result(move: MoveValue) -> str:
    result = {1.0: "win", 0.0: "draw", -1.0: "loss"}.get(move.value, "")
    return result if move.plies is None else f"{result} in {move.plies}"


def draw_steps(steps: Sequence[Step]) -> Table:
    """Draw a row for each depth: its value, its positions, their speed, and the best line."""
    table = Table(box=None, header_style="dim", padding=(0, 1, 0, 1))
    for name in ("depth", "value", "positions", "a second", "branching"):
        table.add_column(name, justify="right")
    table.add_column("best line", no_wrap=True, overflow="ellipsis")
    for before, step in zip([None, *steps], steps):
        table.add_row(
            str(step.depth),
            f"{step.value:+z.2f}",
            f"{step.nodes:,}",
            f"{step.nodes / max(step.seconds, 1e-9):,.0f}",
            f"{step.nodes / before.nodes:.1f}" if before else "",
            Text.assemble(" ".join(step.line), ("  proven", "green") if step.proven else ""),
        )
    return table


def draw_analysis(analysis: Analysis, side: Text) -> Group:
    """Draw an analysis of a position in which `side` is to move; the chance to win counts draws by half."""
    chance = (1 + analysis.value) / 2
    parts: list[Text | Table] = [
        Text.assemble(" ", side, f" to move, value {analysis.value:+z.2f} for that side, wins {chance:.0%}"), Text()
    ]  # fmt: skip
    if analysis.steps:
        parts += [draw_steps(analysis.steps), Text()]
    many = "s" if analysis.nodes > 1 else ""
    parts += [
        draw_values(analysis.moves, policy=not analysis.steps), Text(),
        Text.assemble(" best line  ", (" ".join(analysis.line), "bold")),
        Text(f" {analysis.nodes:,} position{many} searched", "dim"),
    ]  # fmt: skip
    return Group(*parts)


def draw_review_titles(names: Sequence[str], side_width: int, width: int) -> Text:
    """Draw the line above the moves of a review; `names` are those of the two sides, at the ends of the bars."""
    move, before, after, better = REVIEW_TITLES
    first, second = names
    bar = f"{second + ' ':>{_BAR}} {' ' + first:<{_BAR}}"
    return Text(f"{'':>4} {'':<{side_width}}  {move:<{width}}  {before:>6}  {after:>6}  {bar}  {better}", "dim")


def draw_move(row: Reviewed, side: Text, width: int, after: float | None = None, at_random: bool = False) -> Text:
    """Draw a line for a move of a game: its side, and in a review the values before and `after` it and the better move.

    Values and the bar, which shows that after the move, are for side 0.
    """
    style = {"??": "bold red", "?": "yellow"}.get(row.mark, "bold")
    line = Text.assemble(f"{row.number:>4} ", side, "  ", (f"{row.move + row.mark:<{width}}", style))
    if after is not None:
        line.append_text(Text.assemble(f"  {row.value:>+z6.2f}  {after:>+z6.2f}  ", draw_bar(after)))
    if at_random:
        line.append("  at random", "dim")
    elif after is not None:
        line.append(f"  {row.best}" if row.mark else "", "dim")
    return line


def draw_review_lines(seen: Review, sides: Sequence[Text], names: Sequence[str], random_plies: int = 0) -> list[Text]:
    """Draw the titles of a review and a line for each move; `sides` are the sides that moved."""
    side_width = max(len(side) for side in sides)
    width = max([len(REVIEW_TITLES[0]), *(len(row.move) + len(row.mark) for row in seen.moves)])
    lines = [draw_review_titles(names, side_width, width)]
    for row, side, after in zip(seen.moves, sides, seen.curve[1:], strict=True):
        padded = side.copy()
        padded.pad_right(side_width - len(side))
        lines.append(draw_move(row, padded, width, after, row.number <= random_plies))
    return lines
