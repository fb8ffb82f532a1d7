"""A game, a net, a search and an algorithm of your own, in one file. Nothing inside beamzero knows of them.

    beamzero train own_algorithm.py:Nim --algo own_algorithm.py:MonteCarlo --run runs/nim
    beamzero train own_algorithm.py:Nim --algo own_algorithm.py:MonteCarlo --run runs/nim --resume
    beamzero battle own_algorithm.py:Nim own_algorithm.py:MonteCarlo,runs/nim lookahead:2
    beamzero battle own_algorithm.py:Nim own_algorithm.py:Rollouts,seconds=0.1 own_algorithm.py:MonteCarlo,runs/nim

docs/add-your-own-algorithm.md and docs/add-your-own-search.md explain it step by step.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from jax import Array, lax

from beamzero.core.errors import RunStopped
from beamzero.core.packing import pack, take_rows
from beamzero.core.progress import OnPhase
from beamzero.games import Game, State
from beamzero.nets import NETS, Net, NetSettings, Weights, compute_dtype, make_net, make_value_evaluator
from beamzero.players import Player, SearchPlayer
from beamzero.players.agent_kind import AgentKind, NetPlace
from beamzero.players.plain_agent import PlainAgent
from beamzero.search.children import listed_moves
from beamzero.search.evaluator import Evaluator, RootMoves, SearchResult, choose_move, side_sign
from beamzero.search.memory import Needs, fewer, smaller, state_bytes
from beamzero.search.protocol import Search, Spent
from beamzero.search.simple import BestChild, random_moves
from beamzero.training.executor import LOCAL_EXECUTOR, Executor
from beamzero.training.fit import Learner, ValueLoss, ValueRows, fit_pass, learner_bytes, new_learner
from beamzero.training.report import Stopwatch
from beamzero.training.settings import RunSettings, setting

# --- a game: take one, two or three stones; who takes the last one wins -----------------------------------------------


class NimState(NamedTuple):
    heap: Array  # int32 [] stones that are left
    ply: Array  # int32 [] moves so far


@dataclasses.dataclass(frozen=True)
class Nim(Game):
    """One heap, from which each side takes one, two or three stones; the last stone wins."""

    heap: int = 10

    name: ClassVar[str] = "nim"
    num_actions = max_moves = 3

    @property
    def max_plies(self) -> int:
        return self.heap

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return (self.heap + 1,)

    def init(self, key: Array) -> NimState:
        return NimState(jnp.int32(self.heap), jnp.int32(0))

    def player(self, state: NimState) -> Array:
        return state.ply % 2

    def legal(self, state: NimState) -> Array:
        return jnp.arange(3) < state.heap

    def step(self, state: NimState, action: Array) -> NimState:
        left = jnp.maximum(state.heap - action.astype(jnp.int32) - 1, 0)
        return NimState(left, state.ply + (state.heap > 0).astype(jnp.int32))

    def over(self, state: NimState) -> Array:
        return state.heap == 0

    def score(self, state: NimState) -> Array:
        return jnp.where(state.heap == 0, (2 * (state.ply % 2) - 1).astype(jnp.float32), 0.0)

    def observe(self, state: NimState) -> Array:
        return (jnp.arange(self.heap + 1) == state.heap).astype(jnp.float32)

    def action_name(self, state: NimState, action: int) -> str:
        return f"take{action + 1}"

    def show(self, state: NimState, seat: int = 0) -> str:
        return "o" * int(state.heap) + f" ({int(state.heap)} stones)"


# --- a net: a single hidden layer ------------------------------------------------------------------------------------


class _Layers(nnx.Module):
    def __init__(self, inputs: int, width: int, outputs: int, rngs: nnx.Rngs, dtype: Any) -> None:
        self.hidden = nnx.Linear(inputs, width, rngs=rngs, dtype=dtype)
        self.head = nnx.Linear(width, outputs, rngs=rngs, dtype=jnp.float32)

    def __call__(self, x: Array, real: Array | None = None) -> Array:
        x = jnp.tanh(self.hidden(x.reshape(x.shape[0], -1)))
        return self.head(x.astype(jnp.float32))


@dataclasses.dataclass(frozen=True)
class Shallow(NetSettings):
    """``shallow:width=32``: its fields are what a text can set."""

    width: int = 32

    name: ClassVar[str] = "shallow"
    layers = 2

    def build(self, observation_shape: tuple[int, ...], outputs: int, rngs: nnx.Rngs, dtype: Any) -> nnx.Module:
        return _Layers(functools.reduce(int.__mul__, observation_shape), self.width, outputs, rngs, dtype)


NETS.register("shallow", Shallow)


# --- a search: random games after each move ---------------------------------------------------------------------------


class Tried(NamedTuple):
    """Random games from B positions so far: the carry of the search."""

    states: State  # [B, ...] the positions
    moves: Array  # int32 [B, K] their legal moves, in K slots
    listed: Array  # bool [B, K] the slots that hold a move
    visits: Array  # float32 [B, K] games that began with each move
    total: Array  # float32 [B, K] the sum of their results, for the side to move
    units: Array  # int32 [] games from each position
    key: Array


@dataclasses.dataclass(frozen=True)
class Rollouts(Search):
    """Play random games from a position, as many after each move; the move with the best mean result is played."""

    games: int = 200

    by_chance = True  # what it finds depends on the key

    @property
    def units(self) -> int:
        return self.games

    def nodes_of_unit(self, game: Game) -> int:
        return game.max_plies

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> Tried:
        moves, _, listed = listed_moves(game, states)
        nothing = jnp.zeros(moves.shape, jnp.float32)
        return Tried(states, moves, listed, nothing, nothing, jnp.int32(0), key)

    def advance(self, game: Game, evaluator: Evaluator, carry: Tried, budget: Array | int) -> Tried:
        last = jnp.minimum(carry.units + budget, self.games)
        return lax.while_loop(lambda now: now.units < last, functools.partial(_one_game, game), carry)

    def done(self, game: Game, carry: Tried) -> Array:
        return jnp.full(carry.moves.shape[0], carry.units >= self.games)

    def result(self, game: Game, carry: Tried, key: Array) -> SearchResult:
        mean = carry.total / jnp.maximum(carry.visits, 1)
        values = jnp.where(carry.listed, mean, -jnp.inf)
        known = RootMoves(carry.moves, carry.listed, values, proven=jnp.zeros(values.shape, jnp.bool_))
        return choose_move(game, known, self.spent(game, carry).nodes, key)

    def spent(self, game: Game, carry: Tried) -> Spent:
        nothing = jnp.zeros(carry.moves.shape[0], jnp.int32)
        return Spent(carry.units, nodes=nothing + carry.units * game.max_plies, evaluations=nothing, depth=nothing)


def _one_game(game: Game, carry: Tried) -> Tried:
    """Play one random game from each position, after the move with the fewest games so far."""
    slot = jnp.argmin(jnp.where(carry.listed, carry.visits, jnp.inf), axis=1)[:, None]
    first = jnp.take_along_axis(carry.moves, slot, axis=1)[:, 0]
    key = jax.random.fold_in(carry.key, carry.units)

    def ply(number: Array, states: State) -> State:
        # A finished game stays as it is.
        return jax.vmap(game.step)(states, random_moves(game, states, jax.random.fold_in(key, number)))

    last = lax.fori_loop(1, game.max_plies, ply, jax.vmap(game.step)(carry.states, first))
    result = side_sign(game, carry.states) * jax.vmap(game.score)(last)
    tried = (jnp.arange(carry.visits.shape[1])[None] == slot).astype(jnp.float32)
    return carry._replace(
        visits=carry.visits + tried, total=carry.total + tried * result[:, None], units=carry.units + 1
    )


# --- an algorithm: every position learns the result of its game -------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class MonteCarloSettings(RunSettings):
    """What `--set` can change, beside the settings that every run has."""

    explore: float = setting(0.2, "The probability of any move in place of the best.", (0.0, 1.0))
    value_net: str = setting("shallow:width=32", "The net.")
    learning_rate: float = setting(0.01, "Learning rate (Adam).", (1e-9, 1.0))
    batch_size: int = setting(64, "Positions in a minibatch.", (1, 10**6))


class MonteCarloState(NamedTuple):
    """All that an iteration hands to the next: what a checkpoint keeps."""

    value: Learner

    def as_tree(self) -> dict[str, Any]:
        return {"value": self.value._asdict()}


def _evaluator(nets: Mapping[str, Net], weights: Mapping[str, Weights]) -> Evaluator:
    return make_value_evaluator(nets["value"], weights["value"])


@dataclasses.dataclass(frozen=True)
class MonteCarlo:
    """Play games with the net's best moves, and some others; teach it how they ended; again."""

    title: ClassVar[str] = "Monte Carlo"
    settings_type: ClassVar[type[RunSettings]] = MonteCarloSettings
    agent: ClassVar[AgentKind] = PlainAgent(
        # One net, which an agent file calls "value": the setting that describes it, what it gives, where it lies.
        nets={"value": NetPlace("value_net", "value", ("value", "weights"))},
        make_evaluator=_evaluator,
        search=BestChild(),
        about="an agent trained by Monte Carlo: the move to the position that it likes best",
    )
    uses_executor: ClassVar[bool] = False  # no part of an iteration is handed to other machines
    sizes: ClassVar[tuple[str, ...]] = ()  # no setting but the net says how large the state is
    compared: ClassVar[Mapping[str, Any]] = {}

    game: Game
    settings: MonteCarloSettings

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", self.settings.resolved(self.game))

    @functools.cached_property
    def net(self) -> Net:
        return Net(self.game, make_net(self.settings.value_net), "value", compute_dtype(self.settings.precision))

    def init(self, key: Array) -> MonteCarloState:
        return MonteCarloState(new_learner(self.net.init(key)))

    def from_tree(self, tree: dict[str, Any]) -> MonteCarloState:
        return MonteCarloState(Learner(**tree["value"]))

    def from_agent(self, fresh: MonteCarloState, weights: Mapping[str, Weights]) -> MonteCarloState:
        return MonteCarloState(new_learner(weights["value"]))

    def player(self, state: MonteCarloState) -> Player:
        return SearchPlayer("MonteCarlo", self.game, BestChild(), self._evaluator(state))

    @property
    def rated_by(self) -> str:
        return "one look at V"

    def _evaluator(self, state: MonteCarloState) -> Evaluator:
        return _evaluator({"value": self.net}, {"value": state.value.weights})

    def bytes_needed(self, elsewhere: bool = False) -> Needs:
        """What to lower where memory is short, and how much it takes."""
        settings = self.settings
        positions = settings.games * self._plies * 2 * state_bytes(self.game)
        return {
            smaller(value_net=settings.value_net): learner_bytes(self.net),
            fewer(games=settings.games): positions,
            smaller(batch_size=settings.batch_size): settings.batch_size * self.net.bytes_per_row(),
        }

    def iterate(
        self,
        state: MonteCarloState,
        iteration: int,
        key: Array,
        on_phase: OnPhase,
        share: float | None = None,
        executor: Executor = LOCAL_EXECUTOR,
    ) -> tuple[MonteCarloState, dict[str, Any]]:
        settings = self.settings
        play_key, fit_key = jax.random.split(jax.random.fold_in(key, iteration))
        clock = Stopwatch()
        on_phase("self-play", 0, settings.games)
        rows, count = play(self.game, settings.games, self._plies, settings.explore, self._evaluator(state), play_key)
        clock.lap("self_play")
        on_phase("fitting", 0, 1)
        learner, loss = fit_pass(
            ValueLoss(self.net, settings.symmetry), settings.batch_size, state.value, rows, count,
            jnp.float32(0), jnp.float32(settings.learning_rate), fit_key,
        )  # fmt: skip
        if not bool(jnp.isfinite(loss)):
            raise RunStopped(f"the loss is {float(loss)}: try a smaller learning rate")
        clock.lap("fit")
        # What a line of metrics.jsonl says: games, evaluations and seconds always, losses by names that end in _loss.
        return MonteCarloState(learner), {
            "value_loss": float(loss), "games": settings.games, "states": int(count),
            "mean_turns": int(count) / settings.games, "evaluations": int(count) * self.game.max_moves,
            "seconds": clock.seconds,
        }  # fmt: skip

    @property
    def _plies(self) -> int:
        return min(self.settings.max_turns, self.game.max_plies)


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 3))
def play(
    game: Game, games: int, plies: int, explore: float, evaluator: Evaluator, key: Array
) -> tuple[ValueRows, Array]:
    """Play games side by side; gives their positions, packed, with the result for the side to move, and how many."""
    start_key, play_key = jax.random.split(key)
    first = jax.vmap(game.init)(jax.random.split(start_key, games))

    def move(states: State, key: Array) -> tuple[State, tuple[State, Array]]:
        best_key, any_key, which_key = jax.random.split(key, 3)
        best = BestChild()(game, evaluator, states, best_key).action
        tried = jax.random.uniform(which_key, (games,)) < explore
        moves = jnp.where(tried, random_moves(game, states, any_key), best)
        return jax.vmap(game.step)(states, moves), (states, ~jax.vmap(game.over)(states))

    last, (met, running) = lax.scan(move, first, jax.random.split(play_key, plies))  # met: [plies, games, ...]
    score = jax.vmap(game.score)(last)  # [games] for side 0
    outcome = jax.vmap(functools.partial(side_sign, game))(met) * score[None]
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), ValueRows(met, outcome))
    places, count = pack(running.reshape(-1))
    return take_rows(flat, places), count
