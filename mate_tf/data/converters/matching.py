"""Marks words that question and table share: an exact match feature, as in reading comprehension.

A small model needs long training to find such matches by itself.
"""

import numpy as np

from mate_tf.data.converters.tokenizer import CONTINUATION, Tokenizer
from mate_tf.tables import pruning


def shared_words(
    input_ids: np.ndarray, segment_ids: np.ndarray, tokenizer: Tokenizer
) -> np.ndarray:
    """Marks the tokens of words that occur both in the question and in the table.

    Words are compared in the form of `mate_tf.tables.pruning.words`, so plurals match singulars.
    Punctuation and words with an unknown piece match nothing.

    Args:
        input_ids: <int32>[tokens].
        segment_ids: <int32>[tokens], 1 in the table.
        tokenizer: tokenizer of the ids.

    Returns:
        <int32>[tokens], 1 for the pieces of shared words.
    """
    pieces = [tokenizer.pieces[index] for index in input_ids]
    starts = np.array([not piece.startswith(CONTINUATION) for piece in pieces], bool)
    word_of = np.cumsum(starts) - 1
    texts = [""] * int(starts.sum())
    for word, piece in zip(word_of, pieces, strict=True):
        texts[word] += piece.removeprefix(CONTINUATION)
    compared = ["".join(pruning.words(text)) for text in texts]
    in_table = segment_ids[starts] > 0
    sides = [{w for w, there in zip(compared, in_table, strict=True) if there == s} for s in (0, 1)]
    shared = (sides[0] & sides[1]) - {"", *special(tokenizer)}
    return np.array([word in shared for word in compared], np.int32)[word_of]


def special(tokenizer: Tokenizer) -> set[str]:
    """Returns the special pieces in the form in which words are compared."""
    ids = (tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.empty_id)
    return {"".join(pruning.words(tokenizer.pieces[index])) for index in ids}
