"""Claims about an agent's strength, and how to measure them again."""

from __future__ import annotations

import abc
import dataclasses
import zlib
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from beamzero.arena.battle import battle
from beamzero.arena.score import Scored, score
from beamzero.arena.truth import load_truth
from beamzero.core.errors import BadInput
from beamzero.core.progress import OnProgress, no_progress
from beamzero.core.spec import unknown
from beamzero.games import Game
from beamzero.players import make_player

_MOST = 1_000_000


class Measured(NamedTuple):
    """A share with its 95% interval."""

    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Claim(abc.ABC):
    """A strength of an agent, as it was measured; each kind of claim says how to measure it again."""

    against: str
    """The opponent; or a class of positions, "all" for all of them."""
    number: int
    """The number of games, or of positions of each class."""
    value: float
    low: float
    high: float
    search: str = ""
    """Options with which the agent plays, such as sims=100; it has one look without any."""

    kind: ClassVar[str]
    """The name of this kind of claim in agent files."""

    def __post_init__(self) -> None:
        if not isinstance(self.against, str) or not isinstance(self.search, str):
            raise BadInput("a claim does not say as texts against whom and with which search it was measured")
        if type(self.number) is not int or not 1 <= self.number <= _MOST:
            raise BadInput(f"a claim is about {self.number!r:.60} games or positions, but must be about 1 to {_MOST:,}")
        shares = (self.value, self.low, self.high)
        if not all(type(share) in (int, float) and 0 <= share <= 1 for share in shares):
            raise BadInput("a claim's value and interval must be numbers from 0 to 1")

    @property
    @abc.abstractmethod
    def text(self) -> str:
        """Say for people what was measured, and how."""

    @abc.abstractmethod
    def measure_as(self, agent: str, game: Game, seed: int, progress: OnProgress) -> Measured:
        """Measure the agent that the text `agent` names, whatever its search."""

    def measure(self, game: Game, agent: str, seed: int, progress: OnProgress = no_progress) -> Measured:
        """Measure again what the claim is about; `agent` is the text of the agent without a search."""
        return self.measure_as(f"{agent},{self.search}" if self.search else agent, game, seed, progress)

    def holds(self, found: Measured) -> bool:
        """Tell whether `found` can be the same strength: the two intervals meet."""
        return found.low <= self.high and self.low <= found.high

    def as_json(self) -> dict[str, Any]:
        """Give the fields and the kind, as an agent file keeps them."""
        return {"kind": self.kind, **dataclasses.asdict(self)}


class BattleClaim(Claim):
    """The score in battles against one opponent."""

    kind = "battle"

    @property
    def text(self) -> str:
        return f"{self.search or 'one look'} against {self.against}, {self.number} games: score"

    def measure_as(self, agent: str, game: Game, seed: int, progress: OnProgress) -> Measured:
        player = make_player(agent, game)
        seed = (seed + zlib.crc32(self.against.encode())) % 2**31
        played = battle(game, player, make_player(self.against, game), self.number, seed=seed, progress=progress)
        return Measured(played.score, *played.interval)


class ErrorsClaim(Claim):
    """The share of errors in solved positions."""

    kind = "errors"

    @property
    def text(self) -> str:
        where = " of each class" if self.against == _EVERY_CLASS else f" {self.against}"
        return f"{self.search or 'one look'}, {self.number} solved positions{where}: errors"

    def measure_as(self, agent: str, game: Game, seed: int, progress: OnProgress) -> Measured:
        scored = _scored(game, agent, self.number, seed, progress)
        shares = {_EVERY_CLASS: scored.all, **scored.classes}
        if self.against not in shares:
            raise unknown("class of positions", self.against, list(shares))
        share = shares[self.against]
        return Measured(share.rate, *share.interval)


_EVERY_CLASS = "all"
_KINDS: dict[str, type[Claim]] = {kind.kind: kind for kind in (BattleClaim, ErrorsClaim)}


def read_claim(kind: str, **fields: Any) -> Claim:
    """Make the claim of that kind from the fields in an agent file; BadInput where it cannot be."""
    if not isinstance(kind, str) or kind not in _KINDS:
        raise BadInput(f"a claim is about {kind!r:.60}, but must be about {' or '.join(_KINDS)}")
    return _KINDS[kind](**fields)


def read_claims(info: Mapping[str, Any]) -> list[Claim]:
    """Read the claims in an agent file's `info`; BadInput where they cannot be read."""
    try:
        return [read_claim(**claim) for claim in info.get("claims", [])]
    except TypeError:
        raise BadInput("what the agent file claims cannot be read: it was written by another version") from None


_known: dict[tuple[Game, str, int, int], Scored] = {}


def _scored(game: Game, agent: str, positions: int, seed: int, progress: OnProgress) -> Scored:
    """Find the agent's errors, once for all claims about them."""
    key = game, agent, positions, seed
    if key not in _known:
        _known[key] = score(load_truth(game, positions), make_player(agent, game), seed, progress)
    return _known[key]
