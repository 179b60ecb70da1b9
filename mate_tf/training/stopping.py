"""A signal, or Ctrl-C, ends a training run with a checkpoint of the step that it has reached."""

import contextlib
from collections.abc import Callable, Iterator

import tensorflow as tf

from mate_tf import interrupts
from mate_tf.errors import InputError


class Stop:
    """Stops the loop of steps that runs inside TensorFlow, and saves what it has done.

    It is made outside the scope of a strategy, as its variable is read on the host.
    """

    def __init__(self):
        self._asked = tf.Variable(False, trainable=False)

    def loop(self, step: Callable) -> Callable:
        """Returns Orbit's loop of training steps, which ends early if it is asked to.

        Args:
            step: runs one step with an iterator over batches.
        """

        @tf.function
        def loop(iterator, num_steps):
            done = tf.constant(0)
            while tf.logical_and(done < num_steps, tf.logical_not(self._asked)):
                with tf.name_scope(""):  # as without the loop
                    step(iterator)
                done += 1

        return loop

    @contextlib.contextmanager
    def saving(self, runner, check: Callable[[], None]) -> Iterator[None]:
        """Saves a checkpoint if KeyboardInterrupt ends this block between two steps.

        Args:
            runner: has the `trainer`, with `global_step`, and the `checkpoint_manager`.
            check: raises InputError if nothing may be saved.
        """

        def unsaved() -> bool:
            last = runner.checkpoint_manager.latest_checkpoint
            return int(runner.trainer.global_step.numpy()) > _step(last)

        def ask() -> bool:
            self._asked.assign(True)
            return unsaved()

        try:
            with interrupts.saving(ask):
                try:
                    yield
                except KeyboardInterrupt:
                    if unsaved():
                        _save(runner, check)
                    raise
        finally:
            self._asked.assign(False)


def _save(runner, check: Callable[[], None]) -> None:
    step = runner.trainer.global_step.numpy()
    try:
        check()
        runner.checkpoint_manager.save(checkpoint_number=step, check_interval=False)
        runner.checkpoint_manager.sync()
    except (InputError, OSError, tf.errors.OpError) as error:
        print(f"not saved | step {step}: {error}", flush=True)
    else:
        print(f"saved | step {step}", flush=True)


def _step(checkpoint: str | None) -> int:
    number = (checkpoint or "").rpartition("-")[2]
    return int(number) if number.isdecimal() else 0
