"""The training step: tf-models' trainer with what this program adds to it.

- A step has as many batches as the optimizer accumulates. `BertAdamW` updates the variables at
  every n-th call, and tf-models' trainer would count every call as a step. Here the global step
  counts updates, as in the reference. `train_steps`, the learning rate, summaries and checkpoints
  follow the global step. A checkpoint is never written between two batches of a step.
- A training may continue with another model: with `trainer.continue_steps` it keeps the step and
  the optimizer's moments of `task.init_checkpoint`, which alone gives weights only.
- `input_wait` in the logs is the share of the time between two summaries in which no step could
  run, because its batch was not ready. A share of some per cent says that reading and batching, and
  not the model, sets the speed.
- With `runtime.enable_xla`, XLA compiles the forward and the backward pass on any device, without
  the optimizer. (tf-models compiles whole steps, only with `num_gpus` set, and fails in the
  optimizer where the gradients of the replicas are aggregated.)
"""

import time

import tensorflow as tf
from official.core import base_trainer

from mate_tf.checkpoints import bundle
from mate_tf.checkpoints.growth import load_moments
from mate_tf.errors import InputError
from mate_tf.layers import step_seeds
from mate_tf.training.stopping import Stop

GLOBAL_STEP = "global_step"
INPUT_WAIT = "input_wait"
"""Name of the share in the logs, between 0 and 1."""


class StepTrainer(base_trainer.Trainer):
    """tf-models' trainer with the steps that this module describes.

    Attributes:
        stop: makes the loop of steps, if it is set.
    """

    stop: Stop | None = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._waited = tf.Variable(
            0.0, trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
        )

    def initialize(self):
        """Loads `task.init_checkpoint`; with `trainer.continue_steps` also moments and step."""
        super().initialize()
        step = first_step(self.config)
        if step:
            path = bundle.prefix(self.config.task.init_checkpoint)
            load_moments(self.optimizer, self.model, path)
            self.optimizer.iterations.assign(step)
            self.global_step.assign(step)

    def create_train_loop_fn(self):
        """Returns the loop of steps; see `orbit.StandardTrainer`."""
        if self.stop is None or not self.config.trainer.train_tf_while_loop:
            return super().create_train_loop_fn()
        return self.stop.loop(self.train_step)

    def train_loop_begin(self):
        """Starts the clock."""
        super().train_loop_begin()
        self._waited.assign(0.0)
        self._start = time.monotonic()

    def train_step(self, iterator):
        """Trains on all batches of one step. `iterator` gives batches."""
        batches = batches_per_step(self.config)
        before = self.global_step * (batches - 1)
        for _ in tf.range(batches):
            with step_seeds.seeded_step(self.config.tf_random_seed, before + self.global_step):
                base_trainer.Trainer.train_step(self, iterator)
        self.global_step.assign_sub(batches - 1)  # the parent class counted every batch

    def next_train_inputs(self, iterator):
        """Returns the next batch, and adds the seconds until it was ready."""
        start = tf.timestamp()
        with tf.control_dependencies([start]):
            inputs = super().next_train_inputs(iterator)
        with tf.control_dependencies(tf.nest.flatten(inputs, expand_composites=True)):
            end = tf.timestamp()
            self._waited.assign_add(tf.cast(end - start, tf.float32))
        # Without this a single thread may read the clock after it has computed the step.
        with tf.control_dependencies([end]):
            return tf.nest.map_structure(tf.identity, inputs, expand_composites=True)

    def train_loop_end(self):
        """Returns the logs of the loop with the share of the time that it waited for batches."""
        logs = super().train_loop_end()  # waits until all steps are done
        seconds = max(time.monotonic() - self._start, 1e-9)
        logs[INPUT_WAIT] = float(self._waited.read_value()) / seconds
        return logs


def batches_per_step(experiment) -> int:
    """Returns `gradient_accumulation_steps` of the experiment's optimizer; 1 without that key."""
    optimizer = experiment.trainer.optimizer_config.optimizer.get()
    return getattr(optimizer, "gradient_accumulation_steps", 1)


def split_batches(experiment):
    """Returns a copy of the experiment with training batches of 1/n of the configured size.

    Raises:
        InputError: if the batch size is not a multiple of n, or n is below 1.
    """
    parts = batches_per_step(experiment)
    experiment = experiment.replace()
    data = experiment.task.train_data
    if parts < 1 or data.global_batch_size % parts:
        raise InputError(
            f"gradient_accumulation_steps={parts}: task.train_data.global_batch_size="
            f"{data.global_batch_size} is not a multiple of it"
        )
    data.global_batch_size //= parts
    data.max_batch_tokens //= parts
    data.curriculum_steps *= parts
    data.skip_batches *= parts
    return experiment


def continued(experiment, step: int):
    """Returns a copy of the experiment for a training run that resumes at `step`.

    With a seed the data begin after the batches that have been read, so a training ends with the
    same weights whether it was interrupted or not. Without a seed the data come in another order,
    with the rest of the curriculum.
    """
    experiment = experiment.replace()
    data = experiment.task.train_data
    if data.seed is None:
        data.seed = experiment.tf_random_seed
    if data.seed is None:
        data.curriculum_steps = max(0, data.curriculum_steps - step)
    else:
        data.skip_batches = step
    return experiment


def first_step(experiment) -> int:
    """Returns the step at which a new training begins.

    Raises:
        InputError: if `trainer.continue_steps` is set and `task.init_checkpoint` has no step.
    """
    if not experiment.trainer.continue_steps:
        return 0
    path = experiment.task.init_checkpoint
    if not path:
        raise InputError("trainer.continue_steps is set, but task.init_checkpoint is empty")
    path = bundle.prefix(path)
    tensors, _ = bundle.read(path)
    if GLOBAL_STEP not in tensors:
        raise InputError(f"{path}: has no global step, which trainer.continue_steps needs")
    return int(tf.cast(tensors[GLOBAL_STEP].read(), tf.int64))


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

        logs, grads = gradients(inputs)
        optimizer.apply_gradients(list(zip(grads, model.trainable_variables, strict=True)))
        return logs

    task.train_step = step
