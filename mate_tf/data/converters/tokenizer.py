"""WordPiece tokenizer: BERT's uncased one, in plain Python and NumPy.

`data.converters.tokenizer_graph` has the same as a graph of TensorFlow, for strings in SavedModels.
"""

import array
import itertools
import os
import re
import typing
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from mate_tf.errors import InputError
from mate_tf.files import paths

CLS, SEP, PAD, UNK, MASK, EMPTY = "[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", "[EMPTY]"
REQUIRED_PIECES = (PAD, UNK, CLS, SEP)
CONTINUATION = "##"
MAX_WORD_CHARACTERS = 400
"""Longer words become [UNK], as in BERT's tokenizer."""

# Control characters, which no normalized text has: between texts, and for one without content.
_END, _NOTHING = "\x00", "\x01"
_NO_PIECE = -1

_MARKS = r"!-/:-@\[-`{-~"
_WORD = re.compile(rf"[{_MARKS}\x00\x01]|[^ {_MARKS}\x00\x01]+")
# These are the texts for which `tables.text.format_text` returns EMPTY.
_EMPTY = re.compile(r"[\W_]*|\s*n/a\s*", re.IGNORECASE)
_PLAIN_AND_EMPTY = re.compile(rf"\x00(?:[ {_MARKS}]*| *n/a *)(?=\x00)")
_IDEOGRAPHS = (
    *(range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00)),
    *(range(0x20000, 0x2A6E0), range(0x2A700, 0x2CEB0), range(0x2F800, 0x2FA20)),
)

_TEXTS_AT_A_TIME = 10_000
_MOST_CACHED = 50_000


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


