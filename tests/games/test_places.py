"""Where on the drawn board a move is made: what people click on."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from beamzero.games import GAMES, Game, make_game
from beamzero.games.places import seen_places
from beamzero.players.analysis import step
from tests.games.play import params


def positions(game: Game, count: int, seed: int):
    """Positions of one random game, on the host."""
    rng = np.random.default_rng(seed)
    state = jax.device_get(game.init(jax.random.key(seed)))
    for _ in range(count):
        if not (legal := game.legal_actions(state)):
            return
        yield state, legal
        state = jax.device_get(step(game, state, int(rng.choice(legal))))


ON_BOARDS = [name for name in GAMES if not GAMES[name].hidden and not GAMES[name].num_chance]
"""Cards are played nowhere, and of backgammon's points no picture tells who moved where: the game itself says so."""


@pytest.mark.parametrize(
    "name", params([*ON_BOARDS, "pgx:hex", "pgx:go_9x9"], ["chess", "chess6x6", "pgx:hex", "pgx:go_9x9"])
)
def test_every_move_is_made_where_the_pictures_before_and_after_it_differ(name):
    """A game may say so itself, which is sooner done; what can be seen must agree with it."""
    game = make_game(name)
    found = 0
    for state, legal in positions(game, 30, 1):
        side = int(game.player(state))
        before = game.view(state)
        for action in legal[:4]:
            after = game.view(jax.device_get(step(game, state, action)))
            places = game.places(state, action)
            assert places == seen_places(before, after, side), game.action_name(state, action)
            found += bool(places)
    assert found > 20


@pytest.mark.slow
def test_castling_is_the_kings_move_and_promotions_share_their_places():
    chess = make_game("chess")
    castle = chess.read_position("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
    assert chess.places(castle, chess.parse_action(castle, "O-O")) == [[0, 4], [0, 6]]
    pawn = chess.read_position("8/P3k3/8/8/8/8/8/4K3 w - - 0 1")
    four = [chess.places(pawn, chess.parse_action(pawn, f"a8={piece}")) for piece in "QRBN"]
    assert four == [[[6, 0], [7, 0]]] * 4
    black = chess.read_position("4k3/8/8/8/8/8/8/R3K3 b - - 0 1")
    assert chess.places(black, chess.parse_action(black, "Kd7")) == [[7, 4], [6, 3]]


def test_a_pass_is_made_nowhere_and_a_house_on_the_side_of_the_mover():
    othello, kalah = make_game("othello:size=4"), make_game("kalah")
    assert othello.places(othello.init(jax.random.key(0)), 16) == []
    state = kalah.init(jax.random.key(0))
    assert kalah.places(state, 3) == [[0, 3]]
    assert kalah.places(step(kalah, state, 3), 0) == [[1, 0]]


def test_what_cannot_be_seen_is_nowhere():
    text = {"kind": "text", "text": "?"}
    assert seen_places(text, text, 0) == []
    grid = {"kind": "grid", "rows": 1, "columns": 3, "cells": [[1, 0, 2]]}
    assert seen_places(grid, grid, 0) == []
    taken = {**grid, "cells": [[1, 1, 1]]}
    assert seen_places(grid, taken, 0) == [[0, 1]], "what changed hands is not where the stone was put"


def test_what_no_side_owns_is_where_the_mover_put_it_unless_more_changed():
    wall = {"kind": "grid", "rows": 1, "columns": 3, "cells": [["+", "", "+"]]}
    assert seen_places(wall, {**wall, "cells": [["+", "-", "+"]]}, 0) == [[0, 1]]
    pieces = {"K": {"glyph": "K", "side": 0}}
    board = {**wall, "pieces": pieces, "cells": [["K", "", ""]]}
    assert seen_places(board, {**board, "cells": [["", "K", "-"]]}, 0) == [[0, 0], [0, 1]], "own first"
    assert seen_places(board, {**board, "cells": [["K", "-", "-"]]}, 0) == []
