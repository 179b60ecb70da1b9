"""Steps of several batches, steps that XLA compiles, and how long a step waits for its batch."""

import contextlib
import types

import numpy as np
import pytest
import tensorflow as tf
from official.core import base_trainer

from mate_tf.errors import InputError
from mate_tf.layers import step_seeds
from mate_tf.layers.framework import within_xla
from mate_tf.models.encoder import TableEncoder
from mate_tf.training import steps, trainer
from mate_tf.training.progress import in_words

from .. import graphs
from ..event_files import summaries

ACCUMULATE = (
    "trainer.optimizer_config.optimizer.bert_adamw.gradient_accumulation_steps=%d,"
    "task.train_data.global_batch_size=%d"
)
READING, STEP, STEPS = 3.0, 1.0, 4  # seconds of the clock below


def test_split_batches(toy_experiment):
    experiment = toy_experiment(
        ACCUMULATE % (4, 32),
        "task: {train_data: {max_batch_tokens: 1024, curriculum_steps: 5, skip_batches: 3}}",
    )
    assert steps.batches_per_step(experiment) == 4
    data = steps.split_batches(experiment).task.train_data
    assert (data.global_batch_size, data.max_batch_tokens, data.curriculum_steps) == (8, 256, 20)
    assert data.skip_batches == 12  # a training that resumes at step 3 has read 12 small batches
    assert experiment.task.train_data.global_batch_size == 32
    with pytest.raises(InputError, match="global_batch_size=30 is not a multiple of"):
        steps.split_batches(toy_experiment(ACCUMULATE % (4, 30)))
    other = toy_experiment("trainer.optimizer_config.optimizer.type=lamb")
    assert steps.batches_per_step(other) == 1


def test_each_batch_of_each_step_has_a_seed_of_its_own(toy_experiment, monkeypatch):
    """That of its number since the begin, so also in a training that resumes at step 2."""

    def train_on_a_batch(self, iterator):
        seeds.append(tuple(step_seeds.draw().numpy()))
        self.global_step.assign_add(1)

    monkeypatch.setattr(base_trainer.Trainer, "train_step", train_on_a_batch)
    config, found = toy_experiment(ACCUMULATE % (3, 6)), []
    for first in (0, 2):
        step, seeds = tf.Variable(first, dtype=tf.int64), []
        for _ in range(first, 4):
            steps.StepTrainer.train_step(
                types.SimpleNamespace(config=config, global_step=step), iterator=None
            )
        assert step.numpy() == 4
        found.append(seeds)
    whole, resumed = found
    assert len(set(whole)) == 4 * 3
    assert resumed == whole[2 * 3 :]


@pytest.mark.slow
def test_two_batches_train_as_one(toy_experiment, large_steps, tmp_path, capsys):
    """Halves of a batch make the step of the whole, where no clipping tells them apart. The
    trainer, its checkpoints and the progress line count steps, before and after it resumes."""

    def train(parts, end, *overrides):
        experiment = toy_experiment(
            ACCUMULATE % (parts, 32),
            "task: {train_data: {seed: 3, buckets: [], shuffle_buffer_size: 1}}",
            "task: {model: {encoder: {hidden_size: 16, attention: {name: full}}}}",
            "trainer.optimizer_config.optimizer.bert_adamw.gradient_clip_norm=0.0",
            "trainer: {checkpoint_interval: 2, steps_per_loop: 2, summary_interval: 2}",
            large_steps,
            f"trainer.train_steps={end}",
            *overrides,
        )
        folder = tmp_path / str(parts)
        assert trainer.train(experiment, str(folder)) == {"global_step": end}
        assert f"step {end}/{end}  loss " in capsys.readouterr().out
        assert (folder / f"ckpt-{end}.index").exists()
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


