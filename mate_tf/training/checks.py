"""Checks of a training run: best checkpoint's settings, GPUs, folder, finite loss and weights."""

import math
import os
from collections.abc import Iterable, Mapping

import tensorflow as tf

from mate_tf import field_types
from mate_tf.checkpoints.latest import latest
from mate_tf.errors import InputError
from mate_tf.files.lock import Lock
from mate_tf.training import progress

VALIDATION_LOSS = "validation_loss"
"""Name of the loss on `task.validation_data`, among the metrics of an evaluation."""

_BEST = ("best_checkpoint_export_subdir", "best_checkpoint_eval_metric")


def check_gpus(runtime) -> None:
    """Raises InputError for more GPUs than this machine has: TensorFlow would wait for them.

    Args:
        runtime: `runtime` of an experiment. With a TPU its number of GPUs has no effect.
    """
    available = len(tf.config.list_physical_devices("GPU"))
    if runtime.num_gpus > available and runtime.distribution_strategy != "tpu":
        allowed = f"at most {available}, the number of GPUs that TensorFlow finds here"
        raise field_types.refused("runtime.num_gpus", runtime.num_gpus, allowed)


def check_best_checkpoint(settings, task) -> None:
    """Raises InputError if tf-models could not tell which checkpoint is the best one.

    Args:
        settings: TrainerConfig; if it names no folder and no metric, all is well.
        task: the task, whose metrics may be named.
    """
    folder, metric = (getattr(settings, key) for key in _BEST)
    if not folder and not metric:
        return
    if not folder or not metric:
        missing = _BEST[1] if folder else _BEST[0]
        raise field_types.refused(f"trainer.{missing}", metric if folder else folder, "a name")
    if folder in (".", "..") or "/" in folder or "\\" in folder:
        raise field_types.refused(
            f"trainer.{_BEST[0]}", folder, "the name of a folder in --model_dir"
        )
    known = [VALIDATION_LOSS, *(each.name for each in task.build_metrics(training=False))]
    if metric not in known:
        raise field_types.refused(f"trainer.{_BEST[1]}", metric, f"one of {', '.join(known)}")
    order = settings.best_checkpoint_metric_comp
    if order not in ("higher", "lower"):
        raise field_types.refused("trainer.best_checkpoint_metric_comp", order, "higher or lower")


class FolderCheck:
    """Orbit action that raises if somebody removes files of a training run from its folder.

    It comes before the checkpoint of each loop of steps, which would otherwise be saved without
    settings and vocabulary into a folder that nobody has locked.

    Args:
        model_dir: the folder.
        files: names of files that stay where they are during a training run, if they are there.
    """

    def __init__(self, model_dir: str, files: Iterable[str]):
        self._model_dir, self._files, self._paths = model_dir, files, []
        self._lock: Lock | None = None

    def start(self, lock: Lock | None):
        """Sets the lock of the folder; None if this process has none, and nothing is checked."""
        paths = (os.path.join(self._model_dir, name) for name in self._files)
        self._lock, self._paths = lock, [path for path in paths if os.path.exists(path)]

    def __call__(self, output: Mapping | None = None):
        if self._lock is None:
            return
        missing = [path for path in self._paths if not os.path.exists(path)]
        if not self._lock.is_there():
            missing.insert(0, self._lock.path)
        if missing:
            raise InputError(
                f"{self._model_dir}: {os.path.basename(missing[0])}, or the whole folder, was "
                "removed during the training, which stops without saving another checkpoint; run "
                "the same command to start again from what is left"
            )


class FiniteCheck:
    """Orbit action that raises after a loop of steps with a loss or weights that are not finite.

    It comes before the checkpoint of that loop.

    Args:
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
        self.check_weights(output)

    def check_weights(self, output: Mapping):
        """Raises InputError if weights are not finite.

        Args:
            output: the loop's metrics, if known, for the message.
        """
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
