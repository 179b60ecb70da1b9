"""Two sequences through one encoder, each for itself, and what is known of the pair."""

import tensorflow as tf

from mate_tf.attention.base import shape_list
from mate_tf.data.features import MODEL_INPUTS, names
from mate_tf.errors import InputError

NUM_TOWERS = (1, 2)

_READ = frozenset(names(MODEL_INPUTS))


class Towers:
    """Encodes the halves of sequences apart from each other, as Long Range Arena matches documents.

    A pair of documents is one sequence of features twice as long; neither attends to the other,
    and for the encoder both begin at position 0 in segment 0. The pooled output of a pair is
    [first, second, first * second, first - second].

    Args:
        num_towers: 1: nothing is done; 2: as above.

    Attributes:
        pooled_width: how many times wider the pooled output is than the encoder's.

    Raises:
        InputError: another number.
    """

    def __init__(self, num_towers: int):
        if num_towers not in NUM_TOWERS:
            raise InputError(f"num_towers={num_towers}: there are 1 or 2")
        self._num_towers = num_towers
        self.pooled_width = 1 if num_towers == 1 else 4

    def encode(self, encoder, features: dict, training=None) -> dict:
        """The encoder's outputs, for the sequences as they were given.

        Args:
            encoder: a `TableEncoder`.
            features: its inputs, <int32>[batch, seq]; what else is there is not for it.
            training: whether dropout is on.
        """
        if self._num_towers == 1:
            return dict(encoder(features, training=training))
        batch, seq = shape_list(features["input_ids"])
        of_tokens = {
            name: tf.reshape(value, [2 * batch, seq // 2])
            for name, value in features.items()
            if name in _READ
        }
        of_tokens["segment_ids"] = tf.zeros_like(of_tokens["segment_ids"])
        outputs = encoder(of_tokens, training=training)

        def joined(x):
            return tf.reshape(x, [batch, seq, x.shape[-1]])

        return {
            "sequence_output": joined(outputs["sequence_output"]),
            "pooled_output": _compared(outputs["pooled_output"]),
            "encoder_outputs": [joined(x) for x in outputs["encoder_outputs"]],
            "embedding_output": joined(outputs["embedding_output"]),
        }


def _compared(pooled):
    """<float>[2 batch, hidden] -> <float>[batch, 4 hidden]"""
    first, second = pooled[::2], pooled[1::2]
    return tf.concat([first, second, first * second, first - second], axis=-1)
