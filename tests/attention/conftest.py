"""Random tables as the converter lays them out, and pairs of pattern and layer to run on them."""

import types

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import attention
from mate_tf.attention import abilities
from mate_tf.layers.framework import keras


def random_context(rng, seq, question_lengths, columns=3, max_cell_length=4, max_row_length=None):
    """A batch of tables, row-major behind their question; a question of length 0: all padding.
    `max_row_length` cuts the tokens of a row, header included, so that a window can hold it."""
    batch = len(question_lengths)
    parts = {name: np.zeros([batch, seq], np.int32) for name in attention.TableContext.FEATURES}
    for b, question_length in enumerate(question_lengths):
        place = min(question_length, seq)
        parts["input_mask"][b, :place] = 1
        end = seq - int(rng.integers(0, max(seq // 3, 1))) if question_length else 0
        row = 0
        while place < end:
            row_start = place
            for column in range(1, columns + 1):
                length = int(rng.integers(1, max_cell_length + 1))
                if max_row_length and place + length - row_start > max_row_length:
                    break
                stop = min(place + length, end)
                parts["segment_ids"][b, place:stop] = 1
                parts["row_ids"][b, place:stop] = row
                parts["column_ids"][b, place:stop] = column
                parts["input_mask"][b, place:stop] = 1
                place = stop
            row += 1
    return attention.TableContext(**{name: tf.constant(part) for name, part in parts.items()})


def layer_pair(config, num_heads=4, hidden_size=16, **kwargs):
    """(x, context) -> y for one variant; all made here with the same seed have equal weights."""
    keras.utils.set_random_seed(5)
    variant = attention.get(config.name)
    pattern = variant.pattern(config, num_heads)
    layer = variant.attention(
        config, num_heads, hidden_size=hidden_size, initializer_range=0.3, **kwargs
    )
    layer.build([None, None, hidden_size])

    def run(x, context, training=False):
        x, context = abilities.add_tokens(run.pattern, x, context)
        y = run.layer(x, run.pattern(context, training=training), training=training)
        return abilities.remove_tokens(run.pattern, y)

    run.layer, run.pattern = layer, pattern
    return run


def context_of(seq, lengths=None):
    """Examples without a table, of so many tokens each; by default one, without padding."""
    lengths = np.reshape([seq] if lengths is None else lengths, [-1, 1])
    zeros = tf.zeros([len(lengths), seq], tf.int32)
    return attention.TableContext(
        zeros, zeros, zeros, tf.constant((np.arange(seq) < lengths).astype(np.int32))
    )


def banded(n, half_width):
    """A structured mask: a band and the first and last token."""
    i, j = np.indices([n, n])
    return (abs(i - j) <= half_width) | (i % (n - 1) == 0) | (j % (n - 1) == 0)


def scattered(n, share, seed=0):
    """The same with diagonals anywhere."""
    on = np.random.default_rng(seed).random(n) < share
    i, j = np.indices([n, n])
    return on[abs(i - j)] | (i % (n - 1) == 0) | (j % (n - 1) == 0)


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.fixture(scope="session")
def tables():
    """The helpers of this file."""
    return types.SimpleNamespace(random_context=random_context, layer_pair=layer_pair)
