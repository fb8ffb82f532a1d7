"""A search from outside as a player: ``file.py:Class,OPTION=VALUE``, or by the name that a package offers."""

from __future__ import annotations

from collections.abc import Mapping

from beamzero.core.errors import BadInput
from beamzero.core.registry import SEARCHES
from beamzero.core.spec import Spec, field_types
from beamzero.games import Game
from beamzero.players.classic import evaluator_of_options
from beamzero.players.options import LIMIT_OPTIONS, take, take_limit
from beamzero.players.player import Player, SearchPlayer

BUILT_IN_SEARCHES: Mapping[str, str] = {}
"""None: the searches of this package are named by texts of their own."""


def make_own_search(name: str, spec: Spec, game: Game) -> Player:
    """Make the player that searches by a registered class, whose fields are options; it values as alpha-beta does."""
    kind = SEARCHES[spec.head]
    fields = field_types(kind)
    _, options = take(spec, name, "", {**fields, **LIMIT_OPTIONS, "weights": str, "by": str})
    try:
        search = kind(**{key: value for key, value in options.items() if key in fields})
    except (BadInput, TypeError) as error:
        raise BadInput(f"{name}: {error}") from None
    limit = take_limit(name, {key: value for key, value in options.items() if key not in fields})
    # A user's search may choose at random between equal moves, so games are not taken to repeat.
    return SearchPlayer(name, game, search, evaluator_of_options(name, game, options), deterministic=False, limit=limit)
