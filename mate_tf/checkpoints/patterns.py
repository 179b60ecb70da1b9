"""Reads the variables of attention patterns from a checkpoint, without building the model."""

import re

import numpy as np

from mate_tf.checkpoints import bundle, finite
from mate_tf.errors import InputError

# Models have their encoder as attribute "encoder", trainings have their model as "model".
_VARIABLE = re.compile(r"(?:model/)?(?:encoder/)?patterns/(?P<index>\d+)/(?P<name>[^/]+)")


def pattern_variables(path: str) -> dict[int, dict[str, np.ndarray]]:
    """Reads the variables of each attention pattern of an encoder.

    Patterns are numbered in the order in which their configs first occur in the layers. Patterns
    without variables are missing. `learned_mask` has the variable alpha, from which
    `LearnedMaskPattern.restored` computes importance or a mask.

    Args:
        path: prefix of a checkpoint of a training or of tf.train.Checkpoint, or a folder, of
            which the latest checkpoint is read.

    Returns:
        number of the pattern -> name -> array.

    Raises:
        InputError: if there is no checkpoint, or it cannot be read.
    """
    prefix = bundle.prefix(str(path))
    tensors, graph = bundle.read(prefix)
    if graph is None:
        raise InputError(f"{prefix}: a checkpoint of TensorFlow 1 has no attention patterns")
    result = {}
    for name, tensor in tensors.items():
        if match := _VARIABLE.fullmatch(name):
            values = np.asarray(tensor.read())
            finite.check(prefix, name, values)
            result.setdefault(int(match["index"]), {})[match["name"]] = values
    return dict(sorted(result.items()))
