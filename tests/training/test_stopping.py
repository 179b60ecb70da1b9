"""A signal ends a training with a checkpoint, from which the same command goes on."""

import os
import signal
import threading
import time
import types

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import interrupts
from mate_tf.checkpoints.latest import latest
from mate_tf.cli import signals
from mate_tf.errors import InputError
from mate_tf.training import progress, stopping, trainer

LONG = (
    "trainer: {train_steps: 4000, steps_per_loop: 4000, summary_interval: 4000,"
    " checkpoint_interval: 4000, optimizer_config: {learning_rate: {bert: {decay_steps: 9000}}}}"
)


@pytest.fixture
def signal_after(monkeypatch):
    """signal_after(steps): sends SIGTERM to this process when a training has done so many."""
    start, threads = progress.Progress.start, []

    def after(number):
        def send(step):
            while int(step.numpy()) < number:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGTERM)

        def watched(self, step):
            threads.append(threading.Thread(target=send, args=[step], daemon=True))
            threads[-1].start()
            start(self, step)

        monkeypatch.setattr(progress.Progress, "start", watched)

    return after


def interrupted(experiment, model_dir) -> int:
    """Trains until a signal comes; returns the step of the checkpoint."""
    with (
        signals.handled(signals.Interruption("mate-tf")),
        pytest.raises(KeyboardInterrupt),
    ):
        trainer.train(experiment, str(model_dir))
    return trainer.global_step(str(model_dir))


def test_the_loop_is_left(runner):
    """Another thread asks while the main thread is inside TensorFlow."""
    steps, stop = tf.Variable(0), stopping.Stop()

    def ask():
        while int(steps.numpy()) < 3:
            time.sleep(0.01)
        interrupts.seconds()

    loop = stop.loop(lambda iterator: steps.assign_add(1))
    with stop.saving(runner, lambda: None):
        loop(None, tf.constant(5))
        assert int(steps.numpy()) == 5
        thread = threading.Thread(target=ask)
        thread.start()
        loop(None, tf.constant(2**31 - 1))
        thread.join()
        assert 3 <= int(steps.numpy()) < 2**31 - 1


@pytest.mark.slow
def test_a_signal_in_the_loop_of_steps(toy_experiment, tmp_path, signal_after, capsys):
    """The loop is left, although it runs inside TensorFlow."""
    signal_after(3)
    step = interrupted(toy_experiment(LONG), tmp_path)
    assert 3 <= step < 4000
    assert f"saved | step {step}" in capsys.readouterr().out
    assert not interrupts._asked
    assert not (tmp_path / ".lock").exists()


@pytest.mark.slow
def test_no_step_is_lost(toy_experiment, large_steps, tmp_path, signal_after, monkeypatch):
    """The weights are those of a training that no signal has ended."""
    dropout = "task.model.encoder.hidden_dropout_prob=0.2"
    with monkeypatch.context() as patch:
        patch.setattr(interrupts, "SECONDS", 60.0)
        signal_after(3)
        step = interrupted(toy_experiment(large_steps, LONG, dropout), tmp_path / "ended")
    monkeypatch.undo()
    end = f"trainer: {{train_steps: {step + 3}}}"
    weights = []
    for folder in (tmp_path / "ended", tmp_path / "whole"):
        experiment = toy_experiment(large_steps, LONG, dropout, end)
        assert trainer.train(experiment, str(folder))["global_step"] == step + 3
        reader = tf.train.load_checkpoint(latest(str(folder)))
        names = [name for name, shape in reader.get_variable_to_shape_map().items() if shape]
        weights.append({name: reader.get_tensor(name) for name in names})
    assert weights[0].keys() == weights[1].keys()
    for name in weights[0]:
        if name.startswith(("model/", "optimizer/")):
            np.testing.assert_allclose(*(each[name] for each in weights), rtol=1e-4, atol=1e-6)


@pytest.fixture
def runner():
    """A runner at step 7, whose last checkpoint is of step 5."""
    saved = []
    manager = types.SimpleNamespace(
        latest_checkpoint="model/ckpt-5",
        save=lambda checkpoint_number, check_interval: saved.append(checkpoint_number),
        sync=lambda: None,
    )
    step = tf.Variable(7, dtype=tf.int64)
    return types.SimpleNamespace(
        trainer=types.SimpleNamespace(global_step=step), checkpoint_manager=manager, saved=saved
    )


def end(runner, error, check=lambda: None):
    with pytest.raises(error), stopping.Stop().saving(runner, check):
        raise error


def test_what_is_saved(runner, capsys):
    end(runner, RuntimeError)
    assert runner.saved == []
    end(runner, KeyboardInterrupt)
    assert runner.saved == [7]
    runner.checkpoint_manager.latest_checkpoint = "model/ckpt-7"
    end(runner, KeyboardInterrupt)
    assert runner.saved == [7]


def test_weights_that_may_not_be_saved(runner, capsys):
    def check():
        raise InputError("not finite")

    end(runner, KeyboardInterrupt, check)
    assert runner.saved == []
    assert "not saved | step 7: not finite" in capsys.readouterr().out


def test_time_is_given_if_there_is_something_to_save(runner):
    assert interrupts.seconds() == 0
    with stopping.Stop().saving(runner, lambda: None):
        assert interrupts.seconds() == interrupts.SECONDS
        runner.checkpoint_manager.latest_checkpoint = "model/ckpt-7"
        assert interrupts.seconds() == 0
    assert interrupts.seconds() == 0


@pytest.mark.parametrize(
    ("start", "evaluated", "loops"),
    [
        (0, [20, 40, 50], [10, 20, 30, 40, 50]),
        (13, [20, 40, 50], [20, 30, 40, 50]),
        (20, [40, 50], [30, 40, 50]),
        (43, [50], [50]),
    ],
)
def test_loops_end_at_the_same_steps(start, evaluated, loops):
    """Wherever the training was interrupted: also layers.jsonl and summaries are of these."""
    config = types.SimpleNamespace(
        train_steps=50, steps_per_loop=10, validation_interval=20, validation_steps=-1
    )
    found = types.SimpleNamespace(loops=[], evaluated=[], saved=False)

    class Controller:
        global_step = tf.Variable(start)

        def train(self, steps, checkpoint_at_completion=True):
            while (step := int(self.global_step.numpy())) < steps:
                self.global_step.assign(min(step + config.steps_per_loop, steps))
                found.loops.append(int(self.global_step.numpy()))
            found.saved = checkpoint_at_completion

        def evaluate(self, steps):
            found.evaluated.append(int(self.global_step.numpy()))
            return {"step": found.evaluated[-1]}

        def train_and_evaluate(self, train_steps, eval_steps, eval_interval):
            while (step := int(self.global_step.numpy())) < train_steps:
                self.train(min(step + eval_interval, train_steps))
                metrics = self.evaluate(eval_steps)
            return metrics

    assert trainer._run_training(Controller(), config, evaluating=True) == {"step": 50}
    assert (found.evaluated, found.loops, found.saved) == (evaluated, loops, True)
