"""What every registered variant promises; a new variant is covered by registering it."""

import functools
import re

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import attention
from mate_tf.attention import AttentionConfig, abilities, masks
from mate_tf.data import features as feature_names
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.encoder import EncoderConfig, TableEncoder

HIDDEN, SEQ = 16, 44
SMALL = {
    "global_length": 10,
    "radius": 4,
    "tree_height": 2,
    "length": 64,
    "projected_length": 8,
    "num_global": 12,
    "local_radius": 4,
    "max_distance": 2,
    "block_size": 4,
    "num_random": 2,
    "random_within": 32,
    "num_random_features": 16,
}

pytestmark = [pytest.mark.parametrize("name", attention.names()), pytest.mark.thorough]


def small(name):
    """The variant's config with sizes that make buckets of a short sequence, where it has them."""
    config = AttentionConfig(name=name)
    config.override({key: value for key, value in SMALL.items() if key in config})
    return config


def has_trees(name):
    """Whether hard decisions of trees, which the content makes, say who attends to whom."""
    return issubclass(attention.get(name).attention, abilities.HasTrees)


def encoder_of(name, num_hidden_layers=2):
    keras.utils.set_random_seed(4)  # no token is so near the border of its leaf that rounding tells
    return TableEncoder(
        EncoderConfig(
            vocab_size=50,
            hidden_size=HIDDEN,
            num_hidden_layers=num_hidden_layers,
            num_attention_heads=4,
            intermediate_size=32,
            max_position_embeddings=64,
            initializer_range=0.2,
            attention=small(name),
        )
    )


@functools.cache
def shared_encoder(name):
    """The same for several tests, which do not change it."""
    return encoder_of(name)


@pytest.fixture(scope="module")
def context(tables):
    return tables.random_context(np.random.default_rng(1), SEQ, [7, 4, 0], columns=3)


@pytest.fixture(scope="module")
def x():
    return tf.random.stateless_normal([3, SEQ, HIDDEN], [1, 1])


@pytest.fixture(scope="module")
def features(context):
    ids = np.random.default_rng(2).integers(0, 50, [3, SEQ]).astype(np.int32)
    zeros = {name: tf.zeros_like(ids) for name in feature_names.names(feature_names.MODEL_INPUTS)}
    return zeros | context.tensors | {"input_ids": tf.constant(ids)}


@pytest.fixture(scope="module")
def shared_output(features):
    """shared_output(name): of `shared_encoder`."""
    return functools.cache(lambda name: shared_encoder(name)(features)["sequence_output"].numpy())


def own_mask(run, x, context):
    """The allowed pairs of the variant, which its layer chooses by the content or its pattern."""
    if isinstance(run.layer, abilities.ChoosesPairs):
        return run.layer.mask(x, run.pattern(context))
    return run.pattern.mask(context)


def attends_to_itself(run, x, context):
    """Of every real token and head, <bool>[heads, tokens]."""
    mask = own_mask(run, *abilities.add_tokens(run.pattern, x, context)).numpy()
    added = abilities.num_added_tokens(type(run.pattern), run.pattern.config)
    own = np.broadcast_to(mask, [*mask.shape[:2], *2 * mask.shape[-1:]])[..., added:, added:]
    real = context.input_mask.numpy() > 0
    return np.moveaxis(np.diagonal(own, axis1=-2, axis2=-1), 1, -1)[real].T


