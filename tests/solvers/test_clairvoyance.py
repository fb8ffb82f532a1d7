"""Averaging over clairvoyance: the solvers agree, nothing hidden is looked at, and where the method goes wrong."""

from __future__ import annotations

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from endplay.dds import calc_dd_table
from endplay.types import Deal, Denom, Player

from beamzero.arena.battle import battle
from beamzero.cli import main
from beamzero.core.errors import BadInput
from beamzero.games import Game, State, make_game
from beamzero.games.bridge.game import Bridge
from beamzero.players import make_player
from beamzero.players.double_dummy import DDS, Endings, _solve, load_dds
from beamzero.players.fingerprint import fingerprint
from beamzero.solvers.clairvoyance import Clairvoyance
from beamzero.solvers.exhaustive import Exhaustive
from tests.games.play import at, play
from tests.games.test_bridge import DEAL
from tests.search.bridge_plans import open_tricks, plans_after, worlds_of
from tests.search.bridge_plans import play as play_card
from tests.search.test_mcts_chance import PLAYERS, ROOTS, Dice, Plain

TRUMPS, NO_TRUMPS = Bridge("2D", "E"), Bridge("3NT")


def endings(game: Bridge, cards: int, played: int, number: int) -> State:
    """States of random play with so many cards a hand at the beginning of the trick, and so many `played` in it."""
    return at(play(game).states, 52 - 4 * cards + played, slice(0, number))


def legal_there(game: Bridge, cards: int, played: int, number: int) -> np.ndarray:
    return play(game).facts.legal[52 - 4 * cards + played, :number]


# --- solvers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "game",
    [TRUMPS, pytest.param(NO_TRUMPS, marks=pytest.mark.slow)],
    ids=lambda game: game.contract,
)
def test_our_solver_of_endings_agrees_with_dds(game):
    """Card by card, in endings of up to six cards, at every place in a trick."""
    for place in [(1, 0, 4), (2, 1, 8), (3, 2, 12), (4, 3, 8), (5, 0, 4), (5, 2, 4), (6, 1, 2)]:
        states, legal = endings(game, *place), legal_there(game, *place)
        ours, theirs = Endings()(game, states), DDS()(game, states)
        assert (np.isfinite(ours) == legal).all() and (np.isfinite(theirs) == legal).all()
        np.testing.assert_allclose(ours, theirs, atol=2e-6)


@pytest.mark.slow
def test_so_does_minimax_over_everything():
    game = TRUMPS
    for cards, played in [(1, 3), (2, 0), (2, 2), (3, 1)]:
        states = endings(game, cards, played, 8)
        np.testing.assert_allclose(Exhaustive()(game, states), DDS()(game, states), atol=2e-6)


