"""Checkers: every clause of the rules by hand; OpenSpiel plays whole games in test_pyspiel.py."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.games.checkers import board
from tests.games.play import ask, ask_all, at, sample_states, stack, step
from tests.games.play import play as random_play

GAME = make_game("checkers")
BLACK, WHITE = 0, 1


def play(position: str, moves: str = ""):
    state = GAME.read_position(position)
    for text in moves.split():
        assert not GAME.over(state)
        state = step(GAME, state, GAME.parse_action(state, text))
    return state


def legal(state) -> set[str]:
    return {GAME.action_name(state, action) for action in GAME.legal_actions(state)}


# --- the rules -------------------------------------------------------------------------------------------------------


def test_men_step_forward_and_kings_backward_too():
    assert legal(play("B:W32:B14")) == {"14-17", "14-18"}
    assert legal(play("W:W19:B1")) == {"19-15", "19-16"}
    assert legal(play("B:W32:BK14")) == {"14-17", "14-18", "14-9", "14-10"}
    assert legal(play("W:WK19:B1")) == {"19-15", "19-16", "19-23", "19-24"}


def test_pieces_stay_on_the_board():
    assert legal(play("B:W32:BK4,K5,K12,K13,K21,K28")) == {
        "4-8", "5-1", "5-9", "12-8", "12-16", "13-9", "13-17", "21-17", "21-25", "28-24",
    }  # fmt: skip
    assert legal(play("B:W5,29,32:B1,25,28")) == {"1-6", "25-30"}, "no jump over the edge"


def test_who_can_jump_must():
    assert legal(play("B:W15:B11,1")) == {"11x18"}
    assert legal(play("W:W22,30:B18")) == {"22x15"}


def test_any_jump_will_do_not_only_the_longest():
    assert legal(play("B:W6,15,22:B2,11")) == {"2x9", "11x18"}
    after = play("B:W6,15,22:B2,11", "2x9")
    assert GAME.player(after) == WHITE and legal(after) == {"15x8"}


def test_a_jump_takes_the_piece_that_it_passes_over():
    assert GAME.write_position(play("B:W15,32:B11,1", "11x18")) == "W:W32:B1,18"
    assert GAME.write_position(play("B:WK15,32:BK11", "11x18")) == "W:W32:BK18", "a king that is taken leaves no crown"


def test_a_jump_needs_an_empty_square_behind_a_piece_of_the_other_side():
    assert legal(play("B:W15,18:B11")) == {"11-16"}
    assert legal(play("B:W32:B11,15")) == {"11-16", "15-18", "15-19"}


def test_the_piece_that_jumped_goes_on_and_no_other():
    state = play("B:W6,15,22,32:B1,11", "11x18")
    assert GAME.player(state) == BLACK and legal(state) == {"18x25"}
    assert GAME.show(state).endswith("18 must jump on")
    assert ask(GAME, "observe", state)[..., 4].sum() == 1
    state = step(GAME, state, GAME.parse_action(state, "18x25"))
    assert GAME.player(state) == WHITE and GAME.write_position(state) == "W:W6,32:B1,25"


def test_the_way_on_may_be_chosen():
    state = play("B:W15,22,23,32:B11", "11x18")
    assert legal(state) == {"18x25", "18x27"}


def test_a_man_goes_on_forward_only_and_a_king_any_way():
    assert GAME.player(play("B:W15,14,32:B11", "11x18")) == WHITE
    state = play("B:W15,14,32:BK11", "11x18")
    assert GAME.player(state) == BLACK and legal(state) == {"18x9"}


def test_a_king_may_jump_in_a_circle():
    state = play("B:W10,11,18,19,32:BK14", "14x23 23x16 16x7 7x14")
    assert GAME.write_position(state) == "W:W32:BK14"


def test_a_man_on_the_last_row_becomes_a_king_and_its_move_ends():
    state = play("B:W26,27,5:B22", "22x31")
    assert GAME.player(state) == WHITE and GAME.write_position(state) == "W:W5,27:BK31"
    assert GAME.player(play("B:W26,27,5:BK22", "22x31")) == BLACK, "who was a king before goes on"
    assert GAME.write_position(play("W:W5:B12", "5-1")) == "B:WK1:B12:H1"


def test_a_side_without_a_move_loses():
    state = play("W:W22,K26,29:B25", "26-30")
    assert GAME.over(state) and GAME.score(state) == -1
    assert GAME.outcome_reason(state) == "Black has no move left"


def test_a_side_without_a_piece_loses():
    state = play("B:W15:B11", "11x18")
    assert GAME.over(state) and GAME.score(state) == 1
    assert GAME.outcome_reason(state) == "White has no piece left"


def test_plies_without_a_capture_make_a_draw():
    state = play("B:WK32:BK1:H38", "1-5")
    assert not GAME.over(state)
    state = step(GAME, state, GAME.parse_action(state, "32-27"))
    assert GAME.over(state) and GAME.score(state) == 0
    assert GAME.outcome_reason(state) == "draw: 40 plies without a capture"
    stuck = play("W:W22,K26,29:B25:H39", "26-30")
    assert GAME.over(stuck) and GAME.score(stuck) == 0, "the draw comes first"
    assert play("B:W15,32:B11,1:H39", "11x18").quiet == 0, "a capture comes before the draw"


def test_the_number_of_plies_is_a_parameter():
    game = make_game("checkers:draw_plies=3")
    state = game.init(jax.random.key(0))
    for text in ("11-15", "22-18"):
        state = step(game, state, game.parse_action(state, text))
    assert not game.over(state)
    assert step(game, state, game.parse_action(state, "15x22")).quiet == 0
    with pytest.raises(BadInput, match="1 to 1000"):
        make_game("checkers:draw_plies=0")
    with pytest.raises(BadInput, match="1 to 1000"):
        make_game("checkers:draw_plies=1001")


# --- counts ----------------------------------------------------------------------------------------------------------


@jax.jit
def children(states):
    """All states after one ply [N, K], and which of them there are."""
    moves, count = jax.vmap(GAME.moves)(states)
    listed = jnp.arange(GAME.max_moves)[None] < jnp.where(jax.vmap(GAME.over)(states), 0, count)[:, None]
    return jax.vmap(jax.vmap(GAME.step, (None, 0)))(states, moves), listed


def after_one_ply(states, chunk: int = 2048):
    """All states after one ply, as one batch."""
    found = []
    for first in range(0, len(states.side), chunk):
        part = jax.tree.map(lambda x: x[first : first + chunk], states)
        real = len(part.side)
        after, listed = jax.device_get(children(jax.tree.map(lambda x: np.pad(x, (0, chunk - real), "edge"), part)))
        found.append(jax.tree.map(lambda x: x[listed & (np.arange(chunk) < real)[:, None]], after))
    return jax.tree.map(lambda *parts: np.concatenate(parts), *found)


@pytest.mark.slow
def test_the_number_of_lines_is_the_published_one_where_jumps_in_a_row_are_one_move():
    states = jax.tree.map(lambda x: np.asarray(x)[None], GAME.init(jax.random.key(0)))
    counts, jumps_in_a_row = [], 0
    while len(counts) < 7:
        whole = []
        while len(states.side):
            states = after_one_ply(states)
            goes_on = states.jumper != 0
            whole.append(jax.tree.map(lambda x: x[~goes_on], states))
            states = jax.tree.map(lambda x: x[goes_on], states)
            jumps_in_a_row += len(states.side)
        states = jax.tree.map(lambda *parts: np.concatenate(parts), *whole)
        counts.append(len(states.side))
    assert counts == [7, 49, 302, 1469, 7361, 36768, 179740]
    assert jumps_in_a_row > 0


def test_no_12_pieces_have_more_moves_than_stated():
    """Every move leads to a neighbour that is not the mover's own: all ways to fill the board, row by row."""

    def column(row: int, place: int) -> int:
        return 2 * place + (row % 2 == 0)

    most = {(filled, filled.bit_count()): 0 for filled in range(16)}  # of the last row, and in all: most such pairs
    for row in range(1, 8):
        touching = [(i, j) for i in range(4) for j in range(4) if abs(column(row, i) - column(row - 1, j)) == 1]
        longer: dict[tuple[int, int], int] = {}
        for (above, pieces), pairs in most.items():
            for filled in range(16):
                key = (filled, pieces + filled.bit_count())
                more = sum((filled >> i & 1) != (above >> j & 1) for i, j in touching)
                longer[key] = max(longer.get(key, 0), pairs + more)
        most = {key: pairs for key, pairs in longer.items() if key[1] <= 12}
    assert max(most.values()) == GAME.max_moves


