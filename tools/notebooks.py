"""Make the notebooks of examples/ from its scripts: ``python tools/notebooks.py``; with ``--check`` only compare.

A script has cells: ``# %%`` begins code, ``# %% [markdown]`` text, ``# %% install`` code that stands in comments and
that only the notebook runs. Where a cell ends by printing one thing or by saving a picture, the notebook shows it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
_MARK = re.compile(r"^# %%(.*)$", re.MULTILINE)


def scripts() -> list[Path]:
    """List the scripts that have cells."""
    return [path for path in sorted(EXAMPLES.glob("*.py")) if _MARK.match(path.read_text(encoding="utf-8"))]


def notebook(script: str) -> dict[str, Any]:
    """Make the notebook of a script, without outputs."""
    _, *parts = _MARK.split(script)
    cells = [_cell(title.strip(), text.strip("\n")) for title, text in zip(parts[::2], parts[1::2], strict=True)]
    for cell in cells:
        # A notebook wants a name for each cell; this one stays while the cell does.
        seed = "".join([cell["cell_type"], *cell["source"]])
        cell["id"] = hashlib.sha256(seed.encode()).hexdigest()[:12]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cell(title: str, text: str) -> dict[str, Any]:
    """Make one cell out of its title and its text."""
    if title == "[markdown]":
        return {"cell_type": "markdown", "metadata": {}, "source": _lines(_without_marks(text))}
    tags = {"tags": ["install"]} if title == "install" else {}
    source = _without_marks(text) if title == "install" else _shown(text)
    return {"cell_type": "code", "execution_count": None, "metadata": tags, "outputs": [], "source": _lines(source)}


def _without_marks(text: str) -> str:
    return "\n".join(re.sub("^# ?", "", line) for line in text.splitlines())


def _shown(code: str) -> str:
    """Let a cell end with what it prints or saves, so that a notebook draws it."""
    body = ast.parse(code).body
    last: ast.expr | None
    match body[-1]:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[thing], keywords=[])) if not isinstance(
            thing, ast.JoinedStr | ast.IfExp
        ):
            last = thing
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Call() as thing, attr="savefig"))):
            last = thing
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="savefig"))):
            last = None  # a notebook draws the figures of pyplot by itself
        case _:
            return code
    before = code.splitlines()[: body[-1].lineno - 1]
    return "\n".join([*before, (last and ast.get_source_segment(code, last)) or ""]).strip("\n")


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def write(script: Path) -> str:
    """Write the notebook of a script as text."""
    return json.dumps(notebook(script.read_text(encoding="utf-8")), indent=1, ensure_ascii=False) + "\n"


def stale() -> list[str]:
    """Name the notebooks that are not what their scripts say, and those that have no script."""
    wanted = {script.with_suffix(".ipynb"): write(script) for script in scripts()}
    there = {path: path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.ipynb")}
    return sorted(path.name for path in wanted.keys() | there.keys() if wanted.get(path) != there.get(path))


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if names := stale():
            sys.exit(f"not what their scripts say: {', '.join(names)}; run python tools/notebooks.py")
    else:
        for path in scripts():
            path.with_suffix(".ipynb").write_text(write(path), encoding="utf-8")
