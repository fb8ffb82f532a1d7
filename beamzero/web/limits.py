"""How much one browser may ask of the server."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Limits:
    """Bounds that keep one visitor from taking what others need."""

    think_seconds: float = 10.0
    """The longest that an agent may think about a move."""
    sessions: int = 200
    """Games that one browser may keep; the oldest make room."""
    sockets: int = 16
    """Pages that one browser may have open."""
    all_sockets: int = 2000
    message_bytes: int = 16 * 1024
    """The largest message on a socket."""
    body_bytes: int = 256 * 1024
    """The largest request: a record of a game."""
    messages_per_second: float = 30.0
    """How fast one page may send messages for long."""
    burst: int = 120
    """How many it may send at once."""
    moves: int = 5000
    """Moves of a game that is handed in."""
    variation: int = 100
    """Moves of a line that is tried out."""
    watch_seconds: float = 0.7
    """The least time between two moves where agents play each other, so that people can follow."""
