"""BERT's optimizer and learning rate, for tf-models' trainer.

Importing this module registers them under the types `bert_adamw` and `bert`. Their configs are
in `tasks.configs`.
"""

import functools
import re
from typing import Any

import tensorflow as tf
from official.modeling.optimization import legacy_adamw, optimizer_factory

from mate_tf.errors import InputError
from mate_tf.layers.framework import keras, within_xla

PATTERNS = r"\bpatterns_\d+/"
"""Regular expression that matches names of variables of attention patterns, such as alpha."""

_SUM = "gradient_sum"  # slot


class BertAdamW(legacy_adamw.AdamWeightDecay):
    """BERT's AdamW: without bias correction of the moments.

    An update is `var -= lr * (m / (sqrt(v) + epsilon) + weight_decay_rate * var)`. The gradients
    are processed in this order:

    1. They are averaged over the replicas.
    2. Their global norm over all variables is clipped to `gradient_clip_norm`. The variables of
       attention patterns (`PATTERNS`) are clipped as a separate group. Otherwise the gradient
       of a mask's price would scale down all other gradients.
    3. Each element is clipped to `clipvalue`, if that is given. A value of `gradient_clip_norm` or
       more has no effect, such as the 10 of TAPAS's and MATE's settings next to the norm of 1: no
       element is larger than the norm. For elements of up to 10, the norm must be 0.
    4. With `gradient_accumulation_steps` n, every n-th call of `apply_gradients` updates the
       variables, with the mean gradient of n calls. `iterations`, and so the learning rate, counts
       updates. As in the reference, an element of one call is clipped to n times `clipvalue`
       (in 3) and the mean to `clipvalue`.

    So training does not depend on the number of replicas that a batch is spread over. The reference
    clips the gradients of each TPU core on their own. (tf-models' `AdamWeightDecay` clips gradients
    that are divided by the number of replicas, so with more replicas it clips less, and with loss
    scaling it does not clip at all.) As in Keras, gradients are those of the loss divided by the
    number of replicas.

    The gradient of an embedding is clipped before the gradients of equal rows are added, as in the
    reference outside of TPUs. Variables without a gradient do not change.

    Args:
        gradient_clip_norm: see 2; 0: no clipping.
        gradient_accumulation_steps: see 4. Checkpoints contain the accumulated gradients.
        bias_correction: correct the bias of m and v as Adam does. Without it the first updates are
            up to 3.2 times as large, and 1.6 times after 500 updates. That is harmless in
            fine-tuning at small rates, but training from scratch fails.
        pattern_learning_rate_factor: factor of the learning rate for variables of attention
            patterns.
        **kwargs: arguments of `AdamWeightDecay`.
    """

    def __init__(
        self,
        *args,
        gradient_clip_norm=1.0,
        gradient_accumulation_steps=1,
        bias_correction=False,
        pattern_learning_rate_factor=1.0,
        name="BertAdamW",
        **kwargs,
    ):
        if gradient_accumulation_steps < 1:
            raise InputError(
                f"gradient_accumulation_steps={gradient_accumulation_steps}: must be 1 or more"
            )
        # Clipping happens in this class, not in the parent class.
        super().__init__(*args, gradient_clip_norm=0.0, name=name, **kwargs)
        self._clip_norm = gradient_clip_norm
        self._accumulation_steps = gradient_accumulation_steps
        self._calls: Any = None  # since the last step
        self._bias_correction = bias_correction
        self._pattern_factor = pattern_learning_rate_factor

    def get_config(self):
        """Returns the constructor's arguments for Keras's serialization."""
        return {
            **super().get_config(),
            "exclude_from_weight_decay": self._exclude_from_weight_decay,
            "include_in_weight_decay": self._include_in_weight_decay,
            "gradient_clip_norm": self._clip_norm,
            "gradient_accumulation_steps": self._accumulation_steps,
            "bias_correction": self._bias_correction,
            "pattern_learning_rate_factor": self._pattern_factor,
        }

    def _create_slots(self, var_list):
        super()._create_slots(var_list)
        if self._accumulation_steps == 1:
            return
        for var in var_list:
            self.add_slot(var, _SUM)
        if self._calls is None:
            self._calls = self.add_weight(
                "calls",
                shape=[],
                dtype=tf.int64,
                trainable=False,
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            )
            self._weights.append(self._calls)

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        if self._bias_correction:
            return
        coefficients = apply_state[(var_device, var_dtype)]
        zero = tf.zeros([], var_dtype)
        # Powers of zero make the correction sqrt(1 - beta_2^t) / (1 - beta_1^t) one.
        coefficients.update(lr=coefficients["lr_t"], beta_1_power=zero, beta_2_power=zero)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        if apply_state and self._pattern_factor != 1 and re.search(PATTERNS, var.name):
            key = var.device, var.dtype.base_dtype
            rates = {name: apply_state[key][name] * self._pattern_factor for name in ("lr", "lr_t")}
            apply_state = {**apply_state, key: {**apply_state[key], **rates}}
        return super()._resource_apply_dense(grad, var, apply_state)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices, **kwargs):
        if not within_xla():
            return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices, **kwargs)
        # XLA needs static shapes, so the number of distinct rows must not be computed.
        dense = tf.math.unsorted_segment_sum(grad, indices, handle.shape[0])
        return self._resource_apply_dense(dense, handle, **kwargs)

    def apply_gradients(self, grads_and_vars, **kwargs):
        """Applies gradients, or accumulates them; variables without a gradient are skipped."""
        present = [(gradient, var) for gradient, var in grads_and_vars if gradient is not None]
        return super().apply_gradients(present, **kwargs)

    def _transform_gradients(self, grads_and_vars):
        if self._clip_norm:
            grads_and_vars = self._clipped(grads_and_vars)
        if self._accumulation_steps > 1:
            share = 1.0 / self._accumulation_steps
            grads_and_vars = [
                (tf.math.scalar_mul(share, grad), var) for grad, var in grads_and_vars
            ]
        return super()._transform_gradients(grads_and_vars)

    def _clipped(self, grads_and_vars):
        clipped = []
        for group in _groups(grads_and_vars):
            gradients, variables = zip(*group, strict=True)
            gradients, _ = tf.clip_by_global_norm(gradients, self._clip_norm)
            clipped += zip(gradients, variables, strict=True)
        return clipped

    def _distributed_apply(self, distribution, grads_and_vars, apply_state, name):
        """Accumulates gradients. Runs in cross-replica context, where `tf.cond` is possible."""
        if self._accumulation_steps == 1:
            return super()._distributed_apply(distribution, grads_and_vars, apply_state, name)
        update = functools.partial(distribution.extended.update, group=True)
        sums = [self.get_slot(var, _SUM) for _, var in grads_and_vars]
        added = [
            update(total, _add, args=(grad,))
            for total, (grad, _) in zip(sums, grads_and_vars, strict=True)
        ]
        with tf.control_dependencies([*added, self._calls.assign_add(1, read_value=False)]):
            calls = self._calls.read_value()

        def step():
            clip = self.clipvalue
            clipped = [update(total, _clip, args=(clip,)) for total in sums if clip is not None]
            means = [(total, var) for total, (_, var) in zip(sums, grads_and_vars, strict=True)]
            with tf.control_dependencies(clipped):
                applied = super(BertAdamW, self)._distributed_apply(
                    distribution, means, apply_state, name
                )
            with tf.control_dependencies([applied]):
                cleared = [update(total, _clear) for total in sums]
                return tf.group(*cleared, self._calls.assign(0, read_value=False))

        return tf.cond(calls >= self._accumulation_steps, step, tf.no_op)


