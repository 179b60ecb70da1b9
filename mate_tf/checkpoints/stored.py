"""Tensors of a checkpoint that are read only when they are wanted."""

import dataclasses
from collections.abc import Callable

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True, slots=True)
class StoredTensor:
    """One tensor of a file.

    Attributes:
        name: its name there.
        shape: its shape, known without reading it.
        read: gives the values. Raises InputError if the file does not hold them.
    """

    name: str
    shape: tuple[int, ...]
    read: Callable[[], np.ndarray]

    def transposed(self) -> "StoredTensor":
        """The same with its axes reversed."""
        return StoredTensor(self.name, self.shape[::-1], lambda: self.read().T)

    def reshaped(self, *shape: int) -> "StoredTensor":
        """The same values in another shape."""
        return StoredTensor(self.name, shape, lambda: self.read().reshape(shape))

    def scaled(self, factor: float) -> "StoredTensor":
        """The values multiplied."""
        return StoredTensor(self.name, self.shape, lambda: self.read() * factor)

    def padded(self, variable: tf.Variable, axis: int) -> "StoredTensor":
        """These values, and the variable's own behind them as far as it is longer on `axis`.

        The tensor itself if it is not the beginning of such a variable.
        """
        whole, kept = tuple(variable.shape), self.shape[axis]
        if (
            kept >= whole[axis]
            or (*self.shape[:axis], whole[axis], *self.shape[axis + 1 :]) != whole
        ):
            return self

        def read():
            _, own = tf.split(variable, [kept, whole[axis] - kept], axis)
            return tf.concat([tf.cast(self.read(), variable.dtype), own], axis)

        return StoredTensor(self.name, whole, read)
