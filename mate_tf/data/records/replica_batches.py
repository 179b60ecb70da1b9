"""Splits batches among the replicas of tf.distribute."""

import tensorflow as tf

from mate_tf.errors import InputError


def check_batch_size(key: str, batch_size: int, num_replicas: int) -> None:
    """Raises InputError, with `key`, unless the replicas divide the batch size."""
    if batch_size % num_replicas:
        raise InputError(
            f"{key}={batch_size} cannot be split among {num_replicas} replicas: "
            "give a multiple of their number"
        )


def split(batches: tf.data.Dataset, context: tf.distribute.InputContext) -> tf.data.Dataset:
    """Returns the parts of each batch for the replicas of this input pipeline, in order.

    All pipelines read the same batches. So a step has the same examples, all of one bucket, for
    any number of replicas.

    Args:
        batches: dataset of dicts with <dtype>[batch, ...]. The replicas must divide the batch size,
            and each pipeline must have the same batches.
        context: the input pipeline.

    Returns:
        dataset of dicts with <dtype>[batch / replicas, ...], one element per replica.
    """
    replicas = context.num_replicas_in_sync
    number = replicas // context.num_input_pipelines
    first = context.input_pipeline_id * number

    def of_pipeline(value):
        sizes = [
            tf.shape(value)[axis] if size is None else size for axis, size in enumerate(value.shape)
        ]
        parts = tf.reshape(value, [replicas, sizes[0] // replicas, *sizes[1:]])
        return parts[first : first + number]

    return batches.map(
        lambda batch: {name: of_pipeline(value) for name, value in batch.items()}
    ).unbatch()
