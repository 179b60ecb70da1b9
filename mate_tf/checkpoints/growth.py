"""Grown layers: finds variables for which a checkpoint has only the first part of the values.

The rest keeps the values of the model (trees), or becomes copies of the first part (positions).
"""

import tensorflow as tf

from mate_tf.checkpoints.names import modules_with


def grown(model: tf.Module, stored: dict, variables: dict[str, tf.Variable]) -> dict[str, float]:
    """Returns the variables that were smaller when the checkpoint was saved, with factors.

    An attention layer tells which of its variables can grow (`grown_variables`). Trees grow
    downwards from the root, so the variables of a lower tree are the first part of those of a
    higher tree (Treeformer, Algorithm 1).

    Args:
        model: the model with the variables.
        stored: name -> `StoredTensor`.
        variables: name in `stored` -> variable.

    Returns:
        name -> factor for the stored values.
    """
    factors = _factors(model)
    found = {}
    for name, variable in variables.items():
        lengths = factors.get(id(variable), {})
        if name in stored and stored[name].shape[1:2] in lengths:
            found[name] = lengths[stored[name].shape[1:2]]
    return found


def repeated(model: tf.Module, stored: dict, variables: dict[str, tf.Variable]) -> dict[str, int]:
    """Returns the variables that have more rows than the checkpoint, and start as copies of them.

    A layer tells which of its variables do (`repeated_variables`).

    Args:
        model: the model with the variables.
        stored: name -> `StoredTensor`.
        variables: name in `stored` -> variable.

    Returns:
        name -> number of rows of the variable.
    """
    layers = modules_with(model, "repeated_variables")
    repeating = {id(variable) for layer in layers for variable in layer.repeated_variables()}
    return {
        name: variable.shape[0]
        for name, variable in variables.items()
        if id(variable) in repeating
        and name in stored
        and stored[name].shape[1:] == tuple(variable.shape[1:])
        and 0 < stored[name].shape[0] < variable.shape[0]
    }


def _factors(model) -> dict[int, dict[tuple[int], float]]:
    """Returns id of a variable that can grow -> {(length of axis 1,): factor}."""
    found = {}
    for layer in modules_with(model, "grown_variables"):
        variables = layer.checkpoint_variables()
        for name, lengths in layer.grown_variables().items():
            found[id(variables[name])] = {(length,): factor for length, factor in lengths.items()}
    return found
