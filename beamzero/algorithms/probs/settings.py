"""The settings of a PROBS run."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Self

import jax

from beamzero.core.devices import device_count
from beamzero.core.errors import BadInput
from beamzero.games import Game
from beamzero.nets import AnyNet, make_net
from beamzero.search.beam import MOST_EXPANSIONS, BeamSearch
from beamzero.training.settings import RunSettings, check_shards, default_shards, setting


@dataclasses.dataclass(frozen=True)
class ProbsSettings(RunSettings):
    """Every setting of a PROBS run.

    >>> import beamzero as bz
    >>> bz.Probs(games=500, expand=20).expand
    20
    >>> bz.Probs(games=500, q_games=501)
    Traceback (most recent call last):
    beamzero.core.errors.BadInput: q_games is 501, but must be at most games, 500
    """

    retired: ClassVar[frozenset[str]] = frozenset({"noise_alpha"})

    q_games: int = setting(0, "Games whose states are searched to train Q; 0 means all of them.", (0, 10**6))
    q_games_per_step: int = setting(
        0,
        "Train Q in steps of this many games, searching each with the Q of the step before; 0 means in one step.",
        (0, 10**6),
    )
    replay_capacity: int = setting(
        100_000,
        "C: states remembered within an iteration, those before a roll of dice too; the oldest go first.",
        (1, 10**8),
    )
    drop_ratio: float = setting(
        0.0, "Share of the remembered states left out of each pass at random, against overfitting.", (0.0, 0.99)
    )

    temperature: float = setting(0.1, "Self-play draws moves from softmax(Q / temperature).", (1e-6, 1e6))
    sampled_moves: int = setting(
        0, "Draw only this many first moves of a game and then play the best one; 0 draws every move.", (0, 10**5)
    )
    noise: float = setting(0.25, "epsilon: the share of Dirichlet noise in self-play's move probabilities.", (0.0, 1.0))

    expand: int = setting(10, "E: nodes that the beam search expands.", (1, MOST_EXPANSIONS))
    expand_first: int = setting(
        0,
        "E of the first iteration, if it is to grow evenly to `expand` in the last; 0: it is `expand` throughout.",
        (0, MOST_EXPANSIONS),
    )
    depth: int = setting(
        99, "M: depth limit of the beam search, as in the paper: leaves lie up to M + 1 plies down.", (1, 10**6)
    )
    strict_depth: bool = setting(False, "Let no leaf lie deeper than `depth` plies.")
    lanes: int = setting(
        0, "Parts that the games are played in, side by side. 0 chooses by the device, once for a run.", (0, 1024)
    )
    search_batch: int = setting(
        0,
        "Beam searches that run side by side; more needs more memory. 0 chooses by the device, once for a run.",
        (0, 10**6),
    )

    q_value: float = setting(
        0.0,
        "Share of what Q says of the best move in what V learns of a state, the rest being the outcome of the game.",
        (0.0, 1.0),
    )

    value_net: AnyNet = setting("mlp:width=128,depth=3", "The net V, such as mlp:width=256,depth=3.")
    q_net: AnyNet = setting("mlp:width=256,depth=3", "The net Q.")
    value_learning_rate: float = setting(0.003, "Learning rate of V (Adam).", (1e-9, 1.0))
    q_learning_rate: float = setting(0.003, "Learning rate of Q (Adam).", (1e-9, 1.0))
    value_batch_size: int = setting(128, "Minibatch of V.", (1, 10**6))
    q_batch_size: int = setting(128, "Minibatch of Q.", (1, 10**6))
    value_passes: int = setting(1, "Passes over the remembered states for V.", (1, 1000))
    q_passes: int = setting(1, "Passes over the searched states for Q.", (1, 1000))

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shards(self.lanes, self.games)
        if self.q_games > self.games:
            raise BadInput(f"q_games is {self.q_games}, but must be at most games, {self.games}")
        if self.expand_first > self.expand:
            raise BadInput(f"expand_first is {self.expand_first}, but must be at most expand, {self.expand}")
        searched = self.q_games or self.games
        if self.q_games_per_step and searched % self.q_games_per_step:
            raise BadInput(
                f"q_games_per_step is {self.q_games_per_step}, but must divide the {searched} games that teach Q"
            )
        make_net(self.value_net)
        make_net(self.q_net)

    def resolved(self, game: Game, workers: int = 0) -> Self:
        """Fix also how many searches and how many shards of games (the setting `lanes`) run side by side."""
        return dataclasses.replace(
            super().resolved(game, workers),
            search_batch=self.search_batch or self._default_search_batch(game, workers),
            lanes=self.lanes or default_shards(self.games, workers),
        )

    def _default_search_batch(self, game: Game, workers: int) -> int:
        """Choose as many beam searches as have trees that fit into a fair share of the memory.

        They are few enough that all workers or devices have some, where games are half as long as they may be.
        """
        most, memory = (2**15, 16 * 2**30) if jax.default_backend() == "gpu" else (2**10, 2**30)
        most = min(most, memory // BeamSearch(self.expand).bytes_per_root(game))
        sharers = workers or device_count()
        if sharers > 1:
            most = min(most, self.games * min(self.max_turns, game.max_plies) // (2 * sharers))
        return int(max(1, most))
