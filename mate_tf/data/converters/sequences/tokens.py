"""Tokenizers of sequences: word pieces, bytes, or symbols between spaces.

Each has a vocabulary file with one piece per line that begins with the special pieces.
"""

import os
from collections.abc import Iterable, Sequence

import numpy as np

from mate_tf.data.converters.tokenizer import REQUIRED_PIECES, Tokenizer, read_vocabulary
from mate_tf.errors import InputError
from mate_tf.files.atomic import write_text

WORD_PIECES, BYTES, SYMBOLS = "word_pieces", "bytes", "symbols"

BYTE_PIECES = tuple(f"<0x{value:02X}>" for value in range(256))
"""Names of the bytes in a vocabulary."""


class WordPieces:
    """BERT's uncased word pieces; see `data.converters.tokenizer`.

    Args:
        vocab_file: vocabulary, one piece per line.

    Attributes:
        vocab_file: path of the vocabulary.
        pieces: the vocabulary.
        ends_with_sep: True if there is a [SEP] behind each text, as in BERT.

    Raises:
        InputError: if the vocabulary cannot be used.
    """

    ends_with_sep = True

    def __init__(self, vocab_file: str | os.PathLike):
        self.vocab_file = os.fspath(vocab_file)
        self._tokenizer = Tokenizer(vocab_file)
        self.pieces = self._tokenizer.pieces

    def encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Returns the ids <int32>[num_pieces] of each text."""
        ids, row_splits, _ = self._tokenizer.encode(texts)
        return np.split(ids, row_splits[1:-1])


class Bytes:
    """Bytes of the text in UTF-8; arguments, attributes and errors as for `WordPieces`."""

    ends_with_sep = False

    def __init__(self, vocab_file: str | os.PathLike):
        self.vocab_file = os.fspath(vocab_file)
        self.pieces = read_vocabulary(vocab_file)
        ids = {piece: index for index, piece in enumerate(self.pieces)}
        missing = [piece for piece in BYTE_PIECES if piece not in ids]
        if missing:
            raise InputError(f"{vocab_file}: is no vocabulary of bytes, it lacks {missing[0]}")
        self._ids = np.array([ids[piece] for piece in BYTE_PIECES], np.int32)

    def encode(self, texts: Iterable[str]) -> list[np.ndarray]:
        """Returns the ids <int32>[num_bytes] of each text."""
        return [self._ids[np.frombuffer(text.encode("utf-8"), np.uint8)] for text in texts]


class Symbols:
    """Symbols separated by spaces; arguments, attributes and errors as for `WordPieces`.

    A symbol that is not in the vocabulary becomes [UNK].
    """

    ends_with_sep = False

    def __init__(self, vocab_file: str | os.PathLike):
        self.vocab_file = os.fspath(vocab_file)
        self.pieces = read_vocabulary(vocab_file)
        self._ids = {piece: index for index, piece in enumerate(self.pieces)}
        self._unknown = self._ids["[UNK]"]

    def encode(self, texts: Iterable[str]) -> list[np.ndarray]:
        """Returns the ids <int32>[num_symbols] of each text."""
        return [
            np.array([self._ids.get(symbol, self._unknown) for symbol in text.split()], np.int32)
            for text in texts
        ]


TOKENS = {WORD_PIECES: WordPieces, BYTES: Bytes, SYMBOLS: Symbols}
"""Kinds of tokens, by their name in `conversion.tokens`."""


def make_vocabulary(path: str | os.PathLike, pieces: Iterable[str]) -> None:
    """Writes a vocabulary: the special pieces, then `pieces`, one per line."""
    text = "".join(f"{piece}\n" for piece in (*REQUIRED_PIECES, *pieces))
    write_text(path, text)
