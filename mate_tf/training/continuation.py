"""Training that goes on with another model: the steps and moments of a checkpoint are kept.

A plain `init_checkpoint` gives weights only: steps are counted from 0, the learning rate warms up
again, and Adam's first steps are as rough as those of a new model.
"""

import tensorflow as tf

from mate_tf.checkpoints import bundle
from mate_tf.checkpoints.moments import load_moments
from mate_tf.errors import InputError
from mate_tf.training import accumulation

GLOBAL_STEP = "global_step"


class ContinuingTrainer(accumulation.AccumulatingTrainer):
    """The trainer that takes over what `trainer.continue_steps` asks for when it begins."""

    def initialize(self):
        super().initialize()
        step = first_step(self.config)
        if step:
            path = bundle.prefix(self.config.task.init_checkpoint)
            load_moments(self.optimizer, self.model, path)
            self.optimizer.iterations.assign(step)
            self.global_step.assign(step)


def first_step(experiment) -> int:
    """The step at which a new training begins.

    Raises:
        InputError: with `trainer.continue_steps`, if `task.init_checkpoint` has no step.
    """
    if not experiment.trainer.continue_steps:
        return 0
    path = experiment.task.init_checkpoint
    if not path:
        raise InputError("trainer.continue_steps, but task.init_checkpoint is empty")
    path = bundle.prefix(path)
    tensors, _ = bundle.read(path)
    if GLOBAL_STEP not in tensors:
        raise InputError(f"{path}: says no step to go on from, as trainer.continue_steps asks")
    return int(tf.cast(tensors[GLOBAL_STEP].read(), tf.int64))
