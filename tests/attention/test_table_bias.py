"""TableFormer's relations against the recorded ones, and the bias of each."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import AttentionConfig, TableContext
from mate_tf.attention.table_bias import RELATIONS, relations
from mate_tf.data.features import MODEL_INPUTS, names
from mate_tf.layers.framework import keras
from mate_tf.models.encoder import EncoderConfig, TableEncoder


@pytest.fixture
def context(tables):
    return tables.random_context(np.random.default_rng(1), 40, [6, 3])


@pytest.mark.parametrize(
    ("case", "disabled"), [("table_attention", 0), ("table_attention_dis3", 3)]
)
def test_relations_are_the_recorded_ones(goldens, case, disabled):
    folder = goldens / "encoder" / "open"
    with np.load(folder / "features.npz") as features:
        context = TableContext(*(features[name] for name in TableContext.FEATURES))
    with np.load(folder / f"{case}.npz") as recorded:
        np.testing.assert_array_equal(
            relations(context, disabled), recorded["relative_relation_ids"]
        )


def test_each_relation_adds_its_number(tables, context):
    """softmax(scores + table[relation]), written out; heads have numbers of their own."""
    run = tables.layer_pair(AttentionConfig(name="table_bias"))
    x = tf.random.stateless_normal([2, 40, 16], [1, 1])
    plain = run(x, context).numpy()
    full = tables.layer_pair(AttentionConfig(name="full"))
    np.testing.assert_allclose(plain, full(x, context), atol=1e-6)  # it starts at zero
    table = np.random.default_rng(2).normal(size=[len(RELATIONS), 4]).astype(np.float32)
    run.layer.relative_bias_table.assign(table)
    bias = full.pattern(context).bias
    bias += table[relations(context).numpy()].transpose(0, 3, 1, 2)
    expected = full.layer(x, full.pattern(context)._replace(bias=bias))
    np.testing.assert_allclose(run(x, context), expected, atol=1e-5)
    assert np.abs(expected - plain).max() > 0.05


def test_which_row_and_column_it_is_has_no_influence(tables, context):
    run = tables.layer_pair(AttentionConfig(name="table_bias"))
    run.layer.relative_bias_table.assign(np.random.default_rng(2).normal(size=[len(RELATIONS), 4]))
    x = tf.random.stateless_normal([2, 40, 16], [1, 1])
    renamed = context._replace(
        row_ids=tf.where(context.row_ids > 0, 90 - context.row_ids, 0),
        column_ids=tf.where(context.column_ids > 0, 70 - context.column_ids, 0),
    )
    np.testing.assert_array_equal(run(x, renamed), run(x, context))


@pytest.mark.parametrize("kind", ["row_ids", "column_ids"])
@pytest.mark.parametrize("blind", [False, True])
def test_order_of_rows_and_columns(tables, kind, blind):
    """Without ids of rows and columns, and with positions within cells, it has no influence."""
    keras.utils.set_random_seed(2)
    encoder = TableEncoder(
        EncoderConfig(
            vocab_size=50,
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            initializer_range=0.3,
            reset_position_index_per_cell=True,
            disabled_features=["row_ids", "column_ids"] if blind else [],
            attention=AttentionConfig(name="table_bias"),
        )
    )
    rng = np.random.default_rng(4)
    context = tables.random_context(rng, 40, [5], columns=2)
    given = {name: ids.numpy() for name, ids in context.tensors.items()}
    given["input_ids"] = rng.integers(1, 50, [1, 40]).astype(np.int32)
    ids = given[kind]
    number = np.append(0, np.arange(ids.max(), 0, -1))  # row 0 is the header
    moved = given | {kind: number[ids].astype(np.int32)}
    places = np.lexsort([moved["column_ids"][0], moved["row_ids"][0], given["segment_ids"][0]])
    real = int(given["input_mask"].sum())
    padding = given["input_mask"][0, places] == 0
    places = np.append(places[~padding], places[padding])
    moved = {name: each[:, places] for name, each in moved.items()}
    assert (places != np.arange(40)).any()
    zeros = {name: np.zeros_like(ids) for name in names(MODEL_INPUTS)}
    before, after = (encoder(zeros | each)["sequence_output"] for each in (given, moved))
    difference = np.abs(after.numpy()[0, :real] - before.numpy()[0, places[:real]]).max()
    assert (difference < 1e-5) == blind
