"""Positions of tokens in the original text, to return a span exactly as it was written.

```
offsets = Offsets(tokenizer)
offsets.slice("Café  Müller, Zürich", 0, 2)    # "Café  Müller" of the tokens cafe, muller
```
"""

import itertools
import unicodedata
from collections.abc import Iterable, Iterator

import numpy as np

from mate_tf.data.converters.tokenizer import CONTINUATION, Tokenizer
from mate_tf.errors import InputError


class Offsets:
    """Ranges of characters of tokens.

    The tokenizer normalizes each character to spaces, to nothing (accents, control characters), or
    to one or more characters. The normalized text between spaces is a word, and the lengths of its
    pieces give their ranges in it. The range of a token is from the first to the last character of
    the text that is a part of it, with the accents after it. Two neighbouring pieces have a
    character in common if it is normalized to several, such as a Hangul syllable. An unknown word
    is one token.

    Args:
        tokenizer: tokenizer of the tokens.
    """

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        self._normal: dict[str, str] = {}

    def ranges(self, text: str) -> np.ndarray:
        """Returns <int64>[tokens, 2]: begin and end (exclusive) of each token in the text.

        Begins and ends never decrease. A text without letters and digits is one token, [EMPTY].
        """
        return next(self.all_ranges([text]))

    def all_ranges(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        """Yields the `ranges` <int64>[tokens, 2] of each text; tokenizes all texts in one call."""
        texts = list(texts)
        self._learn(set().union(*texts))
        ids, row_splits, word_starts = self._tokenizer.encode(texts)
        for text, (begin, end) in zip(texts, itertools.pairwise(row_splits), strict=True):
            yield self._ranges(text, ids[begin:end], word_starts[begin:end])

    def slice(self, text: str, begin: int, end: int) -> str:
        """Returns the part of the text with the tokens from `begin` to `end`, exclusive.

        Raises:
            InputError: if the text has no such tokens.
        """
        ranges = self.ranges(text)
        if not 0 <= begin < end <= len(ranges):
            raise InputError(f"tokens {begin} to {end} of a text that has {len(ranges)}: {text!r}")
        return text[ranges[begin, 0] : ranges[end - 1, 1]]

    def _learn(self, characters: set[str]) -> None:
        """Adds the normalized forms of characters to the cache."""
        new = sorted(characters - self._normal.keys())
        if new:
            self._normal.update(zip(new, self._tokenizer.normalize(new), strict=True))

    def _ranges(self, text, ids, word_starts) -> np.ndarray:
        if len(ids) == 1 and ids[0] == self._tokenizer.empty_id:
            return np.array([[0, len(text)]])
        words = self._words(text)
        starts = np.flatnonzero(word_starts)
        ends = np.append(starts[1:], len(ids))
        ranges = []
        for word, first, last in zip(words, starts, ends, strict=True):
            # Lengths of the pieces in normalized characters of the word.
            lengths = [self._length(piece) for piece in ids[first:last]]
            if last - first == 1:  # one piece is the whole word, also if it is [UNK]
                lengths = [len(word)]
            borders = np.cumsum([0, *lengths])
            ranges.extend(
                (word[begin][0], word[end - 1][1]) for begin, end in itertools.pairwise(borders)
            )
        return np.array(ranges, np.int64).reshape(-1, 2)

    def _length(self, piece_id: int) -> int:
        return len(self._tokenizer.pieces[piece_id].removeprefix(CONTINUATION))

    def _words(self, text: str) -> list[list[tuple[int, int]]]:
        """Returns (begin, end) in the text for each normalized character of each word."""
        words, inside = [], False
        for position, character in enumerate(text):
            normal = self._normal[character]
            if not normal and inside and unicodedata.category(character) == "Mn":
                begin, _ = words[-1][-1]
                words[-1][-1] = begin, position + 1
            for each in normal:
                if each == " ":
                    inside = False
                else:
                    if not inside:
                        words.append([])
                        inside = True
                    words[-1].append((position, position + 1))
        return words
