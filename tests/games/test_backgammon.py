"""Backgammon: the same plays as OpenSpiel's, cases by hand, and the text of positions and moves."""

from __future__ import annotations

import random

import jax
import numpy as np
import pyspiel
import pytest

from beamzero.core.errors import BadInput
from beamzero.games import CHANCE, make_game
from beamzero.games.backgammon.game import BAR, OFF, ROLLS, BackgammonState
from tests.games.play import ask, ask_all, step

GAME = make_game("backgammon")
START = "XGID=-b----E-C---eE---c-e----B-:0:0:1:"


def read(dice: str, letters: str = "-b----E-C---eE---c-e----B-", turn: int = 1) -> BackgammonState:
    return GAME.read_position(f"XGID={letters}:0:0:{turn}:{dice}")


def board(**sides: dict[int, int]) -> str:
    """The 26 letters of a position; {place: checkers} of either side, each as it counts."""
    letters = ["-"] * 26
    for place, number in sides.get("white", {}).items():
        letters[place] = chr(ord("A") + number - 1)
    for place, number in sides.get("black", {}).items():
        letters[25 - place] = chr(ord("a") + number - 1)
    return "".join(letters)


# --- whole turns -----------------------------------------------------------------------------------------------------

Position = tuple[tuple[int, ...], tuple[int, ...]]
"""Both sides' rows, the first side's before the second's."""


def position(state) -> Position:
    own, other = tuple(state.own.tolist()), tuple(state.other.tolist())
    return (own, other) if int(state.side) == 0 else (other, own)


def padded(rows: np.ndarray, size: int) -> np.ndarray:
    return np.resize(rows, (size, *rows.shape[1:]))


def turns(state: BackgammonState) -> set[Position]:
    """The positions in which the mover's turn can end."""
    now, found = jax.tree.map(lambda x: np.asarray(x)[None], state), set()
    while len(now.side):
        number = len(now.side)
        size = 1 << max(6, (number - 1).bit_length() + (number - 1).bit_length() % 2)
        legal = ask_all(GAME, "legal", jax.tree.map(lambda x, size=size: padded(x, size), now))[:number]
        rows, actions = np.nonzero(legal)
        wide = 1 << max(8, (len(rows) - 1).bit_length() + (len(rows) - 1).bit_length() % 2)
        before = jax.tree.map(lambda x, rows=rows, wide=wide: padded(x[rows], wide), now)
        after = ask_all(GAME, "step", before, padded(actions.astype(np.int32), wide))
        after = jax.tree.map(lambda x, rows=rows: x[: len(rows)], after)
        going_on = {}
        for row in range(len(rows)):
            one = jax.tree.map(lambda x, row=row: x[row], after)
            if int(one.high) == 0:
                found.add(position(one))
            else:
                going_on[(*position(one), int(one.high), int(one.times))] = row
        chosen = np.array(sorted(going_on.values()), np.int32)
        now = jax.tree.map(lambda x, chosen=chosen: x[chosen], after)
    return found


# --- OpenSpiel -------------------------------------------------------------------------------------------------------


def their_position(state) -> Position:
    rows = []
    for player in (0, 1):
        points = [state.board(player, 24 - p if player == 0 else p - 1) for p in range(1, 25)]
        bar = state.board(player, 100)
        rows.append((15 - sum(points) - bar, *points, bar))
    return rows[0], rows[1]


def their_dice(state) -> tuple[int, int]:
    text = str(state).split("Dice:")[1].split()[0]
    return max(map(int, text)), min(map(int, text))


def their_turns(state) -> dict[Position, list[int]]:
    """The positions in which the turn can end, and the actions that lead there."""
    player, found, todo = state.current_player(), {}, [(state, [])]
    seen = set()
    while todo:
        now, actions = todo.pop()
        for action in now.legal_actions():
            after = now.child(action)
            # Equal dice are two turns of one player there, the second without a roll between.
            if not after.is_terminal() and not after.is_chance_node() and after.current_player() == player:
                key = their_position(after)
                if key not in seen:
                    seen.add(key)
                    todo.append((after, [*actions, action]))
            else:
                found.setdefault(their_position(after), [*actions, action])
    return found


