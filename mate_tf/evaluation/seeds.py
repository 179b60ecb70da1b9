"""Statistics of a metric over trainings that differ in the seed only."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mate_tf.evaluation.metrics import Quantity, aligned

FILE = "seeds.json"
"""Name of the file with the statistics of a job, in the model folder."""

NAME = "{} | {} | {}"
"""Name of a metric: split, title, metric."""

LEFT_OUT = ("95 % from", "95 % to")
"""Metrics that are the interval of a single training."""


class Spread(NamedTuple):
    """Statistics of one metric.

    Attributes:
        median: median over the seeds, which MATE reports.
        half_iqr: half the interquartile range, MATE's error (paper, appendix A.2).
        mean: mean over the seeds.
        low, high: 95 % interval of the mean by Student's t; None for a single seed.
        values: the metric of each seed, in order.
        unit: "%" for shares; else that of `metrics.Quantity`.
    """

    median: float
    half_iqr: float
    mean: float
    low: float | None
    high: float | None
    values: tuple[float, ...]
    unit: str = ""


def spread(
    values: Sequence[float],
    smallest: float = -np.inf,
    largest: float = np.inf,
    unit: str = "",
) -> Spread:
    """Computes the statistics of a metric.

    Args:
        values: <float>[seeds]. Quartiles are interpolated linearly.
        smallest, largest: bounds of the metric, and so of the interval.
        unit: of the metric.
    """
    from scipy import stats

    mean, low, high = statistics.mean(values), None, None
    if len(values) > 1:
        error = statistics.stdev(values) / len(values) ** 0.5
        reach = float(stats.t.ppf(0.975, len(values) - 1)) * error
        low, high = max(mean - reach, smallest), min(mean + reach, largest)
    lower, upper = np.quantile(values, [0.25, 0.75]).tolist()
    half_iqr = (upper - lower) / 2
    return Spread(statistics.median(values), half_iqr, mean, low, high, tuple(values), unit)


def read_metrics(results: Mapping[str, Mapping]) -> dict[str, float | Quantity]:
    """Returns the metrics of the model, without numbers of questions and intervals.

    Args:
        results: contents of metrics.json: split -> title -> system -> metric -> value. A value is a
            share, a pair of a share and the number of its questions, or a `Quantity`.

    Returns:
        "<split> | <title> | <metric>" -> share or `Quantity`.
    """
    result = {}
    for split, titles in results.items():
        for title, systems in titles.items():
            for metric, value in systems.get("model", {}).items():
                value = value[0] if isinstance(value, Sequence) and len(value) == 2 else value
                if isinstance(value, float | Mapping) and metric not in LEFT_OUT:
                    result[NAME.format(split, title, metric)] = value
    return result


def over_seeds(runs: Sequence[Mapping[str, float | Quantity]], shares: bool) -> dict[str, Spread]:
    """Computes the statistics of each metric that all trainings have.

    Args:
        runs: metric -> value, for each seed.
        shares: True if plain numbers are shares, from 0 to 1, or from -1 to 1 for correlations.
    """
    result = {}
    for name, first in runs[0].items():
        if not all(name in run for run in runs):
            continue
        values: list[Any] = [run[name] for run in runs]
        if isinstance(first, Mapping):
            result[name] = spread([value["value"] for value in values], unit=first["unit"])
        elif shares:
            least = -1.0 if name.endswith("correlation") else 0.0
            result[name] = spread(values, least, 1.0, "%")
        else:
            result[name] = spread(values)
    return result


def table(spreads: Mapping[str, Spread]) -> str:
    """Formats the statistics as a plain text table with a line for each metric."""
    cells = [["", "median", "± half IQR", "95 % interval of the mean"]]
    for name, each in spreads.items():
        interval = "-"
        if each.low is not None and each.high is not None:
            interval = f"{_shown(each.low, each.unit)} to {_shown(each.high, each.unit)}"
        errors = f"± {_shown(each.half_iqr, each.unit)}"
        cells.append([name, _shown(each.median, each.unit), errors, interval])
    return aligned(cells)


def _shown(value: float, unit: str) -> str:
    return f"{100 * value:.2f} %" if unit == "%" else f"{value:.4g} {unit}".rstrip()
