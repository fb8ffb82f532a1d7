"""The laws of `Game`, checked on random play: for people who write a game, and for its tests.

>>> from beamzero.games import make_game
>>> check_laws(make_game("tic_tac_toe")).broken
[]
"""

from __future__ import annotations

import functools
import json
import random
import traceback
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games.game import CHANCE, Game, State, keep_if
from beamzero.games.shapes import describe_game_error, wrong_sizes, wrong_types
from beamzero.games.views import View

MOST_PLIES = 20_000
"""The most plies that are played: longer games are not played to their end."""

POSITIONS = 8
"""The number of positions, and of ends of games, whose boards, names and endings are checked."""


class Findings(NamedTuple):
    """The result of a check: broken laws, and counts of the random play."""

    broken: list[str]
    """A line for each law that does not hold. Some laws are only checked once the more basic ones hold."""
    games: int = 0
    positions: int = 0
    """The number of positions in which a side had to choose."""
    mean_plies: float = 0.0
    results: tuple[int, ...] = (0, 0, 0)
    """The number of games that the first side won, that were drawn, and that the second side won."""


def check_laws(game: Game, games: int = 64, seed: int = 0) -> Findings:
    """Play `games` random games, and check the laws of `Game` on them."""
    if broken := list(wrong_sizes(game)) or list(wrong_types(game)):
        return Findings(broken)
    keys = jax.random.split(jax.random.key(seed), games)
    plies = min(game.max_plies * (2 if game.num_chance else 1), MOST_PLIES) + 1
    played = jax.device_get(_play(game, plies, keys))
    broken = list(_rules(game, played, keys))
    broken = broken or [*_for_people(game, played, keys), *_symmetries(game, played, keys)]
    decisions, ends = _decisions(played), np.sign(played.score[-1, played.over[-1]])
    return Findings(
        broken,
        games,
        positions=int(decisions.sum()),
        mean_plies=float(decisions.sum(axis=0).mean()),
        results=tuple(int((ends == result).sum()) for result in (1, 0, -1)),
    )


@functools.lru_cache(maxsize=64)
def require_laws(game: Game, games: int = 16) -> None:
    """Raise BadInput, with the first law that does not hold, where random games of a user's game break one."""
    broken = check_laws(game, games).broken
    if broken:
        more = f" ({len(broken) - 1} more: beamzero check lists all)" if len(broken) > 1 else ""
        raise BadInput(f"{game.name} breaks a law of games: {broken[0]}{more}")


# --- random play -----------------------------------------------------------------------------------------------------


class _Played(NamedTuple):
    """Observations before each of T plies of N games; chance events count as plies."""

    action: Array  # int32 [T, N] played there, or the outcome of the dice
    player: Array  # int32 [T, N]
    next_side: Array  # int32 [T, N]
    choices: Array  # int32 [T, N] legal actions
    over: Array  # bool [T, N]
    score: Array  # float32 [T, N]
    packed: Array  # bool [T, N] whether `moves` lists exactly the legal ones
    finite: Array  # bool [T, N] whether `observe` gives numbers
    kept: Array  # bool [T, N] whether `step` with some action leaves the state as it is
    likely: Array  # bool [T, N] whether `chance` gives probabilities


@functools.partial(jax.jit, static_argnums=(0, 1))
def _play(game: Game, plies: int, keys: Array) -> _Played:
    def ply(states: State, now: Array) -> tuple[State, _Played]:
        draws = jax.vmap(functools.partial(jax.random.fold_in, data=now))(keys)
        seen = jax.vmap(functools.partial(_ask_rules, game))(states, draws)
        return jax.vmap(functools.partial(_advance, game))(states, seen.action), seen

    return jax.lax.scan(ply, jax.vmap(game.init)(keys), jnp.arange(plies))[1]


