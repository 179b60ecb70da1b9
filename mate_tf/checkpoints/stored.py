"""Tensors of a checkpoint that are read only when they are wanted."""

import dataclasses
from collections.abc import Callable

import numpy as np


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
