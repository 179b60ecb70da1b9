"""Joins word pieces to texts in core TensorFlow operations: `Detokenizer` inside a graph."""

import tensorflow as tf

from mate_tf.data.converters.tokenizer import CONTINUATION, Tokenizer

# RE2 has no look-around. So each piece gets a space of its own on both sides, of which marks say
# that they go: _LEFT before a piece and the space of the piece before it, _RIGHT the other way.
_LEFT, _RIGHT = "\x01", "\x02"
_LETTER = r"[\pL\pN_]"
_IN_PAIRS = (  # twice: a letter between two matches belongs to both
    (rf"({_LETTER}) ([-'’/]) ({_LETTER})", r"\1\2\3"),
    (rf"({_LETTER}) (['’]) ?(s(?:[^\pL\pN_]|$))", r"\1\2\3"),
)
_JOINED = (
    (" ", "  "),
    (r"^(.*)$", r" \1 "),
    (r" ([.,;:!?%)\]}]) ", rf"{_LEFT}\1 "),
    (rf"[ {_LEFT}]([(\[{{]) ", rf" \1{_RIGHT}"),
    (rf"^[ {_LEFT}]|[ {_RIGHT}]$", ""),
    (rf"{_RIGHT}{_LEFT}|{_RIGHT} | {_LEFT}", ""),
    ("  ", " "),
)


class WrittenTexts(tf.Module):
    """Makes texts of the ids that a decoder generates, as `Detokenizer` does.

    Args:
        tokenizer: tokenizer with the vocabulary.
    """

    def __init__(self, tokenizer: Tokenizer):
        super().__init__(name="written_texts")
        self._pieces = tf.constant(tokenizer.pieces)
        self._end = tokenizer.sep_id
        self._left_out = [tokenizer.pad_id, tokenizer.cls_id]

    def __call__(self, ids: tf.Tensor) -> tf.Tensor:
        """Returns <string>[batch] of <int32>[batch, length]; a text ends at the first [SEP]."""
        ended = tf.cumsum(tf.cast(ids == self._end, tf.int32), axis=1) > 0
        kept = ~ended & tf.reduce_all(ids[..., None] != self._left_out, axis=-1)
        pieces = tf.ragged.boolean_mask(tf.gather(self._pieces, ids), kept)
        texts = tf.strings.reduce_join(pieces, axis=1, separator=" ")
        texts = tf.strings.regex_replace(texts, f"(^| ){CONTINUATION}", "")
        for pattern, replacement in (*(pair for pair in _IN_PAIRS for _ in range(2)), *_JOINED):
            texts = tf.strings.regex_replace(texts, pattern, replacement)
        return texts
