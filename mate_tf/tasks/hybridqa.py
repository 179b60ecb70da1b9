"""The stages of POINTR on HybridQA (Chen et al., 2020; MATE paper, section 4).

HYBRIDQA selects the cell that contains or links to the answer. HYBRIDQA_RC selects the answer's
span in an expanded cell.
"""

import collections
import dataclasses
import functools
import pathlib
from collections.abc import Iterator

from official.modeling.hyperparams import base_config

from mate_tf.answers import text_match
from mate_tf.answers.hybridqa import answer_type
from mate_tf.attention import AttentionConfig
from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.datasets import hybridqa, hybridqa_rc
from mate_tf.data.interactions import invalidate
from mate_tf.evaluation import hybridqa as evaluation
from mate_tf.evaluation import hybridqa_answers
from mate_tf.evaluation.confidence_intervals import paired_difference
from mate_tf.evaluation.metrics import gold_cells
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.encoder import EncoderConfig
from mate_tf.models.heads.spans import MLP
from mate_tf.protos.interaction_pb2 import Interaction
from mate_tf.tasks import base, configs, registry, table

NO_CANDIDATE = "no candidate cell"
AMBIGUOUS = "more than one candidate cell"


@dataclasses.dataclass
class HybridQaTaskConfig(configs.TableTaskConfig):
    """Config of HybridQA's first stage.

    Attributes:
        discard_ambiguous: train only on questions with a single candidate cell, as in the last row
            of the paper's table 6.
        with_test_split: convert and predict the test set too. Its answers are not public.
    """

    discard_ambiguous: bool = False
    with_test_split: bool = False


@registry.register
class HybridQaTask(table.TableTask):
    """HybridQA (Chen et al., 2020) by POINTR's cell selection (MATE paper, section 4.1).

    Cells are expanded: the sentences about their entities that best match the question follow the
    cell's text. All expanded cells that contain the answer are candidates. The loss is the marginal
    likelihood of all candidates.
    """

    name = "HYBRIDQA"
    splits = ("train", "dev")
    baselines = ("TF-IDF of cells", "TF-IDF of expanded cells")

    def __init__(self, params, *args, **kwargs):
        super().__init__(params, *args, **kwargs)
        if params.with_test_split:
            self.splits = (*type(self).splits, "test")

    def interactions(self, input_dir, split):
        questions = hybridqa.read(input_dir, split)
        if split == "train":
            discards = self.task_config.discard_ambiguous
            return base.DerivedInteractions(
                functools.partial(_learnable, questions, discards), questions.defects
            )
        return questions

    def is_right(self, interaction, question, prediction):
        """Judges one answer: whether a selected cell is a candidate."""
        return bool(gold_cells(question) & set(prediction.coordinates))

    def measure(self, interactions, predicted):
        """Computes Hits@1, 3 and 5 with numbers of questions, in total and by answer source."""
        questions = [question for each in interactions for question in each.questions]
        types = [answer_type(each) for each in questions if each.HasField("answer")]
        counts = collections.Counter(types) | {evaluation.ALL: len(types)}
        scores = evaluation.selection_metrics(interactions, predicted)
        return {
            f"Hits@{k}": {
                group: (metrics[f"recall_at_{k}"], counts[group])
                for group, metrics in scores.items()
            }
            for k in evaluation.RANKS
        }

    def compare(self, interactions, systems):
        """Computes differences in Hits@k to each ranker, with paired bootstrap intervals."""
        differences = {}
        for name in [each for each in systems if each != "model"]:
            differences[name] = {}
            for k in evaluation.RANKS:
                both = [evaluation.hits(interactions, systems[each], k) for each in ("model", name)]
                if both[0]:
                    pair = ([*each.values()] for each in both)
                    differences[name][f"Hits@{k}"] = str(paired_difference(*pair))
        return {"model minus ranker, 95 % interval": differences}

    @classmethod
    def experiment(cls):
        """Returns the paper's hyper-parameters (MATE, appendix A.2)."""
        return configs.fine_tuning(
            HybridQaTaskConfig(
                name=cls.name,
                conversion=configs.ConversionConfig(
                    max_seq_length=2048, expand_entity_descriptions=True
                ),
                model=ClassifierConfig(
                    encoder=EncoderConfig(reset_position_index_per_cell=True),
                    cell_cross_entropy=True,
                ),
            ),
            train_steps=80_000,
            batch_size=128,
            learning_rate=1e-5,
            warmup_ratio=0.05,
        )


