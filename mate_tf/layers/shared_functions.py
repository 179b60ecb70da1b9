"""Functions that several layers of one graph share, so that they are traced once."""

from collections.abc import Callable, Hashable

import tensorflow as tf

_NAME = "_mate_tf_shared_functions"
"""Attribute of graphs, so that the functions live as long as their graph."""


def shared_function(key: Hashable, function: Callable) -> Callable:
    """Returns the form of a function that the layers of one graph share.

    A large computation that every layer repeats, with other tensors only, is traced by the first
    layer and called by the others. The calls are not inlined: TensorFlow optimizes the graph of
    the function once too. In eager mode it is `function` itself.

    Args:
        key: everything the computation depends on, besides its arguments.
        function: takes and returns tensors, or structures of tensors. It must have no variables
            and no random state of its own.
    """
    if tf.executing_eagerly():
        return function
    graph = tf.compat.v1.get_default_graph()
    functions = getattr(graph, _NAME, None)
    if functions is None:
        functions = {}
        setattr(graph, _NAME, functions)
    if key not in functions:
        functions[key] = tf.function(
            function, autograph=False, experimental_attributes={"_noinline": True}
        )
    return functions[key]
