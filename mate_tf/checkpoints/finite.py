"""Refuses weights that are not finite: the confidences of answers would be NaN.

Does not import TensorFlow.
"""

import math
from collections.abc import Iterable

import numpy as np

from mate_tf.errors import InputError


def check(path: str, name: str, values: np.ndarray) -> None:
    """Checks the values of a variable.

    Args:
        path: file or folder that they are of.
        name: the variable.
        values: its values, <any>[...].

    Raises:
        InputError: if there is NaN or infinity among them.
    """
    values = np.asarray(values)
    if values.dtype.name == "bfloat16":  # an extension of NumPy
        values = values.astype(np.float32)
    if values.dtype.kind != "f" or not values.size:
        return
    # Faster than to ask each value; NaN is minimum and maximum of any values with it.
    with np.errstate(invalid="ignore"):
        ends = float(values.min()), float(values.max())
    if not all(map(math.isfinite, ends)):
        kind = "NaN" if any(map(math.isnan, ends)) else "infinity"
        raise InputError(
            f"{path}: the weights {name} have {kind}; they are of a failed training or damaged, "
            "use another checkpoint"
        )


def check_variables(path: str, variables: Iterable) -> None:
    """Checks TensorFlow's variables, which have been read from a file.

    Raises:
        InputError: if there is NaN or infinity in one.
    """
    for variable in variables:
        if variable.dtype in ("float16", "float32", "float64", "bfloat16"):
            check(path, variable.name.removesuffix(":0"), variable.numpy())
