"""Calibration of the probabilities of answers: temperature, calibration error, threshold.

The method is temperature scaling (Guo et al., On Calibration of Modern Neural Networks, 2017) of
one probability per answer. With the bias it is Platt scaling, and the words that question and table
share are a second input of it. Does not import TensorFlow.
"""

import dataclasses
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from mate_tf.errors import InputError
from mate_tf.files.json_files import read_json_object

FILE = "calibration.json"
"""File with a `Calibration`, next to the weights of its model."""

Values = Sequence[float] | np.ndarray
"""Numbers, <float>[questions]."""

NUM_BINS = 15
"""Bins of the calibration error, as in the paper."""

_SMALLEST = 1e-6
_SLOPES = (0.01, 20.0)
"""Range of 1 / temperature. It is positive: a more probable answer is never less confident."""

_OVERLAPS = (0.0, 20.0)

_REQUIRED = frozenset({"temperature", "bias", "overlap", "threshold", "weights"})
"""Keys that the file must have; the others have defaults."""


@dataclasses.dataclass(frozen=True)
class Calibration:
    """Conversion of the probability of an answer to a confidence.

    The confidence is sigmoid(log(p / (1 - p)) / temperature + overlap * s + bias), where s is the
    share of the question's words that the table has (`unanswerable.shared_words`). It estimates the
    share of right answers among all that have it.

    The probability that the table has an answer at all is computed in the same way, with
    table_temperature, table_overlap and table_bias. A model with few right answers has a low
    confidence in all of them, but the words still tell which tables belong to the question.

    Attributes:
        temperature: divisor of the log odds; above 1 if the model is too sure.
        bias: added to the log odds.
        overlap: added to the log odds if the table has all of the question's words, see above.
        threshold: smallest probability that the table has an answer; below it there is none.
        weights: name of the checkpoint that it was fitted for; "" if unknown.
        table_temperature, table_bias, table_overlap: the same for the probability that the table
            has an answer; None: those of the confidence.
        unknown_names: subtracted from the log odds, of both, for each name in the question that the
            table does not have (`serving.names`).
        computes: answers about tables that fit the model are computed by `answers.programs` too,
            not only those about longer tables: found to be right more often with this model.
        associations: words of column names that go with a word of a question, see
            `associations.count`; a table with one of them has the word, too.
    """

    temperature: float = 1.0
    bias: float = 0.0
    overlap: float = 0.0
    threshold: float = 0.0
    weights: str = ""
    table_temperature: float | None = None
    table_bias: float | None = None
    table_overlap: float | None = None
    unknown_names: float = 0.0
    computes: bool = False
    associations: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        numbers = (
            *(self.temperature, self.bias, self.overlap, self.threshold, self.unknown_names),
        )
        of_table = (self.table_temperature, self.table_bias, self.table_overlap)
        if of_table != (None, None, None):
            numbers += of_table
        if not all(isinstance(each, int | float) and math.isfinite(each) for each in numbers):
            raise InputError(
                "temperature, bias, overlap, threshold and, unless all are null, those of table_ "
                "must be numbers"
            )
        if not isinstance(self.weights, str):
            raise InputError(f"weights {self.weights!r} is not a name of a checkpoint")
        if not isinstance(self.computes, bool):
            raise InputError(f"computes {self.computes!r} is neither true nor false")
        if not _are_associations(self.associations):
            raise InputError("associations must be an object with a list of words for each word")
        for each in (self.temperature, self.table_temperature):
            if each is not None and each <= 0:
                raise InputError(f"temperature {each} is not above 0")

    def confidence(self, probability, shared: Any = 0.0, unknown: Any = 0) -> Any:
        """Computes the confidence of answers.

        Args:
            probability: <float>[...], of the answers.
            shared: <float>[...], shares of the questions' words that their tables have.
            unknown: <int>[...], numbers of names in the questions that their tables do not have.

        Returns:
            <float64>[...].
        """
        odds = log_odds(probability) / self.temperature - self.unknown_names * np.asarray(unknown)
        return sigmoid(odds + self.overlap * np.asarray(shared) + self.bias)

    def has_answer(self, probability, shared: Any = 0.0, unknown: Any = 0) -> Any:
        """Computes the probability that a table has an answer to a question.

        Arguments and result as for `confidence`.
        """
        if self.table_temperature is None or self.table_bias is None:
            return self.confidence(probability, shared, unknown)
        odds = log_odds(probability) / self.table_temperature
        odds = odds - self.unknown_names * np.asarray(unknown)
        return sigmoid(odds + self.table_overlap * np.asarray(shared) + self.table_bias)

    def of_computed(self, probability, unknown: Any = 0) -> Any:
        """Computes the confidence of answers that are computed over whole tables.

        Args:
            probability: <float>[...], that they are right, for questions that the table answers.
            unknown: as for `confidence`.
        """
        return sigmoid(log_odds(probability) - self.unknown_names * np.asarray(unknown))

    def with_table(self, fitted: "Calibration", threshold: float) -> "Calibration":
        """Returns this calibration with another one for the probability that a table has an answer.

        Args:
            fitted: fitted to whether the table has an answer, not to right answers.
            threshold: see the attribute.
        """
        return dataclasses.replace(
            self,
            threshold=threshold,
            table_temperature=fitted.temperature,
            table_bias=fitted.bias,
            table_overlap=fitted.overlap,
        )


