"""Attention under a static mask: one that depends on positions only, or was saved to a file.

The masks themselves are in `masks.static`; they are public here too.
"""

import dataclasses
import inspect
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from absl import logging

from mate_tf.attention import mask_blocks, masks
from mate_tf.attention.base import AttentionPattern, TableAttention, masked_score
from mate_tf.attention.masks import files
from mate_tf.attention.masks.static import (
    MASKS,
    bigbird,
    fixed,
    logsparse,
    longformer,
    star,
    strided,
)
from mate_tf.errors import InputError
from mate_tf.layers.shapes import check_length, shape_list

__all__ = [
    "FORMS",
    "MASKS",
    "StaticMaskAttention",
    "StaticMaskOptions",
    "StaticMaskPattern",
    "StaticMaskTensors",
    "bigbird",
    "check_length",
    "fixed",
    "logsparse",
    "longformer",
    "refuse_longer",
    "star",
    "strided",
]

refuse_longer = check_length  # alias of check_length, kept for code that uses the old name

FORMS = ("auto", "masked", "blocks")
"""Values of the option `form`."""


@dataclasses.dataclass(frozen=True)
class StaticMaskOptions:
    """Options of `static_mask`.

    Attributes:
        mask: one of MASKS, or the path of a saved mask (`masks.files`).
        length: n, the largest length; shorter inputs take the first rows and columns. None: a mask
            of MASKS is made for each length, and a saved mask has its own. The length matters if a
            mask depends on n (longformer, bigbird), and for blocks if lengths are unknown when the
            graph is made.
        stride: stride of strided and fixed.
        window: half-width of longformer and bigbird; None: their defaults.
        num_global: global tokens of longformer.
        num_random: random keys of bigbird.
        seed: seed of longformer and bigbird.
        diagonal: whether tokens attend to themselves.
        form: "masked", quadratic in the length; "blocks", which computes blocks of queries with the
            keys that one of these queries attends to; "auto": blocks if they are clearly cheaper.
    """

    mask: str = "star"
    length: int | None = None
    stride: int = 4
    window: int | None = None
    num_global: int = 2
    num_random: int = 2
    seed: int = 0
    diagonal: bool = True
    form: str = "auto"


class StaticMaskTensors(NamedTuple):
    """Tensors of `StaticMaskPattern`: a mask, or its blocks.

    Attributes:
        mask: <bool>[batch, 1 or heads, queries, keys]; None if computed by blocks.
        any_key: <float>[batch, queries, 1 or heads, 1], 0 for queries without keys; None with
            blocks.
        blocks: BlockTensors; None if computed by mask.
        order: <int32>[batch, seq], positions with an example's last token and the last position
            exchanged, for blocks of a mask that has a row and a column of the last token.
    """

    mask: tf.Tensor | None = None
    any_key: tf.Tensor | None = None
    blocks: mask_blocks.BlockTensors | None = None
    order: tf.Tensor | None = None


