"""Converts an encoder to a LiteRT (TensorFlow Lite) model, for devices without TensorFlow."""

import os
import re
import threading
import warnings

import numpy as np
import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.errors import InputError

_MISSING = re.compile(r"'(tf\.\w+)' op is neither a custom op nor a flex op")
_ERROR = re.compile(r"\berror: (.*)")


def encoder_to_lite(
    encoder, length: int | None, select_tf_ops: bool = False, quantize: bool = False
) -> bytes:
    """Converts an encoder for one example.

    Args:
        encoder: a `TableEncoder`.
        length: tokens of the example, padding included. None: any number, which the graphs of
            fewer variants allow.
        select_tf_ops: allow TensorFlow operations that LiteRT lacks. The device then needs the
            Flex delegate, which is not part of TensorFlow 2.20 for Python.
        quantize: round weights to int8, a quarter of their size (dynamic-range quantization).

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
    if quantize:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    try:
        return converter.convert()
    except Exception as error:  # the converter's error class depends on the version
        message = str(error)
        missing = ", ".join(sorted(set(_MISSING.findall(message))))
        if missing:
            raise InputError(f"LiteRT lacks operations of this encoder: {missing}") from error
        found = _ERROR.search(message)
        raise InputError(
            f"LiteRT's converter fails on this encoder: {found[1] if found else message}"
        ) from error


class QuantizedEncoder:
    """A `TableEncoder` with int8 weights, for sequences of any length.

    Weights are rounded to 8 bits, one scale for each output of a product. Activations are rounded
    when a product reads them, with a scale of their own for each call (LiteRT's dynamic-range
    quantization). Examples are computed one at a time, without their padding.

    Args:
        encoder: the `TableEncoder`, float32.
        num_threads: threads of a product; None: as many as processors.

    Raises:
        InputError: if LiteRT lacks operations of the encoder for sequences of any length.
    """

    def __init__(self, encoder, num_threads: int | None = None):
        try:
            content = encoder_to_lite(encoder, None, quantize=True)
        except InputError as error:
            names = "+".join(each.name for each in encoder.config.distinct_attention())
            raise InputError(
                f"precision 'int8' cannot be had with attention={names} for tables of any size; "
                f"'full' and 'mate_exact' have it ({error})"
            ) from error
        with warnings.catch_warnings():
            # TensorFlow 2.20 says that the next versions have the interpreter in another package.
            warnings.simplefilter("ignore")
            interpreter = tf.lite.Interpreter(
                model_content=content,
                num_threads=num_threads or os.cpu_count(),
            )
        self._run = interpreter.get_signature_runner()
        self._names = sorted(self._run.get_input_details())
        self._lock = threading.Lock()  # a signature computes one sequence at a time

    def __call__(self, features: dict) -> dict[str, tf.Tensor]:
        """Computes sequence_output and pooled_output, as the encoder does.

        Args:
            features: dict of the encoder's inputs, <int32>[batch, seq].

        Returns:
            dict with
            sequence_output: <float32>[batch, seq, hidden], 0 behind the last token.
            pooled_output: <float32>[batch, hidden].
        """
        given = {name: np.asarray(features[name], np.int32) for name in self._names}
        mask = given["input_mask"]
        lengths = mask.shape[1] - np.argmax(mask[:, ::-1] > 0, axis=1)
        with self._lock:
            found = [self._of_example(given, row, end) for row, end in enumerate(lengths)]
        padded = [np.pad(tokens, [[0, mask.shape[1] - len(tokens)], [0, 0]]) for tokens, _ in found]
        return {
            "sequence_output": tf.constant(np.stack(padded)),
            "pooled_output": tf.constant(np.stack([pooled for _, pooled in found])),
        }

    def _of_example(self, given: dict[str, np.ndarray], row: int, end: int):
        """Returns the outputs of one example: <float32>[end, hidden] and <float32>[hidden]."""
        outputs = self._run(**{name: ids[row : row + 1, :end] for name, ids in given.items()})
        return outputs["sequence_output"][0], outputs["pooled_output"][0]
