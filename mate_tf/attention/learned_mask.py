"""SparseBERT: which positions matter (section 3.1), and masks learned with the weights (DAM, 4.1).

One parameter alpha for each pair of positions and head, the same in all layers, belongs to the
pattern. The learned mask goes into a file, which `static_mask` takes.
"""

import dataclasses
import os

import numpy as np
import tensorflow as tf

from mate_tf.attention import mask_files, masks
from mate_tf.attention.base import shape_list
from mate_tf.attention.drawn_mask import DAM, DrawnMaskOptions, DrawnMaskPattern
from mate_tf.attention.static_masks import refuse_longer
from mate_tf.errors import InputError


@dataclasses.dataclass(frozen=True)
class LearnedMaskOptions(DrawnMaskOptions):
    """Options of `learned_mask`, beside those of DrawnMaskOptions.

    Attributes:
        length: n, the largest length; shorter inputs use the first rows and columns.
        structured: first and last row and column always on, one parameter for each distance of the
            other positions; otherwise one for each pair.
    """

    length: int = 128
    structured: bool = False


class LearnedMaskPattern(DrawnMaskPattern):
    """Owns alpha; what it makes of it is P or a drawn mask M, for scores minus c (1 - M).

    A drawn mask is of the batch: its noise is shared by the layers, the examples and, like alpha,
    by (i, j) and (j, i). Outside of training "dam" has the final mask, alpha > 0. Padding is not
    seen and sees nothing.

    Variables: alpha <float32>[heads, n (n + 1) / 2], pair i >= j at i (i + 1) / 2 + j; structured
    [heads, n - 2], by distance. With "dam", step, the batches of training so far, and the metrics
    `sparsity`, that of the final mask, and `temperature`.

    Raises:
        InputError: an option out of range; when called, an input longer than `length`.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        n, least = self.config.length, 3 if self.config.structured else 1
        if n < least:
            raise InputError(f"length must be {least} or more, not {n}")
        self.num_parameters = n - 2 if self.config.structured else n * (n + 1) // 2

    @classmethod
    def saves_mask(cls, config):
        return config.objective == DAM

    def mask(self, context):
        """Final mask of "dam", outside of training; all pairs that there are of "importance"."""
        mask = self._of_pairs(self.alpha) > 0 if self.learns_mask else True
        return self._cut((mask & self._allowed())[None], context) & _real_pairs(context)

    def call(self, context, training=None):
        if self.learns_mask and not training:
            return self.read_by_layers(self.mask(context))
        if self.learns_mask:
            soft = self._of_pairs(self.draw())
            allowed = tf.cast(self._allowed(), soft.dtype)
            self.add_loss(self.config.sparsity_weight * tf.reduce_sum(soft * allowed))
        else:
            soft = self._of_pairs(tf.sigmoid(self.alpha))
        mask = self._cut(self._allowed()[None], context) & _real_pairs(context)
        pattern = self.read_by_layers(mask)
        penalty = self.config.penalty * (1 - self._cut(soft[None], context))
        pattern["bias"] -= tf.cast(penalty, self.compute_dtype)
        return pattern

    def sparsity(self) -> tf.Tensor:
        """Share of the pairs of all heads that are not in the final mask, <float32>[]."""
        return 1 - tf.reduce_mean(tf.cast(self._final(), tf.float32))

    def importance(self) -> np.ndarray:
        """P = sigmoid(alpha) (equation 3), <float32>[heads, n, n]; 0 where pairs are not allowed.

        Section 3.4's pruning goes on from here (`mask_pruning`).
        """
        soft = self._of_pairs(tf.sigmoid(self.alpha))
        return (soft * tf.cast(self._allowed(), soft.dtype)).numpy()

    def final_mask(self) -> np.ndarray:
        """alpha > 0: <bool>[heads, n, n]."""
        return self._final().numpy()

    def save_mask(self, path: str | os.PathLike) -> None:
        """Writes the final mask to a file (`mask_files`), which `static_mask` takes.

        Raises:
            InputError: it cannot be written.
        """
        made_by = {"attention": self.config.as_dict(), "sparsity": float(self.sparsity())}
        if self.learns_mask:
            made_by["step"] = int(self.step)
        mask_files.save(path, self.final_mask(), made_by)

    def _final(self):
        return (self._of_pairs(self.alpha) > 0) & self._allowed()

    def _of_pairs(self, x):
        """From parameters to pairs: <float>[heads, count] -> [heads, n, n]; what is on gets 1."""
        i, j = _positions(self.config.length)
        if not self.config.structured:
            later = np.maximum(i, j)
            return tf.gather(x, later * (later + 1) // 2 + np.minimum(i, j), axis=1)
        n = self.config.length
        by_distance = tf.gather(x, np.minimum(abs(i - j), n - 3), axis=1)
        return tf.where((i % (n - 1) == 0) | (j % (n - 1) == 0), 1.0, by_distance)

    def _allowed(self):
        """<bool>[n, n]: all pairs, or all but the diagonal."""
        i, j = _positions(self.config.length)
        return tf.constant((i != j) | self.config.diagonal)

    def _cut(self, of_pairs, context):
        """The part of a [1, 1 or heads, n, n] for the length of the input."""
        if len(of_pairs.shape) == 3:
            of_pairs = of_pairs[None]
        _, seq = shape_list(context.input_mask)
        checked = refuse_longer(seq, self.config.length, "learned_mask: a mask")
        with tf.control_dependencies([] if checked is None else [checked]):
            return of_pairs[:, :, :seq, :seq]


def _real_pairs(context):
    real = masks.real_tokens(context)
    return real[:, None, :, None] & real[:, None, None, :]


def _positions(n):
    positions = np.arange(n)
    return positions[:, None], positions[None, :]
