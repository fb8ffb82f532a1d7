"""Positions and results as pages show them: plain data, which becomes JSON. All of it asks the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from beamzero.games import Game, State
from beamzero.records.record import is_chance, write_result
from beamzero.web.session import GameSession


def describe_position(session: GameSession, ply: int, variation: Sequence[str] = ()) -> dict[str, Any]:
    """Return the position after `ply` moves and a `variation`, with its legal moves, as a person may see it."""
    game, state = session.game, session.state_at(ply, variation)
    over = bool(np.asarray(game.over(state)))
    # In a line that is tried out the dice are not thrown: it ends there.
    hidden = over or is_chance(game, state) or not session.may_choose(state)
    return {
        "ply": ply,
        "variation": list(variation),
        "last": _last_places(session, ply, variation),
        "view": game.view(state, session.viewpoint(ply)),
        "turn": None if over else int(game.next_side(state)),
        "over": over,
        "reason": game.outcome_reason(state) if over else None,
        "legal": [
            {"move": game.action_name(state, action), "places": game.places(state, action)}
            for action in ([] if hidden else game.legal_actions(state))
        ],
    }


def _last_places(session: GameSession, ply: int, variation: Sequence[str]) -> list[list[int]]:
    """Return the places of the move that led to a position."""
    game = session.game
    if variation:
        before = session.state_at(ply, variation[:-1])
        return game.places(before, game.parse_action(before, variation[-1]))
    return game.places(session.followed.states[ply - 1], session.followed.actions[ply - 1]) if ply else []


def names_of_sides(game: Game, state: State) -> list[str]:
    """Return the game's names of the two sides."""
    return list(game.view(state).get("sides", ("First", "Second")))


def describe_result(session: GameSession, sides: Sequence[str]) -> dict[str, Any] | None:
    """Return the result of a game; None while it goes on."""
    if not session.over:
        return None
    return {"score": session.score, "text": write_result(session.score), "reason": session.reason(sides)}
