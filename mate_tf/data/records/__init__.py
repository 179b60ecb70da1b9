"""Interactions and examples as TFRecord files: writing, reading in batches, conversion."""

from mate_tf.lazy import on_first_use

_EXPORTS = {
    "GZIP": "mate_tf.data.records.frames",
    **dict.fromkeys(
        (
            "PREFETCHED",
            "Curriculum",
            "count_records",
            "dataset",
            "read_examples",
            "read_interactions",
            "write_examples",
            "write_interactions",
        ),
        "mate_tf.data.records.tfrecord",
    ),
}

__all__ = sorted(_EXPORTS)

__getattr__, __dir__ = on_first_use(__name__, _EXPORTS)
