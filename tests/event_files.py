"""What a training has written for TensorBoard."""

import glob
import os

import tensorflow as tf


def summaries(folder):
    """Tag -> [(step, value)] of the event files in a folder."""
    found = {}
    for path in glob.glob(os.path.join(folder, "events*")):
        for record in tf.data.TFRecordDataset(path):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                found.setdefault(value.tag, []).append(
                    (event.step, float(tf.make_ndarray(value.tensor)))
                )
    return {tag: sorted(values) for tag, values in found.items()}
