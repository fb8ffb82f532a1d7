"""The settings that every training run has, how a setting is declared, and how one changes over a run."""

from __future__ import annotations

import dataclasses
import inspect
import math
import numbers
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import jax

from beamzero.core.devices import device_count
from beamzero.core.errors import BadInput
from beamzero.games import Game
from beamzero.nets import compute_dtype
from beamzero.nets.own_module import is_net, net_text
from beamzero.search.limit import MAX_DEPTH
from beamzero.search.lookahead import affordable_depth

T = TypeVar("T", bool, int, float, str)

_FEWEST_GAMES_IN_A_SHARD = 8
_ABOUT_SETTINGS = "\n\nSettings, with their defaults:\n\n"


def setting(default: T, about: str, allowed: tuple[float, float] | None = None, changeable: bool = False) -> T:
    """Declare a setting, as a field of a dataclass: its default, and its meaning, which people are shown.

    `allowed` is the lowest and the highest value of a number. A run that is resumed may change it where it is
    `changeable`: how a run is measured and saved, not what it learns.

    >>> import dataclasses
    >>> import beamzero as bz
    >>> @dataclasses.dataclass(frozen=True)
    ... class MySettings(bz.RunSettings):
    ...     step: float = bz.setting(0.1, "How far a step goes.", (0.0, 1.0))
    >>> MySettings(step=2.0)
    Traceback (most recent call last):
    beamzero.core.errors.BadInput: step is 2.0, but must be 0.0 to 1.0
    """
    return dataclasses.field(default=default, metadata={"setting": _About(about, allowed, changeable)})


class _About(NamedTuple):
    """The facts of a setting beside its name, its type and its default."""

    text: str
    allowed: tuple[float, float] | None
    changeable: bool