def read(path: str | os.PathLike) -> Calibration:
    """Reads a calibration from its JSON file.

    Raises:
        InputError: if the file cannot be read, or its values are missing or no numbers.
    """
    content = read_json_object(os.fspath(path))
    values = {}
    for field in dataclasses.fields(Calibration):
        if field.name in content:
            values[field.name] = content[field.name]
        elif field.name in _REQUIRED:
            raise InputError(f"{path}: has no {field.name!r}")
    try:
        return Calibration(**values)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def log_odds(probability) -> np.ndarray:
    """Computes log(p / (1 - p)), with p kept 1e-6 away from 0 and 1, so that it is finite."""
    probability = np.clip(np.asarray(probability, np.float64), _SMALLEST, 1 - _SMALLEST)
    return np.log(probability) - np.log1p(-probability)


def fit(
    probabilities: Values,
    right: Sequence[bool] | np.ndarray,
    shared: Values | None = None,
    bias: bool = True,
) -> Calibration:
    """Fits a calibration to answers: the values with the largest likelihood; the threshold is 0.

    As Platt does, the targets are (n + 1) / (n + 2) of the n right answers and 1 / (m + 2) of the
    m wrong ones, so that the fit is finite if all are right or all are wrong.

    Args:
        probabilities: <float>[answers].
        right: <bool>[answers].
        shared: <float>[answers], shares of the questions' words that their tables have; None: fit
            without them.
        bias: False: fit the temperature alone, as Guo et al. do.

    Raises:
        InputError: if there are no answers, or the lengths differ.
    """
    from scipy import optimize

    probabilities, right = _checked(probabilities, right)
    words, _ = _checked(np.zeros(len(right)) if shared is None else shared, right)
    inputs = np.stack([log_odds(probabilities), words, np.ones(len(right))], axis=1)
    num_right = int(right.sum())
    high, low = (num_right + 1) / (num_right + 2), 1 / (len(right) - num_right + 2)
    targets = np.where(right, high, low)

    def loss(weights):
        scores = inputs @ weights
        value = np.mean(np.logaddexp(0.0, scores) - targets * scores)
        return value, inputs.T @ (sigmoid(scores) - targets) / len(right)

    zero = (0.0, 0.0)
    bounds = [_SLOPES, zero if shared is None else _OVERLAPS, (None, None) if bias else zero]
    optimum = optimize.minimize(loss, [1.0, 0.0, 0.0], jac=True, bounds=bounds)
    slope, overlap, shift = map(float, optimum.x)
    return Calibration(temperature=1 / slope, bias=shift, overlap=overlap)


def fit_unknown_names(odds: Values, unknown: Sequence[int] | np.ndarray, answerable) -> float:
    """Fits `Calibration.unknown_names`: the value from 0 to 20 with the largest likelihood.

    Args:
        odds: <float>[questions], log odds that the table has an answer, without names.
        unknown: <int>[questions], numbers of names that the table does not have.
        answerable: <bool>[questions].
    """
    from scipy import optimize

    odds, unknown = np.asarray(odds, np.float64), np.asarray(unknown, np.float64)
    sign = np.where(answerable, 1.0, -1.0)
    optimum = optimize.minimize_scalar(
        lambda weight: np.mean(np.logaddexp(0.0, -sign * (odds - weight * unknown))),
        bounds=_OVERLAPS,
        method="bounded",
    )
    return float(optimum.x)


