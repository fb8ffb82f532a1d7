"""Kuhn and Leduc poker: every hand is OpenSpiel's, nothing hidden is told, and what is hidden is dealt fairly."""

from __future__ import annotations

import collections
import functools
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from beamzero.core.errors import BadInput
from beamzero.games import OPEN, Game, State, make_game
from beamzero.games.laws import check_laws
from beamzero.games.poker import FOLD
from tests.games.play import at, step
from tests.games.spiel_poker import NAMES, Lines, lines


@pytest.fixture(params=NAMES, scope="module")
def hands(request) -> Lines:
    return lines(request.param)


def test_every_hand_goes_as_in_openspiel(hands):
    facts = hands.facts
    for row, line in enumerate(hands.theirs):
        plies = len(line.actions)
        assert facts.player[:plies, row].tolist() == line.movers
        assert [set(np.flatnonzero(legal)) for legal in facts.legal[:plies, row]] == line.legal
        assert not facts.over[:plies, row].any() and facts.over[plies:, row].all()
        assert facts.score[-1, row] * hands.game.stake == pytest.approx(line.won, abs=1e-6)
    assert {abs(line.won) for line in hands.theirs} >= {1.0, float(hands.game.stake)}


@pytest.mark.slow
def test_the_laws_hold(hands):
    assert check_laws(hands.game).broken == []


def test_deals_are_listed_with_the_probabilities_of_the_first_states(hands):
    deals = hands.game.deals()
    assert sum(chance for chance, _ in deals) == pytest.approx(1)
    keys = jax.random.split(jax.random.key(0), 12_000)
    first = jax.device_get(jax.jit(jax.vmap(hands.game.init))(keys))
    dealt = collections.Counter(map(tuple, first.cards.tolist()))
    listed = {tuple(state.cards.tolist()): chance for chance, state in deals}
    assert dealt.keys() == listed.keys() and len(deals) == {"kuhn_poker": 6, "leduc_poker": 24}[hands.game.name]
    assert fits([dealt[cards] for cards in listed], list(listed.values()))


def fits(counts: list[int], chances: list[float]) -> bool:
    """Whether counts are likely to come of these probabilities."""
    total = np.array(chances) / sum(chances) * sum(counts)
    return len(counts) == 1 or scipy.stats.chisquare(counts, total).pvalue > 1e-4


# --- who knows what ------------------------------------------------------------------------------------------------


def knows(hands: Lines, ply: int, row: int, seat: int) -> tuple:
    """What a seat knows, in words of its own: its card, what lies open, and all that was done."""
    line = hands.theirs[row]
    actions = tuple(line.actions[:ply])
    rounds = int(hands.states[ply].round[row])
    showdown = ply >= len(line.actions) and FOLD not in actions
    public = line.cards[2:] if rounds or showdown else ()
    return line.cards[seat], public, actions, line.cards if showdown else ()


def test_observations_are_information_sets(hands):
    """Equal bytes where the player to move knows the same, and nowhere else; OpenSpiel, but for suits, agrees."""
    by_knowledge, by_bytes, by_theirs = ({} for _ in range(3))
    for row, line in enumerate(hands.theirs):
        for ply, mover in enumerate(line.movers):
            seen = hands.facts.observation[ply, row].tobytes()
            known = knows(hands, ply, row, mover)
            assert by_knowledge.setdefault(known, seen) == seen
            assert by_bytes.setdefault(seen, known) == known
            assert by_theirs.setdefault(line.known[ply], seen) == seen
    assert len(by_bytes) == {"kuhn_poker": 12, "leduc_poker": 288}[hands.game.name]


def test_what_is_shown_tells_a_seat_no_more_than_it_knows(hands):
    shown: dict[tuple, tuple] = {}
    rows = random.Random(0).sample(range(len(hands.theirs)), min(150, len(hands.theirs)))
    for row in rows:
        for ply in range(len(hands.theirs[row].actions) + 1):
            state = at(hands.states[ply], row)
            for seat in (0, 1):
                seen = hands.game.show(state, seat), str(hands.game.view(state, seat))
                assert shown.setdefault((seat, knows(hands, ply, row, seat)), seen) == seen


def test_cards_are_shown_at_a_showdown_and_not_after_a_fold():
    game = make_game("kuhn_poker")
    state = next(state for _, state in game.deals() if state.cards.tolist() == [2, 0])
    folded, called = (play(game, state, ["bet", answer]) for answer in ("fold", "call"))
    assert game.show(folded, 0).splitlines()[:2] == ["first   king", "second  ?"]
    assert game.show(folded, 1).splitlines()[:2] == ["first   ?", "second  jack"]
    assert (
        game.show(called, 0)
        == game.show(called, 1)
        == ("first   king\nsecond  jack\nround 1 bet, call\npot     4 (2 + 2)")
    )
    assert game.outcome_reason(folded) == "second folds and loses 1 chip"
    assert game.outcome_reason(called) == "first wins 2 chips: a king against a jack"