def ours(theirs) -> BackgammonState:
    (high, low), player = their_dice(theirs), theirs.current_player()
    rows = [np.array(row, np.uint8) for row in their_position(theirs)]
    double = high == low
    return BackgammonState(
        own=rows[player], other=rows[1 - player], side=np.uint8(player), high=np.uint8(high),
        low=np.uint8(0 if double else low), times=np.uint8(4 if double else 1), ply=np.uint16(0),
    )  # fmt: skip


def compare(games: int, seed: int) -> int:
    """Play random games there, and hold every turn against ours; how many."""
    draw, game = random.Random(seed), pyspiel.load_game("backgammon(scoring_type=full_scoring)")
    compared = 0
    for _ in range(games):
        theirs = game.new_initial_state()
        while not theirs.is_terminal():
            if theirs.is_chance_node():
                outcomes, odds = zip(*theirs.chance_outcomes(), strict=True)
                theirs.apply_action(draw.choices(outcomes, odds)[0])
                continue
            state, ends = ours(theirs), their_turns(theirs)
            assert turns(state) == set(ends), f"{GAME.write_position(state)}"
            for action in draw.choice(list(ends.values())):
                last = theirs.current_player()
                theirs.apply_action(action)
            compared += 1
        rows = their_position(theirs)
        end = BackgammonState(
            *(np.array(row, np.uint8) for row in (rows[last], rows[1 - last])), np.uint8(last), *[0] * 4
        )
        assert float(GAME.score(end)) == pytest.approx(theirs.returns()[0] / 3)
    return compared


@pytest.mark.slow
def test_every_turn_of_random_games_ends_in_the_positions_that_openspiel_knows():
    assert compare(games=4, seed=1) > 130


# --- by hand ---------------------------------------------------------------------------------------------------------


def names(state: BackgammonState) -> set[str]:
    return {GAME.action_name(state, action) for action in GAME.legal_actions(state)}


def play(state: BackgammonState, *moves: str) -> BackgammonState:
    for move in moves:
        state = step(GAME, state, GAME.parse_action(state, move))
    return state


# --- a slow reference ------------------------------------------------------------------------------------------------


def slow_moves(own: tuple[int, ...], other: tuple[int, ...], die: int) -> list[tuple[int, int]]:
    """From where to where one checker may go."""
    found = []
    for source in range(1, 26):
        target = source - die
        if not own[source] or (own[BAR] and source != BAR):
            continue
        if target > 0:
            if other[25 - target] < 2:
                found.append((source, target))
        elif not any(own[7:]) and (target == 0 or not any(own[source + 1 :])):
            found.append((source, OFF))
    return found


def slow_turns(own: tuple[int, ...], other: tuple[int, ...], dice: list[int]) -> set[Position]:
    """Every order of the dice, as many of them as can be played; of single ones the larger."""
    ends: dict[tuple[int, int], set[Position]] = {}

    def go(own, other, left, used):
        ends.setdefault((len(used), sum(used)), set()).add((tuple(own), tuple(other)))
        for die in set(left):
            for source, target in slow_moves(own, other, die):
                mine, theirs = list(own), list(other)
                mine[source] -= 1
                mine[target] += 1
                if target and theirs[25 - target]:
                    theirs[25 - target] -= 1
                    theirs[BAR] += 1
                rest = list(left)
                rest.remove(die)
                go(tuple(mine), tuple(theirs), rest, (*used, die))

    go(own, other, dice, ())
    most = max(number for number, _ in ends)
    return ends[max(key for key in ends if key[0] == most)]


def slow_ends(state: BackgammonState) -> set[Position]:
    dice = [int(state.high)] * int(state.times) + [int(state.low)] * (int(state.low) > 0)
    ends = slow_turns(tuple(state.own.tolist()), tuple(state.other.tolist()), dice)
    return ends if int(state.side) == 0 else {(other, own) for own, other in ends}


