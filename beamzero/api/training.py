"""Training from Python: the same function that the command line calls, with objects in place of texts."""

from __future__ import annotations

import base64
import io
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beamzero.api.objects import (
    AnyAlgorithm,
    AnyGame,
    as_texts,
    known_algorithm,
    known_game,
    objects_to_pass,
    settings_of_request,
    stored_game,
)
from beamzero.api.progress import training_report
from beamzero.arena.rating import elo_text
from beamzero.core.compiler import keep_compiled_code
from beamzero.core.errors import BadInput
from beamzero.core.tables import TextTable
from beamzero.games import Game
from beamzero.players import Player, make_player
from beamzero.players.agent_kind import agent_text
from beamzero.players.trained import load_info, load_trained, open_trained_run, shipped_agents
from beamzero.storage.checkpoints import Checkpoints
from beamzero.storage.metrics import read_metrics
from beamzero.storage.run import RUN_FILE
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.loop import train as train_run
from beamzero.training.pictures import curves_of_run
from beamzero.training.recipes import find_recipe, quick_recipe
from beamzero.training.report import Report
from beamzero.training.request import RunRequest
from beamzero.training.settings import RunSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BAD_IN_NAMES = r"[^\w.=+-]"


def train(
    game: AnyGame,
    algorithm: AnyAlgorithm | None = None,
    *,
    folder: str | os.PathLike[str] | None = None,
    iterations: int | None = None,
    minutes: float | None = None,
    seed: int | None = None,
    recipe: str | None = None,
    start_from: str | os.PathLike[str] | None = None,
    resume: bool = False,
    wandb: str | None = None,
    progress: bool | Report = True,
    **settings: Any,
) -> TrainingRun:
    """Train an agent by self-play in a run folder, as ``beamzero train`` does.

    `game` is a text, a Game or a class of yours. `algorithm` is "probs", "alphazero" or "td", settings such as
    ``Probs(games=500)``, or a class of yours; by default PROBS with the quick recipe of the game, where it has one.
    More `settings` go by name; a net may be a text, a `NetSettings` or an nnx module of yours.

    `iterations` and `minutes` stop a training early. How long it is meant to be, and its learning rate with it, is the
    setting, as in ``Probs(iterations=40)``.

    The folder is ``runs/GAME`` by default. Ctrl-C, or the notebook's stop button, saves the last finished iteration and
    returns; ``resume=True`` goes on with a run, and begins one where there is none, so that a cell may be run again.

    `wandb` names a project of Weights & Biases that gets the metrics as well, which needs the package wandb.

    >>> import beamzero as bz
    >>> run = bz.train("tic_tac_toe", bz.Probs(games=16, expand=4, value_net="mlp:width=16", q_net="mlp:width=16"),
    ...                iterations=1, folder=folder, rate_games=4, anchor_games=4, progress=False)
    >>> len(run.metrics())
    1
    """
    keep_compiled_code()
    rules = known_game(game)
    name, given = known_algorithm(algorithm) if algorithm is not None else (None, {})
    place = Path(folder) if folder is not None else Path("runs") / re.sub(_BAD_IN_NAMES, "-", rules.spec)
    goes_on = (place / RUN_FILE).exists()
    if goes_on and not resume:
        raise BadInput(f"{place} already holds a run: go on with it by resume=True, or name another folder")
    if goes_on and isinstance(algorithm, RunSettings):
        given = settings_of_request(algorithm, rules)
    request = RunRequest(
        game=rules.spec,
        folder=place,
        algorithm=name,
        recipe=find_recipe(recipe) if recipe is not None else None if goes_on or given else quick_recipe(rules, name),
        changes=as_texts({**given, **settings}),
        seed=seed,
        start_from=None if start_from is None else os.fspath(start_from),
        iterations=iterations,
        minutes=minutes,
        resume=goes_on,
        wandb=wandb,
    )
    with training_report(progress, minutes) as report:
        outcome = train_run(request, report)
        if own := objects_to_pass(rules, outcome.run.about["algorithm"], outcome.algorithm.settings):
            how = f": bz.load({str(place)!r}, game={type(rules).__name__})" if own[0].startswith("the game") else ""
            report.message(f"another process opens {place} when it is given {', '.join(own)}{how}")
    return TrainingRun(place, rules)


