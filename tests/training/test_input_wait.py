"""The share of waiting is that of a slow dataset, in a loop of a graph as in Python."""

import numpy as np
import pytest
import tensorflow as tf
from official.core import base_trainer

from mate_tf.training import input_wait
from mate_tf.training.progress import in_words

READING, STEP, STEPS = 3.0, 1.0, 4  # seconds of the clock below


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
    monkeypatch.setattr(input_wait.time, "monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def trainer(monkeypatch):
    monkeypatch.setattr(base_trainer.Trainer, "__init__", lambda self: None)
    monkeypatch.setattr(base_trainer.Trainer, "train_loop_end", lambda self: {"loss": 1.0})
    return input_wait.WaitMeasuringTrainer()


@pytest.mark.parametrize("in_graph", [False, True])
def test_share(trainer, clock, in_graph):
    def read(number):
        with tf.control_dependencies([clock.take(READING)]):
            return tf.identity(number)

    def steps(iterator):
        for _ in tf.range(STEPS):
            trainer.next_train_inputs(iterator)
            clock.take(STEP)

    loop = tf.function(steps) if in_graph else steps
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    iterator = iter(tf.data.Dataset.range(3 * STEPS).map(read).with_options(options))
    for _ in range(2):  # each loop has a share of its own
        trainer.train_loop_begin()
        loop(iterator)
        logs = trainer.train_loop_end()
        assert logs == {"loss": 1.0, input_wait.SHARE: READING / (READING + STEP)}
    assert in_words(logs) == "loss 1  input wait 75.0 %"


def test_a_step_waits_for_the_clock(trainer):
    """Else a single thread may read the clock after the step, which then counts as waiting."""
    iterator = iter(tf.data.Dataset.range(1))
    step = tf.function(lambda batches: -trainer.next_train_inputs(batches))
    (output,) = step.get_concrete_function(iterator).graph.outputs
    before, found = [output.op.inputs[0].op], set()
    while before:
        op = before.pop()
        if op not in found:
            found.add(op)
            before += [*op.control_inputs, *(each.op for each in op.inputs)]
    assert sum(op.type == "Timestamp" for op in found) == 2
