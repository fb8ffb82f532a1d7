"""PROBS: Predict Results of Beam Search (the paper's Algorithm 2), one iteration at a time."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.algorithms.probs.agent import ProbsAgent
from beamzero.algorithms.probs.replay import all_games, remember, remember_with_rolls, some_games, thin_out
from beamzero.algorithms.probs.self_play import Games, SelfPlay, self_play
from beamzero.algorithms.probs.settings import ProbsSettings
from beamzero.algorithms.probs.targets import QLoss, Searches, cut_searches, gather, mix_in_q, search_some
from beamzero.core.cores import programs_at_once
from beamzero.core.errors import RunStopped
from beamzero.core.progress import OnPhase
from beamzero.games import Game
from beamzero.nets import Net, Weights, compute_dtype, make_net
from beamzero.players import Player, SearchPlayer
from beamzero.players.agent_kind import AgentKind
from beamzero.search.beam import BeamSearch
from beamzero.search.evaluator import Evaluator, RootMoves
from beamzero.search.memory import Needs, fewer, heaviest, smaller, state_bytes, together
from beamzero.search.simple import OneLook
from beamzero.training.executor import LOCAL_EXECUTOR, Batch, Executor, Shard, cut_shards
from beamzero.training.fit import Learner, Loss, ValueLoss, ValueRows, fit_pass, learner_bytes, new_learner
from beamzero.training.report import Stopwatch
from beamzero.training.settings import RunSettings, cosine, evenly, share_done


class ProbsState(NamedTuple):
    """All that an iteration hands to the next."""

    value: Learner
    q: Learner

    def as_tree(self) -> dict[str, Any]:
        """Give the state as plain dicts, as it is saved."""
        return {"value": self.value._asdict(), "q": self.q._asdict()}

    @property
    def weights(self) -> Weights:
        """Give the weights of both nets, V and Q."""
        return {"value": self.value.weights, "q": self.q.weights}


@dataclasses.dataclass(frozen=True)
class Probs:
    """The algorithm with its settings, for one game."""

    title: ClassVar[str] = "PROBS"
    settings_type: ClassVar[type[RunSettings]] = ProbsSettings
    agent: ClassVar[AgentKind] = ProbsAgent()
    uses_executor: ClassVar[bool] = True
    sizes: ClassVar[tuple[str, ...]] = ()
    compared: ClassVar[Mapping[str, Any]] = {}

    game: Game
    settings: ProbsSettings

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", self.settings.resolved(self.game))

    @functools.cached_property
    def value_net(self) -> Net:
        return Net(self.game, make_net(self.settings.value_net), "value", self._dtype)

    @functools.cached_property
    def q_net(self) -> Net:
        return Net(self.game, make_net(self.settings.q_net), "scores", self._dtype)

    @property
    def _dtype(self) -> str:
        return compute_dtype(self.settings.precision)

    def init(self, key: Array) -> ProbsState:
        """Make two nets with random weights."""
        value_key, q_key = jax.random.split(key)
        return ProbsState(new_learner(self.value_net.init(value_key)), new_learner(self.q_net.init(q_key)))

    def from_tree(self, tree: dict[str, Any]) -> ProbsState:
        """Make the state that was saved as `tree`."""
        return ProbsState(Learner(**tree["value"]), Learner(**tree["q"]))

    def from_agent(self, fresh: ProbsState, weights: Mapping[str, Weights]) -> ProbsState:
        """Take both nets of an agent, with fresh optimizers."""
        return ProbsState(new_learner(weights["value"]), new_learner(weights["q"]))

    def evaluator(self, state: ProbsState) -> Evaluator:
        return self._evaluator(state.weights)

    def _evaluator(self, weights: Weights) -> Evaluator:
        return self.agent.evaluator({"value": self.value_net, "q": self.q_net}, weights)

    def player(self, state: ProbsState) -> Player:
        """Make the agent: one look at Q."""
        return SearchPlayer("probs", self.game, OneLook(), self.evaluator(state))

    @property
    def rated_by(self) -> str:
        return "one look at Q"

    def bytes_needed(self, elsewhere: bool = False) -> Needs:
        settings, game = self.settings, self.game
        row, slots = state_bytes(game) + 5, game.max_moves
        plies = settings.games * self._self_play.max_turns * (2 if game.num_chance else 1)
        remembered, searched = self._capacity(settings.games, rolls=True), self._capacity(self._q_step)
        trees = 0 if elsewhere else self._search.bytes_needed(game, self._search_batch * programs_at_once())
        v_rows = settings.value_batch_size * self.value_net.bytes_per_row()
        q_rows = settings.q_batch_size * self.q_net.bytes_per_row()
        held = {
            smaller(value_net=settings.value_net): learner_bytes(self.value_net),
            smaller(q_net=settings.q_net): learner_bytes(self.q_net),
            # As they were played, once more in one piece, and the places of their states.
            fewer(games=settings.games): plies * (2 * row + 12),
            # What V learns from; what Q does, cut into searches too; what these find, here and on the host.
            smaller(replay_capacity=settings.replay_capacity): (remembered + 2 * searched) * row
            + searched * slots * 26,
        }
        return together(
            held,
            heaviest(
                {smaller(search_batch=settings.search_batch, expand=settings.expand): trees},
                {smaller(value_batch_size=settings.value_batch_size): v_rows},
                {smaller(q_batch_size=settings.q_batch_size): q_rows},
            ),
        )

    def iterate(
        self,
        state: ProbsState,
        iteration: int,
        key: Array,
        on_phase: OnPhase,
        share: float | None = None,
        executor: Executor = LOCAL_EXECUTOR,
    ) -> tuple[ProbsState, dict[str, Any]]:
        """Do one iteration: play, fit V to the outcomes, search the states, fit Q to what the searches found, forget.

        V learns what positions are worth before a roll too; searches start where someone chooses.
        """
        settings = self.settings
        share = share_done(iteration, settings.iterations) if share is None else share
        play_key, value_key, q_key = jax.random.split(jax.random.fold_in(key, iteration), 3)
        expand = evenly(share, settings.expand_first or settings.expand, settings.expand)
        slow_down = cosine(share, settings.final_learning_rate)
        clock = Stopwatch()

        shards = cut_shards(iteration, settings.games, settings.lanes, play_key)
        on_phase("self-play", 0, settings.games)
        parts = []
        for part in executor.map(self.play, Batch(state.weights, shards)):
            parts.append(part)
            on_phase("self-play", len(parts) * self._self_play.games, settings.games)
        games = all_games(parts)
        mean_turns = float(jnp.mean(games.length.astype(jnp.float32)))
        clock.lap("self_play")

        on_phase("fitting V", 0, 1)
        memory = remember_with_rolls(self._capacity(settings.games, rolls=True), games)
        states = int(memory.size)
        if settings.q_value:
            outcome = mix_in_q(self.game, self.evaluator(state), memory, jnp.float32(settings.q_value))
            memory = memory._replace(outcome=outcome)
        value, value_loss = self._fit_passes(
            "V", ValueLoss(self.value_net, settings.symmetry), settings.value_batch_size, settings.value_passes,
            state.value, ValueRows(memory.states, memory.outcome), memory.size, settings.drop_ratio,
            slow_down * settings.value_learning_rate, value_key,
        )  # fmt: skip
        state = state._replace(value=value)
        clock.lap("fit_value")

        searched = evaluations = 0
        q_losses = []
        for step, first in enumerate(range(0, self._q_games, self._q_step)):
            step_key = jax.random.fold_in(q_key, step)
            part = remember(self._capacity(self._q_step), some_games(games, first, self._q_step))
            drop = settings.drop_ratio
            if drop and settings.q_passes == 1:  # what the only pass, number 0, would leave out need not be searched
                part, drop = thin_out(part, jnp.float32(drop), jax.random.fold_in(step_key, 1)), 0.0
            size = int(part.size)
            some = cut_searches(part, self._search_batch, expand)
            results = executor.map(self.search, Batch(state.weights, some))  # searched as `gather` asks for them
            rows, asked = gather(
                self.game, part, self._search_batch, results, functools.partial(self._searching, on_phase, size)
            )
            clock.lap("search")
            on_phase("fitting Q", 0, 1)
            q, q_loss = self._fit_passes(
                "Q", QLoss(self.q_net, settings.symmetry), settings.q_batch_size, settings.q_passes,
                state.q, rows, part.size, drop, slow_down * settings.q_learning_rate, step_key,
            )  # fmt: skip
            state = state._replace(q=q)
            clock.lap("fit_q")
            searched, evaluations = searched + size, evaluations + asked
            q_losses.append(q_loss)

        return state, {
            "value_loss": value_loss, "q_loss": sum(q_losses) / len(q_losses), "mean_turns": mean_turns,
            "games": settings.games, "states": states, "searched": searched, "evaluations": evaluations,
            "looks": int(jnp.sum(games.length)),
            "learning_rate_share": slow_down, "seconds": clock.seconds,
        }  # fmt: skip

    def play(self, weights: Weights, shard: Shard) -> Games:
        """Play the games of a shard."""
        return self_play(self.game, self._self_play, self._evaluator(weights), shard.random_key)

    def search(self, weights: Weights, some: Searches) -> tuple[RootMoves, Array]:
        """Search from some states. Returns the values of their moves, and how many evaluations that took."""
        return search_some(self.game, self._search, self._evaluator(weights), some)

    @staticmethod
    def _searching(on_phase: OnPhase, total: int, done: int) -> None:
        on_phase("searching", done, total)

    def _fit_passes(
        self,
        net: str,
        loss: Loss,
        batch_size: int,
        passes: int,
        learner: Learner,
        rows: Any,
        count: Array,
        drop: float,
        rate: float,
        key: Array,
    ) -> tuple[Learner, float]:
        """Fit `passes` passes over rows, each less a share `drop`. Returns also the mean loss of the last one.

        RunStopped where that is no number; `net` is what the message calls the net.
        """
        error = jnp.float32(0)
        for number in range(passes):
            learner, error = fit_pass(
                loss, batch_size, learner, rows, count,
                jnp.float32(drop), jnp.float32(rate), jax.random.fold_in(key, number),
            )  # fmt: skip
        if not bool(jnp.isfinite(error)):
            raise RunStopped(f"the loss of {net} is {float(error)}: try a smaller learning rate (it was {rate:g})")
        return learner, float(error)

    @functools.cached_property
    def _self_play(self) -> SelfPlay:
        settings = self.settings
        return SelfPlay(
            games=settings.games // settings.lanes,
            max_turns=min(settings.max_turns, self.game.max_plies),
            temperature=settings.temperature,
            noise=settings.noise,
            sampled_moves=settings.sampled_moves,
        )

    @functools.cached_property
    def _search(self) -> BeamSearch:
        return BeamSearch(self.settings.expand, self.settings.depth, self.settings.strict_depth)

    def _capacity(self, games: int, rolls: bool = False) -> int:
        """Count the states of so many games, as far as they may be kept; with `rolls`, also those before a roll."""
        plies = self._self_play.max_turns * (2 if rolls and self.game.num_chance else 1)
        return min(self.settings.replay_capacity, games * plies)

    @property
    def _search_batch(self) -> int:
        return min(self.settings.search_batch, self._capacity(self._q_step))

    @property
    def _q_games(self) -> int:
        return self.settings.q_games or self.settings.games

    @property
    def _q_step(self) -> int:
        return self.settings.q_games_per_step or self._q_games
