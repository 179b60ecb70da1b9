"""HYBRIDQA_RC: POINTR's second stage, which selects the answer's span in an expanded cell."""

import dataclasses
import pathlib

from mate_tf.answers import text_match
from mate_tf.attention import AttentionConfig
from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.datasets import hybridqa, hybridqa_rc
from mate_tf.evaluation import hybridqa_answers
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.encoder import EncoderConfig
from mate_tf.models.heads.spans import MLP
from mate_tf.tasks import configs, registry, table


@dataclasses.dataclass
class HybridQaRcTaskConfig(configs.TableTaskConfig):
    """Config of HybridQA's second stage.

    Attributes:
        reading: choice of the cells that are read in training and evaluation.
    """

    reading: hybridqa_rc.HybridQaRcConfig = dataclasses.field(
        default_factory=lambda: hybridqa_rc.HybridQaRcConfig(single_cell_examples=True)
    )


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
        return _Cells(input_dir, split, self.task_config.reading)

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


class _Cells:
    """Interactions with the gold cells of a split's questions.

    Attributes:
        defects: defects of the files, see `hybridqa.Questions`.
    """

    def __init__(self, input_dir, split, reading):
        reading.check()
        self._questions = hybridqa.read(input_dir, split)
        self.defects = self._questions.defects
        self._reading, self._training, self._original = reading, split == "train", None
        if reading.use_original_coordinates:
            path = pathlib.Path(input_dir) / "released_data" / f"{split}.traced.json"
            self._original = hybridqa_rc.read_original_coordinates(path)

    def __iter__(self):
        for interaction in self._questions:
            yield from hybridqa_rc.gold_interactions(
                interaction, self._reading, training=self._training, original=self._original
            )
