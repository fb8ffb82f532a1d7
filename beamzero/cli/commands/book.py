"""`beamzero book`: makes an opening book, or looks up a position in one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from beamzero.cli.common import AsJson, GameName, Moves, Seed, out, print_json, progress_bar
from beamzero.cli.moves import play_moves, split_moves
from beamzero.core.errors import BadInput
from beamzero.core.spec import quote
from beamzero.games import Game, make_game
from beamzero.players import make_player
from beamzero.players.book import look_up, make_table, open_book
from beamzero.players.player import batch_of_one
from beamzero.search.children import is_narrow
from beamzero.storage.bookfile import Book, check_book_path, save_book
from beamzero.training.opening_book.from_games import FromSelfPlay, self_play_book
from beamzero.training.opening_book.from_search import FromSearch, search_book

AGENT = "alphabeta:nodes=100000"

_Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to write the book.")]
_Agent = Annotated[str, typer.Option(help="The agent whose moves the book holds; the deeper it searches the better.")]
_Plies = Annotated[int, typer.Option(help="How many plies of a game the book covers.")]
_AnyPlies = Annotated[
    int | None,
    typer.Option(help="Plies at the start of a game in which the book follows every move of both sides; 2 by default."),
]
_Replies = Annotated[
    int | None,
    typer.Option(
        help="Moves of the other side that the book follows, the best ones by a short search; 0 for all. By default "
        "all where positions have few moves, else 4."
    ),
]
_SelfPlay = Annotated[
    int | None,
    typer.Option(
        metavar="GAMES", help="Let the agent play this many games against itself, and take the moves that did best."
    ),
]
_Least = Annotated[
    int | None,
    typer.Option(help="How often a position must occur in these games to be in the book; 20 by default."),
]
_Minutes = Annotated[float | None, typer.Option(help="Stop after this long, and write the book so far.")]
_Read = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Make no book, but show the move of this one after --moves.")
]


def book_command(
    game: GameName,
    path: _Out = None,
    agent: _Agent = AGENT,
    plies: _Plies = 8,
    any_plies: _AnyPlies = None,
    replies: _Replies = None,
    self_play: _SelfPlay = None,
    least: _Least = None,
    minutes: _Minutes = None,
    seed: Seed = 0,
    read: _Read = None,
    moves: Moves = "",
    json: AsJson = False,
) -> None:
    """Make an opening book by deep search or from self-play; any agent plays from it with book=FILE.

    The file is written whole, at the end: of two commands that write the same one, the last to end is kept.
    """
    rules = make_game(game)
    if rules.hidden:
        raise BadInput(f"there are no books for {rules.name}: they go by the whole position, which it hides")
    if read is not None:
        if path is not None:
            raise BadInput("give --out to make a book or --read to read one, not both")
        if (any_plies, replies, self_play, least, minutes) != (None,) * 5:
            raise BadInput("--read only reads: options for making a book go with --out")
        return _show_position(rules, read, moves, json)
    if path is None:
        raise BadInput("name the file of the book with --out FILE")
    if moves:
        raise BadInput("--moves goes with --read: a book begins where the game does")
    plan = _plan(rules, plies, any_plies, replies, self_play, least)
    plan.check(rules)
    check_book_path(path)
    player = make_player(agent, rules)
    began = time.monotonic()
    with progress_bar("opening book") as update:
        if isinstance(plan, FromSelfPlay):
            book = self_play_book(rules, player, plan, minutes, seed, update)
        else:
            book = search_book(rules, player, plan, minutes, seed, update)
    save_book(path, book)
    _report(rules, book, path, time.monotonic() - began, json)
    return None


def _plan(
    game: Game, plies: int, any_plies: int | None, replies: int | None, self_play: int | None, least: int | None
) -> FromSearch | FromSelfPlay:
    if self_play is None:
        if least is not None:
            raise BadInput("--least goes with --self-play")
        return FromSearch(
            plies,
            any_plies=min(FromSearch.any_plies, plies) if any_plies is None else any_plies,
            replies=(0 if is_narrow(game) else 4) if replies is None else replies,
        )
    if any_plies is not None or replies is not None:
        raise BadInput("--any-plies and --replies go with a deep search, not with --self-play")
    return FromSelfPlay(self_play, plies, least=FromSelfPlay.least if least is None else least)


def _report(game: Game, book: Book, path: Path, seconds: float, json: bool) -> None:
    size = path.stat().st_size
    if json:
        made = {"game": game.spec, "book": str(path), "positions": len(book), "bytes": size}
        return print_json({**made, "seconds": round(seconds, 1), "about": dict(book.about)})
    out.print(f"{path}: {_describe(book)}, {size:,} bytes, made in {seconds:.0f} s", soft_wrap=True)
    if book.about.get("whole_plies", book.about["plies"]) < book.about["plies"]:
        out.print("the time was over before all plies were done", style="dim")
    out.print(f"use it with any agent: alphabeta:depth=6,book={quote(str(path))}", style="dim", soft_wrap=True)
    return None


def _describe(book: Book) -> str:
    about = book.about
    if about.get("from") == "self-play":
        how = f"of {about.get('plies')} plies from {about.get('games')} games of {about.get('agent')}"
    else:
        how = f"of {about.get('whole_plies')} plies by {about.get('agent')}"
    return f"{len(book):,} positions {how}"


def _show_position(game: Game, path: Path, moves: str, json: bool) -> None:
    book = open_book(str(path), game)
    state = play_moves(game, moves)
    answer = look_up(game, make_table(book), batch_of_one(state))
    found: dict[str, Any] = {"move": None, "value": None}
    if bool(answer.found[0]) and not bool(game.over(state)):
        found = {"move": game.action_name(state, int(answer.action[0])), "value": float(answer.value[0]) + 0.0}
    if json:
        about = {"game": game.spec, "book": str(path), "positions": len(book), "about": dict(book.about)}
        return print_json({**about, "moves": split_moves(moves), **found})
    out.print(f"{path}: {_describe(book)}", soft_wrap=True)
    where = f"after {', '.join(split_moves(moves))}" if split_moves(moves) else "at the start"
    if found["move"] is None:
        out.print(f"{where} the book has no move")
    else:
        out.print(
            Text.assemble(f"{where} the book plays ", (found["move"], "bold"), f" (value {found['value']:+z.2f})")
        )
    return None