class TrainingRun:
    """A run folder: its metrics, its curves and its agent.

    >>> import beamzero as bz
    >>> bz.TrainingRun("no/such/run")
    Traceback (most recent call last):
    beamzero.core.errors.BadInput: there is no run in no/such/run: no such folder
    """

    def __init__(self, folder: str | os.PathLike[str], game: AnyGame | None = None) -> None:
        """Open the run in `folder`. A game of yours that no text finds is given as `game`."""
        self.folder = Path(folder)
        self._run = open_trained_run(self.folder)
        self.game: Game = stored_game(self._run.about["game_text"], game)
        if self.game.identity != self._run.about["game"]:
            raise BadInput(f"{self.folder} holds a run of {self._run.about['game']}, not of {self.game.spec}")

    @property
    def algorithm(self) -> str:
        """Give the name of the algorithm."""
        return str(self._run.about["algorithm"])

    @property
    def settings(self) -> dict[str, Any]:
        """Give all settings by name, with the defaults that were resolved for the game and the machine."""
        return dict(self._run.about["settings"])

    @property
    def iterations(self) -> int:
        """Count the iterations that are saved."""
        return max(self.checkpoints, default=0)

    @property
    def checkpoints(self) -> list[int]:
        """List the iterations whose agents are kept; 0 is the agent before training."""
        return sorted(Checkpoints(self._run.checkpoints_folder, keep=1).steps())

    @property
    def rating(self) -> dict[str, Any] | None:
        """Give the last rating: "elo" with "low" and "high", and the "scores" by opponent; None without one."""
        return next((record["rating"] for record in reversed(self.metrics()) if record.get("rating")), None)

    def metrics(self) -> list[dict[str, Any]]:
        """Read the metrics, a dict for each iteration, ready for a DataFrame."""
        return read_metrics(self.folder)

    def plot(self) -> Figure:
        """Draw the rating and the losses by iteration."""
        records = self.metrics()
        if not records:
            raise BadInput(f"no iteration of {self.folder} is done, so there is nothing to draw")
        return curves_of_run(self._run, records)

    def player(self, checkpoint: str | int = "last", **options: Any) -> Player:
        """Make the agent, with options such as ``seconds=0.5`` or ``sims=200``.

        `checkpoint` is "last", "best" or the number of an iteration.
        """
        chosen = {} if checkpoint == "last" else {"checkpoint": str(checkpoint)}
        texts = {key: _option_text(value) for key, value in options.items()}
        return make_player(agent_text(self.algorithm, str(self.folder), {**chosen, **texts}), self.game)

    def best_player(self) -> Player:
        """Make the agent as it plays best at a pace that people bear: the level full."""
        return make_player(agent_text(self.algorithm, str(self.folder), {"level": "full"}), self.game)

    def export(self, path: str | os.PathLike[str], checkpoint: str | int = "last", half: bool = False) -> Path:
        """Write the agent into one .safetensors file; with `half` its weights take 16 bits each."""
        place = Path(path)
        load_trained(str(self.folder), self.game, str(checkpoint), self.algorithm).save(place, half)
        return place

    def _table(self) -> TextTable:
        rating, about = self.rating, self._run.about
        title = ALGORITHMS[self.algorithm].title if self.algorithm in ALGORITHMS else self.algorithm
        rows = [
            ("game", about["game"]),
            ("algorithm", title + (f", {about['recipe']}" if about.get("recipe") else "")),
            ("iterations", f"{self.iterations} of {self.settings['iterations']}"),
            ("rating", "-" if rating is None else elo_text(rating)),
            ("folder", str(self.folder)),
        ]
        return TextTable(("run", ""), rows)

    def __repr__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().to_html() + (self._picture() if self.metrics() else "")

    def _picture(self) -> str:
        """Write the curves as an image for a notebook."""
        picture = io.BytesIO()
        self.plot().savefig(picture, format="png")
        data = base64.b64encode(picture.getvalue()).decode()
        return f'<img style="max-width:640px" alt="rating and losses" src="data:image/png;base64,{data}">'


def load(path: str | os.PathLike[str], game: AnyGame | None = None, **options: Any) -> Player:
    """Load a trained agent: a run folder, a .safetensors file, or the name of one that ships.

    `options` are those of its algorithm, such as ``sims=200``, ``seconds=1`` or ``level="easy"``. A game of yours is
    given as `game`: a file never runs code.

    >>> import beamzero as bz
    >>> bz.load("connect_four", sims=50).name
    'alphazero:connect_four,sims=50'
    """
    place = os.fspath(path)
    algorithm, stored = _about(place)
    rules = stored_game(stored, game)
    texts = {key: _option_text(value) for key, value in options.items()}
    return make_player(agent_text(algorithm, place, texts), rules)


def _about(place: str) -> tuple[str, str]:
    """Read the algorithm and the game of a trained agent."""
    if Path(place).is_dir():
        about = open_trained_run(Path(place)).about
        return about["algorithm"], about["game_text"]
    shipped = shipped_agents()
    path = shipped.get(place, Path(place))
    if not path.exists():
        raise BadInput(f"no agent {place!r}: give a run folder or a .safetensors file; shipped: {', '.join(shipped)}")
    info = load_info(path)
    return info["algorithm"], info["game"]


def _option_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