def normalized(weights):
    total = weights.sum(-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def softmax_weights(run, x, context, query, key):
    """Of attention under the variant's own mask, <float64>[batch, heads, queries, keys]."""
    mask = own_mask(run, x, context)
    weights = np.exp(query @ key.transpose(0, 1, 3, 2) / np.sqrt(HIDDEN / 4))
    return normalized(weights * np.broadcast_to(mask, weights.shape))


def mean_weights(run, x, context, query, key):
    """Of TC-Attention: at each level alpha, shared by the keys of the query's node."""
    queries, keys = (part[0] for part in run.layer.leaves(x))
    real = tf.cast(context.input_mask, tf.bool)
    total = 0
    for level, alpha in enumerate(tf.transpose(run.layer.alpha)):
        below = 2 ** (SMALL["tree_height"] - level)
        same = masks.same_leaf(queries // below, keys // below, real).numpy()
        total += alpha.numpy()[:, None, None] * same / np.maximum(same.sum(-1, keepdims=True), 1)
    return total


def projected_weights(run, x, context, query, key):
    """Of Linformer: to mixtures of tokens, and so to the tokens in them."""
    mixtures = run.layer.proj_seq_length.kernel.numpy()[:SEQ] * real_tokens(context)[..., None]
    key = np.einsum("bhsd,bsk->bhkd", key, mixtures)
    scores = query @ key.transpose(0, 1, 3, 2) / 2
    return normalized(np.exp(scores)) @ mixtures[:, None].transpose(0, 1, 3, 2)


def feature_weights(run, x, context, query, key):
    """Of Performer: products of random features."""

    def features(x):
        x = x / np.sqrt(2)  # the fourth root of the head size
        return np.exp(x @ run.layer.directions.T - np.square(x).sum(-1, keepdims=True) / 2)

    weights = features(query) @ features(key).transpose(0, 1, 3, 2)
    return normalized(weights * real_tokens(context)[:, None, None])


def real_tokens(context):
    return context.input_mask.numpy().astype(np.float64)


def relative_weights(run, x, context, query, key):
    """Of TableETC: each pair of tokens has a relative position, a vector that is added to the key.
    Here they are written out pair by pair, from what the tokens are."""
    num_global, most = SMALL["num_global"], SMALL["max_distance"]
    half, size = num_global // 2, num_global + SEQ
    rows, columns = context.row_ids.numpy(), context.column_ids.numpy()
    positions = np.zeros([3, size, size], int)
    for b, q, k in np.ndindex(3, size, size):
        if q >= num_global and k >= num_global:
            positions[b, q, k] = 9 + most + np.clip(k - q, -most, most)
        elif q < num_global and k < num_global:
            positions[b, q, k] = 8 if q == k else 6 + ((q < half) == (k < half))
        else:
            long, which = max(q, k), min(q, k)
            row, column = rows[b, long] % half, (columns[b, long] - 1) % half + half
            own = columns[b, long] > 0 and which in (row, column)
            positions[b, q, k] = 3 * (q < num_global) + own * (1 + (which >= half))
    relative = np.einsum("bhqd,phd->bhqp", query, run.layer.relative_position_embeddings)
    scores = query @ key.transpose(0, 1, 3, 2)
    scores += np.take_along_axis(relative, positions[:, None], axis=-1)
    return normalized(np.exp(scores / 2) * run.pattern.mask(context).numpy())


WEIGHTS = {
    "tree_coarse": mean_weights,
    "linformer": projected_weights,
    "kernel": feature_weights,
    "table_etc": relative_weights,
}


def test_equals_its_mask(name, tables, x, context):
    check_equals_its_mask(name, tables.layer_pair(small(name)), x, context)


def test_equals_its_mask_without_the_diagonal(name, tables, x, context):
    """Where that is an option; without it, and without trees, tokens attend to themselves."""
    config, with_diagonal = small(name), tables.layer_pair(small(name))
    assert has_trees(name) or attends_to_itself(with_diagonal, x, context).all()
    if "diagonal" in config:
        config.override({"diagonal": False})
        run = tables.layer_pair(config)
        expected = with_diagonal.pattern.mask(context) & ~np.eye(SEQ, dtype=bool)
        np.testing.assert_array_equal(run.pattern.mask(context), expected)
        assert not attends_to_itself(run, x, context).any()
        check_equals_its_mask(name, run, x, context)


def check_equals_its_mask(name, run, x, context):
    """Attention under the variant's own mask, written out in float64."""

    y, layer = run(x, context).numpy(), run.layer
    x, context = abilities.add_tokens(run.pattern, x, context)

    def heads(dense):
        flat = x.numpy().astype(np.float64) @ dense.kernel.numpy() + dense.bias.numpy()
        return flat.reshape(3, x.shape[1], 4, -1).transpose(0, 2, 1, 3)

    query, key, value = heads(layer.query), heads(layer.key), heads(layer.value)
    weights = WEIGHTS.get(name, softmax_weights)(run, x, context, query, key)
    expected = (weights @ value).transpose(0, 2, 1, 3).reshape(x.shape)
    expected = abilities.remove_tokens(
        run.pattern, expected @ layer.output_projection.kernel.numpy()
    )
    np.testing.assert_allclose(y, expected, atol=1e-5, rtol=0)


def test_a_row_without_keys_gives_zero(name, tables, x, context):
    y = tables.layer_pair(small(name))(x, context)
    np.testing.assert_array_equal(y[2], np.zeros([SEQ, HIDDEN]))


def test_padding_has_no_influence(name, tables, x, context):
    run = tables.layer_pair(small(name))
    real = context.input_mask.numpy() == 1
    y = run(x, context).numpy()
    noise = tf.where(real[..., None], x, 100.0)
    np.testing.assert_allclose(run(noise, context).numpy()[real], y[real], atol=1e-5)
    longer = context.map(lambda part: tf.pad(part, [[0, 0], [0, 13]]))
    y_longer = run(tf.pad(x, [[0, 0], [0, 13], [0, 0]]), longer).numpy()[:, :SEQ]
    np.testing.assert_allclose(y_longer[real], y[real], atol=1e-5)


@pytest.mark.parametrize("reset", [False, True])
def test_packed_examples_come_out_as_alone(name, reset, features):
    """Short tables share sequences, with windows and positions of their own; or a clear refusal."""
    config = encoder_of(name).config.replace(reset_position_index_per_cell=reset)
    packing = config.replace(pack=True)
    if not attention.get(name).pattern.packs:
        with pytest.raises(InputError, match=f"pack: attention '{name}' does not support"):
            TableEncoder(packing)
        return
    short = {key: tf.concat([ids[:2]] * 3, axis=0) for key, ids in features.items()}
    own = tf.range(SEQ) < tf.constant([[40], [12], [19], [7], [21], [1]])
    short = {key: tf.where(own, ids, 0) for key, ids in short.items()}
    words = tf.random.stateless_uniform([6, SEQ], [4, 4], 1, 50, tf.int32)
    short["input_ids"] = words * short["input_mask"]
    real = tf.cast(short["input_mask"], tf.float32)[:, :, None]
    found = {}
    for each in (config, packing):
        keras.utils.set_random_seed(3)
        encoder = TableEncoder(each)
        with tf.GradientTape() as tape:
            outputs = encoder(short)
            loss = tf.reduce_sum((outputs["sequence_output"] * real) ** 3)
        layers = (outputs["embedding_output"], *outputs["encoder_outputs"])
        kernel = encoder.blocks[0].attention.query.kernel
        found[each.pack] = [
            *(layer * real for layer in layers),
            outputs["pooled_output"],
            tape.gradient(loss, kernel),
        ]
        assert all(np.abs(part).max() > 0.1 for part in found[each.pack])
    for alone, packed in zip(found[False], found[True], strict=True):
        np.testing.assert_allclose(packed, alone, atol=1e-5 * np.abs(alone).max())


def test_any_length_with_unknown_shape_saved_and_by_xla(name, features, tmp_path):
    """One graph for all lengths, which is also what a SavedModel holds; XLA has one a length."""
    encoder = encoder_of(name, num_hidden_layers=1)  # compiling takes seconds a layer

    def serve(inputs):
        return {"y": encoder(inputs, training=False)["sequence_output"]}

    spec = {key: tf.TensorSpec([None, None], tf.int32, name=key) for key in features}
    dynamic = tf.function(serve, input_signature=[spec], autograph=False)
    dynamic = dynamic.get_concrete_function()  # to save and to call the function would trace twice
    static = tf.function(serve, jit_compile=True, autograph=False)
    module = tf.Module()  # the encoder itself would have Keras trace each layer several times
    module.weights = encoder.variables
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    tf.saved_model.save(module, str(tmp_path / "model"), signatures=dynamic, options=options)
    loaded = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    for seq in (3, 17, SEQ):
        cut = {key: value[:, :seq] for key, value in features.items()}
        expected = encoder(cut)["sequence_output"]
        assert expected.shape == [3, seq, HIDDEN]
        np.testing.assert_allclose(dynamic(cut)["y"], expected, atol=1e-5)
        np.testing.assert_allclose(loaded(**cut)["y"], expected, atol=1e-5)
    np.testing.assert_allclose(static(features)["y"], expected, atol=1e-5)


@pytest.mark.slow
def test_short_input_by_xla(name, features):
    """Shorter than a bucket; a program of its own, since XLA compiles each length."""
    encoder = encoder_of(name, num_hidden_layers=1)
    short = {key: value[:, :3] for key, value in features.items()}
    static = tf.function(encoder, jit_compile=True, autograph=False)
    expected = encoder(short)["sequence_output"]
    np.testing.assert_allclose(static(short)["sequence_output"], expected, atol=1e-5)


def test_gradients_are_finite_and_numerically_right(name, tables, x, context):
    run = tables.layer_pair(small(name))
    weights = tf.random.stateless_normal(x.shape, [2, 2])

    def loss():
        return tf.reduce_sum(run(x, context, training=True) * weights)

    with tf.GradientTape() as tape:
        value = loss()
    variables = run.layer.trainable_variables
    gradients = tape.gradient(value, variables)
    assert all(np.isfinite(gradient).all() for gradient in gradients)
    for variable, gradient in zip(variables, gradients, strict=True):
        if has_trees(name) and re.search("query|key|tree", variable.name):
            continue  # hard decisions have no slope; what stands in for it, their tests compare
        direction = tf.random.stateless_normal(variable.shape, [3, 3])
        start, step = tf.identity(variable), 4e-3
        variable.assign(start + step * direction)
        above = loss()
        variable.assign(start - step * direction)
        below = loss()
        variable.assign(start)
        expected = (above - below) / (2 * step)
        np.testing.assert_allclose(
            tf.reduce_sum(gradient * direction), expected, rtol=2e-2, atol=2e-2
        )


def test_dropout_only_in_training(name, tables, x, context):
    run = tables.layer_pair(small(name), dropout_rate=0.5)
    without = tables.layer_pair(small(name))(x, context)
    np.testing.assert_array_equal(run(x, context), without)
    assert np.abs(run(x, context, training=True) - without).max() > 1e-3


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_mixed_precision(name, features, shared_output, precision):
    encoder, expected = shared_encoder(name), shared_output(name)
    policy = keras.mixed_precision.global_policy()
    keras.mixed_precision.set_global_policy(f"mixed_{precision}")
    try:
        low = encoder_of(name)
    finally:
        keras.mixed_precision.set_global_policy(policy)
    low.set_weights(encoder.get_weights())
    output = low(features)["sequence_output"]
    assert output.dtype == precision
    assert {variable.dtype for variable in low.variables} == {tf.float32}
    difference = np.abs(tf.cast(output, tf.float32) - expected)
    if has_trees(name):
        # a token near the border of its leaf may end up in the next one
        difference = np.quantile(difference, 0.8)
    np.testing.assert_array_less(difference, 0.15)


def test_config_round_trip(name, tables, x, context, features, shared_output):
    run = tables.layer_pair(small(name))
    expected = run(x, context)
    variant = attention.get(name)
    pattern = variant.pattern.from_config(run.pattern.get_config())
    layer = variant.attention.from_config(run.layer.get_config())
    layer.build([None, None, HIDDEN])
    layer.set_weights(run.layer.get_weights())
    run.layer, run.pattern = layer, pattern
    np.testing.assert_array_equal(run(x, context), expected)
    encoder = shared_encoder(name)
    twin = TableEncoder.from_config(encoder.get_config())
    twin.set_weights(encoder.get_weights())
    np.testing.assert_array_equal(twin(features)["sequence_output"], shared_output(name))


def test_kernels_have_the_same_names_and_shapes_in_every_variant(name):
    """Beside what is the variant's own; and checkpoints have names for all of it."""

    def shapes(encoder):
        return {
            variable.name.split("/", 1)[1]: variable.shape
            for variable in encoder.variables
            if id(variable) not in own
        }

    encoder = shared_encoder(name)
    parts = (*encoder.patterns, *(block.attention for block in encoder.blocks))
    own = [id(v) for part in parts for v in part.checkpoint_variables().values()]
    assert shapes(encoder) == shapes(shared_encoder("full"))
    assert {id(v) for v in encoder.checkpoint_variables().values()} == set(
        map(id, encoder.variables)
    )


def test_what_shared_code_asks(name, tables, x, context):
    """Added tokens are as many as the class says, and only variables in checkpoints grow."""
    run = tables.layer_pair(small(name))
    extended, _ = abilities.add_tokens(run.pattern, x, context)
    assert extended.shape[1] - SEQ == abilities.num_added_tokens(type(run.pattern), small(name))
    flops = run.layer.flops(small(name), 4, HIDDEN, SEQ)
    assert flops is None or flops > 0
    if isinstance(run.layer, abilities.HasTrees):
        assert run.layer.grown_variables().keys() <= run.layer.checkpoint_variables().keys()
        height = run.layer.tree_height(small(name))
        lower = run.layer.with_tree_height(small(name), height - 1)
        assert run.layer.tree_height(lower) == height - 1
