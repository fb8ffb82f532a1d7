"""Games that were written down are read again as they were."""

from __future__ import annotations

import json

import chess.pgn
import jax
import numpy as np
import pytest

from beamzero.arena.battle import battle
from beamzero.core.errors import BadInput
from beamzero.games import Game, make_game
from beamzero.players import make_player
from beamzero.players.analysis import step
from beamzero.records.files import add_records, check_format, read_records
from beamzero.records.pgn import read_pgn
from beamzero.records.record import GameRecord, record_of, records_of, replay_record, write_result
from beamzero.records.review import CHUNK, review
from tests.training.toy import same_bits

TIC_TAC_TOE = make_game("tic_tac_toe")
OTHELLO = make_game("othello:size=4")
CHESS = make_game("chess")


def random_actions(game: Game, seed: int, most: int = 1000) -> list[int]:
    rng, state, actions = np.random.default_rng(seed), game.init(jax.random.key(0)), []
    while not bool(game.over(state)) and len(actions) < most:
        actions.append(int(rng.choice(game.legal_actions(state))))
        state = step(game, state, actions[-1])
    return actions


@pytest.mark.parametrize(
    ("spec", "suffix"),
    [
        *((spec, ".txt") for spec in ("tic_tac_toe", "connect_four", "othello:size=4", "kalah:houses=3,seeds=2")),
        pytest.param("chess", ".pgn", marks=pytest.mark.slow),
        *((spec, ".jsonl") for spec in ("tic_tac_toe", "othello:size=4")),
        pytest.param("chess", ".jsonl", marks=pytest.mark.slow),
    ],
)
def test_what_was_written_is_read_and_followed(tmp_path, spec, suffix):
    game, path = make_game(spec), tmp_path / f"games{suffix}"
    most = 40 if spec == "chess" else 1000
    actions = [random_actions(game, seed, most) for seed in range(3)]
    written = [record_of(game, moves, ("one's", 'the "other"'), random_plies=2) for moves in actions]
    assert add_records(path, written[:2]) == 2
    assert add_records(path, written[2:]) == 1, "added at the end"
    read = read_records(path)
    assert [(record.players, record.random_plies) for record in read] == [(("one's", 'the "other"'), 2)] * 3
    assert all(record.date == written[0].date for record in read)
    assert [np.sign(record.result or 0) for record in read] == [np.sign(record.result or 0) for record in written]
    assert [record.result is None for record in read] == [spec == "chess"] * 3
    for record, moves in zip(read, actions, strict=True):
        followed = replay_record(record)
        assert followed.actions == moves and followed.over == (spec != "chess")
        state = game.init(jax.random.key(0))
        for action, found in zip([*moves, 0], followed.states, strict=True):
            assert same_bits(jax.device_get(state), jax.device_get(found))
            state = step(game, state, action)
    if suffix == ".jsonl":
        assert read == written and json.loads(path.read_text().splitlines()[0])["moves"] == list(written[0].moves)


def test_passes_need_not_be_written():
    with_passes = next(
        record
        for seed in range(100)
        if "pass" in (record := record_of(OTHELLO, random_actions(OTHELLO, seed), ("", ""))).moves
    )
    without = GameRecord(OTHELLO.spec, tuple(m for m in with_passes.moves if m != "pass"), result=with_passes.result)
    assert replay_record(without).actions == replay_record(with_passes).actions and replay_record(without).over


def test_connect_four_is_written_as_letters_and_read_as_numbers_too(tmp_path):
    path = tmp_path / "games.txt"
    path.write_text("4435\n# something else\nddce\n")
    first, second = read_records(path, "connect_four")
    assert first.moves == second.moves == ("d", "d", "c", "e")


def test_othello_is_written_without_passes_and_read_with_spaces_too(tmp_path):
    path = tmp_path / "games.txt"
    add_records(path, [GameRecord("othello", ("f5", "pass", "D6"))])
    assert path.read_text().splitlines()[-1] == "f5D6"
    path.write_text("# game othello\nf5D6c3\nf5 D6 c3\nf5 pass\n")
    assert [record.moves for record in read_records(path)] == [("f5", "D6", "c3")] * 2 + [("f5", "pass")]


