"""Prints, as JSON, what `benchmarks/tpu_lowering.py` says of functions that are and are not safe.

Runs in the environment of requirements.txt, which has no pytest.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "benchmarks"))

import tensorflow as tf
import tpu_lowering

COUNT = tf.Variable(0)


def counts(x):
    COUNT.assign_add(1)
    return x + tf.cast(COUNT, tf.float32)


FUNCTIONS = {
    "safe": lambda x: tf.where(x > 0, x, 0.0),
    "safe, with a variable": counts,
    "py_function": lambda x: tf.py_function(lambda y: y, [x], tf.float32),
    "py_function beside a variable": lambda x: counts(tf.py_function(lambda y: y, [x], tf.float32)),
    "string": lambda x: tf.strings.length(tf.strings.as_string(x)),
    "where": lambda x: tf.where(x > 0),
    "unique": lambda x: tf.unique(x)[0],
    "boolean_mask, shape not in the result": lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 0)),
    "dynamic_partition": lambda x: tf.dynamic_partition(x, tf.cast(x > 0, tf.int32), 2),
}

if __name__ == "__main__":
    spec = tf.TensorSpec([8], tf.float32)
    print(json.dumps({name: tpu_lowering.why_not(f, spec) for name, f in FUNCTIONS.items()}))
