"""Losses of a batch that is distributed over replicas (tf.distribute).

Trainers take the mean of the losses of all replicas. It is the loss of the whole batch only if each
replica divides by the total of all replicas: in a mean of means, the weight of a masked word, a
labelled span or an example would depend on its replica.

With one replica, and outside of replicas, these functions change nothing.
"""

import tensorflow as tf


def number() -> int:
    """Returns the number of replicas that train together; 1 outside of replicas."""
    context = tf.distribute.get_replica_context()
    return 1 if context is None else context.num_replicas_in_sync


def total(x):
    """Sums <float>[...] over all replicas; each of them must call it. Keeps the shape."""
    if number() == 1:
        return x
    return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, x)


def weighted_mean(values, weights, epsilon=0.0):
    """Computes a replica's part of sum(weights * values) / (sum(weights) + epsilon) over all.

    Args:
        values: <float32>[n]; n may differ between replicas.
        weights: <float32>[n].
        epsilon: added to the sum of the weights.

    Returns:
        <float32>[], multiplied by the number of replicas, so that their mean is the quotient.
    """
    of_replica = tf.reduce_sum(weights * values)
    of_replica /= total(tf.reduce_sum(weights)) + epsilon
    return of_replica if number() == 1 else of_replica * number()
