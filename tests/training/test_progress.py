"""What a training prints: one line each time, short names, units, the time that is left."""

import numpy as np
import pytest
import tensorflow as tf
from orbit import controller

from mate_tf.training import progress


@pytest.fixture
def clock(monkeypatch):
    """clock(seconds): lets time pass."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    return wait


def test_a_training(clock, capsys):
    step = tf.Variable(0, dtype=tf.int64)
    shown = progress.Progress(1600)
    shown.start(step)
    clock(20)
    step.assign(100)
    metrics = {"learning_rate": 9.4e-4, "answer_accuracy": np.float32(0.002)}
    shown(metrics | {"training_loss": tf.constant(3.2421)})
    clock(1000)  # the evaluation
    shown.evaluated({"answer_accuracy": 0.0512, "validation_loss": np.float32(2.906)})
    clock(100 / 7.1)
    step.assign(200)
    shown(metrics | {"training_loss": 12345.6})
    clock(400)
    step.assign(300)
    shown({})
    assert capsys.readouterr().out.splitlines() == [
        "step 0/1600  compiling the first step",
        "step 100/1600  loss 3.24  acc 0.2 %  lr 9.4e-4  5.0/s  ETA 5:00",
        "step 100/1600  evaluation  loss 2.91  acc 5.1 %",
        "step 200/1600  loss 12346  acc 0.2 %  lr 9.4e-4  7.1/s  ETA 3:17",
        "step 300/1600  0.25/s  ETA 1:26:40",
    ]


def test_other_metrics():
    metrics = {"learning_rate": 0.0, "masked_lm_loss": 7.1, "sparsity": 0.95, "global_step": 3}
    words = "masked lm loss 7.1  sparsity 95.0 %  lr 0"
    assert progress.in_words(metrics) == words
    assert progress.in_words(metrics | {"training_loss": 8}) == f"loss 8  {words}"


def test_two_accuracies():
    words = progress.in_words({"answer_accuracy": 0.5, "class_accuracy": 0.25})
    assert words == "answer accuracy 50.0 %  class accuracy 25.0 %"


def test_table():
    metrics = {"answer_accuracy": 0.93333, "validation_loss": 0.21987, "global_step": 1600.0}
    assert progress.report("trained", metrics).splitlines() == [
        "trained | step 1600",
        "  answer accuracy   93.33 %",
        "  loss             0.2199",
    ]
    assert progress.report("trained", {"global_step": 3}) == "trained | step 3"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (59.6, "1:00"), (210, "3:30"), (7384, "2:03:04"), (float("inf"), "?")],
)
def test_duration(seconds, text):
    assert progress.duration(seconds) == text


def test_orbit_is_quiet(capsys):
    with progress.orbit_is_quiet():
        controller._log("train | step: 1 | output: {...}")
    assert capsys.readouterr().out == ""
    controller._log("as before")
    assert capsys.readouterr().out == "as before\n"


def test_constant_learning_rate_is_a_variable():
    """Of the strategy; it has no conversion to float of its own."""
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        rate = tf.Variable(0.01, trainable=False)
    assert progress.in_words({"learning_rate": rate}) == "lr 1.0e-2"
    assert progress.number(np.float32(0.5)) == progress.number(0.5) == 0.5
