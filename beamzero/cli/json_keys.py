"""The keys of what commands print with --json. Scripts rely on them: a key may be added, and none may go."""

from __future__ import annotations

from collections.abc import Mapping

JSON_KEYS: Mapping[str, Mapping[str, str]] = {}