def _ask_rules(game: Game, state: State, key: Array) -> _Played:
    """Ask the rules about one state, and draw the action or the outcome that is played there."""
    choose, other = jax.random.split(key)
    legal, (moves, count) = game.legal(state), game.moves(state)
    listed = (jnp.arange(game.max_moves) < count).astype(jnp.int32)
    packed = jnp.zeros(game.num_actions, jnp.int32).at[moves].add(listed)
    action = jax.random.categorical(choose, jnp.where(legal, 0.0, -jnp.inf)).astype(jnp.int32)
    likely = jnp.bool_(True)
    if game.num_chance:
        chance = game.chance(state)
        outcome = jax.random.categorical(choose, jnp.log(chance)).astype(jnp.int32)
        action = jnp.where(game.player(state) == CHANCE, outcome, action)
        likely = jnp.all(chance >= 0) & (jnp.abs(jnp.sum(chance) - 1) < 1e-4)
    after = game.step(state, jax.random.randint(other, (), 0, game.num_actions, jnp.int32))
    pairs = zip(jax.tree.leaves(state), jax.tree.leaves(after), strict=True)
    return _Played(
        action,
        game.player(state),
        game.next_side(state),
        jnp.sum(legal, dtype=jnp.int32),
        game.over(state),
        game.score(state),
        jnp.all(packed == legal.astype(jnp.int32)) & (count == jnp.sum(legal, dtype=jnp.int32)),
        jnp.all(jnp.isfinite(game.observe(state))),
        jnp.all(jnp.stack([jnp.all(was == now) for was, now in pairs])),
        likely,
    )


def _advance(game: Game, state: State, action: Array) -> State:
    """Return the state after an action or an outcome; a finished game stays as it is, whatever `step` does to it."""
    after = game.step(state, action)
    if game.num_chance:
        rolled = game.resolve(state, jnp.minimum(action, game.num_chance - 1))
        after = keep_if(game.player(state) == CHANCE, rolled, after)
    return keep_if(game.over(state), state, after)


def _decisions(played: _Played) -> np.ndarray:
    """Tell, bool [T, N], before which plies a side has to choose."""
    return np.asarray(~played.over & (played.player != CHANCE))


def _rules(game: Game, played: _Played, keys: Array) -> Iterator[str]:
    """Describe the laws that the rules break, a line each, with the moves after which that was first seen."""
    running, choosing = ~played.over, _decisions(played)
    sides = (0, 1, CHANCE) if game.num_chance else (0, 1)
    plies = np.cumsum(choosing, axis=0)
    for wrong, law in (
        (running & ~np.isin(played.player, sides), lambda at: f"player is {played.player[at]}, but must be 0 or 1"),
        (
            running & ~np.isin(played.next_side, (0, 1)),
            lambda at: f"next_side is {played.next_side[at]}, but must say which side chooses after the chance event",
        ),
        (
            choosing & (played.next_side != played.player),
            lambda at: f"next_side is {played.next_side[at]}, but player {played.player[at]} is to move",
        ),
        (
            running[1:] & (played.player[1:] == CHANCE) & (played.player[:-1] == CHANCE),
            lambda at: "a chance event follows another: make one event of them",
        ),
        (choosing & (played.choices == 0), lambda at: "legal allows no move, but the game is not over"),
        (
            choosing & (played.choices > game.max_moves),
            lambda at: f"legal allows {played.choices[at]} moves, but max_moves is {game.max_moves}",
        ),
        (
            choosing & ~played.packed & (played.choices <= game.max_moves),
            lambda at: "moves does not list exactly what legal allows",
        ),
        (running & (played.score != 0), lambda at: f"score is {played.score[at]:g}, but the game is not over"),
        (
            played.over & ~(np.abs(played.score) <= 1),
            lambda at: f"score is {played.score[at]:g}, but must lie in [-1, 1]",
        ),
        (choosing & ~played.finite, lambda at: "observe gives what is not a finite number"),
        (
            played.over & ~played.kept,
            lambda at: "step changes a finished game: end it with keep_if(self.over(state), state, changed)",
        ),
        (running & ~choosing & ~played.likely, lambda at: "chance gives no probabilities that add up to 1"),
        (choosing & (plies > game.max_plies), lambda at: f"the game goes on, but max_plies is {game.max_plies}"),
    ):
        if wrong.any():
            at = tuple(np.argwhere(wrong)[0])
            yield f"{law(at)} ({_after(game, played, keys, *at)})"


def _after(game: Game, played: _Played, keys: Array, ply: int, row: int) -> str:
    """Describe a position by the moves that lead to it, or by the last ones of them."""
    names, state = [], game.init(keys[row])
    for number in range(ply):
        action = int(played.action[number, row])
        try:
            names.append("chance" if played.player[number, row] == CHANCE else str(game.action_name(state, action)))
        except Exception:
            names.append(f"action {action}")
        state = _move(game, state, action)
    if not names:
        return "at the start"
    return f"after {', '.join(names)}" if ply <= 12 else f"after {ply} moves, the last ones {', '.join(names[-6:])}"


