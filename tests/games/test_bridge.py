"""Bridge: tricks made by hand, a slow referee, what each seat may know, and how the rest is dealt."""

from __future__ import annotations

import functools
import itertools
import random

import hypothesis
import hypothesis.strategies as st
import jax
import numpy as np
import pytest
from scipy.stats import chisquare

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.games.bridge.game import HELD, NO_SEAT, Bridge, BridgeState
from beamzero.games.bridge.text import CARDS, RANKS, SUITS, read_contract, write_contract_result, write_hand
from tests.games.play import ask, at, play, sample_states, step

DEAL = "N:AQ4.KT2.AJ85.Q93 JT93.Q964.T3.K76 K52.A53.KQ92.A42 876.J87.764.JT85"
"""North is dummy of 3NT by South, and West leads."""

GAME = Bridge()
SPADES = Bridge("4S")


def position(game: Bridge, cards: str = "", deal: str = DEAL) -> BridgeState:
    return jax.device_get(game.read_position(f"{deal} {game.contract} {game.declarer} {cards}"))


def names(game: Bridge, state: BridgeState) -> str:
    return " ".join(CARDS[card] for card in game.legal_actions(state))


# --- the rules -------------------------------------------------------------------------------------------------------


def test_the_defender_to_the_left_leads_and_the_hands_follow_clockwise():
    turns = [
        tuple(int(ask(GAME, question, state)) for question in ("next_hand", "player", "seat"))
        for state in (position(GAME, cards) for cards in ("", "S8", "S8 S4", "S8 S4 ST", "S8 S4 ST SK"))
    ]
    assert turns == [(1, 1, 1), (2, 0, 0), (3, 1, 3), (0, 0, 0), (0, 0, 0)], "the declarer decides for dummy, and won"


def test_suit_must_be_followed_and_the_highest_of_it_wins():
    assert names(GAME, position(GAME, "D7")) == "D5 D8 DJ DA"
    assert names(GAME, position(GAME, "D7 DA")) == "D3 DT"
    state = position(GAME, "D7 DA D3 D2")
    assert int(ask(GAME, "next_hand", state)) == 2 and state.won.tolist() == [1, 0], "dummy's ace"
    state = position(GAME, "D7 D5 DT DQ D9 D6 DJ D3 DA S9 DK D4")
    assert state.voids.tolist() == [[False] * 4] * 3 + [[False, False, True, False]], "East had no third diamond"
    assert state.won.tolist() == [3, 0]


def test_who_cannot_follow_may_play_anything_and_a_trump_beats_the_suit():
    before = "D7 D5 DT DQ D9 D6 DJ D3 DA"
    assert names(SPADES, position(SPADES, before)) == "S3 S9 ST SJ H4 H6 H9 HQ C6 C7 CK"
    ruffed = position(SPADES, f"{before} S3 DK D4")
    assert ruffed.won.tolist() == [2, 1] and int(ask(SPADES, "next_hand", ruffed)) == 3, (
        "the three of trumps beats the ace"
    )
    thrown = position(SPADES, f"{before} CK DK D4")
    assert thrown.won.tolist() == [3, 0] and int(ask(SPADES, "next_hand", thrown)) == 2


def test_a_lone_trump_wins_over_a_higher_card_thrown_off():
    game = Bridge("1H", "N")
    ending = "N:A... .2.. .A.. ..A. 1H N won=7-5 lead=N"
    states = [game.read_position(f"{ending} {cards}") for cards in ("SA H2 HA", "SA H2 HA DA")]
    assert [int(ask(game, "next_hand", states[0])), states[1].won.tolist()] == [3, [8, 5]], (
        "South's ace of trumps over East's two"
    )


