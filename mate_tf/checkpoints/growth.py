"""Variables for which a checkpoint has only the first part of the values."""

import functools

import numpy as np
import tensorflow as tf

from mate_tf.checkpoints import bundle, finite
from mate_tf.checkpoints.names import modules_with, own_variables


def grown(model: tf.Module, stored: dict, variables: dict[str, tf.Variable]) -> dict[str, float]:
    """Returns the variables that were smaller when the checkpoint was saved, with factors.

    An attention layer tells which of its variables can grow (`grown_variables`). Trees grow
    downwards from the root, so the variables of a lower tree are the first part of those of a
    higher tree (Treeformer, Algorithm 1).

    Args:
        stored: name -> `StoredTensor`.
        variables: name in `stored` -> variable.

    Returns:
        name -> factor for the stored values.
    """
    factors = _factors(model)
    grown_tensors = {}
    for name, variable in variables.items():
        lengths = factors.get(id(variable), {})
        if name in stored and stored[name].shape[1:2] in lengths:
            grown_tensors[name] = lengths[stored[name].shape[1:2]]
    return grown_tensors


def repeated(model: tf.Module, stored: dict, variables: dict[str, tf.Variable]) -> dict:
    """Returns the variables that have more rows than the checkpoint, and start as copies of them.

    A layer tells which of its variables do (`repeated_variables`).

    Args:
        stored: name -> `StoredTensor`.
        variables: name in `stored` -> variable.

    Returns:
        name -> `StoredTensor` with the shape of the variable.
    """
    layers = modules_with(model, "repeated_variables")
    repeating = {id(variable) for layer in layers for variable in layer.repeated_variables()}
    grown = {}
    for name, variable in variables.items():
        if id(variable) in repeating and name in stored:
            (rows, *rest), shape = stored[name].shape, tuple(variable.shape)
            if 0 < rows < shape[0] and (*rest,) == shape[1:]:
                copies = functools.partial(np.resize, new_shape=shape)
                grown[name] = stored[name].converted(shape, copies)
    return grown


def _factors(model) -> dict[int, dict[tuple[int], float]]:
    """Returns id of a variable that can grow -> {(length of axis 1,): factor}."""
    factors = {}
    for layer in modules_with(model, "grown_variables"):
        variables = layer.checkpoint_variables()
        for name, lengths in layer.grown_variables().items():
            factors[id(variables[name])] = {(length,): factor for length, factor in lengths.items()}
    return factors


_SLOT = "{}/.OPTIMIZER_SLOT/optimizer/{}"


def load_moments(optimizer, model: tf.Module, path: str) -> int:
    """Loads the optimizer's moments of the model's variables, if the checkpoint has them.

    Moments of a lower tree become those of the upper levels of a higher tree. All other moments
    keep their values, which are zero in a new optimizer. An optimizer without slots has no moments
    and does not change.

    Args:
        path: prefix of a checkpoint of a training run.

    Returns:
        number of loaded moments.

    Raises:
        InputError: if the files cannot be read as a checkpoint, or a moment is not finite.
    """
    if not hasattr(optimizer, "get_slot_names"):
        return 0
    tensors, _ = bundle.read(path)
    optimizer._create_all_weights(model.trainable_variables)
    trained = {id(variable) for variable in model.trainable_variables}
    variables = {n: v for n, v in own_variables(model, tensors).items() if id(v) in trained}
    axes = dict.fromkeys(grown(model, tensors, variables), 1)
    slots = {}
    for name, variable in variables.items():
        for slot in optimizer.get_slot_names():
            tensor = tensors.get(_SLOT.format(name, slot))
            moments = optimizer.get_slot(variable, slot)
            if tensor is not None and name in axes:
                tensor = tensor.padded(moments, axes[name])
            if tensor is not None and tensor.shape == tuple(moments.shape):
                slots[id(moments)] = moments, tensor
    for moments, tensor in slots.values():
        values = tensor.read()
        finite.check(path, tensor.name, values)
        moments.assign(tf.cast(values, moments.dtype))
    return len(slots)
