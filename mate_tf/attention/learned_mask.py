"""SparseBERT: which positions matter (section 3.1), and masks learned with the weights (DAM, 4.1).

One parameter alpha for each pair of positions and head, the same in all layers, belongs to the
pattern. The learned mask goes into a file, which `static_mask` takes.
"""

import dataclasses
import math
import os

import numpy as np
import tensorflow as tf

from mate_tf.attention import mask_files, masks
from mate_tf.attention.base import AttentionPattern, mask_bias, shape_list
from mate_tf.attention.static_masks import any_key, refuse_longer
from mate_tf.errors import InputError
from mate_tf.layers.keras_namespace import keras

IMPORTANCE, DAM = "importance", "dam"
OBJECTIVES = (IMPORTANCE, DAM)


@dataclasses.dataclass(frozen=True)
class LearnedMaskOptions:
    """Options of `learned_mask`.

    Attributes:
        objective: "importance", how much each pair matters, which leaves all pairs in; or "dam", a
            mask by Gumbel-sigmoid, with a price for each pair that is in it.
        length: n, the largest length; shorter inputs use the first rows and columns.
        structured: first and last row and column always on, one parameter for each distance of the
            other positions; otherwise one for each pair.
        diagonal: whether tokens may see themselves.
        penalty: c, what is taken off the score of a pair that is wholly out.
        initial_alpha: of all pairs.
        sparsity_weight: lambda, the price of each pair in the mask of each head; of "dam".
        temperature: of the Gumbel-sigmoid at first; of "dam", as all that follows.
        final_temperature: that of the end.
        temperature_steps: batches over which it falls, each by the same factor.
        straight_through: from then on, each drawn mask is all zeros and ones, with the gradients of
            the soft one.
    """

    objective: str = IMPORTANCE
    length: int = 128
    structured: bool = False
    diagonal: bool = True
    penalty: float = 100.0
    initial_alpha: float = 1.0
    sparsity_weight: float = 1e-4
    temperature: float = 1.0
    final_temperature: float = 0.1
    temperature_steps: int = 10_000
    straight_through: bool = True


