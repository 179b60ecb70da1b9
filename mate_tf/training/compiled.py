"""Training steps that XLA compiles, as `runtime.enable_xla` asks for.

tf-models compiles whole steps, only where it is told of GPUs, and fails where the optimizer's
replicas meet. Here the forward and the backward pass are compiled, on any device, and the optimizer
is left outside.
"""

import tensorflow as tf

from mate_tf.errors import InputError


class _Recorder:
    """Takes the optimizer's place in a step, and keeps the gradients instead of applying them."""

    def apply_gradients(self, pairs):
        self.gradients = [gradient for gradient, _ in pairs]


def compile_train_step(task, runtime, strategy: tf.distribute.Strategy) -> None:
    """Has XLA compile the steps of a task, whose batches need static shapes.

    Args:
        task: a tf-models task.
        runtime: the experiment's RuntimeConfig; tf-models will not compile by itself.
        strategy: what it is trained under.

    Raises:
        InputError: several replicas, whose losses are taken together within a step; float16.
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
