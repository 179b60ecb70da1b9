"""Weights in 8 bits, with a scale for each channel, as presets store them.

A matrix is stored as two tensors, its name <int8>[rows, columns] and its name with the ending
`SCALE` <float32>, whose product it is. Scales are those of columns, [1, columns], for linear
layers, and of rows, [rows, 1], for tables of embeddings. Vectors are not rounded.

Does not import TensorFlow.
"""

from collections.abc import Mapping

import numpy as np

from mate_tf.errors import InputError

SCALE = ".scale"
"""Ending of the name of the scales."""

_EMBEDDINGS = "/embeddings/"
_LARGEST = 127
_BITS = 16  # of a scale: 127 of it is exact in float32, so rounding twice changes nothing


def rounded(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Rounds weights to what is stored.

    Args:
        weights: name -> <float32>[...] of any shape.

    Returns:
        name -> <int8> and <float32> arrays.
    """
    result = {}
    for name, values in weights.items():
        values = np.asarray(values, np.float32)
        if values.ndim != 2:
            result[name] = values
            continue
        scales = _scales(values, axis=1 if _EMBEDDINGS in name else 0)
        result[name] = np.rint(values / scales).astype(np.int8)
        result[name + SCALE] = scales
    return result


def restored(path: str, stored: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns the weights that `rounded` has rounded; other arrays as they are.

    Args:
        path: file of the arrays, for errors.
        stored: name -> <int8> or <float32>[...].

    Raises:
        InputError: a matrix and its scales do not fit each other.
    """
    result = dict(stored)
    for name in [name for name, values in stored.items() if values.dtype == np.int8]:
        scales = result.pop(name + SCALE, None)
        if scales is not None:
            check(path, name, result[name].shape, scales.shape)
            result[name] = matrix(result[name], scales)
    return result


def matrix(values: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Returns <float32>[rows, columns] of a matrix <int8>[rows, columns] and its scales."""
    return values.astype(np.float32) * scales


def check(path: str, name: str, shape: tuple[int, ...], scales: tuple[int, ...]) -> None:
    """Raises InputError if the shapes of a matrix and its scales do not fit each other."""
    if len(shape) != 2 or scales not in ((shape[0], 1), (1, shape[1])):
        raise InputError(
            f"{path}: {name + SCALE}: has the shape {list(scales)}, which gives no scale to each "
            f"row or column of {list(shape)}"
        )


def _scales(values: np.ndarray, axis: int) -> np.ndarray:
    """Returns <float32> scales, by which the largest value of each channel becomes 127."""
    largest = np.abs(values).max(axis=axis, keepdims=True) / np.float32(_LARGEST)
    mantissas, exponents = np.frexp(largest)
    mantissas = np.ceil(np.ldexp(mantissas, _BITS))
    scales = np.ldexp(mantissas, exponents - _BITS).astype(np.float32)
    return np.where(scales > 0, scales, np.float32(1))
