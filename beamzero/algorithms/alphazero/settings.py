"""The settings of an AlphaZero run."""

from __future__ import annotations

import dataclasses
from typing import Self

from beamzero.core.errors import BadInput
from beamzero.games import Game
from beamzero.nets import AnyNet, make_net
from beamzero.search.mcts.mcts import MOST_SIMULATIONS
from beamzero.training.settings import RunSettings, check_shards, default_shards, setting


@dataclasses.dataclass(frozen=True)
class AlphaZeroSettings(RunSettings):
    """Every setting of an AlphaZero run.

    >>> import beamzero as bz
    >>> bz.AlphaZero(sims=50, net="mlp:width=64").sims
    50
    >>> bz.AlphaZero(sims=0)
    Traceback (most recent call last):
    beamzero.core.errors.BadInput: sims is 0, but must be 1 to 100000
    """

    window: int = setting(50_000, "States remembered over iterations; the oldest are overwritten.", (1, 10**8))

    search: str = setting(
        "puct",
        "How self-play searches: puct, or gumbel (through mctx; only training uses it, and it has no c and no noise).",
    )
    sims: int = setting(100, "Simulations of the search for each move.", (1, MOST_SIMULATIONS))
    c: float = setting(
        1.5, "How much the search tries what it seldom tried: c in Q + c P sqrt(sum N) / (1 + N).", (0.0, 1e3)
    )
    unvisited: float = setting(0.0, "Q of a move that the search never tried.", (-1.0, 1.0))
    relative: bool = setting(
        False,
        "Whether that is counted from what the position is worth so far, rather than from 0; it helps where one "
        "side is far ahead.",
    )
    noise: float = setting(
        0.25, "Share of Dirichlet noise in the priors of the root in self-play; 0 for none.", (0.0, 1.0)
    )
    noise_alpha: float = setting(0.5, "alpha of that noise; the smaller, the fewer moves share it.", (1e-3, 1e3))
    temperature: float = setting(1.0, "Self-play draws moves in proportion to visits^(1 / temperature).", (1e-6, 1e6))
    sampled_moves: int = setting(
        0, "Draw only this many first moves of a game and then play the most visited; 0 draws every move.", (0, 10**5)
    )
    random_plies: int = setting(
        0,
        "Begin each game with so many random moves at most, so that what the search would avoid is met too.",
        (0, 10**4),
    )
    handicap: float = setting(
        0.0,
        "Share of the games, or with `play_on` of the places, in which only one side's first moves are random and "
        "the net makes the other's, so that it learns to win what is won, as against a weak opponent.",
        (0.0, 1.0),
    )
    play_on: int = setting(
        0,
        "Turns of self-play during which a new game begins wherever one has ended, so that short games do not wait "
        "for the longest; `games` is then how many run at a time. 0: no new ones begin.",
        (0, 10**5),
    )
    greedy_games: float = setting(
        0.0,
        "Share of the games, or with `play_on` of the places, in which the most visited move is played throughout.",
        (0.0, 1.0),
    )
    lanes: int = setting(
        0,
        "Batches of games that are played side by side, one a core. 0 chooses by the device, once for a run.",
        (0, 1024),
    )

    lag: int = setting(
        0,
        "Games are played by the agent of so many iterations before, so that workers need not wait until the net is "
        "fitted; the first ones by that of the beginning.",
        (0, 16),
    )

    net: AnyNet = setting(
        "mlp:width=256,depth=3", "The net, which gives the policy and the value, such as mlp:width=256,depth=3."
    )
    learning_rate: float = setting(0.003, "Learning rate (Adam).", (1e-9, 1.0))
    batch_size: int = setting(256, "States in a minibatch.", (1, 10**6))
    batches: int = setting(64, "Minibatches fitted an iteration, drawn evenly from the window.", (1, 10**6))
    l2: float = setting(0.0, "Weight of the squared weights in the loss.", (0.0, 1.0))
    value_weight: float = setting(
        1.0, "Weight of the value's squared error in the loss, beside the policy's cross entropy.", (0.0, 1e3)
    )
    search_value: float = setting(
        0.0,
        "Share of the search's root value in what the value learns, the rest being the outcome of the game.",
        (0.0, 1.0),
    )
    evaluation_value: float = setting(
        0.0,
        "Share of the game's own evaluation of a state in what the value learns of it: a first idea of what is "
        "good, where training by results alone is too slow.",
        (0.0, 1.0),
    )
    adjudicate: float = setting(
        0.0,
        "A game that is cut counts as this share of what the game's own evaluation says of it; 0 means as a draw.",
        (0.0, 1.0),
    )
    adjudicate_scale: float = setting(
        1.0,
        "Factor of the game's own evaluation wherever it counts, as a logarithm of odds: below 1, a large lead and "
        "a larger one stay apart.",
        (0.001, 1000.0),
    )
    discount: float = setting(
        1.0,
        "What is left of a result a turn earlier, so that a win counts for more the sooner it comes; 1: all of it.",
        (0.01, 1.0),
    )

    gate_games: int = setting(
        0,
        "Games of the new net against the best so far, which alone plays and is kept as the agent. 0: the newest is.",
        (0, 10**6),
    )
    gate_score: float = setting(0.55, "Score in those games from which the new net is the best.", (0.0, 1.0))
    gate_sims: int = setting(
        0, "Simulations for each move in those games; 0 means as many as in self-play.", (0, MOST_SIMULATIONS)
    )
    rate_sims: int = setting(
        0,
        "Simulations of the agent for each move when it is rated; 0 means one look at the net.",
        (0, MOST_SIMULATIONS),
        changeable=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.must_be_even("gate_games")
        if self.search_value + self.evaluation_value > 1:
            raise BadInput("search_value and evaluation_value are shares of one whole: together at most 1")
        if self.search not in ("puct", "gumbel"):
            raise BadInput(f"search is {self.search!r}, but must be puct or gumbel")
        if self.handicap and not self.random_plies:
            raise BadInput("handicap is about the random moves that games begin with: set random_plies too")
        check_shards(self.lanes, self.games)
        make_net(self.net)

    def resolved(self, game: Game, workers: int = 0) -> Self:
        """Fix also how many shards of games (the setting `lanes`) are played side by side."""
        lanes = self.lanes or default_shards(self.games, workers)
        return dataclasses.replace(super().resolved(game, workers), lanes=lanes)
