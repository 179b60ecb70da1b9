"""Fits how probable the answers of programs are (mate_tf/serving/programs.json), or measures it.

    python benchmarks/programs.py --interactions out/tables/wtq/interactions/dev.tfrecord --fit
    python benchmarks/programs.py --interactions out/tables/wtq/interactions/test.tfrecord

With `--fit`, every other question of the file is taken. A linear model of the features of
`serving.whole.WholeAnswer` is fitted to them and to generated questions about their tables so
that the right answers of a question have the largest sum of probabilities. The confidence of the
best answer is fitted to the questions and to generated ones about lengthened tables. Both
are measured on halves that they were not fitted to, and written to the JSON file. Without `--fit`
all questions are asked, and the answers are printed next to those of the model without programs.
"""

import argparse
import dataclasses
import json
import pathlib
import random
import time

import common
import long_tables
import mini
import numpy as np

from mate_tf.data.generation.questions import NONE, questions
from mate_tf.data.interactions import Question, interaction_from_table, table_of
from mate_tf.evaluation import calibration, denotation, metrics
from mate_tf.evaluation.predictions import Prediction
from mate_tf.serving import whole
from mate_tf.serving.predictor import Predictor

FILE = common.ROOT / "mate_tf" / "serving" / "programs.json"
_CONFIDENCE = ("unexplained", "words", "windows")  # what the confidence has beside the score
_LENGTHENED = {100: 140, 1000: 60}  # rows -> tables
_GENERATED = 3  # questions a table
_L2, _STEPS, _RATE = 0.02, 600, 0.05


def generated(interactions) -> list:
    """Generates questions about the tables; those with an operation are checked by their number."""
    draw, found, seen = random.Random(5), [], set()
    for number, each in enumerate(interactions):
        if each.table.table_id in seen:
            continue
        seen.add(each.table.table_id)
        table = table_of(each)
        for index, made in enumerate(questions(table, draw, _GENERATED)):
            name = f"made-{number}/{index}-0"
            prediction = Prediction(f"{name}_0", made.coordinates, aggregation=made.aggregation)
            texts = [table.rows[row][column] for row, column in made.coordinates]
            question = Question(f"{name}_0", made.text, made.coordinates, texts, made.aggregation)
            interaction = interaction_from_table(table, name, [question])
            if made.aggregation != NONE:
                (text,) = denotation.answer(interaction, prediction) or [None]
                if text is None:
                    continue
                question = dataclasses.replace(question, texts=[str(text)])
                interaction = interaction_from_table(table, name, [question])
            found.append(interaction)
    return found


def candidates(
    predictor: Predictor, interactions, judge=denotation.is_right
) -> list[tuple[list[dict], np.ndarray]]:
    """Returns the features of each question's answers, and <bool>[answers], which are right."""
    recorded, made = [], whole.Joining.answers

    def record(joining):
        recorded.append(made(joining))
        return recorded[-1]

    whole.Joining.answers, found, begin = record, [], time.perf_counter()
    for number, interaction in enumerate(interactions):
        question = interaction.questions[0]
        predictor.ask(table_of(interaction), question.original_text)
        if not recorded:  # derived by words alone, without programs
            continue
        answers = recorded.pop()
        right = [is_right(interaction, question.id, each, judge) for each in answers]
        found.append(([each.features for each in answers], np.array(right, bool)))
        if number % 100 == 99:
            seconds = (time.perf_counter() - begin) / (number + 1) * (len(interactions) - number)
            print(
                f"{number + 1} of {len(interactions)} questions, {seconds:.0f} s left", flush=True
            )
    whole.Joining.answers = made
    return found


def is_right(interaction, name: str, found: whole.WholeAnswer, judge) -> bool:
    """Judges an answer by the rules of the data set, or of long_tables."""
    cells = tuple((int(row), found.column) for row in found.rows)
    prediction = Prediction(name, cells, aggregation=found.operation)
    if judge is long_tables.is_right:
        return judge(interaction, prediction)
    grades = metrics.grade([interaction], {name: prediction}, judge)
    return any(each.right for each in grades if each.question.id == name)


def fitted(found, names: list[str]) -> np.ndarray:
    """Fits weights <float>[names]: gradient descent (Adam) on the probability of right answers."""
    cases = [(matrix(features, names), right) for features, right in found if right.any()]
    scale = np.concatenate([case for case, _ in cases]).std(axis=0) + 1e-6
    cases = [(case / scale, right) for case, right in cases]
    weights, mean, square = (np.zeros(len(names)) for _ in range(3))
    for step in range(1, _STEPS + 1):
        gradient = _L2 * weights
        for case, right in cases:
            scores = case @ weights
            probability = np.exp(scores - scores.max())
            probability /= probability.sum()
            wanted = np.where(right, probability, 0)
            gradient = gradient + case.T @ (probability - wanted / wanted.sum()) / len(cases)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        root = np.sqrt(square / (1 - 0.999**step)) + 1e-8
        weights = weights - _RATE * mean / (1 - 0.9**step) / root
    return weights / scale


def matrix(features: list[dict], names: list[str]) -> np.ndarray:
    """Returns features as <float>[answers, names]."""
    return np.array([[each.get(name, 0.0) for name in names] for each in features])