_move = jax.jit(lambda game, state, action: _advance(game, state, jnp.int32(action)), static_argnums=0)


def _find(game: Game, played: _Played, keys: Array, ply: int, row: int) -> State:
    """Return the state of game `row` before ply `ply`, on the host."""
    state = game.init(keys[row])
    for number in range(ply):
        state = _move(game, state, int(played.action[number, row]))
    return jax.device_get(state)


# --- what people see -------------------------------------------------------------------------------------------------


def _for_people(game: Game, played: _Played, keys: Array) -> Iterator[str]:
    """Describe the faults of names, boards and endings, a line each; each kind of fault once."""
    draw = random.Random(0)
    choices = [tuple(at) for at in np.argwhere(_decisions(played))]
    ends = [(len(played.over) - 1, row) for row in np.flatnonzero(played.over[-1])]
    reported: set[str] = set()
    for places, find_faults in ((choices, _choice_faults), (ends, _end_faults)):
        for at in draw.sample(places, min(POSITIONS, len(places))):
            try:
                for kind, fault in find_faults(game, _find(game, played, keys, *at)):
                    if kind not in reported:
                        reported.add(kind)
                        yield f"{fault} ({_after(game, played, keys, *at)})"
            except Exception as error:
                asked = _asked(error)
                yield f"{asked}{describe_game_error(game, error)} ({_after(game, played, keys, *at)})"
                return


def _asked(error: Exception) -> str:
    """Say which method of a game failed: the first one for people that the error came through; "" for none."""
    called = (frame.name for frame in traceback.extract_tb(error.__traceback__))
    return next((f"{method} fails: " for method in called if method in _FOR_PEOPLE), "")


_FOR_PEOPLE = ("action_name", "parse_action", "show", "view", "places", "outcome_reason")
"""The methods of a game that run in plain Python."""


def _choice_faults(game: Game, state: State) -> Iterator[tuple[str, str]]:
    """Yield the faults of a position in which a side has to choose: the kind of fault, and a line about it."""
    names = {action: game.action_name(state, action) for action in game.legal_actions(state)}
    for action, name in names.items():
        first = next(other for other, same in names.items() if same == name)
        if not isinstance(name, str) or not name.strip() or "," in name or "\n" in name:
            yield "name", f"action_name calls a move {name!r}, but must give one line of text without a comma"
        elif first != action:
            yield "twice", f"action_name calls the actions {first} and {action} both {name!r}"
        elif len(set(names.values())) == len(names):
            yield from _read_back(game, state, name, action)
    legal = np.asarray(game.legal(state))
    draws = (np.arange(game.max_moves, dtype=np.float32) + np.float32(0.5)) / np.float32(legal.sum())
    picked = np.asarray(_picks(game, state, draws))
    if not np.array_equal(np.sort(picked[: legal.sum()]), np.flatnonzero(legal)):
        yield "pick", "pick does not give each legal action an equal share of [0, 1)"
    for seat in (0, 1):
        yield from _board_faults(game, state, seat)
    view = game.view(state)
    for action, name in names.items():
        places = game.places(state, action)
        if not isinstance(places, list) or len(places) > 2 or not all(_is_on(view, place) for place in places):
            yield "places", f"places gives {places!r} for {name!r}, but must give at most two places of the board"


def _is_on(view: View, place: Any) -> bool:
    """Tell whether `place` is one of the places on the board that a view describes."""
    if not (isinstance(place, list) and len(place) == 2 and all(type(number) is int for number in place)):
        return False
    if view["kind"] == "grid":
        return 0 <= place[0] < view["rows"] and 0 <= place[1] < view["columns"]
    if view["kind"] == "points":
        return place[1] in range(1, 25) if place[0] == 0 else place[0] in (1, 2) and place[1] in (0, 1)
    return view["kind"] != "sowing" or (place[0] in (0, 1) and 0 <= place[1] < len(view["houses"][place[0]]))


_picks = jax.jit(lambda game, state, draws: jax.vmap(functools.partial(game.pick, state))(draws), static_argnums=0)


def _read_back(game: Game, state: State, name: str, action: int) -> Iterator[tuple[str, str]]:
    try:
        found = game.parse_action(state, name)
    except BadInput as error:
        yield "parse", f"parse_action does not read {name!r}, which action_name gave: {error}"
    else:
        if found != action or isinstance(found, jax.Array):
            kind = "the JAX array " if isinstance(found, jax.Array) else "action "
            yield "parse", f"parse_action reads {name!r} as {kind}{found}, but it is the name of action {action}"