# --- what a net sees, and the turned board ---------------------------------------------------------------------------


def test_a_net_sees_each_side_s_men_and_kings_from_the_mover_s_side():
    states = sample_states(GAME, 40, 1)
    for row in range(40):
        state = at(states, row)
        cells = np.array(GAME.view(state)["cells"])
        order = ["b", "B", "w", "W"]
        if GAME.player(state) == WHITE:
            cells, order = cells[::-1, ::-1], ["w", "W", "b", "B"]
        seen = ask(GAME, "observe", state)
        assert (seen[..., :4] == np.stack([cells == piece for piece in order], axis=-1)).all()
        assert seen[..., 5] == pytest.approx(state.quiet / 40)
        assert seen[..., 4].sum() == (state.jumper != 0)
        assert (seen[..., 4] <= seen[..., 0] + seen[..., 1]).all()


def test_both_sides_play_the_same_game():
    """Turn the board and change the colours: the mover sees the same and may do the same."""
    states, jumps_in_a_row = sample_states(GAME, 60, 1), 0
    for row in range(60):
        position = board.CheckersFen(*(int(field) for field in at(states, row)[:6]))
        black, white, kings, jumper = (
            board.pack_squares(33 - n for n in board.list_squares(word)) for word in position[:4]
        )
        turned = board.CheckersFen(white, black, kings, jumper, 1 - position.side, position.quiet)
        jumps_in_a_row += jumper != 0
        image = GAME.read_position(board.write_checkers_fen(turned))
        for question in ("observe", "legal"):
            assert (ask(GAME, question, at(states, row)) == ask(GAME, question, image)).all()
    assert jumps_in_a_row


