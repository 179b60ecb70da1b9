"""`mate_efficient`: MATE in linear time for every input, by the form that suits it.

`mate.MateWindows` is the paper's form. It is for questions of at most G tokens; a batch with a
longer one is computed under the mask, a chunk of queries at a time. Where a window would be as long
as the sequence, masks are cheaper. Packed examples have their own layout (`mate_packed`).
"""

import contextlib
import contextvars
import functools
from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.abilities import ChangesForExport
from mate_tf.attention.base import mask_bias
from mate_tf.attention.mate import MateWindows, WindowTensors, windows
from mate_tf.attention.mate_exact import MateExact, MatePattern
from mate_tf.attention.mate_heads import (
    HeadType,
    compared_pairs,
    has_diagonal,
    head_types,
    window_length,
)
from mate_tf.attention.mate_packed import PackedLayout, PackedTensors, attend_packed
from mate_tf.layers import step_seeds
from mate_tf.layers.recomputation import recomputed
from mate_tf.layers.shapes import shape_list
from mate_tf.layers.shared_functions import shared_function

QUERY_CHUNK = 256
"""Queries computed at a time if a question is longer than G."""

SHORT_INPUT = 448
"""Tokens up to which masks are no slower than windows, as measured with width 384 on a CPU."""

_short_inputs = contextvars.ContextVar[bool | None]("short_inputs", default=None)


class FormTensors(NamedTuple):
    """Tensors of `mate_efficient`: one form, or two where the graph chooses when it runs.

    Attributes:
        real: <float>[batch, seq, 1, 1], 0 for padding, whose output is zero.
        biases: masks of each type of heads, <float>[batch, 1, queries, keys]; None without this
            form; without queries and keys where another one is computed.
        windows: WindowTensors; None without this form.
        packed: PackedTensors; None without this form.
        by_masks: <bool>[], whether to compute by masks; None with one form.
        long_question: <bool>[], whether a question is longer than G; None without windows.
    """

    real: tf.Tensor
    biases: tuple[tf.Tensor, ...] | None = None
    windows: WindowTensors | None = None
    packed: PackedTensors | None = None
    by_masks: tf.Tensor | None = None
    long_question: tf.Tensor | None = None


class MateEfficientPattern(MatePattern):
    """Pattern with windows; with masks for short inputs, in a graph for any length with both.

    A graph that is traced within `graph_for` has one of them. Packed examples have masks for
    questions that are longer than the global part.
    """

    has_form_for_short_inputs = True

    def call(self, context, training=None):
        kinds, first = self.head_types, self.config.global_length
        by_masks = choice_of_graph(first, kinds)
        if by_masks is None:
            by_masks = masks_are_cheaper(shape_list(context.row_ids)[1], first, kinds)
        is_packed = context.starts is not None
        if by_masks is True or (is_packed and context.examples is None):
            return FormTensors(self.real(context), self.biases(context))
        settings = (self.config, kinds, self.num_heads, self.compute_dtype)
        if is_packed:
            packed = PackedLayout(context, *settings).tensors()
            by_masks = tf.logical_or(by_masks, self._has_long_question(context.examples.context))
            tensors = FormTensors(self.real(context), packed=packed)
        else:
            tensors = FormTensors(
                self.real(context),
                windows=windows(context, *settings),
                long_question=self._has_long_question(context),
            )
        if by_masks is False:
            return tensors
        nothing = tf.zeros([shape_list(context.row_ids)[0], 1, 0, 0], self.compute_dtype)
        empty = (nothing,) * len(kinds)
        biases = tf.cond(by_masks, lambda: self.biases(context), lambda: empty)
        return tensors._replace(biases=biases, by_masks=by_masks)

    def _has_long_question(self, context):
        """Returns whether a question is longer than the global part, <bool>[]."""
        length = tf.reduce_sum(tf.cast(masks.question_tokens(context), tf.int32), axis=-1)
        return tf.reduce_any(length > self.config.global_length)


