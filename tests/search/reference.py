"""The searches again, slow and obvious, in plain Python: what the fast ones must equal."""

from __future__ import annotations

import dataclasses
import functools
import heapq
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial

from beamzero.games import Game, State
from beamzero.games.chance import chance_is_next
from beamzero.search.evaluator import Evaluator

Position = Any


class Rules(Protocol):
    """A game and an evaluator, one position at a time."""

    def moves(self, position: Position) -> list[int]: ...
    def step(self, position: Position, action: int) -> Position: ...
    def over(self, position: Position) -> bool: ...
    def score(self, position: Position) -> np.float32: ...  # for side 0
    def player(self, position: Position) -> int: ...  # who chooses next, also where chance decides before
    def value(self, position: Position) -> np.float32: ...  # V, for the side to move
    def scores(self, position: Position) -> np.ndarray: ...  # Q, for the side to move
    def position(self, state: State) -> Position: ...  # the position that a state of the game stands for


class DiceRules(Rules, Protocol):
    """The same for a game with chance events."""

    def odds(self, position: Position) -> dict[int, np.float32]: ...  # of the outcomes; none where someone chooses
    def resolve(self, position: Position, outcome: int) -> Position: ...


# --- Algorithm 1 of the PROBS paper ----------------------------------------------------------------------------------


@dataclasses.dataclass
class Node:
    state: Position
    depth: int
    side: int  # +1 where side 0 chooses next
    action: int | None = None  # the move, or the outcome, that led here
    score: float = np.inf  # Q of that move, or of the move before the outcome
    odds: dict[int, np.float32] = dataclasses.field(default_factory=dict)  # of what can come, where chance decides
    done: bool = False
    value: np.float32 | None = None  # for side 0
    proven: bool = False
    children: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Beam:
    tree: list[Node]
    expanded: list[int]  # places in the tree, in the order of expansion
    evaluations: int

    @property
    def q_values(self) -> dict[int, np.float32]:
        root = self.tree[0]
        return {self.tree[child].action: root.side * self.tree[child].value for child in root.children}

    @property
    def line(self) -> list[int]:
        """The best child of the best child, and so on, up to a roll; the first of equal ones."""
        moves, node = [], self.tree[0]
        while node.children and not node.odds:
            node = max((self.tree[child] for child in node.children), key=lambda child: node.side * child.value)
            moves.append(node.action)
        return moves


def beam_search(
    rules: Rules | DiceRules, root: Position, expand: int, depth: int, strict: bool = False, dice: bool = False
) -> Beam:
    """Lines 1 to 40 of the listing. Five things are ours:

    - values are kept for side 0, so a sign turns where the side changes, not at each ply;
    - V is asked when a child is made, not in the end (that changes only how often: `evaluations`);
    - Q does not count as asked where no expansion is left for the children (that too changes only `evaluations`);
    - `strict` keeps leaves within `depth`: nothing is put on the beam whose children would lie deeper;
    - with `dice`, a node where chance decides has outcomes for children, with the priority of the move before the roll;
      it is worth their mean, it is as deep as they are, and Q of the root's moves counts as asked.
    """

    def make(position: Position, depth: int, **more: Any) -> Node:
        side = 1 if rules.player(position) == 0 else -1
        return Node(position, depth, side, odds=rules.odds(position) if dice else {}, **more)

    tree = [make(root, 0)]
    expanded: list[int] = []
    evaluations = 0
    beam: list[tuple[float, int]] = []  # a heap gives the smallest: least minus priority, then first made
    if not rules.over(root):
        heapq.heappush(beam, (-np.inf, 0))
    for _ in range(expand):
        if not beam:
            break
        _, place = heapq.heappop(beam)
        node = tree[place]
        expanded.append(place)
        asks_q = False
        waiting = sum(minus_priority == -np.inf for minus_priority, _ in beam)
        matters = expand - len(expanded) > waiting
        for action in node.odds or rules.moves(node.state):
            if node.odds:
                child = make(rules.resolve(node.state, action), node.depth, action=action, score=node.score)
            else:
                score = float(rules.scores(node.state)[action])
                child = make(rules.step(node.state, action), node.depth + 1, action=action, score=score)
            node.children.append(len(tree))
            tree.append(child)
            if rules.over(child.state):
                child.done, child.value, child.proven = True, rules.score(child.state), True
            else:
                evaluations += 1
                can_go_on = child.depth < depth if strict else node.depth < depth
                if can_go_on or node.odds:
                    asks_q |= (dice or place > 0) and not node.odds and matters
                    heapq.heappush(beam, (-np.inf if place == 0 else -child.score, len(tree) - 1))
        evaluations += asks_q

    for node in reversed(tree[1:]):
        if node.value is not None:
            continue
        children = [tree[child] for child in node.children]
        if not children:
            node.value = np.float32(node.side * rules.value(node.state))
            continue
        node.proven = all(child.proven for child in children)
        if node.odds:
            node.value = np.float32(sum(node.odds[child.action] * child.value for child in children))
        else:
            node.value = np.float32(node.side * max(node.side * child.value for child in children))
            node.proven |= any(child.proven and node.side * child.value == 1 for child in children)
    return Beam(tree, expanded, evaluations)


