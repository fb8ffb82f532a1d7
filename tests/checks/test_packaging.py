"""What a stranger gets: a package that installs whole, and nothing of the machine it was written on."""

from __future__ import annotations

import fnmatch
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jax.numpy as jnp
import pytest

import beamzero

pytestmark = pytest.mark.check

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "beamzero"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Folders that exist on one machine only, where a path begins; a web address has a letter before its slash.
LOCAL_PATH = re.compile(r"(?<![\w.~/\\-])/(?:home|Users|root|work|opt)/\w+")
PIP_SOURCE = re.compile(r"file:/{2}|--(?:extra-)?index-[u]rl|--find-[l]inks|--trusted-[h]ost")
PUBLIC = {"pypi.org", "files.pythonhosted.org"}


def published_files() -> list[Path]:
    """Every file git tracks or would track, or in an unpacked archive every file of the source tree."""
    git = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if git.returncode == 0:
        names = [ROOT / os.fsdecode(name) for name in git.stdout.split(b"\0") if name]
        return [path for path in names if path.is_file()]
    tops = [path for path in ROOT.iterdir() if path.is_file()]
    folders = [
        ROOT / name for name in (".ci", "beamzero", "benchmarks", "deploy", "docs", "examples", "tests", "tools")
    ]
    inside = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [path for path in tops + inside if "__pycache__" not in path.parts]


def pip_sources() -> set[str]:
    """Hosts and folders that this machine's pip installs from, as far as they are not everyone's."""
    settings = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    ).stdout
    hosts = set(re.findall(r"https?://(?:[^/@\s']*@)?([^/:\s']+)", settings))
    folders = set(re.findall(r"(?:find-links|index-url).*?[ '](?:file:/{2})?(/[^\s']+)", settings))
    return (hosts | folders) - PUBLIC


def local_traces(text: str, sources: set[str]) -> list[str]:
    """What in `text` belongs to one machine: its paths, and where its pip installs from."""
    found = [match.group() for pattern in (LOCAL_PATH, PIP_SOURCE) for match in pattern.finditer(text)]
    return found + [source for source in sources if source in text]


def test_no_file_names_this_machine_or_a_package_registry() -> None:
    sources = pip_sources() | {str(ROOT) + os.sep}
    traces = {}
    for path in published_files():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        if found := local_traces(text, sources):
            traces[str(path.relative_to(ROOT))] = found
    assert not traces


@pytest.mark.parametrize(
    "text",
    [
        "cache = '" + "/".join(["", "home", "me", "cache"]) + "'",
        "pip install --index" + "-url https://example.org/simple",
        "wheels from mirror.example.org",
    ],
)
def test_traces_of_a_machine_are_seen(text: str) -> None:
    assert local_traces(text, {"mirror.example.org"})


def test_constraints_are_names_and_versions_only() -> None:
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"#.*|[A-Za-z0-9._-]+==[A-Za-z0-9.+]+", line), line


def test_the_version_is_the_same_everywhere() -> None:
    """A release bumps all four; the tag of it is v and this version."""
    headings = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    newest = max(headings, key=lambda text: [int(part) for part in text.split(".")])
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert headings[0] == newest, "the newest comes first"
    assert PROJECT["project"]["version"] == beamzero.__version__ == newest
    assert f"\nversion: {newest}\n" in citation


def test_every_folder_with_code_is_a_package() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    # A folder of folders counts too: setuptools stops where __init__.py is missing.
    folders |= {parent for folder in folders for parent in folder.parents if parent.is_relative_to(PACKAGE)}
    missing = [str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").is_file()]
    assert not missing


def test_every_data_file_is_installed() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["beamzero"]
    assert "recipes/*.toml" in patterns
    data = [path.relative_to(PACKAGE).as_posix() for path in published_files() if path.is_relative_to(PACKAGE)]
    left_out = [
        name
        for name in data
        if not name.endswith(".py") and not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    ]
    assert not left_out


def test_copyleft_packages_serve_the_tests_alone() -> None:
    extras = {name: group for name, group in PROJECT["project"]["optional-dependencies"].items() if name != "dev"}
    groups = [PROJECT["project"]["dependencies"], *extras.values()]
    names = {re.split(r"[^A-Za-z0-9._-]", wanted)[0].lower() for group in groups for wanted in group}
    copyleft = {"chess", "python-chess", "pyffish", "bitbully"}
    assert not names & copyleft
    imports = re.compile(rf"^\s*(import|from) ({'|'.join(copyleft)})\b", re.MULTILINE)
    assert not [path for path in (ROOT / "beamzero").rglob("*.py") if imports.search(path.read_text())]


def test_tests_are_strict_unless_relaxed(relaxed) -> None:
    one, three = jnp.ones((1,), jnp.int32), jnp.ones((3, 1), jnp.float32)
    with pytest.raises(Exception, match="promotion"):
        one + three
    with relaxed():
        assert (one + three).shape == (3, 1)


def test_a_second_process_finds_what_the_first_compiled(tmp_path: Path) -> None:
    program = """
import jax, jax.numpy as jnp
hits = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event) if event.endswith("/cache_hits") else None)
jax.jit(lambda x: x * 3 + 1)(jnp.ones((7,), jnp.float32)).block_until_ready()
print(len(hits) > 0)
"""
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(tmp_path)}
    for found in ("False", "True"):
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
        )
        assert (run.stdout.strip(), run.stderr) == (found, "")


def test_a_lock_of_uv_stays_on_its_machine() -> None:
    """It names where packages come from; constraints.txt is the lock of this repository."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "uv.lock" in ignored and not [path for path in published_files() if path.name == "uv.lock"]
