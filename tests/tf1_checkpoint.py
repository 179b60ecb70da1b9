"""Checkpoints in the format of TensorFlow 1."""

import tensorflow as tf


def write_tf1(variables, prefix, **more):
    """Writes arrays by name as TF1's Saver does; returns the prefix as text."""
    with tf.Graph().as_default():
        values = variables | more
        stored = {
            name: tf.compat.v1.get_variable(name, initializer=v) for name, v in values.items()
        }
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            tf.compat.v1.train.Saver(stored).save(session, str(prefix), write_meta_graph=False)
    return str(prefix)
