"""The wheel holds all that is needed to play, train and serve, outside of the checkout that it was made from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PROGRAM = """
import beamzero as bz
found = bz.battle(bz.load("tic_tac_toe"), "random", games=10, progress=False)
assert found.games == 10 and "/site/" in bz.__file__
settings = bz.Probs(games=4, expand=2, value_net="mlp:width=8", q_net="mlp:width=8", rate_every=0)
print(bz.train("tic_tac_toe", settings, iterations=1, folder="run", progress=False).iterations)
"""


@pytest.mark.slow
def test_the_wheel_plays_and_trains_outside_the_checkout(tmp_path):
    copied = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, text=True).stdout
    source = tmp_path / "source"
    for name in filter(None, copied.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path / "dist"), "."]
    subprocess.run(words, cwd=source, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    outside = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=outside, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert run("-c", PROGRAM) == "1\n"
    games = json.loads(run("-m", "beamzero", "games", "--json"))["games"]
    assert "connect_four" in [row["name"] for row in games]
    assert json.loads(run("-m", "beamzero", "recipes", "--json"))["recipes"]