# --- exhaustive search -----------------------------------------------------------------------------------------------


def negamax(rules: Rules, position: Position, depth: int) -> float:
    """The value for the side to move when it looks `depth` plies ahead; what lies beyond counts 0."""
    if depth == 0:
        return 0.0
    return max(move_values(rules, position, depth).values())


def move_values(rules: Rules, position: Position, depth: int) -> dict[int, float]:
    """The value of each move for the side to move, looking at least one ply ahead."""
    assert depth >= 1
    values = {}
    for action in rules.moves(position):
        after = rules.step(position, action)
        if rules.over(after):
            values[action] = float(rules.score(after)) * (1 if rules.player(position) == 0 else -1)
        else:
            sign = 1 if rules.player(after) == rules.player(position) else -1
            values[action] = sign * negamax(rules, after, depth - 1)
    return values


# --- any game, one position at a time --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Scramble:
    """Numbers in [-1, 1] that look random but depend only on the seed and the state: one, or `width` of them.

    They come in `levels` steps on either side of 0, so that there are ties, and by whole-number arithmetic, so that no
    batch size changes a bit of them.
    """

    width: int | None = None
    levels: int = 8

    def __call__(self, seed: Array, states: State) -> Array:
        def one(state: State) -> Array:
            parts = jnp.concatenate([jnp.ravel(leaf).astype(jnp.uint32) for leaf in jax.tree.leaves(state)])
            mixed = seed * jnp.uint32(2654435761)
            for i in range(parts.shape[0]):
                mixed = (mixed ^ parts[i]) * jnp.uint32(2246822519)
                mixed ^= mixed >> jnp.uint32(13)
            mixed += jnp.arange(self.width or 1, dtype=jnp.uint32) * jnp.uint32(3266489917)
            mixed = (mixed ^ mixed >> jnp.uint32(15)) * jnp.uint32(668265263)
            steps = (mixed >> jnp.uint32(8)) % jnp.uint32(2 * self.levels + 1)
            return (steps.astype(jnp.float32) - self.levels) / self.levels

        numbers = jax.vmap(one)(states)
        return numbers[:, 0] if self.width is None else numbers


def scrambled_evaluator(game: Game, seed: int, levels: int = 8) -> Evaluator:
    seeds = jnp.uint32(2 * seed), jnp.uint32(2 * seed + 1)
    return Evaluator(
        Partial(_Scramble(levels=levels), seeds[0]), Partial(_Scramble(game.num_actions, levels), seeds[1])
    )


@functools.partial(jax.jit, static_argnums=0)
def _look(game: Game, evaluator: Evaluator, state: State) -> dict[str, Any]:
    """All that a search may ask of one state."""
    moves, count = game.moves(state)
    alone = jax.tree.map(lambda x: x[None], state)
    outcomes = jnp.arange(game.num_chance, dtype=jnp.int32)
    dice = {
        "odds": jnp.where(chance_is_next(game, state), game.chance(state), 0.0),
        "outcomes": jax.vmap(game.resolve, (None, 0))(state, outcomes),
    } if game.num_chance else {}  # fmt: skip
    return {
        **dice,
        "moves": moves,
        "count": count,
        "children": jax.vmap(game.step, (None, 0))(state, moves),
        "over": game.over(state),
        "score": game.score(state),
        "player": game.next_side(state),
        "value": evaluator.value(alone)[0],
        "scores": evaluator.scores(alone)[0],
    }


class GameRules:
    """The rules of any game; a position is its state as bytes, and each is looked at once."""

    def __init__(self, game: Game, evaluator: Evaluator) -> None:
        self.game, self.evaluator = game, evaluator
        self._seen: dict[bytes, dict[str, Any]] = {}

    def position(self, state: State) -> bytes:
        state = jax.tree.map(np.asarray, state)
        key = b"".join(leaf.tobytes() for leaf in jax.tree.leaves(state))
        if key not in self._seen:
            self._seen[key] = jax.device_get(_look(self.game, self.evaluator, state))
        return key

    def moves(self, position: bytes) -> list[int]:
        seen = self._seen[position]
        return [] if seen["over"] else [int(move) for move in seen["moves"][: seen["count"]]]

    def step(self, position: bytes, action: int) -> bytes:
        slot = self.moves(position).index(action)
        return self.position(jax.tree.map(lambda x: x[slot], self._seen[position]["children"]))

    def over(self, position: bytes) -> bool:
        return bool(self._seen[position]["over"])

    def score(self, position: bytes) -> np.float32:
        return self._seen[position]["score"]

    def player(self, position: bytes) -> int:
        return int(self._seen[position]["player"])

    def value(self, position: bytes) -> np.float32:
        return self._seen[position]["value"]

    def scores(self, position: bytes) -> np.ndarray:
        return self._seen[position]["scores"]

    def odds(self, position: bytes) -> dict[int, np.float32]:
        return {outcome: odds for outcome, odds in enumerate(self._seen[position]["odds"]) if odds > 0}

    def resolve(self, position: bytes, outcome: int) -> bytes:
        return self.position(jax.tree.map(lambda x: x[outcome], self._seen[position]["outcomes"]))
