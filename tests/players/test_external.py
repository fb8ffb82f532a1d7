"""Engines that others wrote: they play, and whatever goes wrong with them costs one game and leaves no process."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.arena.battle import battle
from beamzero.cli import main
from beamzero.core.errors import BadInput
from beamzero.core.spec import quote
from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.players.external import engines as external
from beamzero.players.external import gtp as gtp_client
from beamzero.players.external import process as engine_process
from beamzero.players.external import uci as uci_client
from beamzero.players.fingerprint import fingerprint
from beamzero.players.player import FORFEIT
from beamzero.records.record import records_of

TIC_TAC_TOE = make_game("tic_tac_toe")
CHESS = make_game("chess")
KEY = jax.random.key(0)
FAKE = f"{sys.executable} {Path(__file__).with_name('fake_engine.py')}"


def fake(protocol: str, *words: object, options: str = "") -> str:
    """The text that names a player who asks the fake engine."""
    command = " ".join([FAKE, protocol, *map(str, words)])
    return f"{protocol}:{quote(command)}{options}"


@pytest.fixture
def processes(monkeypatch):
    """Every process that is started, by order."""
    started = []

    class Noted(engine_process.EngineProcess):
        def __init__(self, command: str) -> None:
            super().__init__(command)
            started.append(self._process)

    for module in (uci_client, gtp_client):
        monkeypatch.setattr(module, "EngineProcess", Noted)
    return started


# --- games -----------------------------------------------------------------------------------------------------------


def test_a_gtp_engine_is_told_every_move_of_its_games(processes):
    """It refuses a move to a square that is taken, and answers with the first one that is free."""
    engine, other = make_player(fake("gtp", options=",processes=2"), TIC_TAC_TOE), make_player("random", TIC_TAC_TOE)
    played = battle(TIC_TAC_TOE, engine, other, games=20)
    assert played.forfeits == (0, 0) and not engine.troubles and engine.title == "Fake 1"
    for row, moves in enumerate(played.moves):
        side = int(row >= 10)
        for ply in range(2, int((moves >= 0).sum())):
            if ply % 2 == side:
                free = [square for square in range(9) if square not in moves[:ply]]
                assert moves[ply] == free[0]
    assert len(processes) == 2
    engine.pool.close()
    assert all(process.returncode is not None for process in processes)


@pytest.mark.parametrize(("fault", "said"), [("die", "died with exit status 3"), ("illegal", "the illegal move 'z9'")])
def test_an_engine_that_goes_wrong_forfeits_that_game_and_starts_again(processes, fault, said):
    engine, other = make_player(fake("gtp", fault, 4), TIC_TAC_TOE), make_player("lookahead:1", TIC_TAC_TOE)
    played = battle(TIC_TAC_TOE, engine, other, games=8)
    forfeited = played.forfeits[0]
    assert 1 <= forfeited == len(engine.troubles) and played.forfeits[1] == 0
    assert all(said in trouble and engine.name in trouble and "Fake 1" in trouble for trouble in engine.troubles)
    assert 1 <= len(processes) - (fault == "die") <= (forfeited if fault == "die" else 1)
    results = [record.result for record in records_of(TIC_TAC_TOE, played)]
    assert all(result is not None for result in results)
    assert played.tally().losses >= forfeited


@pytest.mark.slow
def test_an_engine_that_hangs_forfeits(monkeypatch, processes):
    monkeypatch.setattr(external, "_GRACE", 0.2)
    engine = make_player(fake("gtp", "hang", 0, options=",seconds=0.1"), TIC_TAC_TOE)
    states = jax.tree.map(lambda x: jnp.stack([x, x]), TIC_TAC_TOE.init(KEY))
    moves = engine.choose_after(states, jnp.array([True, False]), KEY, np.zeros((2, 0), np.int32))
    assert int(moves[0]) == FORFEIT and "gave no answer in 0.3 s" in engine.troubles[0]
    assert processes[0].returncode is not None, "it was ended"


def test_an_engine_that_cannot_be_started_again_forfeits_the_rest(processes, tmp_path):
    engine = make_player(fake("gtp", "die", 2, tmp_path / "started"), TIC_TAC_TOE)
    played = battle(TIC_TAC_TOE, engine, make_player("random", TIC_TAC_TOE), games=8)
    assert played.forfeits[0] > 1 and played.tally().losses >= played.forfeits[0]
    assert "died with exit status 3" in engine.troubles[0]
    assert all("cannot be started again" in trouble for trouble in engine.troubles[1:])


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no sessions of processes here")
def test_what_an_engine_started_ends_with_it(processes):
    """A script that calls the engine, and does not become it."""
    engine = make_player(f"gtp:{quote(shlex.join(['sh', '-c', f'{FAKE} gtp hang 0; true']))},seconds=0.1", TIC_TAC_TOE)
    began = time.monotonic()
    engine.pool.give_up()
    assert processes[0].returncode is not None and time.monotonic() - began < 5


def test_ctrl_c_waits_for_nobody(processes):
    engine = make_player(fake("gtp", "hang", 0), TIC_TAC_TOE)
    states = jax.tree.map(lambda x: jnp.stack([x, x]), TIC_TAC_TOE.init(KEY))
    threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        engine.choose_after(states, jnp.array([True, True]), KEY, np.zeros((2, 0), np.int32))
    assert time.monotonic() - began < 20 and processes[0].returncode is not None and len(processes) == 1


@pytest.mark.slow
def test_a_uci_engine_chooses_and_thinks(processes):
    engine = make_player(fake("uci", options=",depth=1,hash=4"), CHESS)
    states = jax.tree.map(lambda x: jnp.stack([x, x]), CHESS.init(KEY))
    moves = engine.choose(states, jnp.array([False, True]), KEY)
    assert CHESS.action_name(CHESS.init(KEY), int(moves[1])) == "a3"
    found = jax.device_get(engine.think(states, KEY))
    assert (found.action == int(moves[1])).all() and (found.nodes == 7).all()
    assert found.value == pytest.approx([np.tanh(0.5 * CHESS.point)] * 2, rel=1e-5), "a pawn ahead"
    assert (found.policy.sum(axis=1) == 1).all() and ((found.values > -np.inf).sum(axis=1) == 20).all()
    broken = make_player(fake("uci", "illegal", 1, options=",depth=1"), CHESS)
    assert broken.choose(states, jnp.array([True, True]), KEY).tolist() == [int(moves[1]), FORFEIT]


def test_a_fingerprint_is_of_what_the_engine_is_told():
    one, again, other = (
        make_player(fake("gtp", options=options), TIC_TAC_TOE) for options in ("", ",processes=1", ',set="komi 0"')
    )
    assert fingerprint(one) == fingerprint(again) != fingerprint(other)
    uci = [make_player(fake("uci", options=f",depth={depth}"), CHESS) for depth in (1, 1, 2)]
    assert fingerprint(uci[0]) == fingerprint(uci[1]) != fingerprint(uci[2])


# --- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "agent", "wrong"),
    [
        ("chess", "uci:no-such-program,depth=1", "there is no program 'no-such-program'"),
        ("chess", "uci:,depth=1", "an engine needs a command"),
        ("chess", 'uci:"a \'b",depth=1', "cannot read the command"),
        ("chess", fake("uci"), "needs one limit: depth=N, nodes=N or seconds=S"),
        ("chess", fake("uci", options=",depth=1,nodes=5"), "needs one limit"),
        ("chess", fake("uci", options=",depth=0"), "depth is 0, but must be more than 0"),
        ("chess", fake("uci", options=",depth=1,elo=1500"), "has no option 'UCI_LimitStrength'"),
        ("chess", fake("uci", options=",depth=1,hash=40"), "Hash is 40, but must be 1 to 10"),
        ("chess", fake("uci", options=",depth=1,set=Hash"), "must be NAME=VALUE;NAME=VALUE"),
        ("chess6x6", fake("uci", options=",depth=1"), "plays chess alone, not chess6x6"),
        ("othello", fake("uci", options=",depth=1"), "UCI is for chess and chess6x6, not for othello"),
        ("chess", f"uci:{quote(FAKE + ' gtp')},depth=1", "does not speak UCI"),
        ("tic_tac_toe", f"gtp:{quote(FAKE + ' uci')}", "does not speak GTP"),
        ("tic_tac_toe", f"gtp:{quote(FAKE + ' silent')}", "does not speak GTP: it gave no answer in 0.5 s"),
        ("tic_tac_toe", fake("gtp", options=",processes=0"), "processes is 0, but must be 1 to 64"),
        ("tic_tac_toe", fake("gtp", options=',set="play B a1;play W a1"'), "answered 'play W a1' with 'illegal move'"),
    ],
)
def test_an_engine_that_cannot_be_used_gets_one_line(monkeypatch, processes, capsys, game, agent, wrong):
    for module in (uci_client, gtp_client):
        monkeypatch.setattr(module, "_GREETING_SECONDS", 0.5 if "silent" in agent or "speak" in wrong else 20.0)
    assert main(["battle", game, agent, "random"]) == 2
    said = capsys.readouterr().err
    assert wrong in said and said.count("\n") == 1
    assert all(process.returncode is not None for process in processes), "nothing is left running"


def test_a_gtp_engine_cannot_judge_a_position_alone():
    engine = make_player(fake("gtp"), TIC_TAC_TOE)
    with pytest.raises(BadInput, match="has to be told how a position came about"):
        engine.think(jax.tree.map(lambda x: x[None], TIC_TAC_TOE.init(KEY)), KEY)


# --- real engines ----------------------------------------------------------------------------------------------------


@pytest.mark.external
def test_gtp_rhino_plays_othello():
    game = make_game("othello")
    engine, other = make_player('gtp:"gtp-rhino --level=1"', game), make_player("random", game)
    played = battle(game, engine, other, games=6)
    assert played.forfeits == (0, 0) and played.score >= 0.8, engine.troubles


@pytest.mark.external
@pytest.mark.parametrize(
    ("spec", "program", "mates"),
    [
        (
            "chess",
            "stockfish",
            {"6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1": "Ra8#", "7k/8/8/8/8/1q6/6r1/K7 b - - 0 1": "Qb1#"},
        ),
        ("chess6x6", "fairy-stockfish", {"5k/1R4/R5/6/6/3K2 w - - 0 1": "Ra6#"}),
    ],
)
def test_stockfish_gives_mate(spec, program, mates):
    game = make_game(spec)
    engine = make_player(f"uci:{program},depth=4,hash=1", game)
    for fen, mate in mates.items():
        state = game.read_position(fen)
        states = jax.tree.map(lambda x: x[None], state)
        (action,) = engine.choose(states, jnp.array([True]), KEY).tolist()
        name = game.action_name(state, action)
        assert name == mate or (name.endswith("#") and mate.startswith("Q")), engine.troubles
        assert engine.think(states, KEY).value[0] == 1
        assert fingerprint(engine)
    engine.pool.close()
