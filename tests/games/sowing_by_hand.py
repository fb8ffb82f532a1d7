"""The two sowing games once more, stone by stone in plain Python: slow and obvious, and sharing nothing with ours."""

from __future__ import annotations

import collections
import random
from typing import NamedTuple

import jax
import numpy as np

from beamzero.games import Game, State
from tests.games.play import replayed


class KalahByHand:
    def __init__(self, houses: int = 6, seeds: int = 6, empty_capture: bool = False) -> None:
        self.empty_capture = empty_capture
        self.houses = [[seeds] * houses, [seeds] * houses]
        self.stores = [0, 0]
        self.side = 0
        self.seen: collections.Counter[str] = collections.Counter()

    def copy(self) -> KalahByHand:
        twin = KalahByHand(empty_capture=self.empty_capture)
        twin.houses = [list(row) for row in self.houses]
        twin.stores, twin.side, twin.seen = list(self.stores), self.side, self.seen
        return twin

    def position(self) -> list[int]:
        """Side to move, houses, stores."""
        return [self.side, *self.houses[0], *self.houses[1], *self.stores]

    def legal(self) -> list[int]:
        return [house for house, seeds in enumerate(self.houses[self.side]) if seeds]

    def play(self, house: int) -> None:
        side, number = self.side, len(self.houses[0])
        hand, self.houses[side][house] = self.houses[side][house], 0
        self.seen["whole lap"] += hand > 2 * number
        row, place = side, house
        while hand:
            place += 1
            if place == number and row == side:
                self.stores[side] += 1
                hand -= 1
            elif place >= number:
                row, place = 1 - row, 0
                self.houses[row][0] += 1
                hand -= 1
            else:
                self.houses[row][place] += 1
                hand -= 1
        if place == number:
            self.seen["again"] += 1
            return
        if row == side and self.houses[side][place] == 1:
            opposite = number - 1 - place
            if self.houses[1 - side][opposite] or self.empty_capture:
                self.seen["capture" if self.houses[1 - side][opposite] else "empty capture"] += 1
                self.stores[side] += 1 + self.houses[1 - side][opposite]
                self.houses[side][place] = self.houses[1 - side][opposite] = 0
        self.side = 1 - side

    def over(self) -> bool:
        return not any(self.houses[0]) or not any(self.houses[1])

    def margin(self) -> int:
        """How many seeds the first side has more, those in its houses counted."""
        return self.stores[0] + sum(self.houses[0]) - self.stores[1] - sum(self.houses[1])

    def score(self) -> int:
        return (self.margin() > 0) - (self.margin() < 0) if self.over() else 0


class TogyzkumalakByHand:
    def __init__(self) -> None:
        self.houses = [[9] * 9, [9] * 9]
        self.kazans = [0, 0]
        self.tuzdyks: list[int | None] = [None, None]  # the house of the other side that each side holds
        self.side = 0
        self.seen: collections.Counter[str] = collections.Counter()

    def copy(self) -> TogyzkumalakByHand:
        twin = TogyzkumalakByHand()
        twin.houses = [list(row) for row in self.houses]
        twin.kazans, twin.tuzdyks = list(self.kazans), list(self.tuzdyks)
        twin.side, twin.seen = self.side, self.seen
        return twin

    def position(self) -> list[int]:
        """Side to move, houses, kazans, tuzdyks (9 for none)."""
        tuzdyks = [9 if house is None else house for house in self.tuzdyks]
        return [self.side, *self.houses[0], *self.houses[1], *self.kazans, *tuzdyks]

    def legal(self) -> list[int]:
        return [house for house, stones in enumerate(self.houses[self.side]) if stones]

    def play(self, house: int) -> None:
        side, other = self.side, 1 - self.side
        hand, self.houses[side][house] = self.houses[side][house], 0
        row, place = side, house
        self.seen["single stone"] += hand == 1
        self.seen["more than a lap"] += hand > 18
        fell_into_tuzdyk = False
        if hand > 1:
            self.houses[row][place] += 1
            hand -= 1
        while hand:
            place += 1
            if place == 9:
                row, place = 1 - row, 0
            owner = 1 - row
            fell_into_tuzdyk = self.tuzdyks[owner] == place
            if fell_into_tuzdyk:
                self.kazans[owner] += 1
                self.seen["into a tuzdyk of one's own" if owner == side else "into the other's tuzdyk"] += 1
            else:
                self.houses[row][place] += 1
            hand -= 1
        if fell_into_tuzdyk:
            self.seen["last stone into a tuzdyk"] += 1
        elif row == other:
            self.take(place)
        self.side = other

    def take(self, place: int) -> None:
        """What the last stone does in house `place` of the other side."""
        side, other = self.side, 1 - self.side
        stones = self.houses[other][place]
        if stones % 2 == 0:
            self.seen["even capture"] += 1
        elif stones != 3:
            return
        elif self.tuzdyks[side] is not None:
            self.seen["refused: has one"] += 1
            return
        elif place == 8:
            self.seen["refused: ninth house"] += 1
            return
        elif self.tuzdyks[other] == place:
            self.seen["refused: same number"] += 1
            return
        else:
            self.seen["tuzdyk"] += 1
            self.tuzdyks[side] = place
        self.kazans[side] += stones
        self.houses[other][place] = 0

    def over(self) -> bool:
        return max(self.kazans) >= 82 or not any(self.houses[self.side])

    def score(self) -> int:
        first, second = self.kazans
        if max(first, second) < 82 and not any(self.houses[self.side]):
            self.seen["atsyrau"] += 1
            first, second = first + sum(self.houses[0]), second + sum(self.houses[1])
        return (first >= 82) - (second >= 82)


