"""Attention flow: attention probabilities between the tokens of an example, and to its cells."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mate_tf.attention import abilities
from mate_tf.attention.full import MaskTensors
from mate_tf.data import features as feature_names
from mate_tf.errors import InputError
from mate_tf.models.inspection import InspectedLayer

# Share of the output's norm. Errors of bfloat16 are below it, other kinds of attention far above.
_TOLERANCE = 0.05

HEAD_TYPES = {"row_ids": "row heads", "column_ids": "column heads"}
"""Feature by which heads of a type group tokens -> name of the type (MATE paper, section 3)."""

ALL_HEADS = "all heads"


class CellAttention(NamedTuple):
    """Mean attention of a group of tokens to the cells and the question; it sums to 1 per head.

    Attributes:
        cells: <float32>[layers, heads, rows + 1, columns], sums over the tokens of each cell. Row 0
            is the header.
        question: <float32>[layers, heads], sum over the tokens of the question.
    """

    cells: np.ndarray
    question: np.ndarray


def example_features(example: tf.train.Example) -> dict[str, np.ndarray]:
    """Returns the model's inputs of an example, without padding: name -> <int32>[1, seq]."""
    stored = example.features.feature
    length = sum(stored["input_mask"].int64_list.value)
    return {
        name: np.array([stored[name].int64_list.value[:length]], np.int32)
        for name in feature_names.names(feature_names.MODEL_INPUTS)
    }


def probabilities(encoder, features: dict) -> Iterator[tf.Tensor]:
    """Yields the attention probabilities of each layer, without dropout.

    They are computed as full matrices with the variant's mask, in quadratic time and memory. The
    output that follows from them is compared with the layer's own output, to make sure that they
    are the probabilities that the model uses.

    Args:
        features: inputs of the encoder: name -> <int32>[batch, seq].

    Yields:
        <float>[batch, heads, queries, keys]; zero for a query without keys.

    Raises:
        InputError: if a layer's attention is not a softmax over pairs of tokens, or the variant
            adds its own tokens.
    """
    for number, layer in enumerate(encoder.inspect(features), start=1):
        weights = _weights(layer)
        if weights is None or not _is_what_it_computes(weights, layer):
            raise InputError(
                f"attention {layer.pattern.config.name!r} of layer {number} has no probabilities "
                "for pairs of tokens"
            )
        yield weights


def _weights(layer: InspectedLayer) -> tf.Tensor | None:
    """Returns probabilities <float>[batch, heads, queries, keys]; None for layers without them."""
    if not layer.attention.has_pair_probabilities:
        return None
    # A learned importance is in the bias only.
    bias = layer.state.bias if isinstance(layer.state, MaskTensors) else None
    return layer.attention.scores(layer.x, layer.mask, bias)


def masks(encoder, features: dict) -> Iterator[np.ndarray]:
    """Yields the attention mask of each layer for one example.

    Args:
        features: inputs of the encoder: name -> <int32>[1, seq].

    Yields:
        <bool>[heads, queries, keys], without the tokens that the variant adds. Pairs that are
        connected only through an added token are False.
    """
    for layer in encoder.inspect(features):
        seq = layer.x.shape[1]
        mask = tf.cast(layer.mask[0], layer.x.dtype)
        mask = tf.broadcast_to(mask, [len(mask), seq, seq])
        for _ in ("queries", "keys"):
            mask = tf.transpose(abilities.remove_tokens(layer.pattern, mask), [0, 2, 1])
        yield np.broadcast_to(mask.numpy() > 0, [layer.attention.num_heads, *mask.shape[1:]])


def _is_what_it_computes(weights: tf.Tensor, layer: InspectedLayer) -> bool:
    attention = layer.attention
    # [batch, heads, queries, keys], [batch, keys, heads, head_size]
    #   -> [batch, queries, heads, head_size]
    (value,) = attention.project(layer.x, attention.value)
    expected = attention.project_back(tf.einsum("bhqk,bkhd->bqhd", weights, value))
    output = attention(layer.x, layer.state, training=False)
    difference, size = (float(tf.norm(tf.cast(y, tf.float32))) for y in (output - expected, output))
    return difference <= _TOLERANCE * size


def to_cells(encoder, features: dict, sources: dict[str, np.ndarray], shape) -> dict:
    """Computes the mean attention of groups of tokens to each cell, by layer and head.

    Args:
        features: inputs of one example: name -> <int32>[1, seq].
        sources: name of a group -> its queries, <bool>[seq].
        shape: (rows without the header, columns) of the table.

    Returns:
        name -> `CellAttention`, for each group that is not empty.

    Raises:
        InputError: see `probabilities`.
    """
    rows, columns = shape
    row, column = features["row_ids"][0], features["column_ids"][0]
    in_table = table_tokens(features)
    # [seq]: index of each key's cell; the index after the last cell is the question
    cell = np.where(in_table, row * columns + column - 1, (rows + 1) * columns)
    # [seq, cells + 1]
    to_cell = tf.one_hot(cell, (rows + 1) * columns + 1)
    queries = {name: np.flatnonzero(group) for name, group in sources.items() if group.any()}
    means = {name: [] for name in queries}
    for weights in probabilities(encoder, features):
        for name, group in queries.items():
            # [heads, queries, keys] -> [heads, keys]
            mean = tf.reduce_mean(tf.gather(weights[0], group, axis=1), axis=1)
            # [heads, keys], [keys, cells + 1] -> [heads, cells + 1]
            means[name].append((tf.cast(mean, tf.float32) @ to_cell).numpy())
    stacked = {name: np.stack(layers) for name, layers in means.items()}
    return {
        name: CellAttention(
            shares[..., :-1].reshape([*shares.shape[:2], rows + 1, columns]), shares[..., -1]
        )
        for name, shares in stacked.items()
    }


def table_tokens(features: dict) -> np.ndarray:
    """Returns the tokens in cells, <bool>[seq]. All other tokens are the question.

    Args:
        features: inputs of one example: name -> <int32>[1, seq].
    """
    return (features["segment_ids"][0] == 1) & (features["column_ids"][0] > 0)


def head_groups(encoder) -> dict[str, np.ndarray]:
    """Returns name of a type -> its heads, <bool>[layers, heads]. ALL_HEADS is first.

    Row heads and column heads follow if the encoder's attention has them.
    """
    heads = encoder.config.num_attention_heads
    groups = {ALL_HEADS: np.ones([len(encoder.blocks), heads], bool)}
    for number, block in enumerate(encoder.blocks):
        for kind in block.attention.head_types:
            name = HEAD_TYPES[kind.ids]
            group = groups.setdefault(name, np.zeros_like(groups[ALL_HEADS]))
            group[number, kind.first : kind.first + kind.count] = True
    return groups
