"""Masks made by hand (SparseBERT paper, figure 1), and attention under a mask known beforehand.

Each mask is a function of the length n: <bool>[n, n], query before key, an array if n is an int
and a tensor if it is one. The sparsities below are those at n = 128, with and without diagonal;
they are the paper's (tables 3 and 4), but not always by the paper's own words: where the two
differ, the mask has the sparsity and its docstring says so.
"""

import dataclasses
import inspect

import numpy as np
import tensorflow as tf
from absl import logging

from mate_tf.attention import mask_blocks, mask_files, masks
from mate_tf.attention.base import MASKED_SCORE, AttentionPattern, TableAttention
from mate_tf.errors import InputError
from mate_tf.layers.shapes import shape_list

_PRIME = 2**31 - 1


def star(n, diagonal: bool = True):
    """Star-Transformer: neighbours, and the first token as the relay; 96.1 and 96.9 %.

    The ring is not closed between the last token and the second one: it would join tokens that
    have nothing to do with each other, or padding.
    """
    i, j = _positions(n)
    return _masked((abs(i - j) <= 1) | (i == 0) | (j == 0), i, j, diagonal)


def logsparse(n, diagonal: bool = True):
    """LogSparse: tokens at distances 1, 2, 4, 8, … on both sides; 89.8 and 90.6 %.

    The text has each token attend to earlier ones only, which would be 94.5 %.
    """
    i, j = _positions(n)
    distance = abs(i - j)
    return _masked((distance & (distance - 1)) == 0, i, j, diagonal)


def strided(n, stride: int = 4, diagonal: bool = True):
    """Sparse Transformer, strided: distances below `stride` and its multiples; 70.4 and 71.2 %."""
    _check(stride=stride, least=1)
    i, j = _positions(n)
    distance = abs(i - j)
    return _masked((distance < stride) | (distance % stride == 0), i, j, diagonal)