@dataclasses.dataclass(frozen=True)
class Bin:
    """Answers with similar confidences.

    Attributes:
        confidence: mean confidence.
        accuracy: share of right answers.
        count: number of answers.
    """

    confidence: float
    accuracy: float
    count: int


def reliability(
    confidences: Values, right: Sequence[bool] | np.ndarray, num_bins: int = NUM_BINS
) -> list[Bin]:
    """Groups answers into bins of equal width, for a reliability diagram; empty bins are left out.

    Args:
        confidences: <float>[answers], from 0 to 1.
        right: <bool>[answers].
        num_bins: number of bins from 0 to 1.

    Raises:
        InputError: if there are no answers, or the lengths differ.
    """
    confidences, right = _checked(confidences, right)
    place = np.minimum((confidences * num_bins).astype(int), num_bins - 1)
    return [
        Bin(
            float(confidences[place == index].mean()),
            float(right[place == index].mean()),
            int((place == index).sum()),
        )
        for index in np.unique(place)
    ]


def expected_calibration_error(
    confidences: Values, right: Sequence[bool] | np.ndarray, num_bins: int = NUM_BINS
) -> float:
    """Computes the mean distance of confidence and accuracy over the bins, by numbers of answers.

    Arguments, <float>[answers] and <bool>[answers], and errors as for `reliability`. From 0, the
    best, to 1.
    """
    bins = reliability(confidences, right, num_bins)
    distances = [abs(each.confidence - each.accuracy) for each in bins]
    return float(np.average(distances, weights=[each.count for each in bins]))


def auroc(answerable: Values, unanswerable: Values) -> float:
    """Computes the area under the ROC curve of confidences.

    It is the probability that a question with an answer has a larger confidence than one without;
    equal ones count as half.

    Args:
        answerable: <float>[questions], confidences of questions that the table answers.
        unanswerable: <float>[questions], confidences of the others.

    Raises:
        InputError: if either is empty.
    """
    from sklearn import metrics as sklearn_metrics

    truth, scores = _two_groups(answerable, unanswerable)
    return float(sklearn_metrics.roc_auc_score(truth, scores))


def choose_threshold(answerable: Values, unanswerable: Values) -> float:
    """Chooses the threshold with the largest balanced accuracy.

    It is the mean of two shares: of the questions with an answer that are at the threshold or
    above, and of those without that are below. Of several best ones the lowest is chosen, which
    refuses least; it is 0, which refuses nothing, if no other one is better.

    Args:
        answerable, unanswerable: as for `auroc`.

    Raises:
        InputError: if either is empty.
    """
    truth, scores = _two_groups(answerable, unanswerable)
    values = np.unique(scores)
    candidates = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2])
    kept = [np.mean(scores[truth] >= each) for each in candidates]
    refused = [np.mean(scores[~truth] < each) for each in candidates]
    return float(candidates[np.argmax(np.add(kept, refused))])


def _are_associations(value):
    return isinstance(value, dict) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names)
        for names in value.values()
    )


def sigmoid(scores):
    """Computes probabilities <float64>[...] of log odds <float>[...], of any size."""
    return np.exp(-np.logaddexp(0.0, -scores))


def _checked(values, right):
    values, right = np.asarray(values, np.float64), np.asarray(right, bool)
    if values.shape != right.shape or values.ndim != 1 or not len(values):
        raise InputError(
            f"a calibration takes the probability of each answer and whether it is right, not "
            f"{values.shape} and {right.shape}"
        )
    return values, right


def _two_groups(answerable, unanswerable):
    """Returns <bool>[questions], true for those with an answer, and their <float64>[questions]."""
    if not len(answerable) or not len(unanswerable):
        raise InputError("questions with and without an answer are needed")
    truth = np.repeat([True, False], [len(answerable), len(unanswerable)])
    return truth, np.concatenate([answerable, unanswerable]).astype(np.float64)
