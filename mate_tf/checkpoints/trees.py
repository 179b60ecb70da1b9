"""Decision trees that have grown: what a checkpoint of lower trees holds of a model's trees."""

import tensorflow as tf

from mate_tf.attention.tree import TreeAttention


def lower(model: tf.Module, stored: dict, variables: dict[str, tf.Variable]) -> list[str]:
    """Names of variables whose beginning is stored, as those of lower trees.

    Nodes and levels are counted on axis 1 from the root on, so that the variables of a lower tree
    are the beginning of those of a higher one (Treeformer, Algorithm 1).

    Args:
        model: what has the variables.
        stored: name -> `StoredTensor`.
        variables: name -> variable, by the names in `stored`.
    """
    sizes = _sizes(model)
    return [
        name
        for name, variable in variables.items()
        if name in stored and stored[name].shape[1:2] in sizes.get(id(variable), ())
    ]


def _sizes(model) -> dict[int, set[tuple[int]]]:
    """Lengths of axis 1 in all lower trees, by the id of the variable."""
    found = {}
    for module in model.submodules:
        if isinstance(module, TreeAttention):
            levels = module.tree_shape.levels
            nodes = {(level.first,) for level in levels}
            alphas = {(height + 1,) for height in range(len(levels))}
            for name, variable in module.variant_variables().items():
                found[id(variable)] = alphas if name.endswith("alpha") else nodes
    return found
