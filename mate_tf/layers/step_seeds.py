"""Seeds of the random numbers of a training step.

TensorFlow's random operations keep their state in the process. So a training run that is resumed in
another process would drop other values than one that was never interrupted. Within `seeded_step`
the random numbers of the layers depend only on the training's seed and the number of the batch.
"""

import contextlib

import tensorflow as tf

from mate_tf.layers.framework import keras

_SPACING = 2**16
"""Distance of two seeds. A layer may add less than that to its seed, to have several of them."""


class _Step:
    """Seeds of one training step.

    Attributes:
        seed: <int32>[2], random, determined by the step.
        draws: number of seeds drawn so far while the step was traced.
    """

    def __init__(self, seed):
        self.seed = seed
        self.draws = 0


_steps: list[_Step] = []


@contextlib.contextmanager
def seeded_step(seed: int | None, number: tf.Tensor):
    """Makes `draw` depend on nothing but `seed`, the number of the batch and the replica.

    Args:
        seed: seed of the training; None: `draw` gives other seeds in each process.
        number: <int>[], number of the batch since the begin of the training.
    """
    if seed is None:
        yield
        return
    pair = tf.stack([tf.constant(seed % 2**31, tf.int32), tf.cast(number, tf.int32)])
    _steps.append(_Step(tf.random.stateless_uniform([2], pair, None, None, tf.int32)))
    try:
        yield
    finally:
        _steps.pop()


@contextlib.contextmanager
def seeded_function(seed: tf.Tensor):
    """Makes `draw` depend on nothing but `seed` and the replica.

    For a function that is computed again for its gradients: both times it has to draw the same.

    Args:
        seed: <int32>[2], drawn outside of the function.
    """
    # Seeds of the step have a fixed distance. Those of the function begin elsewhere.
    _steps.append(_Step(tf.random.stateless_uniform([2], seed, None, None, tf.int32)))
    try:
        yield
    finally:
        _steps.pop()


def draw() -> tf.Tensor:
    """Returns the seed of a stateless random operation, <int32>[2]; each call gives another one."""
    if not _steps:
        return tf.random.uniform([2], 0, 2**30, tf.int32)
    step = _steps[-1]
    step.draws += 1
    replica = tf.distribute.get_replica_context().replica_id_in_sync_group
    return step.seed + tf.stack([step.draws % 2**14, replica]) * _SPACING


class Dropout(keras.layers.Layer):
    """Dropout as in Keras, with random numbers that `seeded_step` determines.

    Args:
        rate: share of the values that are set to 0; the others are divided by 1 - rate.
    """

    def __init__(self, rate: float, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs, training=None):
        """Drops values of `inputs`, a <float> tensor of any shape, if `training` is true."""
        if not training or not self.rate:
            return inputs
        return tf.nn.experimental.stateless_dropout(inputs, self.rate, draw())

    def get_config(self):
        """Returns the constructor's arguments for Keras's serialization."""
        return super().get_config() | {"rate": self.rate}
