"""Games of the pgx library, named ``pgx:go_9x9``: two players, open information, no dice.

Side 0 is the player who moves first. pgx draws by a key which of its two players that is, and that is all the key does
in these games; so one state in which player 0 begins serves as the first state of every game.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import importlib.util
import itertools
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.core.spec import unknown
from beamzero.games.game import Game, State
from beamzero.games.pgx.boards import BOARDS
from beamzero.games.views import View


class _Bounds(NamedTuple):
    moves: int  # no reachable state has more legal moves
    plies: int  # no game is longer


PGX_GAMES = {
    # At most three kinds in hand and seven empty squares beside a lion, a hen, an elephant and a giraffe: 21 + 22.
    "animal_shogi": _Bounds(43, 256),
    # The known maximum, as that of shogi.
    "chess": _Bounds(218, 512),
    "connect_four": _Bounds(7, 42),
    # Six queens of 16 moves, and a king, rook, bishop and knight of 8.
    "gardner_chess": _Bounds(128, 256),
    "go_9x9": _Bounds(82, 2 * 81),
    "go_19x19": _Bounds(362, 2 * 361),
    # The second player may swap instead of moving: as good as the square that is taken, and a ply without a stone.
    "hex": _Bounds(121, 122),
    # Moves as in `othello/game.py`; the only two passes in a row are the last.
    "othello": _Bounds(33, 2 * 60 - 1),
    "shogi": _Bounds(593, 512),
    "tic_tac_toe": _Bounds(9, 9),
}
"""The games of pgx that can be played, with bounds that pgx's rules guarantee."""

_REFUSED = {
    "2048": "it has one player",
    "backgammon": "it has dice",
    "bridge_bidding": "it has four players and hidden cards",
    "kuhn_poker": "it has hidden cards",
    "leduc_holdem": "it has hidden cards",
    "mahjong": "it has four players and hidden tiles",
    "sparrow_mahjong": "it has three players and hidden tiles",
}


@functools.cache
def find_pgx_game(env: str) -> type[Game]:
    """Find the class of pgx's game `env`: one object for all calls, so that equal games stay equal."""
    allowed = ", ".join(PGX_GAMES)
    why = "it has one player" if env.startswith("minatar") else _REFUSED.get(env)
    if why is not None:
        raise BadInput(f"pgx:{env} cannot be played, for {why} (pgx games that can be: {allowed})")
    if env not in PGX_GAMES:
        raise unknown("pgx game", env, PGX_GAMES)
    if importlib.util.find_spec("pgx") is None:
        raise BadInput(f"pgx:{env} needs pgx, which is not installed: pip install 'beamzero[pgx]'")
    try:
        rules = _Rules(env)
    except Exception as error:
        raise BadInput(f"pgx:{env} cannot be loaded: {' '.join(f'{type(error).__name__}: {error}'.split())}") from error
    return type(f"Pgx_{env}", (PgxGame,), {"name": f"pgx:{env}", "_env": env, "_rules": rules})


