"""How much the tokens of an example attend to each other, and from that to each cell."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mate_tf import attention
from mate_tf.data import features as feature_names
from mate_tf.errors import InputError

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
    context = _context(features)
    computed = {pattern.config: pattern(context) for pattern in encoder.patterns}
    for number, (layer, pattern, x) in enumerate(_layers(encoder, features), start=1):
        config = pattern.config
        weights = None
        if layer.has_pair_probabilities:
            mask = layer.mask(x, computed[config])
            weights = layer.scores(x, pattern.mask(context) if mask is None else mask)
        if weights is None or not _is_what_it_computes(weights, layer, x, computed[config]):
            raise InputError(
                f"attention {config.name!r} of layer {number} has no probabilities of pairs of "
                "tokens to show"
            )
        yield weights


def masks(encoder, features: dict) -> Iterator[np.ndarray]:
    """Who may attend to whom in one layer after the other.

    Args:
        encoder: a `TableEncoder`.
        features: <int32>[1, seq] each, of one example.

    Yields:
        <bool>[heads, seq, seq], query before key. Tokens that the variant adds are left out, so
        that what is seen through these only does not count as seen.
    """
    context, computed = _context(features), {}
    for layer, pattern, x in _layers(encoder, features):
        x, extended = pattern.add_tokens(x, context)
        if pattern.config not in computed:
            computed[pattern.config] = pattern(extended)
        mask = layer.mask(x, computed[pattern.config])
        mask = tf.cast((pattern.mask(extended) if mask is None else mask)[0], x.dtype)
        mask = tf.broadcast_to(mask, [len(mask), x.shape[1], x.shape[1]])
        for _ in ("queries", "keys"):
            mask = tf.transpose(pattern.remove_tokens(mask), [0, 2, 1])
        yield np.broadcast_to(mask.numpy() > 0, [layer.num_heads, *mask.shape[1:]])


def _context(features: dict) -> attention.TableContext:
    return attention.TableContext.from_features(features).map(tf.convert_to_tensor)


def _layers(encoder, features: dict) -> Iterator[tuple]:
    """Of each layer: the attention, its pattern, and what it gets, <float>[batch, seq, hidden]."""
    outputs = encoder(features, training=False)
    patterns = {pattern.config: pattern for pattern in encoder.patterns}
    inputs = [outputs["embedding_output"], *outputs["encoder_outputs"][:-1]]
    for block, x in zip(encoder.blocks, inputs, strict=True):
        layer = block.attention
        yield layer, patterns[block.attention_config], tf.cast(x, layer.compute_dtype)


def _is_what_it_computes(weights, layer, x, pattern) -> bool:
    (value,) = layer.project(x, layer.value)
    expected = layer.project_back(tf.einsum("bhqk,bkhd->bqhd", weights, value))
    output = layer(x, pattern, training=False)
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
        for kind in getattr(block.attention, "head_types", ()):
            name = HEAD_TYPES[kind.ids]
            group = groups.setdefault(name, np.zeros_like(groups[ALL_HEADS]))
            group[number, kind.first : kind.first + kind.count] = True
    return groups
