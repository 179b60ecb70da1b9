"""A trained model and its evaluation data, for analyses."""

import dataclasses
import functools
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from mate_tf import attention, checkpoints
from mate_tf.checkpoints.latest import latest
from mate_tf.data import features as feature_names
from mate_tf.data import padding
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.files.atomic import atomic_path
from mate_tf.models.encoder_config import EncoderConfig
from mate_tf.training import experiments, trainer

FOLDER = "analysis"
"""Folder of the results, in the model folder."""


@dataclasses.dataclass(frozen=True)
class TrainedModel:
    """The model of a job with the weights of its last checkpoint.

    Attributes:
        job: object with `experiment`, `task`, `model_dir` and `vocab_file`, such as `cli.job.Job`.
    """

    job: Any

    @functools.cached_property
    def checkpoint(self) -> str:
        """Path of the last checkpoint in the model folder, or `init_checkpoint` without one."""
        folder, initial = self.job.model_dir, self.job.experiment.task.init_checkpoint
        if initial and not latest(folder):
            return initial
        experiments.check_same_model(self.job.experiment, folder, "encoder")
        return trainer.latest_checkpoint(folder)

    @functools.cached_property
    def configs(self) -> list:
        """The distinct AttentionConfigs, in the order of the encoder's patterns."""
        return self.job.experiment.task.model.encoder.distinct_attention()

    @functools.cached_property
    def model(self):
        """The model with its weights."""
        if self.checkpoint != self.job.experiment.task.init_checkpoint:
            return trainer.load_model(self.job.experiment, self.job.model_dir)
        model = self.job.task.build_model()
        print(f"loaded | {self.checkpoint}: {checkpoints.load(model, self.checkpoint)}")
        return model

    def learned(self, pattern_type) -> dict[str, attention.AttentionPattern]:
        """Returns "patterns_<number>" -> pattern of a type, with its learned variables.

        Raises:
            InputError: if the checkpoint lacks the variables of such a pattern.
        """
        wanted = {
            index: config
            for index, config in enumerate(self.configs)
            if attention.get(config.name).pattern is pattern_type
        }
        stored = checkpoints.pattern_variables(self.checkpoint) if wanted else {}
        for index, config in wanted.items():
            if "alpha" not in stored.get(index, ()):
                raise InputError(
                    f"{self.checkpoint}: was saved from a model without attention "
                    f"{config.name!r}: it has no patterns/{index}/alpha"
                )
        return {
            EncoderConfig.pattern_name(index): pattern_type.restored(config, stored[index])
            for index, config in wanted.items()
        }

    @property
    def has_examples(self) -> bool:
        """True if the evaluation data exist."""
        return bool(paths.matching(self.job.experiment.task.validation_data.input_path))

    def examples(self) -> tf.data.Dataset:
        """Returns batches of the evaluation data; raises InputError if they do not exist."""
        data = self.job.experiment.task.validation_data
        if not self.has_examples:
            raise InputError(f"{data.input_path}: no such file; run --mode=create_data first")
        return self.job.task.build_inputs(data)

    def examples_with_tables(self) -> Iterator[dict[str, np.ndarray]]:
        """Yields the model's inputs for each example: name -> [1, seq], without padding."""
        for batch in self._batches_with_tables():
            for example in range(len(batch["input_mask"])):
                length = int(padding.real_tokens(batch["input_mask"][example]).sum())
                yield {name: batch[name][example : example + 1, :length] for name in batch}

    def context(self, most: int) -> attention.TableContext | None:
        """Returns the TableContext of the evaluation data's examples with tables.

        Args:
            most: largest number of examples, up to the batch size more are read.

        Returns:
            <int>[examples, seq] each; None if no example has a table.
        """
        length = self.job.experiment.task.conversion.max_seq_length
        features = {name: [] for name in attention.TableContext.FEATURES}
        for batch in self._batches_with_tables():
            for name, rows in features.items():
                rows.append(np.pad(batch[name], [[0, 0], [0, length - batch[name].shape[1]]]))
            if sum(map(len, features["input_mask"])) >= most:
                break
        if not features["input_mask"]:
            return None
        rows = {name: np.concatenate(parts)[:most] for name, parts in features.items()}
        return attention.TableContext.from_features(rows)

    def _batches_with_tables(self) -> Iterator[dict[str, np.ndarray]]:
        """Yields the model's inputs for the examples with a table, batch by batch."""
        for batch in self.examples().as_numpy_iterator():
            if "column_ids" not in batch:
                return
            with_table = (batch["column_ids"] > 0).any(1)
            if with_table.any():
                yield {name: batch[name][with_table] for name in model_inputs(batch)}

    def path(self, name: str) -> str:
        """Returns the path of a file in the folder of the analysis."""
        return os.path.join(self.job.model_dir, FOLDER, name)

    def save_plot(self, figure, name: str) -> str:
        """Writes a figure, prints its path and returns it."""
        with atomic_path(self.path(name)) as temporary:
            figure.savefig(temporary, format="png", dpi=120)
        print(f"plotted | {self.path(name)}")
        return self.path(name)


def model_inputs(batch) -> list[str]:
    """Returns the names of the features in a batch that the model reads."""
    return [name for name in feature_names.names(feature_names.MODEL_INPUTS) if name in batch]
