"""SQUAD: which words of a paragraph answer the question, or none.

The settings are those of SparseBERT's appendix C (Shi et al., 2021).
"""

import dataclasses

from official.modeling.hyperparams import base_config

from mate_tf.data.converters import windows
from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.datasets import squad
from mate_tf.errors import InputError
from mate_tf.evaluation import squad as evaluation
from mate_tf.models.heads.spans import BOUNDARY, NO_SPANS
from mate_tf.tasks import base, configs, registry, sequence

_NUM_TRAIN = 87_599  # of version 1.1
_EPOCHS, _BATCH_SIZE = 3, 32


@dataclasses.dataclass
class WindowConversionConfig(base_config.Config):
    """How questions about texts become examples: arguments of `WindowConverter`.

    Attributes:
        bert_vocab_file: vocabulary, one piece a line.
        max_seq_length: tokens per example.
        doc_stride: tokens from the beginning of one window of a long text to that of the next.
        max_question_length: tokens of a question; further ones are cut.
    """

    bert_vocab_file: str = ""
    max_seq_length: int = 384
    doc_stride: int = 128
    max_question_length: int = 64

    def converter_options(self):
        """Keyword arguments of `WindowConverter` besides the vocabulary."""
        options = self.as_dict()
        del options["bert_vocab_file"]
        return options


@dataclasses.dataclass
class SquadTaskConfig(configs.TableTaskConfig):
    """SQuAD.

    Attributes:
        version: "v1.1", where all questions have an answer, or "v2.0", where some have none.
        null_score_diff_threshold: in version 2.0, no answer is given if the logarithm of its
            probability is by more than this above that of the best span.
    """

    conversion: WindowConversionConfig = dataclasses.field(default_factory=WindowConversionConfig)
    version: str = squad.V1
    null_score_diff_threshold: float = 0.0


@registry.register
class SquadTask(base.Task):
    """Reads the answers of SQuAD in paragraphs of Wikipedia. --input_dir has its JSON files.

    A paragraph is read as the only cell of a table, by the heads of POINTR's second stage; too long
    a one in several windows. The predictions are of windows, the scores of questions.
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
        """As of every task.

        Raises:
            InputError: also if the model has no spans, or not the empty one.
        """
        model = self.task_config.model
        if model.span_prediction == NO_SPANS or not model.allow_empty_span:
            raise InputError(
                "task SQUAD needs task.model.span_prediction and task.model.allow_empty_span: "
                "windows without the answer have the empty span"
            )
        return super().build_model()

    def measure(self, interactions, predicted):
        """Exact match and F1 as the official script has them; see `evaluation.squad`."""
        answers = self._answers(interactions, predicted)
        title = f"SQuAD {self.task_config.version}"
        return {title: evaluation.evaluate(interactions, answers, self._threshold)}

    def write_answers(self, interactions, predicted, target):
        """<target>.predictions.json and, in version 2.0, <target>.na_probs.json."""
        answers = self._answers(interactions, predicted)
        return evaluation.write_predictions(answers, target, self._threshold)

    def _answers(self, interactions, predicted):
        offsets = Offsets(Tokenizer(self.task_config.conversion.bert_vocab_file))
        return evaluation.read_answers(interactions, predicted, offsets)

    @property
    def _threshold(self):
        """None in version 1.1, where there is always an answer."""
        config = self.task_config
        return config.null_score_diff_threshold if config.version == squad.V2 else None

    @classmethod
    def experiment(cls):
        """Appendix C's settings for version 1.1 with a BERT of base size and full attention."""
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
