"""SparseBERT: importance of positions (section 3.1), masks learned with the weights (DAM, 4.1).

The pattern has parameters alpha for the pairs of positions of each head; all layers share them.
Masks are drawn from alpha by Gumbel-sigmoid. The learned mask can be saved to a file, for
`static_mask`.
"""

import dataclasses
import math
import os

import numpy as np
import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.abilities import LearnsMask
from mate_tf.attention.base import AttentionPattern
from mate_tf.attention.full import MaskTensors
from mate_tf.attention.masks import files
from mate_tf.errors import InputError
from mate_tf.field_types import CountOrZero, NotNegative, Number, Positive, Tokens
from mate_tf.layers import step_seeds
from mate_tf.layers.framework import keras
from mate_tf.layers.shapes import check_length, shape_list

IMPORTANCE, DAM = "importance", "dam"
OBJECTIVES = (IMPORTANCE, DAM)
"""Values of the option `objective`."""


@dataclasses.dataclass(frozen=True)
class LearnedMaskOptions:
    """Options of `learned_mask`.

    Attributes:
        objective: "importance" learns how much the pairs of each parameter matter, without a mask;
            "dam" learns a mask by Gumbel-sigmoid, with a price for each pair in it.
        diagonal: whether tokens may attend to themselves.
        penalty: c, subtracted from the score of a pair that is not in the mask.
        initial_alpha: initial value of all parameters.
        sparsity_weight: lambda, the price of each pair in the mask of each head; for "dam".
        temperature: temperature of the Gumbel-sigmoid at first; for "dam", like all that follow.
        final_temperature: temperature at the end.
        temperature_steps: batches over which it falls, each by the same factor.
        straight_through: whether masks are rounded to 0 and 1 after these batches, with the
            gradients of the soft mask.
        length: n, the largest length; shorter inputs use the first rows and columns.
        structured: whether the rows and columns of an example's first and last token are always in
            the mask, and the other pairs have one parameter for each distance; otherwise one for
            each pair.
        symmetric: whether the pairs (i, j) and (j, i) share a parameter. None: as in the paper,
            which enforces it for importance (section 3.1), has independent parameters in DAM_u, and
            n - 2 parameters, which are distances without a side, in DAM_s (section 4.1).
    """

    objective: str = IMPORTANCE
    diagonal: bool = True
    penalty: Positive = 100.0
    initial_alpha: Number = 1.0
    sparsity_weight: NotNegative = 1e-4
    temperature: Positive = 1.0
    final_temperature: Positive = 0.1
    temperature_steps: CountOrZero = 10_000
    straight_through: bool = True
    length: Tokens = 128
    structured: bool = False
    symmetric: bool | None = None