def test_moves_come_in_rising_order():
    facts = random_play(GAME).facts
    listed = np.arange(1, GAME.max_moves) < facts.count[..., None]
    assert (np.diff(facts.moves, axis=-1) > 0)[listed & ~facts.over[..., None]].all()


# --- what a search is told -------------------------------------------------------------------------------------------


def counted(pieces: dict[int, str], side: int) -> list[int]:
    """What `features` compares, of one side, by the numbers of squares."""
    man, king = ("b", "B") if side == BLACK else ("w", "W")
    rows = {n: (n - 1) // 4 if side == BLACK else 7 - (n - 1) // 4 for n in range(1, 33)}
    return [
        sum(piece == man for piece in pieces.values()),
        sum(piece == king for piece in pieces.values()),
        sum(rows[n] for n, piece in pieces.items() if piece == man),
        sum(rows[n] == 0 for n, piece in pieces.items() if piece == man),
        sum(piece in (man, king) for n, piece in pieces.items() if n in (10, 11, 14, 15, 18, 19, 22, 23)),
        len(attacked(pieces, side)),
    ]


def attacked(pieces: dict[int, str], side: int) -> set[int]:
    """The other side's pieces that a jump can take, found on a board of rows and columns."""
    place = {n: tuple(int(x[0]) for x in np.nonzero(n == board.SQUARE_NUMBERS)) for n in range(1, 33)}
    there = {square: n for n, square in place.items()}
    own, forward = ("bB", 1) if side == BLACK else ("wW", -1)
    found = set()
    for n, piece in pieces.items():
        for down in (1, -1) if piece in "BW" else (forward,):
            for right in (1, -1):
                row, column = place[n]
                over, end = there.get((row + down, column + right)), there.get((row + 2 * down, column + 2 * right))
                if (
                    piece in own
                    and over in pieces
                    and pieces[over] not in own
                    and end is not None
                    and end not in pieces
                ):
                    found.add(over)
    return found


def test_features_are_what_one_counts_by_hand():
    states = sample_states(GAME, 200, 1)
    features = ask_all(GAME, "features", states).tolist()
    seen = np.zeros(7, bool)
    for row in range(200):
        state = at(states, row)
        pieces, mover = GAME._pieces(state), int(GAME.player(state))
        mine, theirs = (np.array(counted(pieces, side)) for side in (mover, 1 - mover))
        expected = [*(mine - theirs), mine[-1]]
        assert features[row] == expected
        seen |= np.array(expected) != 0
    assert seen.all()


def told(position: str, question: str, moves: str = "") -> dict[str, int]:
    """What the game answers of each legal move."""
    state = play(position, moves)
    return {GAME.action_name(state, a): int(ask(GAME, question, state, a)) for a in GAME.legal_actions(state)}


def test_jumps_and_steps_that_make_a_king_are_noisy():
    assert told("B:W32:B14,K27", "noisy") == {"14-17": 0, "14-18": 0, "27-23": 0, "27-24": 0, "27-31": 0}
    assert told("B:W32:B14,25", "noisy") == {"14-17": 0, "14-18": 0, "25-29": 1, "25-30": 1}
    assert told("W:W7,22:B14", "noisy") == {"7-2": 1, "7-3": 1, "22-17": 0, "22-18": 0}
    assert told("B:W15:B11,K1", "noisy") == {"11x18": 1}
    assert told("B:W6,15,22,32:B1,11", "noisy", "11x18") == {"18x25": 1}


def test_who_can_jump_must_answer():
    assert not ask(GAME, "must_answer", play("B:W32:B14,25"))
    assert ask(GAME, "must_answer", play("B:W15:B11,K1"))
    assert not ask(GAME, "must_answer", play("B:W15,18:B11")), "that the other side could jump next is no duty"
    after = play("B:W6,15,22,32:B1,11", "11x18")
    assert after.jumper and ask(GAME, "must_answer", after)


def test_moves_that_make_a_king_come_first_and_those_from_the_home_row_last():
    order = told("B:W13:B1,9,21,26,K12", "order")
    starts = {value: {name.split("-")[0] for name in order if order[name] == value} for value in order.values()}
    assert [starts[value] for value in sorted(starts)] == [{"1"}, {"9"}, {"12"}, {"21"}, {"26"}]
    assert sorted(told("W:B20:W32,24,12,7,K21", "order").values()) == sorted(order.values()), "so it is for White"
    jumps = told("B:W14,26:B9,22", "order")
    assert jumps["22x31"] > jumps["9x18"]


def test_a_key_tells_pieces_kings_sides_and_jumpers_apart():
    positions = [
        f"{side}:W{white}:B{black}"
        for side in "BW"
        for white in ("30", "K30", "31", "30,31")
        for black in ("7", "K7", "8")
    ]
    keys = ask_all(GAME, "hash", stack(map(GAME.read_position, positions)))
    assert len(np.unique(keys, axis=0)) == len(positions)
    jumping = play("B:W6,15,22,32:B1,11", "11x18")
    free = GAME.read_position(GAME.write_position(jumping).split(":J")[0])
    assert jumping.jumper and not free.jumper
    assert (ask(GAME, "hash", jumping) != ask(GAME, "hash", free)).any()


@pytest.mark.parametrize(
    ("draw_plies", "one", "other", "same"),
    [(100, 0, 35, True), (100, 35, 36, False), (100, 36, 37, False), (100, 98, 99, False), (40, 0, 1, False)],
)
def test_plies_without_a_capture_are_in_the_key_where_a_search_of_64_plies_can_reach_the_draw(
    draw_plies, one, other, same
):
    game = make_game("checkers", draw_plies=draw_plies)
    keys = [ask(game, "hash", game.read_position(f"B:WK30:BK7:H{quiet}")) for quiet in (one, other)]
    assert (keys[0] == keys[1]).all() == same


# --- for people ------------------------------------------------------------------------------------------------------


def test_squares_are_drawn_with_their_numbers_from_either_side():
    state = play("B:W21,K32:B1,K16")
    assert GAME.show(state, WHITE).splitlines() == [
        "      1b      2·      3·      4·",
        "  5·      6·      7·      8·",
        "      9·     10·     11·     12·",
        " 13·     14·     15·     16B",
        "     17·     18·     19·     20·",
        " 21w     22·     23·     24·",
        "     25·     26·     27·     28·",
        " 29·     30·     31·     32W",
    ]
    turned = [line.ljust(32) for line in GAME.show(state, WHITE).splitlines()]
    cells = [[line[i : i + 4].strip() for i in range(0, 32, 4)] for line in turned]
    drawn = [[line.ljust(32)[i : i + 4].strip() for i in range(0, 32, 4)] for line in GAME.show(state).splitlines()]
    assert drawn == [row[::-1] for row in cells[::-1]]


def test_the_view_has_black_at_the_bottom_and_names_the_squares():
    view = GAME.view(play("B:W21,K32:B1,K16"))
    found = {name: cell for row in zip(view["cells"], view["names"]) for cell, name in zip(*row, strict=True) if cell}
    assert found == {"1": "b", "16": "B", "21": "w", "32": "W"}
    assert view["names"][0] == ["4", "", "3", "", "2", "", "1", ""]
    assert view["names"][7] == ["", "32", "", "31", "", "30", "", "29"]
    assert {text: piece["side"] for text, piece in view["pieces"].items()} == {"b": 0, "B": 0, "w": 1, "W": 1}
    assert view["checkered"] and view["turn"] and view["sides"] == ["Black", "White"]


def test_a_position_reads_back_from_its_text():
    states = sample_states(GAME, 60, 1)
    for row in range(60):
        state = at(states, row)
        again = GAME.read_position(f" {GAME.write_position(state).lower()}.\n")
        for a, b in zip(state, again, strict=True):
            assert a.dtype == b.dtype and a == b
    first = GAME.init(jax.random.key(0))
    assert GAME.write_position(first) == f"B:W{','.join(map(str, range(21, 33)))}:B{','.join(map(str, range(1, 13)))}"
    assert GAME.write_position(GAME.read_position("W:BK3,1:W30:H5")) == "W:W30:B1,K3:H5"


def test_a_position_without_a_move_is_lost():
    state = GAME.read_position("B:WK1:B")
    assert GAME.over(state) and GAME.score(state) == -1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "write one like B:W21,22,K30:B1,K7"),
        ("B:W1:W2", "write one like"),
        ("B:W1,:B2", "write one like"),
        ("X:W1:B2", "write one like"),
        ("B:WK33:B2", "1 to 32"),
        ("B:W0:B2", "1 to 32"),
        ("B:W30:B2,K30", "no two pieces"),
        ("B:W30,30:B2", "no two pieces"),
        ("B:W30:B1,2,3,4,5,6,7,8,9,10,11,12,13", "at most 12"),
        ("B:W:B", "no piece"),
        ("B:W30:B29", "king"),
        ("B:W4:B9", "king"),
        ("B:W30:B2:H40", "at most 39"),
        ("B:W30:B2:J2", "cannot jump"),
        ("B:W15:B11:J15", "cannot jump"),
        ("B:W15:B11:J40", "1 to 32"),
    ],
)
def test_a_text_that_is_no_position_is_told_why(text, said):
    with pytest.raises(BadInput) as caught:
        GAME.read_position(text)
    assert said in str(caught.value) and "\n" not in str(caught.value)
