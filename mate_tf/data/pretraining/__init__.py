"""Data for pre-training: texts with tables, documents, sentence pairs, masked words."""

from mate_tf.data.pretraining.texts import (
    QUESTIONS,
    RANDOM_TABLE,
    REAL_TABLE,
    TEXT_SOURCES,
    read_dir,
    texts_with_tables,
)
from mate_tf.lazy import on_first_use

__all__ = [
    "QUESTIONS",
    "RANDOM_TABLE",
    "REAL_TABLE",
    "TEXT_SOURCES",
    "read_dir",
    "texts_with_tables",
]

__getattr__, __dir__ = on_first_use(__name__)
