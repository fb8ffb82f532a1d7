"""A game as an environment of pgx, for trainers that are written for those."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.drawing import draw_svg
from beamzero.games import Game, State, make_game
from beamzero.games.chance import resolve_chance
from beamzero.games.chess.board import once
from beamzero.games.game import OPEN

try:
    from pgx._src.struct import dataclass as struct
    from pgx.core import Env
    from pgx.core import State as PgxState
except ImportError as error:
    raise ImportError("this adapter needs pgx, which is missing: pip install 'beamzero[pgx]'") from error


def pgx_env(game: str | Game) -> GameEnv:
    """Make an environment of a game: the same one for the same game, so that it compiles once."""
    return _make_env(make_game(game))


@functools.lru_cache(maxsize=64)
def _make_env(game: Game) -> GameEnv:
    return GameEnv(game)


class GameEnv(Env):
    """A game as an environment of pgx.

    `init` draws by its key which of the two players moves first, as pgx's own environments do; `current_player` is a
    player, not a side. A side may move twice in a row. Where the game has dice or the like, `step` needs a key.
    """

    def __init__(self, game: Game) -> None:
        super().__init__()
        if type(game).seat is not Game.seat:
            raise BadInput(f"{game.name} cannot be an environment of pgx, for a side has several hands in it")
        self.game = game
        self._state_type = _make_state_type(game)

    def _init(self, key: Array) -> Any:
        deal, order, dice = jax.random.split(key, 3)
        state = resolve_chance(self.game, self.game.init(deal), jax.random.uniform(dice))
        first = jax.random.bernoulli(order).astype(jnp.int32)
        return self._state_type(
            current_player=self.game.player(state) ^ first,
            observation=jnp.zeros(self.game.observation_shape, jnp.float32),
            rewards=jnp.zeros(2, jnp.float32),
            terminated=self.game.over(state),
            truncated=jnp.bool_(False),
            legal_action_mask=self.game.legal(state),
            _step_count=jnp.int32(0),
            _first=first,
            _state=state,
        )

    def _step(self, state: Any, action: Array, key: Array | None) -> Any:
        if key is None and self.game.num_chance:
            raise BadInput(f"chance decides in {self.game.name}: step(state, action, key) needs a key")
        after = self.game.step(state._state, jnp.asarray(action, jnp.int32))
        if key is not None:
            after = resolve_chance(self.game, after, jax.random.uniform(key))
        after = _computed_once(after)
        over, score = self.game.over(after), self.game.score(after)
        of_sides = jnp.stack([score, -score])
        return state.replace(
            current_player=jnp.where(over, 1 - state.current_player, self.game.player(after) ^ state._first),
            rewards=jnp.where(state._first == 0, of_sides, of_sides[::-1]),
            terminated=over,
            legal_action_mask=self.game.legal(after),
            _state=after,
        )

    def _observe(self, state: Any, player_id: Array) -> Array:
        """Return what the side to move sees; where cards are hidden, zeros once the game is over."""
        seen = self.game.observe(state._state)
        return jnp.where(state.terminated, jnp.zeros_like(seen), seen) if self.game.hidden else seen

    @property
    def id(self) -> Any:
        return _id_of(self.game)

    @property
    def version(self) -> str:
        return "v1"

    @property
    def num_players(self) -> int:
        return 2

    @property
    def num_actions(self) -> int:
        return self.game.num_actions

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return self.game.observation_shape


def _computed_once(state: State) -> State:
    """Return `state` such that XLA does not step again for each number of what is seen of it."""
    leaves, structure = jax.tree.flatten(state)
    whole = [i for i, leaf in enumerate(leaves) if not jnp.issubdtype(leaf.dtype, jnp.floating)]
    for i, leaf in zip(whole, once([leaves[i] for i in whole]), strict=True):
        leaves[i] = leaf
    return jax.tree.unflatten(structure, leaves)


def _id_of(game: Game) -> str:
    return f"beamzero:{game.spec}"


@functools.lru_cache(maxsize=64)
def _make_state_type(game: Game) -> Any:
    """Make the class of the states of a game, which pgx asks for the name of the game."""
    return struct(type("GameState", (_GameState,), {"_game": game, "__annotations__": {}}))


@struct
class _GameState(PgxState):
    """A state as pgx has it. `observation` is what the player to move sees."""

    current_player: Array  # int32 [] 0 or 1
    observation: Array  # float32 [*observation_shape]
    rewards: Array  # float32 [2] of player 0 and of player 1
    terminated: Array  # bool []
    truncated: Array  # bool [] never
    legal_action_mask: Array  # bool [A]
    _step_count: Array  # int32 []
    _first: Array  # int32 [] the player who has side 0
    _state: Any  # the position

    _game: ClassVar[Game]

    @property
    def env_id(self) -> Any:
        return _id_of(self._game)

    def to_svg(self, *, color_theme: str | None = None, scale: float | None = None) -> str:
        """Draw the board as SVG, that of the first state of a batch; it has one theme."""
        row = (0,) * jnp.ndim(self.terminated)
        state = jax.tree.map(lambda leaf: leaf[row], jax.device_get(self._state))
        seat = OPEN if self._game.hidden else 0
        return str(draw_svg(self._game.view(state, seat), size=round(480 * (scale or 1))))

    def save_svg(self, filename: str, *, color_theme: str | None = None, scale: float | None = None) -> None:
        Path(filename).write_text(self.to_svg(scale=scale), encoding="utf-8")
