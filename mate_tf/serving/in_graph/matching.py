"""Marks words that question and table share, inside a TensorFlow graph.

The counterpart in Python, with the reasons, is `data.converters.example_features.shared_words`.
"""

import tensorflow as tf

from mate_tf.data.converters.example_features import special_words
from mate_tf.data.converters.tokenizer import CONTINUATION, Tokenizer
from mate_tf.serving.in_graph import ranking

_PADDING = -1  # segment


class SharedWords(tf.Module):
    """Marks the tokens of words that occur both in the question and in the table.

    Args:
        tokenizer: tokenizer of the ids.
    """

    def __init__(self, tokenizer: Tokenizer):
        super().__init__(name="shared_words")
        self._continues = tokenizer.continues
        self._pieces = [piece.removeprefix(CONTINUATION) for piece in tokenizer.pieces]
        self._never = sorted(special_words(tokenizer) | {""})

    def __call__(self, input_ids, input_mask, segment_ids):
        """Computes the marks of a batch.

        Args:
            input_ids: <int32>[batch, seq]. The first token of each example begins a word.
            input_mask: <int32>[batch, seq], 0 for padding.
            segment_ids: <int32>[batch, seq], 1 in the table.

        Returns:
            <int32>[batch, seq], 1 for the pieces of shared words.
        """
        length = tf.shape(input_ids)[1]
        # A word of padding is not part of the question, whose segment it has.
        segments = tf.reshape(tf.where(input_mask > 0, segment_ids, _PADDING), [-1])
        ids = tf.reshape(input_ids, [-1])
        starts = ~tf.gather(tf.constant(self._continues), ids)
        word_of = tf.cumsum(tf.cast(starts, tf.int32)) - 1
        first = tf.cast(tf.where(starts)[:, 0], tf.int32)
        texts = tf.strings.unsorted_segment_join(
            tf.gather(tf.constant(self._pieces), ids), word_of, tf.size(first)
        )
        texts = tf.strings.reduce_join(ranking.words(texts), axis=-1)
        is_word = tf.reduce_all(texts[:, tf.newaxis] != tf.constant(self._never), axis=1)
        example = tf.strings.as_string(first // tf.maximum(length, 1))
        distinct, number = tf.unique(tf.strings.join([example, texts], separator=" "))

        def there(where):
            result = tf.cast(is_word & where, tf.int32)
            return tf.math.unsorted_segment_max(result, number, tf.size(distinct)) > 0

        segment = tf.gather(segments, first)
        shared = tf.gather(there(segment == 0) & there(segment == 1), number)
        marks = tf.gather(shared, word_of) & (segments != _PADDING)
        return tf.reshape(tf.cast(marks, tf.int32), tf.shape(input_ids))
