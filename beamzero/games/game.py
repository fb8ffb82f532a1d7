"""`Game`, the protocol between the rules of a game and all that searches, trains, plays and draws it."""

from __future__ import annotations

import abc
import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.core.spec import quote
from beamzero.games.hashing import hash_words, words_of
from beamzero.games.places import Place, seen_places
from beamzero.games.views import View

if TYPE_CHECKING:
    from beamzero.games.position import Position

State = Any
"""A NamedTuple of arrays: the whole position, and nothing that is not in the rules."""

OneState = TypeVar("OneState")
"""The class of a game's states."""

CHANCE = -1
"""The answer of `Game.player` where a chance event, such as dice, comes next."""

OPEN = -1
"""A seat that sees everything, as people may who look at a game that is over."""

RULES = (
    *("init", "player", "next_side", "seat", "legal", "moves", "pick", "step", "chance", "resolve", "determinize"),
    *("over", "score", "observe", "symmetries", "features", "noisy", "must_answer", "order", "hash"),
)
"""The names of those methods of a game that are pure functions of arrays."""


def _compile_rules(cls: type) -> None:
    """Compile each rule that a class defines, so that a call from plain Python runs one program.

    Without this it would run one operation at a time, each compiled on its own. A program that calls a rule gets its
    operations as if they stood there, and traces them once for all programs.
    """
    for name, rule in vars(cls).copy().items():
        # What is no method stays as it is, for `beamzero check` to name.
        if name in RULES and callable(rule) and not getattr(rule, "__isabstractmethod__", False):
            setattr(cls, name, _explaining(jax.jit(rule, static_argnums=0, inline=True), name))