class Tokenizer:
    """BERT's uncased tokenizer. A text without letters and digits is the one piece [EMPTY].

    ```
    tokenizer = Tokenizer("vocab.txt")
    tokenizer.tokenize(["Losing team", "?"])    # [["losing", "team"], ["[EMPTY]"]]
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
        self.vocab_file = os.fspath(vocab_file)
        self.pieces = read_vocabulary(vocab_file)
        self._id_of = {piece: index for index, piece in enumerate(self.pieces)}
        self.pad_id, self.unk_id, self.cls_id, self.sep_id = self.ids(REQUIRED_PIECES)
        self.mask_id = self._id_of.get(MASK)
        unused = (piece for piece in self.pieces if piece.startswith("[unused"))
        self.empty_piece = EMPTY if EMPTY in self._id_of else next(unused, UNK)
        self.empty_id = self._id_of[self.empty_piece]
        self.continues = np.array([piece.startswith(CONTINUATION) for piece in self.pieces])
        self._split = _Split(self._id_of, self.unk_id, self.empty_id)

    def encode(self, texts: Iterable[str]) -> Encoding:
        """Tokenizes texts; characters that cannot be encoded, lone surrogates, are dropped."""
        texts = list(texts)
        parts, splits = [], [np.zeros(1, np.int64)]
        # Not all at once: each word is an object.
        for begin in range(0, len(texts), _TEXTS_AT_A_TIME):
            self._split.make_room()
            ids = self._split(texts[begin : begin + _TEXTS_AT_A_TIME])
            ends = np.flatnonzero(ids == _NO_PIECE)
            splits.append(splits[-1][-1] + (ends - np.arange(len(ends)))[1:])
            parts.append(ids[ids != _NO_PIECE])
        ids = np.concatenate([np.zeros(0, np.int32), *parts])
        return Encoding(ids, np.concatenate(splits), ~self.continues[ids])

    def normalize(self, texts: Iterable[str]) -> list[str]:
        """Returns the cleaned texts, with spaces between words."""
        return [_normalized(_valid(text)) for text in texts]

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


class _Split(dict):
    """Word pieces of normalized words, kept for the next time that a word is met.

    Args:
        id_of: the vocabulary, piece -> id.
        unk_id, empty_id: ids of [UNK], and of a text without content.
    """

    def __init__(self, id_of: dict[str, int], unk_id: int, empty_id: int):
        self._starts, self._continuations = _Pieces(), _Pieces()
        for piece, index in id_of.items():
            if piece.startswith(CONTINUATION):
                self._continuations.add(piece.removeprefix(CONTINUATION), index)
            else:
                self._starts.add(piece, index)
        self._unknown = _packed([unk_id])
        self._special = {_END: _packed([_NO_PIECE]), _NOTHING: _packed([empty_id])}

    def __call__(self, texts: Iterable[str]) -> np.ndarray:
        """Returns the ids <int32>[n] of texts, `_NO_PIECE` before each and at the end."""
        # All in a few calls for all texts, as a call for each takes several times as long.
        normal = [
            text.lower() if text.isascii() and text.isprintable() else _normalized_or_nothing(text)
            for text in texts
        ]
        joined = _END.join(["", *normal, ""])
        words = _WORD.findall(_PLAIN_AND_EMPTY.sub(_END + _NOTHING, joined))
        return np.frombuffer(b"".join(map(self.__getitem__, words)), np.int32)

    def make_room(self) -> None:
        """Forgets all words if no more are kept."""
        if len(self) >= _MOST_CACHED:
            self.clear()

    def __missing__(self, word: str) -> bytes:
        if len(word) > MAX_WORD_CHARACTERS:
            return self._unknown
        pieces = self._special.get(word) or self._pieces(word)
        if len(self) < _MOST_CACHED:
            self[word] = pieces
        return pieces

    def _pieces(self, word: str) -> bytes:
        """Splits a word, always into the longest piece that fits; returns <int32>[n] as bytes."""
        pieces, begin, known = [], 0, self._starts
        while begin < len(word):
            end = min(begin + known.longest.get(word[begin : begin + 2], 1), len(word))
            while (piece := known.get(word[begin:end])) is None:
                end -= 1
                if end == begin:
                    return self._unknown
            pieces.append(piece)
            begin, known = end, self._continuations
        return _packed(pieces)


def _packed(ids: Sequence[int]) -> bytes:
    return array.array("i", ids).tobytes()


class _Pieces(dict):
    """Pieces that begin, or continue, a word -> their ids.

    Attributes:
        longest: the first two characters of pieces -> characters of the longest one.
    """

    def __init__(self):
        self.longest: dict[str, int] = {}

    def add(self, piece: str, index: int) -> None:
        """Adds a piece."""
        self[piece] = index
        begin = piece[:2]
        self.longest[begin] = max(len(piece), self.longest.get(begin, 1))


class _Characters(dict):
    """Table for `str.translate`: code -> text, filled when a character is first met.

    Args:
        function: function from a character to the text in its place.
    """

    def __init__(self, function: Callable[[str], str]):
        self._function = function

    def __missing__(self, code: int) -> str:
        replacement = self._function(chr(code))
        if len(self) < _MOST_CACHED:
            self[code] = replacement
        return replacement


def _cleaned(character: str) -> str:
    """Returns a space for white space, nothing for invisible characters."""
    category = unicodedata.category(character)
    if character in "\t\n\r" or category[0] == "Z":
        return " "
    return "" if character == "\ufffd" or category in ("Cc", "Cf") else character


def _separated(character: str) -> str:
    """Returns nothing for accents; puts spaces around punctuation marks and ideographs."""
    category, code = unicodedata.category(character), ord(character)
    if category == "Mn":
        return ""
    is_mark = category[0] == "P" or (code < 128 and not character.isalnum() and code > 32)
    return f" {character} " if is_mark or any(code in each for each in _IDEOGRAPHS) else character


_CLEANED, _SEPARATED = _Characters(_cleaned), _Characters(_separated)


def _normalized(text: str) -> str:
    """Returns a text in lower case without accents, with spaces around words."""
    # NFKC, which TensorFlow Text has in its tokenizer, would change fractions, ligatures and more.
    lower = text.translate(_CLEANED).lower()
    return unicodedata.normalize("NFD", lower).translate(_SEPARATED)


def _normalized_or_nothing(text: str) -> str:
    """Returns a text that is not plain ASCII as normalized, `_NOTHING` for one without content."""
    valid = _valid(text)
    return _NOTHING if _EMPTY.fullmatch(valid) else _normalized(valid)


def _valid(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "ignore").decode("utf-8")


_MOST_BYTES = 256
"""Longest word piece that TensorFlow Text takes."""


def read_vocabulary(vocab_file: str | os.PathLike) -> tuple[str, ...]:
    """Reads the word pieces of a vocabulary file, one per line, the first with id 0.

    Raises:
        InputError: if the file cannot be read or is not a valid vocabulary.
    """
    name = os.fspath(vocab_file)
    try:
        text = paths.read_bytes(name).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not a vocabulary, it is not UTF-8 text ({error})") from error
    except OSError as error:
        raise InputError(f"{name}: cannot read the vocabulary: {error}") from error
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