@contextlib.contextmanager
def _relaxed() -> Iterator[None]:
    """Allow JAX's usual promotion of dtypes and ranks, which pgx is written for."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


class _Rules:
    """pgx's rules of one game, and how its states are kept here: without what never changes or can be computed.

    A kept state is a NamedTuple with a field for each array that pgx's state needs, boards and counts (none of which
    exceeds a few hundred) in 16 bits, the legal actions as bits, and `score`, the result for side 0.
    """

    _LEFT_OUT = ("observation", "rewards", "truncated", "player_order", "x_legal_action_mask")

    def __init__(self, env: str) -> None:
        import pgx

        with _relaxed():
            self.env = pgx.make(env)
            init = jax.jit(self.env.init)
            starts = (init(jax.random.key(seed)) for seed in itertools.count())
            self.first = jax.device_get(next(start for start in starts if int(start.current_player) == 0))
        paths, self._structure = jax.tree_util.tree_flatten_with_path(self.first)
        self._fields = [
            jax.tree_util.keystr(path).lstrip("._").replace("._", "_").replace(".", "_") for path, _ in paths
        ]
        self._leaves = [leaf for _, leaf in paths]
        kept = [field for field in self._fields if field not in self._LEFT_OUT]
        state = collections.namedtuple(f"{env}_state", [*kept, "score"])  # type: ignore[misc]
        self._state: Any = state
        self.start = jax.device_get(jax.jit(self.keep)(self.first, jnp.float32(0)))

    def keep(self, state: Any, score: Array) -> State:
        """Convert pgx's state, with the result for side 0, to one of fewer bytes."""
        leaves = dict(zip(self._fields, jax.tree.leaves(state), strict=True))
        kept = {field: leaves[field] for field in self._state._fields if field in leaves}
        kept = {field: x.astype(jnp.int16) if x.dtype == jnp.int32 else x for field, x in kept.items()}
        return self._state(**{**kept, "legal_action_mask": jnp.packbits(kept["legal_action_mask"]), "score": score})

    def restore(self, state: State) -> Any:
        """Convert a kept state back to pgx's, which needs no observation and no reward."""
        kept = {**state._asdict(), "legal_action_mask": self.legal(state)}
        kept["x_legal_action_mask"] = kept["legal_action_mask"]
        leaves = [jnp.asarray(kept.get(field, leaf), leaf.dtype) for field, leaf in zip(self._fields, self._leaves)]
        return jax.tree.unflatten(self._structure, leaves)

    def legal(self, state: State) -> Array:
        return jnp.unpackbits(state.legal_action_mask, count=self.first.legal_action_mask.size).astype(jnp.bool_)


@dataclasses.dataclass(frozen=True)
class PgxGame(Game):
    """A game of the pgx library, by its rules. Actions, observations and the longest game are pgx's."""

    _env: ClassVar[str]
    _rules: ClassVar[_Rules]

    @property
    def num_actions(self) -> int:
        return self._rules.first.legal_action_mask.size

    @property
    def max_moves(self) -> int:
        return PGX_GAMES[self._env].moves

    @property
    def max_plies(self) -> int:
        return PGX_GAMES[self._env].plies

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return self._rules.first.observation.shape

    def init(self, key: Array) -> State:
        return jax.tree.map(jnp.asarray, self._rules.start)

    def player(self, state: State) -> Array:
        return jnp.asarray(state.current_player, jnp.int32)

    def legal(self, state: State) -> Array:
        return self._rules.legal(state)

    def moves(self, state: State) -> tuple[Array, Array]:
        legal = self.legal(state)
        count = jnp.sum(legal, dtype=jnp.int32)
        return jnp.nonzero(legal, size=self.max_moves, fill_value=0)[0].astype(jnp.int32), count

    # Compiled also where one state is stepped alone: pgx branches on values, and would be compiled again each time.
    @functools.partial(jax.jit, static_argnums=0)
    def step(self, state: State, action: Array) -> State:
        rules = self._rules
        with _relaxed():
            after = rules.env.step(rules.restore(state), jnp.asarray(action, jnp.int32))
        # pgx leaves a finished game as it is, but for its rewards.
        return rules.keep(after, jnp.where(state.terminated, state.score, after.rewards[0]))

    def over(self, state: State) -> Array:
        return jnp.asarray(state.terminated)

    def score(self, state: State) -> Array:
        return jnp.asarray(state.score)

    @functools.partial(jax.jit, static_argnums=0)
    def observe(self, state: State) -> Array:
        rules = self._rules
        with _relaxed():
            return rules.env.observe(rules.restore(state)).astype(jnp.float32)

    # --- for people ------------------------------------------------------------------------------------------------

    def show(self, state: State, seat: int = 0) -> str:
        return BOARDS[self._env].show(state)

    def view(self, state: State, seat: int = 0) -> View:
        return BOARDS[self._env].view(state)

    def action_name(self, state: State, action: int) -> str:
        return BOARDS[self._env].name(state, action)

    def outcome_reason(self, state: State) -> str:
        return BOARDS[self._env].reason(state)