def best(found, names: list[str], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns inputs of the confidence <float>[questions, inputs] and <bool>[questions], if right.

    They are those of the best answer to each question.
    """
    inputs, right = [], []
    for features, judged in found:
        scores = matrix(features, names) @ weights
        index = int(scores.argmax())
        inputs.append([scores[index], *(features[index].get(name, 0.0) for name in _CONFIDENCE)])
        right.append(judged[index])
    return np.array(inputs), np.array(right)


def fitted_confidence(inputs: np.ndarray, right: np.ndarray):
    """Fits a logistic regression of whether the best answer is right."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=100.0, max_iter=1000).fit(inputs, right)


def fit(predictor: Predictor, interactions) -> dict:
    """Fits everything and prints what it gives on halves that it was not fitted to."""
    tables, begin, long = long_tables.distinct(interactions), 0, []
    for rows, count in _LENGTHENED.items():
        long += long_tables.asked_of(tables[begin : begin + count], rows)[0]
        begin += count
    groups = {
        "questions": candidates(predictor, interactions),
        "long": candidates(predictor, long, long_tables.is_right),
        "generated": candidates(predictor, generated(interactions)),
    }
    everything = [each for group in groups.values() for each in group]
    names = sorted({name for features, _ in everything for each in features for name in each})
    names = [name for name in names if name not in _CONFIDENCE or name == "unexplained"]
    for own, other in ((0, 1), (1, 0)):
        half = {title: group[own::2] for title, group in groups.items()}
        weights = fitted([each for group in half.values() for each in group], names)
        asked = half["questions"] + half["long"]
        confidence = fitted_confidence(*best(asked, names, weights))
        for title, group in groups.items():
            inputs, right = best(group[other::2], names, weights)
            sure = confidence.predict_proba(inputs)[:, 1]
            error = calibration.expected_calibration_error(sure, right)
            possible = np.mean([judged.any() for _, judged in group[other::2]])
            print(
                f"half {other + 1} of {title}: {100 * right.mean():.1f} % of {len(right)} right, "
                f"{100 * possible:.1f} % have a right answer; calibration error {100 * error:.1f} %"
            )
    weights = fitted(everything, names)
    confidence = fitted_confidence(*best(groups["questions"] + groups["long"], names, weights))
    of_confidence = [*confidence.coef_[0], confidence.intercept_[0]]
    return {
        "confidence": rounded(("score", *_CONFIDENCE, "bias"), of_confidence),
        "weights": rounded(names, weights),
    }


def rounded(names, values) -> dict[str, float]:
    """Returns values by name, with four decimals."""
    return {name: round(float(each), 4) for name, each in zip(names, values, strict=True)}


def compare(predictors: dict[str, Predictor], interactions) -> dict:
    """Asks with and without programs; prints shares of right answers with intervals."""
    found = {}
    for name, predictor in predictors.items():
        predicted, answers, seconds = mini.ask(predictor, interactions)
        grades = metrics.grade(interactions, predicted, denotation.is_right)
        right = {each.question.id: each.right for each in grades}
        judged = np.array([right[each.questions[0].id] for each in interactions])
        sure = np.array([each.confidence for each in answers])
        shown = np.array([each.answerable for each in answers])
        low, high = metrics.confidence_interval(int(judged.sum()), len(judged))
        error = calibration.expected_calibration_error(sure, judged)
        print(
            f"{name}: {100 * judged.mean():.1f} % of {len(judged)} right ({100 * low:.1f} to "
            f"{100 * high:.1f}), {100 * shown.mean():.1f} % shown, of these "
            f"{100 * judged[shown].mean():.1f} % right; calibration error {100 * error:.1f} %, "
            f"{1000 * seconds:.0f} ms a question",
            flush=True,
        )
        found[name] = {"right": int(judged.sum()), "questions": len(judged), "error": error}
    return found


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--model", help="folder of a trained model; by default the preset")
    parser.add_argument("--interactions", required=True, help="file of create_data")
    parser.add_argument("--every", type=int, default=1, help="take every n-th question")
    parser.add_argument("--fit", action="store_true", help="fit the weights, and write them")
    parser.add_argument("--alone", action="store_true", help="without those of the model")
    parser.add_argument("--file", type=pathlib.Path, default=FILE, help="where --fit writes them")
    return parser.parse_args()


def main() -> None:
    """Fits or compares."""
    options = arguments()

    def load(**reading) -> Predictor:
        if options.model:
            return Predictor.from_pretrained(options.model, **reading)
        return Predictor.from_preset(**reading)

    predictor = load()
    fitted_before = predictor.calibration or calibration.Calibration()
    predictor = predictor.with_calibration(dataclasses.replace(fitted_before, computes=True))
    interactions, _ = mini.sample(options.interactions, options.every * (1 + options.fit))
    if options.fit:
        found = fit(predictor, interactions)
        options.file.write_text(json.dumps(found, indent=1) + "\n")
        print(options.file)
    else:
        asked = {"programs": predictor} | ({} if options.alone else {"model": load(reading={})})
        found = compare(asked, interactions)
    common.write(options, "programs", found)


if __name__ == "__main__":
    main()
