"""Times, what a machine can do at best, and how cost grows. Imports TensorFlow when needed only."""

import math
import statistics
import time
from collections.abc import Mapping

MATMUL = (2048, 768, 3072)
"""Rows, inner size, columns of the product whose rate is measured: BERT-base's feed-forward."""

STREAM_BYTES = 2**27
"""Size of each of the two arrays that the bandwidth is measured with, far beyond any cache."""

GROWTH_FROM = 2048
"""Tokens from which on growth is fitted, if two lengths are that long: below, fixed costs count."""


def seconds(function, *inputs) -> tuple[float, float]:
    """Time on the clock, and time the processors spent: it tells more when others use them too.

    Args:
        function: gives a tensor, or a list of some of which the first one is waited for.
        *inputs: its arguments.
    """
    start, worked = time.perf_counter(), time.process_time()
    result = function(*inputs)
    (result[0] if isinstance(result, list) else result).numpy()
    return time.perf_counter() - start, time.process_time() - worked


class Machine:
    """What this machine could do at best, measured anew each time it is asked.

    Args:
        matmul: rows, inner size and columns of the matrix product.
        stream_bytes: size of each of the two arrays that are added.
    """

    def __init__(self, matmul=MATMUL, stream_bytes: int = STREAM_BYTES):
        import tensorflow as tf

        rows, inner, columns = matmul
        self._flops, self._bytes = 2 * rows * inner * columns, 3 * stream_bytes
        factors = tf.random.normal([rows, inner]), tf.random.normal([inner, columns])
        self._products = {}
        for precision in (tf.float32, tf.bfloat16):
            a, b = (tf.cast(factor, precision) for factor in factors)
            self._products[precision.name] = tf.function(lambda a=a, b=b: tf.matmul(a, b))
        total = tf.Variable(tf.zeros([stream_bytes // 4]), trainable=False)
        addend = tf.ones([stream_bytes // 4])
        # in place: no new memory is asked for, which would take longer than the addition
        self._add = tf.function(lambda: total.assign_add(addend)[:1])
        self._total = total  # tf.function keeps no variable alive
        for call in (*self._products.values(), self._add):
            seconds(call)  # traced

    def rates(self) -> dict[str, float]:
        """FLOP/s of a matrix product in "float32" and "bfloat16", and "bandwidth" in bytes/s.

        Medians of a few calls. Two arrays are read and one is written by the addition that tells
        the bandwidth.
        """
        rates = {}
        for precision, product in self._products.items():
            rates[precision] = self._flops / statistics.median(
                seconds(product)[0] for _ in range(5)
            )
        return rates | {
            "bandwidth": self._bytes / statistics.median(seconds(self._add)[0] for _ in range(3))
        }


def growth_exponent(cost: Mapping[int, float]) -> float | None:
    """p of the cost = c length^p that fits best: least squares of the logarithms.

    Args:
        cost: length in tokens -> seconds or bytes. Only lengths from GROWTH_FROM on count, unless
            these are fewer than two; none that cost nothing.

    Returns:
        None for fewer than two lengths.
    """
    cost = {length: value for length, value in cost.items() if value > 0}
    long = {length: value for length, value in cost.items() if length >= GROWTH_FROM}
    cost = long if len(long) > 1 else cost
    if len(cost) < 2:
        return None
    x, y = [*map(math.log, cost)], [*map(math.log, cost.values())]
    return statistics.linear_regression(x, y).slope
