"""Grown layers: finds variables for which a checkpoint has only the first part of the values."""

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


def _factors(model) -> dict[int, dict[tuple[int], float]]:
    """Returns id of a variable that can grow -> {(length of axis 1,): factor}."""
    found = {}
    for layer in modules_with(model, "grown_variables"):
        variables = layer.checkpoint_variables()
        for name, lengths in layer.grown_variables().items():
            found[id(variables[name])] = {(length,): factor for length, factor in lengths.items()}
    return found
