"""The number of GPUs that an experiment asks for."""

import pytest
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.tasks.configs import RuntimeConfig
from mate_tf.training import gpus


def test_more_gpus_than_there_are():
    number = len(tf.config.list_physical_devices("GPU"))
    gpus.check(RuntimeConfig(num_gpus=number))
    with pytest.raises(InputError, match=rf"^runtime.num_gpus is {number + 1}, .* most {number}, "):
        gpus.check(RuntimeConfig(num_gpus=number + 1))
    gpus.check(RuntimeConfig(num_gpus=number + 1, distribution_strategy="tpu"))
