"""Networks: how they are named, what they give, and that weights are arguments, not code."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from beamzero.core.compiler import CompilationCount
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.nets import (
    NETS,
    Net,
    compute_dtype,
    count_parameters,
    learned,
    make_evaluator,
    make_joint_evaluator,
    make_net,
)
from beamzero.nets.architectures import MLP, Conv, Dense, ResNet, _Conv3x3
from beamzero.players.analysis import step
from beamzero.training.recipes import find_recipe
from tests.conftest import relaxed_promotion

CONNECT_FOUR = make_game("connect_four")
TIC_TAC_TOE = make_game("tic_tac_toe")
SMALL = {
    "mlp": "mlp:width=16,depth=2",
    "conv": "conv:channels=4-4,dense=8,padding=same",
    "resnet": "resnet:channels=4,blocks=1,dense=8",
    "dense": "dense:widths=16-8",
    "dense_batch": "dense:widths=16-8,norm=batch",
    "resnet_batch": "resnet:channels=2,blocks=2,dense=8-8,norm=batch,stem=false",
}
REPORT_MLP = "dense:widths=42-21,norm=batch"
REPORT_CHESS = "resnet:channels=111,blocks=10,dense=1024-1024,norm=batch,stem=false"


@functools.cache
def states(game, count=6):
    """The first positions of a game in which everyone takes the first legal move, none of them over."""
    found = [game.init(jax.random.key(0))]
    while len(found) < count:
        found.append(step(game, found[-1], game.legal_actions(found[-1])[0]))
    return jax.tree.map(lambda *x: jnp.stack(x), *found)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("mlp", MLP()),
        ("mlp:width=64,depth=2", MLP(64, 2)),
        ("conv:channels=16-16,dense=72", Conv("16-16", "72")),
        ("conv:channels=8,dense=9-9-9,padding=same", Conv("8", "9-9-9", "same")),
        ("resnet:channels=8,blocks=2,dense=16", ResNet(8, 2, "16")),
        (REPORT_CHESS, ResNet(111, 10, "1024-1024", "batch", False)),
        (REPORT_MLP, Dense("42-21", "batch")),
        ("dense:widths=64", Dense("64", "none")),
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
        ("resnet:heads=2", r"resnet has no setting 'heads' \(it has: channels, blocks, dense, norm, stem\)"),
        ("resnet:dense=128-0", "resnet: dense is 0, but must be 1 to 8192"),
        ("resnet:dense=wide", "resnet: dense is 'wide', but must be whole numbers joined by '-'"),
        ("resnet:norm=none", "resnet: norm is 'none', but must be layer or batch"),
        ("resnet:stem=no", "resnet: stem is 'no', but must be true or false"),
        ("dense:widths=42-", "dense: widths is '42-', but must be whole numbers"),
        ("dense:norm=layer", "dense: norm is 'layer', but must be none or batch"),
        ("dense:widths=8" + "-8" * 64, "dense: widths has 65 layers, but may have at most 64"),
        ("resnet:dense=8" + "-8" * 64, "resnet: dense has 65 layers, but may have at most 64"),
        ("conv:channels=8" + "-8" * 64, "conv: channels has 65 layers, but may have at most 64"),
        ("mlp:" + " " * 997, "the text of a net has 1001 characters, but may have at most 1000"),
    ],
)
def test_another_text_is_refused(text, wrong):
    with pytest.raises(BadInput, match=wrong):
        make_net(text)


def test_every_net_is_tested():
    assert {make_net(text).name for text in SMALL.values()} == NETS.keys()


@functools.cache
def small(text):
    """Weights of a net of tic-tac-toe for V and for Q, on the host."""
    nets = [Net(TIC_TAC_TOE, make_net(text), head) for head in ("value", "scores")]
    return jax.device_get(jax.jit(lambda key: tuple(net.init(key) for net in nets))(jax.random.key(0)))


def every_net_in(dtype: str, *others: str):
    """Every net with one dtype, and some with the other one: that of the tests of another head."""
    other = {"float32": "bfloat16", "bfloat16": "float32"}[dtype]
    pairs = [*((name, dtype) for name in SMALL), *((name, other) for name in others)]
    slow = {pair for pair in pairs if pair[1] == "bfloat16" and pair[0] not in ("mlp", "resnet_batch")}
    return pytest.mark.parametrize(
        ("text", "dtype"),
        [
            pytest.param(
                SMALL[name], dtype, marks=pytest.mark.slow if (name, dtype) in slow else (), id=f"{dtype}-{name}"
            )
            for name, dtype in pairs
        ],
    )


@every_net_in("float32", "mlp", "resnet_batch")
def test_values_lie_between_minus_1_and_1_and_scores_have_one_number_an_action(text, dtype):
    value, scores = (Net(TIC_TAC_TOE, make_net(text), head, dtype) for head in ("value", "scores"))
    weights = small(text)
    huge = jax.tree.map(lambda x: np.float32(100) * x, weights)
    ask = jax.jit(lambda weights, some: (value(weights[0], some), scores(weights[1], some)))
    with relaxed_promotion():  # flax's layer norm is written for it
        for some in (weights, huge):
            values, out = jax.device_get(ask(some, states(TIC_TAC_TOE)))
            assert values.shape == (6,) and values.dtype == np.float32
            assert (np.abs(values) <= 1).all()
    assert out.shape == (6, 9) and out.dtype == np.float32
    assert (np.abs(out) > 1).any(), "linear"


@every_net_in("float32", "resnet")
def test_a_net_fits_a_board_that_is_not_square(text, dtype):
    value, scores = (Net(CONNECT_FOUR, make_net(text), head, dtype) for head in ("value", "scores"))
    boards = jax.eval_shape(lambda: jax.tree.map(lambda x: jnp.stack([x] * 6), CONNECT_FOUR.init(jax.random.key(0))))
    with relaxed_promotion():
        told = [jax.eval_shape(net, net.shapes(), boards) for net in (value, scores)]
    assert [(out.shape, out.dtype) for out in told] == [((6,), jnp.float32), ((6, 7), jnp.float32)]


@every_net_in("bfloat16", "mlp")
def test_a_joint_head_gives_a_value_between_minus_1_and_1_and_a_logit_an_action(text, dtype):
    net = Net(TIC_TAC_TOE, make_net(text), "joint", dtype)
    weights = jax.jit(net.init)(jax.random.key(0))
    huge = jax.tree.map(lambda x: np.float32(100) * x, weights)
    ask = jax.jit(net)
    with relaxed_promotion():
        for some in (weights, huge):
            value, logits = jax.device_get(ask(some, states(TIC_TAC_TOE)))
            assert (value.shape, value.dtype, logits.shape, logits.dtype) == ((6,), np.float32, (6, 9), np.float32)
            assert (np.abs(value) <= 1).all()
    assert (np.abs(logits) > 1).any(), "linear"


def test_a_joint_head_has_one_output_an_action_and_then_one_for_the_value():
    net = Net(TIC_TAC_TOE, make_net("dense:widths=2"), "joint")
    weights = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), net.shapes())
    weights["head"]["bias"][:] = np.linspace(1, 2, 10)
    value, logits = jax.jit(net)(weights, states(TIC_TAC_TOE, 1))
    np.testing.assert_allclose(logits, np.linspace(1, 2, 10)[None, :9], rtol=1e-6)
    np.testing.assert_allclose(value, [np.tanh(2)], rtol=1e-6)


@pytest.mark.parametrize("text", SMALL.values(), ids=SMALL)
def test_shapes_tells_what_init_makes_and_weights_are_kept_whole(text):
    for head, weights in zip(("value", "scores"), small(text), strict=True):
        made = jax.tree.map(lambda x: (x.shape, x.dtype), weights)
        net = Net(TIC_TAC_TOE, make_net(text), head, "bfloat16")
        assert made == jax.tree.map(lambda x: (x.shape, x.dtype), net.shapes())
        assert all(leaf.dtype == np.float32 for leaf in jax.tree.leaves(weights))
        names = [path[-1].key for path, _ in jax.tree_util.tree_leaves_with_path(weights)]
        assert names.count("kernel") == net.settings.layers


@pytest.mark.parametrize("text", SMALL.values(), ids=SMALL)
def test_a_row_does_not_depend_on_the_others(text):
    net = Net(TIC_TAC_TOE, make_net(text), "scores")
    weights, some, ask = small(text)[1], jax.device_get(states(TIC_TAC_TOE)), jax.jit(net)
    alone = np.stack([ask(weights, jax.tree.map(lambda x, row=row: x[[row] * 6], some))[0] for row in range(6)])
    np.testing.assert_allclose(ask(weights, some), alone, rtol=1e-5, atol=1e-6)
    assert len({tuple(row.tolist()) for row in alone}) == 6, "and different states look different"


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


def test_the_reports_connect_four_net_has_4775_parameters():
    weights = Net(CONNECT_FOUR, make_net(REPORT_MLP), "joint").shapes()
    layers = 84 * 42 + 42 + 42 * 21 + 21 + 2 * (42 + 21) + 21 * 7 + 7 + 21 + 1
    assert count_parameters(weights) == layers == 4_775
    assert sum(x.size for x in jax.tree.leaves(weights)) == 4_775 + 2 * (42 + 21), "and running statistics"


def test_the_reports_chess_net_has_15_341_261_parameters():
    made = nnx.eval_shape(lambda: make_net(REPORT_CHESS).build((8, 8, 111), 4672 + 1, nnx.Rngs(0), jnp.float32))
    assert count_parameters(nnx.to_pure_dict(nnx.state(made))) == 15_341_261


@pytest.mark.parametrize("text", SMALL.values(), ids=SMALL)
def test_all_is_learned_but_the_statistics_of_batch_norms(text):
    made = nnx.eval_shape(lambda: make_net(text).build(TIC_TAC_TOE.observation_shape, 9, nnx.Rngs(0), jnp.float32))
    parameters = jax.tree.leaves(nnx.to_pure_dict(nnx.state(made, nnx.Param)))
    assert parameters == learned(nnx.to_pure_dict(nnx.state(made)))
    assert bool(jax.tree.leaves(nnx.state(made, nnx.BatchStat))) == ("norm=batch" in text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("resnet:channels=4,blocks=1,dense=8", "first conv_0 conv_1 norm_0 tail"),
        ("conv:channels=4-4,dense=8,padding=same", "conv_0 conv_1 tail"),
        ("mlp:width=16,depth=2", "dense_0 dense_1 head"),
    ],
)
def test_weights_keep_the_names_that_agents_on_disk_have(text, names):
    weights = Net(TIC_TAC_TOE, make_net(text), "value").shapes()
    assert weights.keys() == set(names.split())
    if "tail" in weights:
        assert weights["tail"].keys() == {"dense_0", "head"}


def test_parameters_are_counted():
    weights = Net(TIC_TAC_TOE, make_net("mlp:width=10,depth=2"), "scores").shapes()
    assert count_parameters(weights) == (18 * 10 + 10) + (10 * 10 + 10) + (10 * 9 + 9)


def test_leaky_relu_lets_a_hundredth_through():
    net = Net(TIC_TAC_TOE, make_net("mlp:width=1,depth=1"), "scores")
    weights = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), net.shapes())
    weights["head"]["kernel"] += 1
    for bias, out in ((3.0, 3.0), (-3.0, -0.03)):
        weights["dense_0"]["bias"][:] = bias
        np.testing.assert_allclose(jax.jit(net)(weights, states(TIC_TAC_TOE, 1)), np.full((1, 9), out), rtol=1e-6)


def test_a_mirrored_board_is_another_board_to_a_net():
    """Convolutions see where a stone lies: planes are not flattened in the wrong order on the way."""
    net = Net(CONNECT_FOUR, make_net("conv:channels=4,dense=8"), "scores")
    draw = np.random.default_rng(0)
    weights = jax.tree.map(lambda x: draw.standard_normal(x.shape, x.dtype), net.shapes())
    board = draw.standard_normal((1, *CONNECT_FOUR.observation_shape), np.float32)
    ask = jax.jit(net.on_observations)
    assert not np.allclose(ask(weights, board), ask(weights, board[:, :, ::-1]))


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_a_convolution_as_a_matrix_product_is_the_convolution(padding):
    layer = _Conv3x3(3, 5, padding, nnx.Rngs(0), jnp.float32)
    layer.conv.bias[...] = jnp.arange(5, dtype=jnp.float32)
    board = np.random.default_rng(1).standard_normal((2, 6, 7, 3), np.float32)
    np.testing.assert_allclose(layer(board), layer.conv(board), rtol=1e-4, atol=1e-5)


def test_a_net_that_does_not_fit_the_game_says_so():
    with pytest.raises(BadInput, match=r"conv: 2 valid 3x3 layers do not fit on a 3x3 board; use padding=same"):
        Net(TIC_TAC_TOE, make_net("conv:channels=8-8"), "value").init(jax.random.key(0))
    with pytest.raises(
        BadInput, match="resnet: stem=false needs a board of 64 planes, but this one has 2; use stem=tr"
    ):
        Net(TIC_TAC_TOE, make_net("resnet:stem=false"), "value").init(jax.random.key(0))


def test_new_weights_do_not_compile_again():
    value, scores = (Net(TIC_TAC_TOE, make_net("mlp:width=24,depth=2"), head) for head in ("value", "scores"))
    ask = jax.jit(lambda evaluator, some: (evaluator.value(some), evaluator.scores(some)))
    init, init_scores = jax.jit(value.init), jax.jit(scores.init)
    some = states(TIC_TAC_TOE)
    evaluators = [
        # Nets that are equal, and made anew, count as the same code.
        make_evaluator(
            Net(TIC_TAC_TOE, make_net("mlp:width=24,depth=2"), "value"), init(jax.random.key(seed)),
            scores, init_scores(jax.random.key(seed + 10)),
        )
        for seed in (0, 1)
    ]  # fmt: skip
    first = ask(evaluators[0], some)
    with CompilationCount() as count:
        second = ask(evaluators[1], some)
    assert count.number == 0
    assert not np.array_equal(first[1], second[1])


def test_a_joint_evaluator_gives_the_nets_answers_and_new_weights_do_not_compile_again():
    init = jax.jit(Net(TIC_TAC_TOE, make_net("dense:widths=16,norm=batch"), "joint").init)

    def evaluator(seed):
        net = Net(TIC_TAC_TOE, make_net("dense:widths=16,norm=batch"), "joint")
        return net, make_joint_evaluator(net, init(jax.random.key(seed)))

    @jax.jit
    def ask(evaluator, some):
        return evaluator.value(some), evaluator.scores(some), evaluator.value_and_scores(some)

    (net, first), (_, second), some = evaluator(0), evaluator(1), states(TIC_TAC_TOE)
    value, scores, both = ask(first, some)
    for told, wanted in zip((value, scores), jax.jit(net)(first.both.args[0], some), strict=True):
        np.testing.assert_allclose(told, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(value, both[0])
    np.testing.assert_array_equal(scores, both[1])
    with CompilationCount() as count:
        other = ask(second, some)
    assert count.number == 0
    assert not np.array_equal(scores, other[1])


# --- batch norms -----------------------------------------------------------------------------------------------------


def plain_layer(weights, x, mean, var):
    """A dense layer with its batch norm by the given statistics, and the activation."""
    x = (x @ weights["dense_0"]["kernel"] + weights["dense_0"]["bias"] - mean) / np.sqrt(var + 1e-5)
    x = x * weights["norm_0"]["scale"] + weights["norm_0"]["bias"]
    return np.where(x > 0, x, 0.01 * x)


@pytest.fixture(scope="module")
def normed():
    """A net with one batch norm, random weights, and 10 random boards."""
    net = Net(TIC_TAC_TOE, make_net("dense:widths=5,norm=batch"), "scores")
    draw = np.random.default_rng(0)
    weights = jax.tree.map(lambda x: draw.uniform(0.5, 2, x.shape).astype(np.float32), net.shapes())
    return net, weights, draw.standard_normal((10, *TIC_TAC_TOE.observation_shape), np.float32)


def test_a_batch_norm_uses_its_running_statistics_when_asked(normed):
    net, weights, boards = normed
    norm, head = weights["norm_0"], weights["head"]
    wanted = plain_layer(weights, boards.reshape(10, -1), norm["mean"], norm["var"]) @ head["kernel"] + head["bias"]
    np.testing.assert_allclose(jax.jit(net.on_observations)(weights, boards), wanted, rtol=1e-4, atol=1e-4)


def test_a_batch_norm_uses_those_of_the_real_rows_while_learning_and_moves_a_tenth_of_the_way(normed):
    net, weights, boards = normed
    real = np.arange(10) < 7
    outputs, moved = jax.jit(net.while_learning)(weights, boards, real)
    x = boards[:7].reshape(7, -1)
    before = x @ weights["dense_0"]["kernel"] + weights["dense_0"]["bias"]
    mean, var = before.mean(axis=0), before.var(axis=0)
    wanted = plain_layer(weights, x, mean, var) @ weights["head"]["kernel"] + weights["head"]["bias"]
    np.testing.assert_allclose(outputs[:7], wanted, rtol=1e-4, atol=1e-4)
    assert moved.keys() == {"norm_0"} and moved["norm_0"].keys() == {"mean", "var"}
    for name, now in (("mean", mean), ("var", var)):
        np.testing.assert_allclose(moved["norm_0"][name], 0.9 * weights["norm_0"][name] + 0.1 * now, rtol=1e-4)


@pytest.mark.parametrize("text", [SMALL["dense_batch"], SMALL["resnet_batch"]])
def test_padding_changes_nothing_while_learning(text):
    net = Net(TIC_TAC_TOE, make_net(text), "joint")
    weights, draw = jax.jit(net.init)(jax.random.key(0)), np.random.default_rng(1)
    boards = draw.standard_normal((10, *TIC_TAC_TOE.observation_shape), np.float32)
    padded = np.concatenate([boards[:7], 100 * boards[7:]])
    look, real = jax.jit(net.while_learning), np.arange(10) < 7
    first, other = (look(weights, some, real) for some in (boards, padded))
    alone = look(weights, boards[:7], real[:7])
    for ((value, logits), moved), ((their_value, their_logits), their_moved) in ((first, other), (first, alone)):
        np.testing.assert_allclose(value[:7], their_value[:7], atol=1e-6)
        np.testing.assert_allclose(logits[:7], their_logits[:7], atol=2e-6)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), moved, their_moved)
    assert not np.allclose(first[0][1], look(weights, boards, real | True)[0][1], atol=1e-3), "and the real rows do"


def test_nets_without_batch_norms_are_the_same_while_learning():
    net = Net(TIC_TAC_TOE, make_net("dense:widths=8"), "scores")
    boards = np.random.default_rng(1).standard_normal((4, *TIC_TAC_TOE.observation_shape), np.float32)
    weights = jax.jit(net.init)(jax.random.key(0))
    outputs, moved = jax.jit(net.while_learning)(weights, boards, np.arange(4) < 2)
    np.testing.assert_array_equal(outputs, jax.jit(net.on_observations)(weights, boards))
    assert moved == {}


def test_batch_norms_compute_in_float32():
    """A bfloat16 has no 1.003, and would give 1."""
    net = Net(TIC_TAC_TOE, make_net("dense:widths=1,norm=batch"), "scores", "bfloat16")
    weights = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), net.shapes())
    weights["dense_0"]["bias"][:] = weights["norm_0"]["var"][:] = weights["head"]["kernel"][:] = 1
    weights["norm_0"]["scale"][:] = 1.003
    wanted = np.full((1, 9), 1.003 / np.sqrt(1 + 1e-5), np.float32)
    np.testing.assert_allclose(jax.jit(net)(weights, states(TIC_TAC_TOE, 1)), wanted, rtol=1e-6)


def test_auto_precision_is_whole_on_a_cpu():
    assert compute_dtype("auto") == compute_dtype("float32") == "float32"
    assert compute_dtype("bfloat16") == "bfloat16"
