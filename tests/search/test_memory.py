"""Memory is counted before it is taken: by shapes alone, and refused in words that say what to lower."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players.player import SearchPlayer
from beamzero.search import memory
from beamzero.search.beam import BeamSearch
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.mcts.mcts import MCTS
from beamzero.search.mcts.rollouts import RandomGames
from beamzero.search.memory import bytes_of, cgroup_rooms, check_memory, fewer, heaviest, smaller, together

GIGABYTE = 2**30


@pytest.fixture
def ten_gigabytes(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 10 * GIGABYTE)
    monkeypatch.setattr(memory, "host_free_bytes", lambda: 20 * GIGABYTE)


def test_shapes_count_as_the_arrays_do_that_they_stand_for():
    tree = {"a": jax.ShapeDtypeStruct((3, 5), jnp.float32), "b": [jax.ShapeDtypeStruct((7,), jnp.bool_)]}
    assert bytes_of(tree) == 3 * 5 * 4 + 7
    assert memory.state_bytes(make_game("tic_tac_toe")) == 5


def test_what_is_taken_at_once_adds_up_and_what_is_not_does_not():
    one, other = {"a": 3, "b": 1}, {"b": 2}
    assert together(one, other) == {"a": 3, "b": 3} and heaviest(one, other) == one


def test_what_fits_is_allowed_to_the_last_byte(ten_gigabytes):
    check_memory({"less": 10 * GIGABYTE})
    check_memory({"less": 20 * GIGABYTE}, on_host=True)
    with pytest.raises(BadInput):
        check_memory({"less": 10 * GIGABYTE + 1})


def test_a_refusal_says_the_figures_and_names_what_takes_most_first(ten_gigabytes):
    needs = {smaller(window=7): 60 * GIGABYTE, fewer(games=100): 80 * GIGABYTE, smaller(net="mlp"): 5 * GIGABYTE}
    with pytest.raises(BadInput) as refused:
        check_memory(needs, "this run")
    assert str(refused.value) == (
        "this run would take about 145 GB, but 10 GB are free: use fewer games (now 100), or a smaller window (now 7)"
    )


def test_no_number_is_too_large_to_be_refused(ten_gigabytes):
    with pytest.raises(BadInput, match="but 10 GB are free: go elsewhere"):
        check_memory({"less": 10**400}, instead="go elsewhere")


@pytest.mark.parametrize(
    ("groups", "folder", "names"),
    [
        ("0::/mine/own\n", "mine", ("memory.max", "memory.current", "inactive_file")),
        (
            "3:cpu:/mine\n4:memory:/mine/own\n0::/\n", "memory/mine",
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ),
    ],
)  # fmt: skip
def test_a_control_group_leaves_what_is_below_its_limit_and_what_only_holds_files(tmp_path, groups, folder, names):
    limit, used, copies = names
    place = tmp_path / folder
    place.mkdir(parents=True)
    (place / limit).write_text("1000\n")
    (place / used).write_text("700\n")
    (place / "memory.stat").write_text(f"anon 500\n{copies} 150\n")
    assert cgroup_rooms(groups, tmp_path) == [450]


def test_a_control_group_without_a_limit_leaves_everything(tmp_path):
    for name, text in {"memory.max": "max", "memory.current": "700", "memory.stat": ""}.items():
        (tmp_path / name).write_text(text)
    assert cgroup_rooms("0::/\n", tmp_path) == [] == cgroup_rooms("", Path("nowhere"))


def test_something_is_free_here_and_no_more_than_there_is():
    assert memory.free_bytes() > 0 and 0 < memory.host_free_bytes() <= memory.host_memory_bytes()


@pytest.mark.parametrize("name", ["tic_tac_toe", "othello", "backgammon"])
def test_trees_are_counted_to_the_byte(name):
    game, sims = make_game(name), MCTS(sims=9)
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 3))
    trees = jax.eval_shape(
        lambda keys: sims.start(game, zero_evaluator(game), jax.vmap(game.init)(keys), keys[0]), keys
    )
    assert RandomGames(sims).bytes_needed(game, 3) == bytes_of(trees) - 4, "but for the number of simulations"
    beam = BeamSearch(expand=9)
    trees = jax.eval_shape(lambda keys: beam.start(game, zero_evaluator(game), jax.vmap(game.init)(keys)), keys)
    assert abs(beam.bytes_needed(game, 3) - bytes_of(trees)) < 100


def test_a_player_takes_what_the_programs_take_that_choose_at_the_same_time(monkeypatch):
    game, search = make_game("tic_tac_toe"), MCTS(sims=9)
    player = SearchPlayer("tree", game, search, zero_evaluator(game))
    monkeypatch.setattr("beamzero.players.player.programs_at_once", lambda on_host=False: 2)
    assert player.bytes_needed(80) == 2 * search.bytes_needed(game, 10)
    assert player.bytes_needed(80, with_results=True) == search.bytes_needed(game, 80)
    assert player.bytes_needed(1) == search.bytes_needed(game, 1)
