"""Batches in equal parts: together they are the batch of one replica."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.data.records import replica_batches
from mate_tf.errors import InputError


def context(pipelines, index, number):
    return tf.distribute.InputContext(
        num_input_pipelines=pipelines, input_pipeline_id=index, num_replicas_in_sync=number
    )


def batches(dynamic):
    """Batches of 4 and of 8 examples, of 3 and of 5 tokens."""
    values = [np.arange(12).reshape([4, 3]), np.arange(40).reshape([8, 5])]
    shape = [None, None] if dynamic else [4, 3]
    return tf.data.Dataset.from_generator(
        lambda: ({"x": value} for value in (values if dynamic else values[:1])),
        output_signature={"x": tf.TensorSpec(shape, tf.int64)},
    )


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("pipelines", "number"), [(1, 2), (2, 2), (2, 4), (4, 4)])
def test_parts_make_up_the_batch(dynamic, pipelines, number):
    """Each pipeline has those of its own replicas, in their order."""
    parts = [
        [
            part["x"]
            for part in replica_batches.split(batches(dynamic), context(pipelines, index, number))
        ]
        for index in range(pipelines)
    ]
    own = number // pipelines
    for step, batch in enumerate(batches(dynamic)):
        of_step = [part for each in parts for part in each[step * own : (step + 1) * own]]
        assert len({tuple(part.shape) for part in of_step}) == 1
        np.testing.assert_array_equal(np.concatenate(of_step), batch["x"])


def test_static_shapes_stay():
    spec = replica_batches.split(batches(False), context(2, 1, 2)).element_spec["x"]
    assert spec.shape == [2, 3]


def test_unequal_parts():
    replica_batches.check_batch_size("key", 6, 3)
    with pytest.raises(InputError, match="key=6 cannot be split among 4 replicas"):
        replica_batches.check_batch_size("key", 6, 4)
