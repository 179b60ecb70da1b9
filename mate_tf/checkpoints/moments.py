"""Loads the state of an optimizer from a checkpoint, also for a model that has grown since."""

import tensorflow as tf

from mate_tf.checkpoints import bundle, growth
from mate_tf.checkpoints.names import own_variables

_SLOT = "{}/.OPTIMIZER_SLOT/optimizer/{}"


def load_moments(optimizer, model: tf.Module, path: str) -> int:
    """Loads the optimizer's moments of the model's variables, if the checkpoint has them.

    Moments of a lower tree become those of the upper levels of a higher tree. All other moments
    keep their values, which are zero in a new optimizer. An optimizer without slots has no moments
    and does not change.

    Args:
        optimizer: a Keras optimizer.
        model: the model that it trains.
        path: prefix of a checkpoint of a training.

    Returns:
        number of loaded moments.

    Raises:
        InputError: if the files cannot be read as a checkpoint.
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
