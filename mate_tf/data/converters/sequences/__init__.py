"""Sequences without a table: their interactions, tokens and examples."""

from mate_tf.data.converters.sequences.converter import SequenceConverter
from mate_tf.data.converters.sequences.sequence import interaction, texts
from mate_tf.data.converters.sequences.tokens import TOKENS, make_vocabulary
from mate_tf.lazy import on_first_use

__all__ = ["TOKENS", "SequenceConverter", "interaction", "make_vocabulary", "texts"]

__getattr__, __dir__ = on_first_use(__name__)
