"""Makes texts of word pieces, as a model writes them."""

import os
import re

import numpy as np

from mate_tf.data.converters.tokenizer import CONTINUATION, REQUIRED_PIECES, read_vocabulary

_WITHOUT_SPACE_BEFORE = re.compile(r" ([.,;:!?%)\]}])(?= |$)")
_WITHOUT_SPACE_AFTER = re.compile(r"(?<![^ ])([(\[{]) ")
_INSIDE_WORDS = re.compile(r"(?<=\w) ([-'’/]) (?=\w)")
_POSSESSIVE = re.compile(r"(?<=\w) (['’]) ?(?=s\b)")


class Detokenizer:
    """Joins word pieces to texts.

        >>> Detokenizer("vocab.txt")([2, 17, 18, 9, 3, 0])
        "planes fly."

    The text ends at the first [SEP]. Special pieces are left out. Spaces around punctuation are
    removed where they are not written in English. Upper case is lost.

    Args:
        vocab_file: WordPiece vocabulary, one piece per line.

    Raises:
        InputError: if the vocabulary cannot be read.
    """

    def __init__(self, vocab_file: str | os.PathLike):
        self._pieces = read_vocabulary(vocab_file)
        ids = {piece: index for index, piece in enumerate(self._pieces)}
        self._end = ids["[SEP]"]
        self._left_out = {ids[piece] for piece in REQUIRED_PIECES if piece != "[UNK]"}

    def __call__(self, ids) -> str:
        """Returns the text of ids <int>[tokens]."""
        ids = np.asarray(ids).tolist()
        if self._end in ids:
            ids = ids[: ids.index(self._end)]
        pieces = " ".join(self._pieces[index] for index in ids if index not in self._left_out)
        text = pieces.replace(f" {CONTINUATION}", "").removeprefix(CONTINUATION)
        text = _POSSESSIVE.sub(r"\1", _INSIDE_WORDS.sub(r"\1", text))
        return _WITHOUT_SPACE_AFTER.sub(r"\1", _WITHOUT_SPACE_BEFORE.sub(r"\1", text))
