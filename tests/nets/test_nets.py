"""Networks: how they are named, what they give, and that weights are arguments, not code."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from beamzero.compiler import CompilationCount
from beamzero.errors import BadInput
from beamzero.games import make_game
from beamzero.nets import NETS, Net, compute_dtype, count_parameters, make_evaluator, make_net
from beamzero.nets.architectures import MLP, Conv, ResNet, _Conv3x3
from beamzero.training.config import find_recipe
from tests.conftest import relaxed_promotion

CONNECT_FOUR = make_game("connect_four")
TIC_TAC_TOE = make_game("tic_tac_toe")
SMALL = {
    "mlp": "mlp:width=16,depth=2",
    "conv": "conv:channels=4-4,dense=8,padding=same",
    "resnet": "resnet:channels=4,blocks=1,dense=8",
}


def states(game, count=6):
    """The first positions of a game in which everyone takes the first legal move, none of them over."""
    found = [game.init(jax.random.key(0))]
    while len(found) < count:
        found.append(game.step(found[-1], jnp.int32(game.legal_actions(found[-1])[0])))
    return jax.tree.map(lambda *x: jnp.stack(x), *found)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("mlp", MLP()),
        ("mlp:width=64,depth=2", MLP(64, 2)),
        ("conv:channels=16-16,dense=72", Conv("16-16", "72")),
        ("conv:channels=8,dense=9-9-9,padding=same", Conv("8", "9-9-9", "same")),
        ("resnet:channels=8,blocks=2,dense=16", ResNet(8, 2, 16)),
    ],
)
def test_a_text_names_a_net(text, settings):
    assert make_net(text) == settings and hash(make_net(text)) == hash(settings)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "unknown net ''"),
        ("mpl", "unknown net 'mpl'; did you mean mlp?"),
        ("mlp:64", "cannot read '64' in the net 'mlp:64': write mlp:key=value"),
        ("mlp:width=wide", "mlp: width is 'wide', but must be a whole number"),
        ("mlp:depth=0", "mlp: depth is 0, but must be 1 to 64"),
        ("mlp:width=99999", "mlp: width is 99999, but must be 1 to 8192"),
        ("conv:channels=", "channels is '', but must be whole numbers"),
        ("conv:channels=8-0", "conv: channels is 0, but must be 1 to 8192"),
        ("conv:padding=full", "conv: padding is 'full', but must be valid or same"),
        ("resnet:blocks=0", "resnet: blocks is 0, but must be 1 to 80"),
        ("resnet:blocks=2,blocks=3", "'blocks' is given twice"),
        ("resnet:heads=2", r"resnet has no setting 'heads' \(it has: channels, blocks, dense\)"),
    ],
)
def test_another_text_is_refused(text, wrong):
    with pytest.raises(BadInput, match=wrong):
        make_net(text)


def test_every_net_is_tested():
    assert SMALL.keys() == NETS.keys()


@pytest.mark.parametrize("text", SMALL.values(), ids=SMALL)
@pytest.mark.parametrize("game", [TIC_TAC_TOE, CONNECT_FOUR], ids=lambda game: game.name)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_values_lie_between_minus_1_and_1_and_scores_have_one_number_an_action(text, game, dtype):
    value, scores = (Net(game, make_net(text), head, dtype) for head in ("value", "scores"))
    weights = jax.jit(value.init)(jax.random.key(0)), jax.jit(scores.init)(jax.random.key(1))
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(weights)), "weights are kept whole"
    huge = jax.tree.map(lambda x: 100 * x, weights)
    with relaxed_promotion():  # flax's layer norm is written for it
        for some in (weights[0], huge[0]):
            out = jax.jit(value)(some, states(game))
            assert out.shape == (6,) and out.dtype == jnp.float32
            assert (jnp.abs(out) <= 1).all()
        out = jax.jit(scores)(huge[1], states(game))
    assert out.shape == (6, game.num_actions) and out.dtype == jnp.float32
    assert (jnp.abs(out) > 1).any(), "linear"


@pytest.mark.parametrize("text", SMALL.values(), ids=SMALL)
def test_shapes_tells_what_init_makes(text):
    net = Net(TIC_TAC_TOE, make_net(text), "scores")
    made = jax.tree.map(lambda x: (x.shape, x.dtype), net.init(jax.random.key(0)))
    assert made == jax.tree.map(lambda x: (x.shape, x.dtype), net.shapes())


@pytest.mark.parametrize("text", SMALL.values(), ids=SMALL)
def test_a_row_does_not_depend_on_the_others(text):
    net = Net(TIC_TAC_TOE, make_net(text), "scores")
    weights, some = net.init(jax.random.key(0)), states(TIC_TAC_TOE)
    alone = [net(weights, jax.tree.map(lambda x, row=row: x[row : row + 1], some))[0] for row in range(6)]
    np.testing.assert_allclose(net(weights, some), jnp.stack(alone), rtol=1e-5, atol=1e-6)
    assert len({tuple(row.tolist()) for row in jnp.stack(alone)}) == 6, "and different states look different"


@pytest.mark.parametrize(
    ("recipe", "parameters", "layers", "within"),
    [
        ("connect_four_paper_small", 10_000, 4, 0.2),
        ("connect_four_paper_large", 100_000, 5, 0.2),
        ("othello_paper", 230_000, 5, 0.04),
        ("togyzkumalak_paper", 420_000, 7, 0.04),
    ],
)
def test_the_papers_nets_have_the_papers_size(recipe, parameters, layers, within):
    found = find_recipe(recipe)
    for name, head in (("value_net", "value"), ("q_net", "scores")):
        weights = Net(make_game(found.game), make_net(found.settings[name]), head).shapes()
        assert count_parameters(weights) == pytest.approx(parameters, rel=within)
        kernels = [leaf for leaf in jax.tree.leaves(weights) if leaf.ndim > 1]
        assert len(kernels) == layers and len(jax.tree.leaves(weights)) == 2 * layers, "each with a bias"


def test_parameters_are_counted():
    weights = Net(TIC_TAC_TOE, make_net("mlp:width=10,depth=2"), "scores").init(jax.random.key(0))
    assert count_parameters(weights) == (18 * 10 + 10) + (10 * 10 + 10) + (10 * 9 + 9)


def test_leaky_relu_lets_a_hundredth_through():
    net = Net(TIC_TAC_TOE, make_net("mlp:width=1,depth=1"), "scores")
    weights = jax.tree.map(jnp.zeros_like, net.init(jax.random.key(0)))
    weights["head"]["kernel"] = jnp.ones_like(weights["head"]["kernel"])
    for bias, out in ((3.0, 3.0), (-3.0, -0.03)):
        weights["dense_0"]["bias"] = jnp.array([bias])
        np.testing.assert_allclose(net(weights, states(TIC_TAC_TOE, 1)), np.full((1, 9), out), rtol=1e-6)


def test_a_mirrored_board_is_another_board_to_a_net():
    """Convolutions see where a stone lies: planes are not flattened in the wrong order on the way."""
    net = Net(CONNECT_FOUR, make_net("conv:channels=4,dense=8"), "scores")
    weights = net.init(jax.random.key(3))
    board = jax.random.normal(jax.random.key(0), (1, *CONNECT_FOUR.observation_shape))
    assert not np.allclose(net.on_observations(weights, board), net.on_observations(weights, board[:, :, ::-1]))


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_a_convolution_as_a_matrix_product_is_the_convolution(padding):
    layer = _Conv3x3(3, 5, padding, nnx.Rngs(0), jnp.float32)
    layer.conv.bias[...] = jnp.arange(5, dtype=jnp.float32)
    board = jax.random.normal(jax.random.key(1), (2, 6, 7, 3))
    np.testing.assert_allclose(layer(board), layer.conv(board), rtol=1e-4, atol=1e-5)


def test_a_net_that_does_not_fit_the_game_says_so():
    with pytest.raises(BadInput, match=r"conv: 2 valid 3x3 layers do not fit on a 3x3 board; use padding=same"):
        Net(TIC_TAC_TOE, make_net("conv:channels=8-8"), "value").init(jax.random.key(0))


def test_new_weights_do_not_compile_again():
    value, scores = (Net(TIC_TAC_TOE, make_net("mlp:width=24,depth=2"), head) for head in ("value", "scores"))
    ask = jax.jit(lambda evaluator, some: (evaluator.value(some), evaluator.scores(some)))
    some = states(TIC_TAC_TOE)
    evaluators = [
        # Nets that are equal, and made anew, count as the same code.
        make_evaluator(
            Net(TIC_TAC_TOE, make_net("mlp:width=24,depth=2"), "value"), value.init(jax.random.key(seed)),
            scores, scores.init(jax.random.key(seed + 10)),
        )
        for seed in (0, 1)
    ]  # fmt: skip
    first = ask(evaluators[0], some)
    with CompilationCount() as count:
        second = ask(evaluators[1], some)
    assert count.number == 0
    assert not np.array_equal(first[1], second[1])


def test_auto_precision_is_whole_on_a_cpu():
    assert compute_dtype("auto") == compute_dtype("float32") == "float32"
    assert compute_dtype("bfloat16") == "bfloat16"
