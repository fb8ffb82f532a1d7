"""Damage every kind of file that beamzero writes, at places drawn by seed, and look at what readers make of it.

A reader may refuse the file in one line, or give what it gave for the whole file. Anything else is a failure: a
traceback, another result without a word, or another file that changed. Where the damage is sealed anew, as a stranger
could do who means harm, the result may differ, but there must be no traceback.
"""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from soak.kills import lines, weights
from soak.tally import Clock, Said, Tally, command, hashes, inside, run_words

RESUME = ["train", "tic_tac_toe", "--run", "run", "--resume", "--iterations", "8"]
RATE = ["rate", "tic_tac_toe", "lookahead:1", "--store", "results.sqlite", "--games", "0", "--json"]
BATTLE = ["battle", "tic_tac_toe", "random", "random", "--games", "4"]
KALAH = "kalah:houses=3,seeds=2"
COMPARE = [
    "compare", "tic_tac_toe", "--recipes", "tic_tac_toe_compare_probs", "tic_tac_toe_compare_alphazero",
    "--amount", "2000", "--seeds", "1", "--points", "1", "--rate-games", "4", "--rate-against", "random",
    "--battle-games", "2", "--play-evaluations", "4",
    "--out", "compare", "--json",
]  # fmt: skip

HOSTILE: tuple[Any, ...] = (
    None, True, 0, -1, 7, 10**30, 1e308, "", "text", "nan", "../../x", "evil.py:X", [], [[]], {}, {"a": {"b": []}},
    [1, "2", None], "x" * 10_000,
)  # fmt: skip
"""Values that take the place of what a JSON file says somewhere."""


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of file: where it lies in the workspace, and what reads it."""

    name: str
    pattern: str
    read: Callable[[], object] | None = None
    """Reads the workspace and returns a result to compare; raises `Refused` or `Broken`. None: no command reads it."""
    reseal: Callable[[bytes, random.Random], bytes] | None = None
    """Damage that has the right digest."""
    free: bool = False
    """True where any content is valid, as in a list of moves: then another result is no failure."""


class Refused(Exception):
    """The reader said in one line why it does not read that."""


class Broken(Exception):
    """The reader ended in a way that no reader may."""


def said(words: list[str]) -> Said:
    """Run a command and return its output; raises `Refused` or `Broken` where it did not end well."""
    found = command(words)
    if found.status == 0:
        return found
    last = [line for line in found.err.splitlines() if line.startswith("beamzero: ")]
    if found.status in (1, 2) and len(last) == 1 and "Traceback" not in found.err:
        raise Refused(last[0])
    raise Broken(f"status {found.status} of {' '.join(words)}: {found.err[-600:]}")


@dataclasses.dataclass
class Ended:
    """The result of a run. Lines of metrics that were reported as lost may be missing; nothing else may differ."""

    weights: dict[str, str]
    lines: list[dict[str, object]]
    lost: bool

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ended) or self.weights != other.weights:
            return False
        if self.lost:
            return all(line in other.lines for line in self.lines)
        return self.lines == other.lines


def resumed() -> object:
    """Resume a run after the damage. Returns its result."""
    found = said(RESUME)
    return Ended(weights(Path("run")), lines(Path("run")), "has no line for" in found.err)


def listed_and_resumed() -> object:
    said(["runs", ".", "--json"])
    return resumed()


def printed(*words: str) -> Callable[[], object]:
    return lambda: said(list(words)).out


def both_games() -> object:
    return [said(["replay", f"games.{kind}", "--number", "1", "--json"]).out for kind in ("jsonl", "txt")]


def seen_tables() -> object:
    from beamzero.core.errors import BadInput
    from beamzero.web.store import SessionStore

    try:
        with warnings.catch_warnings(action="error", category=UserWarning):
            store = SessionStore(Path("web.sqlite"))
        try:
            return [store.get("one"), store.of_client("me", 10)]
        finally:
            store.close()
    except (BadInput, UserWarning) as error:
        raise Refused(str(error)) from None
    except Exception as error:
        raise Broken(repr(error)) from None


# --- damage that has the right digest ---------------------------------------------------------------------------------


def _change_json(content: Any, rng: random.Random) -> Any:
    """Change JSON at a random place: replace, remove or rename something."""
    places = list(_places(content))
    if not places:
        return rng.choice(HOSTILE)
    holder, key = rng.choice(places)
    how = rng.randrange(4)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[f"{key}x"] = holder.pop(key)
    else:
        holder[key] = rng.choice(HOSTILE)
    return content


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in list(pairs):
        yield content, key
        yield from _places(value)


def sealed_json(data: bytes, rng: random.Random) -> bytes:
    from beamzero.storage.seal import seal, unseal

    content = _change_json(unseal(data), rng)
    return seal(content) if isinstance(content, dict) and content else b"{}"


def sealed_line(data: bytes, rng: random.Random) -> bytes:
    from beamzero.storage.seal import seal_line, unseal_line

    rows = data.splitlines(keepends=True)
    number = rng.randrange(len(rows))
    content = _change_json(unseal_line(rows[number]), rng)
    rows[number] = seal_line(content) if isinstance(content, dict) and content else b"{}\n"
    return b"".join(rows)


def sealed_agent(data: bytes, rng: random.Random) -> bytes:
    """Change what an agent file says of itself, or its tensors, and give it the digest of that."""
    import numpy as np

    from beamzero.storage.agentfile import load_agent, save_agent

    path = Path("hostile.safetensors")
    path.write_bytes(data)
    tensors, info = load_agent(path)
    name = rng.choice(sorted(tensors))
    match rng.randrange(6):
        case 0:
            tensors[name] = np.full_like(tensors[name], rng.choice([np.nan, np.inf, 1e38]))
        case 1:
            tensors[name] = tensors[name].astype(rng.choice([np.bool_, np.int8, np.float64]))
        case 2:
            tensors[rng.choice(["a", f"{name}/b", "/".join("x" * 1000), "", "/", name + "\0"])] = tensors[name]
        case 3:
            del tensors[name]
        case _:
            info = _change_json(info, rng)
    save_agent(path, tensors, info if isinstance(info, dict) else {})
    found = path.read_bytes()
    path.unlink()
    return found


def changed_json_line(data: bytes, rng: random.Random) -> bytes:
    rows = data.splitlines()
    number = rng.randrange(len(rows))
    rows[number] = json.dumps(_change_json(json.loads(rows[number]), rng)).encode()
    return b"\n".join([*rows, b""])


def changed_json(data: bytes, rng: random.Random) -> bytes:
    return json.dumps(_change_json(json.loads(data), rng), indent=1).encode()


# --- the kinds --------------------------------------------------------------------------------------------------------

AGENT = ["battle", "tic_tac_toe", "probs:agent.safetensors", "lookahead:1", "--games", "4", "--json"]
BOOK = ["battle", "tic_tac_toe", "lookahead:1,book=small.book", "lookahead:1", "--games", "4", "--json"]
TABLE = ["battle", KALAH, "alphabeta:depth=1,endgame=small.table", "random", "--games", "4", "--json"]
WEIGHTS = ["battle", KALAH, "alphabeta:depth=1,weights=small.json", "random", "--games", "4", "--json"]

KINDS = (
    Kind("run.json", "run/run.json", listed_and_resumed, sealed_json),
    Kind("metrics", "run/metrics.jsonl", listed_and_resumed, sealed_line),
    Kind("ratings of opponents", "run/anchors.json", resumed, sealed_json),
    Kind("manifest of a checkpoint", "run/checkpoints/*/manifest.json", resumed, sealed_json),
    Kind("arrays of a checkpoint", "run/checkpoints/*/tree/**/*", resumed),
    Kind("mark of the best", "run/checkpoints/best", resumed, sealed_json),
    Kind("lock", "**/lock", resumed, free=True),
    Kind("agent", "agent.safetensors", printed(*AGENT), sealed_agent),
    Kind("book", "small.book", printed(*BOOK)),
    Kind("endgame table", "small.table", printed(*TABLE)),
    Kind("weights", "small.json", printed(*WEIGHTS), free=True),  # numbers that a person may edit
    Kind("records", "games.jsonl", both_games, changed_json_line, free=True),
    Kind("lines of moves", "games.txt", both_games, free=True),
    Kind("results", "results.sqlite", printed(*RATE)),
    Kind("tables of the server", "web.sqlite", seen_tables),
    Kind("points of a comparison", "compare/tic_tac_toe*-0.json", printed(*COMPARE), sealed_json),
    Kind("terms of a comparison", "compare/compare.json", printed(*COMPARE), changed_json, free=True),
    Kind("agents of a comparison", "compare/*.safetensors", printed(*COMPARE)),
    Kind("pictures", "**/*.png"),
    Kind("tensorboard", "run/tensorboard/*"),
    Kind("tables for spreadsheets", "**/*.csv"),
    Kind("journals of SQLite", "*.sqlite-*"),
)


OPENED = [Path(name) for name in ("run", "web.sqlite", "web.sqlite-wal", "web.sqlite-shm")]
"""Files that a reader may write to: a run goes on, and a database keeps its own files."""


def make_workspace(folder: Path) -> None:
    """Write a file of each kind."""
    folder.mkdir()
    with inside(folder):
        for words in (
            run_words("probs", Path("run"), "--seed", "1"),
            ["export", "run", "agent.safetensors"],
            [*BATTLE, "--save", "games.jsonl"],
            [*BATTLE, "--save", "games.txt"],
            ["rate", "tic_tac_toe", "lookahead:1", "--store", "results.sqlite", "--games", "20"],
            ["book", "tic_tac_toe", "--agent", "lookahead:2", "--plies", "2", "--out", "small.book"],
            ["table", KALAH, "--seeds", "4", "--out", "small.table"],
            ["fit-eval", KALAH, "--out", "small.json", "--games", "20", "--rounds", "1", "--depth", "1",
             "--trial-games", "4", "--battle-games", "0"],
            COMPARE,
        ):  # fmt: skip
            said(words)
        from beamzero.web.store import SessionStore

        store = SessionStore(Path("web.sqlite"))
        for name in ("one", "two"):
            store.add(name, "me", "tic_tac_toe", {"moves": ["a1", "b2"]}, {"title": name})
        store.close()


def unknown_files(folder: Path) -> list[str]:
    """List the files in a workspace that no kind covers."""
    known = {path for kind in KINDS for path in folder.glob(kind.pattern)}
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path not in known)


def damage_trials(tally: Tally, folder: Path, seed: int, each: int, clock: Clock) -> None:
    """Damage `each` files of every kind, until the clock says stop."""
    whole = folder / "whole"
    make_workspace(whole)
    for name in unknown_files(whole):
        tally.fail("kinds of files", seed, f"{name} is of no kind that is listed here")
    readers = [kind for kind in KINDS if kind.read is not None]
    right: dict[str, object] = {}
    for kind in readers:
        right[kind.name] = _read(kind, whole, folder / "right", None)[1]
    for number in range(each):
        for kind in readers:
            if clock.is_over:
                return
            _try(tally, kind, whole, folder / "damaged", f"{seed}-{kind.name}-{number}", right[kind.name])


def _try(tally: Tally, kind: Kind, whole: Path, folder: Path, seed: str, right: object) -> None:
    rng = random.Random(seed)
    resealed = kind.reseal is not None and rng.random() < 0.4
    how, found = _read(kind, whole, folder, lambda files: _damage(rng.choice(files), kind, rng, resealed))
    if how == "broken":
        tally.fail(kind.name, seed, str(found))
    elif how == "read" and found != right and not resealed and not kind.free:
        tally.fail(kind.name, seed, "another result without a word")
    elif how == "changed":
        tally.fail(kind.name, seed, f"other files changed: {found}")
    else:
        tally.add(f"{kind.name}: {'refused' if how == 'refused' else 'read as before' if found == right else 'read'}")


def _read(kind: Kind, whole: Path, folder: Path, harm: Callable[[list[Path]], None] | None) -> tuple[str, object]:
    """Read a copy of the workspace with one file damaged, and check that the others are as before."""
    assert kind.read is not None
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    with inside(folder):
        if harm is not None:
            harm(sorted(path for path in Path().glob(kind.pattern) if path.is_file()))
        before = hashes(Path(), OPENED)
        try:
            how, found = "read", kind.read()
        except Refused as error:
            how, found = "refused", str(error)
        except Broken as error:
            return "broken", str(error)
        except BaseException as error:
            return "broken", repr(error)
        after = hashes(Path(), OPENED)
        changed = [name for name in before if after.get(name) != before[name] and not name.endswith((".csv", ".png"))]
        return ("changed", changed) if changed else (how, found)


def _damage(path: Path, kind: Kind, rng: random.Random, resealed: bool) -> None:
    data = path.read_bytes()
    if resealed and kind.reseal is not None:
        path.write_bytes(kind.reseal(data, rng))
        return
    path.write_bytes(damaged(data, rng))


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Change `data` in one of the ways in which files are damaged."""
    place = rng.randrange(len(data) + 1)
    size = rng.choice([1, 1, 1, 4, 100, 4096])
    noise = rng.randbytes(size)
    at = min(place, max(len(data) - 1, 0))
    choices = [
        data[:place],  # cut
        data[:place] + noise + data[place:],
        data[:place] + data[place + size :],
        data[:place] + noise + data[place + size :],
        data[:place] + bytes(size) + data[place + size :],  # a block that was never written
        data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :] if data else noise,
        data + data[place:],
        b"",
    ]
    found = rng.choice(choices[:-1] if rng.random() < 0.95 else choices)
    return found if found != data else data + b"\0"
