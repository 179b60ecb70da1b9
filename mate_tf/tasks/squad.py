"""SQUAD: select the span of a paragraph that answers the question, or no span.

The settings are those of SparseBERT's appendix C (Shi et al., 2021).
"""

import dataclasses
from typing import Annotated

from official.modeling.hyperparams import base_config

from mate_tf.data.converters import windows
from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.datasets import squad
from mate_tf.errors import InputError
from mate_tf.evaluation import squad as evaluation
from mate_tf.field_types import Number, Range, Tokens
from mate_tf.models.heads.spans import BOUNDARY, NO_SPANS
from mate_tf.tasks import base, configs, registry, sequence

_NUM_TRAIN = 87_599  # of version 1.1
_EPOCHS, _BATCH_SIZE = 3, 32


@dataclasses.dataclass
class WindowConversionConfig(base_config.Config):
    """Conversion of questions about texts to examples: arguments of `WindowConverter`.

    Attributes:
        bert_vocab_file: vocabulary, one piece a line.
        max_seq_length: tokens per example.
        doc_stride: tokens between the starts of two neighbouring windows of a long text.
        max_question_length: longest question in tokens; longer ones are truncated.
    """

    bert_vocab_file: str = ""
    max_seq_length: Annotated[int, Range(8, 1_000_000)] = 384
    doc_stride: Tokens = 128
    max_question_length: Tokens = 64

    def converter_options(self):
        """Returns the keyword arguments of `WindowConverter` besides the vocabulary."""
        options = self.as_dict()
        del options["bert_vocab_file"]
        return options


@dataclasses.dataclass
class SquadTaskConfig(configs.TableTaskConfig):
    """Config of SQuAD.

    Attributes:
        version: "v1.1", in which all questions have an answer, or "v2.0", in which some have none.
        null_score_diff_threshold: for version 2.0. The answer is empty if the log probability of
            the empty span exceeds that of the best span by more than this.
    """

    conversion: WindowConversionConfig = dataclasses.field(default_factory=WindowConversionConfig)
    version: str = squad.V1
    null_score_diff_threshold: Number = 0.0


@registry.register
class SquadTask(base.Task):
    """Reads the answers of SQuAD in paragraphs of Wikipedia. --input_dir has SQuAD's JSON files.

    A paragraph is the only cell of a table. The heads are those of POINTR's second stage. A long
    paragraph is split into several windows. Predictions are per window, scores per question.
    """

    name = "SQUAD"
    splits = squad.SPLITS
    capabilities = base.Capabilities(reads_tables=False)

    def interactions(self, input_dir, split):
        return squad.read(input_dir, split, self.task_config.version)

    def converter(self, vocab_file):
        options = self.task_config.conversion.converter_options()
        return windows.WindowConverter(vocab_file, **options)

    def build_model(self):
        """Builds the model, see `Task.build_model`.

        Raises:
            InputError: also if the model predicts no spans, or cannot predict the empty span.
        """
        model = self.task_config.model
        if model.span_prediction == NO_SPANS or not model.allow_empty_span:
            raise InputError(
                "task SQUAD needs task.model.span_prediction and task.model.allow_empty_span: "
                "windows without the answer have the empty span"
            )
        return super().build_model()

    def measure(self, interactions, predicted):
        """Computes exact match and F1 as the official script does; see `evaluation.squad`."""
        answers = self._answers(interactions, predicted)
        title = f"SQuAD {self.task_config.version}"
        return {title: evaluation.evaluate(interactions, answers, self._threshold)}

    def write_answers(self, interactions, predicted, target):
        """Writes <target>.predictions.json and, for version 2.0, <target>.na_probs.json."""
        answers = self._answers(interactions, predicted)
        return evaluation.write_predictions(answers, target, self._threshold)

    def _answers(self, interactions, predicted):
        offsets = Offsets(Tokenizer(self.task_config.conversion.bert_vocab_file))
        return evaluation.read_answers(interactions, predicted, offsets)

    @property
    def _threshold(self):
        """Threshold of the empty answer; None for version 1.1, which has no empty answers."""
        config = self.task_config
        return config.null_score_diff_threshold if config.version == squad.V2 else None

    @classmethod
    def experiment(cls):
        """Returns appendix C's settings for version 1.1 with BERT-base and full attention."""
        return configs.fine_tuning(
            SquadTaskConfig(
                name=cls.name,
                model=sequence.classifier(
                    0,
                    segments=True,
                    span_prediction=BOUNDARY,
                    max_span_length=30,
                    allow_empty_span=True,
                ),
            ),
            train_steps=_NUM_TRAIN * _EPOCHS // _BATCH_SIZE,
            batch_size=_BATCH_SIZE,
            learning_rate=3e-5,
            warmup_ratio=0.1,
            grad_clipping=None,
        )