class LearnedMaskPattern(LearnsMask, AttentionPattern):
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
        InputError: an unknown objective, an option out of range, or a structured mask that is not
            symmetric; when called, an input longer than `length`.
    """

    learns_importance = True

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        if self.config.objective not in OBJECTIVES:
            raise InputError(
                f"objective must be one of {', '.join(OBJECTIVES)}, not {self.config.objective!r}"
            )
        n, least = self.config.length, 3 if self.config.structured else 1
        if n < least:
            raise InputError(f"length must be {least} or more, not {n}")
        self.symmetric = _is_symmetric(self.config)
        of_all_pairs = n * (n + 1) // 2 if self.symmetric else n * n
        self.num_parameters = n - 2 if self.config.structured else of_all_pairs
        self.learns_mask = self.config.objective == DAM
        if self.learns_mask:
            self.readings = [
                Reading("sparsity", self.sparsity),
                Reading("temperature", self.temperature),
            ]

    def build(self, input_shape=None):
        """Creates the variables of the mask."""
        self.alpha = self.add_weight(
            name="alpha",
            shape=[self.num_heads, self.num_parameters],
            dtype=tf.float32,
            initializer=keras.initializers.Constant(self.config.initial_alpha),
            experimental_autocast=False,
        )
        if self.learns_mask:
            self.step = self.add_weight(
                name="step",
                shape=[],
                dtype=tf.int64,
                initializer="zeros",
                trainable=False,
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            )
        super().build(input_shape)

    @classmethod
    def restored(cls, config, variables):
        """Makes the pattern that a training ended with.

        Args:
            variables: name -> values, as `checkpoints.pattern_variables` gives them.

        Raises:
            InputError: alpha is missing, or does not have the shape of the config.
        """
        alpha = np.asarray(variables.get("alpha", ()))
        pattern = cls(config, len(alpha))
        pattern.build()
        if alpha.shape != pattern.alpha.shape:
            raise InputError(
                f"alpha of {config} has the shape {list(pattern.alpha.shape)}, "
                f"not {list(alpha.shape)}"
            )
        for name, variable in pattern.checkpoint_variables().items():
            if name in variables:
                variable.assign(variables[name])
        return pattern

    def checkpoint_variables(self):
        step = {"step": self.step} if self.learns_mask else {}
        return {"alpha": self.alpha} | step

    @classmethod
    def saves_mask(cls, config):
        return config.objective == DAM

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
        """Cuts [1 or heads, n, n] to [batch, heads, seq, seq], and adds what is always on."""
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

    def draw(self) -> tf.Tensor:
        """Draws M for the next batch of training (section 4.1), <float32>[heads, parameters]."""
        uniform = tf.random.stateless_uniform(tf.shape(self.alpha), step_seeds.draw())
        temperature = self.temperature()
        at_end = self._share_of_steps() >= 1
        self.step.assign_add(1)
        soft = gumbel_sigmoid(self.alpha, uniform, temperature)
        if not self.config.straight_through:
            return soft
        return tf.where(at_end, straight_through(soft), soft)

    def temperature(self) -> tf.Tensor:
        """Computes tau for the next batch of training, <float32>[]."""
        config = self.config
        passed = tf.minimum(self._share_of_steps(), 1.0)
        fall = math.log(config.final_temperature / config.temperature)
        return config.temperature * tf.exp(passed * fall)

    def _share_of_steps(self):
        steps = self.config.temperature_steps
        return tf.cast(self.step, tf.float32) / steps if steps else tf.constant(1.0)


def gumbel_sigmoid(alpha, uniform, temperature):
    """Computes sigmoid((alpha + G1 - G2) / temperature), section 4.1.

    The difference of two Gumbel variables has the logistic distribution, which needs one uniform
    number: log(u) - log(1 - u).

    Args:
        alpha: <float>[...].
        uniform: <float>[...], numbers drawn from [0, 1).
        temperature: above 0. As it tends to 0, the result tends to 1 with probability
            sigmoid(alpha), else to 0.

    Returns:
        <float>[...], the shape of alpha.
    """
    tiny = 1e-6  # keeps both logarithms finite in float32
    alpha = tf.convert_to_tensor(alpha)
    uniform = tf.clip_by_value(tf.cast(uniform, alpha.dtype), tiny, 1 - tiny)
    noise = tf.math.log(uniform) - tf.math.log1p(-uniform)
    return tf.sigmoid((alpha + noise) / temperature)


def straight_through(soft):
    """Rounds <float>[...] to 1 above a half and to 0 elsewhere, with the gradient of `soft`."""
    hard = tf.cast(soft > 0.5, soft.dtype)
    return hard + (soft - tf.stop_gradient(soft))


class Reading(keras.metrics.Metric):
    """Metric with the value of a function without arguments, in training and evaluation.

    It collects nothing: `update_state` has no effect.

    Args:
        read: function that returns the value, <float32>[].
    """

    def __init__(self, name, read):
        super().__init__(name, dtype=tf.float32)
        self._read = read

    def update_state(self, *args, **kwargs):
        """Does nothing: `result` reads the current value."""
        del args, kwargs

    def result(self):
        """Returns the current value, <float32>[]."""
        return self._read()

    def reset_state(self):
        """Does nothing: the metric has no state."""


def _is_symmetric(config) -> bool:
    by_paper = config.structured or config.objective != DAM
    if config.structured and config.symmetric is False:
        raise InputError("symmetric must not be false with structured: it has one alpha a distance")
    return by_paper if config.symmetric is None else config.symmetric


def _lower(i, j):
    """Returns the number of the pair (i, j) or (j, i) in the lower triangle, row by row."""
    later = np.maximum(i, j)
    return later * (later + 1) // 2 + np.minimum(i, j)


def _positions(n):
    positions = np.arange(n)
    return positions[:, None], positions[None, :]
