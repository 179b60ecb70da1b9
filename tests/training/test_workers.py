"""TF_CONFIG, and one batch over two replicas of a process; tests/cli has two processes."""

import json

import pytest

from mate_tf.errors import InputError
from mate_tf.training import experiments, workers

from ..event_files import summaries

WORKERS = {"worker": ["one:2222", "two:2222"]}


def config(**changes):
    return json.dumps({"cluster": WORKERS, "task": {"type": "worker", "index": 1}} | changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("worker", "TF_CONFIG=worker: not valid JSON"),
        ("[]", r'TF_CONFIG=\[\]: has no "cluster"'),
        (config(cluster={}), 'has no "cluster"'),
        (config(cluster={"worker": "one:2222"}), "cluster.worker is not a list"),
        (config(cluster={"worker": ["one"]}), "cluster.worker has 'one', not host:port"),
        (config(cluster={"worker": ["a:1", "a:1"]}), "an address is in the cluster twice"),
        (config(cluster=WORKERS | {"ps": ["a:1"]}), "job 'ps' in the cluster"),
        (json.dumps({"cluster": WORKERS}), 'has no "task" with type and index'),
        (config(task={"type": "worker"}), 'has no "task" with type and index'),
        (
            config(task={"type": "chief", "index": 0}),
            "task.type 'chief' is not a job of the cluster",
        ),
        (config(task={"type": "worker", "index": 2}), "task.index 2, but .* has 2 addresses"),
        (config(task={"type": "worker", "index": "0"}), "task.index '0', but"),
    ],
)
def test_what_is_wrong_with_tf_config(monkeypatch, text, message):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(InputError, match=message) as raised:
        workers.read_cluster()
    assert "\n" not in str(raised.value)


def test_tf_config(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", config())
    assert workers.read_cluster() == WORKERS
    monkeypatch.setenv("TF_CONFIG", " ")
    assert workers.read_cluster() == {}


def test_alone(toy_experiment, tmp_path):
    """With any other strategy TF_CONFIG is not even read."""
    experiment = toy_experiment()
    with workers.joined(experiment) as group, group.own_folder(str(tmp_path)) as folder:
        assert (group.several, group.is_chief, folder) == (False, True, str(tmp_path))
        assert group.agree(experiment, 3).as_dict() == experiment.as_dict()
        group.wait()


TWO_REPLICAS = """
import sys
import numpy as np, tensorflow as tf
from mate_tf import tasks
from mate_tf.layers import replica_losses as of_all
from mate_tf.training import experiments, trainer

params, folder = sys.argv[1:]
replicas, original = [], tasks.get("SYNTHETIC").train_step

def watched(self, inputs, *args, **kwargs):
    replicas.append(tf.distribute.get_strategy().num_replicas_in_sync)
    return original(self, inputs, *args, **kwargs)

tasks.get("SYNTHETIC").train_step = watched
[cpu] = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

# A quarter of the words is on one replica.
values, x = tf.constant([1.0, 2.0, 4.0, 8.0]), tf.Variable(3.0)
def loss():
    own = tf.distribute.get_replica_context().replica_id_in_sync_group
    weights = tf.cast(tf.where(own == 0, tf.range(4) < 1, tf.range(4) >= 1), tf.float32)
    with tf.GradientTape() as tape:
        result = of_all.weighted_mean(x * values, weights, 1.0) + of_all.total(x) ** 2
    return result, tape.gradient(result, x)
both = trainer.strategy(experiments.load(params))
results = tf.function(lambda: both.run(loss))()
mean, gradient = (np.mean(both.experimental_local_results(each)) for each in results)
np.testing.assert_allclose([mean, gradient], [3 * 15 / 5 + 36, 15 / 5 + 24], rtol=1e-6)
assert of_all.weighted_mean(values, tf.ones([4])) == 15 / 4

for strategy in ("one_device", "mirrored"):
    experiment = experiments.load(params)
    experiment.runtime.distribution_strategy = strategy
    metrics = trainer.train(experiment, f"{folder}/{strategy}")
    print(strategy, replicas[-1], *(metrics[name] for name in sorted(metrics)))
"""


@pytest.mark.slow
def test_two_replicas_train_as_one(
    toy_experiment, with_evaluation, mixed_lengths, tmp_path, run_python
):
    """Whatever is clipped, and whatever is left for the last batch of an evaluation."""
    path = tmp_path / "params.yaml"
    experiment = toy_experiment(
        with_evaluation,
        mixed_lengths,
        "task: {train_data: {global_batch_size: 6, max_batch_tokens: 130, shuffle_buffer_size: 50},"
        " validation_data: {global_batch_size: 8, buckets: [16, 32]}}",
        "trainer: {train_steps: 20, steps_per_loop: 1, summary_interval: 1, validation_interval: 20"
        ", checkpoint_interval: 20, optimizer_config: {optimizer: {bert_adamw: {clipvalue: null,"
        " gradient_clip_norm: 0.5}}, learning_rate: {bert: {initial_learning_rate: 0.003}}}}",
    )
    experiments.save(experiment, str(tmp_path))
    printed = run_python(TWO_REPLICAS, path, tmp_path)
    lines = [line.split() for line in printed.splitlines()]
    one, two = (
        list(map(float, numbers))
        for strategy, *numbers in lines
        if strategy in ("one_device", "mirrored")
    )
    assert (one.pop(0), two.pop(0)) == (1, 2)
    assert two == pytest.approx(one, rel=1e-3)
    curves = [summaries(tmp_path / name / "train") for name in ("one_device", "mirrored")]
    assert [step for step, _ in curves[0]["training_loss"]] == list(range(1, 21))
    for tag in ("training_loss", "answer_accuracy"):
        one, two = (dict(curve[tag]) for curve in curves)
        assert two == pytest.approx(one, rel=1e-3)
