"""Games of chess as PGN, the format of every chess program: tags, then the moves in SAN."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.records.record import GameRecord, read_result, write_result

VARIANTS = ("chess", "chess6x6")
"""The games whose records are PGN. The first one needs no Variant tag."""

_TAG = re.compile(r'\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]')
_SYMBOL = re.compile(
    r"""(?P<comment>\{[^}]*(?:\}|\Z)|;[^\n]*|^%[^\n]*)     # a comment
      | (?P<open>\() | (?P<close>\))               # a variation, which is no part of the game
      | (?P<mark>\$\d+|[!?]+)                      # an annotation of a move
      | (?P<number>\d+(?:\s*\.)+|\.+|\d+(?=\s))     # of a move
      | (?P<result>1-0|0-1|1/2-1/2|\*)
      | (?P<suffix>e\.p\.)
      | (?P<move>[^\s(){};$]+)""",
    re.VERBOSE | re.MULTILINE,
)


def write_pgn(record: GameRecord) -> str:
    """Write one game, with an empty line after it."""
    name = record.game.partition(":")[0]
    if name not in VARIANTS:
        raise BadInput(f"a game of {name} cannot be written as PGN, which is for {' and '.join(VARIANTS)}")
    first, second = (player or "?" for player in record.players)
    tags = {
        "Event": "?", "Site": "?", "Date": record.date.replace("-", ".") or "????.??.??", "Round": "?",
        "White": first, "Black": second, "Result": write_result(record.result),
    }  # fmt: skip
    if record.game != VARIANTS[0]:
        tags["Variant"] = record.game
    if record.start is not None:
        tags |= {"SetUp": "1", "FEN": record.start}
    if record.random_plies:
        tags["RandomPlies"] = str(record.random_plies)
    head = "".join(f'[{tag} "{_escaped(text)}"]\n' for tag, text in tags.items())
    text = " ".join([*_numbered(record), write_result(record.result)])
    return f"{head}\n{textwrap.fill(text, 80, break_long_words=False, break_on_hyphens=False)}\n\n"


def _numbered(record: GameRecord) -> Iterator[str]:
    """Yield the moves, with their numbers before White's, and before the first one in any case."""
    full, second = 1, False
    if record.start is not None:
        fields = record.start.split()
        full, second = int(fields[5]) if len(fields) > 5 else 1, len(fields) > 1 and fields[1] == "b"
    for ply, move in enumerate(record.moves, int(second)):
        number = full + ply // 2
        if ply % 2 == 0:
            yield f"{number}."
        elif ply == int(second):
            yield f"{number}..."
        yield move


def read_pgn(text: str) -> Iterator[GameRecord]:
    """Read the games of a file. Comments and variations are left out; moves are not checked yet."""
    for head, moves in _games(text):
        tags = {tag: re.sub(r"\\(.)", r"\1", value) for tag, value in _TAG.findall(head)}
        variant = tags.get("Variant", VARIANTS[0])
        game = VARIANTS[0] if variant.lower() in ("standard", "chess", "from position") else variant
        if game.partition(":")[0] not in VARIANTS:
            raise BadInput(f"the variant is {variant!r}, but must be one of {', '.join(VARIANTS)}")
        spec = make_game(game).spec
        names, result = _main_line(moves)
        if not tags and not names:
            continue  # a file of something else
        random_plies = tags.get("RandomPlies", "0")
        yield GameRecord(
            game=spec,
            moves=tuple(names),
            players=(_known(tags.get("White", "")), _known(tags.get("Black", ""))),
            result=read_result(tags.get("Result", result)),
            start=tags.get("FEN"),
            random_plies=int(random_plies) if random_plies.isdecimal() else 0,
            date="" if "?" in (date := tags.get("Date", "?")) else date.replace(".", "-"),
        )


def _games(text: str) -> Iterator[tuple[str, str]]:
    """Yield the tags and the moves of every game: a tag after moves begins another one."""
    head: list[str] = []
    moves: list[str] = []
    inside = False  # of a comment, which may hold what looks like a tag
    for line in text.splitlines():
        if not inside and _TAG.match(line.strip()):
            if any(part.strip() for part in moves):
                yield "\n".join(head), "\n".join(moves)
                head, moves = [], []
            head.append(line)
        else:
            moves.append(line)
            inside = _ends_in_a_comment(line, inside)
    if head or any(part.strip() for part in moves):
        yield "\n".join(head), "\n".join(moves)


def _ends_in_a_comment(line: str, inside: bool) -> bool:
    """Tell whether a comment is open at the end of a line; comments lie in braces, and not inside each other."""
    for sign in line:
        if inside:
            inside = sign != "}"
        elif sign == ";":
            return False
        else:
            inside = sign == "{"
    return inside


def _main_line(text: str) -> tuple[list[str], str]:
    """Parse the moves of the main line, and the result behind them."""
    names: list[str] = []
    depth, result = 0, "*"
    for symbol in _SYMBOL.finditer(text):
        kind = symbol.lastgroup
        depth = max(0, depth + {"open": 1, "close": -1}.get(kind or "", 0))
        if depth > 0:
            continue
        if kind == "move":
            names.append(symbol.group())
        elif kind == "result":
            result = symbol.group()
    return names, result


def _known(player: str) -> str:
    return "" if player == "?" else player


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
