"""Interactions and examples as TFRecord files: writing, reading in batches, conversion."""

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
from mate_tf.lazy import on_first_use

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

__getattr__, __dir__ = on_first_use(__name__)
