"""Packing: every token of every example comes back, in few sequences, and none is mixed."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.models.packing import Packing

SEQ = 12


def mask_of(lengths, seq=SEQ):
    return (np.arange(seq) < np.array(lengths)[:, None]).astype(np.int32)


def test_by_hand():
    packing = Packing(mask_of([3, 4, 1], 4))
    values = [[1, 2, 3, 0], [4, 5, 6, 7], [8, 0, 0, 0]]
    packed = packing.pack(tf.constant(values))
    np.testing.assert_array_equal(packed, [[4, 5, 6, 7], [1, 2, 3, 8]])
    np.testing.assert_array_equal(packing.starts, [[0, 0, 0, 0], [0, 0, 0, 3]])
    unpacked = packing.unpack(tf.cast(packed, tf.float32)[:, :, None])
    np.testing.assert_array_equal(unpacked[:, :, 0], values)


@given(st.lists(st.integers(0, SEQ), min_size=1, max_size=9))
def test_there_and_back(lengths):
    packing = Packing(mask_of(lengths))
    mask = mask_of(lengths)
    own = (1 + np.arange(mask.size, dtype=np.int32)).reshape(mask.shape) * mask
    packed = packing.pack(tf.constant(own)).numpy()
    assert sorted(packed[packed > 0]) == sorted(own[own > 0])
    np.testing.assert_array_equal(packing.unpack(packed[:, :, None])[:, :, 0], own)
    starts = packing.starts.numpy()
    example = (packed - 1) // SEQ
    for sequence in range(len(packed)):
        for place in np.flatnonzero(packed[sequence]):
            first = np.flatnonzero(example[sequence] == example[sequence, place])[0]
            assert starts[sequence, place] == first
    # never twice as many as there must be: of two sequences, one could not be put into the other
    assert len(packed) <= max(1, 2 * -(-sum(lengths) // SEQ))


def test_gaps_stay():
    """Padding within an example, as pre-training on text has none but a user may, is kept."""
    mask = np.array([[1, 0, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]], np.int32)
    packing = Packing(mask)
    packed = packing.pack(tf.constant(mask))
    np.testing.assert_array_equal(packed, [[1, 0, 1, 1, 1, 0]])
    np.testing.assert_array_equal(packing.starts[0], [0, 0, 0, 3, 3, 5])


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_number_of_sequences(jit_compile):
    """As XLA needs it: all of them, and whether the batch fits."""

    @tf.function(jit_compile=jit_compile, autograph=False)
    def run(mask, values):
        packing = Packing(mask, num_sequences=3)
        packed = packing.pack(values)
        unpacked = packing.unpack(tf.cast(packed, tf.float32)[:, :, None])
        return packing.fits, packed, packing.starts, unpacked[:, :, 0]

    for lengths, expected in (([5, 7, 12, 4, 1, 0], True), ([7, 7, 8, 7, 1, 0], False)):
        mask = tf.constant(mask_of(lengths))
        own = mask * tf.reshape(tf.range(1, 6 * SEQ + 1), [6, SEQ])
        fits, packed, starts, unpacked = run(mask, own)
        assert fits == expected
        assert packed.shape == starts.shape == [3, SEQ]
        if fits:
            np.testing.assert_array_equal(unpacked, own)
    assert Packing(mask).fits
