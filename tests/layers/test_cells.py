"""Cells against a plain loop over tokens."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.layers.cells import Cells

ROWS, COLUMNS = 4, 3


@pytest.fixture(scope="module")
def batch():
    rng = np.random.default_rng(1)
    shape = (3, 40)
    mask = np.ones(shape, np.int32)
    mask[1, 25:] = 0
    mask[2] = 0  # an example of padding only
    return {
        "row_ids": rng.integers(0, 6, shape).astype(np.int32) * mask,  # two rows too many
        "column_ids": rng.integers(0, 4, shape).astype(np.int32) * mask,  # one column too many
        "input_mask": mask,
        "values": rng.normal(size=shape).astype(np.float32),
        "labels": (rng.random(shape) < 0.1).astype(np.int32) * mask,
    }


@pytest.fixture(scope="module")
def cells(batch):
    return Cells(batch["row_ids"], batch["column_ids"], batch["input_mask"], ROWS, COLUMNS)


def tokens_by_cell(batch):
    """The plain definition: (example, row, column) -> token positions."""
    found = {}
    for b, position in np.argwhere(batch["input_mask"]):
        row = min(batch["row_ids"][b, position], ROWS - 1)
        column = min(batch["column_ids"][b, position], COLUMNS - 1)
        found.setdefault((b, row, column), []).append(position)
    return found


def expected_per_cell(batch, function):
    result = np.zeros((3, ROWS, COLUMNS), np.float32)
    for (b, row, column), positions in tokens_by_cell(batch).items():
        result[b, row, column] = function(b, positions)
    return result


def test_sum_and_mean(batch, cells):
    values = batch["values"]
    np.testing.assert_allclose(
        cells.sum(values), expected_per_cell(batch, lambda b, p: values[b, p].sum()), atol=1e-5
    )
    np.testing.assert_allclose(
        cells.mean(values), expected_per_cell(batch, lambda b, p: values[b, p].mean()), atol=1e-5
    )


def test_present_and_labelled(batch, cells):
    np.testing.assert_array_equal(cells.present, expected_per_cell(batch, lambda b, p: 1))
    labels = batch["labels"]
    np.testing.assert_array_equal(
        cells.labelled(labels), expected_per_cell(batch, lambda b, p: labels[b, p].max())
    )
    in_table = np.array(cells.present)
    in_table[:, 0] = in_table[:, :, 0] = 0
    np.testing.assert_array_equal(cells.in_table, in_table)


def test_to_tokens_is_the_cell_of_each_token(batch, cells):
    means = np.array(cells.mean(batch["values"]))
    back = np.array(cells.to_tokens(means))
    for (b, row, column), positions in tokens_by_cell(batch).items():
        np.testing.assert_array_equal(back[b, positions], means[b, row, column])


def test_column_mean_is_over_cells_not_tokens(batch, cells):
    means = np.array(cells.mean(batch["values"]))
    present = np.array(cells.present).astype(bool)
    for b in range(3):
        for column in range(COLUMNS):
            chosen = means[b, present[b, :, column], column]
            want = chosen.mean() if chosen.size else 0.0
            assert float(cells.column_mean(means)[b, column]) == pytest.approx(want, abs=1e-5)
            assert bool(cells.column_present[b, column]) == bool(chosen.size)


def test_padding_changes_nothing(batch):
    """Also in column 0, where padding has its ids."""

    def column_0(length):
        cut = {name: batch[name][1:2, :length] for name in batch}
        cells = Cells(cut["row_ids"], cut["column_ids"], cut["input_mask"], ROWS, COLUMNS)
        return np.array(cells.column_mean(cells.mean(cut["values"])))

    np.testing.assert_array_equal(column_0(25), column_0(40))


def test_one_compiled_graph_for_any_batch_size(batch):
    """Under XLA, with gradients, and without a static batch size outside it."""

    @tf.function(jit_compile=True)
    def loss_and_gradient(row_ids, column_ids, mask, values):
        with tf.GradientTape() as tape:
            tape.watch(values)
            cells = Cells(row_ids, column_ids, mask, ROWS, COLUMNS)
            loss = tf.reduce_sum(cells.to_tokens(cells.mean(values)) ** 2)
        return loss, tape.gradient(loss, values)

    arguments = [batch[k] for k in ("row_ids", "column_ids", "input_mask", "values")]
    loss, gradient = loss_and_gradient(*map(tf.constant, arguments))
    plain, plain_gradient = loss_and_gradient.python_function(*map(tf.constant, arguments))
    np.testing.assert_allclose(loss, plain, rtol=1e-5)
    np.testing.assert_allclose(gradient, plain_gradient, atol=1e-5)
    assert np.abs(gradient[0]).max() > 0
