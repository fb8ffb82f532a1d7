"""The games and agents of a server. Clients can only name what is listed here."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from beamzero.core.errors import BadInput
from beamzero.core.registry import ALGORITHMS
from beamzero.core.spec import parse, unknown
from beamzero.games import Game, is_of_library, make_game
from beamzero.players import make_player
from beamzero.players.agent_kind import agent_kind, agent_text, own_file
from beamzero.players.levels import LEVELS
from beamzero.players.trained import load_info, shipped_agents
from beamzero.search.lookahead import affordable_depth
from beamzero.storage.checkpoints import Checkpoints
from beamzero.storage.run import Run, RunSummary, list_runs

HUMAN_SEAT = "human"
RUN = "run:"

_LOG = logging.getLogger(__name__)

_QUICK = ("lookahead", "expectiminimax", "clairvoyance", "cfr")
"""Agents that answer at once, or nearly."""


@dataclasses.dataclass(frozen=True)
class AgentOffer:
    """One agent that can be chosen."""

    id: str
    """The agent's name among clients."""
    text: str
    """The text for `make_player`; this never leaves the server where it holds a path."""
    title: str
    about: str
    level: int
    """A rough strength, 1 to 10."""

    def cannot_play(self, problem: BaseException) -> str:
        """Say why the agent cannot play, without what only the server's owner may know, such as a path."""
        if self.text == self.id:
            return f"{self.title} cannot play: {problem}"
        _LOG.warning("%s: %s", self.text, problem)
        return f"{self.title} cannot play: the server's own messages say why"


@dataclasses.dataclass(frozen=True, eq=False)
class Offers:
    """The games of a server and their agents.

    `agents` are further agents, as texts, offered for the games they can play; `runs` is a folder of training runs.
    """

    games: Sequence[str]
    agents: Sequence[tuple[str, str]] = ()
    """Pairs of a game's spec and the text of an agent."""
    runs: Path | None = None

    @functools.cached_property
    def _games(self) -> dict[str, Game]:
        return {spec: make_game(spec) for spec in self.games}

    def game(self, name: str) -> Game:
        """Return the game that a client calls `name`."""
        if name not in self._games:
            raise unknown("game", name, list(self._games))
        return self._games[name]

    def named_by_record(self, spec: str) -> str:
        """Return the clients' name of a record's game. The text is compared, and nothing is made from it."""
        for name, game in self._games.items():
            if spec in (name, game.spec, game.identity):
                return name
        raise unknown("game", spec, list(self._games))

    @functools.lru_cache(maxsize=256)  # noqa: B019 - there is one of these for the whole life of a server
    def agents_of(self, name: str) -> tuple[AgentOffer, ...]:
        """Return the agents of a game, but for those of runs, the weakest first."""
        game = self.game(name)
        return tuple(sorted((*_classics(game), *self._trained(name, game)), key=lambda offer: offer.level))

    def _trained(self, name: str, game: Game) -> Iterator[AgentOffer]:
        for agent, path in shipped_agents().items():
            info = load_info(path)
            if info["game"] == game.identity:
                for number, level in zip((2, 3, 5, 7, 9), LEVELS, strict=True):
                    text = f"{info['algorithm']}:{agent},level={level}"
                    yield AgentOffer(text, text, f"Trained, {level}", f"ships with beamzero, plays {level}", number)
        for number, (spec, text) in enumerate(self.agents):
            if make_game(spec).identity == game.identity:
                title, kind = _without_paths(text)
                yield AgentOffer(f"extra:{number}", text, title, f"{kind}, named when the server was started", 9)

    def default_agent(self, name: str) -> AgentOffer:
        """Return the agent that plays where none was chosen: one that answers at once and is no pushover."""
        offers = self.agents_of(name)
        trained = [offer for offer in offers if offer.level == 9]
        quick = [offer for offer in offers if offer.text.startswith(_QUICK)]
        return (trained[:1] or quick[-1:] or offers[-1:])[0]

    def agent(self, name: str, agent: str) -> AgentOffer:
        """Return the agent that a client calls `agent`, for the game `name`."""
        for offer in self.agents_of(name):
            if offer.id == agent:
                return offer
        if agent.startswith(RUN):
            return self._of_run(name, agent)
        raise unknown("agent", agent, [offer.id for offer in self.agents_of(name)])

    def fix_checkpoint(self, name: str, seat: str) -> str:
        """Return a seat with a run's newest checkpoint by its number, since the run may go on; others as they are."""
        if seat == HUMAN_SEAT:
            return seat
        self.agent(name, seat)
        if seat.startswith(RUN) and "@" not in seat and (numbers := checkpoints_of(self.run(seat.removeprefix(RUN)))):
            return f"{seat}@{numbers[-1]}"
        return seat

    def _of_run(self, name: str, agent: str) -> AgentOffer:
        called, _, checkpoint = agent.removeprefix(RUN).partition("@")
        run = self.run(called)
        algorithm = run.algorithm or ""
        if run.damaged is not None or run.game != self.game(name).identity or algorithm not in ALGORITHMS:
            raise BadInput(f"run {called} is not one of {name}")
        numbers = checkpoints_of(run)
        if checkpoint and checkpoint not in map(str, numbers):
            raise BadInput(f"run {called} has no checkpoint {checkpoint} (it has {', '.join(map(str, numbers))})")
        which = {"checkpoint": checkpoint} if checkpoint else {}
        options = {**which, **agent_kind(algorithm).to_play({})}
        text = agent_text(algorithm, str(run.folder), options)
        at = checkpoint or (str(numbers[-1]) if numbers else "start")
        return AgentOffer(agent, text, f"{called} at {at}", f"trained by {algorithm}", 8)

    def list_runs(self) -> dict[str, RunSummary]:
        """Return the runs of the server's folder, by the names that clients know them by, newest first."""
        root = self.runs
        return {} if root is None else {_run_name(root, run): run for run in list_runs(root)}

    def run(self, name: str) -> RunSummary:
        runs = self.list_runs()
        if name not in runs:
            raise unknown("run", name, list(runs))
        return runs[name]


