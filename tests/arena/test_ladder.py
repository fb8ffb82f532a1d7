"""A ladder is climbed two games a rung, until both are lost."""

from __future__ import annotations

import pytest

from beamzero.arena.battle import battle
from beamzero.arena.ladder import climb, ladder
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players import make_player

GAME = make_game("tic_tac_toe")


def test_each_rung_is_a_battle_of_two_games_without_random_moves():
    player, opponents = make_player("lookahead:1", GAME), [make_player("random", GAME) for _ in range(2)]
    told = []
    climbed = climb(GAME, player, opponents, seed=3, progress=lambda *seen: told.append(seen))
    assert climbed.opponents == ["random", "random"]
    for rung, opponent in enumerate(opponents):
        alone = battle(GAME, player, opponent, games=2, random_plies=0, seed=3 + rung)
        assert climbed.scores[rung] == 2 * alone.score
    assert climbed.total == sum(climbed.scores) > 0
    assert list(dict.fromkeys(told)) == [(0, 2), (1, 2), (2, 2)], "at least once a rung"


@pytest.mark.slow
def test_it_ends_where_both_games_are_lost():
    lengths = set()
    random, strong = make_player("random", GAME), make_player("lookahead:3", GAME)
    for seed in range(20):
        climbed = climb(GAME, random, [random, strong, random], seed)
        assert climbed.opponents == ["random", "lookahead:3", "random"] and climbed.total == sum(climbed.scores)
        lost = [rung for rung, score in enumerate(climbed.scores) if score == 0]
        assert lost == ([] if len(climbed.scores) == 3 and climbed.scores[2] else [len(climbed.scores) - 1])
        lengths.add(len(climbed.scores))
    assert lengths == {1, 2, 3}


def test_the_ladder_is_minimax_of_ever_greater_depth():
    assert [player.name for player in ladder(GAME, 3)] == ["minimax:1", "minimax:2", "minimax:3"]
    kalah = make_game("kalah")
    by_stores = ladder(kalah, 2, "stores")
    assert [player.name for player in by_stores] == ["minimax:1,by=stores", "minimax:2,by=stores"]
    assert ladder(kalah, 1, "seeds in houses")[0].name == 'minimax:1,by="seeds in houses"'
    with pytest.raises(BadInput, match=r"^depth is 0, but a ladder has at least one rung$"):
        ladder(GAME, 0)
    with pytest.raises(BadInput, match="beauty"):
        ladder(GAME, 1, "beauty")
