"""What attention patterns have learnt, out of a checkpoint, without building its model."""

import re

import numpy as np

from mate_tf.checkpoints import bundle
from mate_tf.errors import InputError

# Models that hold an encoder have it under this name; checkpoints of training hold a model.
_VARIABLE = re.compile(r"(?:model/)?(?:encoder/)?patterns/(?P<index>\d+)/(?P<name>[^/]+)")


def pattern_variables(path: str) -> dict[int, dict[str, np.ndarray]]:
    """The variables of each pattern of an encoder: number of the pattern -> name -> values.

    Patterns are counted in the order in which their configs come up in the layers, as in the
    variables' names; one that learns nothing is missing. `learned_mask` has alpha, of which
    `LearnedMaskPattern.restored` makes importance or a mask.

    Args:
        path: prefix of a checkpoint that a training or tf.train.Checkpoint wrote, or the folder
            whose latest one is read.

    Raises:
        InputError: there is no checkpoint, or it cannot be read.
    """
    prefix = bundle.prefix(str(path))
    tensors, graph = bundle.read(prefix)
    if graph is None:
        raise InputError(f"{prefix}: a checkpoint of TensorFlow 1 has no attention patterns")
    found = {}
    for name, tensor in tensors.items():
        if match := _VARIABLE.fullmatch(name):
            found.setdefault(int(match["index"]), {})[match["name"]] = np.asarray(tensor.read())
    return dict(sorted(found.items()))
