"""Losses of a batch on two replicas are those of the whole batch on one."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.layers import replica_losses

VALUES, WEIGHTS = np.array([1.0, 2.0, 5.0, 8.0]), np.array([1.0, 1.0, 0.0, 2.0])


def test_outside_of_replicas():
    assert replica_losses.number() == 1
    assert float(replica_losses.total(tf.constant(3.0))) == 3
    assert float(replica_losses.weighted_mean(VALUES, WEIGHTS)) == pytest.approx(19 / 4)
    assert float(replica_losses.weighted_mean(VALUES, WEIGHTS, epsilon=1.0)) == pytest.approx(
        19 / 5
    )


def test_parts_of_two_replicas(monkeypatch):
    """The mean over replicas is the mean of the whole, however the weights are spread."""
    parts = [slice(0, 1), slice(1, 4)]
    totals = [float(np.sum(WEIGHTS[part])) for part in parts]

    class Context:
        num_replicas_in_sync = 2

        def all_reduce(self, operation, x):
            assert operation == tf.distribute.ReduceOp.SUM
            assert float(x) in totals
            return tf.constant(sum(totals), tf.float64)

    monkeypatch.setattr(tf.distribute, "get_replica_context", Context)
    assert replica_losses.number() == 2
    means = [float(replica_losses.weighted_mean(VALUES[part], WEIGHTS[part])) for part in parts]
    assert np.mean(means) == pytest.approx(19 / 4)
