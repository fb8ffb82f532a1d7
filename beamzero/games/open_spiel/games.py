"""Games of OpenSpiel, named ``open_spiel:breakthrough,rows=6,columns=6``: two players, zero sum, open information.

The rules are C++ that runs on the host, one position at a time. A state is all that was chosen so far, with what the
rules said of it, and only `step`, `resolve`, `chance` and `observe` call the host.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.core.spec import Scalar, unknown
from beamzero.games.game import CHANCE, Game, State, keep_if
from beamzero.games.hashing import hash_words, words_of
from beamzero.games.open_spiel.host import Host, facts_type
from beamzero.games.places import Place

SPIEL_GAMES = (
    "amazons", "antichess", "backgammon", "banqi", "breakthrough", "checkers", "chess", "chinese_checkers", "clobber",
    "connect_four", "crazyhouse", "dots_and_boxes", "go", "gomoku", "havannah", "hex", "hive", "lines_of_action",
    "maedn", "mancala", "mnk", "nim", "nine_mens_morris", "othello", "oware", "pentago", "pig", "quoridor", "shogi",
    "tic_tac_toe", "twixt", "ultimate_tic_tac_toe", "xiangqi", "y", "yacht",
)  # fmt: skip
"""The games that keep the laws of `Game`. Others of OpenSpiel that fit are loaded too: `beamzero check` tries them."""

_MOST_MOVES: Mapping[str, Callable[[Any], int]] = {
    # Two rows of pieces, and each has three squares before it.
    "breakthrough": lambda game: 6 * game.columns,
    # Three rows of pieces on every other square, at most half a piece more than half of them; each moves four ways.
    "checkers": lambda game: 6 * game.columns + 2,
    # The known maximum, as that of shogi.
    "chess": lambda game: 218,
    # Twelve pieces, each with one square to go to in every direction.
    "lines_of_action": lambda game: 96,
    "shogi": lambda game: 593,
}
"""The most legal moves in any position, where that is known to be far less than the number of actions."""

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class SpielState(NamedTuple):
    history: Array  # int16 [H] moves and outcomes of chance so far, -1 after them
    length: Array  # int32 [] how many they are
    ply: Array  # int32 [] moves among them
    player: Array  # int8 [] the side to move, or CHANCE
    side: Array  # int8 [] the side that chooses next
    over: Array  # bool []
    score: Array  # float32 [] for side 0
    legal: Array  # uint8 [L] the legal actions as bits


def find_spiel_game(name: str) -> type[Game]:
    """Find the class of OpenSpiel's game `name`: one object for all calls, so that equal games stay equal."""
    if importlib.util.find_spec("pyspiel") is None:
        raise BadInput(f"open_spiel:{name} needs OpenSpiel, which is not installed: pip install 'beamzero[open_spiel]'")
    return _make_class(name)


@functools.cache
def _make_class(name: str) -> type[Game]:
    import pyspiel

    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    if name not in kinds:
        raise unknown("game of OpenSpiel", name, SPIEL_GAMES)
    if why := _why_not(kinds[name]):
        raise BadInput(f"open_spiel:{name} cannot be played, for {why} (beamzero games lists those that can be)")
    given = kinds[name].parameter_specification.items()
    fields = [(key, type(value), value) for key, value in given if _is_parameter(key, value)]
    about = {"name": f"open_spiel:{name}", "_game": name, "__doc__": f"{kinds[name].long_name}, by OpenSpiel's rules."}
    # `plies` comes last, as the parameters of OpenSpiel do in no game.
    fields += [("plies", int, 0)]
    return dataclasses.make_dataclass(f"Spiel_{name}", fields, bases=(SpielGame,), namespace=about, frozen=True)


def _is_parameter(key: str, value: Any) -> bool:
    return isinstance(value, Scalar) and key not in dir(Game)


