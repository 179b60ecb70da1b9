"""SparseBERT: importance of positions (section 3.1), masks learned with the weights (DAM, 4.1).

The pattern has parameters alpha for the pairs of positions of each head; all layers share them.
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
        structured: whether the rows and columns of an example's first and last token are always in
            the mask, and the other pairs have one parameter for each distance; otherwise one for
            each pair.
        symmetric: whether the pairs (i, j) and (j, i) share a parameter. None: as in the paper,
            which enforces it for importance (section 3.1), has independent parameters in DAM_u, and
            n - 2 parameters, which are distances without a side, in DAM_s (section 4.1).
    """

    length: int = 128
    structured: bool = False
    symmetric: bool | None = None

    @classmethod
    def completed(cls, given: dict) -> dict:
        """Returns options from a file, with `symmetric` if the file is older than this option.

        A params.yaml lists all options. Before there was `symmetric`, masks of pairs were so.
        """
        others = {field.name for field in dataclasses.fields(cls)} - {"symmetric"}
        if "symmetric" in given or not others <= given.keys():
            return given
        learns_pairs = given["objective"] == DAM and not given["structured"]
        return given | {"symmetric": True if learns_pairs else None}


class LearnedMaskPattern(GumbelMaskPattern):
    """Pattern that subtracts c (1 - M) from the scores; M is the importance P or a Gumbel mask.

    A Gumbel mask is drawn once a batch: the layers and the examples share its noise, and so do the
    pairs that share a parameter. Outside of training, "dam" has the final mask, alpha > 0. No token
    attends to padding, and padding attends to nothing.

    The price of "dam" is that of the pairs among n tokens. Pairs of a token and itself have no
    price if `diagonal` is false, because they are not in the mask then.

    Variables: alpha <float32>[heads, n n], pair (i, j) at i n + j with i the query; symmetric
    [heads, n (n + 1) / 2], pair i >= j at i (i + 1) / 2 + j; structured [heads, n - 2], by
    distance. With "dam" also step, the number of batches of training so far. With "dam" it has the
    metrics `sparsity`, of the final mask for n tokens, and `temperature`.

    Raises:
        InputError: an option out of range, or a structured mask that is not symmetric; when called,
            an input longer than `length`.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        n, least = self.config.length, 3 if self.config.structured else 1
        if n < least:
            raise InputError(f"length must be {least} or more, not {n}")
        self.symmetric = _is_symmetric(self.config)
        of_all_pairs = n * (n + 1) // 2 if self.symmetric else n * n
        self.num_parameters = n - 2 if self.config.structured else of_all_pairs

    @classmethod
    def saves_mask(cls, config):
        return config.objective == DAM

    @classmethod
    def restored(cls, config, variables):
        alpha = np.asarray(variables.get("alpha", ()))
        if alpha.ndim == 2 and not _is_symmetric(config):
            variables = variables | {"alpha": _of_both_sides(alpha, config.length)}
        return super().restored(config, variables)

    def older_variables(self):
        if self.symmetric:
            return {}
        n = self.config.length
        symmetric = (self.num_heads, n * (n + 1) // 2)
        return {"alpha": {symmetric: lambda alpha: _of_both_sides(alpha, n)}}

    def mask(self, context):
        """Returns the final mask for "dam", outside of training; all pairs for "importance"."""
        final = self._of_pairs(self.alpha) > 0 if self.learns_mask else tf.constant([[[True]]])
        return self._in_batch(final, context) & self._seen(context)

    def call(self, context, training=None):
        if self.learns_mask and not training:
            return MaskTensors.from_mask(self.mask(context), self.compute_dtype)
        if self.learns_mask:
            soft = self._of_pairs(self.draw())
            self.add_loss(self.config.sparsity_weight * tf.reduce_sum(self._of_n_tokens(soft)))
        else:
            soft = self._of_pairs(tf.sigmoid(self.alpha))
        pattern = MaskTensors.from_mask(self._seen(context), self.compute_dtype)
        penalty = self.config.penalty * (1 - self._in_batch(soft, context))
        return pattern._replace(bias=pattern.bias - tf.cast(penalty, self.compute_dtype))

    def sparsity(self) -> tf.Tensor:
        """Computes the share of all heads' pairs that the final mask leaves out, <float32>[]."""
        return 1 - tf.reduce_mean(tf.cast(self._final(), tf.float32))

    def importance(self) -> np.ndarray:
        """Computes P = sigmoid(alpha) (equation 3), the input of `masks.learned.prune`.

        Returns:
            <float32>[heads, n, n]; 0 for pairs that are not allowed.
        """
        return self._of_n_tokens(self._of_pairs(tf.sigmoid(self.alpha))).numpy()

    def final_mask(self) -> np.ndarray:
        """Returns alpha > 0 for an example of n tokens, <bool>[heads, n, n]."""
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
        files.save(path, self.final_mask(), made_by, of_last_token=self.config.structured)

    def _final(self):
        return self._of_n_tokens(tf.cast(self._of_pairs(self.alpha) > 0, tf.float32)) > 0

    def _of_pairs(self, x):
        """Spreads parameters over pairs: <float>[heads, count] -> [heads, n, n]."""
        n = self.config.length
        i, j = _positions(n)
        if self.config.structured:
            return tf.gather(x, np.minimum(abs(i - j), n - 3), axis=1)
        return tf.gather(x, _lower(i, j), axis=1) if self.symmetric else tf.reshape(x, [-1, n, n])

    def _of_n_tokens(self, of_pairs):
        """Completes <float>[heads, n, n] to the mask of an example of n tokens."""
        n = self.config.length
        if self.config.structured:
            i, j = _positions(n)
            of_pairs = tf.where((i % (n - 1) == 0) | (j % (n - 1) == 0), 1.0, of_pairs)
        return of_pairs * tf.cast(self._allowed(), of_pairs.dtype)

    def _in_batch(self, of_pairs, context):
        """Cuts <float or bool>[1 or heads, n, n] to the input's length; adds what is always on.

        Returns:
            [1 or batch, 1 or heads, seq, seq]
        """
        of_pairs = self._cut(of_pairs[None], context)
        if not self.config.structured:
            return of_pairs
        seq = shape_list(context.input_mask)[1]
        last = masks.last_token(context)[:, None]
        position = tf.range(seq)[None]
        # [batch, seq]
        at_end = (position == 0) | (position == last)
        always = at_end[:, None, :, None] | at_end[:, None, None, :]
        return tf.where(always, tf.ones([], of_pairs.dtype), of_pairs)

    def _seen(self, context):
        """Returns the allowed pairs of real tokens, <bool>[batch, 1, seq, seq]."""
        return self._cut(self._allowed()[None, None], context) & masks.real_pairs(context)

    def _allowed(self):
        """Returns all pairs, or all but the diagonal: <bool>[n, n]."""
        i, j = _positions(self.config.length)
        return tf.constant((i != j) | self.config.diagonal)

    def _cut(self, of_pairs, context):
        """Cuts [1, 1 or heads, n, n] to the length of the input: [1, 1 or heads, seq, seq]."""
        _, seq = shape_list(context.input_mask)
        checked = check_length(seq, self.config.length, "learned_mask: a mask")
        with tf.control_dependencies([] if checked is None else [checked]):
            return of_pairs[:, :, :seq, :seq]


def _is_symmetric(config) -> bool:
    by_paper = config.structured or config.objective != DAM
    if config.structured and config.symmetric is False:
        raise InputError("symmetric must not be false with structured: it has one alpha a distance")
    return by_paper if config.symmetric is None else config.symmetric


def _of_both_sides(alpha, n: int):
    """Returns symmetric alpha for each pair: [heads, n (n + 1) / 2] -> [heads, n n]; else alpha."""
    if alpha.shape[1] != n * (n + 1) // 2:
        return alpha
    return alpha[:, _lower(*_positions(n)).ravel()]


def _lower(i, j):
    """Returns the number of the pair (i, j) or (j, i) in the lower triangle, row by row."""
    later = np.maximum(i, j)
    return later * (later + 1) // 2 + np.minimum(i, j)


def _positions(n):
    positions = np.arange(n)
    return positions[:, None], positions[None, :]
