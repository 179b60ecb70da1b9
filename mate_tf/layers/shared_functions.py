"""Functions that several layers of one graph share, so that they are traced once."""

from collections.abc import Callable, Hashable

import tensorflow as tf


class SharedFunctions:
    """Cache of tf.functions for the layers that one graph is traced with.

    A large computation that every layer repeats, with other tensors only, is traced by the first
    layer and called by the others. It lives as long as the graph, so it must not be stored beyond.
    The calls are not inlined: TensorFlow optimizes the graph of the function once too.
    """

    def __init__(self):
        self._functions: dict[Hashable, Callable] = {}

    def get(self, key: Hashable, function: Callable) -> Callable:
        """Returns the shared form of `function`; in eager mode `function` itself.

        Args:
            key: everything the computation depends on, beside its arguments.
            function: takes and returns tensors, or structures of tensors. It must have no
                variables and no random state of its own.
        """
        if tf.executing_eagerly():
            return function
        if key not in self._functions:
            self._functions[key] = tf.function(
                function, autograph=False, experimental_attributes={"_noinline": True}
            )
        return self._functions[key]