def _explaining(program: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Make a rule that says what to pass where it was given a text or a `Position`, in place of JAX's error."""

    @functools.wraps(program)
    def rule(game: Game, *arguments: Any, **named: Any) -> Any:
        try:
            return program(game, *arguments, **named)
        except TypeError:
            for argument in (*arguments, *named.values()):
                if isinstance(argument, str):
                    raise BadInput(
                        f"{name} takes the number of an action, not {argument!r}: position.play({argument!r}) takes its"
                        f" name, and game.parse_action(state, {argument!r}) gives its number"
                    ) from None
                if hasattr(argument, "state") and hasattr(argument, "to_svg"):
                    raise BadInput(f"{name} takes a state, not a Position: position.state is one") from None
            raise

    return rule


def _is_class_variable(cls: type, name: str) -> bool:
    return "ClassVar" in str(inspect.get_annotations(cls)[name])


class Game(abc.ABC):
    """The rules of one game, as pure functions of one state. Batch them with `jax.vmap`.

    A game is a frozen dataclass whose fields are its parameters, so that equal games compile once.

    Laws, which the tests check on random play for every registered game:

    - a decision state that is not over has a legal move;
    - `moves` packs exactly what `legal` allows, in rising order unless a game says otherwise, at most `max_moves`;
    - `pick` gives each legal action an equal share of [0, 1);
    - `step` never changes a finished game;
    - `score` lies in [-1, 1] and is 0 while the game runs;
    - ``parse_action(state, action_name(state, action)) == action`` for every legal action;
    - after a chance event a side has to choose, or the game is over: events that follow each other are one.

    `step` with an illegal action is undefined: callers choose from `legal`.

    Called outside of a program, each rule is compiled as a whole, so that they can be tried out one at a time.

    >>> import jax
    >>> import beamzero as bz
    >>> game = bz.make_game("connect_four")
    >>> state = game.init(jax.random.key(0))
    >>> state = game.step(state, game.parse_action(state, "d"))
    >>> int(game.player(state)), bool(game.over(state)), int(game.legal(state).sum())
    (1, False, 7)
    >>> states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), 100))    # a batch of 100
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in inspect.get_annotations(cls):
            if isinstance(vars(cls).get(name), jax.Array | np.ndarray) and not _is_class_variable(cls, name):
                raise TypeError(
                    f"{name} is an array, but a field is a parameter, a bool, int, float or str: write {name}:"
                    " ClassVar[np.ndarray] = np.array(...), or put it above the class"
                )
        _compile_rules(cls)

    name: ClassVar[str] = ""
    """The game's name on the command line and in files. `make_game` gives one to a class that has none."""

    source: ClassVar[str | None] = None
    """The file and class of a game that comes from a user's file, ``mygame.py:MyGame``; None for all others."""

    num_chance: int = 0
    """C: the number of outcomes of a chance event; 0 in a game without chance events."""

    unit: ClassVar[str] = "points"
    """The unit in which players count, where a win can be worth more or less; see `stake`."""

    hidden: ClassVar[bool] = False
    """True if a player sees only a part of the state: `observe`, `show` and `view` tell only what a seat may know. All
    that is hidden was dealt at the start: moves are seen by all."""

    @property
    @abc.abstractmethod
    def num_actions(self) -> int:
        """A: the number of actions, which is the width of the policy and Q heads."""

    @property
    @abc.abstractmethod
    def max_moves(self) -> int:
        """K: the most legal moves in any reachable state, which is the width of a search node."""

    @property
    @abc.abstractmethod
    def max_plies(self) -> int:
        """The most moves of a game: a longer one is a draw."""

    @property
    @abc.abstractmethod
    def observation_shape(self) -> tuple[int, ...]:
        """The shape of `observe`."""

    @property
    def stake(self) -> int:
        """The worth of a score of 1 in the `unit` in which players count."""
        return 1

    @property
    def identity(self) -> str:
        """The rules in one line: name and parameters, ``connect_four:rows=7``. Agents play only what they learned."""
        options = self._changed_parameters()
        return self.name + (":" + ",".join(options) if options else "")

    @property
    def spec(self) -> str:
        """The text from which `make_game` makes this game again: its identity, or the file it comes from."""
        if self.source is None:
            return self.identity
        return ",".join([self.source, *self._changed_parameters()])

    def _changed_parameters(self) -> list[str]:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        values = {field.name: getattr(self, field.name) for field in fields}
        return [f"{field.name}={quote(values[field.name])}" for field in fields if values[field.name] != field.default]

    # --- the rules -------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def init(self, key: Array) -> State:
        """Return the first state. The key deals the cards or draws the starter; most games ignore it."""

    def deals(self) -> list[tuple[float, State]]:
        """List every first state, on the host, with its probability; BadInput where there are too many."""
        raise BadInput(f"{self.name} does not list its deals")

    @property
    def lists_deals(self) -> bool:
        """True if `deals` lists all first states, so that all of the game can be gone through."""
        return type(self).deals is not Game.deals

    @abc.abstractmethod
    def player(self, state: State) -> Array:
        """Return the side to move, int32 []: 0 or 1, or CHANCE. Meaningless once the game is over."""

    def next_side(self, state: State) -> Array:
        """Return the side that chooses next, int32 []: 0 or 1. A game with dice writes this; the default is `player`.

        `observe` and `features` of a state where a chance event comes next are from this side.
        """
        return self.player(state)

    def seat(self, state: State) -> Array:
        """Return the seat that chooses, int32 [], where a side has several hands; the side to move by default."""
        return self.player(state)

    @abc.abstractmethod
    def legal(self, state: State) -> Array:
        """Return which actions are legal, bool [A]. Meaningless once the game is over."""

    def moves(self, state: State) -> tuple[Array, Array]:
        """Return the legal actions, int32 [K], packed to the front, zeros after them; and their number, int32 []."""
        legal = self.legal(state)
        rank = jnp.cumsum(legal.astype(jnp.int32)) - 1
        slots = jnp.arange(self.max_moves, dtype=jnp.int32)
        chosen = legal[None] & (rank[None] == slots[:, None])  # [K, A]
        actions = jnp.arange(self.num_actions, dtype=jnp.int32)
        return jnp.sum(jnp.where(chosen, actions[None], 0), axis=1, dtype=jnp.int32), rank[-1] + 1

    def pick(self, state: State, draw: Array) -> Array:
        """Return the legal action, int32 [], that `draw`, a float32 of [0, 1), picks; all are equally likely."""
        upto = jnp.cumsum(self.legal(state).astype(jnp.int32))
        rank = jnp.minimum((draw * upto[-1].astype(jnp.float32)).astype(jnp.int32), upto[-1] - 1)
        return jnp.sum(upto <= rank, dtype=jnp.int32)

    @abc.abstractmethod
    def step(self, state: State, action: Array) -> State:
        """Return the state after `action`. Deterministic; a finished game stays as it is."""

    def chance(self, state: State) -> Array:
        """Return the probability of each outcome of the chance event that comes next, float32 [C]."""
        raise NotImplementedError(f"{self.name} has no chance events")

    def resolve(self, state: State, outcome: Array) -> State:
        """Return the state after the chance event that comes next had the outcome `outcome`, int32 []."""
        raise NotImplementedError(f"{self.name} has no chance events")

    def outcome_name(self, state: State, outcome: int) -> str:
        """Name the outcome of a chance event as players do, such as 6-5 of two dice."""
        return str(outcome)

    def determinize(self, state: State, seat: Array, key: Array) -> State:
        """Deal anew what `seat` does not know, and return a state that it cannot tell from this one.

        Every deal that agrees with what `seat` has seen is as likely as the rules make it. Where nothing is hidden, the
        state itself.
        """
        return state

    @abc.abstractmethod
    def over(self, state: State) -> Array:
        """Tell, bool [], whether the game has ended."""

    @abc.abstractmethod
    def score(self, state: State) -> Array:
        """Return the result for side 0, float32 [], in [-1, 1]; 0 while the game runs."""

    @abc.abstractmethod
    def observe(self, state: State) -> Array:
        """Return what a net sees, float32 [*observation_shape], from the side of the seat to move."""

    def symmetries(self, observation: Array, values: Array) -> tuple[Array, Array]:
        """Return all pairs that are equivalent to an observation and its [A] action values, stacked.

        Their shapes are [S, *observation_shape] and [S, A].

        The first is the pair itself.
        """
        return observation[None], values[None]

    # --- for searches: what a game can say to make them faster and wiser, all of it optional -----------------------

    feature_names: ClassVar[tuple[str, ...]] = ()
    """The names of what `features` counts, in its order; none where a game has no evaluation of its own."""

    point_weights: ClassVar[tuple[float, ...]] = ()
    """The points that one of each feature is worth, set by hand: in chess a pawn is worth one point."""

    point: ClassVar[float] = 0.5
    """The share of one point in the logarithm of the odds of winning; ``tanh(point * points / 2)`` is a value."""

    def features(self, state: State) -> Array:
        """Count features, float32 [len(feature_names)]: those of the side to move less those of the other side.

        The same position with the sides' parts exchanged has the same features with the other sign, but for what the
        right to move is worth.
        """
        return jnp.zeros(0, jnp.float32)

    search_lanes: ClassVar[int] = 1
    """The nodes that alpha-beta expands at once under a clock, where that is faster (``benchmarks/lanes.py``)."""

    def noisy(self, state: State, action: Array) -> Array:
        """Tell, bool [], whether a legal action may change the evaluation much, such as a capture.

        A quiescence search follows only such moves beyond its depth. A game without them has none.
        """
        return jnp.bool_(False)

    def must_answer(self, state: State) -> Array:
        """Tell, bool [], whether the side to move is forced to react, as in check, so that all its moves count."""
        return jnp.bool_(False)

    def order(self, state: State, action: Array) -> Array:
        """Rate a legal action, int32 [] of 0 to 255: a search looks at those with the highest number first."""
        return jnp.int32(0)

    def hash(self, state: State) -> Array:
        """Return a key for tables of positions, uint32 [2]. States with the same key have the same continuations.

        By default all of the state is in it. A game may leave out what does not change what can follow, such as the
        number of moves made so far; where that matters only near a limit, it may be left out far from it (a search
        looks at most 64 plies ahead, noisy moves aside).
        """
        return hash_words(*words_of(state))

    # --- for other programs ----------------------------------------------------------------------------------------

    speaks_uci: ClassVar[bool] = False
    """True if chess programs play it by UCI; programs of all other games speak GTP."""

    uci_variant: ClassVar[str | None] = None
    """The name of the game in `UCI_Variant`; None for the game that every chess program plays."""

    speaks_nboard: bool = False
    """True if NBoard, a program for Othello on 8 x 8 squares, plays it."""

    @property
    def gtp_size(self) -> int | None:
        """The length of the board's side, which programs that speak GTP are told: the parameter `size`, if any."""
        size = dataclasses.asdict(self).get("size")  # type: ignore[call-overload]
        return size if isinstance(size, int) else None

    def gtp_move(self, name: str) -> str:
        """Write the move that the game calls `name` as GTP does, by default in the same way."""
        return name

    def lead(self, state: State) -> float:
        """Count by how much side 0 leads at the end of a game, in what players count: 1 for a win by default."""
        return float(self.score(state))

    # --- for people ------------------------------------------------------------------------------------------------

    def show(self, state: State, seat: int = 0) -> str:
        """Draw the board as lines of text, as `seat` may see it; all of it for OPEN."""
        return str(state)

    @abc.abstractmethod
    def action_name(self, state: State, action: int) -> str:
        """Name a legal move as players of the game do."""

    def parse_action(self, state: State, text: str) -> int:
        """Return the legal action that `text` names; BadInput with the legal names where it names none."""
        names = {self.action_name(state, action): action for action in self.legal_actions(state)}
        wanted = text.strip()
        if wanted in names:
            return names[wanted]
        folded = {name.lower(): action for name, action in names.items()}
        if wanted.lower() in folded and len(folded) == len(names):
            return folded[wanted.lower()]
        raise BadInput(f"{wanted!r} is not a legal move here (legal: {' '.join(names) or 'none, the game is over'})")

    def legal_actions(self, state: State) -> list[int]:
        """List the legal actions as Python numbers; none once the game is over."""
        return np.flatnonzero(_legal_now(self, state)).tolist()

    @staticmethod
    def write_moves(moves: Sequence[str]) -> str:
        """Write the names of the moves of a game in one line, as players of it do: by default with spaces between."""
        return " ".join(moves)

    @staticmethod
    def read_moves(line: str) -> list[str]:
        """Read the names of moves from a line that `write_moves` or a player of the game wrote."""
        return line.split()

    def write_position(self, state: State) -> str:
        """Write the position in the notation of the game's players, FEN in chess; BadInput where there is none."""
        raise BadInput(f"{self.name} has no notation for positions")

    def read_position(self, text: str) -> State:
        """Read a position in the notation of `write_position`; BadInput where there can be no such position."""
        raise BadInput(f"{self.name} has no notation for positions: give the moves instead")

    def play_on(self, state: State) -> State:
        """Return `state` as if the game went on, where people have to claim its end; else as it is."""
        return state

    def outcome_reason(self, state: State) -> str:
        """Say in a few words why a finished game ended as it did."""
        score = float(self.score(state))
        return "draw" if score == 0 else f"{'first' if score > 0 else 'second'} player wins"

    def view(self, state: State, seat: int = 0) -> View:
        """Describe the board, as `seat` may see it, all of it for OPEN, as JSON-able data; `View` lists the kinds."""
        return {"kind": "text", "text": self.show(state, seat)}

    def position(self, moves: str | Sequence[str] = (), start: str | None = None) -> Position:
        """Make the position after `moves`, such as "d d c", from the first one or from `start` in the game's notation.

        It draws itself in a notebook. ``position.state`` is what the rules take.
        """
        from beamzero.games.position import make_position

        return make_position(self, moves, start)

    def places(self, state: State, action: int) -> list[Place]:
        """List the places of a legal move on the board that `view` describes: where a person clicks.

        One place, such as [row, column] on a grid or [side, house] on a sowing board; two, from and to; or none, for a
        move such as a pass. Several moves may have the same places. By default they are
        found by comparing the boards before and after the move.
        """
        after = _step(self, state, action)
        return seen_places(self.view(state), self.view(after), int(self.player(state)))


_compile_rules(Game)


@functools.partial(jax.jit, static_argnums=0)
def _step(game: Game, state: State, action: int | Array) -> State:
    return game.step(state, jnp.asarray(action, jnp.int32))


@functools.partial(jax.jit, static_argnums=0)
def _legal_now(game: Game, state: State) -> Array:
    return game.legal(state) & ~game.over(state)


def keep_if(condition: Array, kept: OneState, changed: OneState) -> OneState:
    """Return `kept` where `condition` [] holds, else `changed`; both are one state."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), kept, changed)
