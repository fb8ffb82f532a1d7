"""What a server offers, and that nothing else can be had."""

from __future__ import annotations

import pytest

from beamzero.core.errors import BadInput
from beamzero.games import GAMES, make_game
from beamzero.players import make_player
from beamzero.storage.metrics import Metrics
from beamzero.storage.run import Run
from beamzero.web.offers import Offers, title_of
from beamzero.web.runs import describe_runs, run_rows


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name.startswith("chess") else ())
        for name in GAMES
        if not GAMES[name].hidden  # the page shows no cards yet
    ],
)
def test_every_game_has_opponents_from_weak_to_strong_and_all_can_be_made(name):
    offers = Offers([name])
    agents = offers.agents_of(name)
    assert [agent.level for agent in agents] == sorted(agent.level for agent in agents)
    assert agents[0].id == "random" and offers.default_agent(name) in agents
    for agent in agents:
        make_player(agent.text, make_game(name))


def test_a_client_gets_only_what_is_listed():
    offers = Offers(["kalah"])
    for game in ("connect_four", "kalah:seeds=4", "mine.py:Mine", ""):
        with pytest.raises(BadInput, match="unknown game"):
            offers.game(game)
        with pytest.raises(BadInput, match="unknown game"):
            offers.named_by_record(game)
    for agent in ("alphabeta:depth=9", "probs:/tmp/x", "uci:sh", "human", ""):
        with pytest.raises(BadInput, match="unknown agent"):
            offers.agent("kalah", agent)
    for agent in ("run:x", "run:../x", "run:/etc"):
        with pytest.raises(BadInput, match="unknown run"):
            offers.agent("kalah", agent)


def test_a_game_is_known_by_its_name_its_spec_and_its_identity():
    offers = Offers(["kalah:seeds=4", "othello:size=8"])
    assert offers.named_by_record("kalah:seeds=4") == "kalah:seeds=4"
    assert offers.named_by_record("othello") == "othello:size=8"


def test_further_agents_are_offered_without_their_paths():
    offers = Offers(["kalah", "othello"], [("kalah", "probs:/srv/secret/agent.safetensors,expand=10")])
    (extra,) = [agent for agent in offers.agents_of("kalah") if agent.id.startswith("extra")]
    assert (extra.id, extra.title) == ("extra:0", "agent.safetensors")
    assert "secret" not in extra.title + extra.about + extra.id
    assert not [agent for agent in offers.agents_of("othello") if agent.id.startswith("extra")]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("connect_four", "Connect Four"), ("chess6x6", "Chess 6x6"), ("kalah:seeds=4", "Kalah (seeds=4)"),
        ("pgx:go_9x9", "Go 9x9"), ("open_spiel:hex,board_size=5", "Hex (board_size=5)"),
        ("games/nim.py:Nim", "Nim (Nim)"),
    ],
)  # fmt: skip
def test_games_have_titles(name, title):
    assert title_of(name) == title


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def offers(tmp_path):
    """A folder with a run of three iterations, one without any, and one that is damaged."""
    about = {"game": "tic_tac_toe", "algorithm": "alphazero", "recipe": "quick", "settings": {"iterations": 10}}
    run = Run.create(tmp_path / "deep" / "er", about)
    with Metrics(run.folder, warn=lambda text: None) as metrics:
        for iteration in (1, 2, 3):
            rating = {"rating": {"elo": 1000.0 + iteration, "low": 900.0, "high": 1100.0}} if iteration == 2 else {}
            metrics.append(
                {
                    "iteration": iteration, "loss": 1 / iteration, "policy_loss": float("nan"), "games": 8,
                    "seconds": {"self_play": 2.0}, "total_seconds": 4.0 * iteration, **rating,
                }
            )  # fmt: skip
    Run.create(tmp_path / "empty", about)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{")
    return Offers(["tic_tac_toe"], runs=tmp_path)


def test_runs_are_listed_by_names_that_are_no_paths(offers):
    runs = {run["id"]: run for run in describe_runs(offers)}
    assert set(runs) == {"deep.er", "empty", "broken"}
    one = runs["deep.er"]
    assert (one["iterations"], one["of"], one["seconds"], one["alive"]) == (3, 10, 12.0, False)
    assert (one["title"], one["recipe"], one["algorithm"]) == ("Tic Tac Toe", "quick", "alphazero")
    assert one["elo"] == {"elo": 1002.0, "low": 900.0, "high": 1100.0}
    assert runs["broken"]["damaged"] == "it cannot be read" and str(offers.runs) not in str(runs)


def test_a_run_that_is_being_trained_is_alive(offers):
    with Run.open(offers.runs / "empty").lock():
        assert {run["id"]: run["alive"] for run in describe_runs(offers)} == {
            "deep.er": False, "empty": True, "broken": False,
        }  # fmt: skip


def test_rows_come_from_an_iteration_on(offers):
    every = run_rows(offers, "deep.er", 0)
    assert [row["iteration"] for row in every["rows"]] == [1, 2, 3]
    assert run_rows(offers, "deep.er", 2)["rows"] == every["rows"][2:]
    row = every["rows"][1]
    assert row["losses"] == {"loss": 0.5, "policy_loss": None} and row["games_per_second"] == 4.0
    assert row["elo"]["elo"] == 1002.0 and row["gate"] is None
    assert row["crew"] is None and every["workers"] is None, "nobody else did its work"
    assert run_rows(offers, "empty", 0)["workers"] is None
    with pytest.raises(BadInput, match="cannot be read"):
        run_rows(offers, "broken", 0)


def test_a_checkpoint_that_is_not_there_and_a_run_of_another_game_are_refused(offers):
    with pytest.raises(BadInput, match="has no checkpoint 7"):
        offers.agent("tic_tac_toe", "run:deep.er@7")
    with pytest.raises(BadInput, match="is not one of kalah"):
        Offers(["kalah"], runs=offers.runs).agent("kalah", "run:deep.er")
    assert offers.agent("tic_tac_toe", "run:deep.er").text.startswith("alphazero:")
    (offers.runs / "deep" / "er" / "checkpoints" / "00000003-1").mkdir(parents=True)
    assert offers.fix_checkpoint("tic_tac_toe", "run:deep.er") == "run:deep.er@3", "a seat is one checkpoint for good"
    assert offers.fix_checkpoint("tic_tac_toe", "human") == "human"
