"""Training that continues with another model: keeps the step and the moments of a checkpoint.

A plain `init_checkpoint` gives weights only: steps count from 0, the learning rate warms up again,
and Adam's moments start at 0.
"""

import tensorflow as tf

from mate_tf.checkpoints import bundle
from mate_tf.checkpoints.moments import load_moments
from mate_tf.errors import InputError
from mate_tf.training import accumulation

GLOBAL_STEP = "global_step"


class ContinuingTrainer(accumulation.AccumulatingTrainer):
    """Trainer that begins at a checkpoint's step if `trainer.continue_steps` is set."""

    def initialize(self):
        """Loads `task.init_checkpoint`; with `trainer.continue_steps` also moments and step."""
        super().initialize()
        step = first_step(self.config)
        if step:
            path = bundle.prefix(self.config.task.init_checkpoint)
            load_moments(self.optimizer, self.model, path)
            self.optimizer.iterations.assign(step)
            self.global_step.assign(step)


def first_step(experiment) -> int:
    """Returns the step at which a new training begins.

    Raises:
        InputError: if `trainer.continue_steps` is set and `task.init_checkpoint` has no step.
    """
    if not experiment.trainer.continue_steps:
        return 0
    path = experiment.task.init_checkpoint
    if not path:
        raise InputError("trainer.continue_steps is set, but task.init_checkpoint is empty")
    path = bundle.prefix(path)
    tensors, _ = bundle.read(path)
    if GLOBAL_STEP not in tensors:
        raise InputError(f"{path}: has no global step, which trainer.continue_steps needs")
    return int(tf.cast(tensors[GLOBAL_STEP].read(), tf.int64))