def random_rows(draw: random.Random) -> tuple[np.ndarray, np.ndarray]:
    """Checkers anywhere, often crowded at home, so that dice often cannot be played."""
    own, other = np.zeros(26, np.uint8), np.zeros(26, np.uint8)
    far = draw.choice([6, 6, 12, 24, 25])
    for _ in range(15):
        own[draw.randint(0, far)] += 1
    if own[OFF] == 15:
        own[OFF], own[6] = 14, 1
    free = [p for p in range(1, 25) if not own[25 - p]] + [25]
    crowded = [p for p in free if p <= 6] if draw.random() < 0.5 else free  # a home that is hard to enter
    for number in draw.choices([2, 2, 3, 1], k=5):
        other[draw.choice(crowded or free)] += number
    other[OFF] = max(0, 15 - int(other[1:].sum()))
    return own, other


def test_every_turn_ends_where_a_slow_search_ends():
    draw, stuck = random.Random(2), 0
    for _ in range(150):
        own, other = random_rows(draw)
        high, low = draw.choice(ROLLS)
        state = BackgammonState(
            own, other, np.uint8(draw.randint(0, 1)), np.uint8(high), np.uint8(0 if high == low else low),
            np.uint8(4 if high == low else 1), np.uint16(0),
        )  # fmt: skip
        found = turns(state)
        assert found == slow_ends(state), f"{own} {other} {high} {low}"
        stuck += found == {position(state)}
    assert stuck >= 2, "some cannot move at all"


# --- by hand ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dice", "number"), [("65", 7), ("31", 16), ("21", 15), ("66", 11)])
def test_the_number_of_distinct_plays_of_an_opening_roll(dice, number):
    assert len(turns(read(dice))) == number == len(slow_ends(read(dice)))


def test_a_roll_with_four_plays():
    """The kind of case that lectures draw: 6-5 can be played in four ways."""
    state = read("65", board(white={24: 1, 13: 3, 8: 11}, black={20: 2, 1: 13}))
    assert len(turns(state)) == len(slow_ends(state)) == 4


def test_where_only_one_die_can_be_played_it_is_the_larger():
    state = read("64", board(white={24: 1}, black={25 - 14: 2, 25 - 18: 1, 25 - 20: 1, 25 - 1: 11}))
    assert names(state) == {"24/18*"}, "24/20* would leave nothing for the six, and 24/18* nothing for the four"


def test_who_has_a_checker_on_the_bar_enters_it_first():
    state = read("31", board(white={BAR: 1, 6: 14}, black={3: 2, 20: 13}))
    assert names(state) == {"bar/24"}
    after = play(state, "bar/24")
    assert names(after) == {"24/21", "6/3"} and int(after.low) == 0


def test_who_cannot_enter_passes_and_the_other_side_rolls():
    state = read("31", board(white={BAR: 1, 6: 14}, black={3: 2, 1: 2, 20: 11}))
    assert names(state) == {"pass"}
    after = play(state, "pass")
    assert int(GAME.player(after)) == CHANCE and int(after.side) == 1 and position(after) == position(state)


def test_a_larger_die_bears_off_from_the_farthest_point_only():
    state = read("65", board(white={4: 2, 2: 1}, black={1: 2}))
    assert names(state) == {"4/off(6)", "4/off(5)"}
    assert names(play(state, "4/off")) == {"4/off"}


@pytest.mark.parametrize(
    ("black", "points", "word"),
    [
        ({1: 14}, 1, "all checkers"),
        ({1: 15}, 2, "gammon"),
        ({23: 1, 1: 14}, 3, "backgammon"),
        ({BAR: 1, 1: 14}, 3, "backgammon"),
    ],
)
def test_a_win_is_worth_one_two_or_three_points(black, points, word):
    for turn, sign in ((1, 1), (-1, -1)):
        letters = board(white={1: 1}, black=black) if turn == 1 else board(white=black, black={1: 1})
        end = play(read("21", letters, turn), "1/off(2)")
        assert bool(GAME.over(end)) and float(GAME.score(end)) == pytest.approx(sign * points / 3)
        assert word in GAME.outcome_reason(end)