def _board_faults(game: Game, state: State, seat: int) -> Iterator[tuple[str, str]]:
    shown, view = game.show(state, seat), game.view(state, seat)
    if not isinstance(shown, str) or not shown.strip():
        yield "show", f"show gives {shown!r}, but must give lines of text"
    try:
        same = json.loads(json.dumps(view)) == view
    except TypeError:
        same = False
    if not same or not isinstance(view, dict) or "kind" not in view:
        yield "view", "view must give a dict with a kind, of plain numbers, texts, lists and dicts only"
    elif view["kind"] == "grid" and not _is_filled(view):
        yield "grid", f"view gives cells that are not {view.get('rows')} rows of {view.get('columns')}"


def _is_filled(view: Mapping[str, object]) -> bool:
    """Tell whether the cells of a grid are its rows and columns."""
    rows, columns, cells = map(view.get, ("rows", "columns", "cells"))
    if not isinstance(cells, list) or not isinstance(columns, int):
        return False
    return len(cells) == rows and all(isinstance(row, list) and len(row) == columns for row in cells)


def _end_faults(game: Game, state: State) -> Iterator[tuple[str, str]]:
    """Yield the faults of a finished game: the kind of fault, and a line about it."""
    reason, score = game.outcome_reason(state), float(game.score(state))
    if not isinstance(reason, str) or not reason.strip() or "\n" in reason:
        yield "reason", f"outcome_reason gives {reason!r}, but must give one line of text"
    elif score == 0 and "draw" not in reason:
        yield "draw", f"outcome_reason says {reason!r} of a drawn game, but must have the word draw in it"
    for seat in (0, 1):
        yield from _board_faults(game, state, seat)


# --- symmetries ------------------------------------------------------------------------------------------------------


def _symmetries(game: Game, played: _Played, keys: Array) -> Iterator[str]:
    """Describe the first fault of the mirror images: each must be another game that could be played."""
    if game.num_chance:
        return
    same, moved, alike = jax.device_get(_mirror(game, keys, jnp.asarray(played.action)))
    running = ~played.over
    for wrong, law in (
        (running & ~same, "the first of the symmetries is not the observation and the values themselves"),
        (running & ~moved, "symmetries must only move the values of actions about"),
        (~alike, "play the image of every move, and what is seen is not the image: symmetries do not fit the rules"),
    ):
        if wrong.any():
            yield f"{law} ({_after(game, played, keys, *np.argwhere(wrong)[0])})"
            return


@functools.partial(jax.jit, static_argnums=0)
def _mirror(game: Game, keys: Array, actions: Array) -> tuple[Array, Array, Array]:
    """Tell, bool [T, N] each, whether the first image is the original, values are only moved, and images can be played.

    Every image of a game is played beside it. An image of the first position that is another position cannot be
    reached, so there is nothing to hold against it.
    """
    numbers = jnp.arange(game.num_actions, dtype=jnp.float32)

    def one(key: Array, actions: Array) -> tuple[Array, Array, Array]:
        first = game.init(key)
        images, _ = game.symmetries(game.observe(first), numbers)
        reached = jnp.all((images == images[:1]).reshape(len(images), -1), axis=1)  # [S]

        def ply(pair: tuple[State, State], action: Array) -> tuple[tuple[State, State], tuple[Array, Array, Array]]:
            state, mirrored = pair
            observation, over = game.observe(state), game.over(state)
            images, turned = game.symmetries(observation, numbers)
            same = jnp.all(images[0] == observation) & jnp.all(turned[0] == numbers)
            moved = jnp.all(jnp.sort(turned, axis=1) == numbers[None])
            seen = jax.vmap(game.observe)(mirrored)
            alike = jnp.all((seen == images).reshape(len(images), -1), axis=1) | over
            ends = (jax.vmap(game.over)(mirrored) == over) & (jax.vmap(game.score)(mirrored) == game.score(state))
            mapped = jnp.argmax(turned == action.astype(jnp.float32), axis=1).astype(jnp.int32)
            after = jax.vmap(functools.partial(_advance, game))(mirrored, mapped)
            return (_advance(game, state, action), after), (same, moved, jnp.all(~reached | (alike & ends)))

        copies = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (len(images), *leaf.shape)), first)
        return jax.lax.scan(ply, (first, copies), actions)[1]

    return jax.vmap(one, (0, 1), 1)(keys, actions)
