"""Records of games that dice or cards decide as well: all that is needed to replay them is in them."""

from __future__ import annotations

import dataclasses
import io
import json

import jax
import numpy as np
import pytest
from rich.console import Console

from beamzero.arena.battle import battle
from beamzero.cli.terminal.session import TerminalSession
from beamzero.core.errors import BadInput
from beamzero.games import Game, make_game
from beamzero.games.poker import Poker
from beamzero.players import make_player
from beamzero.records.files import add_records, check_format, read_records
from beamzero.records.record import GameRecord, records_of, replay_record
from beamzero.records.review import review

BACKGAMMON = make_game("backgammon")
ROLL = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31"


score = jax.jit(lambda game, state: game.score(state), static_argnums=0)
player = jax.jit(lambda game, state: game.player(state), static_argnums=0)


@pytest.mark.parametrize(
    ("name", "games"), [pytest.param("backgammon", 4, marks=pytest.mark.slow), ("bridge", 4), ("leduc_poker", 6)]
)
def test_a_battle_s_games_are_written_read_and_followed_to_their_results(name, games, tmp_path):
    game = make_game(name)
    one, other = (dataclasses.replace(make_player("random", game), name=name) for name in ("one", "other"))
    played = battle(game, one, other, games=games, random_plies=2, seed=4)
    path = tmp_path / "games.jsonl"
    check_format(path, game.spec)
    assert add_records(path, records_of(game, played)) == games
    records = list(read_records(path))
    scores = np.asarray(played.pair_scores)
    starters = {"backgammon": None, "bridge": 1, "leduc_poker": 0}
    assert played.starter == starters[name], "the defenders lead, and dice have no rule"
    for number, record in enumerate(records):
        followed = replay_record(record)
        assert followed.over and len(followed.states) == len(record.moves) + 1
        assert float(score(game, followed.states[-1])) == pytest.approx(record.result)
        pair, turn = divmod(number, 2)
        mover = record.players[int(player(game, followed.states[0]))]
        assert mover == ("one", "other")[turn], "first the game in which the first-named player moved first"
        sign = 1 - 2 * record.players.index("one")
        assert (np.sign(record.result) * sign + 1) / 2 == scores[pair, turn]
    assert records[0].start == records[1].start != records[2].start
    assert len({record.moves for record in records}) > games // 2


@pytest.mark.parametrize(
    ("moves", "start", "why"),
    [
        (["8/5", "6/5"], ROLL, "move 2: it does not say what chance decided after the move"),
        (["8/5:6-1", "6/5:6-1"], ROLL, "move 1: chance has nothing to decide after the move, but '6-1' follows it"),
        (["8/5", "6/5:7-1"], ROLL, "move 2: '7-1' is nothing that chance can decide here"),
        (["8/5", "6/5:6-1", "8/5"], ROLL, "move 3: '8/5' is not a legal move here"),
        (["8/5", "6/5:6-1"], None, "the record does not say what was rolled first"),
    ],
)
def test_a_record_that_cannot_be_says_where(moves, start, why):
    with pytest.raises(BadInput, match=why):
        replay_record(GameRecord("backgammon", tuple(moves), start=start))


def test_a_dealt_game_goes_to_jsonl_alone_and_one_without_notation_nowhere(tmp_path, monkeypatch):
    with pytest.raises(BadInput, match=r"a line of moves cannot say how a game of backgammon began; use \.jsonl"):
        check_format(tmp_path / "games.txt", "backgammon")
    monkeypatch.setattr(Poker, "write_position", Game.write_position)
    with pytest.raises(BadInput, match="there is no way to write how they were dealt"):
        check_format(tmp_path / "games.jsonl", "kuhn_poker")


def test_a_game_at_the_keyboard_is_saved_with_its_dice(tmp_path):
    path = tmp_path / "games.jsonl"
    session = TerminalSession(BACKGAMMON, None, Console(file=io.StringIO(), width=100), input, seed=5, save=path)
    for _ in range(7):
        session.played.play(BACKGAMMON.legal_actions(session.played.state)[0])
    session.save()
    (record,) = read_records(path)
    assert record.start.startswith("XGID=") and sum(":" in move for move in record.moves) >= 2
    last = replay_record(record).states[-1]
    assert all(np.array_equal(one, other) for one, other in zip(last, session.played.state, strict=True))
    assert json.loads(json.dumps(session.report()))["moves"] == list(record.moves)


@pytest.mark.slow
def test_a_review_blames_nobody_for_the_dice():
    player = make_player("expectiminimax:depth=1", BACKGAMMON)
    costs = []
    for thrown in ("6-6", "2-1"):  # lucky for the other side, and not
        followed = replay_record(GameRecord("backgammon", ("8/5", f"6/5:{thrown}"), start=ROLL))
        found = review(followed, player, jax.random.key(0), lambda done, total: None)
        costs.append([move.cost for move in found.moves])
    assert costs[0] == costs[1] and max(costs[0]) < 1e-6
    bad = dataclasses.replace(followed.record, moves=("24/23", "24/21:2-1"))
    found = review(replay_record(bad), player, jax.random.key(0), lambda done, total: None)
    assert sum(move.cost for move in found.moves) > 0.01
