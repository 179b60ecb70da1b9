"""Confidence intervals of scores and of differences between systems, by the bootstrap method."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mate_tf.errors import InputError

_AT_ONCE = 1 << 22  # random numbers in memory at a time


class Interval(NamedTuple):
    """A mean with its confidence interval.

    Attributes:
        mean: mean over the questions.
        low, high: ends of the interval.
    """

    mean: float
    low: float
    high: float

    def __str__(self):
        """Returns a text such as "+1.2% [+0.3%, +2.0%]"."""
        return f"{self.mean:+.1%} [{self.low:+.1%}, {self.high:+.1%}]"


def paired_difference(
    scores: Sequence[float] | np.ndarray,
    baseline: Sequence[float] | np.ndarray,
    *,
    confidence: float = 0.95,
    samples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Computes the difference of two systems' mean scores on the same questions.

    The method is the paired bootstrap with percentiles: questions are drawn with replacement, with
    the scores of both systems.

    Args:
        scores: <float>[questions], hits, exact matches or F1 of a system.
        baseline: <float>[questions], scores of the other system in the same order.
        confidence: share of the drawn differences inside the interval.
        samples: number of sets of questions that are drawn.

    Raises:
        InputError: if the numbers of scores differ, or are 0.
    """
    scores, baseline = np.asarray(scores, float), np.asarray(baseline, float)
    if scores.shape != baseline.shape or scores.ndim != 1 or not len(scores):
        raise InputError(
            "a paired bootstrap takes one score of each system for each question, not "
            f"{scores.shape} and {baseline.shape}"
        )
    differences = scores - baseline
    random = np.random.default_rng(seed)
    count = len(differences)
    rows = max(_AT_ONCE // count, 1)
    means = np.concatenate(
        [
            differences[random.integers(count, size=(min(rows, left), count))].mean(axis=1)
            for left in range(samples, 0, -rows)
        ]
    )
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(differences.mean()), float(low), float(high))


def mean_interval(scores: Sequence[float] | np.ndarray, **options) -> Interval:
    """Computes the mean score of a system with its confidence interval.

    Args:
        scores: <float>[questions].
        **options: confidence, samples and seed of `paired_difference`.

    Raises:
        InputError: if there are no scores.
    """
    return paired_difference(scores, np.zeros(len(scores)), **options)
