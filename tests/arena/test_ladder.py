"""A ladder is played two games an opponent, until both are lost."""

from __future__ import annotations

import pytest

from beamzero.arena.battle import battle
from beamzero.arena.ladder import make_ladder, play_ladder
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players import make_player

GAME = make_game("tic_tac_toe")


def test_each_step_is_a_battle_of_two_games_without_random_moves():
    player, opponents = make_player("lookahead:1", GAME), [make_player("random", GAME) for _ in range(2)]
    reported = []
    result = play_ladder(GAME, player, opponents, seed=3, progress=lambda *seen: reported.append(seen))
    assert result.opponents == ["random", "random"]
    for step, opponent in enumerate(opponents):
        alone = battle(GAME, player, opponent, games=2, random_plies=0, seed=3 + step)
        assert result.scores[step] == 2 * alone.score
    assert result.total == sum(result.scores) > 0
    assert list(dict.fromkeys(reported)) == [(0, 2), (1, 2), (2, 2)], "at least once for each opponent"


@pytest.mark.slow
def test_it_ends_where_both_games_are_lost():
    lengths = set()
    random, strong = make_player("random", GAME), make_player("lookahead:3", GAME)
    for seed in range(20):
        result = play_ladder(GAME, random, [random, strong, random], seed)
        assert result.opponents == ["random", "lookahead:3", "random"] and result.total == sum(result.scores)
        lost = [step for step, score in enumerate(result.scores) if score == 0]
        assert lost == ([] if len(result.scores) == 3 and result.scores[2] else [len(result.scores) - 1])
        lengths.add(len(result.scores))
    assert lengths == {1, 2, 3}


def test_the_ladder_is_minimax_of_ever_greater_depth():
    assert [player.name for player in make_ladder(GAME, 3)] == ["minimax:1", "minimax:2", "minimax:3"]
    kalah = make_game("kalah")
    by_stores = make_ladder(kalah, 2, "stores")
    assert [player.name for player in by_stores] == ["minimax:1,by=stores", "minimax:2,by=stores"]
    assert make_ladder(kalah, 1, "seeds in houses")[0].name == 'minimax:1,by="seeds in houses"'
    with pytest.raises(BadInput, match=r"^depth is 0, but a ladder has at least one rung$"):
        make_ladder(GAME, 0)
    with pytest.raises(BadInput, match="beauty"):
        make_ladder(GAME, 1, "beauty")
