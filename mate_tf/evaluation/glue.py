"""Submission files of GLUE (Wang et al., 2018), and mean scores over its tasks."""

import os
import pathlib
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mate_tf.data.interactions import parse_question_id
from mate_tf.errors import InputError
from mate_tf.evaluation import seeds
from mate_tf.evaluation.metrics import Predicted
from mate_tf.files.atomic import write_text
from mate_tf.files.json_files import read_json_object
from mate_tf.protos.interaction_pb2 import Interaction

DIAGNOSTICS = "AX"
"""Name of the submission file of the diagnostics, which may be left out."""

SUBMISSIONS = ("CoLA", "SST-2", "MRPC", "STS-B", "QQP", "MNLI-m", "MNLI-mm", "QNLI", "RTE", "WNLI")
SUBMISSIONS += (DIAGNOSTICS,)
"""Names of all submission files, without the extension .tsv."""

_SCORES = (0.0, 5.0)
_HEADER = "index\tprediction"


class Score(NamedTuple):
    """Names a score on a dev set.

    Attributes:
        task: name of the task.
        metric: name of the metric.
        split: the dev set.
    """

    task: str
    metric: str = "accuracy"
    split: str = "dev"

    def __str__(self):
        """Returns a text such as "MNLI mismatched, accuracy"."""
        return f"{self.task}{self.split.removeprefix('dev').replace('_', ' ')}, {self.metric}"


_COLA, _SST_2 = Score("COLA", "Matthews correlation"), Score("SST-2")
_MNLI = (Score("MNLI"), Score("MNLI", split="dev_mismatched"))
_MRPC, _QQP = Score("MRPC", "F1"), Score("QQP", "F1")
_QNLI, _RTE, _WNLI = Score("QNLI"), Score("RTE"), Score("WNLI")
_SPEARMAN = Score("STS-B", "Spearman correlation")

SCORES = (
    *(_COLA, _SST_2, _MRPC, Score("MRPC"), Score("STS-B", "Pearson correlation"), _SPEARMAN),
    *(_QQP, Score("QQP"), *_MNLI, _QNLI, _RTE, _WNLI),
)
"""All scores of GLUE."""

MEANS = {
    "GLUE": tuple(
        tuple(score for score in SCORES if score.task == task)
        for task in dict.fromkeys(score.task for score in SCORES)
    ),
    "SparseBERT": tuple(
        (score,) for score in (*_MNLI, _QQP, _QNLI, _SST_2, _COLA, _SPEARMAN, _MRPC, _RTE)
    ),
    "Treeformer": tuple(
        (score,) for score in (_MNLI[0], Score("QQP"), _QNLI, _SST_2, _MRPC, _RTE, _COLA)
    ),
}
"""Mean -> groups of scores. It is the mean over the groups of the means within them.

GLUE's mean is over its nine tasks. Those of the papers leave tasks out and take one score of each
task, but SparseBERT both of MNLI's (its tables 1 and 3; Treeformer's tables 2 and 9).
"""


def write_submission(
    path: str | os.PathLike,
    interactions: Iterable[Interaction],
    predicted: Predicted,
    labels: Sequence[str],
) -> None:
    """Writes predictions as gluebenchmark.com takes them: a line "index, prediction" for each text.

    GLUE refuses files that lack an index. So a question without a prediction, as where a text has
    no tokens, gets the first label, or 0.

    Without `labels`, predictions are numbers, which are limited to 0 to 5.
    """
    lines = [_HEADER]
    for interaction in interactions:
        (question,) = interaction.questions
        index = parse_question_id(question.id).example.rpartition("_")[2]
        label = predicted.get(question.id)
        if labels:
            text = labels[label.class_index or 0 if label else 0]
        else:
            low, high = _SCORES
            value = label.value if label else None
            text = f"{low if value is None else min(max(value, low), high):.3f}"
        lines.append(f"{index}\t{text}")
    write_text(path, "\n".join(lines) + "\n")


def read_scores(folder: str | os.PathLike) -> dict[Score, tuple[float, pathlib.Path]]:
    """Reads the scores of trained models, from metrics.json in all folders below `folder`.

    For a training run with several seeds it reads the medians in seeds.json.

    Returns:
        score -> its value from 0 to 1, and the model's folder.

    Raises:
        InputError: if there is no score of GLUE, two models have the same one, or a file is broken.
    """
    scores: dict[Score, tuple[float, pathlib.Path]] = {}
    of_seeds = sorted(pathlib.Path(folder).glob(f"*/**/{seeds.FILE}"))
    several = {path.parent for path in of_seeds}
    single = sorted(pathlib.Path(folder).glob("*/**/metrics.json"))
    for path in [*of_seeds, *(path for path in single if path.parent.parent not in several)]:
        content = read_json_object(path)
        for score in SCORES:
            try:
                if path.name == seeds.FILE:
                    name = seeds.NAME.format(score.split, score.task, score.metric)
                    value = float(content["statistics"][name]["median"])
                else:
                    value = float(content[score.split][score.task]["model"][score.metric])
            except (KeyError, TypeError, ValueError):
                continue  # of another task, or dropped
            if score in scores:
                raise InputError(
                    f"{scores[score][1]} and {path.parent} both have {score.task}: give a folder "
                    "with one model of each task"
                )
            scores[score] = value, path.parent
    if not scores:
        raise InputError(f"{folder}: no metrics.json with scores of GLUE in its folders")
    return scores


def means(scores: Mapping[Score, float]) -> dict[str, float]:
    """Computes the means for which all scores are there.

    Returns:
        name of `MEANS` -> mean.
    """
    return {
        name: statistics.mean(statistics.mean(scores[score] for score in group) for group in groups)
        for name, groups in MEANS.items()
        if all(score in scores for group in groups for score in group)
    }