class Record(NamedTuple):
    """N random games by hand, T plies of each; what lies behind a game's end is the end again."""

    actions: np.ndarray  # int32 [T, N]
    positions: np.ndarray  # int32 [T, N, D] before each ply, as `position` gives them
    legal: np.ndarray  # bool [T, N, A]
    over: np.ndarray  # bool [T, N]
    score: np.ndarray  # float32 [T, N]


def play_by_hand(start: KalahByHand | TogyzkumalakByHand, number: int, longest: int, seed: int = 0) -> Record:
    """`number` random games from `start`, all over within `longest` plies, unless that cuts them."""
    draw = random.Random(seed)
    record = Record(
        actions=np.zeros((longest + 1, number), np.int32),
        positions=np.zeros((longest + 1, number, len(start.position())), np.int32),
        legal=np.zeros((longest + 1, number, len(start.houses[0])), bool),
        over=np.zeros((longest + 1, number), bool),
        score=np.zeros((longest + 1, number), np.float32),
    )
    for row in range(number):
        game, ply = start.copy(), 0
        while not game.over() and ply < longest:
            record.positions[ply, row] = game.position()
            record.legal[ply, row, game.legal()] = True
            record.actions[ply, row] = draw.choice(game.legal())
            game.play(int(record.actions[ply, row]))
            ply += 1
        record.positions[ply:, row] = game.position()
        record.over[ply:, row], record.score[ply:, row] = True, game.score()
    running = np.flatnonzero(~record.over.all(axis=1))
    return jax.tree.map(lambda x: x[: running[-1] + 2], record)


def count_lines(game: KalahByHand | TogyzkumalakByHand, depth: int) -> list[int]:
    """How many lines of 1, 2, ... `depth` moves there are."""
    totals = [0] * depth

    def count(game: KalahByHand | TogyzkumalakByHand, ply: int) -> None:
        if game.over():
            return
        totals[ply] += len(game.legal())
        if ply + 1 < depth:
            for house in game.legal():
                after = game.copy()
                after.play(house)
                count(after, ply + 1)

    count(game, 0)
    return totals


# --- the same games, played by the package -------------------------------------------------------------------------


class Followed(NamedTuple):
    """What the package makes of the moves of a record, on the host."""

    states: State  # [T, N, ...]
    player: np.ndarray  # int32 [T, N]
    legal: np.ndarray  # bool [T, N, A]
    over: np.ndarray  # bool [T, N]
    score: np.ndarray  # float32 [T, N]


def follow(game: Game, record: Record) -> Followed:
    first = jax.device_get(game.init(jax.random.key(0)))
    rows = jax.tree.map(lambda x: np.broadcast_to(x, (record.actions.shape[1], *np.shape(x))), first)
    games = replayed(game, rows, record.actions)
    return Followed(games.states, games.facts.player, games.facts.legal, games.facts.over, games.facts.score)