def test_the_score_counts_tricks_and_the_reason_the_contract():
    ending = "N:2... 3... A... 4... {} S won={} lead=S SA S4 S2 S3"
    for contract, won, score, reason in [
        ("3NT", "8-4", 5 / 13, "3NT made"),
        ("3NT", "9-3", 7 / 13, "3NT made with an overtrick"),
        ("3NT", "12-0", 1, "3NT made with four overtricks"),
        ("4S", "7-5", 3 / 13, "4S down two"),
        ("7C", "0-12", -11 / 13, "7C down twelve"),
    ]:
        game = make_game(f"bridge:contract={contract}")
        state = game.read_position(ending.format(contract, won))
        assert bool(game.over(state)) and float(game.score(state)) == pytest.approx(score)
        assert game.outcome_reason(state) == reason
    assert write_contract_result(read_contract("7NT"), 0) == "7NT down thirteen"
    assert write_contract_result(read_contract("1C"), 13) == "1C made with six overtricks"


class Referee:
    """The rules once more, in lists and dictionaries. Seats are counted from the declarer."""

    def __init__(self, hands: list[list[str]], trump: str) -> None:
        self.hands, self.trump, self.turn, self.trick, self.won = hands, trump, 1, [], [0, 0]
        self.voids: set[tuple[int, str]] = set()

    def legal(self) -> set[str]:
        hand = self.hands[self.turn]
        return {card for card in hand if self.trick and card[0] == self.trick[0][1][0]} or set(hand)

    def play(self, card: str) -> None:
        if self.trick and card[0] != self.trick[0][1][0]:
            self.voids.add((self.turn, self.trick[0][1][0]))
        self.hands[self.turn].remove(card)
        self.trick.append((self.turn, card))
        self.turn = (self.turn + 1) % 4
        if len(self.trick) == 4:
            suits = [self.trump, self.trick[0][1][0]]
            best = max(
                (entry for entry in self.trick if entry[1][0] in suits),
                key=lambda entry: (entry[1][0] == self.trump, RANKS.index(entry[1][1])),
            )
            self.turn, self.trick = best[0], []
            self.won[self.turn % 2] += 1


@pytest.mark.parametrize("contract", ["3NT", "4S", "2C"])
def test_random_games_agree_with_a_slow_referee(contract):
    game, draw = Bridge(contract), random.Random(contract)
    for seed in range(4):
        state = jax.device_get(game.init(jax.random.key(seed)))
        hands = [[CARDS[card] for card in np.flatnonzero(np.asarray(state.holder) == seat)] for seat in range(4)]
        assert [len(hand) for hand in hands] == [13] * 4
        referee = Referee(hands, "" if contract == "3NT" else contract[1])
        for _ in range(52):
            assert ask(game, "next_hand", state) == referee.turn and ask(game, "player", state) == referee.turn % 2
            legal = {CARDS[card] for card in game.legal_actions(state)}
            assert legal == referee.legal()
            card = draw.choice(sorted(legal))
            state = step(game, state, CARDS.index(card))
            referee.play(card)
            assert state.won.tolist() == referee.won
        voids = {(seat, SUITS[suit]) for seat, suit in np.argwhere(np.asarray(state.voids))}
        assert voids == referee.voids
        assert bool(game.over(state)) and float(game.score(state)) == pytest.approx((2 * referee.won[0] - 13) / 13)


def test_other_keys_deal_other_cards_and_every_card_goes_everywhere():
    init = jax.jit(jax.vmap(GAME.init))
    holders = np.asarray(init(jax.random.split(jax.random.key(0), 4000)).holder)
    assert (np.stack([(holders == seat).sum(axis=1) for seat in range(4)]) == 13).all()
    share = np.stack([(holders == seat).mean(axis=0) for seat in range(4)])
    assert np.abs(share - 0.25).max() < 0.035, "five standard errors"
    assert len(np.unique(holders, axis=0)) == 4000


# --- who knows what --------------------------------------------------------------------------------------------------


@functools.partial(jax.jit, static_argnums=(0, 3))
def deal(game: Bridge, state: BridgeState, seat: int, number: int, key) -> BridgeState:
    return jax.vmap(functools.partial(game.determinize, state, seat))(jax.random.split(key, number))


def positions(number: int = 12) -> list[BridgeState]:
    states = sample_states(GAME, number)
    return [at(states, row) for row in range(number)] + [at(play(GAME).states, 0, row) for row in range(2)]


