"""TableFormer's relations against the recorded ones, and the bias of each."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import AttentionConfig, TableContext
from mate_tf.attention.table_bias import RELATIONS, relations


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