def test_a_game_that_is_not_of_this_package_is_written_with_spaces_and_not_loaded(tmp_path):
    path, record = tmp_path / "games.txt", GameRecord("no_such.py:Game", ("a", "b"), ("one", "two"))
    add_records(path, [record])
    assert path.read_text().splitlines()[-1] == "a b"
    assert read_records(path) == [record]


@pytest.mark.parametrize("players", [("", ""), ("one", ""), ("", "two"), ("a|b", "c")])
def test_names_that_are_not_known_stay_empty_in_a_transcript(tmp_path, players):
    path = tmp_path / "games.txt"
    add_records(path, [GameRecord("tic_tac_toe", ("b2",), players)])
    assert read_records(path)[0].players == players


# --- PGN, by python-chess --------------------------------------------------------------------------------------------


def test_a_draw_that_nobody_claimed_does_not_end_a_game():
    """The same position for the third time, and then they play on."""
    back_and_forth = ("Nf3", "Nf6", "Ng1", "Ng8")
    followed = replay_record(GameRecord("chess", (*back_and_forth * 2, "e4", "e5")))
    assert len(followed.actions) == 10 and not followed.over
    assert replay_record(GameRecord("chess", back_and_forth * 2)).over, "where nothing follows, it is one"


def test_python_chess_reads_our_games(tmp_path):
    path = tmp_path / "games.pgn"
    fen = "r3k2r/pppp1ppp/8/8/8/8/PPPP1PPP/R3K2R b KQkq - 3 12"
    castled = GameRecord("chess", ("O-O", "O-O-O", "Rfe8"), ("a", "b"), None, fen)
    add_records(path, [record_of(CHESS, random_actions(CHESS, 5, 40), ("lookahead:1", "random")), castled])
    with path.open() as file:
        random, started = chess.pgn.read_game(file), chess.pgn.read_game(file)
    assert random is not None and started is not None and not random.errors and not started.errors
    ours = replay_record(read_records(path)[0])
    assert [ours.game.parse_action(state, move.uci()) for state, move in zip(ours.states, random.mainline_moves())] == (
        ours.actions
    )
    assert random.headers["White"] == "lookahead:1" and random.headers["Result"] == "*"
    assert started.headers["FEN"] == fen and len(list(started.mainline_moves())) == 3
    assert "12... O-O 13. O-O-O" in path.read_text()


def test_we_read_what_python_chess_writes():
    """Comments, marks, variations and what looks like a tag inside of a comment are no part of the game."""
    game = chess.pgn.Game({"White": "A", "Black": "B", "Result": "0-1", "Date": "2024.01.31"})
    node = game.add_variation(chess.Move.from_uci("f2f3"), comment='weak [Event "x"] (really)', nags=[2])
    game.add_variation(chess.Move.from_uci("e2e4")).add_variation(chess.Move.from_uci("e7e5"))
    for move in ("e7e5", "g2g4", "d8h4"):
        node = node.add_variation(chess.Move.from_uci(move))
    text = str(game) + "\n\n" + '[White "C"]\n\n1. e4 $1 e5! 2.Nf3 {two\n[lines "y"]\n} Nc6 ; the rest\n3...* '
    first, second = read_pgn(text)
    assert first == GameRecord("chess", ("f3", "e5", "g4", "Qh4#"), ("A", "B"), -1.0, None, 0, "2024-01-31")
    assert second.moves == ("e4", "e5!", "Nf3", "Nc6") and second.players == ("C", "") and second.result is None
    assert replay_record(first).over and len(replay_record(second).actions) == 4


def test_what_people_write_into_their_games_is_left_out(tmp_path):
    text = """[White "A"]

1.e4 { a { brace } 1... e5 ; another { of them
2. ... ) 2 Nf3 Nc6 (2... d6 3. d4) exd6 e.p. *

[White "M\xfcller"]

1. d4 *
"""
    path = tmp_path / "games.pgn"
    path.write_bytes(text.encode("latin-1"))
    first, second = read_records(path)
    assert first.moves == ("e4", "e5", "Nf3", "Nc6", "exd6") and second.moves == ("d4",)
    assert second.players[0] == "M\xfcller"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert [record.moves for record in read_records(path)] == [first.moves, second.moves], "UTF-8 with a mark"


# --- battles and reviews ---------------------------------------------------------------------------------------------


