"""Gradients that the optimizer accumulates over several batches."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.tasks import optimizers

SHAPE = (5, 2)


def gradients(count):
    return np.random.default_rng(0).normal(size=(count, *SHAPE)).astype(np.float32)


def optimizer(**options):
    return optimizers.BertAdamW(
        0.1, epsilon=1e-6, weight_decay_rate=0.01, exclude_from_weight_decay=["bias"], **options
    )


def run(given, sparse=False, compiled=False, **options):
    """Values of two variables and `iterations` after each call."""
    adamw = optimizer(**options)
    kernel, bias = tf.Variable(tf.ones(SHAPE), name="kernel"), tf.Variable([1.0, 2.0], name="bias")

    @tf.function(jit_compile=compiled)
    def call(gradient):
        of_bias = gradient[0]
        if sparse:
            gradient = tf.IndexedSlices(gradient, tf.range(SHAPE[0]), tf.constant(SHAPE))
        adamw.apply_gradients([(gradient, kernel), (of_bias, bias)])

    trace = []
    for gradient in given:
        call(tf.constant(gradient))
        trace.append((kernel.numpy(), bias.numpy(), int(adamw.iterations)))
    return trace


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("steps", [2, 3])
def test_every_nth_call_steps_with_the_mean(steps, sparse, compiled):
    """Each call's gradients are clipped by their norm before the mean is taken."""
    given = gradients(6)
    trace = run(given, sparse, compiled, gradient_accumulation_steps=steps, clipvalue=0.2)
    assert [count for _, _, count in trace] == [(call + 1) // steps for call in range(6)]
    # Norm (together with the bias, which has the gradient of row 0), then elements.
    clipped = [g / np.sqrt(np.sum(g**2) + np.sum(g[0] ** 2)) for g in given]
    clipped = np.clip(clipped, -0.2 * steps, 0.2 * steps)
    means = np.clip(clipped.reshape([-1, steps, *SHAPE]).mean(axis=1), -0.2, 0.2)
    expected = run(means, gradient_clip_norm=0.0)
    for call, (kernel, bias, count) in enumerate(trace):
        if count:
            np.testing.assert_allclose(kernel, expected[count - 1][0], rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(bias, expected[count - 1][1], rtol=1e-5, atol=1e-6)
        else:
            assert (kernel == 1).all(), call


def test_repeated_rows_of_a_sparse_gradient_add_up():
    adamw, var = optimizer(gradient_accumulation_steps=2), tf.Variable(tf.ones([3, 1]))
    other, dense = optimizer(), tf.Variable(tf.ones([3, 1]))
    for _ in range(2):
        rows = tf.IndexedSlices(tf.constant([[0.1], [0.2]]), tf.constant([2, 2]), [3, 1])
        adamw.apply_gradients([(rows, var)])
    other.apply_gradients([(tf.constant([[0.0], [0.0], [0.3]]), dense)])
    np.testing.assert_allclose(var, dense, rtol=1e-6)
    assert dense[2] != dense[1]


@pytest.mark.parametrize("calls", [2, 3])
def test_checkpoint_in_the_middle(tmp_path, calls):
    """Saved after some of the calls of a step, or between two steps."""
    given = gradients(6)

    def build():
        adamw, var = optimizer(gradient_accumulation_steps=3), tf.Variable(tf.ones(SHAPE))
        return adamw, var, tf.train.Checkpoint(optimizer=adamw, var=var)

    adamw, var, checkpoint = build()
    for gradient in given[:calls]:
        adamw.apply_gradients([(tf.constant(gradient), var)])
    path = checkpoint.save(str(tmp_path / "ckpt"))
    again, copy, restored = build()
    status = restored.restore(path)
    for gradient in given[calls:]:
        adamw.apply_gradients([(tf.constant(gradient), var)])
        again.apply_gradients([(tf.constant(gradient), copy)])
    status.assert_consumed()
    assert again.iterations == 2
    np.testing.assert_array_equal(copy, var)


def test_configuration():
    assert optimizer(gradient_accumulation_steps=3, clipvalue=2.0).get_config().items() >= {
        ("gradient_accumulation_steps", 3),
        ("gradient_clip_norm", 1.0),
        ("clipvalue", 2.0),
    }
    copy = optimizers.BertAdamW.from_config(optimizer(gradient_clip_norm=10.0).get_config())
    assert copy.get_config() == optimizer(gradient_clip_norm=10.0).get_config()
    with pytest.raises(InputError, match="gradient_accumulation_steps=0"):
        optimizer(gradient_accumulation_steps=0)


TWO_REPLICAS = """
import numpy as np, tensorflow as tf
from mate_tf.layers import step_seeds
from mate_tf.tasks import optimizers

[cpu] = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
given = tf.random.stateless_normal([8, 5, 2], seed=(0, 0))


def build(steps, **clip):
    adamw = optimizers.BertAdamW(
        0.1, epsilon=1e-6, weight_decay_rate=0.01, gradient_accumulation_steps=steps, **clip)
    return adamw, tf.Variable(tf.ones([5, 2]))


def train(sparse, steps, **clip):
    with strategy.scope():
        adamw, var = build(steps, **clip)

    def call(gradient):
        # The gradient of the loss divided by the number of replicas, as trainers compute it.
        gradient = gradient / 2
        if sparse:
            gradient = tf.IndexedSlices(gradient, tf.range(5), tf.constant([5, 2]))
        adamw.apply_gradients([(gradient, var)])

    function = tf.function(lambda gradient: strategy.run(call, args=(gradient,)))
    for step in range(4):
        function(strategy.experimental_distribute_values_from_function(
            lambda context: given[2 * step + context.replica_id_in_sync_group]))
    assert adamw.iterations.numpy() == 4 // steps, adamw.iterations
    np.testing.assert_array_equal(*(replica.numpy() for replica in var.values))
    return var.values[0].numpy()


def of_both(pair, sparse):
    # The gradient of one replica with the batch of both.
    if not sparse:
        return tf.reduce_mean(pair, axis=0)
    rows = tf.tile(tf.range(5), [2])
    return tf.IndexedSlices(tf.reshape(pair / 2, [10, 2]), rows, tf.constant([5, 2]))


for steps in (1, 2):
    for sparse, clipvalue in ((False, 0.3), (True, None)):
        adamw, var = build(steps, clipvalue=clipvalue)
        for pair in tf.reshape(given, [4, 2, 5, 2]):
            adamw.apply_gradients([(of_both(pair, sparse), var)])
        got = train(sparse, steps, clipvalue=clipvalue)
        np.testing.assert_allclose(got, var, rtol=1e-4, atol=1e-6)


@tf.function
def draw():
    with step_seeds.seeded_step(1, 5):
        return strategy.run(step_seeds.draw)


first, second = strategy.experimental_local_results(draw())
assert (first.numpy() != second.numpy()).any(), first  # each replica drops other values
print("equal")
"""


def test_two_replicas(run_python):
    """The mean over both is clipped, as of one replica with the whole batch; accumulated or not."""
    assert run_python(TWO_REPLICAS) == "equal\n"
