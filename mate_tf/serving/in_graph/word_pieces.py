"""WordPiece tokenizer in core TensorFlow operations, for models loaded without tensorflow_text."""

import functools
import sys
import unicodedata

import tensorflow as tf

from mate_tf.data.converters import tokenizer_graph
from mate_tf.data.converters.tokenizer import CONTINUATION, MAX_WORD_CHARACTERS, Tokenizer

_ASCII = r"[\x00-\x7f]*"
# Unicode categories: surrogates, private use, not assigned.
_NOT_CHARACTERS = ("Cs", "Co", "Cn")
_UNCHANGED = "\x00"


class WordPieces(tf.Module):
    """Splits texts into word pieces, with the ids of `Tokenizer`.

    Two operations of tensorflow_text are replaced. The removal of accents is a look-up of each
    character in a table. The split into pieces looks up the parts of all distinct words at once.

    Args:
        tokenizer: tokenizer with the vocabulary.
        max_words: number of words of a text that are read. Further words are dropped.
    """

    def __init__(self, tokenizer: Tokenizer, max_words: int):
        super().__init__(name="word_pieces")
        self._max_words = max_words
        self._empty_piece, self._unk_id = tokenizer.empty_piece, tokenizer.unk_id
        self._continues = tokenizer.continues
        pieces = list(tokenizer.pieces)
        self._longest_piece = max(map(len, pieces))
        self._ids = _table(pieces, list(range(len(pieces))), -1)
        self._letters = _table(*_decompositions(), _UNCHANGED)

    def __call__(self, texts):
        """Tokenizes texts.

        Args:
            texts: <string>[num_texts], UTF-8; invalid bytes are dropped.

        Returns:
            <int32>[num_texts, (pieces)], ragged ids, at least one piece for each text.
        """
        words = tokenizer_graph.split_words(texts, self._empty_piece, self._without_accents)
        words = words[:, : self._max_words]
        distinct, index = tf.unique(words.flat_values)
        pieces = tf.gather(self._split(distinct), index)
        return tf.RaggedTensor.from_row_splits(
            pieces.flat_values, tf.gather(pieces.row_splits, words.row_splits), validate=False
        )

    def continues(self, ids):
        """Returns <bool>[...], true for ids <int32>[...] of pieces inside a word ("##...")."""
        return tf.gather(tf.constant(self._continues), ids)

    def _without_accents(self, texts):
        """Removes accents from <string>[...]; only texts beyond ASCII are looked at."""
        indices = tf.where(tf.logical_not(tf.strings.regex_full_match(texts, _ASCII)))
        characters = tf.strings.unicode_split(tf.gather_nd(texts, indices), "UTF-8")
        letters = self._letters.lookup(characters.flat_values)
        letters = tf.where(letters == _UNCHANGED, characters.flat_values, letters)
        joined = tf.strings.reduce_join(characters.with_flat_values(letters), axis=-1)
        return tf.tensor_scatter_nd_update(texts, indices, joined)

    def _split(self, words):
        """Splits words <string>[words] into pieces, always the longest that fits.

        Returns:
            <int32>[words, (pieces)], ragged. A word that is too long or has no such split is one
            [UNK].
        """
        too_long = tf.strings.length(words, "UTF8_CHAR") > MAX_WORD_CHARACTERS
        characters = tf.strings.unicode_split(tf.where(too_long, "", words), "UTF-8")
        flat, begins = characters.flat_values, characters.row_splits[:-1]
        ends, word_of = characters.row_splits[1:], characters.value_rowids()
        lengths, ids = self._longest_pieces(
            flat, tf.range(tf.size(flat, tf.int64)) == tf.gather(begins, word_of), word_of, ends
        )

        def walk(current, reached, known):
            active = tf.logical_and(current < ends, known)
            at = tf.boolean_mask(current, active)
            reached = tf.tensor_scatter_nd_update(
                reached, at[:, tf.newaxis], tf.ones_like(at, tf.bool)
            )
            # A word at its end takes no further step.
            step = tf.where(active, tf.gather(lengths, _inside(current, flat)), 0)
            return current + step, reached, tf.logical_and(known, active == (step > 0))

        _, reached, known = tf.while_loop(
            lambda current, _, known: tf.reduce_any(tf.logical_and(current < ends, known)),
            walk,
            [begins, tf.zeros_like(flat, tf.bool), tf.logical_not(too_long)],
        )
        kept = tf.logical_and(reached, tf.gather(known, word_of))
        spelled = tf.RaggedTensor.from_value_rowids(
            tf.boolean_mask(ids, kept),
            tf.boolean_mask(word_of, kept),
            nrows=tf.size(words, tf.int64),
            validate=False,
        )
        unknown = tf.RaggedTensor.from_row_lengths(
            tf.fill([tf.reduce_sum(tf.cast(~known, tf.int32))], self._unk_id),
            tf.cast(~known, tf.int64),
            validate=False,
        )
        return tf.concat([spelled, unknown], axis=1)

    def _longest_pieces(self, characters, first, word_of, ends):
        """Finds the longest piece that begins at each character.

        Args:
            characters: <string>[characters], of all words.
            first: <bool>[characters], true for the first character of a word.
            word_of: <int64>[characters], index of the word.
            ends: <int64>[words], end of each word in `characters`, exclusive.

        Returns:
            lengths: <int64>[characters], in characters; 0 if there is no piece.
            ids: <int32>[characters].
        """
        positions = tf.range(tf.size(characters, tf.int64))
        left = tf.gather(ends, word_of) - positions

        def longer(length, text, lengths, ids):
            text += tf.gather(characters, _inside(positions + length, characters))
            length += 1
            own_ids = self._ids.lookup(text)
            better = tf.logical_and(own_ids >= 0, length <= left)
            return length, text, tf.where(better, length, lengths), tf.where(better, own_ids, ids)

        most = tf.minimum(tf.reduce_max(left), self._longest_piece)
        _, _, lengths, ids = tf.while_loop(
            lambda length, *_: length < most,
            longer,
            [
                tf.constant(0, tf.int64),
                tf.where(first, "", CONTINUATION),
                tf.zeros_like(positions),
                tf.zeros_like(positions, tf.int32),
            ],
        )
        return lengths, ids


def _inside(indices, values):
    """Returns indices <int64>[...] limited to the size of `values`."""
    return tf.minimum(indices, tf.maximum(tf.size(values, tf.int64) - 1, 0))


def _table(keys, values, default):
    """Returns a look-up table from strings to int32, or to strings if `default` is one."""
    dtype = tf.string if isinstance(default, str) else tf.int32
    initializer = tf.lookup.KeyValueTensorInitializer(keys, values, tf.string, dtype)
    return tf.lookup.StaticHashTable(initializer, default)


@functools.lru_cache(maxsize=1)
def _decompositions() -> tuple[list[str], list[bytes]]:
    """Returns the characters that change when accents are removed, and their replacements."""
    letters = [
        char
        for char in map(chr, range(128, sys.maxunicode + 1))
        if unicodedata.category(char) not in _NOT_CHARACTERS
    ]
    with tf.device("CPU:0"):
        left = tokenizer_graph.without_accents(
            tokenizer_graph.decompose(tf.constant(letters))
        ).numpy()
    changed = [(a, b) for a, b in zip(letters, left, strict=True) if a.encode() != b]
    return [letter for letter, _ in changed], [rest for _, rest in changed]
