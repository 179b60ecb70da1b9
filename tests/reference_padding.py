"""The reference's padding, for tests that compare what depends on it.

In the reference (google-research/tapas) padding attends to what is real, and its logits count in
the mean of column 0. In ours it comes out of MATE's attention as zero and belongs to no cell.
"""

import numpy as np
import tensorflow as tf

from mate_tf.attention import mate_forms
from mate_tf.attention.base import mask_bias
from mate_tf.layers.cells import Cells
from mate_tf.models import classifier

BEYOND_THE_TABLE = 10_000
"""Added to the row and column ids of padding: it comes last, and has nobody's row or column."""


def visible(features, num_heads, config):
    """Who sees whom in the reference's bucketed attention, padding queries included.

    Rules as far as they differ from ours: padding is a row and a column of its own, which is only
    sorted and compared, and sees the question like any token; a question token beyond the global
    section sees no more than its window; the first and the last bucket are neighbours.

    `features` are <int32>[batch, seq] arrays; of `num_heads` those that compare rows come first;
    buckets of the AttentionConfig must divide the sequence.

    Returns <bool>[batch, num_heads, seq, seq], query before key.
    """
    real = features["input_mask"] == 1
    question = real & (features["segment_ids"] == 0)
    num_buckets, rest = divmod(real.shape[1] - config.global_length, config.radius)
    assert not rest
    of_types = []
    for name in ("row_ids", "column_ids"):
        ids = features[name] + BEYOND_THE_TABLE * ~real
        rank = np.argsort(np.argsort(ids, axis=1, kind="stable"), axis=1)
        bucket = (rank - config.global_length) // config.radius
        near = np.isin(pairs(np.subtract, bucket) % num_buckets, [0, 1, num_buckets - 1])
        near |= pairs(np.logical_or, rank < config.global_length)
        related = pairs(np.equal, ids) | pairs(np.logical_or, question)
        of_types.append(near & related & real[:, np.newaxis])
    num_row_heads = int(num_heads * config.row_heads_ratio)
    return np.stack([of_types[head >= num_row_heads] for head in range(num_heads)], axis=1)


def pairs(function, values):
    """`function` of each query and each key: [batch, seq] -> [batch, seq, seq]."""
    return function(values[:, :, np.newaxis], values[:, np.newaxis])


def emulate(monkeypatch, features):
    """From here on `mate_efficient` and classifiers treat the padding of `features` so."""

    def pattern(self, context, training=None):
        mask = visible(features, self.num_heads, self.config)
        biases = tuple(
            mask_bias(mask[:, kind.first : kind.first + kind.count], self.compute_dtype)
            for kind in self.head_types
        )
        return mate_forms.FormTensors(tf.ones([], self.compute_dtype), biases)

    def cells(rows, columns, mask, *limits):
        return Cells(rows, columns, tf.ones_like(mask), *limits)

    # Without the indices of buckets the layer computes the dense softmax under the mask.
    monkeypatch.setattr(mate_forms.MateEfficientPattern, "call", pattern)
    monkeypatch.setattr(classifier, "Cells", cells)