def test_the_dice_have_their_odds():
    odds = ask(GAME, "chance", read("00"))
    assert odds.sum() == pytest.approx(1) and {round(36 * odd) for odd in odds.tolist()} == {1, 2}
    for outcome, (high, low) in enumerate(ROLLS):
        rolled = ask(GAME, "resolve", read("00"), outcome)
        assert (int(rolled.high), int(rolled.low) or int(rolled.high)) == (high, low)
        assert GAME.outcome_name(read("00"), outcome) == f"{high}-{low}"


def test_either_side_begins_and_never_with_equal_dice():
    first = jax.device_get(jax.jit(jax.vmap(GAME.init))(jax.random.split(jax.random.key(0), 3000)))
    assert (first.high > first.low).all() and (first.low > 0).all()
    assert 1400 < int(np.sum(first.side, dtype=int)) < 1600
    rolls, counts = np.unique(np.stack([first.high, first.low]), axis=1, return_counts=True)
    assert rolls.shape[1] == 15 and counts.min() > 140 and counts.max() < 270


def test_both_sides_see_the_same_position_alike():
    white = read("52", board(white={24: 2, 6: 13}, black={13: 5, 3: 10}))
    black = read("52", board(black={24: 2, 6: 13}, white={13: 5, 3: 10}), turn=-1)
    assert np.array_equal(ask(GAME, "observe", white), ask(GAME, "observe", black))
    assert np.array_equal(ask(GAME, "features", white), ask(GAME, "features", black))


def test_features_change_sign_with_the_sides():
    state = read("00", board(white={24: 2, 8: 4, 6: 9}, black={13: 5, 1: 9, BAR: 1}))
    swapped = state._replace(own=state.other, other=state.own)
    assert np.allclose(ask(GAME, "features", state), -ask(GAME, "features", swapped))


# --- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dice", ["52", "33", "00", "5*1", "3*3"])
@pytest.mark.parametrize("turn", [1, -1])
def test_a_position_is_read_back(dice, turn):
    state = read(dice, turn=turn)
    assert GAME.write_position(state) == f"{START[:-2]}{turn}:{dice}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nonsense", "write it like XGID="),
        (START + "77", "its dice are '77'"),
        ("XGID=-b----E-C---eE---c-e----C-:0:0:1:52", "White has 16 checkers"),
        ("XGID=A-------------------------:0:0:1:52", "other side's bar"),
        ("XGID=-a------------------------:0:0:1:52", "the game is over"),
        (START + "52:0:0:0:0:10:52", "it has 11 fields, but 10 at most"),
        (f"{START}52:{START}31", "'XGID=-b----E-C---eE---c-e----B-' stands where a number must be"),
        (START.replace("0:0", "0:x") + "52", "'x' stands where a number must be"),
    ],
)
def test_a_text_that_is_no_position_is_refused(text, why):
    with pytest.raises(BadInput, match=why):
        GAME.read_position(text)


def test_an_impossible_play_names_what_is_possible():
    with pytest.raises(BadInput, match=r"'8/1' is not a legal move here \(legal: 8/2 13/7 24/18"):
        GAME.parse_action(read("65"), "8/1")


def test_each_seat_sees_its_own_home_at_the_lower_right():
    state = read("31")
    white, black = GAME.show(state, 0), GAME.show(state, 1)
    assert white.splitlines()[12:14] == [
        "| X  .  .  .  O  . |   | O  .  .  .  .  X |", "+------------------+---+------------------+",
    ]  # fmt: skip
    assert white.translate(str.maketrans("OX", "XO")).splitlines()[:14] == black.splitlines()[:14]
    assert "White (O) to play 3 1" in white
    assert GAME.show(read("00"), 0).endswith("to roll")


def test_nobody_is_to_roll_once_the_game_is_over():
    won = play(read("21", board(white={1: 1}, black={1: 15})), "1/off(2)")
    cut = read("00")._replace(ply=np.uint16(GAME.max_plies))
    assert bool(GAME.over(won)) and GAME.show(won, 0).endswith(" borne off: O 15, X 0")
    assert bool(GAME.over(cut)) and GAME.show(cut, 1).endswith(" borne off: X 0, O 0")


def test_what_xg_says_of_a_match_is_read_over():
    assert GAME.write_position(GAME.read_position(f"{START}52:3:1:0:7:10")) == f"{START}52"
