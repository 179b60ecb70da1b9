"""Data of tasks: readers of official files, conversion to examples, and reading of batches.

Names are imported on first use, since interactions do not need TensorFlow.
"""

from typing import TYPE_CHECKING

from mate_tf.lazy import on_first_use

if TYPE_CHECKING:
    from mate_tf.data.converters.examples import ExampleConverter
    from mate_tf.data.converters.sequences import SequenceConverter
    from mate_tf.data.converters.windows import WindowConverter
    from mate_tf.data.interactions import Question, interaction_from_table
    from mate_tf.data.records import (
        read_examples,
        read_interactions,
        write_examples,
        write_interactions,
    )
    from mate_tf.tables.conversion import ConversionConfig

_EXPORTS = {
    "ConversionConfig": "mate_tf.tables.conversion",
    "ExampleConverter": "mate_tf.data.converters.examples",
    "Question": "mate_tf.data.interactions",
    "SequenceConverter": "mate_tf.data.converters.sequences",
    "WindowConverter": "mate_tf.data.converters.windows",
    "interaction_from_table": "mate_tf.data.interactions",
    "read_examples": "mate_tf.data.records",
    "read_interactions": "mate_tf.data.records",
    "write_examples": "mate_tf.data.records",
    "write_interactions": "mate_tf.data.records",
}

__all__ = [
    "ConversionConfig",
    "ExampleConverter",
    "Question",
    "SequenceConverter",
    "WindowConverter",
    "interaction_from_table",
    "read_examples",
    "read_interactions",
    "write_examples",
    "write_interactions",
]

__getattr__, __dir__ = on_first_use(__name__, _EXPORTS)
