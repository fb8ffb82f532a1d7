"""Battles and ratings that workers play: all games, each once, by the rules, and as good as those played here."""

from __future__ import annotations

import numpy as np
import pytest

from beamzero.arena.battle import battle
from beamzero.cluster.battles import ClusterPlay
from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.records.record import records_of, replay_record

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["tic_tac_toe", "kuhn_poker"])
def test_every_game_is_played_to_its_end_and_counted_once(workers, name):
    game = make_game(name)
    one, other = make_player("random", game), make_player("lookahead:1" if name == "tic_tac_toe" else "random", game)
    told: list[tuple[int, int]] = []
    play = ClusterPlay(workers)
    played = battle(game, one, other, games=50, seed=3, progress=lambda *x: told.append(x), play=play)
    assert played.games == 50 and played.moves is not None and len(played.moves) == 50
    assert told[-1] == (50, 50) and len(told) == 4
    scores = np.asarray(played.pair_scores)
    for number, record in enumerate(records_of(game, played)):
        followed = replay_record(record)
        assert followed.over and float(game.score(followed.states[-1])) == pytest.approx(record.result)
        pair, turn = divmod(number, 2)
        sign = 1 - 2 * record.players.index(one.name)
        assert one.name == other.name or (np.sign(record.result) * sign + 1) / 2 == scores[pair, turn]
    if name == "tic_tac_toe":
        here = battle(game, one, other, games=400, seed=4)
        assert abs(played.score - here.score) < 0.25