class StaticMaskPattern(AttentionPattern):
    """Pattern with a mask that is made or read once, and its blocks if it is computed by blocks.

    No token attends to padding, and padding attends to nothing. The last row and column of a saved
    mask can be those of each example's last token (`masks.files.of_last_token`, the masks of
    structured DAM); of other masks they are those of position n - 1.

    Raises:
        InputError: no such mask or file, an option out of range, a file for another number of
            heads; when called, an input longer than a mask of fixed length.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        if self.config.form not in FORMS:
            raise InputError(f"form must be one of {', '.join(FORMS)}, not {self.config.form!r}")
        if self.config.mask in MASKS:
            function = MASKS[self.config.mask]
            parameters = inspect.signature(function).parameters.keys() - {"n"}
            options = {key: getattr(self.config, key) for key in parameters}
            options = {key: value for key, value in options.items() if value is not None}
            self._made = lambda n: function(n, **options)[None]
            self.length = self.config.length
            self._made(self.length or 1)  # checks the options
            self._of_last_token = None
        else:
            saved = files.load(self.config.mask, num_heads)
            own = saved.shape[-1]
            self.length = own if self.config.length is None else self.config.length
            if self.length > own:
                raise InputError(f"{self.config.mask}: a mask for {own} tokens, not {self.length}")
            if not self.config.diagonal:
                saved = saved & ~np.eye(own, dtype=bool)
            self._made = lambda n: saved[:, :n, :n]
            # [1 or heads, n, n] -> the row and the column of the last token: [1 or heads, n]
            last = files.of_last_token(self.config.mask)
            self._of_last_token = (saved[:, -1], saved[:, :, -1]) if last else None
        self._what = f"{self.config.mask}: a mask"
        self._plans = {}

    def static_mask(self, n: int) -> np.ndarray:
        """Returns the mask for n tokens, <bool>[1 or heads, n, n].

        Raises:
            InputError: it has a fixed length below n.
        """
        if self.length is None:
            return self._made(n)
        check_length(n, self.length, self._what)
        return self._made(self.length)[:, :n, :n]

    def mask(self, context):
        mask = self._mask(masks.real_tokens(context))
        if self._of_last_token is not None:
            mask = self._with_last_token(mask, masks.last_token(context))
        return mask & masks.real_pairs(context)

    def _mask(self, real):
        """Returns the mask for the length of `real`, <bool>[1, 1 or heads, seq, seq]."""
        _, seq = shape_list(real)
        if isinstance(seq, int):
            return tf.constant(self.static_mask(seq))[None]
        if self.length is None:
            return self._made(seq)[None]
        with tf.control_dependencies([check_length(seq, self.length, self._what)]):
            return tf.constant(self.static_mask(self.length))[None, :, :seq, :seq]

    def _with_last_token(self, mask, last):
        """Puts the row and the column of the last token where it is in each example.

        Args:
            mask: <bool>[1, 1 or heads, seq, seq].
            last: <int32>[batch], the last position.

        Returns:
            <bool>[batch, 1 or heads, seq, seq]
        """
        _, _, seq, _ = shape_list(mask)
        is_last = tf.range(seq) == last[:, None]
        of_query, of_key = is_last[:, None, :, None], is_last[:, None, None, :]
        row, column = (tf.constant(of_token)[:, :seq] for of_token in self._of_last_token)
        corner = tf.constant(self._of_last_token[0][:, -1])[:, None, None]
        mask = tf.where(of_query, row[:, None], mask)
        mask = tf.where(of_key, column[:, :, None], mask)
        return tf.where(of_query & of_key, corner, mask)

    def call(self, context, training=None):
        real = masks.real_tokens(context)
        seq = real.shape[1]
        of_any_length = self.length if self._of_last_token is None else None
        plan = self.plan(of_any_length if seq is None else seq)
        if plan is None:
            mask = self.mask(context)
            any_key = masks.any_key(mask, self.compute_dtype)
            # [batch, heads, queries, 1] -> [batch, queries, heads, 1]
            return StaticMaskTensors(mask, tf.transpose(any_key, [0, 2, 1, 3]))
        if seq is None:
            with tf.control_dependencies(
                [check_length(tf.shape(real)[1], self.length, self._what)]
            ):
                real = tf.identity(real)
        order = None
        if self._of_last_token is not None:
            last, position = masks.last_token(context)[:, None], tf.range(seq)
            order = tf.where(position == last, seq - 1, position)
            order = tf.where(position == seq - 1, last, order)
            real = tf.gather(real, order, axis=1, batch_dims=1)
        blocks = mask_blocks.tensors(plan, real, self.num_heads, self.compute_dtype)
        return StaticMaskTensors(blocks=blocks, order=order)

    def plan(self, n: int | None) -> mask_blocks.Plan | None:
        """Returns the blocks for n tokens, or None if the mask is applied whole; decided once."""
        if n is None or self.config.form == "masked":
            return None
        if n not in self._plans:
            plan = mask_blocks.plan(self._mask_of_blocks(n))
            if self.config.form == "auto" and not plan.is_cheaper():
                logging.info("static_mask %s: %s; computed by mask", self.config.mask, plan)
                plan = None
            self._plans[n] = plan
        return self._plans[n]

    def _mask_of_blocks(self, n: int) -> np.ndarray:
        """Returns the mask for n tokens, the last of which is the last one of an example."""
        mask = self.static_mask(n)
        if self._of_last_token is None:
            return mask
        mask = mask.copy()
        row, column = self._of_last_token
        mask[:, -1], mask[:, :, -1] = row[:, :n], column[:, :n]
        mask[:, -1, -1] = row[:, -1]
        return mask


class StaticMaskAttention(TableAttention):
    """Attention under a mask or, if the pattern has blocks, by blocks; both give the same."""

    has_pair_probabilities = True

    def attend(self, query, key, value, pattern, training=None):
        if pattern.blocks is not None:
            if pattern.order is None:
                return mask_blocks.attend(self, query, key, value, pattern.blocks, training)
            parts = (tf.gather(x, pattern.order, axis=1, batch_dims=1) for x in (query, key, value))
            context = mask_blocks.attend(self, *parts, pattern.blocks, training)
            return tf.gather(context, pattern.order, axis=1, batch_dims=1)  # exchanges them back
        # [batch, seq, heads, head_size] -> [batch, heads, seq, head_size]
        query, key, value = (tf.transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
        # [batch, heads, queries, keys]
        scores = tf.matmul(query, key, transpose_b=True) * self.scale(query.dtype)
        # Selecting takes half the time of adding a bias, and a boolean a quarter of the memory.
        scores = tf.where(pattern.mask, scores, masked_score(scores.dtype))
        probabilities = self.dropout(tf.nn.softmax(scores), training=training)
        # [batch, heads, queries, head_size] -> [batch, queries, heads, head_size]
        context = tf.matmul(probabilities, value)
        return tf.transpose(context, [0, 2, 1, 3]) * pattern.any_key
