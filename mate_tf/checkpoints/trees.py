"""Decision trees that have grown: what a checkpoint of lower trees holds of a model's trees."""

import tensorflow as tf

from mate_tf.attention.tree import TreeAttention


def lower(model: tf.Module, stored: dict, variables: dict[str, tf.Variable]) -> dict[str, float]:
    """Variables whose beginning is stored, as those of lower trees, and what it is multiplied by.

    Nodes and levels are counted on axis 1 from the root on, so that the variables of a lower tree
    are the beginning of those of a higher one (Treeformer, Algorithm 1). Alpha of `tree_coarse`
    has to make room for that of new levels: with a sum that grows with each level training
    diverges. Multiplied by the share of levels that were there, alpha that has learned nothing
    becomes the 1 / (height + 1) of a new tree.

    Args:
        model: what has the variables.
        stored: name -> `StoredTensor`.
        variables: name -> variable, by the names in `stored`.
    """
    factors = _factors(model)
    return {
        name: factors[id(variable)][stored[name].shape[1:2]]
        for name, variable in variables.items()
        if name in stored and stored[name].shape[1:2] in factors.get(id(variable), ())
    }


def _factors(model) -> dict[int, dict[tuple[int], float]]:
    """Of each variable, by its id: lengths of axis 1 in all lower trees, and their factors."""
    found = {}
    for module in model.submodules:
        if isinstance(module, TreeAttention):
            levels = module.tree_shape.levels
            nodes = {(level.first,): 1.0 for level in levels}
            alphas = {
                (height + 1,): (height + 1) / (len(levels) + 1) for height in range(len(levels))
            }
            for name, variable in module.checkpoint_variables().items():
                found[id(variable)] = alphas if name.endswith("alpha") else nodes
    return found
