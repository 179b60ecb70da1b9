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
        examples: PackedExamples, with which packed examples are computed in linear time. Without
            them, masks keep the examples apart.
    """

    segment_ids: tf.Tensor
    row_ids: tf.Tensor
    column_ids: tf.Tensor
    input_mask: tf.Tensor
    starts: tf.Tensor | None = None
    examples: "PackedExamples | None" = None

    FEATURES = ("segment_ids", "row_ids", "column_ids", "input_mask")
    """Names of the features that every context has."""

    @classmethod
    def from_features(cls, features):
        """Makes a context of a dict with features of these names; `starts` may be missing."""
        return cls(**{name: features[name] for name in cls.FEATURES}, starts=features.get("starts"))

    @property
    def tensors(self) -> dict[str, tf.Tensor]:
        """Tensors of [batch, seq] by name, without `starts` if it is None."""
        parts = self._replace(examples=None)._asdict()
        return {name: part for name, part in parts.items() if part is not None}

    def map(self, function):
        """Returns the context of `function` of each of `tensors`, without `examples`."""
        return TableContext(**{name: function(part) for name, part in self.tensors.items()})


class PackedExamples(NamedTuple):
    """Packed examples, each for itself, and where their tokens are in the shared sequences.

    Attributes:
        context: TableContext of the examples that were packed, [batch, seq].
        to: <int32>[batch, seq], number of each token in the flattened sequences; for padding the
            number behind the last one.
        come_from: <int32>[sequences, seq], number of each token in the flattened batch; for padding
            the number behind the last one.
    """

    context: TableContext
    to: tf.Tensor
    come_from: tf.Tensor
