"""ROUGE of written texts (Lin, 2004), by the package rouge-score, with bootstrap intervals."""

import functools
import statistics
from collections.abc import Iterator

from mate_tf.errors import InputError
from mate_tf.evaluation import confidence_intervals, metrics
from mate_tf.evaluation.extractive import sentences

METRICS = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL", "ROUGE-Lsum": "rougeLsum"}
"""Name of a metric -> its name in rouge-score. Values are F1 scores of stemmed words."""

_CACHED = 1 << 17  # pairs of texts; a comparison of systems reads all scores again


def require() -> None:
    """Raises InputError if the package rouge-score is not installed."""
    _scorer()


def scores(gold: str, written: str) -> dict[str, float]:
    """Computes the F1 of each of `METRICS` for one text.

    Words are stemmed and in lower case, as rouge-score does it. For ROUGE-Lsum a line of a text is
    a sentence; a text of one line is split (`extractive.sentences`).

    Raises:
        InputError: if the package rouge-score is not installed.
    """
    return dict(zip(METRICS, _scores(gold, written), strict=True))


def evaluate(
    interactions: metrics.Interactions, predicted: metrics.Predicted
) -> dict[str, float | str | metrics.Quantity]:
    """Computes the mean of each of `METRICS`.

    Args:
        interactions: interactions whose answers have the gold text as their only text. Those
            without one, as in test sets, are left out.
        predicted: predictions with `texts` by question id. A question without one scores 0.

    Returns:
        for each metric, its mean and, as text, its 95 % bootstrap interval; `length`, the mean
        number of words of a written text; the numbers of questions, of those without a text and of
        different texts. A model that does not read its input writes few different ones.

    Raises:
        InputError: if the package rouge-score is not installed.
    """
    pairs = list(_pairs(interactions, predicted))
    if not pairs:
        return {"questions without gold text": sum(len(each.questions) for each in interactions)}
    columns = zip(*(_scores(*pair) for pair in pairs), strict=True)
    scores = {}
    for name, values in zip(METRICS, columns, strict=True):
        interval = confidence_intervals.mean_interval(values)
        scores[name] = interval.mean
        scores[f"{name}, 95 %"] = f"{100 * interval.low:.1f} to {100 * interval.high:.1f} %"
    lengths = [len(written.split()) for _, written in pairs]
    return {
        **scores,
        "length": metrics.Quantity(value=statistics.mean(lengths), unit="words"),
        "questions": len(pairs),
        "unanswered": sum(not written for _, written in pairs),
        "different texts": len({written for _, written in pairs}),
    }


def differences(
    interactions: metrics.Interactions, predicted: metrics.Predicted, other: metrics.Predicted
) -> dict[str, str]:
    """Compares two systems on the same texts, by the paired bootstrap.

    Returns:
        metric -> text with the difference and its 95 % interval, positive if the first is better.
    """
    first = [_scores(*pair) for pair in _pairs(interactions, predicted)]
    second = [_scores(*pair) for pair in _pairs(interactions, other)]
    differences = {}
    for index, name in enumerate(METRICS):
        ours, others = ([each[index] for each in side] for side in (first, second))
        differences[name] = str(confidence_intervals.paired_difference(ours, others))
    return differences


def _pairs(interactions, predicted) -> Iterator[tuple[str, str]]:
    """Yields the gold and the written text of each question with a gold text."""
    for interaction in interactions:
        for question in interaction.questions:
            if question.answer.answer_texts:
                prediction = predicted.get(question.id)
                written = prediction.texts[0] if prediction and prediction.texts else ""
                yield question.answer.answer_texts[0], written


@functools.lru_cache(_CACHED)
def _scores(gold: str, written: str) -> tuple[float, ...]:
    """Returns the scores in the order of `METRICS`."""
    scores = _scorer().score(*("\n".join(sentences(text)) for text in (gold, written)))
    return tuple(scores[name].fmeasure for name in METRICS.values())


@functools.cache
def _scorer():
    """Returns the scorer of rouge-score."""
    try:
        from rouge_score import rouge_scorer
    except ImportError as error:
        raise InputError(
            "ROUGE needs the package rouge-score: pip install 'mate-tf[rouge]'"
        ) from error
    return rouge_scorer.RougeScorer(list(METRICS.values()), use_stemmer=True)
