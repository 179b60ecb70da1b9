"""Base class of tasks over sequences: a sequence is a question without a table."""

import dataclasses
from typing import Annotated, ClassVar

from official.modeling.hyperparams import base_config

from mate_tf.attention import AttentionConfig
from mate_tf.data import padding
from mate_tf.data.converters import sequences
from mate_tf.data.features import TOKEN_TYPES
from mate_tf.errors import InputError
from mate_tf.evaluation import sequence_metrics
from mate_tf.field_types import Range
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.encoder import EncoderConfig
from mate_tf.tasks import base, configs


@dataclasses.dataclass
class SequenceConversionConfig(base_config.Config):
    """Conversion of sequences to examples: arguments of `SequenceConverter`.

    Attributes:
        bert_vocab_file: vocabulary, one piece a line. Tasks over bytes or symbols make their own.
        max_seq_length: tokens per example. Both sequences of a pair count together, and so do all
            choices of multiple choice.
        tokens: "word_pieces", "bytes", or "symbols" between spaces.
    """

    bert_vocab_file: str = ""
    max_seq_length: Annotated[int, Range(8, 1_000_000)] = 512
    tokens: str = sequences.WORD_PIECES

    def converter_options(self):
        """Returns the keyword arguments of `SequenceConverter` besides the vocabulary."""
        return {"max_seq_length": self.max_seq_length, "tokens": self.tokens}


@dataclasses.dataclass
class SequenceTaskConfig(configs.TableTaskConfig):
    """Config of a task over sequences: the fields of a table task with another conversion."""

    conversion: SequenceConversionConfig = dataclasses.field(
        default_factory=SequenceConversionConfig
    )


class SequenceTask(base.Task):
    """Classifies a sequence or a pair of sequences, or predicts a number.

    Encoder, attention, training and predictions are those of table tasks. Row and column ids are 0.

    Attributes:
        symbols: the vocabulary, in tasks over symbols.
        further_metrics: what is reported besides accuracy, see `evaluation.sequence_metrics`.
    """

    capabilities = base.Capabilities(reads_tables=False)
    baselines = ("majority class",)
    symbols: tuple[str, ...] = ()
    further_metrics: ClassVar[tuple[str, ...]] = ()

    def __init__(self, params, *args, **kwargs):
        super().__init__(params, *args, **kwargs)
        # A vocabulary of word pieces is a given file; one of bytes or symbols is generated.
        self.capabilities = dataclasses.replace(
            type(self).capabilities,
            makes_vocabulary=params.conversion.tokens != sequences.WORD_PIECES,
        )

    def make_vocabulary(self, path):
        of_bytes = self.task_config.conversion.tokens == sequences.BYTES
        sequences.make_vocabulary(path, sequences.BYTE_PIECES if of_bytes else self.symbols)

    def converter(self, vocab_file):
        return sequences.SequenceConverter(
            vocab_file,
            num_towers=self.task_config.model.num_towers,
            num_choices=len(self.class_names) if self.task_config.model.multiple_choice else 1,
            **self.task_config.conversion.converter_options(),
        )

    def build_model(self):
        """Builds the model, see `Task.build_model`.

        Raises:
            InputError: also if the model and the task differ in the number of classes.
        """
        labels = self.task_config.model.num_classification_labels
        if self.class_names and labels != len(self.class_names):
            raise InputError(
                f"task.model.num_classification_labels={labels}, but task {self.name} has "
                f"{len(self.class_names)} classes"
            )
        return super().build_model()

    def _check_length(self):
        length, model = self.task_config.conversion.max_seq_length, self.task_config.model
        parts = model.towers().num_parts
        positions = model.encoder.max_position_embeddings * parts
        if length > positions and not model.encoder.disable_position_embeddings:
            raise InputError(
                f"task.conversion.max_seq_length={length} is more than task.model.encoder."
                f"max_position_embeddings={model.encoder.max_position_embeddings}"
                + (f" for each of {parts} parts" if parts > 1 else "")
            )

    def build_inputs(self, params, input_context=None):
        """Returns batches, see `Task.build_inputs`. With towers all batches have the same length.

        Raises:
            InputError: also if there are buckets and the model has two towers or several choices:
                the model splits sequences of `max_seq_length` into equal parts.
        """
        if params.buckets and self.task_config.model.towers().num_parts > 1:
            raise InputError(
                f"buckets={list(params.buckets)}: not supported with two towers or choices"
            )
        return super().build_inputs(params, input_context)

    def example_mask(self, features):
        return padding.example_mask(features)

    def measure(self, interactions, predicted):
        """Computes the metrics over all questions with a gold answer."""
        if self.task_config.model.num_classification_labels == 1:
            result = sequence_metrics.regression_metrics(interactions, predicted)
        else:
            result = sequence_metrics.classification_metrics(
                interactions, predicted, self.class_names, self.further_metrics
            )
        return {self.name: result}


def classifier(num_labels: int, *, segments: bool = False, **options) -> ClassifierConfig:
    """Returns the config of a sequence classifier: full attention, no embeddings of tables.

    Args:
        num_labels: number of classes, or 1 for regression.
        segments: whether segment ids are embedded. They distinguish the two texts of a pair.
        **options: fields of the ClassifierConfig. `encoder` is a dict of EncoderConfig's fields.
    """
    encoder = options.pop("encoder", {})
    defaults = {
        "attention": AttentionConfig(name="full"),
        "disabled_features": list(TOKEN_TYPES[1:] if segments else TOKEN_TYPES),
    }
    return ClassifierConfig(
        encoder=EncoderConfig(**defaults | encoder),
        num_classification_labels=num_labels,
        disable_per_token_loss=True,
        # All tokens have row 0 and column 0.
        max_num_rows=2,
        max_num_columns=2,
        **options,
    )
