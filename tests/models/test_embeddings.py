"""Embeddings: positions within cells, types outside their table, dropout, precision."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.models.embeddings import TableEmbeddings, positions_in_cell
from mate_tf.models.encoder_config import EncoderConfig

from .conftest import mixed_precision


def config(**fields):
    sizes = {"vocab_size": 20, "hidden_size": 8, "max_position_embeddings": 16}
    return EncoderConfig(**sizes | {"hidden_dropout_prob": 0.5} | fields)


def features(seq=6, **changed):
    names = feature_names.names(feature_names.MODEL_INPUTS)
    return {name: tf.zeros([1, seq], tf.int32) for name in names} | {
        name: tf.constant([value]) for name, value in changed.items()
    }


def by_definition(columns, rows):
    cells = [list(zip(*example, strict=True)) for example in zip(columns, rows, strict=True)]
    return [[i - example.index(cell) for i, cell in enumerate(example)] for example in cells]


@pytest.mark.parametrize("jit_compile", [False, True])
def test_positions_count_from_the_first_token_of_the_cell(jit_compile):
    rng = np.random.default_rng(1)
    columns, rows = rng.integers(0, 3, [2, 4, 50]).astype(np.int32)
    rows[1] *= 70_000
    columns[2] *= 300
    positions = tf.function(positions_in_cell, jit_compile=jit_compile)(columns, rows)
    assert positions.dtype == tf.int32
    np.testing.assert_array_equal(positions, by_definition(columns.tolist(), rows.tolist()))


def test_padding_keeps_its_absolute_index():
    positions = positions_in_cell(tf.constant([[0, 0, 1, 1, 0, 0]]), tf.zeros([1, 6], tf.int32))
    assert positions.numpy().tolist() == [[0, 1, 0, 1, 4, 5]]


def test_embeddings_are_rebuilt_from_their_config():
    layer = TableEmbeddings(config(disabled_features=["prev_label_ids"]))
    again = TableEmbeddings.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    assert again.type_names == layer.type_names


def test_positions_of_long_inputs_need_no_matrix():
    """A quadratic comparison of 60,000 tokens would take 3.6 GB."""
    cells = tf.repeat(tf.range(20_000), 3)[None]
    positions = positions_in_cell(cells % 7, cells)
    np.testing.assert_array_equal(positions, np.tile([0, 1, 2], 20_000)[None])


@pytest.mark.parametrize("outside", [256, 5000, -1])
def test_type_outside_its_table_adds_nothing(outside):
    layer = TableEmbeddings(config())
    layer.build()
    inside = layer(features(column_ranks=[1, 1, 1, 1, 1, 1]))
    layer.token_type_embeddings[4].assign(
        tf.tensor_scatter_nd_update(layer.token_type_embeddings[4], [[1]], tf.zeros([1, 8]))
    )
    expected = layer(features(column_ranks=[1, 1, 1, 1, 1, 1]))
    ours = layer(features(column_ranks=[outside] * 6))
    np.testing.assert_allclose(ours, expected, atol=1e-6)
    assert np.abs(inside - expected).max() > 1e-3


def test_disabled_features_have_no_table_and_are_not_needed():
    layer = TableEmbeddings(config(disabled_features=["column_ranks", "inv_column_ranks"]))
    layer.build()
    inputs = features()
    del inputs["column_ranks"], inputs["inv_column_ranks"]
    assert layer(inputs).shape == [1, 6, 8]
    assert {name.split("/")[-1] for name in layer.checkpoint_variables()} >= {
        "token_type_embeddings_3",
        "token_type_embeddings_6",
    }
    assert "embeddings/token_type_embeddings_4" not in layer.checkpoint_variables()


def test_dropout_follows_the_normalisation():
    layer = TableEmbeddings(config())
    layer.build()
    still = layer(features()).numpy()
    np.testing.assert_allclose(still.mean(-1), 0, atol=1e-5)
    np.testing.assert_allclose(still.var(-1), 1, atol=1e-3)
    trained = layer(features(), training=True).numpy()
    assert (trained == 0).any()
    np.testing.assert_allclose(trained[trained != 0], 2 * still[trained != 0], rtol=1e-5)


def test_bfloat16_is_rounded_from_a_sum_in_full_precision():
    layer = TableEmbeddings(config())
    layer.build()
    with mixed_precision("mixed_bfloat16"):
        low = TableEmbeddings(config())
    low.build()
    low.set_weights(layer.get_weights())
    output = low(features())
    assert output.dtype == tf.bfloat16
    assert low.word_embeddings.dtype == tf.float32
    np.testing.assert_allclose(tf.cast(output, tf.float32), layer(features()), atol=0.02)
