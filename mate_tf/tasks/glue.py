"""The nine tasks of GLUE (Wang et al., 2018).

The settings are those of Treeformer's table 7; metrics and submission files are GLUE's.
"""

import dataclasses
import os
from collections.abc import Mapping
from typing import ClassVar

from mate_tf.data.datasets import glue
from mate_tf.evaluation import glue as evaluation
from mate_tf.tasks import configs, registry, sequence


@dataclasses.dataclass
class GlueTaskConfig(sequence.SequenceTaskConfig):
    """Config of a task of GLUE.

    Attributes:
        diagnostics: for MNLI: also predict GLUE's diagnostics (AX). The data decide it: true if
            their file is in MNLI's folder or next to it.
    """

    diagnostics: bool = False


class GlueTask(sequence.SequenceTask):
    """Base class of GLUE's tasks. --input_dir has train.tsv, dev.tsv and test.tsv.

    The test set has no labels. It is not scored; its predictions are written for submission.

    Attributes:
        form: format of the files.
        submissions: split without labels -> name of its submission file, without extension.
        epochs, batch_size, learning_rate: settings of Treeformer's table 7.
        num_train: examples of the official training set; they determine the steps of an epoch.
    """

    form: ClassVar[glue.Format]
    submissions: ClassVar[Mapping[str, str]] = {}
    num_train = 0
    epochs = 10
    batch_size = 16
    learning_rate = 1e-5

    def interactions(self, input_dir, split):
        return glue.read(input_dir, split, self.form)

    def write_answers(self, interactions, predicted, target):
        """Writes the submission file of a split without labels, as gluebenchmark.com takes it."""
        folder, split = os.path.split(target)
        submissions = self.submissions or {"test": self.form.folder}
        if split not in submissions:
            return ()
        path = os.path.join(folder, f"{submissions[split]}.tsv")
        evaluation.write_submission(path, interactions, predicted, self.form.labels)
        return (path,)

    @classmethod
    def experiment(cls):
        """Returns the settings of Treeformer's table 7 with BERT-base and full attention."""
        return configs.fine_tuning(
            GlueTaskConfig(
                name=cls.name,
                conversion=sequence.SequenceConversionConfig(max_seq_length=512),
                # BERT embeds the first segment's id even if there is no second segment.
                model=sequence.classifier(len(cls.class_names) or 1, segments=True),
            ),
            train_steps=cls.num_train * cls.epochs // cls.batch_size,
            batch_size=cls.batch_size,
            learning_rate=cls.learning_rate,
            warmup_ratio=0.1,
            grad_clipping=None,
        )


_LARGE = {"epochs": 3, "batch_size": 128, "learning_rate": 3e-5}
"""Settings of table 7's first column."""


def _task(name: str, form: glue.Format, num_train: int, class_names=(), **attributes) -> None:
    """Registers a task that only has other attributes than its base class."""
    attributes |= {"name": name, "form": form, "num_train": num_train, "__module__": __name__}
    attributes["class_names"] = class_names or form.labels
    registry.register(type(f"{form.folder.replace('-', '')}Task", (GlueTask,), attributes))


# Recognizing Textual Entailment: does the second text follow from the first?
_task("RTE", glue.RTE, 2_490, learning_rate=2e-5)
# Microsoft Research Paraphrase Corpus: do two sentences mean the same?
_task("MRPC", glue.MRPC, 3_668, ("different", "paraphrase"), further_metrics=("F1",))
# Corpus of Linguistic Acceptability: is a sentence grammatical?
_task(
    *("COLA", glue.COLA, 8_551, ("unacceptable", "acceptable")),
    further_metrics=("Matthews correlation",),
)
# Semantic Textual Similarity Benchmark: similarity of two sentences, from 0 to 5.
# STS-B and WNLI are not in table 7; their settings are those of RTE.
_task("STS-B", glue.STS_B, 5_749, baselines=(), learning_rate=2e-5)
# Winograd NLI: does the sentence follow, in which a pronoun was replaced?
_task("WNLI", glue.WNLI, 635, ("not_entailment", "entailment"), learning_rate=2e-5)
# Stanford Sentiment Treebank: is a sentence of a film review positive or negative?
_task("SST-2", glue.SST_2, 67_349, ("negative", "positive"), **_LARGE)
# Quora Question Pairs: do two questions ask the same?
_task("QQP", glue.QQP, 363_846, ("different", "duplicate"), further_metrics=("F1",), **_LARGE)
# Question NLI: does a sentence contain the answer to the question?
_task("QNLI", glue.QNLI, 104_743, **_LARGE)


@registry.register
class MnliTask(GlueTask):
    """Multi-Genre NLI: does the second text follow from the first, contradict it, or neither?

    The dev and test sets are the matched ones, of the genres of the training set. Those of other
    genres are dev_mismatched and test_mismatched.
    """

    name = "MNLI"
    form = glue.MNLI
    splits = tuple(glue.MNLI.files)
    submissions: ClassVar = {"test": "MNLI-m", "test_mismatched": "MNLI-mm"}
    submissions |= {glue.AX: evaluation.DIAGNOSTICS}
    class_names = glue.MNLI.labels
    num_train = 392_702
    epochs, batch_size, learning_rate = _LARGE.values()

    def __init__(self, params, *args, **kwargs):
        super().__init__(params, *args, **kwargs)
        if params.diagnostics:
            self.splits = (*type(self).splits, glue.AX)

    @classmethod
    def decided_by_data(cls, input_dir):
        """Returns whether the file of the diagnostics is there."""
        return {"diagnostics": glue.find_diagnostics(input_dir) is not None}