def _without_paths(text: str) -> tuple[str, str]:
    """Return a title and the kind of an agent whose text may hold paths of this machine."""
    spec = own_file(parse(text))
    if spec.head in ALGORITHMS:
        return Path(spec.options.get("path") or "".join(spec.arguments[:1])).name, spec.head
    return (spec.head if "/" in text else text), spec.head


def checkpoints_of(run: RunSummary) -> list[int]:
    """Return the iterations whose checkpoints are kept, the oldest first."""
    return Checkpoints(Run(run.folder, {}).checkpoints_folder, keep=1).steps()


def _run_name(root: Path, run: RunSummary) -> str:
    """Return a run's place below the folder of runs, as one word."""
    return ".".join(run.folder.relative_to(root).parts) or run.folder.name


def title_of(name: str) -> str:
    """Return a game's name as people write it: Connect Four, Chess 6x6, Kalah (seeds=4)."""
    own = name.partition(":")[2] if is_of_library(name) else name
    plain, *rest = re.split("[:,]", own, maxsplit=1)
    parameters = "".join(rest)
    plain = Path(plain).stem if plain.endswith(".py") else plain
    words = " ".join(word if word[:1].isdigit() else word.capitalize() for word in plain.split("_"))
    words = words.replace("Chess6x6", "Chess 6x6")
    return f"{words} ({parameters})" if parameters else words


def _classics(game: Game) -> Iterator[AgentOffer]:
    """Yield agents that need no training."""

    def offer(text: str, title: str, about: str, level: int) -> AgentOffer:
        return AgentOffer(text, text, title, about, level)

    yield offer("random", "Random", "plays any legal move", 1)
    if game.hidden:
        return (yield from (offer(*one) for one in _with_hidden_cards(game)))
    if game.num_chance:
        about = "looks at all that it can do with its dice"
        yield offer("expectiminimax:depth=1", "Expectiminimax, 1 turn", about, 3)
        yield offer("expectiminimax:depth=2", "Expectiminimax, 2 turns", f"{about}, and at all answers", 5)
        return
    for depth in range(1, affordable_depth(game) + 1):
        moves = "its next move" if depth == 1 else f"{depth} moves"
        yield offer(f"lookahead:{depth}", f"Lookahead {depth}", f"sees wins and losses within {moves}", 1 + depth)
    yield offer("mcts:seconds=1", "Monte Carlo, 1 s", "plays random games to the end and counts who wins", 5)
    if game.feature_names:
        yield offer("alphabeta:seconds=0.2", "Alpha-beta, 0.2 s", "as deep as it gets in a fifth of a second", 6)
        yield offer("alphabeta:seconds=2", "Alpha-beta, 2 s", "as deep as it gets in two seconds", 7)


def _with_hidden_cards(game: Game) -> Iterator[tuple[str, str, str, int]]:
    """Yield agents that see no more than a player may, as far as the packages that they need are installed."""
    about = "deals what it does not see {} times, and plays what is best with open cards on average"
    for worlds, level in ((10, 4), (40, 5)):
        with contextlib.suppress(BadInput):
            make_player(text := f"clairvoyance:worlds={worlds}", game)
            yield text, f"Clairvoyance, {worlds} worlds", about.format(worlds), level
    if game.lists_deals:
        yield "cfr", "Solved", "plays the solution, which nobody beats in the long run", 8
