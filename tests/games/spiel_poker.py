"""Every hand of Kuhn and Leduc poker there is, as OpenSpiel plays it and as our rules do."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import jax
import numpy as np
import pyspiel

from beamzero.games import Game, State, make_game
from beamzero.games.poker import CALL, FOLD, RAISE
from tests.games.play import Facts, at, replayed

NAMES = ["kuhn_poker", "leduc_poker"]


class Line(NamedTuple):
    """One hand of OpenSpiel's to its end."""

    cards: tuple[int, ...]  # ranks: the first player's, the second's, the public one where there is one
    actions: list[int]  # as our rules number them
    movers: list[int]
    legal: list[set[int]]
    known: list[str]  # what OpenSpiel calls the information set of each move
    won: float  # chips of the first player


class Lines(NamedTuple):
    """N hands of at most T plies, here and there."""

    game: Game
    theirs: list[Line]
    actions: np.ndarray  # int32 [T + 1, N] zeros after the end
    states: list[State]  # T + 1 times [N]
    facts: Facts  # [T + 1, N]


def our_action(name: str, action: int, known: str) -> int:
    """In Kuhn poker OpenSpiel has one number for a check and a fold, and one for a bet and a call."""
    return action if name == "leduc_poker" else ((CALL, RAISE), (FOLD, CALL))["b" in known][action]


def _hands(name: str, state: pyspiel.State, deck: list[int], line: Line) -> Iterator[Line]:
    """All that can follow where the cards of the deck are dealt in this order."""
    if state.is_terminal():
        yield line._replace(won=state.returns()[0])
    elif state.is_chance_node():
        yield from _hands(name, state.child(deck[0]), deck[1:], line)
    else:
        known = state.information_state_string()
        legal = {our_action(name, action, known) for action in state.legal_actions()}
        for action in state.legal_actions():
            after = line._replace(
                actions=[*line.actions, our_action(name, action, known)],
                movers=[*line.movers, state.current_player()],
                legal=[*line.legal, legal],
                known=[*line.known, known],
            )
            yield from _hands(name, state.child(action), deck, after)


@functools.cache
def lines(name: str) -> Lines:
    game, theirs = make_game(name), pyspiel.load_game(name)
    suits, dealt = (2, 3) if name == "leduc_poker" else (1, 2)
    found = [
        line
        for deal in itertools.permutations(range(3 * suits), dealt)
        for line in _hands(
            name, theirs.new_initial_state(), list(deal), Line(tuple(c // suits for c in deal), [], [], [], [], 0)
        )
    ]
    actions = np.zeros((game.max_plies + 1, len(found)), np.int32)
    for row, line in enumerate(found):
        actions[: len(line.actions), row] = line.actions
    by_cards = {tuple(state.cards.tolist()): state for _, state in game.deals()}
    first = jax.tree.map(lambda *leaves: np.stack(leaves), *(by_cards[line.cards] for line in found))
    games = replayed(game, first, actions)
    return Lines(game, found, actions, [at(games.states, ply) for ply in range(len(actions))], games.facts)
