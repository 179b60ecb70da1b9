"""Gradient accumulation: training steps of several batches, for batches too large for memory.

`BertAdamW` accumulates gradients and updates the variables at every n-th call. tf-models' trainer
would count every call as a step. `AccumulatingTrainer` makes n calls per step, so the global step
counts updates, as in the reference. `train_steps`, the learning rate, summaries and checkpoints
follow the global step. A checkpoint is never written between two batches of a step.
"""

import tensorflow as tf
from official.core import base_trainer

from mate_tf.errors import InputError
from mate_tf.layers import step_seeds
from mate_tf.training import input_wait


class AccumulatingTrainer(input_wait.WaitMeasuringTrainer):
    """tf-models' trainer with as many batches per step as the optimizer accumulates."""

    def train_step(self, iterator):
        """Trains on all batches of one step. `iterator` gives batches."""
        batches = batches_per_step(self.config)
        before = self.global_step * (batches - 1)
        for _ in tf.range(batches):
            with step_seeds.of_step(self.config.tf_random_seed, before + self.global_step):
                base_trainer.Trainer.train_step(self, iterator)
        self.global_step.assign_sub(batches - 1)  # the parent class counted every batch


def batches_per_step(experiment) -> int:
    """Returns `gradient_accumulation_steps` of the experiment's optimizer; 1 without that key."""
    optimizer = experiment.trainer.optimizer_config.optimizer.get()
    return getattr(optimizer, "gradient_accumulation_steps", 1)


def split_batches(experiment):
    """Returns a copy of the experiment with training batches of 1/n of the configured size.

    Raises:
        InputError: if the batch size is not a multiple of n, or n is below 1.
    """
    parts = batches_per_step(experiment)
    experiment = experiment.replace()
    data = experiment.task.train_data
    if parts < 1 or data.global_batch_size % parts:
        raise InputError(
            f"gradient_accumulation_steps={parts}: task.train_data.global_batch_size="
            f"{data.global_batch_size} is not a multiple of it"
        )
    data.global_batch_size //= parts
    data.max_batch_tokens //= parts
    data.curriculum_steps *= parts
    data.skip_batches *= parts
    return experiment
