"""Training steps compiled by XLA, for `runtime.enable_xla`.

tf-models compiles whole steps, only with `num_gpus` set, and fails in the optimizer where the
gradients of the replicas are aggregated. This module compiles the forward and the backward pass on
any device, without the optimizer.
"""

import tensorflow as tf

from mate_tf.errors import InputError


class _Recorder:
    """Stands in for the optimizer in a step: keeps the gradients instead of applying them."""

    def apply_gradients(self, pairs):
        """Keeps the gradients of pairs (gradient, variable)."""
        self.gradients = [gradient for gradient, _ in pairs]


def compile_train_step(task, runtime, strategy: tf.distribute.Strategy) -> None:
    """Replaces `task.train_step` by one that XLA compiles. Batches need static shapes.

    Args:
        task: a tf-models task; changed in place.
        runtime: the experiment's RuntimeConfig. `enable_xla` is set to False in it, so that
            tf-models does not compile the step again.
        strategy: the strategy of the training.

    Raises:
        InputError: for several replicas, because a step aggregates their losses, or for float16.
    """
    if strategy.num_replicas_in_sync > 1:
        raise InputError(
            f"runtime.enable_xla: there are {strategy.num_replicas_in_sync} replicas; set "
            "runtime.distribution_strategy=one_device"
        )
    if runtime.mixed_precision_dtype == "float16":
        raise InputError("runtime.enable_xla needs float32 or bfloat16, not float16")
    runtime.enable_xla = False
    train_step = task.train_step

    def step(inputs, model, optimizer, metrics=None):
        @tf.function(jit_compile=True)
        def gradients(inputs):
            recorder = _Recorder()
            logs = train_step(inputs, model=model, optimizer=recorder, metrics=metrics)
            return logs, recorder.gradients

        logs, found = gradients(inputs)
        optimizer.apply_gradients(list(zip(found, model.trainable_variables, strict=True)))
        return logs

    task.train_step = step
