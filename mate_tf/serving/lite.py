"""Converts an encoder to a LiteRT (TensorFlow Lite) model, for devices without TensorFlow."""

import re

import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.errors import InputError

_MISSING = re.compile(r"'(tf\.\w+)' op is neither a custom op nor a flex op")
_ERROR = re.compile(r"\berror: (.*)")


def encoder_to_lite(encoder, length: int | None, select_tf_ops: bool = False) -> bytes:
    """Converts an encoder for one example.

    Args:
        encoder: a `TableEncoder`.
        length: tokens of the example, padding included. None: any number, which the graphs of
            fewer variants allow.
        select_tf_ops: allow TensorFlow operations that LiteRT lacks. The device then needs the
            Flex delegate, which is not part of TensorFlow 2.20 for Python.

    Returns:
        The content of a .tflite file. Its signature `serving_default` takes <int32>[1, length]
        for each name of `features.MODEL_INPUTS` and returns sequence_output
        <float32>[1, length, hidden] and pooled_output <float32>[1, hidden].

    Raises:
        InputError: if the encoder has operations that LiteRT lacks (the message names them), or
            that the converter fails on.
    """
    names = feature_names.names(feature_names.MODEL_INPUTS)
    module = tf.Module()
    module.weights = encoder.variables

    # Nothing is compiled here. Shapes of a fixed length are static as with XLA, and with
    # jit_compile the variants use their implementation for static shapes.
    @tf.function(
        input_signature=[tf.TensorSpec([1, length], tf.int32, name=name) for name in names],
        jit_compile=length is not None,
        autograph=False,
    )
    def encode(*values):
        outputs = encoder(dict(zip(names, values, strict=True)), training=False)
        return {name: outputs[name] for name in ("sequence_output", "pooled_output")}

    converter = tf.lite.TFLiteConverter.from_concrete_functions(
        [encode.get_concrete_function()], module
    )
    operations = [tf.lite.OpsSet.TFLITE_BUILTINS]
    if select_tf_ops:
        operations.append(tf.lite.OpsSet.SELECT_TF_OPS)
    converter.target_spec.supported_ops = operations
    try:
        return converter.convert()
    except Exception as error:  # the converter's error class depends on the version
        message = str(error)
        missing = ", ".join(sorted(set(_MISSING.findall(message))))
        if missing:
            raise InputError(f"LiteRT lacks operations of this encoder: {missing}") from error
        match = _ERROR.search(message)
        raise InputError(
            f"LiteRT's converter fails on this encoder: {match[1] if match else message}"
        ) from error