def _groups(grads_and_vars):
    """Splits pairs into those of attention patterns and all others; no group is empty."""
    groups = {}
    for gradient, var in grads_and_vars:
        of_pattern = bool(re.search(PATTERNS, var.name))
        groups.setdefault(of_pattern, []).append((gradient, var))
    return groups.values()


def _add(total, gradient):
    if isinstance(gradient, tf.IndexedSlices):
        return total.scatter_add(gradient)
    return total.assign_add(gradient)


def _clip(total, limit):
    return total.assign(tf.clip_by_value(total, -limit, limit))


def _clear(total):
    return total.assign(tf.zeros_like(total))


class LinearDecayWithWarmup(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up from 0, then linear decay to 0.

    The decay counts from step 0, not from the end of the warm-up: after `warmup_steps` the rate is
    `initial * (1 - warmup_steps / decay_steps)`.

    Args:
        initial_learning_rate: target of the warm-up, and value of the decay at step 0.
        decay_steps: step at which the rate is 0.
        warmup_ratio: share of `decay_steps` that is warm-up.
        warmup_steps: length of the warm-up in steps; negative: `warmup_ratio` applies.
    """

    def __init__(self, initial_learning_rate, decay_steps, warmup_ratio=0.0, warmup_steps=-1):
        super().__init__()
        if warmup_steps < 0:
            warmup_steps = int(decay_steps * warmup_ratio)
        self._initial, self._decay_steps = initial_learning_rate, decay_steps
        self._warmup_steps = warmup_steps

    def __call__(self, step):
        if self._decay_steps < 1:  # as in a config that nobody has resolved
            raise InputError(
                f"learning_rate.bert.decay_steps={self._decay_steps}: must be 1 or more; outside "
                "of mate-tf's own trainer it is given, as many as trainer.train_steps"
            )
        step = tf.cast(step, tf.float32)
        decayed = self._initial * tf.maximum(1.0 - step / self._decay_steps, 0.0)
        if not self._warmup_steps:
            return decayed
        rising = self._initial * step / self._warmup_steps
        return tf.where(step < self._warmup_steps, rising, decayed)

    def get_config(self):
        """Returns the constructor's arguments for Keras's serialization."""
        return {
            "initial_learning_rate": self._initial,
            "decay_steps": self._decay_steps,
            "warmup_steps": self._warmup_steps,
        }


optimizer_factory.register_optimizer_cls("bert_adamw", BertAdamW)
optimizer_factory.LR_CLS["bert"] = LinearDecayWithWarmup
