"""Checks the number of GPUs that an experiment asks for."""

import tensorflow as tf

from mate_tf import values
from mate_tf.training import tpu


def check(runtime) -> None:
    """Raises InputError for more GPUs than this machine has: TensorFlow would wait for them.

    Args:
        runtime: `runtime` of an experiment. With a TPU its number of GPUs has no effect.
    """
    available = len(tf.config.list_physical_devices("GPU"))
    if runtime.num_gpus > available and runtime.distribution_strategy != tpu.STRATEGY:
        allowed = f"at most {available}, the number of GPUs that TensorFlow finds here"
        raise values.refused("runtime.num_gpus", runtime.num_gpus, allowed)
