"""A trained model and its evaluation data, for the modes that look into them."""

import dataclasses
import functools
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from mate_tf import attention, checkpoints
from mate_tf.data import features as feature_names
from mate_tf.data import padding
from mate_tf.errors import InputError
from mate_tf.files.atomic import atomic_path
from mate_tf.models.encoder_config import EncoderConfig
from mate_tf.training import experiments, trainer

FOLDER = "analysis"
"""In the model folder."""


@dataclasses.dataclass(frozen=True)
class Trained:
    """The model of a job with the weights of a checkpoint.

    Attributes:
        job: what has `experiment`, `task`, `model_dir` and `vocab_file`, as `cli.job.Job` does.
    """

    job: Any

    @functools.cached_property
    def checkpoint(self) -> str:
        """The last one in the model folder, or `init_checkpoint` if there is none."""
        folder, initial = self.job.model_dir, self.job.experiment.task.init_checkpoint
        if initial and not tf.train.latest_checkpoint(folder):
            return initial
        experiments.check_same_model(self.job.experiment, folder, "encoder")
        return trainer.latest_checkpoint(folder)

    @functools.cached_property
    def configs(self) -> list:
        """The distinct AttentionConfigs, in the order of the encoder's patterns."""
        return self.job.experiment.task.model.encoder.distinct_attention()

    @functools.cached_property
    def model(self):
        """The whole model, for what depends on more than the patterns."""
        if self.checkpoint != self.job.experiment.task.init_checkpoint:
            return trainer.load_model(self.job.experiment, self.job.model_dir)
        model = self.job.task.build_model()
        print(f"loaded | {self.checkpoint}: {checkpoints.load(model, self.checkpoint)}")
        return model

    def learned(self, pattern_type) -> dict[str, attention.AttentionPattern]:
        """What of one type of patterns was learned: "patterns_<number>" -> pattern.

        Raises:
            InputError: the checkpoint is of a model that learned none.
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
                    f"{self.checkpoint}: is of a model without attention {config.name!r}: it has "
                    f"no patterns/{index}/alpha"
                )
        return {
            EncoderConfig.pattern_name(index): pattern_type.restored(config, stored[index])
            for index, config in wanted.items()
        }

    @property
    def has_examples(self) -> bool:
        """Whether the evaluation data is there."""
        return bool(tf.io.gfile.glob(self.job.experiment.task.validation_data.input_path))

    def examples(self) -> tf.data.Dataset:
        """Batches of the evaluation data; InputError if it is not there."""
        data = self.job.experiment.task.validation_data
        if not self.has_examples:
            raise InputError(f"{data.input_path}: no such file; run --mode=create_data first")
        return self.job.task.build_inputs(data)

    def examples_with_tables(self) -> Iterator[dict[str, np.ndarray]]:
        """Inputs of the model for one example after the other, without padding, [1, seq] each."""
        for batch in self._batches_with_tables():
            for example in range(len(batch["input_mask"])):
                length = int(padding.real_tokens(batch["input_mask"][example]).sum())
                yield {name: batch[name][example : example + 1, :length] for name in batch}

    def context(self, most: int) -> attention.TableContext | None:
        """Where tokens stand in the evaluation data's tables, <int>[up to `most`, seq] each."""
        length = self.job.experiment.task.conversion.max_seq_length
        found = {name: [] for name in attention.TableContext.FEATURES}
        for batch in self._batches_with_tables():
            for name, rows in found.items():
                rows.append(np.pad(batch[name], [[0, 0], [0, length - batch[name].shape[1]]]))
            if sum(map(len, found["input_mask"])) >= most:
                break
        if not found["input_mask"]:
            return None
        return attention.TableContext(*(np.concatenate(rows)[:most] for rows in found.values()))

    def _batches_with_tables(self) -> Iterator[dict[str, np.ndarray]]:
        """The model's inputs for the examples of each batch that have a table."""
        for batch in self.examples().as_numpy_iterator():
            if "column_ids" not in batch:
                return
            with_table = (batch["column_ids"] > 0).any(1)
            if with_table.any():
                yield {name: batch[name][with_table] for name in model_inputs(batch)}

    def path(self, name: str) -> str:
        """Of a file in the folder of the analysis."""
        return os.path.join(self.job.model_dir, FOLDER, name)

    def save_plot(self, figure, name: str) -> str:
        """Writes a figure, and says so; returns its path."""
        with atomic_path(self.path(name)) as temporary:
            figure.savefig(temporary, format="png", dpi=120)
        print(f"plotted | {self.path(name)}")
        return self.path(name)


def model_inputs(batch) -> list[str]:
    """Names of what of a batch the model reads."""
    return [name for name in feature_names.names(feature_names.MODEL_INPUTS) if name in batch]
