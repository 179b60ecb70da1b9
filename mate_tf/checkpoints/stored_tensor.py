"""Tensors of a checkpoint, read when their values are needed."""

import dataclasses
from collections.abc import Callable

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor of a file.

    Attributes:
        name: name of the tensor in the file.
        shape: shape of the tensor, known without reading it.
        read: function that returns the values. Raises InputError if they cannot be read.
    """

    name: str
    shape: tuple[int, ...]
    read: Callable[[], np.ndarray]

    def transposed(self) -> "StoredTensor":
        """Returns the tensor with reversed axes."""
        return StoredTensor(self.name, self.shape[::-1], lambda: self.read().T)

    def reshaped(self, *shape: int) -> "StoredTensor":
        """Returns the tensor with another shape."""
        return StoredTensor(self.name, shape, lambda: self.read().reshape(shape))

    def scaled(self, factor: float) -> "StoredTensor":
        """Returns the tensor multiplied by a factor."""
        return StoredTensor(self.name, self.shape, lambda: self.read() * factor)

    def converted(self, shape: tuple[int, ...], function: Callable) -> "StoredTensor":
        """Returns the tensor with the values, of shape `shape`, that `function` makes of its."""
        return StoredTensor(self.name, shape, lambda: function(self.read()))

    def padded(self, variable: tf.Variable, axis: int) -> "StoredTensor":
        """Returns the tensor, followed on `axis` by the rest of a longer variable's values.

        Returns the tensor itself if the variable is not longer on `axis`, or differs in the other
        axes.

        Args:
            variable: variable of any shape [...].
            axis: axis on which the variable may be longer.
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
