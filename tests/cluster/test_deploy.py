"""The ways to run on a cluster: what deploy/ holds is what Ray, Docker and SLURM take, and does what is said of it."""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import yaml
from ray.autoscaler._private.util import prepare_config, validate_config

from beamzero.cli import main
from beamzero.storage.metrics import read_metrics
from tests.training.toy import command, saved_tree

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def text_of(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def pinned(package: str) -> str:
    found = re.search(rf"^{package}==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_guide_names_every_file_of_the_folder_and_no_other():
    named = set(re.findall(r"deploy/([\w.]+\w)", (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")))
    assert named == {path.name for path in DEPLOY.iterdir()}


# --- jobs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["ray://127.0.0.1:10001", "http://127.0.0.1:8265"])
def test_an_address_that_is_for_other_programs_of_ray_gets_one_line(address, tmp_path, capsys, monkeypatch):
    """Whoever submits jobs may have the dashboard's address in the environment."""
    monkeypatch.setenv("RAY_ADDRESS", address)
    assert main(["train", "tic_tac_toe", "--run", str(tmp_path / "run"), "--cluster", "auto"]) == 2
    said = capsys.readouterr().err
    assert f"{address!r} is none of these (it is in the environment, as RAY_ADDRESS)" in said
    assert len(said.splitlines()) == 1 and not (tmp_path / "run").exists()


def test_auto_leads_where_the_environment_says(capsys, monkeypatch):
    """So it is in a job. That this works where a cluster is, a job of SLURM shows below."""
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    assert main(["battle", "tic_tac_toe", "random", "random", "--games", "4", "--cluster", "auto"]) == 1
    assert "no Ray cluster at '127.0.0.1:1': [Errno 111] Connection refused" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["train", "tic_tac_toe"],
        ["train", "tic_tac_toe", "--run", "./mine/run"],
        ["reproduce", "probs-fig1"],
        ["compare", "tic_tac_toe", "--recipes", "tic_tac_toe_compare_probs tic_tac_toe_compare_alphazero"],
    ],
)
def test_results_among_the_copied_files_of_a_job_are_refused(words, tmp_path, capsys, monkeypatch):
    folder = tmp_path / "session" / "runtime_resources" / "working_dir_files" / "_ray_pkg_1"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    assert main(words) == 2
    assert "is among the files that Ray copied for this job" in capsys.readouterr().err
    assert not list(folder.iterdir())


# --- Ray's cluster launcher -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cluster.yaml", "local.yaml"])
def test_ray_takes_the_file_of_a_cluster(name):
    config = prepare_config(yaml.safe_load(text_of(name)))
    validate_config(config)
    with pytest.raises(jsonschema.ValidationError):
        validate_config({**config, "max_wrokers": 3})
    for remote, local in config["file_mounts"].items():
        assert remote.startswith("~/") and (local == remote or (ROOT / local).resolve() == ROOT)
    installs = [line for line in config["setup_commands"] if "pip install" in line]
    assert len(installs) == 1
    check_install(installs[0])
    for who in ("head", "worker"):
        stop, start = config[f"{who}_start_ray_commands"]
        assert stop.endswith("ray stop") and "RAY_AUTH_MODE=token" in start and "ray start --" in start


def test_machines_that_may_be_taken_away_are_workers_only():
    config = prepare_config(yaml.safe_load(text_of("cluster.yaml")))
    kinds = config["available_node_types"]
    spot = {name for name, kind in kinds.items() if "InstanceMarketOptions" in kind["node_config"]}
    assert spot == set(kinds) - {config["head_node_type"]} and spot
    assert all(0 < kinds[name]["min_workers"] <= kinds[name]["max_workers"] <= config["max_workers"] for name in spot)


def test_the_image_of_the_cluster_has_the_ray_that_is_tested():
    image = yaml.safe_load(text_of("cluster.yaml"))["docker"]["image"]
    version, python = re.fullmatch(r"rayproject/ray:([\d.]+)-py(\d+)-cpu", image).groups()
    assert version == pinned("ray") and allowed(f"{python[0]}.{python[1:]}")


def allowed(python: str) -> bool:
    lowest = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["requires-python"]).groups()
    return tuple(map(int, python.split("."))) >= tuple(map(int, lowest))


def check_install(line: str) -> None:
    """A line with `pip install` keeps to the tested versions and names extras that there are."""
    assert "--constraint constraints.txt" in line and "ray[default]" in line
    (names,) = re.findall(r"[\"']\.\[([\w,]+)\][\"']", line)
    assert "cluster" in names.split(",") and set(names.split(",")) <= set(EXTRAS)


# --- Docker -----------------------------------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    lines = [line for line in text_of("Dockerfile").splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(" ", 1)) for line in lines]


def test_the_image_is_made_of_files_that_there_are():
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    copied = [words.split() for name, words in instructions() if name == "COPY" and "--from" not in words]
    sources = [source for *sources, _ in copied for source in sources]
    assert {"pyproject.toml", "constraints.txt", "beamzero"} <= set(sources)
    for source in sources:
        assert (ROOT / source).exists()
        last = next(line for line in reversed(ignored) if fnmatch.fnmatch(source, line.lstrip("!")))
        assert last.startswith("!"), f"{source} does not reach Docker"


def test_the_image_has_the_tested_versions_and_no_rights():
    found = instructions()
    defaults = dict(words.split("=") for name, words in found if name == "ARG")
    assert set(defaults) == {"PYTHON", "EXTRAS"} and allowed(defaults["PYTHON"])
    for extras in (defaults["EXTRAS"], *re.findall(r"--build-arg EXTRAS=(\S+)", text_of("Dockerfile"))):
        for line in (words for name, words in found if name == "RUN" and "pip install" in words):
            check_install(line.replace("${EXTRAS}", extras))
    assert [words for name, words in found if name == "USER"] == ["beamzero"]
    assert all(words.startswith("python:${PYTHON}-slim") for name, words in found if name == "FROM")


# --- SLURM ------------------------------------------------------------------------------------------------------------

SCRIPT = DEPLOY / "slurm.sh"
STAND_INS = {
    # As if it were on another machine. Options end where the command begins.
    "srun": """
        echo "srun $*" >> "$CALLS"
        while [[ $1 == --*=* ]]; do shift; done
        if [ "$1" = ray ]; then set -- "$@" --object-store-memory=100000000; fi
        exec "$@"
    """,
    "scontrol": """
        echo "scontrol $*" >> "$CALLS"
        if [ "$1 $2" = "show hostnames" ]; then tr ' ' '\\n' <<< "$3"; fi
    """,
}


class Slurm:
    """A job, as SLURM would start it, on machines that are all this one."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls = folder, folder / "calls"
        for name, lines in STAND_INS.items():
            (folder / name).write_text("#!/usr/bin/env bash\nset -eu\n" + lines)
            (folder / name).chmod(0o755)
        with socket.socket() as free:
            for number in range(20000 + os.getpid() % 5000, 30000):  # the script's port follows from the job's number
                with contextlib.suppress(OSError):
                    free.bind(("", number))
                    self.number = number
                    break

    def start(self, words: list[str], hosts: str, **more: str) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(self.folder), str(Path(sys.executable).parent), os.environ["PATH"]])
        given = {"SLURM_JOB_ID": str(self.number), "SLURM_JOB_NODELIST": hosts, "SLURM_CPUS_PER_TASK": "1", **more}
        environment = {**os.environ, **given, "PATH": path, "PYTHONPATH": str(ROOT), "CALLS": str(self.calls)}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            ["bash", str(SCRIPT), *words], cwd=self.folder, env=environment, text=True, stdout=pipe, stderr=pipe
        )

    def called(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def processes(self) -> list[int]:
        """Whatever the job began, wherever it went."""
        mark, found = f"SLURM_JOB_ID={self.number}\0".encode(), []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes():
                    found.append(int(path.parent.name))
        return found


@pytest.fixture
def slurm(tmp_path) -> Iterator[Slurm]:
    slurm = Slurm(tmp_path)
    yield slurm
    for process in slurm.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    shutil.rmtree(f"/tmp/ray-{slurm.number}", ignore_errors=True)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes where Linux lists them")
def test_a_slurm_job_saves_before_its_time_is_up_and_goes_on_in_the_next(slurm):
    iterations, folder = 30, slurm.folder / "run"
    words = command(folder, iterations=iterations, checkpoint_every=1000, rate_every=0)

    job = slurm.start(words, "one two")
    deadline = time.monotonic() + 300
    while not (folder / "metrics.jsonl").exists() or len(read_metrics(folder)) < 2:
        assert job.poll() is None and time.monotonic() < deadline, job.communicate()
        time.sleep(0.02)
    job.send_signal(signal.SIGUSR1)
    said = job.communicate(timeout=180)
    done = len(read_metrics(folder))
    assert job.returncode == 130 and done < iterations, said
    # No checkpoint was due, so that the signal is what saved it; of the last iteration only the line may be there yet.
    assert 0 < done - 1 <= saved_tree(folder)[0] <= done
    crews = [record["crew"] for record in read_metrics(folder)]
    assert {crew["wanted"] for crew in crews} == {2}, "a worker for the core of each machine"
    head, other = (call for call in slurm.called() if call.startswith("srun"))
    assert "--nodes=1 --ntasks=1 --nodelist=one ray start" in head and "--head" in head
    assert "--nodes=1 --ntasks=1 --exclude=one ray start" in other and "--address=" in other
    assert slurm.called()[-1] == f"scontrol requeue {slurm.number}"
    assert not slurm.processes()

    slurm.calls.unlink()
    job = slurm.start(words, "one", SLURM_RESTART_COUNT="1")
    said = job.communicate(timeout=300)
    assert job.returncode == 0, said
    assert [record["iteration"] for record in read_metrics(folder)] == list(range(1, iterations + 1))
    assert [call.split()[0] for call in slurm.called()] == ["scontrol", "srun"], "one machine, and no queue again"
    assert not slurm.processes()


@pytest.mark.parametrize(
    ("words", "why"), [([], "say what beamzero is to do"), (["train", "tic_tac_toe"], "train needs --run DIR here")]
)
def test_a_slurm_job_that_cannot_be_done_gets_one_line(slurm, words, why):
    job = slurm.start(words, "one")
    said = job.communicate(timeout=120)[1]
    assert job.returncode == 2 and why in said and len(said.splitlines()) == 1 and not slurm.called()


def test_slurm_sees_all_that_is_said_to_it():
    """It reads no further than to the first command."""
    lines = SCRIPT.read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line and not line.startswith("#"))
    options = [number for number, line in enumerate(lines) if line.startswith("#SBATCH")]
    assert options and max(options) < first
    said = dict(re.findall(r"^#SBATCH --([\w-]+)=?(.*)$", "\n".join(lines), re.MULTILINE))
    assert said["ntasks-per-node"] == "1" and said["signal"].startswith("B:USR1@") and "requeue" in said
