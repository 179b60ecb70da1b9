"""Times of calls, rates of the machine, and growth of costs. Imports TensorFlow on use only."""

import math
import statistics
import time
from collections.abc import Mapping, Sequence

MATMUL = (2048, 768, 3072)
"""Rows, inner size and columns of the measured matmul: BERT-base's feed-forward layer."""

MATMUL_ON_GPU = (8192, 8192, 8192)
"""Sizes of the matmul on a GPU, which needs 1.1 TFLOP to be busy for some milliseconds."""

STREAM_BYTES = 2**27
"""Size of each of the two arrays of the measured addition, much larger than any cache."""

GROWTH_FROM = 2048
"""Smallest length for fits of growth, if two lengths are as long. Fixed costs dominate below."""


def seconds(function, *inputs) -> tuple[float, float]:
    """Measures a call.

    Args:
        function: returns a tensor or a list of tensors; the call ends when the (first) tensor is
            computed.
        *inputs: arguments of the function.

    Returns:
        wall-clock seconds, and processor seconds, which depend less on other processes.
    """
    start, worked = time.perf_counter(), time.process_time()
    result = function(*inputs)
    result = result[0] if isinstance(result, list) else result
    if "GPU" in result.device:  # waits as well, without a copy of all of it to the host
        import tensorflow as tf

        result = tf.reshape(result, [-1])[:1]
    result.numpy()
    return time.perf_counter() - start, time.process_time() - worked


class Machine:
    """Measures the best rates of this machine, again at each call of `rates`.

    Args:
        matmul: rows, inner size and columns of the matmul.
        stream_bytes: size of each of the two arrays that are added.
    """

    def __init__(self, matmul=MATMUL, stream_bytes: int = STREAM_BYTES):
        import tensorflow as tf

        rows, inner, columns = matmul
        self._flops, self._bytes = 2 * rows * inner * columns, 3 * stream_bytes
        factors = tf.random.normal([rows, inner]), tf.random.normal([inner, columns])
        self._factors, self._matmuls = factors, {}
        total = tf.Variable(tf.zeros([stream_bytes // 4]), trainable=False)
        addend = tf.ones([stream_bytes // 4])
        # In place, because the allocation of new memory would take longer than the addition.
        self._add = tf.function(lambda: total.assign_add(addend)[:1])
        self._total = total  # keeps the variable alive; tf.function does not
        seconds(self._add)  # traces the function

    def _matmul(self, precision):
        """Returns a function that computes the matmul, after a first call."""
        import tensorflow as tf

        if precision not in self._matmuls:
            a, b = (tf.cast(factor, precision) for factor in self._factors)
            self._matmuls[precision] = tf.function(lambda: tf.matmul(a, b))
            seconds(self._matmuls[precision])
        return self._matmuls[precision]

    def rates(self, precisions: Sequence[str] = ("float32", "bfloat16")) -> dict[str, float]:
        """Returns precision -> FLOP/s of a matmul, and "bandwidth".

        The rates are the best of a few calls. The bandwidth, in bytes/s, is that of an addition
        that reads two arrays and writes one.
        """
        rates = {
            precision: self._flops / min(seconds(self._matmul(precision))[0] for _ in range(5))
            for precision in precisions
        }
        return rates | {"bandwidth": self._bytes / min(seconds(self._add)[0] for _ in range(3))}


def growth_exponent(cost: Mapping[int, float]) -> float | None:
    """Fits cost = c length^p by least squares of the logarithms, and returns p.

    Args:
        cost: length in tokens -> seconds or bytes. Lengths below GROWTH_FROM are used only if there
            are fewer than two longer ones. Costs of 0 are ignored.

    Returns:
        p, or None for fewer than two lengths.
    """
    cost = {length: value for length, value in cost.items() if value > 0}
    long = {length: value for length, value in cost.items() if length >= GROWTH_FROM}
    cost = long if len(long) > 1 else cost
    if len(cost) < 2:
        return None
    x, y = [*map(math.log, cost)], [*map(math.log, cost.values())]
    return statistics.linear_regression(x, y).slope
