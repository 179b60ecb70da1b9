"""Interactions and examples as TFRecord files: writing, reading in batches, conversion."""

from typing import TYPE_CHECKING

from mate_tf.lazy import on_first_use

if TYPE_CHECKING:
    from mate_tf.data.records.record_frames import GZIP as GZIP
    from mate_tf.data.records.tfrecord import (
        PREFETCHED,
        Curriculum,
        count_records,
        dataset,
        read_examples,
        read_interactions,
        write_examples,
        write_interactions,
    )

__all__ = [
    "PREFETCHED",
    "Curriculum",
    "count_records",
    "dataset",
    "read_examples",
    "read_interactions",
    "write_examples",
    "write_interactions",
]

_EXPORTS = {
    "GZIP": "mate_tf.data.records.record_frames",
    "Curriculum": "mate_tf.data.records.tfrecord",
    "PREFETCHED": "mate_tf.data.records.tfrecord",
    "count_records": "mate_tf.data.records.tfrecord",
    "dataset": "mate_tf.data.records.tfrecord",
    "read_examples": "mate_tf.data.records.tfrecord",
    "read_interactions": "mate_tf.data.records.tfrecord",
    "write_examples": "mate_tf.data.records.tfrecord",
    "write_interactions": "mate_tf.data.records.tfrecord",
}

__getattr__, __dir__ = on_first_use(__name__, _EXPORTS)
