"""How the server is started, and what it says where that cannot be."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from beamzero.cli import main
from beamzero.cli.commands import serve
from tests.cli.json_keys import check_keys


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--game", "ludo"], "unknown game 'ludo'"),
        (["--agent", "connect_four"], "'connect_four' must be GAME=AGENT"),
        (["--agent", "ludo=random"], "'ludo=random' must be GAME=AGENT with a game that is offered"),
        (["--agent", "kalah=nobody"], "unknown agent 'nobody'"),
        (["--keep", "no/such/folder/games.sqlite"], "no/such/folder/games.sqlite: there is no folder"),
        (["--runs", "file"], "file is a file, but runs are kept in a folder"),
        (["--keep", "file"], "file cannot keep games: file is not a database"),
        (["--host", "256.0.0.1"], "cannot listen on 256.0.0.1"),
    ],
)
def test_what_cannot_be_served_gets_one_line(arguments, line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "file").write_text("no database " * 100)
    assert main(["serve", "--port", "0", "--game", "kalah", *arguments]) == 2
    said = capsys.readouterr().err
    assert line in said and len(said.strip().splitlines()) == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "file"], "nothing is written"


def test_a_port_that_is_taken(tmp_path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        keep = str(tmp_path / "games.sqlite")
        assert main(["serve", "--port", str(port), "--game", "kalah", "--keep", keep]) == 2
    assert capsys.readouterr().err.strip() == f"beamzero: cannot listen on 127.0.0.1:{port}: address already in use"


def test_the_server_is_not_hurried_unless_somebody_presses_on_and_on():
    heard = []
    hear = serve._patient(lambda *press: heard.append(press))
    for press in range(5):
        hear(press, None)
    assert heard == [(0, None), (3, None), (4, None)]


@pytest.mark.slow
def test_it_says_where_it_is_and_ends_with_ctrl_c(tmp_path):
    command = [sys.executable, "-m", "beamzero", "serve", "--port", "0", "--game", "tic_tac_toe", "--no-warm", "--json"]
    # No colours, no browser: whoever reads JSON is a program.
    with subprocess.Popen(
        [*command, "--keep", str(tmp_path / "games.sqlite"), "--runs", str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ,
    ) as process:  # fmt: skip
        told = json.loads(process.stdout.readline())
        check_keys("serve", told)
        assert told["games"] == ["tic_tac_toe"]
        with urllib.request.urlopen(told["address"], timeout=30) as answer:
            assert b"<title>" in answer.read()
        second = subprocess.run(
            [*command, "--keep", str(tmp_path / "games.sqlite")], capture_output=True, text=True, env=os.environ
        )
        assert second.returncode == 2 and second.stderr.count("\n") == 1
        assert "another server keeps its games in" in second.stderr
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == "beamzero: interrupted\n"
        assert process.wait(timeout=30) == 130
