"""How sure a difference between two systems is, from the questions that were asked."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mate_tf.errors import InputError

_AT_ONCE = 1 << 22  # drawn numbers in memory


class Interval(NamedTuple):
    """A mean with the interval that it is in.

    Attributes:
        mean: over the questions that were asked.
        low, high: the ends of the interval.
    """

    mean: float
    low: float
    high: float

    def __str__(self):
        return f"{self.mean:+.1%} [{self.low:+.1%}, {self.high:+.1%}]"


def paired_difference(
    scores: Sequence[float],
    baseline: Sequence[float],
    *,
    confidence: float = 0.95,
    samples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """How much better one system's mean score is than another's on the same questions.

    Questions are drawn with replacement, both systems' scores together (the paired bootstrap,
    percentile method).

    Args:
        scores: <float>[questions]: hits, exact matches or F1 of a system.
        baseline: <float>[questions]: those of the other, in the same order.
        confidence: share of the drawn differences within the interval.
        samples: how many sets of questions are drawn.
        seed: of the drawing.

    Raises:
        InputError: the systems answered different numbers of questions, or none.
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
    means = np.concatenate(
        [
            differences[random.integers(count, size=(rows, count))].mean(axis=1)
            for rows in _chunks(samples, max(_AT_ONCE // count, 1))
        ]
    )
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(differences.mean()), float(low), float(high))


def mean_interval(scores: Sequence[float], **options) -> Interval:
    """A system's mean score with its interval.

    Args:
        scores: <float>[questions].
        **options: as of `paired_difference`.

    Raises:
        InputError: there are no scores.
    """
    return paired_difference(scores, np.zeros(len(scores)), **options)


def _chunks(total: int, size: int) -> list[int]:
    """Sizes of at most `size` that add up to `total`."""
    return [min(size, total - begin) for begin in range(0, total, size)]
