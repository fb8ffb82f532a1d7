"""Makes the examples of docstrings, which begin with ``>>>``, into blocks of code that Markdown knows."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


def fence_examples(text: str) -> str:
    """Put each example of a docstring between fences."""
    return EXAMPLE.sub(lambda example: f"```pycon\n{example.group()}\n```", text)


class Examples(griffe.Extension):
    """An extension of griffe, which reads the code for the reference."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of whatever was read."""
        if obj.docstring is not None:
            obj.docstring.value = fence_examples(obj.docstring.value)