class MateEfficient(ChangesForExport, MateWindows):
    """MATE in time and memory linear in the length: global tokens and a window of buckets.

    It equals `mate_exact` if the question fits into `global_length`, and the rows and columns into
    the windows (`coverage` measures it). Questions longer than `global_length` stay global: a batch
    with such a question is computed under the dense mask, a chunk of queries at a time (quadratic
    time, linear memory), and once more for its gradients.
    """

    _exporting = False

    @contextlib.contextmanager
    def exporting(self):
        """Leaves out what is computed again for gradients: an export has none."""
        self._exporting = True
        try:
            yield
        finally:
            self._exporting = False

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        """Counts the matmuls of the computed pairs (`compared_pairs`), as a mean over heads."""
        kinds = head_types(config, num_heads)
        if masks_are_cheaper(length, config.global_length, kinds):
            return MateExact.flops(config, num_heads, hidden_size, length)
        pairs = sum(
            compared_pairs(length, config.global_length, kind.radius) * kind.count for kind in kinds
        )
        return 4 * hidden_size * pairs / num_heads

    def attend(self, query, key, value, pattern: FormTensors, training=None):
        if pattern.windows is None and pattern.packed is None:
            return super().attend(query, key, value, pattern, training)
        drops = bool(training and self.dropout_rate)
        seed = step_seeds.draw() if drops else None  # not in the function, which layers share
        settings = (self.dropout_rate, self.softmax_temperature, drops, self._exporting)
        own = (type(self), self.config, self.num_heads, self.compute_dtype)
        attend = shared_function((*own, *settings), functools.partial(self._attend, training=drops))
        return attend(query, key, value, pattern, seed)

    def _attend(self, query, key, value, pattern: FormTensors, seed, training):
        linear = functools.partial(self._linear, query, key, value, pattern, seed, training)
        if pattern.by_masks is None:
            return linear()
        by_masks = functools.partial(
            self.by_masks, query, key, value, pattern.real, pattern.biases, seed, training
        )
        # Masks in the second branch: TensorFlow's graph optimizer fuses matmul and bias, and then
        # reads a bias from outside the branch as if this were the second (a fault of its remapper).
        return tf.cond(tf.logical_not(pattern.by_masks), linear, by_masks)

    def _linear(self, query, key, value, pattern: FormTensors, seed, training):
        own = query, key, value
        if pattern.packed is not None:
            return attend_packed(self, *own, pattern.packed, seed, training)
        windows = pattern.windows
        if windows is None:
            raise ValueError("the pattern has neither windows nor packed heads")
        return tf.cond(
            pattern.long_question,
            lambda: self._by_chunks(*own, pattern.real, windows, seed, training),
            lambda: self.by_windows(*own, windows, seed, training),
        )

    def _by_chunks(self, query, key, value, real, windows: WindowTensors, seed, training):
        contexts = []
        types = zip(self.per_type(query, key, value), windows.head_types, strict=True)
        for (kind, projections), part in types:
            function = functools.partial(self._dense, kind, training)
            others = part.tokens if seed is None else (*part.tokens, seed)
            contexts.append(
                function(*projections, *others)
                if self._exporting
                else recomputed(function, projections, others)
            )
        return self.joined(contexts) * real

    def _dense(self, kind, training, query, key, value, *tokens_and_seed):
        """Computes one type of heads by chunks; all <float>[batch, heads, seq, head_size]."""
        tokens = masks.HeadTokens(*tokens_and_seed[: len(masks.HeadTokens._fields)])
        seed = tokens_and_seed[-1] if training else None

        def attend_chunk(parts):
            number, own_query, *own = parts
            mask = masks.visible(masks.HeadTokens(*own), tokens, has_diagonal(self.config))
            bias = mask_bias(mask[:, None], key.dtype)
            own_seed = None if seed is None else seed + tf.stack([kind.first, number])
            return self.softmax_attention(own_query, key, value, bias, training, own_seed)

        parts = (_chunks(query, 2), *(_chunks(part, 1) for part in tokens))
        numbers = tf.range(shape_list(parts[0])[0])
        context = tf.map_fn(attend_chunk, (numbers, *parts), fn_output_signature=query.dtype)
        # [chunks, batch, heads, QUERY_CHUNK, head_size]
        # -> [batch, heads, chunks, QUERY_CHUNK, head_size] -> [batch, heads, seq, head_size]
        context = tf.transpose(context, [1, 2, 0, 3, 4])
        batch, heads, count, _, size = shape_list(context)
        context = tf.reshape(context, [batch, heads, count * QUERY_CHUNK, size])
        return context[:, :, : shape_list(query)[2]]


def _chunks(x, axis: int):
    """Cuts `axis` into chunks, the last one padded, and moves the axis of chunks to the front."""
    shape = shape_list(x)
    count = -(-shape[axis] // QUERY_CHUNK)
    paddings = [[0, 0]] * axis + [[0, count * QUERY_CHUNK - shape[axis]]]
    x = tf.pad(x, paddings + [[0, 0]] * (len(shape) - axis - 1))
    # [..., seq, ...] -> [..., chunks, QUERY_CHUNK, ...] -> [chunks, ..., QUERY_CHUNK, ...]
    x = tf.reshape(x, [*shape[:axis], count, QUERY_CHUNK, *shape[axis + 1 :]])
    return tf.transpose(x, [axis, *range(axis), *range(axis + 1, len(shape) + 1)])


@contextlib.contextmanager
def graph_for(short_inputs: bool):
    """Lets a graph for inputs of any length have one form of attention instead of both.

    Its results stay the same. One choice for the whole graph is faster than one in each layer.

    Args:
        short_inputs: True if the graph will only get inputs of at most `SHORT_INPUT` tokens, False
            if it will only get longer ones.
    """
    token = _short_inputs.set(short_inputs)
    try:
        yield
    finally:
        _short_inputs.reset(token)


def choice_of_graph(global_length: int, kinds: list[HeadType]) -> bool | None:
    """Returns whether a graph within `graph_for` has masks; None if the length must decide."""
    if _short_inputs.get():
        return True
    is_long = _short_inputs.get() is False and window_length(global_length, kinds) <= SHORT_INPUT
    return False if is_long else None


def masks_are_cheaper(seq, global_length: int, kinds: list[HeadType]):
    """Returns whether a window of buckets is no shorter than a sequence.

    A bool for an int `seq`, the number of tokens; <bool>[] for an <int32>[] tensor.
    """
    return seq <= window_length(global_length, kinds)
