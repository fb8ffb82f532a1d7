"""Backgammon and cards in the terminal: the board that players know, in colours and without."""

from __future__ import annotations

import io

import jax
import pytest
from rich.console import Console
from rich.style import Style
from rich.text import Text

from beamzero.cli.terminal.board import draw_board, side_text
from beamzero.cli.terminal.palette import PALETTES
from beamzero.games import make_game
from beamzero.players.analysis import step

BACKGAMMON, BRIDGE = make_game("backgammon"), make_game("bridge:contract=4S")
DEAL = "N:AQ4.KT2.AJ85.Q93 JT93.Q964.T3.K76 K52.A53.KQ92.A42 876.J87.764.JT85 4S S"


def points(letters: str = "-b----E-C---eE---c-e----B-", dice: str = "31", turn: int = 1):
    return BACKGAMMON.read_position(f"XGID={letters}:0:0:{turn}:{dice}")


def board(game, state, seat: int = 0, before=None, colour: bool = False) -> Text:
    return draw_board(game, state, before, seat, colour)


def spans(text: Text) -> list[tuple[str, Style]]:
    """The pieces of a drawing, each with its style."""
    console = Console(file=io.StringIO(), color_system="truecolor", force_terminal=True, width=100)
    return [(segment.text, segment.style or Style()) for segment in text.render(console)]


# --- backgammon ------------------------------------------------------------------------------------------------------


def test_the_board_of_backgammon_has_its_points_bar_dice_pips_and_what_was_borne_off():
    assert board(BACKGAMMON, points("ab----E-C---eE---b-e----A-")).plain.splitlines() == [
        " X Black, 184 pips to go, 0 borne off",
        "   13  14  15  16  17  18        19  20  21  22  23  24",
        " +------------------------+----+------------------------+",
        " |  O   ·   ·   ·   X   · |  X |  X   ·   ·   ·   ·   O |",
        " |  O   ·   ·   ·   X   · |    |  X   ·   ·   ·   ·   · |",
        *[" |  O   ·   ·   ·   ·   · |    |  X   ·   ·   ·   ·   · |"] * 3,
        " |                        |bar |       White: 3 1       |",
        *[" |  X   ·   ·   ·   ·   · |    |  O   ·   ·   ·   ·   · |"] * 2,
        " |  X   ·   ·   ·   O   · |    |  O   ·   ·   ·   ·   · |",
        *[" |  X   ·   ·   ·   O   · |    |  O   ·   ·   ·   ·   X |"] * 2,
        " +------------------------+----+------------------------+",
        "   12  11  10   9   8   7         6   5   4   3   2   1",
        " O White, 143 pips to go, 1 borne off",
    ]


def test_black_sees_its_own_home_below_and_the_other_s_dice_on_the_left():
    lines = board(BACKGAMMON, points(), seat=1).plain.splitlines()
    assert (lines[0].split()[1], lines[-1].split()[1]) == ("White,", "Black,")
    assert lines[8] == " |       White: 3 1       |bar |                        |"
    assert lines[13] == " |  O   ·   ·   ·   X   · |    |  X   ·   ·   ·   ·   O |"


def test_points_that_changed_are_marked_and_high_stacks_have_a_number():
    before = points("-b----G-C---eE---c-e------")
    after = step(BACKGAMMON, before, BACKGAMMON.parse_action(before, "8/5"))
    lines = board(BACKGAMMON, after, before=before).plain.splitlines()
    assert lines[15] == "   12  11  10   9 [ 8]  7         6 [ 5]  4   3   2   1"
    assert lines[9] == " |  X   ·   ·   ·   ·   · |    |  7   ·   ·   ·   ·   · |"
    marked = PALETTES["wood"].marked
    drawn = spans(board(BACKGAMMON, after, before=before, colour=True))
    found = [text for text, style in drawn if style.bgcolor and style.bgcolor.get_truecolor().hex in marked]
    assert found.count("  ● ") == 3 and len(found) == 10, "two columns, five high"


@pytest.mark.parametrize("dice", ["31", "66", "00"])
def test_every_line_of_a_board_in_colours_is_as_wide_as_the_others(dice):
    for seat in (0, 1):
        lines = board(BACKGAMMON, points(dice=dice), seat, colour=True).plain.splitlines()
        assert len({len(line) for line in lines[2:-2]}) == 1
        assert ":" not in lines[7] if dice == "00" else lines[7].count("6") in (0, 4)


def test_white_and_black_are_found_by_their_checkers():
    assert side_text(BACKGAMMON, points(), 1, colour=False).plain == "Black (X)"
    assert side_text(BACKGAMMON, points(), 0, colour=True).plain == " ●  White"
    assert side_text(BACKGAMMON, points(), 0, colour=False, brief=True).plain == "White"


# --- bridge ----------------------------------------------------------------------------------------------------------


def test_four_hands_lie_around_the_trick_and_hidden_ones_are_unseen():
    state = BRIDGE.read_position(f"{DEAL} D7 D5 DT DQ D9 D6 DJ D3 DA CK DK")
    assert board(BRIDGE, state, seat=1).plain.splitlines() == [
        "                       N dummy",
        "                       ♠ AQ4",
        "                       ♥ KT2",
        "                       ♦ 8",
        "                       ♣ Q93",
        " W you, to play                              E",
        " ♠ 876                      ♦A               10 cards unseen",
        " ♥ J87                  ·        ♣K          no ♦",
        " ♦ 4                        ♦K",
        " ♣ JT85",
        "                       S declarer",
        "                       10 cards unseen",
        "",
        " 4♠ by S, tricks: declarer 2, defenders 0",
        " last trick: S ♦9, W ♦6, N ♦J, E ♦3",
    ]


def test_hearts_and_diamonds_are_red_where_there_are_colours():
    drawn = spans(board(BRIDGE, BRIDGE.read_position(DEAL), seat=1, colour=True))
    assert {text for text, style in drawn if style.color and style.color.name == "red"} == {"♥", "♦"}
    assert all(style.color is None for _, style in spans(board(BRIDGE, BRIDGE.read_position(DEAL), seat=1)))


def test_a_table_tells_no_more_than_a_seat_may_know():
    state = BRIDGE.read_position(f"{DEAL} D7")
    dealt = jax.jit(BRIDGE.determinize)(state, 3, jax.random.key(1))
    assert board(BRIDGE, dealt, 3).plain == board(BRIDGE, state, 3).plain
    assert BRIDGE.write_position(dealt) != BRIDGE.write_position(state)


def test_other_cards_than_four_hands_are_shown_as_text():
    poker = make_game("kuhn_poker")
    state = poker.init(jax.random.key(0))
    assert board(poker, state).plain == poker.show(state)
