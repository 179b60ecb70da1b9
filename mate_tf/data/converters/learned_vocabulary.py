"""Learns a WordPiece vocabulary from tables and questions, for data without a given one."""

import string
from collections.abc import Iterable, Iterator

from mate_tf.data.converters.tokenizer import CLS, CONTINUATION, EMPTY, MASK, PAD, SEP, UNK
from mate_tf.protos import interaction_pb2

# [PAD] is 0 and [EMPTY] is 1, as in TAPAS's vocabulary.
_SPECIAL = (PAD, EMPTY, UNK, CLS, SEP, MASK)
_LETTERS_AND_DIGITS = string.ascii_lowercase + string.digits
# With them no text in ASCII has [UNK], whatever the training data have.
_CHARACTERS = (
    *string.punctuation,
    *_LETTERS_AND_DIGITS,
    *(f"{CONTINUATION}{character}" for character in _LETTERS_AND_DIGITS),
)
_LEAST_COUNT = 2
"""Smallest count of a piece. The builder's default, 10, would leave small data with letters."""

_TOGETHER = 1000
"""Texts that are split into words in one call."""


def learn(interactions: Iterable[interaction_pb2.Interaction], size: int) -> list[str]:
    """Learns a vocabulary with tensorflow_text's builder; equal data give equal pieces.

    Args:
        interactions: questions with their tables; each different table counts once.
        size: largest number of pieces. There are at least the special pieces and those for ASCII.

    Returns:
        the pieces, the special ones first.
    """
    import tensorflow as tf
    from tensorflow_text.tools.wordpiece_vocab import bert_vocab_from_dataset as builder

    from mate_tf.data.converters.tokenizer_graph import clean, separate_words

    texts = tf.data.Dataset.from_tensor_slices(list(_texts(interactions)))
    # Words are the tokenizer's; the builder's own splitting leaves them as they are.
    words = texts.batch(_TOGETHER).map(lambda batch: separate_words(clean(batch)))
    reserved = [*_SPECIAL, *_CHARACTERS]
    pieces = builder.bert_vocab_from_dataset(
        words, size, reserved, learn_params={"lower_thresh": _LEAST_COUNT}
    )
    # The builder may return more; characters come first, so that they are not cut off.
    pieces.sort(key=lambda piece: piece not in reserved and not _is_character(piece))
    return pieces[: max(size, len(reserved))]


def _texts(interactions):
    """Yields the texts of all questions and, once, of each table."""
    seen = set()
    for interaction in interactions:
        yield from (question.original_text or question.text for question in interaction.questions)
        table = interaction.table
        content = hash(table.SerializeToString(deterministic=True))
        if content not in seen:
            seen.add(content)
            yield from _table_texts(table)


def _table_texts(table: interaction_pb2.Table) -> Iterator[str]:
    yield from (table.document_title, table.context_heading, table.caption)
    yield from (cell.text for cell in table.columns)
    yield from (cell.text for row in table.rows for cell in row.cells)


def _is_character(piece):
    return len(piece.removeprefix(CONTINUATION)) == 1
