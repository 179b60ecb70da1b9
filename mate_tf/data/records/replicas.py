"""A batch's parts, one for each replica (tf.distribute)."""

import tensorflow as tf

from mate_tf.errors import InputError


def check_batch_size(key: str, batch_size: int, num_replicas: int) -> None:
    """Raises InputError, naming `key`, unless each replica gets as many examples."""
    if batch_size % num_replicas:
        raise InputError(
            f"{key}={batch_size} cannot be split among {num_replicas} replicas: "
            "give a multiple of their number"
        )


def split(batches: tf.data.Dataset, context: tf.distribute.InputContext) -> tf.data.Dataset:
    """The parts of each batch that belong to the replicas of this input pipeline, in their order.

    All pipelines read the same batches, so that a step has the same examples, all of one bucket,
    whatever the number of replicas; a replica's share is smaller by it.

    Args:
        batches: of dict of tensors [batch, ...], batch a multiple of the number of replicas; the
            same batches in each pipeline.
        context: which pipeline this is.
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