def test_what_dds_finds_fault_with_is_an_error_and_never_a_number(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # DDS writes down there what it was given
    dds, states = load_dds(), jax.device_get(jax.vmap(TRUMPS.init)(jax.random.split(jax.random.key(0), 3)))
    crowded = states.holder.copy()
    crowded[1, np.flatnonzero(crowded[1] == 0)[:2]] = 1
    with pytest.raises(BadInput, match="DDS cannot solve the deal: Wrong number of remaining cards in a hand"):
        DDS()(TRUMPS, states._replace(holder=crowded))
    with pytest.raises(BadInput, match="it does not say for every card how many tricks it takes"):
        _solve(dds, 7, states)  # there is no such trump, which comes back as no error


def test_dds_solves_more_deals_than_fit_into_one_call():
    states = endings(TRUMPS, 4, 0, 64)
    many = jax.tree.map(lambda x: np.concatenate([x] * 7), states)
    assert (DDS()(TRUMPS, many) == np.concatenate([DDS()(TRUMPS, states)] * 7)).all()


@pytest.mark.slow
def test_a_whole_deal_is_worth_what_the_table_of_tricks_says():
    """By another way into the library: the table of a deal says how many tricks each declarer takes in each strain."""
    table = calc_dd_table(Deal(DEAL))
    for strain, declarer in [("NT", "N"), ("S", "E"), ("D", "S"), ("NT", "W")]:
        game = Bridge(f"3{strain}", declarer)
        state = game.read_position(f"{DEAL} {game.contract} {declarer}")
        best = DDS()(game, jax.tree.map(lambda x: np.asarray(x)[None], state)).max()
        tricks = table[Denom.find(strain), Player.find(declarer)]
        assert best == pytest.approx((13 - 2 * tricks) / 13), "for the defender who leads"


def test_minimax_over_everything_knows_that_tic_tac_toe_is_a_draw():
    game = make_game("tic_tac_toe")
    first = jax.tree.map(lambda x: np.asarray(x)[None], game.init(jax.random.key(0)))
    assert Exhaustive()(game, first).tolist() == [[0.0] * 9]
    with pytest.raises(BadInput, match="tic_tac_toe is too large to be played to its end: more than 500 positions"):
        Exhaustive(most=500)(game, first)


def test_minimax_over_everything_weighs_chance():
    found = Exhaustive()(Dice(), at(ROOTS, slice(0, 3)))
    for table, values in enumerate(found):
        plain, sign = Plain(table), 1 - 2 * int(PLAYERS[table, 0, 0])
        assert values == pytest.approx([sign * plain.value(1, move) for move in range(3)], abs=1e-5)


def test_kuhn_poker_with_open_cards():
    """In chips: who holds the lower card checks and folds, so that it loses one; a bet would be called."""
    game = make_game("kuhn_poker")
    queen = [state for _, state in game.deals() if state.cards[0] == 1]
    states = jax.tree.map(lambda *x: np.stack(x), *queen)
    chips = Exhaustive()(game, states) * game.stake
    by_other = dict(zip(states.cards[:, 1].tolist(), chips[:, 1:].tolist()))
    assert by_other == {0: [1, 1], 2: [-1, -2]}
    player = make_player("clairvoyance:worlds=400", game)
    result = player.think(jax.tree.map(lambda x: jnp.asarray(x), states), jax.random.key(0))
    assert np.asarray(result.values[:, 1:]) * game.stake == pytest.approx(np.array([[0, -0.5]] * 2), abs=0.2)


# --- the player ------------------------------------------------------------------------------------------------------


@functools.partial(jax.jit, static_argnums=0)
def disguise(game: Game, states: State, key) -> State:
    """States that the deciding seats cannot tell from these."""
    keys = jax.random.split(key, jax.tree.leaves(states)[0].shape[0])
    return jax.vmap(lambda state, key: game.determinize(state, game.seat(state), key))(states, keys)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "agent"), [("bridge", "clairvoyance:worlds=5"), ("leduc_poker", "clairvoyance:worlds=20")]
)
def test_what_is_hidden_changes_nothing(name, agent):
    """Given the same key, all that it thinks is the same in all states that the seat cannot tell apart."""
    game = make_game(name)
    player, key = make_player(agent, game), jax.random.key(0)
    plies = (8, 25, 40) if name == "bridge" else (0, 1, 2)
    for ply in plies:
        running = ~play(game).facts.over[ply]
        states = jax.tree.map(lambda x: jnp.asarray(x[running][:6]), at(play(game).states, ply))
        thought = player.think(states, key)
        for number in range(3):
            other = disguise(game, states, jax.random.key(number))
            again = player.think(other, key)
            assert all((np.asarray(a) == np.asarray(b)).all() for a, b in zip(thought, again, strict=True))


def test_where_all_cards_are_known_it_plays_double_dummy():
    game = TRUMPS
    player, known = make_player("clairvoyance:worlds=3", game), 0
    for ply in (42, 45, 48, 50):
        states = jax.tree.map(lambda x: jnp.asarray(x[:24]), at(play(game).states, ply))
        others = [disguise(game, states, jax.random.key(number)).holder for number in range(12)]
        certain = np.all([np.asarray(other == states.holder).all(axis=1) for other in others], axis=0)
        values = np.asarray(player.think(states, jax.random.key(1)).values)[certain]
        truth = DDS()(game, jax.device_get(states))[certain]
        known += int(certain.sum())
        np.testing.assert_allclose(values, truth, atol=2e-6)
    assert known > 20


def test_it_chooses_only_where_it_has_the_turn_and_only_legal_moves():
    game = TRUMPS
    states = jax.tree.map(jnp.asarray, endings(game, 5, 1, 16))
    turn = jnp.arange(16) % 3 != 0
    solved = []

    def solver(game: Game, states: State) -> np.ndarray:
        solved.append(len(states.plies))
        return Endings()(game, states)

    legal = legal_there(game, 5, 1, 16)
    choices = int((legal.sum(axis=1) > 1)[np.asarray(turn)].sum())
    player = make_player("clairvoyance", game)
    player = type(player)(player.name, game, Clairvoyance(solver, worlds=1))
    action = np.asarray(player.choose(states, turn, jax.random.key(0)))
    assert solved == [choices] and legal[np.arange(16), action].all()


def test_other_settings_are_another_player():
    game = make_game("bridge")
    agents = ["clairvoyance", "clairvoyance:worlds=40", "clairvoyance:worlds=5", "clairvoyance:solver=alphabeta"]
    first, same, *others = [fingerprint(make_player(agent, game)) for agent in agents]
    assert first == same and len({first, *others}) == 3


