"""Layers that have grown: which values of a checkpoint are the beginning of a model's variables."""

import tensorflow as tf

from mate_tf.checkpoints.names import modules_with


def grown(model: tf.Module, stored: dict, variables: dict[str, tf.Variable]) -> dict[str, float]:
    """Returns the variables of which a checkpoint has a smaller layer's values, and their factors.

    An attention layer says which of its variables grow, and how (`grown_variables`). Trees grow
    from the root on, so the variables of a lower tree are the beginning of those of a higher one
    (Treeformer, Algorithm 1).

    Args:
        model: the model that has the variables.
        stored: name -> `StoredTensor`.
        variables: name -> variable, by the names in `stored`.

    Returns:
        name -> number by which the stored values are multiplied.
    """
    factors = _factors(model)
    found = {}
    for name, variable in variables.items():
        lengths = factors.get(id(variable), {})
        if name in stored and stored[name].shape[1:2] in lengths:
            found[name] = lengths[stored[name].shape[1:2]]
    return found


def _factors(model) -> dict[int, dict[tuple[int], float]]:
    """Returns for each variable that grows, by its id: length of axis 1, as a shape -> factor."""
    found = {}
    for layer in modules_with(model, "grown_variables"):
        variables = layer.checkpoint_variables()
        for name, lengths in layer.grown_variables().items():
            found[id(variables[name])] = {(length,): factor for length, factor in lengths.items()}
    return found
