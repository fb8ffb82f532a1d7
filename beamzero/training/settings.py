"""The settings of a training run: what every run has, and what each algorithm has of its own."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from typing import Any, ClassVar

from beamzero.errors import BadInput
from beamzero.nets import make_net
from beamzero.search.beam import MOST_EXPANSIONS
from beamzero.search.limit import MAX_DEPTH
from beamzero.search.mcts import MOST_SIMULATIONS

Ranges = dict[str, tuple[float, float]]
"""The lowest and the highest value of each setting that is a number."""


@dataclasses.dataclass(frozen=True)
class RunSettings:
    """Settings that every run has. ``--set name=value`` changes one; a recipe sets several."""

    iterations: int = 100
    """Iterations of the whole cycle; schedules are laid out over this number."""
    games: int = 1000
    """Self-play games an iteration, all of which are learned from."""
    max_turns: int = 100
    """A game is cut after this many turns and then counts as a draw."""
    symmetry: bool = True
    """Show the nets a random one of each state's mirror images and rotations, where the game has them."""
    precision: str = "auto"
    """What nets compute in: float32, bfloat16, or auto (bfloat16 on a GPU, float32 on a CPU), once for a run."""
    final_learning_rate: float = 0.05
    """Share of the learning rates that is left at the end; they fall along a cosine. 1 keeps them constant."""

    rate_every: int = 1
    """Rate the agent every so many iterations, and at the end; 0 never does."""
    rate_games: int = 100
    """Games against each opponent in a rating."""
    rate_against: str = "auto"
    """Opponents of a rating, separated by spaces; their own ratings are measured first, the first one being 1000.
    "auto": random, and lookahead:1 to lookahead:3 as far as the game is small enough for them."""
    anchor_games: int = 400
    """Games of each pair of opponents when their ratings are measured."""

    climb_every: int = 0
    """Let the agent climb a ladder of minimax players every so many iterations, and at the end; 0 never does."""
    climb_depth: int = 7
    """The deepest minimax of that ladder, which begins at depth 1 and has two games a rung."""
    climb_by: str = ""
    """What minimax evaluates by there: one of the game's features, or "nothing"; all features where it is empty."""

    checkpoint_every: int = 1
    """Save a checkpoint every so many iterations, and at the end."""
    keep_checkpoints: int = 3
    """Checkpoints kept: this many of the last ones, and the best."""

    ranges: ClassVar[Ranges] = {
        "iterations": (1, 10**8),
        "games": (1, 10**6),
        "max_turns": (1, 10**5),
        "final_learning_rate": (0.0, 1.0),
        "rate_every": (0, 10**8),
        "rate_games": (2, 10**6),
        "anchor_games": (2, 10**6),
        "climb_every": (0, 10**8),
        "climb_depth": (1, MAX_DEPTH),
        "checkpoint_every": (1, 10**8),
        "keep_checkpoints": (1, 10**6),
    }

    def __post_init__(self) -> None:
        for name, (low, high) in self.ranges.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise BadInput(f"{name} is {value}, but must be {low} to {high}")
        self._must_be_even("rate_games", "anchor_games")
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise BadInput(f"precision is {self.precision!r}, but must be auto, float32 or bfloat16")

    def _must_be_even(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if value % 2:
                raise BadInput(f"{name} is {value}, but must be even: openings are played with both colours")


def _check_lanes(lanes: int, games: int) -> None:
    if lanes and games % lanes:
        raise BadInput(f"lanes is {lanes}, but must divide the {games} games of an iteration")


@dataclasses.dataclass(frozen=True)
class ProbsSettings(RunSettings):
    """Every setting of a PROBS run."""

    q_games: int = 0
    """Games whose states are searched to teach Q; 0 means all of them."""
    q_games_per_step: int = 0
    """Teach Q in steps of this many games, searching each with the Q of the step before; 0 means in one step."""
    replay_capacity: int = 100_000
    """C: states remembered within an iteration, those before a roll of dice too; the oldest go first."""
    drop_ratio: float = 0.0
    """Share of the remembered states left out of each pass at random, against overfitting."""

    temperature: float = 0.1
    """Self-play draws moves from softmax(Q / temperature)."""
    sampled_moves: int = 0
    """Draw only this many first moves of a game and then play the best one; 0 draws every move."""
    noise: float = 0.25
    """epsilon: the share of Dirichlet noise in self-play's move probabilities."""
    noise_alpha: float = 0.5
    """alpha of that noise. As it is drawn anew for each move, all moves are alike to it, and alpha changes no game."""

    expand: int = 10
    """E: nodes that the beam search expands."""
    expand_first: int = 0
    """E of the first iteration, if it is to grow evenly to `expand` in the last; 0: it is `expand` throughout."""
    depth: int = 99
    """M: depth limit of the beam search, as in the paper: leaves lie up to M + 1 plies down."""
    strict_depth: bool = False
    """Let no leaf lie deeper than `depth` plies."""
    lanes: int = 0
    """Parts that the games are played in, side by side. 0 chooses by the device, once for a run."""
    search_batch: int = 0
    """Beam searches that run side by side; more needs more memory. 0 chooses by the device, once for a run."""

    q_value: float = 0.0
    """Share of what Q says of the best move in what V learns of a state, the rest being the outcome of the game."""

    value_net: str = "mlp:width=128,depth=3"
    """The net V, such as mlp:width=256,depth=3."""
    q_net: str = "mlp:width=256,depth=3"
    """The net Q."""
    value_learning_rate: float = 0.003
    """Learning rate of V (Adam)."""
    q_learning_rate: float = 0.003
    """Learning rate of Q (Adam)."""
    value_batch_size: int = 128
    """Minibatch of V."""
    q_batch_size: int = 128
    """Minibatch of Q."""
    value_passes: int = 1
    """Passes over the remembered states for V."""
    q_passes: int = 1
    """Passes over the searched states for Q."""

    ranges: ClassVar[Ranges] = {
        **RunSettings.ranges,
        "q_games": (0, 10**6),
        "q_games_per_step": (0, 10**6),
        "replay_capacity": (1, 10**8),
        "drop_ratio": (0.0, 0.99),
        "temperature": (1e-6, 1e6),
        "sampled_moves": (0, 10**5),
        "noise": (0.0, 1.0),
        "noise_alpha": (1e-3, 1e3),
        "expand": (1, MOST_EXPANSIONS),
        "expand_first": (0, MOST_EXPANSIONS),
        "q_value": (0.0, 1.0),
        "depth": (1, 10**6),
        "lanes": (0, 1024),
        "search_batch": (0, 10**6),
        "value_learning_rate": (1e-9, 1.0),
        "q_learning_rate": (1e-9, 1.0),
        "value_batch_size": (1, 10**6),
        "q_batch_size": (1, 10**6),
        "value_passes": (1, 1000),
        "q_passes": (1, 1000),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_lanes(self.lanes, self.games)
        if self.q_games > self.games:
            raise BadInput(f"q_games is {self.q_games}, but must be at most games, {self.games}")
        if self.expand_first > self.expand:
            raise BadInput(f"expand_first is {self.expand_first}, but must be at most expand, {self.expand}")
        teaching = self.q_games or self.games
        if self.q_games_per_step and teaching % self.q_games_per_step:
            raise BadInput(
                f"q_games_per_step is {self.q_games_per_step}, but must divide the {teaching} games that teach Q"
            )
        make_net(self.value_net)
        make_net(self.q_net)


@dataclasses.dataclass(frozen=True)
class AlphaZeroSettings(RunSettings):
    """Every setting of an AlphaZero run."""

    window: int = 50_000
    """States remembered over iterations; the oldest are overwritten."""

    search: str = "puct"
    """How self-play searches: puct, or gumbel (through mctx; only training uses it, and it has no c and no noise)."""
    sims: int = 100
    """Simulations of the search for each move."""
    c: float = 1.5
    """How much the search tries what it seldom tried: c in Q + c P sqrt(sum N) / (1 + N)."""
    unvisited: float = 0.0
    """Q of a move that the search never tried."""
    relative: bool = False
    """Whether that is counted from what the position is worth so far, rather than from 0; it helps where one side is
    far ahead."""
    noise: float = 0.25
    """Share of Dirichlet noise in the priors of the root in self-play; 0 for none."""
    noise_alpha: float = 0.5
    """alpha of that noise; the smaller, the fewer moves share it."""
    temperature: float = 1.0
    """Self-play draws moves in proportion to visits^(1 / temperature)."""
    sampled_moves: int = 0
    """Draw only this many first moves of a game and then play the most visited; 0 draws every move."""
    random_plies: int = 0
    """Begin each game with so many random moves at most, so that what the search would avoid is met too."""
    handicap: float = 0.0
    """Share of the games, or with `play_on` of the places, in which only one side's first moves are random and the net
    makes the other's, so that it learns to win what is won, as against a weak opponent."""
    play_on: int = 0
    """Turns of self-play during which a new game begins wherever one has ended, so that short games do not wait for the
    longest; `games` is then how many run at a time. 0: no new ones begin."""
    greedy_games: float = 0.0
    """Share of the games, or with `play_on` of the places, in which the most visited move is played throughout."""
    lanes: int = 0
    """Batches of games that are played side by side, one a core. 0 chooses by the device, once for a run."""

    lag: int = 0
    """Games are played by the agent of so many iterations before, so that workers need not wait until the net is
    fitted; the first ones by that of the beginning."""

    net: str = "mlp:width=256,depth=3"
    """The net, which gives the policy and the value, such as mlp:width=256,depth=3."""
    learning_rate: float = 0.003
    """Learning rate (Adam)."""
    batch_size: int = 256
    """States in a minibatch."""
    batches: int = 64
    """Minibatches fitted an iteration, drawn evenly from the window."""
    l2: float = 0.0
    """Weight of the squared weights in the loss."""
    value_weight: float = 1.0
    """Weight of the value's squared error in the loss, beside the policy's cross entropy."""
    search_value: float = 0.0
    """Share of the search's root value in what the value learns, the rest being the outcome of the game."""
    evaluation_value: float = 0.0
    """Share of the game's own evaluation of a state in what the value learns of it: a first idea of what is good, where
    results alone teach too slowly."""
    adjudicate: float = 0.0
    """A game that is cut counts as this share of what the game's own evaluation says of it; 0 means as a draw."""
    adjudicate_scale: float = 1.0
    """Factor of the game's own evaluation wherever it counts, as a logarithm of odds: below 1, a large lead and a
    larger one stay apart."""
    discount: float = 1.0
    """What is left of a result a turn earlier, so that a win counts for more the sooner it comes; 1: all of it."""

    gate_games: int = 0
    """Games of the new net against the best so far, which alone plays and is kept as the agent. 0: the newest is."""
    gate_score: float = 0.55
    """Score in those games from which the new net is the best."""
    gate_sims: int = 0
    """Simulations for each move in those games; 0 means as many as in self-play."""
    rate_sims: int = 0
    """Simulations of the agent for each move when it is rated; 0 means one look at the net."""

    ranges: ClassVar[Ranges] = {
        **RunSettings.ranges,
        "window": (1, 10**8),
        "sims": (1, MOST_SIMULATIONS),
        "c": (0.0, 1e3),
        "unvisited": (-1.0, 1.0),
        "noise": (0.0, 1.0),
        "noise_alpha": (1e-3, 1e3),
        "temperature": (1e-6, 1e6),
        "sampled_moves": (0, 10**5),
        "random_plies": (0, 10**4),
        "handicap": (0.0, 1.0),
        "play_on": (0, 10**5),
        "greedy_games": (0.0, 1.0),
        "lanes": (0, 1024),
        "lag": (0, 16),
        "learning_rate": (1e-9, 1.0),
        "batch_size": (1, 10**6),
        "batches": (1, 10**6),
        "l2": (0.0, 1.0),
        "value_weight": (0.0, 1e3),
        "search_value": (0.0, 1.0),
        "evaluation_value": (0.0, 1.0),
        "adjudicate": (0.0, 1.0),
        "adjudicate_scale": (0.001, 1000.0),
        "discount": (0.01, 1.0),
        "gate_games": (0, 10**6),
        "gate_score": (0.0, 1.0),
        "gate_sims": (0, MOST_SIMULATIONS),
        "rate_sims": (0, MOST_SIMULATIONS),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._must_be_even("gate_games")
        if self.search_value + self.evaluation_value > 1:
            raise BadInput("search_value and evaluation_value are shares of one whole: together at most 1")
        if self.search not in ("puct", "gumbel"):
            raise BadInput(f"search is {self.search!r}, but must be puct or gumbel")
        if self.handicap and not self.random_plies:
            raise BadInput("handicap is about the random moves that games begin with: set random_plies too")
        _check_lanes(self.lanes, self.games)
        make_net(self.net)


@dataclasses.dataclass(frozen=True)
class TdSettings(RunSettings):
    """Every setting of a TD(lambda) run."""

    trace: float = 0.7
    """lambda: how much of what is learned comes from later moves and the result, rather than from the next move."""
    explore: float = 0.0
    """The probability of any move in place of the best. Where there are dice, they see to it that much is met."""
    value_net: str = "mlp:width=128,depth=2"
    """The net, such as mlp:width=128,depth=2."""
    learning_rate: float = 0.001
    """Learning rate (Adam)."""
    batch_size: int = 256
    """Positions in a minibatch; every position of an iteration is learned from once."""

    ranges: ClassVar[Ranges] = {
        **RunSettings.ranges,
        "trace": (0.0, 1.0),
        "explore": (0.0, 1.0),
        "learning_rate": (1e-9, 1.0),
        "batch_size": (1, 10**6),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        make_net(self.value_net)


CHANGEABLE = {
    "rate_every", "rate_games", "rate_against", "rate_sims", "anchor_games", "climb_every", "climb_depth", "climb_by",
    "checkpoint_every", "keep_checkpoints",
}  # fmt: skip
"""What may differ when a run is resumed: how it is measured and saved, not what it learns."""


def describe_settings(kind: type[RunSettings]) -> list[tuple[str, Any, str]]:
    """Every setting with its default and its docstring; those that every run has come first."""
    docs: dict[str, str] = {}
    for part in reversed(kind.__mro__[:-1]):  # all but object
        docs |= _field_docs(part)
    return [(field.name, field.default, docs[field.name]) for field in dataclasses.fields(kind)]


def _field_docs(kind: type) -> dict[str, str]:
    """The docstrings below the fields of one class, without what it inherits."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(tree, ast.ClassDef)
    return {
        field.target.id: str(doc.value.value)  # type: ignore[union-attr]
        for field, doc in zip(tree.body, tree.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant)
    }
