"""Ends a training whose loss or weights are no longer finite, before they are saved."""

import math
from collections.abc import Mapping

import tensorflow as tf

from mate_tf.checkpoints.latest import latest
from mate_tf.errors import InputError
from mate_tf.training import progress


class FiniteCheck:
    """Orbit action that raises after a loop of steps with a loss or weights that are not finite.

    It comes before the checkpoint of that loop.

    Args:
        model_dir: folder of the training.
        recovers: the training returns to the last checkpoint by itself if the loss is NaN
            (`trainer.recovery_max_trials`); then only weights are checked.
    """

    def __init__(self, model_dir: str, recovers: bool = False):
        self._model_dir, self._recovers = model_dir, recovers

    def start(self, trainer):
        """Sets the trainer, with `model` and `global_step`."""
        self._trainer = trainer

    def __call__(self, output: Mapping):
        loss = float(output["training_loss"])
        if not math.isfinite(loss):
            if not self._recovers:
                self._end(f"the loss is {loss}", output)
            return
        for variable in self._trainer.model.trainable_variables:
            if not bool(tf.reduce_all(tf.math.is_finite(variable))):
                self._end(f"the weights {variable.name} are not finite", output)

    def _end(self, what: str, output: Mapping):
        step = int(self._trainer.global_step.numpy())
        rate = output.get("learning_rate")
        at = f" at a learning rate of {progress.number(rate):.2g}" if rate is not None else ""
        last = latest(self._model_dir)
        raise InputError(
            f"step {step}: {what}{at}, so nothing is saved; last good checkpoint: "
            f"{last or 'none'}; try a smaller learning rate, more warm-up steps, or gradient "
            "clipping"
        )
