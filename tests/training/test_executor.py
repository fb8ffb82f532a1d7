"""An iteration gives the same bits on every executor; and games may lag behind the net."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from beamzero.algorithms.alphazero.iterate import AlphaZero
from beamzero.algorithms.alphazero.settings import AlphaZeroSettings
from beamzero.algorithms.probs.iterate import Probs
from beamzero.algorithms.probs.settings import ProbsSettings
from beamzero.core.errors import RunStopped
from beamzero.core.progress import no_progress
from beamzero.games import make_game
from beamzero.training.executor import LOCAL_EXECUTOR, Batch, cut_shards
from beamzero.training.report import Report
from tests.training.toy import GAME, TOYS, numbers, run_toy, same_bits, saved_tree

KINDS = {"probs": (Probs, ProbsSettings), "alphazero": (AlphaZero, AlphaZeroSettings)}


def make(kind: str, **changes):
    algorithm, settings = KINDS[kind]
    return algorithm(make_game(GAME), settings(**{**TOYS[kind], **changes}))


class Strangers:
    """Do work items in another order, twice, from what travelled as bytes; and ahead of time whatever they may."""

    def __init__(self) -> None:
        self.begun: dict[tuple[str, int], list] = {}
        self.asked: list[tuple[str, int, int]] = []

    def map(self, work, batch, ahead=()):
        return self._results(work.__name__, work, batch, ahead)

    def map_in_steps(self, work, batch, on_progress, ahead=()):
        return self._results(work.__name__, lambda weights, item: work(weights, [item], no_progress)[0], batch, ahead)

    def _results(self, name, work, batch, ahead):
        self.asked.append((name, len(batch.items), len(ahead)))
        for one in (batch, *ahead):
            place = name, int(getattr(one.items[0], "number", -1))
            if place[1] < 0 or place not in self.begun:
                self.begun[place] = self._done(work, one)
        return iter(self.begun.pop((name, int(getattr(batch.items[0], "number", -1)))))

    def _done(self, work, batch):
        weights = jax.tree.map(np.array, batch.weights)
        results = {}
        for number in [*reversed(range(len(batch.items))), 0]:
            item = jax.tree.map(np.asarray, batch.items[number])
            results[number] = jax.device_get(work(weights, item))
        return [results[number] for number in range(len(batch.items))]


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("probs", {"lanes": 2, "search_batch": 16, "q_games_per_step": 4}),
        pytest.param("alphazero", {"lanes": 4}, marks=pytest.mark.slow),
        ("alphazero", {"lanes": 2, "lag": 2}),
    ],
)
def test_it_does_not_matter_who_does_the_work(kind, changes):
    algorithm, executor = make(kind, iterations=4, **changes), Strangers()
    one = other = algorithm.init(jax.random.key(0))
    for iteration in range(4):
        one, here = algorithm.iterate(one, iteration, jax.random.key(1), Report().phase)
        other, there = algorithm.iterate(other, iteration, jax.random.key(1), Report().phase, executor=executor)
        assert same_bits(one, other)
        for record in (here, there):
            del record["seconds"]
        assert here == there
    if "lag" in changes:
        assert [ahead for _, _, ahead in executor.asked] == [2, 2, 1, 0], "nothing is begun beyond the last iteration"
    assert {count for _, count, _ in executor.asked} >= {changes["lanes"]} and not executor.begun


@pytest.mark.slow
def test_games_that_lag_are_played_by_the_agent_of_that_many_iterations_before():
    agents = []
    lagging = make("alphazero", iterations=5, lag=2, lanes=1)

    class Watching:
        def map_in_steps(self, work, batch, on_progress, ahead=()):
            agents.append(batch.weights)
            return LOCAL_EXECUTOR.map_in_steps(work, batch, on_progress, ahead)

    states = [lagging.init(jax.random.key(0))]
    for iteration in range(5):
        state, _ = lagging.iterate(states[-1], iteration, jax.random.key(1), Report().phase, executor=Watching())
        states.append(lagging.from_tree(state.as_tree()))
        assert same_bits(states[-1], state)
    for iteration, played in enumerate(agents):
        assert same_bits(played, states[max(0, iteration - 2)].best)
    assert not same_bits(states[1].best, states[2].best)


def test_shards_are_numbered_by_their_first_game_and_have_keys_of_their_own():
    shards = cut_shards(3, 12, 4, jax.random.key(5))
    assert [shard.number for shard in shards] == [36, 39, 42, 45]
    assert len({shard.key.tobytes() for shard in shards}) == 4
    again = cut_shards(3, 12, 4, jax.random.key(5))[2].random_key
    assert (jax.random.key_data(shards[2].random_key) == jax.random.key_data(again)).all()


def test_every_item_has_its_result_and_the_progress_of_a_single_one_is_reported():
    heard: list[tuple[int, int]] = []

    def work(weights, items, on_progress):
        on_progress(items[0], 5)
        return [weights + item for item in items]

    def report(*progress):
        heard.append(progress)

    assert list(LOCAL_EXECUTOR.map_in_steps(work, Batch(10, [1]), report)) == [11] and heard == [(1, 5)]
    assert list(LOCAL_EXECUTOR.map_in_steps(work, Batch(10, [1, 2, 3]), report)) == [11, 12, 13] and heard == [(1, 5)]
    assert list(LOCAL_EXECUTOR.map(lambda weights, item: weights + item, Batch(10, [1, 2]))) == [11, 12]


@pytest.mark.slow
def test_a_run_whose_crew_gives_up_is_saved_as_far_as_it_came(tmp_path):
    class Tired:
        def __init__(self) -> None:
            self.rounds = 0

        def map(self, work, batch, ahead=()):
            self.rounds += work.__name__ == "play"
            if self.rounds > 2:
                raise RunStopped("nobody is left")
            return LOCAL_EXECUTOR.map(work, batch, ahead)

        def facts(self):
            return {}

    plan = {"iterations": 4, "checkpoint_every": 1000, "rate_every": 0}
    with pytest.raises(RunStopped, match="nobody is left"):
        run_toy(tmp_path / "run", executor=Tired(), **plan)
    assert saved_tree(tmp_path / "run")[0] == 2
    run_toy(tmp_path / "run", resume=True, iterations=4)
    run_toy(tmp_path / "whole", **plan)
    assert numbers(tmp_path / "run") == numbers(tmp_path / "whole")