def test_nothing_that_is_hidden_is_shown():
    """Whatever the others hold: the picture is the same, for everyone who looks."""
    for state, seat in itertools.product(positions(5), range(4)):
        for other in (at(deal(GAME, state, seat, 16, jax.random.key(1)), number) for number in range(4)):
            assert GAME.show(other, seat) == GAME.show(state, seat)
            assert GAME.view(other, seat) == GAME.view(state, seat)
            if seat == int(GAME.seat(state)):
                assert (ask(GAME, "observe", other) == ask(GAME, "observe", state)).all()
                assert (ask(GAME, "legal", other) == ask(GAME, "legal", state)).all()


def test_what_is_known_is_shown():
    state = position(GAME, "S8")
    view = GAME.view(state, 1)
    assert view["hands"] == {
        "N": ["S4", "SQ", "SA", "H2", "HT", "HK", "D5", "D8", "DJ", "DA", "C3", "C9", "CQ"],
        "E": 13,
        "S": 13,
        "W": ["S6", "S7", "H7", "H8", "HJ", "D4", "D6", "D7", "C5", "C8", "CT", "CJ"],
    }
    assert view["trick"] == [["W", "S8"]] and view["to_play"] == "N" and view["seat"] == "W"
    assert isinstance(GAME.view(position(GAME), 0)["hands"]["N"], int), "dummy is not open before the first lead"
    assert isinstance(GAME.view(position(GAME), 2)["hands"]["N"], list), "but its owner sees it"
    seen = ask(GAME, "observe", state).reshape(52, 24)
    assert [int(seen[:, hand].sum()) for hand in range(4)] == [13, 0, 13, 0], "the declarer sees dummy and its own hand"
    assert "C 12 cards" not in GAME.show(state, 3) and "12 cards" in GAME.show(state, 3)


def test_a_deal_agrees_with_all_that_is_known():
    for state, seat in itertools.product(positions(), range(4)):
        dealt = jax.device_get(deal(GAME, state, seat, 16, jax.random.key(2)))
        held = (dealt.holder[:, None] == np.arange(4)[:, None]) & (dealt.ply == HELD)[:, None]  # [16, 4, 52]
        was = (state.holder == np.arange(4)[:, None]) & (state.ply == HELD)
        assert (held.sum(axis=2) == was.sum(axis=1)).all(), "hands keep their sizes"
        assert (held[:, seat] == was[seat]).all(), "one's own cards stay"
        if state.plies > 0:
            assert (held[:, 2] == was[2]).all(), "so do dummy's, once open"
        by_suit = held.reshape(16, 4, 4, 13).any(axis=3)
        assert not (by_suit & state.voids).any(), "nobody gets what it has shown to be out of"
        played = state.ply != HELD
        assert (dealt.holder[:, played] == state.holder[played]).all()
        for name in ("ply", "trick", "leader", "plies", "won", "voids"):
            assert (getattr(dealt, name) == getattr(state, name)).all()


