"""AlphaZero: a net that learns what a search, guided by that net, finds; one iteration at a time."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.algorithms.alphazero.agent import AlphaZeroAgent
from beamzero.algorithms.alphazero.loss import AlphaZeroLoss
from beamzero.algorithms.alphazero.self_play import Credit, SearchedGames, SearchPlay, play_shards
from beamzero.algorithms.alphazero.settings import AlphaZeroSettings
from beamzero.algorithms.alphazero.window import Window, empty_window, keep
from beamzero.arena.battle import battle
from beamzero.arena.battle_size import battle_needs
from beamzero.core.cores import programs_at_once
from beamzero.core.errors import RunStopped
from beamzero.core.progress import OnPhase, OnProgress
from beamzero.games import Game
from beamzero.nets import Net, Weights, compute_dtype, make_joint_evaluator, make_net
from beamzero.players import Player, SearchPlayer
from beamzero.players.agent_kind import AgentKind
from beamzero.search.evaluator import Evaluator, zero_evaluator
from beamzero.search.mcts.gumbel import Gumbel
from beamzero.search.mcts.mcts import MCTS
from beamzero.search.memory import Needs, bytes_of, fewer, heaviest, smaller, state_bytes, together
from beamzero.search.simple import Likeliest
from beamzero.search.targets import TargetSearch
from beamzero.training.executor import LOCAL_EXECUTOR, Batch, Executor, Shard, cut_shards
from beamzero.training.fit import Learner, fit_samples, learner_bytes, new_learner
from beamzero.training.report import Stopwatch
from beamzero.training.settings import RunSettings, cosine, share_done


class AlphaZeroState(NamedTuple):
    """All that an iteration hands to the next."""

    net: Learner
    best: Weights  # of the agent: the newest net's, or those that passed the gate last
    window: Window
    behind: tuple[Weights, ...] = ()  # of the agents of the last iterations, the oldest first: as many as games lag

    def as_tree(self) -> dict[str, Any]:
        """Give the state as plain dicts, as it is saved."""
        tree = {"net": self.net._asdict(), "best": self.best, "window": self.window.as_tree()}
        if self.behind:
            tree["behind"] = {str(number): weights for number, weights in enumerate(self.behind)}
        return tree


@dataclasses.dataclass(frozen=True)
class AlphaZero:
    """The algorithm with its settings, for one game."""

    title: ClassVar[str] = "AlphaZero"
    settings_type: ClassVar[type[RunSettings]] = AlphaZeroSettings
    agent: ClassVar[AgentKind] = AlphaZeroAgent()
    uses_executor: ClassVar[bool] = True
    sizes: ClassVar[tuple[str, ...]] = ("window", "lag")
    compared: ClassVar[Mapping[str, Any]] = {"rate_sims": 0, "gate_games": 0}  # whose evaluations are not counted

    game: Game
    settings: AlphaZeroSettings

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", self.settings.resolved(self.game))

    @functools.cached_property
    def net(self) -> Net:
        return Net(self.game, make_net(self.settings.net), "joint", compute_dtype(self.settings.precision))

    def init(self, key: Array) -> AlphaZeroState:
        """Make a net with random weights and an empty window."""
        weights = self.net.init(key)
        window = empty_window(self.game, self.settings.window)
        return AlphaZeroState(new_learner(weights), weights, window, (weights,) * self.settings.lag)

    def from_tree(self, tree: dict[str, Any]) -> AlphaZeroState:
        """Make the state that was saved as `tree`."""
        behind = tuple(tree["behind"][str(number)] for number in range(self.settings.lag))
        window = Window.from_tree(tree["window"], self.game)
        return AlphaZeroState(Learner(**tree["net"]), tree["best"], window, behind)

    def from_agent(self, fresh: AlphaZeroState, weights: Mapping[str, Weights]) -> AlphaZeroState:
        """Take the net of an agent, which also plays the games of the first iterations; the window is empty."""
        net = weights["net"]
        return AlphaZeroState(new_learner(net), net, fresh.window, (net,) * self.settings.lag)

    def evaluator(self, state: AlphaZeroState) -> Evaluator:
        return make_joint_evaluator(self.net, state.best)

    def player(self, state: AlphaZeroState) -> Player:
        """Make the agent, as it is rated."""
        search = self._puct(self.settings.rate_sims) if self.settings.rate_sims else Likeliest()
        return SearchPlayer("alphazero", self.game, search, self.evaluator(state))

    @property
    def rated_by(self) -> str:
        sims = self.settings.rate_sims
        return f"{sims} simulations" if sims else "one look at the net"

    def bytes_needed(self, elsewhere: bool = False) -> Needs:
        settings, game, shard = self.settings, self.game, self._shard
        row = state_bytes(game) + 2 * game.max_moves
        a_place = shard.plies * (row + 10) + shard.openings * state_bytes(game)
        at_once = 0 if elsewhere else min(settings.lanes, programs_at_once())
        # All shards, those that are played at the moment once more, and one as it comes into the window.
        games = (settings.games + max(1, at_once) * shard.games) * a_place
        window = settings.window * (row + 4)
        trees = self._target_search.bytes_needed(game, at_once * shard.games)
        batch = settings.batch_size * self.net.bytes_per_row()
        held = {
            smaller(net=settings.net): learner_bytes(self.net) + settings.lag * bytes_of(self.net.shapes()),
            fewer(games=settings.games): games,
        }
        smaller_window = smaller(window=settings.window)
        playing = {smaller_window: window, fewer(sims=settings.sims): trees}
        # The window before the games come in, after those of one shard, and after those of the next.
        learning = {smaller_window: (2 + (settings.lanes > 1)) * window, smaller(batch_size=settings.batch_size): batch}
        gating = together({smaller_window: 2 * window}, self._gate_needs())
        return together(held, heaviest(playing, learning, gating))

    def _gate_needs(self) -> Needs:
        settings = self.settings
        if not settings.gate_games:
            return {}
        rival = SearchPlayer("its search", self.game, self._gate_search, zero_evaluator(self.game))
        return battle_needs(self.game, [rival], settings.gate_games, "gate_games")

    def iterate(
        self,
        state: AlphaZeroState,
        iteration: int,
        key: Array,
        on_phase: OnPhase,
        share: float | None = None,
        executor: Executor = LOCAL_EXECUTOR,
    ) -> tuple[AlphaZeroState, dict[str, Any]]:
        """Do one iteration: play with the search, remember, fit the net to what the searches found, and try it out."""
        settings = self.settings
        share = share_done(iteration, settings.iterations) if share is None else share
        fit_key = jax.random.split(jax.random.fold_in(key, iteration))[1]
        rate = settings.learning_rate * cosine(share, settings.final_learning_rate)
        clock = Stopwatch()

        agents = (*state.behind, state.best)
        shards, evaluations = self._play(agents, iteration, key, on_phase, executor)
        clock.lap("self_play")

        on_phase("fitting", 0, 1)
        window = state.window
        for games in shards:
            window = keep(self.game, self._credit, window, games)
        net, loss, parts = fit_samples(
            AlphaZeroLoss(self.net, settings.symmetry, settings.l2, settings.value_weight), settings.batch_size,
            jnp.int32(settings.batches), state.net, window.rows, window.size, jnp.float32(rate), fit_key,
        )  # fmt: skip
        if not bool(jnp.isfinite(loss)):
            raise RunStopped(f"the loss is {float(loss)}: try a smaller learning rate (it was {rate:g})")
        clock.lap("fit")

        best, gate = self._gate(state.best, net.weights, iteration, on_phase)
        clock.lap("gate")
        plies = sum(int(jnp.sum(games.played)) for games in shards)
        played = sum(int(jnp.sum(games.ended)) for games in shards)
        return AlphaZeroState(net, best, window, agents[1:]), {
            **{name: float(part) for name, part in parts.items()}, "loss": float(loss), **gate,
            "mean_turns": plies / played, "games": played, "states": plies,
            "remembered": int(window.size), "evaluations": evaluations, "learning_rate": rate,
            "seconds": clock.seconds,
        }  # fmt: skip

    # --- playing ---------------------------------------------------------------------------------------------------

    def play(self, best: Weights, shards: Sequence[Shard], on_progress: OnProgress) -> list[tuple[SearchedGames, int]]:
        """Play the games of shards, ply by ply. Returns for each its games, and how many evaluations they took."""
        evaluator = make_joint_evaluator(self.net, best)
        return play_shards(self.game, self._target_search, self._shard, evaluator, shards, on_progress)

    def _play(
        self, agents: Sequence[Weights], iteration: int, key: Array, on_phase: OnPhase, executor: Executor
    ) -> tuple[list[SearchedGames], int]:
        """Play the games of an iteration. Returns those of each shard, and how many evaluations they took.

        The first of the `agents` plays this iteration's games, and each of the others those of an iteration to come.
        """
        settings = self.settings

        progress = functools.partial(on_phase, "self-play")

        def batch(ahead: int) -> Batch:
            play_key = jax.random.split(jax.random.fold_in(key, iteration + ahead))[0]
            return Batch(agents[ahead], cut_shards(iteration + ahead, settings.games, settings.lanes, play_key))

        progress(0, settings.games)
        shards, evaluations = [], 0
        ahead = range(1, min(len(agents), settings.iterations - iteration))
        for games, asked in executor.map_in_steps(self.play, batch(0), progress, list(map(batch, ahead))):
            shards.append(games)
            evaluations += asked
            progress(len(shards) * self._shard.games, settings.games)
        return shards, evaluations

    @functools.cached_property
    def _shard(self) -> SearchPlay:
        settings = self.settings
        return SearchPlay(
            games=settings.games // settings.lanes,
            max_turns=min(settings.max_turns, self.game.max_plies),
            temperature=settings.temperature,
            sampled_moves=settings.sampled_moves,
            greedy_games=settings.greedy_games,
            random_plies=settings.random_plies,
            handicap=settings.handicap,
            play_on=settings.play_on,
            adjudicate=settings.adjudicate,
            adjudicate_scale=settings.adjudicate_scale,
        )

    @property
    def _credit(self) -> Credit:
        settings = self.settings
        return Credit(
            search_value=settings.search_value,
            discount=settings.discount,
            evaluation=settings.evaluation_value,
            evaluation_scale=settings.adjudicate_scale,
        )

    @functools.cached_property
    def _target_search(self) -> TargetSearch:
        settings = self.settings
        if settings.search == "gumbel":
            return Gumbel(settings.sims)
        return dataclasses.replace(self._puct(settings.sims), noise=settings.noise, alpha=settings.noise_alpha)

    def _puct(self, sims: int) -> MCTS:
        settings = self.settings
        return MCTS(sims, c=settings.c, unvisited=settings.unvisited, relative=settings.relative)

    # --- the gate --------------------------------------------------------------------------------------------------

    @property
    def _gate_search(self) -> MCTS:
        return self._puct(self.settings.gate_sims or self.settings.sims)

    def _gate(self, best: Weights, new: Weights, iteration: int, on_phase: OnPhase) -> tuple[Weights, dict[str, Any]]:
        """Choose the weights of the agent from now on. Returns also the new net's score against the best one before."""
        settings = self.settings
        if not settings.gate_games:
            return new, {}
        rivals = [
            SearchPlayer(name, self.game, self._gate_search, make_joint_evaluator(self.net, weights))
            for name, weights in (("new", new), ("best", best))
        ]
        result = battle(
            self.game, rivals[0], rivals[1], settings.gate_games, seed=iteration,
            progress=functools.partial(on_phase, "gate"),
        )  # fmt: skip
        passed = result.score >= settings.gate_score
        return new if passed else best, {
            "gate_score": result.score, "gate_interval": list(result.interval), "gate_passed": passed,
        }  # fmt: skip
