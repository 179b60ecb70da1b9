"""SparseBERT: importance of positions (section 3.1), masks learned with the weights (DAM, 4.1).

The pattern has a parameter alpha for each pair of positions and each head; all layers share it.
The learned mask can be saved to a file, for `static_mask`.
"""

import dataclasses
import os

import numpy as np
import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.full import MaskTensors
from mate_tf.attention.gumbel_mask import DAM, GumbelMaskOptions, GumbelMaskPattern
from mate_tf.attention.masks import files
from mate_tf.errors import InputError
from mate_tf.layers.shapes import check_length, shape_list


@dataclasses.dataclass(frozen=True)
class LearnedMaskOptions(GumbelMaskOptions):
    """Options of `learned_mask`, beside those of GumbelMaskOptions.

    Attributes:
        length: n, the largest length; shorter inputs use the first rows and columns.
        structured: whether the first and the last row and column are always in the mask, and the
            other pairs have one parameter for each distance; otherwise one for each pair.
    """

    length: int = 128
    structured: bool = False


class LearnedMaskPattern(GumbelMaskPattern):
    """Pattern that subtracts c (1 - M) from the scores; M is the importance P or a Gumbel mask.

    A Gumbel mask is drawn once a batch: the layers and the examples share its noise and, as with
    alpha, so do the pairs (i, j) and (j, i). Outside of training, "dam" has the final mask,
    alpha > 0. No token attends to padding, and padding attends to nothing.

    Variables: alpha <float32>[heads, n (n + 1) / 2], pair i >= j at i (i + 1) / 2 + j; structured
    [heads, n - 2], by distance. With "dam" also step, the number of batches of training so far.
    With "dam" it has the metrics `sparsity`, of the final mask, and `temperature`.

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
        """Returns the final mask for "dam", outside of training; all pairs for "importance"."""
        mask = self._of_pairs(self.alpha) > 0 if self.learns_mask else True
        return self._cut((mask & self._allowed())[None], context) & masks.real_pairs(context)

    def call(self, context, training=None):
        if self.learns_mask and not training:
            return MaskTensors.from_mask(self.mask(context), self.compute_dtype)
        if self.learns_mask:
            soft = self._of_pairs(self.draw())
            allowed = tf.cast(self._allowed(), soft.dtype)
            self.add_loss(self.config.sparsity_weight * tf.reduce_sum(soft * allowed))
        else:
            soft = self._of_pairs(tf.sigmoid(self.alpha))
        mask = self._cut(self._allowed()[None], context) & masks.real_pairs(context)
        pattern = MaskTensors.from_mask(mask, self.compute_dtype)
        penalty = self.config.penalty * (1 - self._cut(soft[None], context))
        return pattern._replace(bias=pattern.bias - tf.cast(penalty, self.compute_dtype))

    def sparsity(self) -> tf.Tensor:
        """Computes the share of all heads' pairs that the final mask leaves out, <float32>[]."""
        return 1 - tf.reduce_mean(tf.cast(self._final(), tf.float32))

    def importance(self) -> np.ndarray:
        """Computes P = sigmoid(alpha) (equation 3), the input of `masks.learned.prune`.

        Returns:
            <float32>[heads, n, n]; 0 for pairs that are not allowed.
        """
        soft = self._of_pairs(tf.sigmoid(self.alpha))
        return (soft * tf.cast(self._allowed(), soft.dtype)).numpy()

    def final_mask(self) -> np.ndarray:
        """Returns alpha > 0, <bool>[heads, n, n]."""
        return self._final().numpy()

    def save_mask(self, path: str | os.PathLike) -> None:
        """Writes the final mask to a file (`masks.files`), for `static_mask`.

        Args:
            path: the file.

        Raises:
            InputError: the file cannot be written.
        """
        made_by = {"attention": self.config.as_dict(), "sparsity": float(self.sparsity())}
        if self.learns_mask:
            made_by["step"] = int(self.step)
        files.save(path, self.final_mask(), made_by)

    def _final(self):
        return (self._of_pairs(self.alpha) > 0) & self._allowed()

    def _of_pairs(self, x):
        """Spreads parameters over pairs: <float>[heads, count] -> [heads, n, n]; 1 if always on."""
        i, j = _positions(self.config.length)
        if not self.config.structured:
            later = np.maximum(i, j)
            return tf.gather(x, later * (later + 1) // 2 + np.minimum(i, j), axis=1)
        n = self.config.length
        # [heads, n, n]
        by_distance = tf.gather(x, np.minimum(abs(i - j), n - 3), axis=1)
        return tf.where((i % (n - 1) == 0) | (j % (n - 1) == 0), 1.0, by_distance)

    def _allowed(self):
        """Returns all pairs, or all but the diagonal: <bool>[n, n]."""
        i, j = _positions(self.config.length)
        return tf.constant((i != j) | self.config.diagonal)

    def _cut(self, of_pairs, context):
        """Cuts [1, 1 or heads, n, n] to the length of the input: [1, 1 or heads, seq, seq]."""
        if len(of_pairs.shape) == 3:
            of_pairs = of_pairs[None]
        _, seq = shape_list(context.input_mask)
        checked = check_length(seq, self.config.length, "learned_mask: a mask")
        with tf.control_dependencies([] if checked is None else [checked]):
            return of_pairs[:, :, :seq, :seq]


def _positions(n):
    positions = np.arange(n)
    return positions[:, None], positions[None, :]