def _why_not(kind: Any) -> str | None:
    """Say why a game of OpenSpiel is none of ours; None where it is one."""
    told = kind.Dynamics, kind.Information, kind.ChanceMode, kind.Utility
    dynamics, information, chance, utility = told
    for wrong, why in (
        (kind.min_num_players > 2 or kind.max_num_players < 2, "it is not for two players"),
        (kind.dynamics != dynamics.SEQUENTIAL, "its players move at the same time"),
        (kind.information != information.PERFECT_INFORMATION, "it has hidden information"),
        (kind.chance_mode == chance.SAMPLED_STOCHASTIC, "it does not list what chance can do"),
        (kind.utility != utility.ZERO_SUM, "its players do not play against each other alone"),
        (not kind.provides_observation_tensor, "it has no observation for a net"),
    ):
        if wrong:
            return why
    return None


@functools.lru_cache(maxsize=64)
def _host(name: str, parameters: tuple[tuple[str, Scalar], ...]) -> Host:
    return Host(name, dict(parameters))


class SpielGame(Game):
    """A game of OpenSpiel, by its rules. Actions, observations and the longest game are OpenSpiel's.

    `plies` ends a game as a draw after so many moves: some of OpenSpiel's games last ten thousands, and each state has
    room for all of them.
    """

    _game: ClassVar[str]
    plies: int

    def __post_init__(self) -> None:
        if self.plies < 0:
            raise BadInput(f"plies is {self.plies}, but must be 1 or more, or 0 for as many as OpenSpiel allows")
        _first(self)  # refuses here what cannot be loaded

    @property
    def _host(self) -> Host:
        fields = {field.name: field.default for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        given = {key: getattr(self, key) for key in fields if key != "plies"}
        return _host(self._game, tuple((key, value) for key, value in given.items() if value != fields[key]))

    @property
    def identity(self) -> str:
        return ",".join([self.name, *self._changed_parameters()])

    @property
    def num_actions(self) -> int:
        return self._host.num_actions

    @property
    def num_chance(self) -> int:  # type: ignore[override]
        return self._host.num_chance

    @property
    def max_moves(self) -> int:
        known = _MOST_MOVES.get(self._game)
        return self.num_actions if known is None else min(self.num_actions, known(self))

    @property
    def max_plies(self) -> int:
        most = self._host.game.max_game_length()
        return min(self.plies, most) if self.plies else most

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """OpenSpiel's, planes last as nets here have them, and one number or plane more: the side to move."""
        shape = self._host.shape
        if len(shape) == 3:
            return (*shape[1:], shape[0] + 1)
        return (int(np.prod(shape)) + 1,)

    @property
    def stake(self) -> int:
        return max(1, round(self._host.most))

    # --- the rules -------------------------------------------------------------------------------------------------

    @property
    def _room(self) -> int:
        """Room for the choices of a game: before each move and after the last one chance may decide."""
        return self.max_plies * 2 + 1 if self.num_chance else self.max_plies

    def init(self, key: Array) -> State:
        return jax.tree.map(jnp.asarray, _first(self))

    def player(self, state: State) -> Array:
        return jnp.asarray(state.player, jnp.int32)

    def next_side(self, state: State) -> Array:
        return jnp.asarray(state.side, jnp.int32)

    def legal(self, state: State) -> Array:
        return jnp.unpackbits(state.legal, count=self.num_actions).astype(jnp.bool_)

    def moves(self, state: State) -> tuple[Array, Array]:
        legal = self.legal(state)
        count = jnp.sum(legal, dtype=jnp.int32)
        return jnp.nonzero(legal, size=self.max_moves, fill_value=0)[0].astype(jnp.int32), count

    def step(self, state: State, action: Array) -> State:
        is_legal = self.legal(state)[action] & ~state.over
        return self._choose(state, action, is_legal, 1)

    def chance(self, state: State) -> Array:
        rolls = (state.player == CHANCE) & ~state.over
        probs = self._ask(self._host.chance, (self.num_chance,), np.float32, state, rolls)
        return jnp.where(rolls, probs, jnp.float32(1 / self.num_chance))

    def resolve(self, state: State, outcome: Array) -> State:
        return self._choose(state, outcome, (state.player == CHANCE) & ~state.over, 0)

    def _choose(self, state: State, choice: Array, is_allowed: Array, plies: int) -> State:
        """Return the state after a choice, or `state` where it is not allowed: C++ must never see such a one."""
        history = state.history.at[state.length].set(jnp.asarray(choice, jnp.int16))
        moved = state._replace(history=history, length=state.length + 1, ply=state.ply + plies)
        size = facts_type(self.num_actions).itemsize
        after = _read(moved, self._ask(self._host.facts, (size,), np.uint8, moved, is_allowed))
        is_cut = (after.ply >= self.max_plies) | (after.length >= self._room)
        return keep_if(is_allowed, after._replace(over=after.over | is_cut), state)

    def _ask(
        self, question: Callable[..., Any], shape: tuple[int, ...], kind: Any, state: State, wanted: Array
    ) -> Array:
        """Ask the host about one position, or about a batch of them in one call."""
        side = jnp.where(wanted, state.side.astype(jnp.int16), jnp.int16(-1))
        asked = jnp.concatenate([state.history, side[None]])
        return jax.pure_callback(question, jax.ShapeDtypeStruct(shape, kind), asked, vmap_method="expand_dims")

    def over(self, state: State) -> Array:
        return jnp.asarray(state.over)

    def score(self, state: State) -> Array:
        return jnp.asarray(state.score)

    def observe(self, state: State) -> Array:
        """Return what OpenSpiel shows the side that chooses next, and a 1 or a plane of ones where that is side 1.

        Many of OpenSpiel's observations do not tell who is to move. Zeros once the game is over.
        """
        seen = self._ask(self._host.observe, self._host.shape, np.float32, state, ~state.over)
        side = state.side.astype(jnp.float32)
        if seen.ndim != 3:
            return jnp.concatenate([seen.reshape(-1), side[None]])
        plane = jnp.broadcast_to(side, (*seen.shape[1:], 1))
        return jnp.concatenate([jnp.moveaxis(seen, 0, 2), plane], axis=2)

    def hash(self, state: State) -> Array:
        return hash_words(*words_of((state.history, state.length)))

    # --- for people ------------------------------------------------------------------------------------------------

    def spiel_state(self, state: State) -> Any:
        """Return the position as OpenSpiel has it, a copy of the caller's own."""
        length = int(state.length)
        return self._host.find(np.asarray(state.history)[:length]).clone()

    def show(self, state: State, seat: int = 0) -> str:
        return _ANSI.sub("", str(self.spiel_state(state))).strip("\n") or "(nothing)"

    def action_name(self, state: State, action: int) -> str:
        """Name a move as OpenSpiel does, in one word: without spaces, and with points in place of commas."""
        return _one_word(self.spiel_state(state).action_to_string(int(state.player), int(action)))

    def parse_action(self, state: State, text: str) -> int:
        return super().parse_action(state, _one_word(text))

    def outcome_name(self, state: State, outcome: int) -> str:
        text = self.spiel_state(state).action_to_string(CHANCE, int(outcome))
        return _one_word(text.lower().removeprefix("chance outcome "))

    def outcome_reason(self, state: State) -> str:
        cut = not self.spiel_state(state).is_terminal()
        return f"draw: {int(state.ply)} plies" if cut else super().outcome_reason(state)

    def places(self, state: State, action: int) -> list[Place]:
        return []


def _one_word(text: str) -> str:
    return re.sub(r"\s+", "_", re.sub(r"\s*,\s*", ".", text.strip()))


def _read(state: SpielState, said: Array) -> SpielState:
    """Return `state` with what the host says of its history, the bytes of `facts_type`."""
    player, side = jax.lax.bitcast_convert_type(said[:2], jnp.int8)
    score = jax.lax.bitcast_convert_type(said[4:8], jnp.float32)
    return state._replace(player=player, side=side, over=said[2] != 0, score=score, legal=said[8:])


@functools.lru_cache(maxsize=64)
def _first(game: SpielGame) -> State:
    """Return the first state, on the host."""
    asked = np.full(game._room + 1, -1, np.int16)
    asked[-1] = 0
    said = game._host.facts(asked).view(facts_type(game.num_actions))[0]
    facts = {name: said[name] for name in ("player", "side", "over", "score", "legal")}
    return SpielState(asked[:-1], np.int32(0), np.int32(0), **facts)  # type: ignore[arg-type]