def all_deals(state: BridgeState, seat: int) -> set[bytes]:
    """Every way to deal what `seat` does not see, one by one."""
    known = {seat, 2} if seat != 2 else {0, 2}
    unseen = [c for c in range(52) if state.ply[c] == HELD and state.holder[c] not in known]
    hidden = sorted({int(state.holder[c]) for c in unseen})
    sizes = [sum(int(state.holder[c]) == seat for c in unseen) for seat in hidden]
    found = set()
    for hands in itertools.product(hidden, repeat=len(unseen)):
        fits = [hands.count(seat) for seat in hidden] == sizes
        if fits and not any(state.voids[seat, card // 13] for card, seat in zip(unseen, hands)):
            holder = state.holder.copy()
            holder[unseen] = hands
            found.add(holder.tobytes())
    return found


@pytest.mark.parametrize("seat", [0, 1, pytest.param(3, marks=pytest.mark.slow)])
def test_all_deals_that_agree_are_equally_likely(seat):
    """In endings where voids were shown and cards are left to be dealt freely."""
    tried = 0
    for plies, row in itertools.product((36, 38, 41), range(40)):
        state = at(play(GAME).states, plies, row)
        if tried == 4 or state.voids.sum() < 2:
            continue
        deals = all_deals(state, seat)
        if not 6 <= len(deals) <= 40:
            continue
        tried += 1
        holders = np.asarray(deal(GAME, state, seat, 4000, jax.random.key(row)).holder)
        found, counts = np.unique(holders, axis=0, return_counts=True)
        assert {holder.tobytes() for holder in found} == deals
        assert chisquare(counts).pvalue > 1e-4
    assert tried == 4


def test_before_dummy_is_open_three_hands_are_dealt():
    state = position(GAME)
    for seat in range(4):
        holders = np.asarray(deal(GAME, state, seat, 4000, jax.random.key(3)).holder)
        others = np.flatnonzero(state.holder != seat)
        share = np.stack([(holders[:, others] == other).mean(axis=0) for other in range(4) if other != seat])
        assert np.abs(share - 1 / 3).max() < 0.04, "five standard errors"


def test_a_deal_depends_on_nothing_that_is_hidden():
    """The same key deals the same world from all states that a seat cannot tell apart."""
    for state, seat in itertools.product(positions(4), range(4)):
        others = deal(GAME, state, seat, 16, jax.random.key(4))
        worlds = [jax.device_get(deal(GAME, at(others, n), seat, 16, jax.random.key(5))) for n in range(5)]
        assert all((world.holder == worlds[0].holder).all() for world in worlds)


# --- for people ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["bridge", "bridge:contract=6h,declarer=w"])
def test_a_position_reads_back_from_its_text(spec):
    game = make_game(spec)
    for row, plies in enumerate([0, 1, 4, 17, 51, 52]):
        state = at(play(game).states, plies, row)
        text = game.write_position(state)
        again = jax.device_get(game.read_position(text))
        assert again.holder.tolist() == state.holder.tolist() and again.ply.tolist() == state.ply.tolist()
        assert game.write_position(again) == text and "\n" not in text


def test_an_ending_reads_back_from_its_text():
    game = Bridge("4S")
    text = "N:K7..T. .AJ5.. 6.8.A. AQ..K. 4S S won=7-3 lead=S H8 SA DT H5 SQ"
    state = jax.device_get(game.read_position(text))
    assert state.won.tolist() == [7, 4] and int(ask(game, "next_hand", state)) == 2
    assert (state.holder == NO_SEAT).sum() == 40
    assert game.write_position(state) == text


@hypothesis.given(
    data=st.data(), size=st.sampled_from([13, 13, 2, 5]), declarer=st.sampled_from("NESW"), played=st.integers(0, 20)
)
def test_every_position_is_the_same_after_it_was_written_and_read(data, size, declarer, played):
    """A whole deal or an ending, whoever leads, before the lead, within a trick and in later ones."""
    game = Bridge("4S", declarer)
    cards = data.draw(st.permutations(CARDS))
    hands = [cards[place * size : (place + 1) * size] for place in range(4)]
    leader, ours = data.draw(st.sampled_from("NESW")), data.draw(st.integers(0, 13 - size))
    won = f"won={ours}-{13 - size - ours}" if size < 13 else ""
    text = f"N:{' '.join(map(write_hand, hands))} 4S {declarer} {won} lead={leader}"
    state = game.read_position(text)
    for _ in range(min(played, 4 * size)):
        state = step(game, state, data.draw(st.sampled_from(game.legal_actions(state))))
    state, again = jax.device_get((state, game.read_position(game.write_position(state))))
    assert all((one == other).all() for one, other in zip(state, again, strict=True)), game.write_position(state)


def test_the_deal_may_begin_anywhere_and_be_written_as_people_do():
    hands = DEAL[2:].split()
    turned = f"s:{hands[2]} {hands[3]} {hands[0]} {hands[1]}".lower().replace("t", "10")
    assert (GAME.read_position(f"{turned} 3nt s c10").holder == GAME.read_position(f"{DEAL} 3NT S").holder).all()
    state = position(GAME)
    assert [GAME.parse_action(state, text) for text in ("d7", " D7", "CT", "c10")] == [31, 31, 47, 47]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "cannot read the position"),
        ("3NT S", "write a deal of four hands, a contract and a declarer"),
        (f"{DEAL} 3NT", "cannot read the position"),
        (DEAL.replace("876", "874") + " 3NT S", "the card S4 is dealt twice"),
        (DEAL.replace("876.", "87.") + " 3NT S", "W has 12 cards, but must have 13"),
        (DEAL.replace("876.", "8761.") + " 3NT S", "cannot read the hand '8761.J87.764.JT85' of W"),
        (DEAL.replace("876.J", "876J") + " 3NT S", "cannot read the hand '876J87.764.JT85' of W"),
        (DEAL.replace("N:", "X:") + " 3NT S", "no such hand 'X': it must be one of N, E, S, W"),
        (f"{DEAL} 8NT S", "no such contract '8NT': a level 1 to 7 and a strain C, D, H, S, NT, such as 3NT or 4S"),
        (f"{DEAL} 3NT Q", "no such declarer 'Q': it must be one of N, E, S, W"),
        (f"{DEAL} 4S S", "the position is 4S by S, but the game is 3NT by S: name it as bridge:contract=4S,declarer=S"),
        (f"{DEAL} 3NT S SA", "card 1: 'SA' is not a legal move here (legal: S6 S7 S8"),
        (f"{DEAL} 3NT S D7 SA", "card 2: 'SA' is not a legal move here (legal: D5 D8 DJ DA)"),
        (f"{DEAL} 3NT S D7 D7", "card 2: 'D7' is not a legal"),
        (f"{DEAL} 3NT S sure=1", "cannot read 'sure' in a position"),
        ("N:2... 3... A... 4... 3NT S", "N has 1 card, but must have 13; an ending also says won=4-3 and lead=S"),
        ("N:2... 3... A... 4... 3NT S won=7-6 lead=S", "an ending says who leads, as in lead=S, and who won the 12"),
        ("N:2... 3... A... 4... 3NT S won=7-5", "an ending says who leads"),
        ("N:2... 3... A... 4... 3NT S won=7-5 lead=X", "no such leader 'x'"),
        (f"{DEAL} 3NT S lead=N lead=S", "a position says won= and lead= once each, but here are 2 of them"),
        ("N:2... 3... A... 4... 3NT S won=7-5 won=5-7 lead=S", "a position says won= and lead= once each"),
        ("N:2... 3... A5... 4... 3NT S won=7-5 lead=S", "S has 2 cards, but must have as many as the others"),
    ],
)  # fmt: skip
def test_a_bad_position_is_one_clear_line(text, says):
    with pytest.raises(BadInput) as caught:
        GAME.read_position(text)
    assert says in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("bridge:contract=8NT", "no such contract '8NT'"),
        ("bridge:contract=3X", "no such contract '3X'"),
        ("bridge:declarer=M", "no such declarer 'M'"),
        ("bridge:dealer=N", "bridge has no setting 'dealer' (it has: contract, declarer)"),
    ],
)
def test_a_bad_contract_or_declarer_is_one_clear_line(spec, says):
    with pytest.raises(BadInput) as caught:
        make_game(spec)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_a_contract_is_the_same_however_it_is_written():
    assert make_game("bridge:contract=3n,declarer=s") == GAME
    assert make_game("bridge:contract=4s,declarer=n").spec == "bridge:contract=4S,declarer=N"


def test_the_diagram():
    assert GAME.show(position(GAME, "D7 DA D3 D2 SA"), 3) == "\n".join(
        [
            "                      N (dummy)",
            "                      S Q4",
            "                      H KT2",
            "                      D J85",
            "                      C Q93",
            "W                                           E (you, to play)",
            "12 cards                                    S JT93",
            "                                            H Q964",
            "                                            D T",
            "                                            C K76",
            "                      S (declarer)",
            "                      12 cards",
            "",
            "3NT by S, tricks: declarer 1, defenders 0",
            "last trick: W D7, N DA, E D3, S D2",
            "this trick: N SA",
        ]
    )
