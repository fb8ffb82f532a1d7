"""What a search found, held against plain minimax: in random graphs, and in games."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import Game
from beamzero.search.alphabeta.alphabeta import AlphaBeta, Found
from beamzero.search.evaluator import SearchResult
from tests.search.graphs import ROOTS, Graph, GraphGame, GraphRules, Shape, graph_evaluator
from tests.search.plain import (
    MILLION,
    QUICK,
    SOME_TIME,
    WON,
    Lines,
    Minimax,
    Outlook,
    Rules,
    mixed_evaluator,
    random_positions,
    solve,
)


def assert_graphs_are_searched_as_by_minimax(search: AlphaBeta, graph: Graph, shape: Shape) -> None:
    minimax = Minimax(GraphRules(graph), search.quiet)
    rows, found = jax.device_get(search_graphs(search, shape, graph))
    assert set(rows.tolist()) >= set(range(ROOTS.node.shape[0])), "all graphs were searched"
    for place in np.flatnonzero(rows >= 0).tolist():
        assert_found(search, jax.tree.map(lambda x: x[place], found), minimax, int(ROOTS.node[rows[place]]))


@functools.partial(jax.jit, static_argnums=(0, 1), compiler_options=QUICK)
def search_graphs(search: AlphaBeta, shape: Shape, graph: Graph) -> tuple[Array, Found]:
    """What each depth finds, and in which graph, or -1 once all are done; what is remembered of one serves the next."""
    game = GraphGame(graph, shape)
    evaluator = graph_evaluator(game)

    def deeper(carry, _):
        row = jnp.minimum(carry.row, ROOTS.node.shape[0] - 1)
        after = search.advance(game, evaluator, carry, jnp.int32(2**30))
        return after, (jnp.where(carry.row == row, row, -1), jax.tree.map(lambda x: x[row], after.found))

    start = search.start(game, evaluator, ROOTS, jax.random.key(0))
    depths = ROOTS.node.shape[0] * (search.depth if search.deepen else 1)
    return jax.lax.scan(deeper, start, None, depths)[1]


def assert_found(search: AlphaBeta, found: Found, minimax: Minimax, root) -> None:
    """What was found in one position is what minimax finds."""
    rules, depth = minimax.rules, int(found.depth)
    truth, moves = minimax.outlook(root, depth), minimax.moves(root, depth)
    assert found.score == truth.worth
    assert moves[int(found.line[0])].worth == truth.worth, "the move is one of the best"
    for (move, true), worth, complete in zip(moves.items(), found.moves.tolist(), found.moves_complete.tolist()):
        later = minimax.moves(root, depth + 2)[move].worth
        if search.every_move or not search.prune or move == found.line[0]:
            assert worth == true.worth
            assert not complete or later == worth
        else:
            assert true.worth <= worth <= truth.worth, "an upper bound"
            assert not complete or later <= worth
        assert complete or not true.complete, "less is looked at than by minimax"
    if search.prune or not search.entries:  # else what is remembered cuts lines off
        assert_line(rules, root, found.line, truth.worth)
    if not search.prune and not search.entries:
        assert_positions(search, found, minimax, root)
    assert_certain(minimax, root, found, truth)


def assert_line(rules: Rules, root, line, worth: int) -> None:
    """It can be played, and what it leads to is what was promised."""
    node, side, plies = root, rules.player(root), 0
    for move in line[line >= 0].tolist():
        assert not rules.over(node) and move in rules.moves(node)
        node, plies = rules.step(node, move), plies + 1
    sign, result = 1 if rules.player(node) == side else -1, rules.solved(node)
    if rules.over(node):
        score = rules.score(node) * (1 if side == 0 else -1)
        assert worth == score * (WON - plies if abs(score) == 1 else MILLION)
    elif result is not None:
        assert worth == sign * result * (WON - SOME_TIME - plies)
    else:
        assert worth == sign * rules.value(node)


def assert_positions(search: AlphaBeta, found: Found, minimax: Minimax, root) -> None:
    """Plain minimax looks at every position of every line, in each of its depths once."""
    if search.deepen:
        depths = range(1, int(found.depth) + 1)
    else:
        depths = range(int(found.depth), int(found.depth) + 1)
    assert found.nodes == sum(minimax.outlook(root, depth).positions for depth in depths)


def assert_certain(minimax: Minimax, root, found: Found, truth: Outlook) -> None:
    """What is said to be certain stays as it is, however deep one looks."""
    depth = int(found.depth)
    assert found.complete or not truth.complete
    deeper = [minimax.outlook(root, depth + more).worth for more in (1, 2, 4)]
    if found.complete:
        assert deeper == [found.score] * 3
    if abs(found.score) > MILLION:
        # A quiescence search may have missed a shorter way.
        shorter = [abs(worth) - abs(found.score) for worth in deeper if worth * int(found.score) > 0]
        assert len(shorter) == 3 and min(shorter) >= 0 and max(shorter) <= (found_beyond(found) if minimax.quiet else 0)


def found_beyond(found: Found) -> int:
    """By how many plies the end that was found lies beyond the depth."""
    return max(0, WON - abs(int(found.score)) - int(found.depth))


def assert_games_are_searched_as_by_minimax(game: Game, depth: int, number: int, *ways: AlphaBeta) -> None:
    """With evaluations that are random numbers, and with the game's own."""
    for seed in (1, 0):
        evaluator, states = mixed_evaluator(game, seed), random_positions(game, number, seed)
        rules = Lines(game, evaluator, states, depth, quiet=2)
        for search in ways:
            search = dataclasses.replace(search, depth=depth)
            minimax = Minimax(rules, search.quiet)
            found, result = jax.device_get(solve(search, game, evaluator, states, jax.random.key(0)))
            for root in range(len(found.depth)):
                one, chosen = jax.tree.map(lambda x: x[root], (found, result))
                assert_played(search, one, chosen, minimax, root, exact=seed > 0)


def assert_played(
    search: AlphaBeta, found: Found, chosen: SearchResult, minimax: Minimax, root: int, exact: bool
) -> None:
    """As in graphs; the game's own evaluation may be rounded in another way."""
    depth, near = int(found.depth), 0 if exact else 4
    truth, moves = minimax.outlook(root, depth), minimax.moves(root, depth)
    assert abs(found.score - truth.worth) <= near
    assert abs(chosen.value - np.clip(truth.worth / MILLION, -1, 1)) <= 1e-5
    assert abs(moves[int(chosen.action)].worth - truth.worth) <= 2 * near
    assert (np.flatnonzero(np.isfinite(chosen.values)) == sorted(moves)).all()
    for move, worth in zip(moves, found.moves.tolist()):
        if search.every_move or not search.prune or move == found.line[0]:
            assert abs(worth - moves[move].worth) <= near
        else:
            assert moves[move].worth - near <= worth <= found.score
    certain = depth == search.depth or found.complete or abs(int(found.score)) > MILLION
    assert certain, "it stops only at the depth, or where nothing more is to be found"
    if not search.prune:
        assert_positions(search, found, minimax, root)
