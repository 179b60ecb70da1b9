"""WordPiece tokenizer with tensorflow_text, the same graph for offline conversion and serving.

The result equals that of BERT's original (Python) uncased tokenizer. The BERT tokenizers of
tensorflow_text fold case with NFKC, which differs for fractions, full-width forms, ligatures and
more. So clean-up, lower case and the split into words are implemented here. Only the split of words
into pieces is done by tensorflow_text.
"""

import itertools
import os
import re
import types
import typing
from collections.abc import Iterable, Sequence

import numpy as np
import tensorflow as tf
import tensorflow_text as tf_text

from mate_tf.errors import InputError

CLS, SEP, PAD, UNK, MASK, EMPTY = "[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", "[EMPTY]"
REQUIRED_PIECES = (PAD, UNK, CLS, SEP)
CONTINUATION = "##"
MAX_WORD_CHARACTERS = 400
"""Longer words become [UNK], as in BERT's tokenizer."""

_REPLACEMENT_CHARACTER = "\ufffd"
_SPACES = r"[\t\n\r\pZ]"
_INVISIBLE = r"[\p{Cc}\p{Cf}]"
_ACCENTS = r"\p{Mn}"
_IDEOGRAPHS = (
    r"\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{F900}-\x{FAFF}"
    r"\x{20000}-\x{2A6DF}\x{2A700}-\x{2CEAF}\x{2F800}-\x{2FA1F}"
)
_WORDS_BY_THEMSELVES = rf"([\pP!-/:-@\[-`{{-~{_IDEOGRAPHS}])"
_HAS_CONTENT = r"(?s).*[\pL\pN].*"
_NOT_AVAILABLE = r"(?i)[\s\v\x1c-\x1f\x{85}\pZ]*n/a[\s\v\x1c-\x1f\x{85}\pZ]*"


class Encoding(typing.NamedTuple):
    """Word pieces of several texts, concatenated.

    Attributes:
        ids: <int32>[num_pieces], ids in the vocabulary.
        row_splits: <int64>[num_texts + 1]; text i has the pieces row_splits[i]:row_splits[i + 1].
        word_starts: <bool>[num_pieces], False for pieces that continue a word ("##...").
    """

    ids: np.ndarray
    row_splits: np.ndarray
    word_starts: np.ndarray


