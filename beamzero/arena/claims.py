"""What is said of an agent's strength, and whether it holds when it is measured again."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from beamzero.arena.battle import battle
from beamzero.arena.score import Scored, score
from beamzero.arena.truth import load_truth
from beamzero.core.errors import BadInput
from beamzero.core.spec import unknown
from beamzero.games import Game
from beamzero.players import make_player

BATTLE, ERRORS = "battle", "errors"
_MOST = 1_000_000

Progress = Callable[[int, int], None]


class Measured(NamedTuple):
    """A share with its 95% interval."""

    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Claim:
    """A score in battles, or the share of errors in solved positions, as it was measured."""

    kind: str
    """BATTLE or ERRORS."""
    against: str
    """The opponent; or a class of positions, "all" for all of them."""
    number: int
    """How many games, or positions of each class."""
    value: float
    low: float
    high: float
    search: str = ""
    """Options with which the agent plays, such as sims=100; it has one look without any."""

    def __post_init__(self) -> None:
        if self.kind not in (BATTLE, ERRORS):
            raise BadInput(f"a claim is about {self.kind!r:.60}, but must be about {BATTLE} or {ERRORS}")
        if not isinstance(self.against, str) or not isinstance(self.search, str):
            raise BadInput("a claim does not say as texts against whom and with which search it was measured")
        if type(self.number) is not int or not 1 <= self.number <= _MOST:
            raise BadInput(f"a claim is about {self.number!r:.60} games or positions, but must be about 1 to {_MOST:,}")
        shares = (self.value, self.low, self.high)
        if not all(type(share) in (int, float) and 0 <= share <= 1 for share in shares):
            raise BadInput("a claim's value and interval must be numbers from 0 to 1")

    @property
    def text(self) -> str:
        """What it is about, in words."""
        how = self.search or "one look"
        if self.kind == BATTLE:
            return f"{how} against {self.against}, {self.number} games: score"
        where = "" if self.against == "all" else f" {self.against}"
        return f"{how}, {self.number} solved positions{where or ' of each class'}: errors"

    def holds(self, found: Measured) -> bool:
        """Whether what was found now can be the same strength: the two intervals meet."""
        return found.low <= self.high and self.low <= found.high


def read_claims(info: Mapping[str, Any]) -> list[Claim]:
    """The claims in what an agent file says; BadInput where they cannot be read."""
    try:
        return [Claim(**claim) for claim in info.get("claims", [])]
    except TypeError:
        raise BadInput("what the agent file claims cannot be read: it was written by another version") from None


def measure(claim: Claim, game: Game, agent: str, seed: int, progress: Progress | None = None) -> Measured:
    """What the claim is about, measured now; `agent` is the text of the agent without a search."""
    text = f"{agent},{claim.search}" if claim.search else agent
    if claim.kind == ERRORS:
        scored = _scored(game, text, claim.number, seed, progress)
        if claim.against not in ("all", *scored.classes):
            raise unknown("class of positions", claim.against, ["all", *scored.classes])
        share = scored.all if claim.against == "all" else scored.classes[claim.against]
        return Measured(share.rate, *share.interval)
    player = make_player(text, game)
    seed = (seed + zlib.crc32(claim.against.encode())) % 2**31
    played = battle(game, player, make_player(claim.against, game), claim.number, seed=seed, progress=progress)
    return Measured(played.score, *played.interval)


_known: dict[tuple[Game, str, int, int], Scored] = {}


def _scored(game: Game, agent: str, positions: int, seed: int, progress: Progress | None) -> Scored:
    """The agent's errors, found once for all claims about them."""
    key = game, agent, positions, seed
    if key not in _known:
        _known[key] = score(load_truth(game, positions), make_player(agent, game), seed, progress)
    return _known[key]