def play(game: Game, state: State, moves: list[str]) -> State:
    for move in moves:
        state = step(game, state, game.parse_action(state, move))
    return state


def test_a_pair_beats_a_higher_card_and_equal_cards_share():
    game = make_game("leduc_poker")
    by_cards = {tuple(state.cards.tolist()): state for _, state in game.deals()}
    moves = ["bet", "raise", "call", "bet", "raise", "call"]
    pair = play(game, by_cards[2, 0, 0], moves)
    assert game.outcome_reason(pair) == "second wins 13 chips: a pair of jacks against a king"
    assert float(game.score(pair)) == -1
    assert game.outcome_reason(play(game, by_cards[1, 1, 2], moves)) == "draw: both have a queen"
    with pytest.raises(BadInput, match="legal: fold call"):
        game.parse_action(play(game, by_cards[1, 1, 2], moves[:2]), "raise")


# --- as text and as a picture --------------------------------------------------------------------------------------


def test_every_position_is_written_and_read_again(hands):
    game = hands.game
    for row in random.Random(2).sample(range(len(hands.theirs)), 10):
        for ply in range(len(hands.theirs[row].actions) + 1):
            state = jax.device_get(at(hands.states[ply], row))
            again = jax.device_get(game.read_position(f" {game.write_position(state)} "))
            for one, other in zip(state, again, strict=True):
                assert np.array_equal(one, other), game.write_position(state)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("kuhn_poker", "", "'' is no position of kuhn_poker: give the cards and then the actions, such as JQ cr"),
        ("kuhn_poker", "J", "'J' is no deal of kuhn_poker: it takes 2 of the cards JQK"),
        ("kuhn_poker", "JJ", "'JJ' is no deal"),
        ("kuhn_poker", "JA", "'JA' is no deal"),
        ("kuhn_poker", "JQ rr", "action 2: 'r' cannot be (legal: fc)"),
        ("kuhn_poker", "JQ ccc", "action 3: 'c' cannot be (legal: none, the game is over)"),
        ("leduc_poker", "JJJ", "it takes 3 of the cards JJQQKK"),
        ("leduc_poker", "JJQ c/c", "'c/c' ends its rounds where they do not end: 'JJQ cc'"),
    ],
)
def test_a_position_that_cannot_be_gets_one_line(name, text, why):
    with pytest.raises(BadInput) as error:
        make_game(name).read_position(text)
    assert why in str(error.value) and "\n" not in str(error.value)


def test_the_picture_shows_what_a_seat_knows():
    game = make_game("leduc_poker")
    state = game.read_position("KJQ rc")
    assert [game.view(state, seat)["cards"] for seat in (0, 1, OPEN)] == [["K", None], [None, "J"], ["K", "J"]]
    assert game.view(state)["public"] == ["Q"] and game.view(game.read_position("KJQ r"))["public"] == [None]
    assert (game.view(state)["paid"], game.view(state)["said"]) == ([3, 3], [["bet", "call"], []])
    assert game.view(game.read_position("KJQ rc/cc"))["cards"] == ["K", "J"], "at a showdown both lie open"


# --- dealing anew --------------------------------------------------------------------------------------------------


@functools.partial(jax.jit, static_argnums=(0, 3))
def deal_again(game: Game, state: State, seat: jax.Array, number: int) -> State:
    keys = jax.random.split(jax.random.key(1), number)
    return jax.vmap(game.determinize, (None, None, 0))(state, seat, keys)


def test_what_is_hidden_is_dealt_anew_as_the_rules_deal_it(hands):
    """Every deal that agrees with what a seat has seen, and only those, as often as the rules make it."""
    game = hands.game
    draw = random.Random(1)
    for row in draw.sample(range(len(hands.theirs)), 6):
        for ply in {0, draw.randint(0, len(hands.theirs[row].actions)), len(hands.theirs[row].actions)}:
            for seat in (0, 1):
                state = at(hands.states[ply], row)
                card, public, _, all_cards = knows(hands, ply, row, seat)
                agree = {
                    tuple(deal.cards.tolist()): chance
                    for chance, deal in game.deals()
                    if deal.cards[seat] == card
                    and (not public or deal.cards[2:].tolist() == list(public))
                    and (not all_cards or deal.cards.tolist() == list(all_cards))
                }
                worlds = jax.device_get(deal_again(game, state, jnp.int32(seat), 3000))
                dealt = collections.Counter(map(tuple, worlds.cards.tolist()))
                assert dealt.keys() == agree.keys()
                assert fits([dealt[cards] for cards in agree], list(agree.values()))
                for before, after in zip(state[1:], worlds[1:], strict=True):
                    assert (np.asarray(after) == before).all(), "only cards change"
