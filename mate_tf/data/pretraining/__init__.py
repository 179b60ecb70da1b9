"""Data for pre-training: texts with tables, documents, sentence pairs, masked words."""

from mate_tf.data.pretraining.texts import (
    QUESTIONS,
    RANDOM_TABLE,
    REAL_TABLE,
    TEXT_SOURCES,
    read_dir,
    texts_with_tables,
)

__all__ = [
    "QUESTIONS",
    "RANDOM_TABLE",
    "REAL_TABLE",
    "TEXT_SOURCES",
    "read_dir",
    "texts_with_tables",
]
