"""Text to word pieces with tensorflow_text, by one graph for offline conversion and for serving.

The result equals that of BERT's original (Python) uncased tokenizer. tensorflow_text's own BERT
tokenizers fold case with NFKC, which differs in fractions, full-width forms, ligatures and more, so
the clean-up, the lower case and the split into words are spelled out here, and only the split
of words into pieces is tensorflow_text's.
"""

import itertools
import os
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
    """Word pieces of many texts, one after the other.

    Attributes:
        ids: <int32>[num_pieces], positions in the vocabulary.
        row_splits: <int64>[num_texts + 1]; text i has the pieces row_splits[i]:row_splits[i + 1].
        word_starts: <bool>[num_pieces], False where a piece continues the word before it.
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

    TAPAS's vocabulary has [EMPTY] in place of BERT's [unused0], id 1. In a vocabulary without
    [EMPTY] the first [unused…] piece stands for it, so that BERT's gives the same ids, and in one
    without those too, [UNK].

    Attributes:
        vocab_file: path the vocabulary was read from.
        pieces: the vocabulary, a tuple of strings.
        pad_id, unk_id, cls_id, sep_id, empty_id, mask_id: ids; mask_id is None if there is none.
        empty_piece: the piece of `empty_id`.
        continues: <bool>[pieces], True for those that continue a word.

    Raises:
        InputError: the file is missing, not text, empty, has duplicates or lacks special pieces.
    """

    def __init__(self, vocab_file: str | os.PathLike):
        super().__init__(name="tokenizer")
        self.vocab_file = os.fspath(vocab_file)
        self.pieces = read_vocabulary(vocab_file)
        # A dict would be tracked by tf.Module, entry by entry.
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

    # Traced once for each tokenizer, which AutoGraph would make slow; it has nothing to convert.
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
    def to_ids(self, texts):
        """Ids of the pieces of each text.

        Args:
            texts: <string>[num_texts], UTF-8; bytes that are not are dropped.

        Returns:
            <int32>[num_texts, (pieces)], ragged, at least one piece a text.
        """
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="ignore")
        # What the words are made of never contains a bracketed piece, since brackets are words by
        # themselves: [EMPTY] and [UNK] can stand among the words and come out as themselves.
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
        """Ids of many texts at once, as NumPy arrays."""
        # A lone surrogate cannot be encoded; it is dropped as other invalid characters are.
        encoded = [text.encode("utf-8", "ignore") for text in texts]
        with tf.device("CPU:0"):
            ragged = self.to_ids(tf.constant(encoded, tf.string, shape=[len(encoded)]))
        ids = ragged.flat_values.numpy()
        return Encoding(ids, ragged.row_splits.numpy(), ~self.continues[ids])

    def normalize(self, texts: Iterable[str]) -> list[str]:
        """What the words of each text are found in: cleaned, with spaces between them."""
        encoded = [text.encode("utf-8", "ignore") for text in texts]
        normal = separate_words(clean(tf.constant(encoded, tf.string, shape=[len(encoded)])))
        return [text.decode("utf-8") for text in normal.numpy()]

    def encode_groups(self, groups: Iterable[Iterable[str]]) -> list[Encoding]:
        """For each group of texts what `encode` gives, at the price of one call."""
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
        """The word pieces of each text."""
        ids, row_splits, _ = self.encode(texts)
        pieces = [self.pieces[index] for index in ids]
        return [pieces[begin:end] for begin, end in itertools.pairwise(row_splits)]

    def ids(self, pieces: Iterable[str]) -> list[int]:
        """Positions of word pieces in the vocabulary.

        Raises:
            InputError: a piece is not in the vocabulary.
        """
        pieces = list(pieces)
        unknown = sorted({piece for piece in pieces if piece not in self._id_of})
        if unknown:
            raise InputError(f"{self.vocab_file}: not in the vocabulary: {', '.join(unknown)}")
        return [self._id_of[piece] for piece in pieces]


def read_vocabulary(vocab_file: str | os.PathLike) -> tuple[str, ...]:
    """The word pieces of a vocabulary file, one a line, the first with id 0.

    Raises:
        InputError: naming the file and what is wrong with it.
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
    if pieces == ("",):
        raise InputError(f"{name}: the vocabulary is empty")
    first_line = {}
    for line, piece in enumerate(pieces, start=1):
        if not piece:
            raise InputError(f"{name}: line {line} of the vocabulary is empty")
        if first_line.setdefault(piece, line) != line:
            raise InputError(
                f"{name}: the piece {piece!r} is in lines {first_line[piece]} and {line}"
            )
    missing = [piece for piece in REQUIRED_PIECES if piece not in first_line]
    if missing:
        raise InputError(f"{name}: the vocabulary lacks {', '.join(missing)}")


def decompose(texts):
    """Accents as characters of their own."""
    return tf_text.normalize_utf8(texts, "NFD")


def clean(texts, decompose=decompose):
    """Spaces for white space, no control characters, lower case, no accents.

    Args:
        texts: <string>[...], UTF-8.
        decompose: what takes the accents off their letters; they may be gone afterwards.
    """
    texts = tf.strings.regex_replace(texts, _REPLACEMENT_CHARACTER, "")
    texts = tf.strings.regex_replace(texts, _SPACES, " ")
    texts = tf.strings.regex_replace(texts, _INVISIBLE, "")
    texts = tf.strings.lower(texts, encoding="utf-8")
    return without_accents(decompose(texts))


def without_accents(texts):
    """Drops accents that are characters of their own."""
    return tf.strings.regex_replace(texts, _ACCENTS, "")


def separate_words(texts):
    """Puts spaces around each punctuation sign and each ideograph."""
    return tf.strings.regex_replace(texts, _WORDS_BY_THEMSELVES, r" \1 ")


def is_empty(texts):
    """Whether `tables.text.format_text` would find nothing: no letter and no digit, or "n/a"."""
    return tf.logical_or(
        tf.logical_not(tf.strings.regex_full_match(texts, _HAS_CONTENT)),
        tf.strings.regex_full_match(texts, _NOT_AVAILABLE),
    )