@pytest.mark.slow
def test_equal_moves_are_chosen_at_random():
    state = Bridge().read_position("N:5.2.2. 6.4.4. 432... 987... 3NT S won=6-4 lead=S")
    states = jax.tree.map(lambda x: jnp.asarray(x)[None], state)
    player = make_player("clairvoyance:worlds=2,solver=alphabeta", Bridge())
    assert len({int(player.think(states, jax.random.key(seed)).action[0]) for seed in range(20)}) == 3


@pytest.mark.slow
def test_it_beats_random_play_on_the_same_deals_with_sides_swapped():
    game = make_game("bridge")
    players = make_player("clairvoyance:worlds=2", game), make_player("random", game)
    found = battle(game, *players, games=12, random_plies=0, seed=1)
    assert found.openings == 6, "each pair has a deal of its own"
    assert found.score > 0.7
    assert found.pair_points is not None and found.pair_points.mean(axis=1).min() > 0, "more tricks on every deal"


# --- where it goes wrong ---------------------------------------------------------------------------------------------

FUSION = "N:Q9.6.. AT.K.. 7.A.5. ..J96. 4S S won=6-4 lead=S"
SOUTH, NORTH, UNSEEN = ["S7", "HA", "D5"], ["SQ", "S9", "H6"], ["SA", "ST", "HK", "DJ", "D9", "D6"]


def test_strategy_fusion():
    """South leads the five of diamonds, dummy ruffs with the nine, and has the queen and a heart left to lead.

    If one defender has the ace of trumps and the king of hearts, the queen is right; if the ace is with a diamond, the
    heart is. With open cards dummy always knows, and the diamond is worth 1.60 tricks over the twenty deals of the six
    cards. In truth it is worth 1.30, and the lead of a trump 1.50 either way.
    """
    worlds = worlds_of(SOUTH, NORTH, UNSEEN)
    assert len(worlds) == 20
    believed, true = {}, {}
    for card in SOUTH:
        after = [play_card(hands, 0, (), card) for hands in worlds]
        believed[card] = sum(open_tricks(*rest) for *rest, _ in after) / 20
        true[card] = max(sum(tricks) for tricks in plans_after(worlds, 0, (), card)) / 20
    assert believed == {"S7": 1.5, "HA": 1.35, "D5": 1.6}
    assert true == {"S7": 1.5, "HA": 1.35, "D5": 1.3}


def test_the_player_falls_for_it():
    game = Bridge("4S")
    states = jax.tree.map(lambda x: jnp.asarray(x)[None], game.read_position(FUSION))
    result = make_player("clairvoyance:worlds=2000,solver=alphabeta", game).think(states, jax.random.key(0))
    tricks = {
        game.action_name(None, card): float(result.values[0, card]) * 6.5 + 0.5
        for card in game.legal_actions(at(states, 0))
    }
    assert tricks == pytest.approx({"S7": 1.5, "HA": 1.35, "D5": 1.6}, abs=0.05)
    assert game.action_name(None, int(result.action[0])) == "D5"


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "agent", "says"),
    [
        ("bridge", "clairvoyance:worlds=0", "worlds is 0, but must be 1 to 10000"),
        ("bridge", "clairvoyance:many", "worlds is 'many', but must be a whole number"),
        ("bridge", "clairvoyance:solver=dss", "unknown solver of bridge 'dss'; did you mean dds?"),
        ("bridge", "clairvoyance:depth=3", "clairvoyance has no option 'depth' (it has: worlds, solver)"),
        ("kuhn_poker", "clairvoyance:solver=dds", "unknown solver of kuhn_poker 'dds' (there are: minimax)"),
        ("connect_four", "clairvoyance", "connect_four hides nothing, so there is nothing to average over"),
        ("bridge", "alphabeta:depth=2", "would see what bridge hides"),
    ],
)
def test_a_bad_agent_is_one_clear_line(game, agent, says):
    with pytest.raises(BadInput) as caught:
        make_player(agent, make_game(game))
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_our_solver_says_what_it_cannot_do():
    game = make_game("bridge")
    states = jax.tree.map(lambda x: jnp.asarray(x)[None], game.init(jax.random.key(0)))
    player = make_player("clairvoyance:solver=alphabeta,worlds=2", game)
    with pytest.raises(BadInput, match="alphabeta solves endings of 6 cards or fewer a hand, and here there are 13"):
        player.think(states, jax.random.key(0))


def test_without_endplay_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "endplay", None)
    assert main(["battle", "bridge", "clairvoyance", "random", "--games", "2"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.strip().endswith("DDS solves the deals, and is not here: pip install 'beamzero[cards]'")
