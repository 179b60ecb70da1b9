"""Data of pre-training: texts with tables, documents, pairs of sentences, masked words."""

from mate_tf.data.pretraining.texts import QUESTIONS, TEXT_SOURCES, read_dir, texts_with_tables

__all__ = ["QUESTIONS", "TEXT_SOURCES", "read_dir", "texts_with_tables"]
