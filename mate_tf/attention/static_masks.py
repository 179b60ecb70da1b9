"""Attention under a static mask: one that depends on positions only, or was saved to a file.

The masks themselves are in `masks.static`; they are public here too.
"""

import contextlib
import dataclasses
import functools
import inspect
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from absl import logging

from mate_tf.attention import mask_blocks, mask_rows, masks
from mate_tf.attention.abilities import ChangesForExport
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
from mate_tf.field_types import CountOrZero, Tokens, TokensOrZero
from mate_tf.layers.framework import within_xla
from mate_tf.layers.shapes import check_length, shape_list

__all__ = [
    "FORMS",
    "MASKS",
    "Part",
    "StaticMaskAttention",
    "StaticMaskOptions",
    "StaticMaskPattern",
    "StaticMaskTensors",
    "bigbird",
    "check_length",
    "fixed",
    "logsparse",
    "longformer",
    "star",
    "strided",
]


FORMS = ("auto", "masked", "blocks", "rows")
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
            keys that one of these queries attends to; "auto": blocks if they are clearly cheaper,
            decided for each head where heads differ; "rows": as auto, but where that would apply
            the mask, queries are computed one by one in a compiled loop if this is cheaper. The
            loop needs Numba and a CPU; training, XLA and exported models apply the mask instead.
    """

    mask: str = "star"
    length: Tokens | None = None
    stride: Tokens = 4
    window: TokensOrZero | None = None
    num_global: TokensOrZero = 2
    num_random: TokensOrZero = 2
    seed: CountOrZero = 0
    diagonal: bool = True
    form: str = "auto"


class StaticMaskTensors(NamedTuple):
    """Tensors of `StaticMaskPattern`: a mask, its blocks, its rows, or parts with these.

    Attributes:
        mask: <bool>[batch, 1 or heads, queries, keys]; None if computed otherwise.
        any_key: <float>[batch, queries, 1 or heads, 1], 0 for queries without keys; None without
            `mask`.
        blocks: BlockTensors; None if computed otherwise.
        order: <int32>[batch, seq], positions with an example's last token and the last position
            exchanged, for blocks or rows of a mask that has a row and a column of the last token.
        rows: RowTensors; None if computed otherwise.
        parts: the StaticMaskTensors of groups of heads that are computed in different forms.
        restore: <int32>[heads], number of each head among those of the parts.
        heads: <int32>[heads of the part], in a part.
    """

    mask: tf.Tensor | None = None
    any_key: tf.Tensor | None = None
    blocks: mask_blocks.BlockTensors | None = None
    order: tf.Tensor | None = None
    rows: mask_rows.RowTensors | None = None
    parts: tuple["StaticMaskTensors", ...] = ()
    restore: tf.Tensor | None = None
    heads: tf.Tensor | None = None


class Part(NamedTuple):
    """Heads that are computed in one form.

    Attributes:
        heads: their numbers, <int>[heads of the part]; None: all heads.
        form: a Plan of blocks, Rows, or None for the mask.
    """

    heads: np.ndarray | None
    form: mask_blocks.Plan | mask_rows.Rows | None


class StaticMaskPattern(ChangesForExport, AttentionPattern):
    """Pattern with a mask that is made or read once, and its blocks if it is computed by blocks.

    No token attends to padding, and padding attends to nothing. The last row and column of a saved
    mask can be those of each example's last token (`masks.files.has_last_token`, the masks of
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
            last = files.has_last_token(self.config.mask)
            self._of_last_token = (saved[:, -1], saved[:, :, -1]) if last else None
        self._what = f"{self.config.mask}: a mask"
        if self.config.form == "rows":
            mask_rows.check_installed()
        # No dict: Keras would track it, and save it with the model.
        self._decided = functools.cache(
            lambda n, compiled: self._decide(self._mask_of_blocks(n), compiled)
        )
        self._exporting = False

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
        return self._mask_of_heads(context, slice(None))

    def _mask_of_heads(self, context, heads):
        """Returns the mask of the heads with these numbers, <bool>[batch, 1 or heads, seq, seq]."""
        mask = self._mask(masks.real_tokens(context), heads)
        if self._of_last_token is not None:
            mask = self._with_last_token(
                mask, masks.last_token(context), heads, self._of_last_token
            )
        return mask & masks.real_pairs(context)

    def _mask(self, real, heads):
        """Returns the mask for the length of `real`, <bool>[1, 1 or heads, seq, seq]."""
        _, seq = shape_list(real)
        if isinstance(seq, int):
            return tf.constant(self.static_mask(seq)[heads])[None]
        if self.length is None:
            return self._made(seq)[None]
        with tf.control_dependencies([check_length(seq, self.length, self._what)]):
            return tf.constant(self.static_mask(self.length)[heads])[None, :, :seq, :seq]

    def _with_last_token(self, mask, last, heads, of_last_token):
        """Puts the row and column of the last token, at `last` <int32>[batch], where it is.

        Args and result are <bool>[1 or batch, 1 or heads, seq, seq].
        """
        _, _, seq, _ = shape_list(mask)
        is_last = tf.range(seq) == last[:, None]
        of_query, of_key = is_last[:, None, :, None], is_last[:, None, None, :]
        row, column = (tf.constant(of_token[heads])[:, :seq] for of_token in of_last_token)
        corner = tf.constant(of_last_token[0][heads, -1])[:, None, None]
        mask = tf.where(of_query, row[:, None], mask)
        mask = tf.where(of_key, column[:, :, None], mask)
        return tf.where(of_query & of_key, corner, mask)

    def call(self, context, training=None):
        seq = masks.real_tokens(context).shape[1]
        of_any_length = self.length if self._of_last_token is None else None
        compiled = not (training or self._exporting or within_xla())
        parts = self.parts(of_any_length if seq is None else seq, compiled)
        computed = [self._tensors(part, context) for part in parts]
        if len(parts) == 1:
            return computed[0]
        heads = np.concatenate([part.heads for part in parts if part.heads is not None])
        return StaticMaskTensors(parts=tuple(computed), restore=tf.constant(np.argsort(heads)))

    def _tensors(self, part, context):
        """Computes the StaticMaskTensors of a part for a batch."""
        heads = slice(None) if part.heads is None else part.heads
        own = None if part.heads is None else tf.constant(part.heads)
        if part.form is None:
            mask = self._mask_of_heads(context, heads)
            any_key = masks.any_key(mask, self.compute_dtype)
            # [batch, heads, queries, 1] -> [batch, queries, heads, 1]
            return StaticMaskTensors(mask, tf.transpose(any_key, [0, 2, 1, 3]), heads=own)
        real = masks.real_tokens(context)
        seq = real.shape[1]
        if seq is None:
            seq = tf.shape(real)[1]
            with tf.control_dependencies([check_length(seq, self.length, self._what)]):
                real = tf.identity(real)
        order = None
        if self._of_last_token is not None:
            last, position = masks.last_token(context)[:, None], tf.range(seq)
            order = tf.where(position == last, seq - 1, position)
            order = tf.where(position == seq - 1, last, order)
            real = tf.gather(real, order, axis=1, batch_dims=1)
        if isinstance(part.form, mask_rows.Rows):
            rows = mask_rows.tensors(part.form, real)
            return StaticMaskTensors(rows=rows, order=order, heads=own)
        num_heads = self.num_heads if part.heads is None else len(part.heads)
        blocks = mask_blocks.tensors(part.form, real, num_heads, self.compute_dtype)
        return StaticMaskTensors(blocks=blocks, order=order, heads=own)

    @contextlib.contextmanager
    def exporting(self):
        """Lets the pattern leave out what runs in this process only."""
        self._exporting = True
        try:
            yield
        finally:
            self._exporting = False

    def plan(self, n: int | None) -> mask_blocks.Plan | None:
        """Returns the blocks for n tokens, or None if not all heads are computed by blocks."""
        form = self.parts(n)[0].form
        whole = len(self.parts(n)) == 1
        return form if whole and isinstance(form, mask_blocks.Plan) else None

    def parts(self, n: int | None, compiled: bool = True) -> list[Part]:
        """Returns how the heads are computed for n tokens; decided once.

        Args:
            n: the length; None if it is not known.
            compiled: whether the compiled loop of the form "rows" can be used.
        """
        compiled &= self.config.form == "rows"
        if n is None or self.config.form == "masked":
            return [Part(None, None)]
        return self._decided(n, compiled)

    def _decide(self, mask, compiled):
        """Chooses the forms of the heads of <bool>[1 or heads, n, n]."""
        whole = mask_blocks.plan(mask)
        if self.config.form == "blocks" or (whole.is_cheaper() and not compiled):
            return [Part(None, whole)]
        forms = [whole] if len(mask) == 1 else [mask_blocks.plan(head[None]) for head in mask]
        kinds = np.array([self._kind(*both, compiled) for both in zip(forms, mask, strict=True)])
        parts = []
        for kind in sorted(set(kinds)):
            heads = np.flatnonzero(kinds == kind)
            own, every = mask[heads], len(heads) == len(mask)
            if kind == "blocks":
                form = whole if every else mask_blocks.plan(own)
            else:
                form = mask_rows.rows(own) if kind == "rows" else None
                if form is None:
                    logging.info("static_mask %s: %s; computed by mask", self.config.mask, whole)
            parts.append(Part(None if every else heads, form))
        return parts

    def _kind(self, plan, mask, compiled):
        """Returns the cheapest form of one head with a Plan and a mask <bool>[n, n]."""
        cost = mask_rows.PAIR_COST * mask.mean() if compiled else np.inf
        if plan.is_cheaper() and plan.cost <= cost:
            return "blocks"
        return "rows" if cost < 1 else "masked"

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
    """Attention under a mask in the form that the pattern chose; all forms give the same."""

    has_pair_probabilities = True

    def attend(self, query, key, value, pattern: StaticMaskTensors, training=None):
        projections = query, key, value
        if pattern.parts:
            contexts = [
                self.attend(
                    *(tf.gather(x, part.heads, axis=2) for x in projections),
                    pattern=part._replace(heads=None),
                    training=training,
                )
                for part in pattern.parts
            ]
            return tf.gather(tf.concat(contexts, axis=2), pattern.restore, axis=2)
        if pattern.mask is not None:
            return self._masked(*projections, pattern, training)
        if pattern.order is not None:
            projections = (tf.gather(x, pattern.order, axis=1, batch_dims=1) for x in projections)
        if pattern.rows is not None:
            context = mask_rows.attend(self, *projections, pattern.rows)
        else:
            context = mask_blocks.attend(self, *projections, pattern.blocks, training)
        if pattern.order is None:
            return context
        return tf.gather(context, pattern.order, axis=1, batch_dims=1)  # exchanges them back

    def _masked(self, query, key, value, pattern, training):
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
