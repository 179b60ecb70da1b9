"""Steps over several batches: equal to one batch, counted as one, saved and resumed."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.training import accumulation, optimizers, trainer

SHAPE = (5, 2)
ACCUMULATE = (
    "trainer.optimizer_config.optimizer.bert_adamw.gradient_accumulation_steps=%d,"
    "task.train_data.global_batch_size=%d"
)


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


def test_split_batches(toy_experiment):
    experiment = toy_experiment(
        ACCUMULATE % (4, 32),
        "task: {train_data: {max_batch_tokens: 1024, curriculum_steps: 5}}",
    )
    assert accumulation.batches_per_step(experiment) == 4
    data = accumulation.split_batches(experiment).task.train_data
    assert (data.global_batch_size, data.max_batch_tokens, data.curriculum_steps) == (8, 256, 20)
    assert experiment.task.train_data.global_batch_size == 32
    with pytest.raises(InputError, match="global_batch_size=30 is not a multiple of"):
        accumulation.split_batches(toy_experiment(ACCUMULATE % (4, 30)))
    other = toy_experiment("trainer.optimizer_config.optimizer.type=lamb")
    assert accumulation.batches_per_step(other) == 1


def test_two_batches_train_as_one(toy_experiment, large_steps, tmp_path, capsys):
    """Halves of a batch make the step of the whole, where no clipping tells them apart.

    The trainer, its checkpoints and the progress line count steps, before and after it resumes.
    """

    def train(parts, steps, *overrides):
        experiment = toy_experiment(
            ACCUMULATE % (parts, 32),
            "task: {train_data: {seed: 3, buckets: [], shuffle_buffer_size: 1}}",
            "task: {model: {encoder: {hidden_size: 16, attention: {name: full}}}}",
            "trainer.optimizer_config.optimizer.bert_adamw.gradient_clip_norm=0.0",
            "trainer: {checkpoint_interval: 2, steps_per_loop: 2, summary_interval: 2}",
            large_steps,
            f"trainer.train_steps={steps}",
            *overrides,
        )
        folder = tmp_path / str(parts)
        assert trainer.train(experiment, str(folder)) == {"global_step": steps}
        assert f"step {steps}/{steps}  loss " in capsys.readouterr().out
        assert (folder / f"ckpt-{steps}.index").exists()
        return trainer.load_model(experiment, str(folder)).get_weights()

    for one, two in zip(train(1, 2), train(2, 2), strict=True):
        np.testing.assert_allclose(two, one, atol=1e-4)
    train(2, 4, "runtime.mixed_precision_dtype=bfloat16")
    saved = tf.train.load_checkpoint(str(tmp_path / "2"))
    counts = {
        name: saved.get_tensor(name + "/.ATTRIBUTES/VARIABLE_VALUE")
        for name in ("global_step", "optimizer/iter", "optimizer/calls")
    }
    assert counts == {"global_step": 4, "optimizer/iter": 4, "optimizer/calls": 0}
    sums = [name for name in saved.get_variable_to_shape_map() if "gradient_sum" in name]
    assert sums
    assert not any(saved.get_tensor(name).any() for name in sums)


TWO_REPLICAS = """
import numpy as np, tensorflow as tf
from mate_tf.layers import step_seeds
from mate_tf.training import optimizers

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
    with step_seeds.of_step(1, 5):
        return strategy.run(step_seeds.draw)


first, second = strategy.experimental_local_results(draw())
assert (first.numpy() != second.numpy()).any(), first  # each replica drops other values
print("equal")
"""


def test_two_replicas(project):
    """The mean over both is clipped, as of one replica with the whole batch; accumulated or not."""
    result = subprocess.run(
        [sys.executable, "-c", TWO_REPLICAS], cwd=project, capture_output=True, text=True
    )
    assert result.stdout == "equal\n", result.stderr[-2000:]
