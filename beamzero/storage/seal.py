"""JSON with a digest of itself inside, so that a changed byte shows.

A seal shows damage and edits by hand, not forgery: a person who changes a file on purpose can seal it anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

SEAL = "seal"


def seal(content: Mapping[str, Any]) -> bytes:
    """Encode `content` as JSON that ends with the SHA-256 of all before it: the one text that it may have."""
    body = json.dumps({key: value for key, value in content.items() if key != SEAL}, indent=1)
    return f'{body[:-2]},\n "{SEAL}": "{hashlib.sha256(body.encode()).hexdigest()}"\n}}\n'.encode()


def unseal(data: bytes) -> dict[str, Any]:
    """Decode what `seal` gave, without the seal; ValueError where any byte of it was changed."""
    try:
        content = json.loads(data)
        whole = seal(content) == data
    except (ValueError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise ValueError("its content was changed or cut")
    del content[SEAL]
    return content


def seal_line(content: Mapping[str, Any]) -> bytes:
    """Encode `content` as one line of JSON, with half of a SHA-256 at its end."""
    body = json.dumps({key: value for key, value in content.items() if key != SEAL}, allow_nan=False)
    return f'{body[:-1]}, "{SEAL}": "{hashlib.sha256(body.encode()).hexdigest()[:32]}"}}\n'.encode()


def unseal_line(data: bytes) -> dict[str, Any]:
    """Decode what `seal_line` gave, without the seal; ValueError where any byte of it was changed."""
    content = json.loads(data)
    if not isinstance(content, dict) or seal_line(content) != data:
        raise ValueError("the line was changed")
    del content[SEAL]
    return content
