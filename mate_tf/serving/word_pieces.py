"""The tokenizer in TensorFlow's own operations, for models that load without tensorflow_text."""

import functools
import sys
import unicodedata

import tensorflow as tf

from mate_tf.data.converters import tokenizer as offline

_ASCII = r"[\x00-\x7f]*"
# Surrogates, for private use, not assigned.
_NOT_CHARACTERS = ("Cs", "Co", "Cn")
_UNCHANGED = "\x00"


class WordPieces(tf.Module):
    """Word pieces as `Tokenizer.to_ids` gives them.

    tensorflow_text's two operations are replaced: the decomposition of letters with accents by a
    table of what it makes of each character, and the split into pieces by look-ups of all parts
    of all different words at once.

    Args:
        tokenizer: whose vocabulary it has.
        max_words: words of a text that are read at all.
    """

    def __init__(self, tokenizer: offline.Tokenizer, max_words: int):
        super().__init__(name="word_pieces")
        self._max_words = max_words
        self._empty_piece, self._unk_id = tokenizer.empty_piece, tokenizer.unk_id
        self._continues = tokenizer.continues
        pieces = list(tokenizer.pieces)
        self._longest_piece = max(map(len, pieces))
        self._ids = _table(pieces, list(range(len(pieces))), -1)
        self._letters = _table(*_decompositions(), _UNCHANGED)

    def __call__(self, texts):
        """Ids of the pieces of each text.

        Args:
            texts: <string>[num_texts], UTF-8; bytes that are not are dropped.

        Returns:
            <int32>[num_texts, (pieces)], ragged, at least one piece a text.
        """
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="ignore")
        words = tf.strings.split(
            tf.where(
                offline.is_empty(texts),
                self._empty_piece,
                offline.separate_words(offline.clean(texts, self._without_accents)),
            )
        )[:, : self._max_words]
        different, index = tf.unique(words.flat_values)
        pieces = tf.gather(self._split(different), index)
        return tf.RaggedTensor.from_row_splits(
            pieces.flat_values, tf.gather(pieces.row_splits, words.row_splits), validate=False
        )

    def continues(self, ids):
        """<bool>, whether pieces continue the word before them."""
        return tf.gather(tf.constant(self._continues), ids)

    def _without_accents(self, texts):
        places = tf.where(tf.logical_not(tf.strings.regex_full_match(texts, _ASCII)))
        characters = tf.strings.unicode_split(tf.gather_nd(texts, places), "UTF-8")
        found = self._letters.lookup(characters.flat_values)
        found = tf.where(found == _UNCHANGED, characters.flat_values, found)
        joined = tf.strings.reduce_join(characters.with_flat_values(found), axis=-1)
        return tf.tensor_scatter_nd_update(texts, places, joined)

    def _split(self, words):
        """<int32>[words, (pieces)]: at each place the longest piece, [UNK] if there is none."""
        too_long = tf.strings.length(words, "UTF8_CHAR") > offline.MAX_WORD_CHARACTERS
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
            # A word that has come to its end stays there, also if it is the last one.
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
        """For each character length and id of the longest piece that begins there; 0 if none."""
        places = tf.range(tf.size(characters, tf.int64))
        left = tf.gather(ends, word_of) - places

        def longer(length, text, lengths, ids):
            text += tf.gather(characters, _inside(places + length, characters))
            length += 1
            found = self._ids.lookup(text)
            better = tf.logical_and(found >= 0, length <= left)
            return length, text, tf.where(better, length, lengths), tf.where(better, found, ids)

        most = tf.minimum(tf.reduce_max(left), self._longest_piece)
        _, _, lengths, ids = tf.while_loop(
            lambda length, *_: length < most,
            longer,
            [
                tf.constant(0, tf.int64),
                tf.where(first, "", offline.CONTINUATION),
                tf.zeros_like(places),
                tf.zeros_like(places, tf.int32),
            ],
        )
        return lengths, ids


def _inside(places, values):
    return tf.minimum(places, tf.maximum(tf.size(values, tf.int64) - 1, 0))


def _table(keys, values, default):
    dtype = tf.string if isinstance(default, str) else tf.int32
    initializer = tf.lookup.KeyValueTensorInitializer(keys, values, tf.string, dtype)
    return tf.lookup.StaticHashTable(initializer, default)


@functools.lru_cache(maxsize=1)
def _decompositions() -> tuple[list[str], list[bytes]]:
    """Characters that lose something with their accents, and what is left of them."""
    letters = [
        char
        for char in map(chr, range(128, sys.maxunicode + 1))
        if unicodedata.category(char) not in _NOT_CHARACTERS
    ]
    with tf.device("CPU:0"):
        left = offline.without_accents(offline.decompose(tf.constant(letters))).numpy()
    changed = [(a, b) for a, b in zip(letters, left, strict=True) if a.encode() != b]
    return [letter for letter, _ in changed], [rest for _, rest in changed]
