"""What masks learned by Gumbel-sigmoid share (SparseBERT, sections 3.1 and 4.1): alpha, its draws.

Which pairs of tokens a parameter is for, subclasses say: of positions or of relations in a table.
"""

import dataclasses
import math

import numpy as np
import tensorflow as tf

from mate_tf.attention.base import AttentionPattern, mask_bias
from mate_tf.attention.static_masks import any_key
from mate_tf.errors import InputError
from mate_tf.layers.keras_namespace import keras

IMPORTANCE, DAM = "importance", "dam"
OBJECTIVES = (IMPORTANCE, DAM)


@dataclasses.dataclass(frozen=True)
class DrawnMaskOptions:
    """Options of variants that learn a mask.

    Attributes:
        objective: "importance", how much each parameter's pairs matter, which leaves all of them
            in; or "dam", a mask by Gumbel-sigmoid, with a price for each pair that is in it.
        diagonal: whether tokens may see themselves.
        penalty: c, what is taken off the score of a pair that is wholly out.
        initial_alpha: of all parameters.
        sparsity_weight: lambda, the price of each pair in the mask of each head; of "dam".
        temperature: of the Gumbel-sigmoid at first; of "dam", as all that follows.
        final_temperature: that of the end.
        temperature_steps: batches over which it falls, each by the same factor.
        straight_through: from then on, each drawn mask is all zeros and ones, with the gradients of
            the soft one.
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


class DrawnMaskPattern(AttentionPattern):
    """Owns alpha, <float32>[heads, parameters], and draws masks from it.

    Variables: alpha; with "dam", step, the batches of training so far, and the metrics `sparsity`,
    that of the final mask, and `temperature`.

    Raises:
        InputError: an option out of range.
    """

    learns_importance = True

    num_parameters: int
    """Of each head."""

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
        """Share of the pairs of all heads that are not in the final mask, <float32>[]."""
        raise NotImplementedError

    def draw(self) -> tf.Tensor:
        """M of the next batch of training (section 4.1), <float32>[heads, parameters]."""
        uniform = tf.random.uniform(tf.shape(self.alpha))
        temperature = self.temperature()
        at_end = self._share_of_steps() >= 1
        self.step.assign_add(1)
        soft = gumbel_sigmoid(self.alpha, uniform, temperature)
        if not self.config.straight_through:
            return soft
        return tf.where(at_end, straight_through(soft), soft)

    def temperature(self) -> tf.Tensor:
        """tau of the next batch of training, <float32>[]."""
        config = self.config
        passed = tf.minimum(self._share_of_steps(), 1.0)
        fall = math.log(config.final_temperature / config.temperature)
        return config.temperature * tf.exp(passed * fall)

    def read_by_layers(self, mask) -> dict:
        """What MaskedAttention reads of <bool>[batch, 1 or heads, seq, seq]."""
        dtype = self.compute_dtype
        return {"bias": mask_bias(mask, dtype), "any_key": any_key(mask, dtype)}

    def _share_of_steps(self):
        steps = self.config.temperature_steps
        return tf.cast(self.step, tf.float32) / steps if steps else tf.constant(1.0)


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


class Reading(keras.metrics.Metric):
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


def _check(config) -> None:
    if config.objective not in OBJECTIVES:
        raise InputError(
            f"objective must be one of {', '.join(OBJECTIVES)}, not {config.objective!r}"
        )
    for name in ("temperature", "final_temperature", "penalty"):
        if getattr(config, name) <= 0:
            raise InputError(f"{name} must be positive, not {getattr(config, name)}")
    for name in ("sparsity_weight", "temperature_steps"):
        if getattr(config, name) < 0:
            raise InputError(f"{name} must not be negative, but is {getattr(config, name)}")
