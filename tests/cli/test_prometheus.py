"""The numbers of a run as Prometheus reads them: those of its log, while it goes on, and then no more."""

from __future__ import annotations

import contextlib
import socket
import sys
import types
import urllib.error
import urllib.request

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from beamzero.cli import main
from beamzero.cli.prometheus import PrometheusReport, metrics_at, split_address
from beamzero.cli.terminal.display import TrainingDisplay
from beamzero.storage.metrics import read_metrics
from beamzero.training.executor import LOCAL_EXECUTOR
from beamzero.training.report import NO_REPORT
from tests.training.toy import GAME, command, run_toy

SHORT = {"iterations": 2, "rate_every": 1}


def samples(text: str) -> dict[tuple[str, ...], float]:
    """The values by the name of a metric and of what it is about, less what is the same for a whole run."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            own = [value for key, value in sample.labels.items() if key not in ("game", "algorithm", "run")]
            found[(sample.name.removeprefix("beamzero_"), *own)] = sample.value
    return found


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        assert answer.headers["content-type"].startswith("text/plain")
        return answer.read().decode()


@pytest.fixture
def port() -> int:
    with socket.socket() as any_free:
        any_free.bind(("127.0.0.1", 0))
        return any_free.getsockname()[1]


@pytest.mark.slow
def test_a_run_is_scraped_while_it_goes_on_and_after_it_was_resumed(port, tmp_path, monkeypatch, capsys):
    folder, texts, shown = tmp_path / "run", [], TrainingDisplay.iteration

    def look(display, record):
        texts.append(scrape(port))
        shown(display, record)

    monkeypatch.setattr(TrainingDisplay, "iteration", look)
    assert main(command(folder, "--prometheus", str(port), **SHORT)) == 0
    said = capsys.readouterr().err
    assert f"metrics for Prometheus are at http://127.0.0.1:{port}/metrics\n" in said and " 2/2  games/s " in said
    with pytest.raises(urllib.error.URLError):
        scrape(port)
    again = ["--resume", "--prometheus", f"127.0.0.1:{port}", "--iterations", "3"]
    assert main(command(folder, *again)) == 0
    records = read_metrics(folder)
    assert [samples(text)["iterations",] for text in texts] == [1, 2, 3]
    for done, text in enumerate(texts, 1):
        found, last = samples(text), records[done - 1]
        for key, name in {"games": "games", "states": "states", "evaluations": "evaluations"}.items():
            assert found[f"{name}_total",] == sum(record[key] for record in records[:done])
        searching = sum(record["seconds"]["search"] for record in records[:done])
        assert found["phase_seconds_total", "search"] == pytest.approx(searching)
        assert (found["loss", "V"], found["loss", "Q"]) == (last["value_loss"], last["q_loss"])
        if last["rating"]["elo"] is not None:
            assert found["elo",] == last["rating"]["elo"]
        assert found["training_seconds",] == last["total_seconds"]
        assert "process_cpu_seconds_total" in text and ("workers_alive",) not in found
        assert f'game="{GAME}"' in text and 'algorithm="probs"' in text and f'run="{folder}"' in text


def test_workers_are_asked_at_every_scrape(tmp_path):
    run_toy(tmp_path / "run", iterations=1, rate_every=0)
    odd = 'a "quoted"\nname'
    facts = {"wanted": 3, "alive": 2, "deaths": 1, "twice": 4, "pieces": 9, "by_worker": {}}
    registry = CollectorRegistry()
    report = PrometheusReport(NO_REPORT, registry, tmp_path / "run", lambda: facts)
    assert samples(generate_latest(registry).decode()) == {}, "before a run begins there is nothing to say"
    report.begin("a run", 1, 5)
    found = samples(generate_latest(registry).decode())
    assert (found["iterations",], found["iterations_planned",], found["workers_wanted",]) == (1, 5, 3)
    assert (found["workers_alive",], found["worker_deaths_total",], found["pieces_twice_total",]) == (2, 1, 4)
    facts["by_worker"] = {7: {"host": odd, "pieces": 5, "seconds": 1.5}, 8: {"host": "b", "pieces": 4, "seconds": 2.5}}
    text = generate_latest(registry).decode()
    by = {
        (sample.name, sample.labels["worker"], sample.labels["host"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if "worker" in sample.labels
    }
    assert by == {
        ("beamzero_worker_pieces_total", "7", odd): 5, ("beamzero_worker_pieces_total", "8", "b"): 4,
        ("beamzero_worker_busy_seconds_total", "7", odd): 1.5, ("beamzero_worker_busy_seconds_total", "8", "b"): 2.5,
    }  # fmt: skip


def test_a_run_on_a_cluster_says_how_its_workers_are(port, tmp_path, monkeypatch):
    by_worker = {1: {"host": "a", "pieces": 5, "seconds": 1.5}}
    facts = {"wanted": 2, "alive": 1, "deaths": 0, "twice": 0, "pieces": 5, "by_worker": by_worker}
    pool = types.SimpleNamespace(wanted=2, facts=lambda: facts)
    monkeypatch.setattr("beamzero.cli.commands.train.workers_of", lambda *_, **__: contextlib.nullcontext(pool))
    monkeypatch.setattr("beamzero.cli.commands.train.ClusterExecutor", lambda pool: LOCAL_EXECUTOR)
    texts = []
    monkeypatch.setattr(TrainingDisplay, "iteration", lambda display, record: texts.append(scrape(port)))
    words = ["--cluster", "local", "--prometheus", str(port)]
    assert main(command(tmp_path / "run", *words, iterations=1, rate_every=0)) == 0
    found = samples(texts[0])
    assert (found["workers_wanted",], found["workers_alive",]) == (2, 1)
    assert found["worker_busy_seconds_total", "a", "1"] == 1.5


@pytest.mark.parametrize("address", ["no", "", "-1", "65536", "1" * 5000, ":9100", "127.0.0.1:", "[::1]", "::1", "1.5"])
def test_what_is_no_address_gets_one_line_and_no_folder(address, tmp_path, capsys):
    assert main(["train", GAME, "--run", str(tmp_path / "run"), f"--prometheus={address}"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("beamzero: --prometheus is PORT or HOST:PORT, with a port from 0 to 65535, and not ")
    assert said.count("\n") == 1 and not (tmp_path / "run").exists()


@pytest.mark.parametrize("host", ["", "256.0.0.1:", "no..where:"])
def test_where_nobody_can_listen_gets_one_line_and_no_folder(host, tmp_path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"{host}{taken.getsockname()[1]}"
        assert main(["train", GAME, "--run", str(tmp_path / "run"), "--prometheus", address]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"beamzero: cannot serve metrics at {address}: ") and said.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_without_the_library_one_line_says_how_to_get_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    assert main(["train", GAME, "--run", str(tmp_path / "run"), "--prometheus", "0"]) == 2
    said = capsys.readouterr().err
    assert said == "beamzero: --prometheus needs prometheus-client: pip install 'beamzero[cluster]'\n"
    assert not (tmp_path / "run").exists()


def test_the_server_ends_where_something_goes_wrong():
    said = []
    with pytest.raises(ZeroDivisionError), metrics_at("0", said.append):
        port = int(said[0].removesuffix("/metrics").rpartition(":")[2])
        assert "process_cpu_seconds_total" in scrape(port)
        raise ZeroDivisionError
    with pytest.raises(urllib.error.URLError):
        scrape(port)


def test_an_address_may_name_its_host():
    assert split_address("9100") == ("127.0.0.1", 9100)
    assert split_address("0.0.0.0:0") == ("0.0.0.0", 0) and split_address("[::1]:65535") == ("::1", 65535)
