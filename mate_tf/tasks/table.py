"""Base class of tasks over tables."""

import dataclasses
from typing import Annotated

from mate_tf import evaluation
from mate_tf.data import features
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.field_types import Range
from mate_tf.files.atomic import write_text
from mate_tf.tasks import base, configs


@dataclasses.dataclass
class SplitTaskConfig(configs.TableTaskConfig):
    """Config of a task with a dev set split off the training questions.

    Attributes:
        random_split: number of the official division of train into train and dev, from 1 to 5.
    """

    random_split: Annotated[int, Range(1, 5)] = 1


class TableTask(base.Task):
    """Selects the cells that answer a question about a table, or classifies it."""

    baselines = ("random cell", "lexical match", "row and column match")

    def converter(self, vocab_file):
        return ExampleConverter.from_config(vocab_file, self.task_config.conversion.frozen())

    def model_config(self):
        """Returns the config of the model.

        Raises:
            InputError: if the model does not read the marks of `mark_matches`, or lacks token types
                of `mark_previous`.
        """
        config, index = super().model_config(), features.TOKEN_TYPES.index("prev_label_ids")
        types = config.encoder.type_vocab_sizes[index]
        conversion = self.task_config.conversion
        if conversion.mark_matches and "prev_label_ids" in config.encoder.disabled_features:
            raise InputError(
                "task.conversion.mark_matches needs prev_label_ids, which "
                "task.model.encoder.disabled_features leaves out"
            )
        if conversion.mark_previous and types < 4:
            raise InputError(
                "task.conversion.mark_previous needs four types of prev_label_ids; "
                f"task.model.encoder.type_vocab_sizes[{index}] is {types}"
            )
        return config

    def measure(self, interactions, predicted):
        """Returns the share of questions with exactly the gold cells."""
        graded = evaluation.metrics.grade(interactions, predicted)
        return {"questions": {"accuracy": evaluation.metrics.accuracy(graded)}}

    def is_right(self, interaction, question, prediction):
        """Judges one answer: its class, its value if the model aggregates, otherwise its cells."""
        model = self.task_config.model
        if model.num_classification_labels:
            return evaluation.metrics.has_right_class(interaction, question, prediction)
        if model.num_aggregation_labels:
            return evaluation.denotation.is_right(interaction, question, prediction)
        return evaluation.metrics.has_right_cells(interaction, question, prediction)

    def write_answers(self, interactions, predicted, target):
        """Writes <target>.answers.tsv for WikiTableQuestions' evaluator if the model aggregates."""
        if not self.task_config.model.num_aggregation_labels:
            return ()
        path = f"{target}.answers.tsv"
        lines = evaluation.denotation.submission_lines(interactions, predicted)
        write_text(path, "".join(f"{line}\n" for line in lines))
        return (path,)
