"""The state of an optimizer in a checkpoint, for a model that has grown since."""

import tensorflow as tf

from mate_tf.checkpoints import bundle, growth
from mate_tf.checkpoints.names import own_variables

_SLOT = "{}/.OPTIMIZER_SLOT/optimizer/{}"


def load_moments(optimizer, model: tf.Module, path: str) -> int:
    """Reads the moments of the model's variables, as far as they are there.

    Those of a lower tree become those of the upper levels; all others stay as they are, zero in an
    optimizer that is new. An optimizer without slots keeps nothing by variable and is left alone.

    Args:
        optimizer: a Keras optimizer.
        model: what it trains.
        path: prefix of a checkpoint that was saved in training.

    Returns:
        how many were read.

    Raises:
        InputError: the files cannot be read as a checkpoint.
    """
    if not hasattr(optimizer, "get_slot_names"):
        return 0
    tensors, _ = bundle.read(path)
    optimizer._create_all_weights(model.trainable_variables)
    trained = {id(variable) for variable in model.trainable_variables}
    variables = {n: v for n, v in own_variables(model, tensors).items() if id(v) in trained}
    axes = dict.fromkeys(growth.grown(model, tensors, variables), 1)
    found = {}
    for name, variable in variables.items():
        for slot in optimizer.get_slot_names():
            tensor = tensors.get(_SLOT.format(name, slot))
            moments = optimizer.get_slot(variable, slot)
            if tensor is not None and name in axes:
                tensor = tensor.padded(moments, axes[name])
            if tensor is not None and tensor.shape == tuple(moments.shape):
                found[id(moments)] = moments, tensor
    for moments, tensor in found.values():
        moments.assign(tf.cast(tensor.read(), moments.dtype))
    return len(found)