def fixed(n, stride: int = 4, diagonal: bool = True):
    """Sparse Transformer, fixed: blocks of `stride`, of which all see the last; 72.7 and 73.4 %."""
    _check(stride=stride, least=1)
    i, j = _positions(n)
    return _masked((i // stride == j // stride) | (j % stride == stride - 1), i, j, diagonal)


def longformer(n, window: int = 5, num_global: int = 2, seed: int = 0, diagonal: bool = True):
    """Longformer: distances up to `window`, and random tokens that see all; 88.7 and 89.5 %.

    The text says window 2, which would be 93.1 %. Global tokens are drawn one from each of
    `num_global` equal stretches of the sequence.
    """
    _check(window=window, num_global=num_global)
    i, j = _positions(n)
    mask = abs(i - j) <= window
    for place in _places(_draws(seed, num_global), n):
        mask |= (i == place) | (j == place)
    return _masked(mask, i, j, diagonal)


def bigbird(n, window: int = 1, num_random: int = 2, seed: int = 0, diagonal: bool = True):
    """BigBird by tokens: neighbours, random tokens, first and last for all; 93.2 and 93.9 %.

    Each token draws `num_random` others, one from each of as many equal stretches.
    """
    _check(window=window, num_random=num_random)
    i, j = _positions(n)
    last = _length(n) - 1
    mask = (abs(i - j) <= window) | (i == 0) | (j == 0) | (i == last) | (j == last)
    for place in _places([_hash(i, draw) for draw in _draws(seed, num_random)], n):
        mask |= j == place
    return _masked(mask, i, j, diagonal)


MASKS = {mask.__name__: mask for mask in (star, logsparse, strided, fixed, longformer, bigbird)}
"""The functions of this module by name."""

FORMS = ("auto", "masked", "blocks")


@dataclasses.dataclass(frozen=True)
class StaticMaskOptions:
    """Options of `static_mask`.

    Attributes:
        mask: one of MASKS, or the path of a saved mask (`mask_files`).
        length: n, the largest length, of which shorter inputs take a part; None: a mask of MASKS is
            made for each length anew, and a saved one says it. It matters where a mask depends on n
            (longformer, bigbird) and where lengths are not known when the graph is made: blocks
            need an n.
        stride: of strided and fixed.
        window: half-width of longformer and bigbird; None: their own.
        num_global: of longformer.
        num_random: of bigbird.
        seed: of longformer and bigbird.
        diagonal: whether tokens see themselves.
        form: "masked", quadratic in the length; "blocks", which computes blocks of queries with the
            keys that one of them sees; "auto": blocks if they are clearly cheaper.
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


class StaticMaskPattern(AttentionPattern):
    """The mask, made or read once, and its blocks if it is computed by blocks.

    Padding is not seen and sees nothing.

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
        else:
            saved = mask_files.load(self.config.mask, num_heads)
            own = saved.shape[-1]
            self.length = own if self.config.length is None else self.config.length
            if self.length > own:
                raise InputError(f"{self.config.mask}: a mask for {own} tokens, not {self.length}")
            if not self.config.diagonal:
                saved = saved & ~np.eye(own, dtype=bool)
            self._made = lambda n: saved[:, :n, :n]
        self._what = f"{self.config.mask}: a mask"
        self._plans = {}

    def static_mask(self, n: int) -> np.ndarray:
        """The mask for n tokens, <bool>[1 or heads, n, n].

        Raises:
            InputError: it has a fixed length below n.
        """
        if self.length is None:
            return self._made(n)
        refuse_longer(n, self.length, self._what)
        return self._made(self.length)[:, :n, :n]

    def mask(self, context):
        real = masks.real_tokens(context)
        return self._mask(real) & real[:, None, :, None] & real[:, None, None, :]

    def _mask(self, real):
        """<bool>[1, 1 or heads, seq, seq], of any length."""
        _, seq = shape_list(real)
        if isinstance(seq, int):
            return tf.constant(self.static_mask(seq))[None]
        if self.length is None:
            return self._made(seq)[None]
        with tf.control_dependencies([refuse_longer(seq, self.length, self._what)]):
            return tf.constant(self.static_mask(self.length))[None, :, :seq, :seq]

    def call(self, context, training=None):
        real = masks.real_tokens(context)
        seq = real.shape[1]
        plan = self.plan(self.length if seq is None else seq)
        if plan is None:
            mask = self.mask(context)
            return {"mask": mask, "any_key": any_key(mask, self.compute_dtype)}
        if seq is None:
            with tf.control_dependencies(
                [refuse_longer(tf.shape(real)[1], self.length, self._what)]
            ):
                real = tf.identity(real)
        return mask_blocks.pattern(plan, real, self.num_heads, self.compute_dtype)

    def plan(self, n: int | None) -> mask_blocks.Plan | None:
        """Blocks for a length of n, None where the mask is applied as it is; decided once."""
        if n is None or self.config.form == "masked":
            return None
        if n not in self._plans:
            plan = mask_blocks.plan(self.static_mask(n))
            if self.config.form == "auto" and not plan.is_cheaper():
                logging.info("static_mask %s: %s; computed by mask", self.config.mask, plan)
                plan = None
            self._plans[n] = plan
        return self._plans[n]


class StaticMaskAttention(TableAttention):
    """Attention by mask or, if the pattern has blocks, by these; both give the same."""

    def attend(self, query, key, value, pattern, training=None):
        if "mask" not in pattern:
            return mask_blocks.attend(self, query, key, value, pattern, training)
        query, key, value = (tf.transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
        scores = tf.matmul(query, key, transpose_b=True) * self.scale(query.dtype)
        # Selecting takes half the time of adding such a bias, and a boolean a quarter of the room.
        scores = tf.where(pattern["mask"], scores, tf.cast(MASKED_SCORE, scores.dtype))
        probabilities = self.dropout(tf.nn.softmax(scores), training=training)
        context = tf.matmul(probabilities, value)
        return tf.transpose(context, [0, 2, 1, 3]) * pattern["any_key"]


def any_key(mask, dtype) -> tf.Tensor:
    """1 for queries that see some key, else 0; <float>[batch, seq, 1 or heads, 1].

    Args:
        mask: <bool>[batch, 1 or heads, seq, seq].
        dtype: of the result.
    """
    return tf.cast(tf.transpose(tf.reduce_any(mask, -1), [0, 2, 1])[..., None], dtype)


def refuse_longer(n, length: int, what: str):
    """Raises InputError if n > length; the operation that does when it runs if n is a tensor."""
    message = f"{what} for {length} tokens, but the input is longer"
    if not isinstance(n, int):
        return tf.debugging.assert_less_equal(n, length, message)
    if n > length:
        raise InputError(f"{message}: {n}")
    return None


def _positions(n):
    """Positions of queries and of keys, <int64>[n, 1] and [1, n]."""
    positions = np.arange(n, dtype=np.int64) if isinstance(n, int) else tf.range(_length(n))
    return positions[:, None], positions[None, :]


def _length(n):
    return n if isinstance(n, int) else tf.cast(n, tf.int64)


def _masked(mask, i, j, diagonal):
    return mask if diagonal else mask & (i != j)


def _draws(seed: int, count: int) -> list[int]:
    """`count` random numbers below _PRIME."""
    return np.random.default_rng(seed).integers(_PRIME, size=count).tolist()


def _hash(i, draw: int):
    """A number below _PRIME for each i, as good as random: NumPy and TensorFlow must agree."""
    for factor in (48271, 69621, 16807):
        i = (i * i + i * factor + draw) % _PRIME
    return i


def _places(draws: list, n) -> list:
    """Positions: the k-th draw, a number below _PRIME, from the k-th equal stretch of n."""
    count = len(draws)
    return [(k * _PRIME + draw) * _length(n) // (count * _PRIME) for k, draw in enumerate(draws)]


def _check(least: int = 0, **options) -> None:
    for name, value in options.items():
        if value < least:
            raise InputError(f"{name} must be {least} or more, not {value}")
