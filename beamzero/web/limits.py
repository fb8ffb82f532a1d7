"""Limits of what one browser may ask of the server."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits that keep one visitor from taking what others need."""

    think_seconds: float = 10.0
    """The longest that an agent may think about a move."""
    sessions: int = 200
    """Games that one browser may keep; the oldest are deleted beyond that."""
    sockets: int = 16
    """Pages that one browser may have open."""
    all_sockets: int = 2000
    message_bytes: int = 16 * 1024
    """The largest message on a socket."""
    body_bytes: int = 256 * 1024
    """The largest request: a record of a game."""
    messages_per_second: float = 30.0
    """Messages a second that one page may send for long."""
    burst: int = 120
    """Messages that one page may send at once."""
    moves: int = 5000
    """The most moves of a game that a browser uploads."""
    variation: int = 100
    """The most moves of a line that is tried out."""
    watch_seconds: float = 0.7
    """The least time between two moves where agents play each other, so that people can follow."""
