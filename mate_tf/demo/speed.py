"""How long attention variants take for one example, with the same weights."""

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
"""Those that have no weights of their own, so that any model's fit."""

LENGTHS = (512, 1024, 2048, 4096)

_RUNS, _SECONDS = 7, 12.0  # of one variant: no run is begun after so many seconds


class Timing(NamedTuple):
    """What one variant took.

    Attributes:
        name: the variant.
        seconds: of a forward pass of the encoder, the median.
        runs: how many of them.
    """

    name: str
    seconds: float
    runs: int


def compare(encoder: TableEncoder, features: dict, names, length: int = 0) -> Iterator[Timing]:
    """Times the encoder with each variant in turn: compiled graph, float32, a batch of one.

    Args:
        encoder: where sizes and weights are from.
        features: <int32>[1, seq] each, an example without padding.
        names: variants; those without weights of their own, or the encoder's.
        length: the example is padded to so many tokens; it is never cut.

    Raises:
        InputError: a variant needs other weights; the encoder takes no sequence of this length.
    """
    features = padded(features, length)
    for name in names:
        yield _time(name, with_attention(encoder, name), features)


def padded(features: dict, length: int) -> dict:
    """Features <int32>[1, seq], filled up with zeros to `length` tokens if they have fewer."""
    missing = max(0, length - features["input_mask"].shape[1])
    return {name: np.pad(ids, [[0, 0], [0, missing]]) for name, ids in features.items()}


def with_attention(encoder: TableEncoder, name: str) -> TableEncoder:
    """The same encoder, all of its layers with one variant; options that both have stay."""
    attention = AttentionConfig(encoder.config.attention_per_layer()[0])
    attention.override({"name": name})
    config = EncoderConfig(encoder.config.as_dict() | {"attention": attention.as_dict()})
    other = TableEncoder(config)
    weights = encoder.checkpoint_variables()
    for key, variable in other.checkpoint_variables().items():
        if key not in weights:
            raise InputError(f"attention {name!r} has weights that this model has not: {key}")
        variable.assign(tf.cast(weights[key], variable.dtype))
    return other


def _time(name: str, encoder: TableEncoder, features: dict) -> Timing:
    inputs = {key: tf.constant(ids) for key, ids in features.items()}
    forward = tf.function(
        lambda values: encoder(values, training=False)["sequence_output"], autograph=False
    )
    forward(inputs).numpy()  # traces the graph, and is not counted
    seconds, end = [], time.monotonic() + _SECONDS
    while not seconds or (len(seconds) < _RUNS and time.monotonic() < end):
        seconds.append(speed.seconds(forward, inputs)[0])
    return Timing(name, statistics.median(seconds), len(seconds))