def _learnable(questions: hybridqa.Questions, discard_ambiguous: bool) -> Iterator[Interaction]:
    """Yields training questions. Those that cannot be trained on are marked, with the reason."""
    for interaction in questions:
        for question in interaction.questions:
            candidates = len(question.answer.answer_coordinates)
            if not candidates:
                invalidate(question, NO_CANDIDATE)
            elif candidates > 1 and discard_ambiguous:
                invalidate(question, AMBIGUOUS)
        yield interaction


@dataclasses.dataclass
class ReadingConfig(hybridqa_rc.HybridQaRcConfig, base_config.Config):
    """Choice of the cells that are read, with the fields of `HybridQaRcConfig`."""

    single_cell_examples: bool = True


@dataclasses.dataclass
class HybridQaRcTaskConfig(configs.TableTaskConfig):
    """Config of HybridQA's second stage.

    Attributes:
        reading: choice of the cells that are read in training and evaluation.
    """

    reading: ReadingConfig = dataclasses.field(default_factory=ReadingConfig)


@registry.register
class HybridQaRcTask(table.TableTask):
    """Reads the answers of HybridQA (Chen et al., 2020) in gold cells.

    An example is a question with one cell and the sentences about the entities that the cell links
    to, as many as fit (MATE paper, section 4.2). The gold span is the first occurrence of the
    answer's text. Training and evaluation use gold cells. `mate_tf.pointr` evaluates both stages
    together.
    """

    name = "HYBRIDQA_RC"
    splits = ("train", "dev")
    baselines = ()

    def interactions(self, input_dir, split):
        reading, original = self.task_config.reading, None
        reading.check()
        questions = hybridqa.read(input_dir, split)
        if reading.use_original_coordinates:
            path = pathlib.Path(input_dir) / "released_data" / f"{split}.traced.json"
            original = hybridqa_rc.read_original_coordinates(path)

        def cells():
            for interaction in questions:
                yield from hybridqa_rc.gold_interactions(
                    interaction, reading, training=split == "train", original=original
                )

        return base.DerivedInteractions(cells, questions.defects)

    def measure(self, interactions, predicted):
        """Computes exact match and F1 over gold cells, by the rules of the official evaluator.

        A cell without a prediction counts as wrong.
        """
        offsets = Offsets(Tokenizer(self.task_config.conversion.bert_vocab_file))
        exact, f1 = [], []
        for interaction in interactions:
            for question in interaction.questions:
                (gold,) = question.answer.answer_texts
                text = hybridqa_answers.read_text(interaction, predicted.get(question.id), offsets)
                exact.append(text_match.exact_match(gold, text))
                f1.append(text_match.f1(gold, text))
        shares = {"exact match": exact, "F1": f1}
        return {
            "reading of right cells": {
                "cells": len(exact),
                **{name: sum(values) / max(len(values), 1) for name, values in shares.items()},
            }
        }

    @classmethod
    def experiment(cls):
        """Returns MATE's hyper-parameters (appendix A.2) for BERT with full attention."""
        return configs.fine_tuning(
            HybridQaRcTaskConfig(
                name=cls.name,
                conversion=configs.ConversionConfig(
                    max_seq_length=512, update_answer_coordinates=True
                ),
                model=ClassifierConfig(
                    encoder=EncoderConfig(attention=AttentionConfig(name="full")),
                    span_prediction=MLP,
                ),
            ),
            train_steps=25_000,
            batch_size=512,
            learning_rate=5e-5,
            warmup_ratio=0.01,
        )
