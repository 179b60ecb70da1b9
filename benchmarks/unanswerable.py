"""Confidence of a trained model: calibration error, and questions that the table does not answer.

    python benchmarks/unanswerable.py --model_dir out/sqa_small/model --input_dir data/sqa

The dev tables are divided in two halves. A calibration is fitted to each half and measured on the
other one; the figures are means of both, and sums of the numbers of questions. In each half up to
500 questions are asked about their own table and about another one that shares no column name with
it, which does not answer them.
"""

import argparse
import math
import os

import common
import numpy as np

from mate_tf import Predictor, tasks
from mate_tf.evaluation import associations, calibration
from mate_tf.evaluation.calibration import Calibration
from mate_tf.serving import confidence
from mate_tf.training import experiments

BEFORE, TEMPERATURE, BIAS, WORDS, ALL, TABLE = (
    "probability",
    "temperature",
    "temperature and bias",
    "shared words",
    "confidence",
    "has an answer",
)
"""What is compared: the model's probability, calibrations of it, all inputs together, and the
probability that the table has an answer."""


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--model_dir", required=True, help="folder of a training")
    parser.add_argument("--input_dir", help="official files; not for generated tables")
    parser.add_argument("--questions", type=int, default=500, help="made ones in each half")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def halves(interactions) -> tuple[list, list]:
    """Interactions of every other table, and those of the tables between."""
    numbers, found = {}, ([], [])
    for each in interactions:
        table = each.table.SerializeToString(deterministic=True)
        found[numbers.setdefault(table, len(numbers)) % 2].append(each)
    return found


def measure(fitted_to, measured_on) -> tuple[dict, dict]:
    """Fits to one `confidence.ScoredAnswers` half and measures on the other: figures and curves."""
    probabilities, right = fitted_to.asked.probabilities, fitted_to.right
    fitted = confidence.fit(fitted_to)
    ways = {
        BEFORE: Calibration(),
        TEMPERATURE: calibration.fit(probabilities, right, bias=False),
        BIAS: calibration.fit(probabilities, right),
        ALL: fitted,
    }
    asked, right = measured_on.asked, measured_on.right
    all_right = np.concatenate([right, np.zeros(len(measured_on.other.shared), bool)])

    def of_all(way):
        """Confidences of the answers about own and other tables; the latter are wrong."""
        return np.concatenate([asked.confidences(way), measured_on.other.confidences(way)])

    sure, unsure = (group.confidences(fitted) for group in (measured_on.own, measured_on.other))
    own, other = (group.has_answer(fitted) for group in (measured_on.own, measured_on.other))
    answered = asked.has_answer(fitted) >= fitted.threshold
    figures = {
        "questions": len(right),
        "right": float(right.mean()),
        "mean probability": float(asked.probabilities.mean()),
        "questions about another table": len(other),
        "calibration error": {
            name: calibration.expected_calibration_error(of_all(way), all_right)
            for name, way in ways.items()
        },
        "calibration error, own table": {
            name: calibration.expected_calibration_error(asked.confidences(way), right)
            for name, way in ways.items()
        },
        "AUROC": {
            BEFORE: calibration.auroc(
                measured_on.own.probabilities, measured_on.other.probabilities
            ),
            WORDS: calibration.auroc(measured_on.own.shared, measured_on.other.shared),
            ALL: calibration.auroc(sure, unsure),
            TABLE: calibration.auroc(own, other),
        },
        "AUROC, right answers": calibration.auroc(asked.confidences(fitted)[right], unsure)
        if right.any()
        else math.nan,
        "own table, answered": float((own >= fitted.threshold).mean()),
        "another table, refused": float((other < fitted.threshold).mean()),
        "all questions, answered": float(answered.mean()),
        "right answers, answered": float(answered[right].mean()),
        "right of the answered": float(right[answered].mean()),
    }
    bins = {name: calibration.reliability(of_all(ways[name]), all_right) for name in (BEFORE, ALL)}
    threshold = fitted.threshold
    return figures, {"bins": bins, "own": own, "other": other, "threshold": threshold}


def mean(first, second):
    """Combines figures of the two halves: sums of whole numbers, means of others."""
    if isinstance(first, dict):
        return {key: mean(value, second[key]) for key, value in first.items()}
    return first + second if isinstance(first, int) else (first + second) / 2


def plot(figures: dict, curves: dict, title: str):
    """Draws confidence against accuracy, and both kinds of questions, of the second half."""
    figure, (left, right) = common.new_axes(9, 3.8, 2)
    number = figures["questions"] + figures["questions about another table"]
    left.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=":")
    for name, bins in curves["bins"].items():
        label = f"{name}: error {100 * figures['calibration error'][name]:.1f} %"
        points = [(each.confidence, each.accuracy) for each in bins]
        sizes = [4 + 200 * each.count / number for each in bins]
        left.plot(*zip(*points, strict=True), linewidth=0.8)
        left.scatter(*zip(*points, strict=True), s=sizes, label=label)
    left.set(xlabel="confidence", ylabel="share of right answers", xlim=(0, 1), ylim=(0, 1))
    left.legend(fontsize="small")
    edges = np.linspace(0, max(curves["own"].max(), curves["other"].max()), 26)
    for values, label in ((curves["own"], "own table"), (curves["other"], "another table")):
        right.hist(values, edges, alpha=0.55, label=label)
    right.axvline(curves["threshold"], color="black", linewidth=0.8, label="threshold")
    right.set(xlabel="probability that the table has an answer", ylabel="questions")
    right.set_title(f"AUROC {figures['AUROC'][TABLE]:.2f}", fontsize="medium")
    right.legend(fontsize="small", loc="upper center")
    figure.suptitle(title, fontsize="medium")
    return figure


def show(figures: dict) -> None:
    """Prints the figures, shares in %."""
    for name, value in figures.items():
        rows = value if isinstance(value, dict) else {"": value}
        for way, number in rows.items():
            if isinstance(number, float):
                number = f"{number:.3f}" if "AUROC" in name else f"{100 * number:.1f} %"
            print(f"{f'{name}, {way}' if way else name:54}{number}")


def main() -> None:
    options = arguments()
    task = tasks.create(experiments.load(os.path.join(options.model_dir, "params.yaml")).task)
    predictor = Predictor.from_pretrained(options.model_dir)
    train, dev = (task.interactions(options.input_dir, split) for split in task.splits[:2])
    words = associations.count(train)
    first, second = (
        confidence.scored(
            predictor,
            half,
            task.is_right,
            task.sequential,
            options.questions,
            options.seed,
            words,
        )
        for half in halves(list(dev))
    )
    of_second, curves = measure(first, second)
    of_first, _ = measure(second, first)
    figures = mean(of_first, of_second)
    show(figures)
    figure = plot(of_second, curves, f"{task.name} dev, {options.model_dir}")
    found = {"model_dir": options.model_dir, **figures}
    common.write(options, f"unanswerable_{task.name.lower()}", found, figure)


if __name__ == "__main__":
    main()
