"""The metrics of a run for Weights & Biases: the same numbers as in metrics.jsonl, where a person asks for them.

The package is optional, and a fault of it never stops a training: metrics.jsonl has all numbers.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from beamzero.core.errors import BadInput

_HOW = "pip install 'beamzero[wandb]'"
_QUIET = {"silent": True, "console": "off"}
"""Settings by which the package writes nothing into a terminal and captures nothing of it."""


def check_wandb(project: str) -> None:
    """Raise BadInput where metrics cannot be logged to a project: no package, a wrong name, or no API key."""
    if not project or len(project) > 128 or re.search(r"[/\\#?%:\s]", project):
        raise BadInput(
            f"the W&B project is {project!r}, but must be 1 to 128 characters without spaces and / \\ # ? % :"
        )
    wandb = _import_wandb()
    mode = os.environ.get("WANDB_MODE") or "online"
    if mode == "online" and not _logged_in(wandb):
        raise BadInput("Weights & Biases knows no API key here: wandb login, or WANDB_MODE=offline for no network")


def _import_wandb() -> Any:
    """Import the package; a folder of its logs that has its name is not it."""
    try:
        import wandb
    except ImportError:
        raise BadInput(f"logging to Weights & Biases needs wandb: {_HOW}") from None
    if "init" not in vars(wandb):
        raise BadInput(f"logging to Weights & Biases needs wandb: {_HOW}")
    return wandb


def _logged_in(wandb: Any) -> bool:
    """Tell whether there is an API key, without asking the person for one."""
    try:
        return bool(wandb.login(prompt=False))
    except TypeError:  # before 0.26 it always asks
        return bool(wandb.api.api_key)
    except Exception as error:
        raise BadInput(f"Weights & Biases does not let in: {_line(error)}") from None


def run_id(about: Mapping[str, Any]) -> str:
    """Derive the id of a run from its run.json, so that a run that goes on is the same run there."""
    lasting = {key: value for key, value in about.items() if key not in ("format", "seal")}
    return hashlib.sha256(json.dumps(lasting, sort_keys=True).encode()).hexdigest()[:16]


class WandbLog:
    """Writes numbers to a project. What fails is told once by `warn`, and nothing more is written then."""

    def __init__(self, project: str, folder: Path, about: Mapping[str, Any], warn: Callable[[str], object]) -> None:
        self._warn, self._run = warn, None
        about_run = {key: about[key] for key in ("game", "algorithm", "recipe", "seed", "version") if key in about}
        try:
            self._run = _import_wandb().init(
                project=project,
                id=run_id(about),
                name=folder.resolve().name,
                config={**about_run, **about["settings"]},
                dir=str(folder),
                resume="allow",
                settings=_QUIET,
            )
        except Exception as error:
            self._give_up(error)

    @property
    def url(self) -> str | None:
        """Give the page of the run; None where it is not online."""
        return getattr(self._run, "url", None)

    def write(self, step: int, scalars: Mapping[str, float]) -> None:
        """Write the numbers of an iteration, unless they were written before the run was stopped."""
        if self._run is None:
            return
        try:
            if step >= self._run.step:
                self._run.log(dict(scalars), step=step)
        except Exception as error:
            self._give_up(error)

    def close(self) -> None:
        """Finish writing."""
        run, self._run = self._run, None
        if run is not None:
            try:
                run.finish()
            except Exception as error:
                self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self._run = None
        self._warn(f"Weights & Biases fails, so the numbers go to metrics.jsonl only: {_line(error)}")


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split()) or 'no more is said'}"
