"""Several sequences through one encoder, each for itself, and what is known of all of them."""

import tensorflow as tf

from mate_tf.data.features import MODEL_INPUTS, names
from mate_tf.errors import InputError
from mate_tf.layers.shapes import shape_list

NUM_TOWERS = (1, 2)

_READ = frozenset(names(MODEL_INPUTS))


class Towers:
    """Encodes the equal parts of sequences apart from each other: none attends to another.

    A pair of documents, as Long Range Arena matches them, is one sequence of features twice as
    long; for the encoder both begin at position 0 in segment 0. The pooled output of a pair is
    [first, second, first * second, first - second].

    Choices of what goes with a text are parts that each have it and one of them, as two segments.
    Their pooled outputs are kept apart: <float>[batch, choices, hidden].

    Args:
        num_towers: 1: no pair of documents; 2: as above.
        num_choices: as above; 1: there are none.

    Attributes:
        num_parts: how many equal parts a sequence has.
        pooled_width: how many times wider the pooled output is than the encoder's.

    Raises:
        InputError: another number of towers, or choices between pairs of documents.
    """

    def __init__(self, num_towers: int, num_choices: int = 1):
        if num_towers not in NUM_TOWERS:
            raise InputError(f"num_towers={num_towers}: there are 1 or 2")
        if num_towers > 1 and num_choices > 1:
            raise InputError("num_towers=2 and multiple_choice exclude each other")
        self.num_parts = num_towers * num_choices
        self._compares = num_towers > 1
        self.pooled_width = 4 if self._compares else 1

    def encode(self, encoder, features: dict, training=None) -> dict:
        """The encoder's outputs, for the sequences as they were given.

        Args:
            encoder: a `TableEncoder`.
            features: its inputs, <int32>[batch, seq]; what else is there is not for it.
            training: whether dropout is on.
        """
        parts = self.num_parts
        if parts == 1:
            return dict(encoder(features, training=training))
        batch, seq = shape_list(features["input_ids"])
        of_tokens = {
            name: tf.reshape(value, [parts * batch, seq // parts])
            for name, value in features.items()
            if name in _READ
        }
        if self._compares:
            of_tokens["segment_ids"] = tf.zeros_like(of_tokens["segment_ids"])
        outputs = encoder(of_tokens, training=training)

        def joined(x):
            return tf.reshape(x, [batch, seq, x.shape[-1]])

        pooled = outputs["pooled_output"]
        if self._compares:
            pooled = _compared(pooled)
        else:
            pooled = tf.reshape(pooled, [batch, parts, pooled.shape[-1]])
        return {
            "sequence_output": joined(outputs["sequence_output"]),
            "pooled_output": pooled,
            "encoder_outputs": [joined(x) for x in outputs["encoder_outputs"]],
            "embedding_output": joined(outputs["embedding_output"]),
        }


def _compared(pooled):
    """<float>[2 batch, hidden] -> <float>[batch, 4 hidden]"""
    first, second = pooled[::2], pooled[1::2]
    return tf.concat([first, second, first * second, first - second], axis=-1)
