"""Times attention variants on one example, with the same weights."""

import statistics
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mate_tf.analysis.cost import speed
from mate_tf.attention import AttentionConfig
from mate_tf.errors import InputError
from mate_tf.models.encoder import EncoderConfig, TableEncoder

VARIANTS = ("full", "same_row_or_column", "mate_exact", "mate_efficient")
"""Variants without their own weights, which can use the weights of any model."""

LENGTHS = (512, 1024, 2048, 4096)

_RUNS, _SECONDS = 7, 12.0  # most runs of a variant; no run begins after so many seconds


class Timing(NamedTuple):
    """Time of one variant.

    Attributes:
        name: the variant.
        seconds: median time of a forward pass of the encoder.
        runs: number of timed forward passes.
    """

    name: str
    seconds: float
    runs: int


def compare(encoder: TableEncoder, features: dict, names, length: int = 0) -> Iterator[Timing]:
    """Times the encoder with each variant in turn: compiled graph, float32, a batch of one.

    Args:
        encoder: encoder with the sizes and weights to use.
        features: example without padding: name -> <int32>[1, seq].
        names: variants without their own weights, or the encoder's own.
        length: length in tokens to pad the example to. A longer example stays as it is.

    Yields:
        a `Timing` for each variant.

    Raises:
        InputError: if a variant needs other weights, or the example is too long for the encoder.
    """
    features = padded(features, length)
    for name in names:
        yield _time(name, with_attention(encoder, name), features)


def padded(features: dict, length: int) -> dict:
    """Pads features, name -> <int32>[1, seq], with zeros to at least `length` tokens."""
    missing = max(0, length - features["input_mask"].shape[1])
    return {name: np.pad(ids, [[0, 0], [0, missing]]) for name, ids in features.items()}


def with_attention(encoder: TableEncoder, name: str) -> TableEncoder:
    """Returns an encoder with the same weights and another variant in all layers.

    Options of the attention that both variants have are kept.

    Raises:
        InputError: if the variant has weights that `encoder` lacks.
    """
    attention = AttentionConfig(encoder.config.attention_per_layer()[0])
    attention.override({"name": name})
    config = EncoderConfig(encoder.config.as_dict() | {"attention": attention.as_dict()})
    other = TableEncoder(config)
    weights = encoder.checkpoint_variables()
    for key, variable in other.checkpoint_variables().items():
        if key not in weights:
            raise InputError(f"attention {name!r} has weights that this model lacks: {key}")
        variable.assign(tf.cast(weights[key], variable.dtype))
    return other


def _time(name: str, encoder: TableEncoder, features: dict) -> Timing:
    inputs = {key: tf.constant(ids) for key, ids in features.items()}
    forward = tf.function(
        lambda values: encoder(values, training=False)["sequence_output"], autograph=False
    )
    forward(inputs).numpy()  # traces the graph; not counted
    seconds, end = [], time.monotonic() + _SECONDS
    while not seconds or (len(seconds) < _RUNS and time.monotonic() < end):
        seconds.append(speed.seconds(forward, inputs)[0])
    return Timing(name, statistics.median(seconds), len(seconds))
