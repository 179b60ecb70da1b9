"""Where the tokens of a text stand in it, so that a span can be shown exactly as it was written.

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
    """Finds the characters of tokens.

    The tokenizer is asked what becomes of each single character: spaces, nothing (accents, control
    characters) or one or several characters, some of which are words by themselves. Between spaces
    are its words, and a word's pieces are as long as their texts. A token reaches from the first to
    the last character of the text that has a part in it, with the accents that follow. Of a
    character that becomes several, as a Hangul syllable does, neighbouring pieces may share. An
    unknown word is one token.

    Args:
        tokenizer: of the tokens.
    """

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        self._normal: dict[str, str] = {}

    def ranges(self, text: str) -> np.ndarray:
        """Where each token of a text begins and ends: <int64>[tokens, 2], the end exclusive.

        Begins and ends never decrease. A text without letters and digits is one token, [EMPTY].
        """
        return next(self.all_ranges([text]))

    def all_ranges(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        """For each text its `ranges`; the tokenizer is called once for all."""
        texts = list(texts)
        self._learn(set().union(*texts))
        ids, row_splits, word_starts = self._tokenizer.encode(texts)
        for text, (begin, end) in zip(texts, itertools.pairwise(row_splits), strict=True):
            yield self._ranges(text, ids[begin:end], word_starts[begin:end])

    def slice(self, text: str, begin: int, end: int) -> str:
        """The characters of the tokens `begin` to `end`, exclusive.

        Raises:
            InputError: the text has no such tokens.
        """
        ranges = self.ranges(text)
        if not 0 <= begin < end <= len(ranges):
            raise InputError(f"tokens {begin} to {end} of a text that has {len(ranges)}: {text!r}")
        return text[ranges[begin, 0] : ranges[end - 1, 1]]

    def _learn(self, characters: set[str]) -> None:
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
            # Ends of the pieces among the word's normal characters.
            lengths = [self._length(piece) for piece in ids[first:last]]
            if last - first == 1:  # whole, unknown or not
                lengths = [len(word)]
            borders = np.cumsum([0, *lengths])
            ranges.extend(
                (word[begin][0], word[end - 1][1]) for begin, end in itertools.pairwise(borders)
            )
        return np.array(ranges, np.int64).reshape(-1, 2)

    def _length(self, piece_id: int) -> int:
        """Characters of a piece."""
        return len(self._tokenizer.pieces[piece_id].removeprefix(CONTINUATION))

    def _words(self, text: str) -> list[list[tuple[int, int]]]:
        """For each word the range in the text that each of its normal characters comes from."""
        words, inside = [], False
        for place, character in enumerate(text):
            normal = self._normal[character]
            if not normal and inside and unicodedata.category(character) == "Mn":
                begin, _ = words[-1][-1]
                words[-1][-1] = begin, place + 1
            for each in normal:
                if each == " ":
                    inside = False
                else:
                    if not inside:
                        words.append([])
                        inside = True
                    words[-1].append((place, place + 1))
        return words
