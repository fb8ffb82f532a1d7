"""The number of games that a battle may have: memory of its openings, its games and its players' searches."""

from __future__ import annotations

from collections.abc import Sequence

import jax

from beamzero.core.errors import BadInput
from beamzero.games import Game
from beamzero.players.player import Player
from beamzero.search.memory import Needs, check_memory, heaviest, state_bytes, together

MOST_GAMES = 10**8
"""The most games of one battle, however much memory there is."""


def check_games(
    game: Game, players: Sequence[Player], games: int, what: str = "games", searched_elsewhere: bool = False
) -> None:
    """Raise BadInput where battles of `games` games between the players cannot be, or would take too much memory.

    `what` is the name of that number in errors. With `searched_elsewhere` other machines choose the moves.
    """
    if not 2 <= games <= MOST_GAMES or games % 2:
        limits = f"2 or more, at most {MOST_GAMES}"
        raise BadInput(
            f"{what} is {games}, but must be an even number, {limits}: each opening is played with both colours"
        )
    searching = () if searched_elsewhere else players
    check_memory(battle_needs(game, searching, games, what))
    if jax.default_backend() != "cpu":
        check_memory(battle_needs(game, searching, games, what, on_host=True), on_host=True)


def battle_needs(
    game: Game, players: Sequence[Player], games: int, what: str = "games", on_host: bool = False
) -> Needs:
    """Count the bytes that battles between the players take, about: on the device, or with `on_host` beside a GPU.

    Twice as many openings as games are drawn, each with room for its moves and for outcomes of chance, and then
    sorted. They are gone when the moves of the games take as much.
    """
    opening = 3 * state_bytes(game) + 2 * 4 * (game.max_plies // 2)
    there = [player for player in players if jax.default_backend() == "cpu" or player.on_host == on_host]
    searches = [
        {f"fewer {what} (now {games}) or a smaller search than {player.name}": player.bytes_needed(games)}
        for player in there
    ]
    return together({f"fewer {what} (now {games})": 2 * games * 2 * opening}, heaviest({}, *searches))
