"""Functions that are computed again for their gradients, so that nothing of them is stored."""

import tensorflow as tf


def recomputed(function, arguments, others):
    """Computes `function(*arguments, *others)`, and computes it again for its gradients.

    Nothing is stored for the gradients. A TPU reserves memory for both branches of a condition, so
    what a branch stores would be there always, and it has no kernels to pass on a loop's memory.

    Args:
        function: takes and returns tensors.
        arguments: the tensors to differentiate by.
        others: further tensors.
    """

    @tf.custom_gradient
    def run(*tensors):
        arguments, others = tensors[:count], tensors[count:]

        def gradients(upstream):
            with tf.GradientTape() as tape:
                tape.watch(arguments)
                result = function(*tensors)
            of_arguments = tape.gradient(result, arguments, upstream)
            return (*of_arguments, *[None] * len(others))

        return function(*tensors), gradients

    count = len(arguments)
    # Copies, as the gradient of a condition within a tf.function finds its own tensors only.
    return run(*map(tf.identity, (*arguments, *others)))
