"""TD(lambda), in the manner of TD-Gammon: a value net that learns from what it thinks a move later, and from results.

The net judges the positions that moves lead to, before the dice are thrown. A side plays the move to the position that
is best for it, and each such position learns

    G(t) = (1 - lambda) * V(t + 1) + lambda * G(t + 1)

where V(t + 1) is what the best move in the position after it is worth, and G at the end is the result. Where a move was
tried at random, nothing is learned from what came after it: G is V there.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from beamzero.algorithms.td.agent import TdAgent
from beamzero.algorithms.td.settings import TdSettings
from beamzero.core.errors import RunStopped
from beamzero.core.packing import pack, take_rows
from beamzero.core.progress import OnPhase
from beamzero.games import Game, State
from beamzero.games.chance import draw_chance
from beamzero.nets import Net, Weights, compute_dtype, make_net, make_value_evaluator
from beamzero.players import Player, SearchPlayer
from beamzero.players.agent_kind import AgentKind
from beamzero.search.children import is_narrow, listed_moves, value_children
from beamzero.search.evaluator import Evaluator, first_highest, side_sign
from beamzero.search.memory import Needs, fewer, smaller, state_bytes
from beamzero.search.simple import BestChild
from beamzero.training.executor import LOCAL_EXECUTOR, Executor
from beamzero.training.fit import Learner, ValueLoss, ValueRows, fit_pass, learner_bytes, new_learner
from beamzero.training.report import Stopwatch
from beamzero.training.settings import RunSettings, cosine, share_done


class TdState(NamedTuple):
    """All that an iteration hands to the next."""

    value: Learner

    def as_tree(self) -> dict[str, Any]:
        """Give the state as plain dicts, as it is saved."""
        return {"value": self.value._asdict()}


class Played(NamedTuple):
    """G games of T moves: what each move led to, before the dice were thrown."""

    states: State  # [T, G, ...]
    best: Array  # float32 [T, G] what the best move was worth to side 0
    value: Array  # float32 [T, G] what the move that was made was worth to side 0: the result where it ended the game
    random: Array  # bool [T, G] whether it was tried at random
    played: Array  # bool [T, G] whether the game got that far


@dataclasses.dataclass(frozen=True)
class TD:
    """The algorithm with its settings, for one game."""

    title: ClassVar[str] = "TD(lambda)"
    settings_type: ClassVar[type[RunSettings]] = TdSettings
    agent: ClassVar[AgentKind] = TdAgent()
    uses_executor: ClassVar[bool] = False
    sizes: ClassVar[tuple[str, ...]] = ()
    compared: ClassVar[Mapping[str, Any]] = {}

    game: Game
    settings: TdSettings

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", self.settings.resolved(self.game))

    @functools.cached_property
    def net(self) -> Net:
        return Net(self.game, make_net(self.settings.value_net), "value", compute_dtype(self.settings.precision))

    def init(self, key: Array) -> TdState:
        """Make a net with random weights."""
        return TdState(new_learner(self.net.init(key)))

    def from_tree(self, tree: dict[str, Any]) -> TdState:
        """Make the state that was saved as `tree`."""
        return TdState(Learner(**tree["value"]))

    def from_agent(self, fresh: TdState, weights: Mapping[str, Weights]) -> TdState:
        """Take the net of an agent, with a fresh optimizer."""
        return TdState(new_learner(weights["value"]))

    def evaluator(self, state: TdState) -> Evaluator:
        return make_value_evaluator(self.net, state.value.weights)

    def player(self, state: TdState) -> Player:
        """Make the agent: it moves to the position that it likes best."""
        return SearchPlayer("td", self.game, BestChild(), self.evaluator(state))

    @property
    def rated_by(self) -> str:
        return "one look at V"

    def bytes_needed(self, elsewhere: bool = False) -> Needs:
        settings, size = self.settings, state_bytes(self.game)
        children = 3 * self.game.max_moves * size if is_narrow(self.game) else 0
        return {
            smaller(value_net=settings.value_net): learner_bytes(self.net),
            # The states as they were played, and packed, with what is known of them and their places.
            fewer(games=settings.games): settings.games * (self._plies * (2 * size + 34) + children),
            smaller(batch_size=settings.batch_size): settings.batch_size * self.net.bytes_per_row(),
        }

    def iterate(
        self,
        state: TdState,
        iteration: int,
        key: Array,
        on_phase: OnPhase,
        share: float | None = None,
        executor: Executor = LOCAL_EXECUTOR,
    ) -> tuple[TdState, dict[str, Any]]:
        """Do one iteration: play, and fit the net to the results. Most of it is fitting: the executor is not used."""
        settings = self.settings
        share = share_done(iteration, settings.iterations) if share is None else share
        play_key, fit_key = jax.random.split(jax.random.fold_in(key, iteration))
        rate = settings.learning_rate * cosine(share, settings.final_learning_rate)
        clock = Stopwatch()

        on_phase("self-play", 0, settings.games)
        games, evaluations = play_by_value(
            self.game, settings.games, self._plies, settings.explore, self.evaluator(state), play_key
        )
        rows, count = learned_from(self.game, games, jnp.float32(settings.trace))
        states = int(count)
        clock.lap("self_play")

        on_phase("fitting", 0, 1)
        learner, loss = fit_pass(
            ValueLoss(self.net, settings.symmetry), settings.batch_size, state.value, rows, count,
            jnp.float32(0), jnp.float32(rate), fit_key,
        )  # fmt: skip
        if not bool(jnp.isfinite(loss)):
            raise RunStopped(f"the loss is {float(loss)}: try a smaller learning rate (it was {rate:g})")
        clock.lap("fit")
        plies = int(jnp.sum(games.played))
        return TdState(learner), {
            "value_loss": float(loss), "mean_turns": plies / settings.games, "games": settings.games,
            "states": states, "evaluations": int(evaluations), "learning_rate": rate, "seconds": clock.seconds,
        }  # fmt: skip

    @property
    def _plies(self) -> int:
        return min(self.settings.max_turns, self.game.max_plies)


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 3))
def play_by_value(
    game: Game, games: int, plies: int, explore: float, evaluator: Evaluator, key: Array
) -> tuple[Played, Array]:
    """Play the games in lockstep, each side the move that it likes best, or any with the probability `explore`.

    Returns also the number of positions that the net was asked about, int32 [].
    """
    start_key, play_key = jax.random.split(key)
    states = jax.vmap(game.init)(jax.random.split(start_key, games))
    numbers, marks = jnp.zeros((plies, games), jnp.float32), jnp.zeros((plies, games), jnp.bool_)
    history = jax.tree.map(lambda x: jnp.zeros((plies, *x.shape), x.dtype), states)

    def go_on(carry: tuple[Array, State, Played, Array]) -> Array:
        ply, states, *_ = carry
        return (ply < plies) & ~jnp.all(jax.vmap(game.over)(states))

    def move(carry: tuple[Array, State, Played, Array]) -> tuple[Array, State, Played, Array]:
        ply, states, seen, ran = carry
        random_key, slot_key, dice_key = jax.random.split(jax.random.fold_in(play_key, ply), 3)
        running = ~jax.vmap(game.over)(states)
        moves, count, listed = listed_moves(game, states, running)
        children = value_children(game, evaluator, states, moves, listed)
        value = children.value
        own = jnp.where(listed, side_sign(game, states)[:, None] * value, -jnp.inf)
        tried = running & (jax.random.uniform(random_key, (games,)) < explore)
        any_slot = (jax.random.uniform(slot_key, (games,)) * count.astype(jnp.float32)).astype(jnp.int32)
        best = first_highest(own)
        slot = jnp.where(tried, jnp.minimum(any_slot, jnp.maximum(count - 1, 0)), best)

        def at(numbers: Array, slot: Array) -> Array:
            return jnp.take_along_axis(numbers, slot[:, None], axis=1)[:, 0]

        after = jax.vmap(game.step)(states, at(moves, slot))
        now = Played(after, at(value, best), at(value, slot), tried, running)
        seen = jax.tree.map(lambda all_of_it, one: all_of_it.at[ply].set(one), seen, now)
        return ply + 1, draw_chance(game, after, dice_key), seen, ran + children.ran

    nothing = Played(history, numbers, numbers, marks, marks)
    return lax.while_loop(go_on, move, (jnp.int32(0), states, nothing, jnp.int32(0)))[2:]


@functools.partial(jax.jit, static_argnums=0)
def learned_from(game: Game, games: Played, trace: Array) -> tuple[ValueRows, Array]:
    """Pack the positions that are learned from, each with its target for the side to move. Returns also their number.

    Those that ended a game are none: their value is the result, and no net is asked for it.
    """
    over = jax.vmap(jax.vmap(game.over))(games.states)

    def before(later: tuple[Array, Array, Array, Array], now: Played) -> tuple[Any, Array]:
        best, target, random, played = later
        # Of the position after a move: what the next one found, or itself where there is none (a game that was cut).
        onward = jnp.where(random, best, (1 - trace) * best + trace * target)
        own = jnp.where(jax.vmap(game.over)(now.states) | ~played, now.value, onward)
        return (now.best, own, now.random, now.played), own

    games_at_once = games.value.shape[1]
    zeros, no = jnp.zeros(games_at_once, jnp.float32), jnp.zeros(games_at_once, jnp.bool_)
    _, targets = lax.scan(before, (zeros, zeros, no, no), games, reverse=True)
    signs = jax.vmap(functools.partial(side_sign, game))(games.states)
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), ValueRows(games.states, signs * targets))
    places, count = pack((games.played & ~over).reshape(-1))
    return take_rows(flat, places), count
