"""Training whose steps take several batches, where one of full size needs too much memory.

`BertAdamW` sums gradients up and steps at every n-th call. tf-models' trainer counts calls. Here a
step of the trainer is n of them, so that the global step, and with it `train_steps`, the learning
rate, summaries and checkpoints, counts what the optimizer counts, as in the reference. A
checkpoint never falls between two batches of a step.
"""

import tensorflow as tf
from official.core import base_trainer

from mate_tf.errors import InputError


class AccumulatingTrainer(base_trainer.Trainer):
    """tf-models' trainer, whose steps take as many batches as the optimizer accumulates."""

    def train_step(self, iterator):
        batches = batches_per_step(self.config)
        for _ in tf.range(batches):
            base_trainer.Trainer.train_step(self, iterator)
        self.global_step.assign_sub(batches - 1)  # every batch has been counted


def batches_per_step(experiment) -> int:
    """`gradient_accumulation_steps` of the experiment's optimizer; 1 if it has none."""
    optimizer = experiment.trainer.optimizer_config.optimizer.get()
    return getattr(optimizer, "gradient_accumulation_steps", 1)


def split_batches(experiment):
    """A copy whose training batches are the parts of a step: an n-th of the configured size.

    Raises:
        InputError: if the batch size is not a multiple of n, or n is below 1.
    """
    parts = batches_per_step(experiment)
    experiment = experiment.replace()
    data = experiment.task.train_data
    if parts < 1 or data.global_batch_size % parts:
        raise InputError(
            f"gradient_accumulation_steps={parts}: task.train_data.global_batch_size="
            f"{data.global_batch_size} cannot be split into so many parts"
        )
    data.global_batch_size //= parts
    data.max_batch_tokens //= parts
    data.curriculum_steps *= parts
    return experiment
