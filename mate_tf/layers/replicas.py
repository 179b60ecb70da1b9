"""Losses of a batch that is spread over replicas (tf.distribute).

Trainers take the mean over the replicas of what each of them calls its loss. That is the loss of
the whole batch only if each one divides by what all have together: a mean of means weighs masked
words, labelled spans or examples differently from replica to replica.

Outside of replicas, and with a single one, these functions change nothing.
"""

import tensorflow as tf


def number() -> int:
    """Replicas that train together, as seen from one of them; 1 outside of replicas."""
    context = tf.distribute.get_replica_context()
    return 1 if context is None else context.num_replicas_in_sync


def total(x):
    """<float>[...] -> the same shape: the sum over all replicas, of which each calls this."""
    if number() == 1:
        return x
    return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, x)


def weighted_mean(values, weights, epsilon=0.0):
    """What a replica adds to sum(weights * values) / (sum(weights) + epsilon) over all of them.

    Args:
        values: <float32>[n]; n may differ between replicas.
        weights: <float32>[n].
        epsilon: as above.

    Returns:
        <float32>[], times the number of replicas, so that the mean over them is that quotient.
    """
    of_replica = tf.reduce_sum(weights * values)
    of_replica /= total(tf.reduce_sum(weights)) + epsilon
    return of_replica if number() == 1 else of_replica * number()
