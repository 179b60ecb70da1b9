"""Growth with the length; what is measured is finite and of the right kind."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.analysis.cost import speed


def test_growth_exponent():
    quadratic = {length: 3e-9 * length**2 for length in (2048, 4096, 8192)}
    assert speed.growth_exponent(quadratic) == pytest.approx(2)
    # shorter ones, where fixed costs count, have no say
    assert speed.growth_exponent({128: 1.0, 512: 1.0} | quadratic) == pytest.approx(2)
    assert speed.growth_exponent({128: 1.0, 256: 2.0, 4096: 9.0}) < 1
    assert speed.growth_exponent({2048: 0.0, 4096: 1.0}) is None
    assert speed.growth_exponent({}) is None


def test_what_the_machine_can_do():
    machine = speed.Machine((16, 8, 16), 2**10)
    assert set(machine.rates()) == {"float32", "bfloat16", "bandwidth"}
    rates = machine.rates(["float16"])
    assert set(rates) == {"float16", "bandwidth"}
    assert min(rates.values()) > 0


class OnGpu:
    """A tensor on a GPU, as far as `seconds` can tell; all of it must not be copied."""

    device = "/job:localhost/replica:0/task:0/device:GPU:0"

    def __init__(self):
        self.read = []

    def __array__(self, dtype=None, copy=None):
        self.read.append("as a tensor")
        return np.arange(6.0).reshape(2, 3)

    def numpy(self):
        raise AssertionError("copied to the host")


def test_seconds_of_tensors_and_of_gradients():
    tensor = OnGpu()
    clock, _ = speed.seconds(lambda: tensor)
    assert clock > 0
    assert tensor.read
    for function in (lambda x: x + 1, lambda x: [x, x]):
        clock, worked = speed.seconds(tf.function(function), tf.zeros([3]))
        assert clock > 0
        assert worked >= 0
