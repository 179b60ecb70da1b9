"""Masks learned by Gumbel-sigmoid (SparseBERT, sections 3.1 and 4.1): alpha and Gumbel masks.

Subclasses define the pairs of tokens that each parameter is for: pairs of positions, or relations
in a table.
"""

import dataclasses
import math

import numpy as np
import tensorflow as tf

from mate_tf.attention.base import AttentionPattern
from mate_tf.errors import InputError
from mate_tf.layers import step_seeds
from mate_tf.layers.keras_namespace import keras

IMPORTANCE, DAM = "importance", "dam"
OBJECTIVES = (IMPORTANCE, DAM)
"""Values of the option `objective`."""


@dataclasses.dataclass(frozen=True)
class GumbelMaskOptions:
    """Options of variants that learn a mask.

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
    """

    objective: str = IMPORTANCE
    diagonal: bool = True
    penalty: float = 100.0
    initial_alpha: float = 1.0
    sparsity_weight: float = 1e-4
    temperature: float = 1.0
    final_temperature: float = 0.1
    temperature_steps: int = 10_000
    straight_through: bool = True


class GumbelMaskPattern(AttentionPattern):
    """Pattern that owns alpha, <float32>[heads, parameters], and draws Gumbel masks from it.

    Variables: alpha; with "dam" also step, the number of batches of training so far. With "dam" it
    has the metrics `sparsity`, of the final mask, and `temperature`.

    Raises:
        InputError: an unknown objective.
    """

    learns_importance = True

    num_parameters: int
    """Number of parameters of each head."""

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        _check(self.config)
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
            config: its AttentionConfig.
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

    def sparsity(self) -> tf.Tensor:
        """Computes the share of all heads' pairs that the final mask leaves out, <float32>[]."""
        raise NotImplementedError

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
        name: name of the metric.
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


def _check(config) -> None:
    if config.objective not in OBJECTIVES:
        raise InputError(
            f"objective must be one of {', '.join(OBJECTIVES)}, not {config.objective!r}"
        )