@dataclasses.dataclass(frozen=True)
class RunSettings:
    """Settings that every run has. ``--set name=value`` changes one; a recipe sets several.

    >>> import beamzero as bz
    >>> settings = bz.RunSettings(games=200, rate_every=5)
    >>> settings.resolved(bz.make_game("tic_tac_toe")).rate_against
    'random lookahead:1 lookahead:2 lookahead:3'
    """

    retired: ClassVar[frozenset[str]] = frozenset()
    """Settings that runs of earlier versions have and that changed nothing: they are read and left out."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Write what each setting means into the docstring, which `help` and notebooks show."""
        super().__init_subclass__(**options)
        given = {name: value for name, value in vars(cls).items() if isinstance(value, dataclasses.Field)}
        fields = {field.name: field for field in dataclasses.fields(cls)} | given
        defaults = {name: vars(cls).get(name, field.default) for name, field in fields.items()}
        defaults |= {name: field.default for name, field in given.items()}
        about = [
            f"- {name}={defaults[name]!r}: {field.metadata['setting'].text}"
            for name, field in fields.items()
            if "setting" in field.metadata
        ]
        said = inspect.cleandoc(vars(cls).get("__doc__") or "").partition(_ABOUT_SETTINGS)[0]
        cls.__doc__ = said + _ABOUT_SETTINGS + "\n".join(about)

    iterations: int = setting(
        100, "Iterations of the whole cycle; schedules are laid out over this number.", (1, 10**8)
    )
    games: int = setting(1000, "Self-play games an iteration, all of which are learned from.", (1, 10**6))
    max_turns: int = setting(100, "A game is cut after this many turns and then counts as a draw.", (1, 10**5))
    symmetry: bool = setting(
        True, "Show the nets a random one of each state's mirror images and rotations, where the game has them."
    )
    precision: str = setting(
        "auto",
        "What nets compute in: float32, bfloat16, or auto (bfloat16 on a GPU, float32 on a CPU), once for a run.",
    )
    final_learning_rate: float = setting(
        0.05,
        "Share of the learning rates that is left at the end; they fall along a cosine. 1 keeps them constant.",
        (0.0, 1.0),
    )

    rate_every: int = setting(
        1, "Rate the agent every so many iterations, and at the end; 0 never does.", (0, 10**8), changeable=True
    )
    rate_games: int = setting(100, "Games against each opponent in a rating.", (2, 10**6), changeable=True)
    rate_against: str = setting(
        "auto",
        "Opponents of a rating, separated by spaces; their own ratings are measured first, the first one being "
        '1000. "auto": random, and lookahead:1 to lookahead:3 as far as the game is small enough for them.',
        changeable=True,
    )
    anchor_games: int = setting(
        400, "Games of each pair of opponents when their ratings are measured.", (2, 10**6), changeable=True
    )

    climb_every: int = setting(
        0,
        "Let the agent play a ladder of minimax players every so many iterations, and at the end; 0 never does.",
        (0, 10**8),
        changeable=True,
    )
    climb_depth: int = setting(
        7,
        "The deepest minimax of that ladder, which begins at depth 1 and has two games at each depth.",
        (1, MAX_DEPTH),
        changeable=True,
    )
    climb_by: str = setting(
        "",
        'What minimax evaluates by there: one of the game\'s features, or "nothing"; all features where it is empty.',
        changeable=True,
    )

    checkpoint_every: int = setting(
        1, "Save a checkpoint every so many iterations, and at the end.", (1, 10**8), changeable=True
    )
    keep_checkpoints: int = setting(
        3, "Checkpoints kept: this many of the last ones, and the best.", (1, 10**6), changeable=True
    )

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if is_net(value):  # files keep its text
                object.__setattr__(self, name, net_text(value))
        for name, (low, high) in setting_ranges(type(self)).items():
            value = getattr(self, name)
            if not isinstance(value, numbers.Real):
                raise BadInput(f"{name} is {value!r}, but must be a number, {low} to {high}")
            if not low <= float(value) <= high:
                raise BadInput(f"{name} is {value}, but must be {low} to {high}")
        self.must_be_even("rate_games", "anchor_games")
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise BadInput(f"precision is {self.precision!r}, but must be auto, float32 or bfloat16")

    def must_be_even(self, *names: str) -> None:
        """Raise BadInput where one of the settings `names` is odd: openings are played with both colours."""
        for name in names:
            value = getattr(self, name)
            if value % 2:
                raise BadInput(f"{name} is {value}, but must be even: openings are played with both colours")

    def resolved(self, game: Game, workers: int = 0) -> Self:
        """Fix every default that depends on the game or the device, so that the run goes on the same elsewhere.

        With `workers`, or several devices, the work is cut into enough items for all of them. Values that are fixed
        already stay as they are.
        """
        return dataclasses.replace(
            self,
            precision=compute_dtype(self.precision),
            rate_against=default_opponents(game) if self.rate_against == "auto" else self.rate_against,
        )

    @classmethod
    def without_retired(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Leave out of the settings of an earlier version's run or recipe those that this version does not have."""
        return {name: value for name, value in values.items() if name not in cls.retired}


def describe_settings(kind: type[RunSettings]) -> list[tuple[str, Any, str]]:
    """List every setting with its default and its meaning; those that every run has come first."""
    abouts = _abouts(kind)
    return [(field.name, field.default, abouts[field.name].text) for field in dataclasses.fields(kind)]


def changeable_settings(kind: type[RunSettings]) -> set[str]:
    """Name the settings that may differ when a run is resumed: how it is measured and saved, not what it learns."""
    return {name for name, about in _abouts(kind).items() if about.changeable}


def setting_ranges(kind: type[RunSettings]) -> dict[str, tuple[float, float]]:
    """Give the lowest and the highest value of each setting that is a number."""
    return {name: about.allowed for name, about in _abouts(kind).items() if about.allowed}


def _abouts(kind: type[RunSettings]) -> dict[str, _About]:
    undeclared = _About("", None, False)
    return {field.name: field.metadata.get("setting", undeclared) for field in dataclasses.fields(kind)}


def default_opponents(game: Game) -> str:
    """Name the opponents of a rating where the user names none."""
    if game.num_chance:
        return "random expectiminimax:depth=1"
    return " ".join(["random", *(f"lookahead:{depth + 1}" for depth in range(affordable_depth(game)))])


def check_shards(shards: int, games: int) -> None:
    """Raise BadInput where the games of an iteration cannot be cut into so many shards of the same size."""
    if shards and games % shards:
        raise BadInput(f"lanes is {shards}, but must divide the {games} games of an iteration")


def default_shards(games: int, workers: int) -> int:
    """Choose the number of shards, which is the setting `lanes`, that the games of an iteration are played in.

    A GPU takes all games as one batch, several share them; so do the cores of a CPU, if each has enough of them. For
    workers elsewhere there are two shards each, if that goes: a slow worker then does fewer.
    """
    if workers:
        most = max(1, min(2 * workers, games // _FEWEST_GAMES_IN_A_SHARD, 1024))
        return next(shards for shards in range(most, 0, -1) if games % shards == 0)
    if jax.default_backend() == "gpu" or device_count() > 1:
        return next(shards for shards in range(device_count(), 0, -1) if games % shards == 0)
    enough = (shards for shards in (8, 4, 2) if games % shards == 0 and games // shards >= _FEWEST_GAMES_IN_A_SHARD)
    return next(enough, 1)


# --- schedules: how a setting changes over a run ---------------------------------------------------------------------


def share_done(iteration: int, iterations: int) -> float:
    """Give the share of a run that is done: 0 at its first iteration (0), 1 at its last and after that."""
    return min(iteration / max(iterations - 1, 1), 1.0)


def evenly(share: float, first: int, last: int) -> int:
    """Interpolate between whole numbers: `first` where the share is 0, `last` where it is 1."""
    return round(first + (last - first) * share)


def cosine(share: float, final: float) -> float:
    """Fall along half a cosine, from 1 where nothing is done to `final` where all is."""
    return final + (1 - final) * (1 + math.cos(math.pi * share)) / 2
