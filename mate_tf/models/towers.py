"""Encodes equal parts of a sequence separately, with one encoder, and combines their outputs."""

import tensorflow as tf

from mate_tf.data.features import MODEL_INPUTS, names
from mate_tf.errors import InputError
from mate_tf.layers.shapes import shape_list

NUM_TOWERS = (1, 2)

_READ = frozenset(names(MODEL_INPUTS))


class Towers:
    """Encodes the equal parts of a sequence separately: no part attends to another.

    With two towers the parts are two documents, as in Long Range Arena's retrieval task. Both begin
    at position 0 in segment 0. The pooled output is [first, second, first * second,
    first - second].

    With several choices each part is a text and one of its possible continuations, as two segments.
    The pooled output has one vector for each choice: <float>[batch, choices, hidden].

    Args:
        num_towers: 1, or 2 for pairs of documents.
        num_choices: number of choices; 1: no choices.

    Attributes:
        num_parts: number of equal parts of a sequence.
        pooled_width: width of the pooled output, as a multiple of the encoder's.

    Raises:
        InputError: for another number of towers, or for two towers with choices.
    """

    def __init__(self, num_towers: int, num_choices: int = 1):
        if num_towers not in NUM_TOWERS:
            raise InputError(f"num_towers={num_towers}: must be 1 or 2")
        if num_towers > 1 and num_choices > 1:
            raise InputError("num_towers=2 and multiple_choice exclude each other")
        self.num_parts = num_towers * num_choices
        self._compares = num_towers > 1
        self.pooled_width = 4 if self._compares else 1

    def encode(self, encoder, features: dict, training=None) -> dict:
        """Runs the encoder on all parts, and joins its outputs to whole sequences.

        Args:
            features: dict of <int32>[batch, seq]. Other features than the encoder's are ignored.

        Returns:
            dict with the outputs of `TableEncoder.call`.
        """
        parts = self.num_parts
        if parts == 1:
            return dict(encoder(features, training=training))
        batch, seq = shape_list(features["input_ids"])
        # [batch, seq] -> [parts * batch, seq / parts]
        of_tokens = {
            name: tf.reshape(value, [parts * batch, seq // parts])
            for name, value in features.items()
            if name in _READ
        }
        if self._compares:
            of_tokens["segment_ids"] = tf.zeros_like(of_tokens["segment_ids"])
        outputs = encoder(of_tokens, training=training)

        def joined(x):
            # [parts * batch, seq / parts, hidden] -> [batch, seq, hidden]
            return tf.reshape(x, [batch, seq, x.shape[-1]])

        pooled = outputs["pooled_output"]
        if self._compares:
            pooled = _compared(pooled)
        else:
            # [parts * batch, hidden] -> [batch, parts, hidden]
            pooled = tf.reshape(pooled, [batch, parts, pooled.shape[-1]])
        return {
            "sequence_output": joined(outputs["sequence_output"]),
            "pooled_output": pooled,
            "encoder_outputs": [joined(x) for x in outputs["encoder_outputs"]],
            "embedding_output": joined(outputs["embedding_output"]),
        }


def _compared(pooled):
    """Combines pairs of vectors: <float>[2 * batch, hidden] -> <float>[batch, 4 * hidden]."""
    first, second = pooled[::2], pooled[1::2]
    return tf.concat([first, second, first * second, first - second], axis=-1)