class LearnedMaskPattern(AttentionPattern):
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
        _check(self.config)
        self.learns_mask = self.config.objective == DAM
        if self.learns_mask:
            self.readings = [
                _Reading("sparsity", self.sparsity),
                _Reading("temperature", self.temperature),
            ]

    def build(self, input_shape=None):
        n = self.config.length
        count = n - 2 if self.config.structured else n * (n + 1) // 2
        self.alpha = self.add_weight(
            name="alpha",
            shape=[self.num_heads, count],
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
    def restored(cls, config, variables) -> "LearnedMaskPattern":
        """The pattern that a training ended with.

        Args:
            config: its AttentionConfig.
            variables: name -> values, as `checkpoints.pattern_variables` gives them.

        Raises:
            InputError: alpha is not there, or of another shape than the config says.
        """
        alpha = np.asarray(variables.get("alpha", ()))
        pattern = cls(config, len(alpha))
        pattern.build()
        if alpha.shape != pattern.alpha.shape:
            raise InputError(
                f"alpha of learned_mask has the shape {list(pattern.alpha.shape)} for "
                f"length={config.length}, not {list(alpha.shape)}"
            )
        for name, variable in pattern.variant_variables().items():
            if name in variables:
                variable.assign(variables[name])
        return pattern

    def variant_variables(self):
        step = {"step": self.step} if self.learns_mask else {}
        return {"alpha": self.alpha} | step

    def mask(self, context):
        """Final mask of "dam", outside of training; all pairs that there are of "importance"."""
        mask = self._of_pairs(self.alpha) > 0 if self.learns_mask else True
        return self._cut((mask & self._allowed())[None], context) & _real_pairs(context)

    def call(self, context, training=None):
        if self.learns_mask and not training:
            return self._pattern(self.mask(context))
        if self.learns_mask:
            soft = self._of_pairs(self._draw())
            allowed = tf.cast(self._allowed(), soft.dtype)
            self.add_loss(self.config.sparsity_weight * tf.reduce_sum(soft * allowed))
        else:
            soft = self._of_pairs(tf.sigmoid(self.alpha))
        mask = self._cut(self._allowed()[None], context) & _real_pairs(context)
        pattern = self._pattern(mask)
        penalty = self.config.penalty * (1 - self._cut(soft[None], context))
        pattern["bias"] -= tf.cast(penalty, self.compute_dtype)
        return pattern

    def _pattern(self, mask):
        """What MaskedAttention reads."""
        dtype = self.compute_dtype
        return {"bias": mask_bias(mask, dtype), "any_key": any_key(mask, dtype)}

    def temperature(self) -> tf.Tensor:
        """tau of the next batch of training, <float32>[]."""
        config = self.config
        passed = tf.minimum(self._share_of_steps(), 1.0)
        fall = math.log(config.final_temperature / config.temperature)
        return config.temperature * tf.exp(passed * fall)

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

    def _draw(self):
        """M of each parameter; <float32>[heads, count]."""
        uniform = tf.random.uniform(tf.shape(self.alpha))
        temperature = self.temperature()
        at_end = self._share_of_steps() >= 1
        self.step.assign_add(1)
        soft = gumbel_sigmoid(self.alpha, uniform, temperature)
        if not self.config.straight_through:
            return soft
        return tf.where(at_end, straight_through(soft), soft)

    def _share_of_steps(self):
        steps = self.config.temperature_steps
        return tf.cast(self.step, tf.float32) / steps if steps else tf.constant(1.0)

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
        checked = refuse_longer(seq, self.config.length, "learned_mask")
        with tf.control_dependencies([] if checked is None else [checked]):
            return of_pairs[:, :, :seq, :seq]


class _Reading(keras.metrics.Metric):
    """A metric that is what a function without arguments gives, in training and evaluation alike.

    Nothing is collected: calls to `update_state` change nothing.
    """

    def __init__(self, name, read):
        super().__init__(name, dtype=tf.float32)
        self._read = read

    def update_state(self, *args, **kwargs):
        del args, kwargs

    def result(self):
        return self._read()

    def reset_state(self):
        pass


def gumbel_sigmoid(alpha, uniform, temperature):
    """sigmoid((alpha + G1 - G2) / temperature), section 4.1.

    The difference of two Gumbel variables has the logistic distribution, for which one uniform
    number is enough: log(u) - log(1 - u).

    Args:
        alpha: <float>[...].
        uniform: <float>[...], numbers drawn from [0, 1).
        temperature: above 0; the result tends to 1 or 0, with probabilities sigmoid(alpha) and the
            rest, as it tends to 0.
    """
    tiny = 1e-6  # both logarithms finite, in float32 too
    alpha = tf.convert_to_tensor(alpha)
    uniform = tf.clip_by_value(tf.cast(uniform, alpha.dtype), tiny, 1 - tiny)
    noise = tf.math.log(uniform) - tf.math.log1p(-uniform)
    return tf.sigmoid((alpha + noise) / temperature)


def straight_through(soft):
    """1 where `soft` is above a half, else 0, with the gradient of `soft`."""
    hard = tf.cast(soft > 0.5, soft.dtype)
    return hard + (soft - tf.stop_gradient(soft))


def _real_pairs(context):
    real = masks.real_tokens(context)
    return real[:, None, :, None] & real[:, None, None, :]


def _positions(n):
    positions = np.arange(n)
    return positions[:, None], positions[None, :]


def _check(config) -> None:
    if config.objective not in OBJECTIVES:
        raise InputError(
            f"objective must be one of {', '.join(OBJECTIVES)}, not {config.objective!r}"
        )
    least = 3 if config.structured else 1
    if config.length < least:
        raise InputError(f"length must be {least} or more, not {config.length}")
    for name in ("temperature", "final_temperature", "penalty"):
        if getattr(config, name) <= 0:
            raise InputError(f"{name} must be positive, not {getattr(config, name)}")
    for name in ("sparsity_weight", "temperature_steps"):
        if getattr(config, name) < 0:
            raise InputError(f"{name} must not be negative, but is {getattr(config, name)}")
