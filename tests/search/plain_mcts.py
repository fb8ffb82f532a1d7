"""Monte Carlo tree search again, slow and obvious, in plain Python: what the fast one must equal."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from beamzero.search.mcts.mcts import MCTS
from tests.search.reference import Position, Rules


@dataclasses.dataclass
class Node:
    position: Position
    moves: list[int]
    prior: list[np.float32]
    visits: list[int]
    total: list[np.float32]  # of what each move led to, for the side to move here
    children: dict[int, Node]  # by the place of the move in the list
    own: np.float32  # what the position is worth by itself, for the side to move


def simulate(rules: Rules, settings: MCTS, position: Position) -> Node:
    """The root after all simulations."""
    root = make_node(rules, position)
    for _ in range(settings.sims):
        node, way = root, []
        while not rules.over(node.position):
            place = most_promising(settings, node)
            way.append((node, place))
            if place not in node.children:
                node.children[place] = make_node(rules, rules.step(node.position, node.moves[place]))
                node = node.children[place]
                break
            node = node.children[place]
        value = worth_to_side_0(rules, node.position)
        for above, place in way:
            above.visits[place] += 1
            above.total[place] += value if rules.player(above.position) == 0 else -value
    return root


def make_node(rules: Rules, position: Position) -> Node:
    moves = [] if rules.over(position) else rules.moves(position)
    scores = rules.scores(position)[moves].astype(np.float32)
    powers = np.exp(scores - scores.max()) if moves else scores
    count = len(moves)
    prior, nothing = list(powers / powers.sum()), [np.float32(0)] * count
    return Node(position, moves, prior, [0] * count, nothing, {}, rules.value(position))


def worth_to_side_0(rules: Rules, position: Position) -> np.float32:
    if rules.over(position):
        return rules.score(position)
    return rules.value(position) if rules.player(position) == 0 else -rules.value(position)


def most_promising(settings: MCTS, node: Node) -> int:
    tried = sum(node.visits)

    def promise(place: int) -> float:
        visits = node.visits[place]
        mean = node.total[place] / np.float32(visits) if visits else never_tried(settings, node)
        if settings.uct:
            return mean + settings.c * math.sqrt(math.log(tried) / visits) if visits else math.inf
        count = tried + 1 if settings.count_node else max(tried, 1)
        bonus = np.float32(settings.c) * node.prior[place] * np.sqrt(np.float32(count)) / np.float32(1 + visits)
        return float(mean + bonus)

    return max(range(len(node.moves)), key=promise)  # the first of equal ones


def never_tried(settings: MCTS, node: Node) -> np.float32:
    """Q of a move of the node that was never tried."""
    if not settings.relative:
        return np.float32(settings.unvisited)
    mean = (node.own + np.sum(node.total, dtype=np.float32)) / np.float32(1 + sum(node.visits))
    return np.clip(mean + np.float32(settings.unvisited), np.float32(-1), np.float32(1))


def size(node: Node) -> int:
    return 1 + sum(size(child) for child in node.children.values())
