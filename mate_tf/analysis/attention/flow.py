"""How much the tokens of an example attend to each other, and from that to each cell."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.errors import InputError
from mate_tf.models.inspection import InspectedLayer

_TOLERANCE = 0.05  # of an output's norm: bfloat16 needs it, another kind of attention is far off

HEAD_TYPES = {"row_ids": "row heads", "column_ids": "column heads"}
"""What MATE's types of heads are called (MATE paper, section 3)."""

ALL_HEADS = "all heads"


class CellAttention(NamedTuple):
    """Where the attention of some tokens goes, their mean; each head's shares add up to 1.

    Attributes:
        cells: <float32>[layers, heads, rows + 1, columns], the tokens of a cell added up; the
            header comes first.
        question: <float32>[layers, heads], what goes to the question.
    """

    cells: np.ndarray
    question: np.ndarray


def example_features(example: tf.train.Example) -> dict[str, np.ndarray]:
    """The model's inputs of an example, without padding: <int32>[1, seq] each."""
    stored = example.features.feature
    length = sum(stored["input_mask"].int64_list.value)
    return {
        name: np.array([stored[name].int64_list.value[:length]], np.int32)
        for name in feature_names.names(feature_names.MODEL_INPUTS)
    }


def probabilities(encoder, features: dict) -> Iterator[tf.Tensor]:
    """The attention probabilities of one layer after the other, without dropout.

    They are written out under each variant's own mask, in quadratic time and memory, and compared
    with what the layer itself computes: what is given here is what the model does.

    Args:
        encoder: a `TableEncoder`.
        features: <int32>[batch, seq] each, as the encoder takes them.

    Yields:
        <float>[batch, heads, queries, keys]; zero for a query without keys.

    Raises:
        InputError: a layer's attention is no softmax over pairs of tokens, or the variant adds
            tokens of its own.
    """
    for number, layer in enumerate(encoder.inspect(features), start=1):
        weights = _weights(layer)
        if weights is None or not _is_what_it_computes(weights, layer):
            raise InputError(
                f"attention {layer.pattern.config.name!r} of layer {number} has no probabilities "
                "of pairs of tokens to show"
            )
        yield weights


def _weights(layer: InspectedLayer) -> tf.Tensor | None:
    """Returns <float>[batch, heads, queries, keys]; None for layers without them."""
    if not layer.attention.has_pair_probabilities:
        return None
    return layer.attention.scores(layer.x, layer.mask)


def masks(encoder, features: dict) -> Iterator[np.ndarray]:
    """Who may attend to whom in one layer after the other.

    Args:
        encoder: a `TableEncoder`.
        features: <int32>[1, seq] each, of one example.

    Yields:
        <bool>[heads, seq, seq], query before key. Tokens that the variant adds are left out, so
        that what is seen through these only does not count as seen.
    """
    for layer in encoder.inspect(features):
        seq = layer.x.shape[1]
        mask = tf.cast(layer.mask[0], layer.x.dtype)
        mask = tf.broadcast_to(mask, [len(mask), seq, seq])
        for _ in ("queries", "keys"):
            mask = tf.transpose(layer.pattern.remove_tokens(mask), [0, 2, 1])
        yield np.broadcast_to(mask.numpy() > 0, [layer.attention.num_heads, *mask.shape[1:]])


def _is_what_it_computes(weights: tf.Tensor, layer: InspectedLayer) -> bool:
    attention = layer.attention
    (value,) = attention.project(layer.x, attention.value)
    expected = attention.project_back(tf.einsum("bhqk,bkhd->bqhd", weights, value))
    output = attention(layer.x, layer.state, training=False)
    difference, size = (float(tf.norm(tf.cast(y, tf.float32))) for y in (output - expected, output))
    return difference <= _TOLERANCE * size


def to_cells(encoder, features: dict, sources: dict[str, np.ndarray], shape) -> dict:
    """Where the attention of groups of tokens goes, layer by layer and head by head.

    Args:
        encoder: a `TableEncoder`.
        features: <int32>[1, seq] each, of one example.
        sources: name of a group -> <bool>[seq], the queries in it.
        shape: rows, without the header, and columns of the table.

    Returns:
        name -> `CellAttention`, for each group that is not empty.

    Raises:
        InputError: see `probabilities`.
    """
    rows, columns = shape
    row, column = features["row_ids"][0], features["column_ids"][0]
    in_table = table_tokens(features)
    # Which cell each key is in; behind all cells, the question.
    place = np.where(in_table, row * columns + column - 1, (rows + 1) * columns)
    to_place = tf.one_hot(place, (rows + 1) * columns + 1)
    queries = {name: np.flatnonzero(group) for name, group in sources.items() if group.any()}
    found = {name: [] for name in queries}
    for weights in probabilities(encoder, features):
        for name, group in queries.items():
            mean = tf.reduce_mean(tf.gather(weights[0], group, axis=1), axis=1)
            found[name].append((tf.cast(mean, tf.float32) @ to_place).numpy())
    stacked = {name: np.stack(layers) for name, layers in found.items()}
    return {
        name: CellAttention(
            shares[..., :-1].reshape([*shares.shape[:2], rows + 1, columns]), shares[..., -1]
        )
        for name, shares in stacked.items()
    }


def table_tokens(features: dict) -> np.ndarray:
    """The tokens in cells, <bool>[seq], of <int32>[1, seq] each; the others are the question."""
    return (features["segment_ids"][0] == 1) & (features["column_ids"][0] > 0)


def head_groups(encoder) -> dict[str, np.ndarray]:
    """Which heads are of which type: name -> <bool>[layers, heads], all heads first.

    Row heads and column heads are there if the encoder's attention has them.
    """
    heads = encoder.config.num_attention_heads
    groups = {ALL_HEADS: np.ones([len(encoder.blocks), heads], bool)}
    for number, block in enumerate(encoder.blocks):
        for kind in block.attention.head_types:
            name = HEAD_TYPES[kind.ids]
            group = groups.setdefault(name, np.zeros_like(groups[ALL_HEADS]))
            group[number, kind.first : kind.first + kind.count] = True
    return groups