class Tokenizer(tf.Module):
    """BERT's uncased tokenizer. A text without letters and digits is the one piece [EMPTY].

    ```
    tokenizer = Tokenizer("vocab.txt")
    tokenizer.tokenize(["Losing team", "?"])    # [["losing", "team"], ["[EMPTY]"]]
    tokenizer.to_ids(tf.constant(["Losing team", "?"]))    # ragged, also inside a SavedModel
    ```

    The vocabulary of TAPAS has [EMPTY] as id 1, which is [unused0] in BERT. In a vocabulary without
    [EMPTY], the first [unused…] piece is used for it, so that BERT's vocabulary gives the same ids.
    Without such a piece, [UNK] is used.

    Args:
        vocab_file: vocabulary, one piece per line.

    Attributes:
        vocab_file: path of the vocabulary.
        pieces: the vocabulary, a tuple of strings.
        pad_id, unk_id, cls_id, sep_id, empty_id, mask_id: ids of special pieces; mask_id is None
            if there is no [MASK].
        empty_piece: the piece with `empty_id`.
        continues: <bool>[pieces], True for pieces that continue a word.

    Raises:
        InputError: if the file is missing, not text, empty, has duplicates or lacks special pieces.
    """

    def __init__(self, vocab_file: str | os.PathLike):
        super().__init__(name="tokenizer")
        self.vocab_file = os.fspath(vocab_file)
        self.pieces = read_vocabulary(vocab_file)
        # Not a plain dict, since tf.Module tracks every entry of it.
        self._id_of = types.MappingProxyType({p: index for index, p in enumerate(self.pieces)})
        self.pad_id, self.unk_id, self.cls_id, self.sep_id = self.ids(REQUIRED_PIECES)
        self.mask_id = self._id_of.get(MASK)
        unused = (piece for piece in self.pieces if piece.startswith("[unused"))
        self.empty_piece = EMPTY if EMPTY in self._id_of else next(unused, UNK)
        self.empty_id = self._id_of[self.empty_piece]
        self.continues = np.array([piece.startswith(CONTINUATION) for piece in self.pieces])
        self._wordpiece = tf_text.FastWordpieceTokenizer(
            list(self.pieces),
            suffix_indicator=CONTINUATION,
            max_bytes_per_word=4 * MAX_WORD_CHARACTERS,
            token_out_type=tf.int32,
            unknown_token=UNK,
            no_pretokenization=True,
        )

    # AutoGraph has nothing to convert here and would make tracing slow.
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
    def to_ids(self, texts):
        """Tokenizes texts in TensorFlow.

        Args:
            texts: <string>[num_texts], UTF-8; invalid bytes are dropped.

        Returns:
            <int32>[num_texts, (pieces)], ragged ids, at least one piece for each text.
        """
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="ignore")
        # Brackets are separate words, so no word of the text equals a special piece. [EMPTY] and
        # [UNK] can therefore be put among the words, and they keep their ids.
        words = tf.strings.split(
            tf.where(is_empty(texts), self.empty_piece, separate_words(clean(texts)))
        )
        too_long = tf.strings.length(words.flat_values, "UTF8_CHAR") > MAX_WORD_CHARACTERS
        words = words.with_flat_values(tf.where(too_long, UNK, words.flat_values))
        pieces = self._wordpiece.tokenize(words.flat_values)
        return tf.RaggedTensor.from_row_splits(
            pieces.flat_values, tf.gather(pieces.row_splits, words.row_splits), validate=False
        )

    def encode(self, texts: Iterable[str]) -> Encoding:
        """Tokenizes texts; returns NumPy arrays."""
        # Lone surrogates cannot be encoded. They are dropped, like other invalid characters.
        encoded = [text.encode("utf-8", "ignore") for text in texts]
        parts, splits = [], [np.zeros(1, np.int64)]
        # Not all in one call: TensorFlow copies the texts several times.
        for begin in range(0, max(len(encoded), 1), _TEXTS_AT_A_TIME):
            part = encoded[begin : begin + _TEXTS_AT_A_TIME]
            with tf.device("CPU:0"):
                ragged = self.to_ids(tf.constant(part, tf.string, shape=[len(part)]))
            parts.append(ragged.flat_values.numpy())
            splits.append(splits[-1][-1] + ragged.row_splits.numpy()[1:])
        ids = np.concatenate(parts)
        return Encoding(ids, np.concatenate(splits), ~self.continues[ids])

    def normalize(self, texts: Iterable[str]) -> list[str]:
        """Returns the cleaned texts, with spaces between words."""
        encoded = [text.encode("utf-8", "ignore") for text in texts]
        normal = separate_words(clean(tf.constant(encoded, tf.string, shape=[len(encoded)])))
        return [text.decode("utf-8") for text in normal.numpy()]

    def encode_groups(self, groups: Iterable[Iterable[str]]) -> list[Encoding]:
        """Tokenizes groups of texts in one call; returns one `Encoding` per group."""
        groups = [list(texts) for texts in groups]
        ids, row_splits, word_starts = self.encode(itertools.chain.from_iterable(groups))
        ends = np.cumsum([0, *map(len, groups)])
        result = []
        for first, last in itertools.pairwise(ends):
            splits = row_splits[first : last + 1]
            own = slice(splits[0], splits[-1])
            result.append(Encoding(ids[own], splits - splits[0], word_starts[own]))
        return result

    def tokenize(self, texts: Iterable[str]) -> list[list[str]]:
        """Returns the word pieces of each text, as strings."""
        ids, row_splits, _ = self.encode(texts)
        pieces = [self.pieces[index] for index in ids]
        return [pieces[begin:end] for begin, end in itertools.pairwise(row_splits)]

    def ids(self, pieces: Iterable[str]) -> list[int]:
        """Returns the ids of word pieces.

        Raises:
            InputError: if a piece is not in the vocabulary.
        """
        pieces = list(pieces)
        unknown = sorted({piece for piece in pieces if piece not in self._id_of})
        if unknown:
            raise InputError(f"{self.vocab_file}: not in the vocabulary: {', '.join(unknown)}")
        return [self._id_of[piece] for piece in pieces]