def test_the_games_of_a_battle_have_its_players_and_results():
    one, other = make_player("lookahead:1", TIC_TAC_TOE), make_player("random", TIC_TAC_TOE)
    played = battle(TIC_TAC_TOE, one, other, games=20)
    records = list(records_of(TIC_TAC_TOE, played))
    assert [record.players for record in records] == [("lookahead:1", "random"), ("random", "lookahead:1")] * 10
    scores = [(record.result + 1) / 2 for record in records if record.result is not None]
    scores[1::2] = [1 - score for score in scores[1::2]]
    assert scores == played.pair_scores.ravel().tolist()
    assert all(replay_record(record).over for record in records)
    assert all(a.moves[:2] == b.moves[:2] for a, b in zip(records[::2], records[1::2], strict=True)), "one opening"


def test_a_review_says_what_a_move_cost():
    """X plays the middle and O an edge, which loses; then X gives the win away, and O lets it win all the same."""
    moves = ("b2", "b1", "a3", "c1", "c2", "a1")
    followed = replay_record(GameRecord("tic_tac_toe", moves))
    seen: list[tuple[int, int]] = []
    perfect = make_player("alphabeta:depth=9", TIC_TAC_TOE)
    found = review(followed, perfect, jax.random.key(0), lambda *told: seen.append(told))
    assert len(found.curve) == 7 and found.curve[0] == 0 and found.last == -1, "O has the lower row"
    assert [move.mark for move in found.moves] == ["", "??", "", "", "??", ""]
    assert [move.cost for move in found.moves] == pytest.approx([0, 1, 0, 0, 2, 0], abs=0.01)
    assert [move.side for move in found.moves] == [0, 1] * 3 and found.moves[4].best == "a1"
    assert seen[-1] == (6, 6) and CHUNK > 6


# --- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("a.jsonl", "{}\n", "line 1 is no game"),
        ("a.jsonl", '{"game": "chess", "moves": [1]}', "line 1 is no game"),
        ("a.jsonl", 'x\n{"game": "chess", "moves": []}', "line 1 is no game"),
        ("a.jsonl", '{"game": "chess", "moves": [], "players": ["a"]}', "players must be two names"),
        ("a.jsonl", '{"game": "chess", "moves": [], "result": "won"}', "result must be a number"),
        ("a.jsonl", "\n", "holds no game"),
        ("a.txt", "dd", "give --game as well"),
        ("a.pgn", "(", "holds no game"),
        ("a.pgn", '[Variant "atomic"]\n\n1. e4 *', "the variant is 'atomic', but must be one of chess, chess6x6"),
        ("a.sgf", "(;)", "a file of games ends in .pgn, .txt, .jsonl"),
    ],
)
def test_a_file_that_holds_no_games_is_refused(tmp_path, name, text, wrong):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadInput, match=wrong):
        read_records(path)


def test_an_illegal_move_is_named_with_its_game_and_number():
    with pytest.raises(BadInput, match=r"games.txt: game 4: move 3: 'b2' is not a legal move here"):
        replay_record(GameRecord("tic_tac_toe", ("b2", "a1", "b2")), "games.txt: game 4")
    with pytest.raises(BadInput, match=r"game 1: .*go"):
        replay_record(GameRecord("go", ()), "game 1")


def test_a_file_that_cannot_hold_the_game_is_refused_before_anything_is_played(tmp_path):
    with pytest.raises(BadInput, match=r"PGN is for chess and chess6x6; use .txt or .jsonl for kalah"):
        check_format(tmp_path / "a.pgn", "kalah")
    with pytest.raises(BadInput, match="there is no folder"):
        check_format(tmp_path / "no" / "a.pgn", "chess")
    with pytest.raises(BadInput, match="is a folder"):
        (tmp_path / "b.pgn").mkdir()
        check_format(tmp_path / "b.pgn", "chess")
    with pytest.raises(BadInput, match=r"cannot say from which position it begins; use .jsonl"):
        check_format(tmp_path / "a.txt", "othello", "some position")
    assert [path.name for path in tmp_path.iterdir()] == ["b.pgn"], "nothing was written"


def test_results_are_written_as_in_chess():
    assert [write_result(result) for result in (1, -12.0, 0.0, None)] == ["1-0", "0-1", "1/2-1/2", "*"]
