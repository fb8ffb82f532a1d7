"""The weights of a game's evaluation as one small JSON file: the game, its features, and how they were made.

A person can read it; a change by a person, or by a failing disk, is noticed by its SHA-256.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beamzero.core.errors import BadInput, RunStopped
from beamzero.games import Game
from beamzero.storage.files import check_writable, read_file, reason, taking_turns, write_atomically, writing

_FORMAT = "beamzero-weights-1"


@dataclasses.dataclass(frozen=True)
class FeatureWeights:
    """The content of a weights file."""

    game: str
    """The identity of the game."""
    features: Mapping[str, float]
    """The weight of each feature, in the game's order, as logarithms of odds: what `feature_evaluator` takes."""
    point: float
    """How much a point adds to the logarithm of the odds, so that weight / point is a number of points."""
    tempo: float
    """How much the right to move adds to the logarithm of the odds. Measured, but no part of the evaluation."""
    made: Mapping[str, Any]
    """How the weights were made, as JSON can hold it."""

    @property
    def values(self) -> list[float]:
        return list(self.features.values())


def check_weights_path(path: str | os.PathLike[str]) -> None:
    """Raise BadInput where no weights could be written, so that it is known before the work begins."""
    check_writable(Path(path), "weights are")


def save_weights(path: str | os.PathLike[str], weights: FeatureWeights) -> None:
    """Write weights, replacing those that are there."""
    check_weights_path(path)
    with writing(str(path), otherwise=BadInput):
        write_atomically(path, _encode(weights))


def replace_weights(path: str | os.PathLike[str], old: FeatureWeights, new: FeatureWeights) -> None:
    """Write `new` where `old` was saved; RunStopped where it is there no longer, since another program wrote others."""
    path = Path(path)
    with writing(str(path), otherwise=BadInput), taking_turns(path) as there:
        if there != _encode(old):
            raise RunStopped(f"another program has written {path} meanwhile: it was left as it is")
        write_atomically(path, _encode(new))


def _encode(weights: FeatureWeights) -> bytes:
    content = {"format": _FORMAT, **dataclasses.asdict(weights)}
    return (json.dumps({**content, "sha256": _digest(content)}, indent=2, allow_nan=False) + "\n").encode()


def load_weights(path: str | os.PathLike[str], game: Game) -> FeatureWeights:
    """Read the weights as they were given to `save_weights`; BadInput where they are damaged or not for this game."""
    path = Path(path)
    content = _read(path)
    if content.get("format") != _FORMAT:
        raise BadInput(f"{path} is no file of weights that this version of beamzero reads ({_FORMAT})")
    if content.pop("sha256", None) != _digest(content):
        raise BadInput(f"{path} is damaged: its content does not match its SHA-256")
    weights = _checked(path, content)
    if weights.game != game.identity:
        raise BadInput(f"{path} has weights for {weights.game}, not for {game.identity}")
    if tuple(weights.features) != game.feature_names:
        raise BadInput(f"{path} has weights for other features than {game.name} has: {', '.join(game.feature_names)}")
    return weights


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_file(path))
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"there is no file of weights {path}") from None
    except IsADirectoryError:
        raise BadInput(f"{path} is a folder, but weights are one file") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{path} is cut short or damaged, or not a file of weights") from None
    if not isinstance(content, dict):
        raise BadInput(f"{path} is not a file of weights")
    return content


def _checked(path: Path, content: dict[str, Any]) -> FeatureWeights:
    """Make `FeatureWeights` of the content; BadInput where a part is missing or of the wrong type."""
    try:
        weights = FeatureWeights(**{field.name: content[field.name] for field in dataclasses.fields(FeatureWeights)})
        numbers = [*weights.features.values(), weights.point, weights.tempo]
        fine = all(isinstance(number, float) and math.isfinite(number) for number in numbers) and weights.point > 0
    except (AttributeError, KeyError):
        fine = False
    if not fine or not isinstance(weights.game, str) or not isinstance(weights.made, dict):
        raise BadInput(f"{path} is damaged: it does not hold the weights of a game")
    return weights


def _digest(content: Mapping[str, Any]) -> str:
    """Compute the SHA-256 of all in the file but itself. The order of features counts."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
