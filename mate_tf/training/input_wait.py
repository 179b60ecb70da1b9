"""Measures how long a training waits for its input.

`input_wait` in the logs of a training is the share of the time between two summaries in which no
step could run, because its batch was not ready. A share of some per cent says that reading and
batching, and not the model, sets the speed.
"""

import time

import tensorflow as tf
from official.core import base_trainer

SHARE = "input_wait"
"""Name of the share in the logs, between 0 and 1."""


class WaitMeasuringTrainer(base_trainer.Trainer):
    """tf-models' trainer that logs the share of the time that it waits for batches."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._waited = tf.Variable(
            0.0, trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
        )

    def train_loop_begin(self):
        """Starts the clock."""
        super().train_loop_begin()
        self._waited.assign(0.0)
        self._start = time.monotonic()

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
        """Returns the logs of the loop with the share."""
        logs = super().train_loop_end()  # waits until all steps are done
        logs[SHARE] = float(self._waited.read_value()) / max(time.monotonic() - self._start, 1e-9)
        return logs
