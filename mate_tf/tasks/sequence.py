"""Base class of tasks over sequences: a sequence is a question without a table."""

import dataclasses
from typing import ClassVar

from official.modeling.hyperparams import base_config

from mate_tf.attention import AttentionConfig
from mate_tf.data.converters import sequences
from mate_tf.data.converters.sequences import tokens
from mate_tf.data.features import TOKEN_TYPES
from mate_tf.errors import InputError
from mate_tf.evaluation import sequence_metrics
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.encoder import EncoderConfig
from mate_tf.tasks import base, configs


@dataclasses.dataclass
class SequenceConversionConfig(base_config.Config):
    """How sequences become examples: arguments of `SequenceConverter`.

    Attributes:
        bert_vocab_file: vocabulary, one piece a line; tasks over bytes or symbols make their own.
        max_seq_length: tokens per example, of both sequences together in a pair and of all choices
            together where there are some.
        tokens: "word_pieces", "bytes", or "symbols" between spaces.
    """

    bert_vocab_file: str = ""
    max_seq_length: int = 512
    tokens: str = tokens.WORD_PIECES

    def converter_options(self):
        """Keyword arguments of `SequenceConverter` besides the vocabulary."""
        return {"max_seq_length": self.max_seq_length, "tokens": self.tokens}


@dataclasses.dataclass
class SequenceTaskConfig(configs.TableTaskConfig):
    """A task over sequences: the fields of a table's task with another conversion."""

    conversion: SequenceConversionConfig = dataclasses.field(
        default_factory=SequenceConversionConfig
    )


class SequenceTask(base.Task):
    """Puts a sequence or a pair of them into a class, or says a number about it.

    Encoder, attention, training and predictions are those of tables; row and column ids are 0.

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
        # Vocabularies of word pieces are files; those of bytes and symbols are made.
        self.capabilities = dataclasses.replace(
            type(self).capabilities,
            makes_vocabulary=params.conversion.tokens != tokens.WORD_PIECES,
        )

    def make_vocabulary(self, path):
        of_bytes = self.task_config.conversion.tokens == tokens.BYTES
        sequences.make_vocabulary(path, tokens.BYTE_PIECES if of_bytes else self.symbols)

    def converter(self, vocab_file):
        return sequences.SequenceConverter(
            vocab_file,
            num_towers=self.task_config.model.num_towers,
            num_choices=len(self.class_names) if self.task_config.model.multiple_choice else 1,
            **self.task_config.conversion.converter_options(),
        )

    def build_model(self):
        """As of every task.

        Raises:
            InputError: also if the model has another number of classes than the task.
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
        """As of every task; with towers or choices all batches have the same length.

        Raises:
            InputError: buckets would cut between them.
        """
        if params.buckets and self.task_config.model.towers().num_parts > 1:
            raise InputError(
                f"buckets={list(params.buckets)}: there are none with two towers or choices"
            )
        return super().build_inputs(params, input_context)

    def measure(self, interactions, predicted):
        """Metrics of all questions whose answer is known."""
        if self.task_config.model.num_classification_labels == 1:
            found = sequence_metrics.regression_metrics(interactions, predicted)
        else:
            found = sequence_metrics.classification_metrics(
                interactions, predicted, self.class_names, self.further_metrics
            )
        return {self.name: found}


def classifier(num_labels: int, *, segments: bool = False, **options) -> ClassifierConfig:
    """A model of whole sequences, with full attention and nothing of tables.

    Args:
        num_labels: classes, or 1 for a number.
        segments: whether segment ids are embedded, which tell the texts of a pair apart.
        **options: fields of the ClassifierConfig; those of the encoder in a dict `encoder`.
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
        # There are no cells to tell apart.
        max_num_rows=2,
        max_num_columns=2,
        **options,
    )
