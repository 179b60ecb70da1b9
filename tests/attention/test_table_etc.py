"""TableETC's global tokens and distances; attention itself, the contract test compares."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import AttentionConfig, TableContext, masks
from mate_tf.attention.table_etc import ITSELF, own_global_tokens


def config(**options):
    small = {"num_global": 8, "local_radius": 3, "max_distance": 2}
    return AttentionConfig(name="table_etc", **small | options)


def one_table():
    """[CLS] q [SEP], a header of two columns, rows 1, 2 and 5 of one token a cell, and padding."""
    return TableContext(
        segment_ids=tf.constant([[0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0]]),
        row_ids=tf.constant([[0, 0, 0, 0, 0, 1, 1, 2, 2, 5, 5, 0]]),
        column_ids=tf.constant([[0, 0, 0, 1, 2, 1, 2, 1, 2, 1, 2, 0]]),
        input_mask=tf.constant([[1] * 11 + [0]]),
    )


def test_tokens_belong_to_their_row_and_their_column():
    """Rows 0 to 3, then columns 1 to 4; with four tokens for rows, row 5 shares that of row 1."""
    own = own_global_tokens(one_table(), 8)[0]
    found = [np.flatnonzero(token).tolist() for token in own]
    expected = [[0, 4], [0, 5], [1, 4], [1, 5], [2, 4], [2, 5], [1, 4], [1, 5]]
    assert found == [[], [], [], *expected, []]


def test_global_tokens_start_as_means_and_are_cut_off(tables):
    pattern = tables.layer_pair(config()).pattern
    x = tf.random.stateless_normal([1, 12, 16], [1, 1])
    extended, context = pattern.add_tokens(x, one_table())
    assert extended.shape == [1, 20, 16]
    expected = {0: [3, 4], 1: [5, 6, 9, 10], 2: [7, 8], 4: [3, 5, 7, 9], 5: [4, 6, 8, 10]}
    for number in range(8):
        tokens = expected.get(number)
        mean = x.numpy()[0, tokens].mean(0) if tokens else np.zeros(16)
        np.testing.assert_allclose(extended[0, number], mean, atol=1e-6)
        assert context.input_mask[0, number] == (number in expected)
    np.testing.assert_array_equal(pattern.remove_tokens(extended), x)
    own_tensors = one_table().tensors
    for name, added in context.tensors.items():
        np.testing.assert_array_equal(added[:, 8:], own_tensors[name])


def test_who_sees_whom(tables):
    pattern = tables.layer_pair(config()).pattern
    _, context = pattern.add_tokens(tf.zeros([1, 12, 16]), one_table())
    mask = pattern.mask(context)[0, 0].numpy()
    np.testing.assert_array_equal(mask, masks.table_etc(context, 8, 3)[0])
    used, real = [0, 1, 2, 4, 5], range(8, 19)
    for query in range(20):
        seen = {*used, *(k for k in real if query < 8 or abs(query - k) <= 3)}
        assert set(np.flatnonzero(mask[query])) == (seen if query in {*used, *real} else set())


@pytest.mark.parametrize("most", [3, 5])
def test_distances_beyond_the_radius_are_of_no_use(tables, most):
    run, other = tables.layer_pair(config()), tables.layer_pair(config(max_distance=most))
    context = tables.random_context(np.random.default_rng(1), 30, [5, 5])
    x = tf.random.stateless_normal([2, 30, 16], [1, 1])
    table = run.layer.relative_position_embeddings.numpy()
    named, distances = table[: ITSELF + 1], table[ITSELF + 1 :]
    edges = np.clip(np.arange(-most, most + 1), -2, 2) + 2
    wide = distances[edges]
    wide[abs(np.arange(-most, most + 1)) > 3] = 1e3
    other.layer.relative_position_embeddings.assign(np.concatenate([named, wide]))
    for name in ("query", "key", "value", "output_projection"):
        getattr(other.layer, name).set_weights(getattr(run.layer, name).get_weights())
    np.testing.assert_allclose(other(x, context), run(x, context), atol=1e-5)
