"""Faults of a game that can be seen without playing it: sizes, shapes, dtypes, rules that do not compile."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax.tree_util import keystr, tree_leaves_with_path

from beamzero.core.user_code import describe_error, source_files, user_modules
from beamzero.games.game import Game


def broken_by_user() -> str | None:
    """Describe the first fault of a game in a user's file that was loaded; None where there seems to be none."""
    for kind in (kind for module in user_modules() for kind in vars(module).values()):
        if inspect.isclass(kind) and issubclass(kind, Game) and kind.source is not None:
            with contextlib.suppress(Exception):  # of a game that cannot be made without parameters
                game = kind()
                for fault in list(wrong_sizes(game)) or list(wrong_types(game)):
                    return f"{kind.source} breaks a law of games: {fault} (beamzero check lists all that is broken)"
    return None


def wrong_sizes(game: Game) -> Iterator[str]:
    """Describe the sizes of a game that are no sizes, a line each."""
    for name, low in (("num_actions", 1), ("max_moves", 1), ("max_plies", 1), ("num_chance", 0)):
        value = getattr(game, name)
        if type(value) is not int or value < low:
            yield f"{name} is {value!r}, but must be a whole number, {low} or more"
        elif name == "max_moves" and value > game.num_actions:
            yield f"max_moves is {value}, but there are only {game.num_actions} actions"
    shape = game.observation_shape
    if type(shape) is not tuple or not shape or not all(type(size) is int and size > 0 for size in shape):
        yield f"observation_shape is {shape!r}, but must be a tuple of whole numbers, 1 or more each"
    for name in ("stake", "feature_names", "point_weights", "point"):
        if any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(getattr(game, name))):
            yield f"{name} is a JAX array, which is kept on the device, but must be plain numbers or texts of Python"


def wrong_types(game: Game) -> Iterator[str]:
    """Describe the rules that cannot be compiled or give other shapes than they must, a line each; none is run."""
    state, fault = _trace(game, "init", jax.eval_shape(lambda: jax.random.key(0)))
    if fault or not hasattr(state, "_fields"):
        yield fault or f"init gives a {type(state).__name__}, but must give a NamedTuple of arrays"
        return
    fields = _describe(state, weak=True)
    if weak := [name for name, text in fields.items() if text.startswith("weak")]:
        yield f"init gives plain numbers as {', '.join(weak)}: write jnp.int32(0) in place of 0"
        return
    action, draw = jax.ShapeDtypeStruct((), jnp.int32), jax.ShapeDtypeStruct((), jnp.float32)
    observation = jax.ShapeDtypeStruct(game.observation_shape, jnp.float32)
    values = jax.ShapeDtypeStruct((game.num_actions,), jnp.float32)
    number, yes_or_no = "int32 []", "bool []"
    yield from _compare(game, "player", number, state)
    yield from _compare(game, "legal", f"bool [{game.num_actions}]", state)
    yield from _compare(game, "moves", f"int32 [{game.max_moves}], {number}", state)
    yield from _compare(game, "pick", number, state, draw)
    yield from _compare(game, "over", yes_or_no, state)
    yield from _compare(game, "score", "float32 []", state)
    yield from _compare(game, "observe", _type("float32", game.observation_shape), state)
    shapes = f"float32 [S, {str(game.observation_shape)[1:-1].rstrip(',')}], float32 [S, {game.num_actions}]"
    yield from _compare(game, "symmetries", shapes, observation, values)
    if game.num_chance:
        yield from _compare(game, "chance", f"float32 [{game.num_chance}]", state)
    for name in ("step", "resolve") if game.num_chance else ("step",):
        after, fault = _trace(game, name, state, action)
        found = _describe(after, weak=True)
        if fault or found.keys() != fields.keys():
            given = ", ".join(filter(None, found)) or "no NamedTuple"
            yield fault or f"{name} gives {given}, but init gives {', '.join(fields)}"
        else:
            for field in fields:
                if found[field] != fields[field]:
                    yield f"{name} gives {field} as {found[field]}, but init gives {fields[field]}"


def _compare(game: Game, name: str, expected: str, *arguments: Any) -> Iterator[str]:
    """Describe how the shapes and dtypes that a rule gives differ from `expected`, where S is a number of 1 or more."""
    found, fault = _trace(game, name, *arguments)
    given = ", ".join(_describe(found).values()) or "nothing"
    pattern = re.escape(expected).replace("S", r"([1-9]\d*)", 1).replace("S", r"\1")
    if fault:
        yield f"{fault}; it must give {expected}"
    elif not re.fullmatch(pattern, given):
        yield f"{name} gives {given}, but must give {expected}"
    elif not (isinstance(found, tuple | list) if expected.count("[") > 1 else hasattr(found, "shape")):
        yield f"{name} gives a {type(found).__name__} of {given}, but must give {expected}"


def _trace(game: Game, name: str, *arguments: Any) -> tuple[Any, str]:
    """Trace a rule: returns the shapes that it gives, or None and the line that says why it cannot be compiled."""
    if not callable(rule := getattr(game, name)):
        return None, f"{name} is a {type(rule).__name__}, but must be a method"
    try:
        return jax.eval_shape(rule, *arguments), ""
    except Exception as error:
        return None, f"{name} cannot be compiled: {describe_game_error(game, error)}"


def _describe(tree: Any, weak: bool = False) -> dict[str, str]:
    """Write the shape and dtype of every array of a pytree by its name, such as ``bool [3, 3]``."""
    return {
        keystr(path).lstrip("."): ("weak " if weak and leaf.weak_type else "") + _type(leaf.dtype, leaf.shape)
        for path, leaf in tree_leaves_with_path(tree)
    }


def _type(dtype: Any, shape: tuple[int, ...]) -> str:
    return f"{dtype} {list(shape)}"


def describe_game_error(game: Game, error: Exception) -> str:
    """Describe an error of a game's rules in one line, with the last line of the game's own files that it passed."""
    own = (kind for kind in type(game).__mro__ if kind not in (*Game.__mro__, object))
    return describe_error(error, source_files(*own))