_TEXTS_AT_A_TIME = 50_000

_MOST_BYTES = 256
"""Longest word piece that TensorFlow Text takes."""


def read_vocabulary(vocab_file: str | os.PathLike) -> tuple[str, ...]:
    """Reads the word pieces of a vocabulary file, one per line, the first with id 0.

    Raises:
        InputError: if the file cannot be read or is not a valid vocabulary.
    """
    name = os.fspath(vocab_file)
    try:
        with tf.io.gfile.GFile(name, "rb") as file:
            text = file.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not a vocabulary, it is not UTF-8 text ({error})") from error
    except tf.errors.OpError as error:
        raise InputError(f"{name}: cannot read the vocabulary: {error.message}") from error
    if "\x00" in text:
        raise InputError(f"{name}: not a vocabulary, it has binary content")
    pieces = tuple(line.strip() for line in text.rstrip().split("\n"))
    _check_pieces(name, pieces)
    return pieces


def _check_pieces(name: str, pieces: Sequence[str]) -> None:
    """Raises InputError for empty lines, duplicates and missing special pieces."""
    if pieces == ("",):
        raise InputError(f"{name}: the vocabulary is empty")
    first_line = {}
    for line, piece in enumerate(pieces, start=1):
        if not piece:
            raise InputError(f"{name}: line {line} of the vocabulary is empty")
        if len(piece.encode()) > _MOST_BYTES:
            raise InputError(f"{name}: the piece in line {line} is longer than {_MOST_BYTES} bytes")
        if first_line.setdefault(piece, line) != line:
            raise InputError(
                f"{name}: the piece {piece!r} is in lines {first_line[piece]} and {line}"
            )
    missing = [piece for piece in REQUIRED_PIECES if piece not in first_line]
    if missing:
        raise InputError(f"{name}: the vocabulary lacks {', '.join(missing)}")


def decompose(texts):
    """Decomposes letters with accents (NFD), <string>[...]: accents become separate characters."""
    return tf_text.normalize_utf8(texts, "NFD")


def clean(texts, decompose=decompose):
    """Normalizes white space to spaces, removes control characters and accents, lower-cases.

    Args:
        texts: <string>[...], UTF-8.
        decompose: function that separates accents from their letters; it may also remove them.
    """
    texts = tf.strings.regex_replace(texts, _REPLACEMENT_CHARACTER, "")
    texts = tf.strings.regex_replace(texts, _SPACES, " ")
    texts = tf.strings.regex_replace(texts, _INVISIBLE, "")
    texts = tf.strings.lower(texts, encoding="utf-8")
    return without_accents(decompose(texts))


def without_accents(texts):
    """Removes accents that are separate characters from <string>[...]."""
    return tf.strings.regex_replace(texts, _ACCENTS, "")


def separate_words(texts):
    """Puts spaces around each punctuation mark and each ideograph of <string>[...]."""
    return tf.strings.regex_replace(texts, _WORDS_BY_THEMSELVES, r" \1 ")


def is_empty(texts):
    """Returns <bool>[...], true for texts without letters and digits and for "n/a".

    These are the texts for which `tables.text.format_text` returns EMPTY.
    """
    return tf.logical_or(
        tf.logical_not(tf.strings.regex_full_match(texts, _HAS_CONTENT)),
        tf.strings.regex_full_match(texts, _NOT_AVAILABLE),
    )


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
