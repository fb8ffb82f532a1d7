"""Every game draws well-formed, self-contained SVG in which each stone of the view stands once."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter

import jax
import numpy as np
import pytest

from beamzero.drawing import draw_svg
from beamzero.drawing.sowing import MOST_SEEDS
from beamzero.games import CHANCE, GAMES, OPEN, make_game
from tests.games.play import SPECS, at, params, play

DEAR = ("othello", "checkers", "togyzkumalak:max_plies=160", "chess6x6:max_plies=120", "chess:max_plies=120", "bridge")
SLOW = [spec for spec in SPECS if spec in DEAR or spec.startswith(("othello:", "checkers:", "connect_four:rows=9"))]
CHEAP = ["tic_tac_toe", "connect_four:rows=4,columns=5,length=3", "kalah", "kuhn_poker"]
ALLOWED = {"svg", "title", "g", "rect", "circle", "line", "path", "polygon", "text"}


def classes(svg: str) -> Counter[str]:
    """Count the elements of each class."""
    return Counter(name for part in ET.fromstring(svg).iter() for name in part.get("class", "").split())


def tags(svg: str) -> set[str]:
    return {part.tag.removeprefix("{http://www.w3.org/2000/svg}") for part in ET.fromstring(svg).iter()}


def check_counts(view, svg: str) -> None:
    """Hold the number of stones, checkers, seeds and cards against the view."""
    seen, kind = classes(svg), view["kind"]
    if kind == "grid":
        cells = [cell for row in view["cells"] for cell in row if cell]
        assert seen["stone"] == len(cells)
        sides = [cell - 1 if isinstance(cell, int) else view["pieces"][cell]["side"] for cell in cells]
        assert [seen["side-0"], seen["side-1"]] == [sides.count(0), sides.count(1)]
    elif kind == "points":
        held = [sum(view["checkers"][side]) + view["bar"][side] + view["off"][side] for side in (0, 1)]
        assert [seen["side-0"], seen["side-1"]] == held and seen["die"] == len(view["dice"])
    elif kind == "sowing":
        seeds = sum(min(count, MOST_SEEDS) for row in view["houses"] for count in row)
        assert seen["seed"] == seeds + sum(min(count, 2 * MOST_SEEDS) for count in view["stores"])
    elif kind == "cards":
        held = sum(hand if isinstance(hand, int) else len(hand) for hand in view["hands"].values())
        trick = view["trick"] if view["trick"] or view["to_play"] else view["last_trick"]
        assert seen["card"] == held + len(trick)
    elif kind == "poker":
        cards = view["cards"] + view["public"]
        assert (seen["card"], seen["down"]) == (len(cards), cards.count(None))


def check_position(game, state, seat: int, last) -> None:
    view = game.view(state, seat)
    for turned in (False, True):
        svg = draw_svg(view, last=last, turned=turned)
        assert svg == draw_svg(view, last=last, turned=turned) and svg.isascii()
        assert tags(svg) <= ALLOWED and "href" not in svg and "url(" not in svg
        assert classes(svg)["last"] <= len(last)
        check_counts(view, svg)


def test_every_game_is_drawn_here():
    assert {spec.partition(":")[0] for spec in SPECS} == set(GAMES) - {"pgx"}


@pytest.mark.parametrize("spec", params(SPECS, [*SLOW, "connect_four", "backgammon:max_plies=120", "leduc_poker"]))
def test_the_first_position_is_drawn_for_every_seat(spec):
    game = make_game(spec)
    state = jax.device_get(jax.jit(game.init)(jax.random.key(0)))
    for seat in (OPEN, 0, 1):
        check_position(game, state, seat, [])


@pytest.mark.parametrize("spec", params(SPECS, [spec for spec in SPECS if spec not in CHEAP]))
def test_positions_of_random_games_are_drawn_with_the_last_move(spec):
    game = make_game(spec)
    games = play(game)
    for ply in np.unique(np.linspace(1, len(games.actions) - 1, 8).astype(int)):
        before, after = at(games.states, ply - 1, 0), at(games.states, ply, 0)
        is_move = not games.facts.over[ply - 1, 0] and games.facts.player[ply - 1, 0] != CHANCE
        last = game.places(before, int(games.actions[ply - 1, 0])) if is_move else []
        if not games.facts.over[ply, 0] and games.facts.player[ply, 0] == CHANCE:
            continue  # no player sees the board without its dice
        for seat in (OPEN, 0, 1):
            check_position(game, after, seat, last)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["go_9x9", "hex", "animal_shogi", "gardner_chess"])
def test_games_of_pgx_are_drawn(name):
    pytest.importorskip("pgx")
    game = make_game(f"pgx:{name}")
    check_position(game, game.init(jax.random.key(0)), 0, [])


# --- what is hidden --------------------------------------------------------------------------------------------------


def texts(svg: str) -> list[str]:
    return [part.text or "" for part in ET.fromstring(svg).iter() if part.tag.endswith(("}text", "}title"))]


@pytest.mark.slow
def test_hidden_hands_are_not_in_the_drawing():
    game = make_game("bridge")
    state = jax.device_get(jax.jit(game.init)(jax.random.key(0)))
    everything = game.view(state, OPEN)["hands"]
    for seat in range(4):
        view = game.view(state, seat)
        svg = draw_svg(view)
        shown = {card for hand in view["hands"].values() if not isinstance(hand, int) for card in hand}
        hidden = {card for hand in everything.values() for card in hand} - shown
        assert len(shown) == 13 and len(hidden) == 39 and classes(svg)["down"] == 39
        title, *others = texts(svg)
        assert not any(card in title.split() or f"{card}." in title for card in hidden)
        ranks = Counter("10" if card[1] == "T" else card[1] for card in shown)
        assert Counter(text for text in others if text in {*"23456789JQKA", "10"}) == ranks


@pytest.mark.parametrize("position", ["JQ", "KJ c"])
def test_a_hidden_card_of_poker_is_not_in_the_drawing(position):
    game = make_game("kuhn_poker")
    state = game.read_position(position)
    for seat in (0, 1):
        svg = draw_svg(game.view(state, seat))
        assert position[seat] in texts(svg) and position[1 - seat] not in texts(svg)
        words = texts(svg)[0].replace(",", " ").split()
        assert position[seat] in words and position[1 - seat] not in words