@pytest.mark.parametrize("batches", [1, 2])
def test_learns_the_same(toy_experiment, large_steps, tmp_path, monkeypatch, batches):
    """The step is compiled and leaves the same weights, also if it accumulates gradients."""
    seen_compiled, call = [], TableEncoder.call

    def seen(self, *args, **kwargs):
        seen_compiled.append(within_xla())
        return call(self, *args, **kwargs)

    monkeypatch.setattr(TableEncoder, "call", seen)
    attention = {1: "mate_efficient", 2: "full"}[batches]
    losses, weights = {}, {}
    for enabled in (False, True):
        seen_compiled.clear()
        experiment = toy_experiment(
            "task: {train_data: {seed: 3, static_shapes: true, global_batch_size: 8}}",
            f"task: {{model: {{encoder: {{hidden_size: 16, attention: {{name: {attention}}}}}}}}}",
            "trainer: {train_steps: 2, steps_per_loop: 2, summary_interval: 2}",
            f"trainer.optimizer_config.optimizer.bert_adamw.gradient_accumulation_steps={batches}",
            f"runtime.enable_xla={enabled}",
            large_steps,
        )
        folder = tmp_path / str(enabled)
        with contextlib.nullcontext() if enabled else graphs.avoided():
            trainer.train(experiment, str(folder))
        assert set(seen_compiled) == {enabled}
        losses[enabled] = summaries(folder / "train")["training_loss"][-1][1]
        weights[enabled] = trainer.load_model(experiment, str(folder)).get_weights()
    assert losses[True] == pytest.approx(losses[False], rel=1e-4)
    for plain, compiled_ in zip(weights[False], weights[True], strict=True):
        np.testing.assert_allclose(compiled_, plain, atol=1e-4)


@pytest.mark.parametrize(
    ("replicas", "precision", "named"),
    [(2, "bfloat16", "there are 2 replicas; set runtime.dist"), (1, "float16", "not float16")],
)
def test_what_cannot_be_compiled(toy_experiment, replicas, precision, named):
    runtime = toy_experiment(
        f"runtime: {{mixed_precision_dtype: {precision}, enable_xla: true}}"
    ).runtime
    strategy = types.SimpleNamespace(num_replicas_in_sync=replicas)
    with pytest.raises(InputError, match=named):
        steps.compile_train_step(None, runtime, strategy)


class Clock:
    """Time that passes only when something takes time."""

    def __init__(self):
        self.now = 100.0

    def take(self, seconds):
        def pass_by():
            self.now += seconds
            return np.float64(self.now)

        return tf.numpy_function(pass_by, [], tf.float64, stateful=True)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(tf, "timestamp", lambda: clock.take(0.0))
    monkeypatch.setattr(steps.time, "monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def waiting(monkeypatch):
    monkeypatch.setattr(base_trainer.Trainer, "__init__", lambda self: None)
    monkeypatch.setattr(base_trainer.Trainer, "train_loop_end", lambda self: {"loss": 1.0})
    return steps.StepTrainer()


@pytest.mark.parametrize("in_graph", [False, True])
def test_share_of_waiting(waiting, clock, in_graph):
    def read(number):
        with tf.control_dependencies([clock.take(READING)]):
            return tf.identity(number)

    def run(iterator):
        for _ in tf.range(STEPS):
            waiting.next_train_inputs(iterator)
            clock.take(STEP)

    loop = tf.function(run) if in_graph else run
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    iterator = iter(tf.data.Dataset.range(3 * STEPS).map(read).with_options(options))
    for _ in range(2):  # each loop has a share of its own
        waiting.train_loop_begin()
        loop(iterator)
        logs = waiting.train_loop_end()
        assert logs == {"loss": 1.0, steps.INPUT_WAIT: READING / (READING + STEP)}
    assert in_words(logs) == "loss 1  input wait 75.0 %"


def test_a_step_waits_for_the_clock(waiting):
    """Else a single thread may read the clock after the step, which then counts as waiting."""
    iterator = iter(tf.data.Dataset.range(1))
    step = tf.function(lambda batches: -waiting.next_train_inputs(batches))
    (output,) = step.get_concrete_function(iterator).graph.outputs
    before, found = [output.op.inputs[0].op], set()
    while before:
        op = before.pop()
        if op not in found:
            found.add(op)
            before += [*op.control_inputs, *(each.op for each in op.inputs)]
    assert sum(op.type == "Timestamp" for op in found) == 2
