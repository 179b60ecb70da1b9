"""BERT's optimizer and learning rate in tf-models' optimization config.

They become two more types beside tf-models' own, so a YAML file may ask for either:

    trainer:
      optimizer_config:
        optimizer: {type: bert_adamw, bert_adamw: {weight_decay_rate: 0.01}}
        learning_rate: {type: bert, bert: {initial_learning_rate: 5.0e-5, warmup_ratio: 0.01}}
"""

import dataclasses

import tensorflow as tf
from official.core import config_definitions
from official.modeling import optimization
from official.modeling.hyperparams import base_config
from official.modeling.optimization import legacy_adamw, optimizer_factory
from official.modeling.optimization.configs import optimization_config, optimizer_config

from mate_tf.layers.keras_namespace import keras


class BertAdamW(legacy_adamw.AdamWeightDecay):
    """AdamW as BERT trains with it: without bias correction of the moments.

    A step is `var -= lr * (m / (sqrt(v) + epsilon) + weight_decay_rate * var)`. Gradients are
    clipped to `gradient_clip_norm` together, then each element to `clipvalue` if that is given.
    Variables without a gradient are left alone.

    Args:
        bias_correction: multiply m and v as Adam does. Without it the first steps are up to 3.2
            times as large (still 1.6 times after 500), which fine-tuning at small rates survives
            and learning from scratch does not.
        **kwargs: as `AdamWeightDecay`.
    """

    def __init__(self, *args, bias_correction=False, name="BertAdamW", **kwargs):
        super().__init__(*args, name=name, **kwargs)
        self._bias_correction = bias_correction

    def get_config(self):
        return {**super().get_config(), "bias_correction": self._bias_correction}

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        if self._bias_correction:
            return
        coefficients = apply_state[(var_device, var_dtype)]
        zero = tf.zeros([], var_dtype)
        # Powers of zero make the correction sqrt(1 - beta_2^t) / (1 - beta_1^t) one.
        coefficients.update(lr=coefficients["lr_t"], beta_1_power=zero, beta_2_power=zero)

    def apply_gradients(self, grads_and_vars, **kwargs):
        present = [(gradient, var) for gradient, var in grads_and_vars if gradient is not None]
        return super().apply_gradients(present, **kwargs)


class LinearDecayWithWarmup(keras.optimizers.schedules.LearningRateSchedule):
    """Rises from 0 over the warm-up, then falls on the line from the initial rate to 0.

    The decay counts from step 0, not from the end of the warm-up: after `warmup_steps` the rate is
    `initial * (1 - warmup_steps / decay_steps)`.

    Args:
        initial_learning_rate: where both lines start from.
        decay_steps: step at which the rate is 0.
        warmup_ratio: share of `decay_steps` that is warm-up.
        warmup_steps: its length in steps instead, if not negative.
    """

    def __init__(self, initial_learning_rate, decay_steps, warmup_ratio=0.0, warmup_steps=-1):
        super().__init__()
        if warmup_steps < 0:
            warmup_steps = int(decay_steps * warmup_ratio)
        self._initial, self._decay_steps = initial_learning_rate, decay_steps
        self._warmup_steps = warmup_steps

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        decayed = self._initial * tf.maximum(1.0 - step / self._decay_steps, 0.0)
        if not self._warmup_steps:
            return decayed
        rising = self._initial * step / self._warmup_steps
        return tf.where(step < self._warmup_steps, rising, decayed)

    def get_config(self):
        return {
            "initial_learning_rate": self._initial,
            "decay_steps": self._decay_steps,
            "warmup_steps": self._warmup_steps,
        }


@dataclasses.dataclass
class BertAdamWConfig(optimizer_config.AdamWeightDecayConfig):
    """Settings of `BertAdamW`; the defaults are BERT's and TAPAS's."""

    name: str = "BertAdamW"
    bias_correction: bool = False
    epsilon: float = 1e-6
    weight_decay_rate: float = 0.01
    exclude_from_weight_decay: list[str] = dataclasses.field(
        default_factory=lambda: ["LayerNorm", "layer_norm", "bias"]
    )


@dataclasses.dataclass
class BertLearningRateConfig(base_config.Config):
    """Settings of `LinearDecayWithWarmup`; decay_steps 0 means all training steps."""

    initial_learning_rate: float = 5e-5
    decay_steps: int = 0
    warmup_ratio: float = 0.01
    warmup_steps: int = -1


@dataclasses.dataclass
class OptimizerConfig(optimization_config.OptimizerConfig):
    """tf-models' optimizers and `bert_adamw`."""

    type: str | None = "bert_adamw"
    bert_adamw: BertAdamWConfig = dataclasses.field(default_factory=BertAdamWConfig)


@dataclasses.dataclass
class LearningRateConfig(optimization_config.LrConfig):
    """tf-models' learning rates and `bert`."""

    type: str | None = "bert"
    bert: BertLearningRateConfig = dataclasses.field(default_factory=BertLearningRateConfig)


@dataclasses.dataclass
class OptimizationConfig(optimization.OptimizationConfig):
    """tf-models' optimization config with BERT's as default."""

    optimizer: OptimizerConfig = dataclasses.field(default_factory=OptimizerConfig)
    learning_rate: LearningRateConfig = dataclasses.field(default_factory=LearningRateConfig)


@dataclasses.dataclass
class TrainerConfig(config_definitions.TrainerConfig):
    """tf-models' trainer config with that optimization."""

    optimizer_config: OptimizationConfig = dataclasses.field(default_factory=OptimizationConfig)


optimizer_factory.register_optimizer_cls("bert_adamw", BertAdamW)
optimizer_factory.LR_CLS["bert"] = LinearDecayWithWarmup
