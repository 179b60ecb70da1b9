"""TableContext: the ids of a batch of tables that attention patterns are computed from."""

from typing import NamedTuple

import tensorflow as tf


class TableContext(NamedTuple):
    """Row, column and segment of each token; <int32>[batch, seq] each.

    Attributes:
        segment_ids: 0 for the question, [CLS], [SEP] and padding, 1 for the table.
        row_ids: 0 for the question and the header row, 1 and up for data rows.
        column_ids: 0 for the question, 1 and up for columns.
        input_mask: 1 for real tokens, 0 for padding.
        starts: first position of the token's example, if several examples share a sequence
            (`mate_tf.models.packing`); it differs between the examples. None = not packed.
    """

    segment_ids: tf.Tensor
    row_ids: tf.Tensor
    column_ids: tf.Tensor
    input_mask: tf.Tensor
    starts: tf.Tensor | None = None

    FEATURES = ("segment_ids", "row_ids", "column_ids", "input_mask")
    """Names of the features that every context has."""

    @classmethod
    def from_features(cls, features):
        """Makes a context of a dict with features of these names; `starts` may be missing."""
        return cls(*(features[name] for name in cls.FEATURES), features.get("starts"))

    def map(self, function):
        """Returns the context with `function` applied to each of its tensors."""
        return TableContext(*(None if part is None else function(part) for part in self))
