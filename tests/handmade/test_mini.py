"""Hand-made tables: gold answers follow from the tables, and `mini` answers most questions."""

import collections
import dataclasses
import importlib
import itertools
import json

import pytest

from mate_tf.evaluation.predictions import Prediction
from mate_tf.serving import presets
from mate_tf.serving.predictor import Predictor
from mate_tf.tables.table import Table


@pytest.fixture(scope="module")
def questions(project):
    lines = (project / "tests" / "handmade" / "test.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def computed(table, question):
    """All numbers that cells of one column, or some of them, give."""
    for column in zip(*table.rows, strict=True):
        cells = [cell.replace(",", "") for cell in column]
        numbers = [float(cell) for cell in cells if cell.replace(".", "", 1).isdigit()]
        if len(numbers) == len(cells):
            yield from numbers
            yield sum(numbers)
            yield sum(numbers) / len(numbers)
            yield from map(sum, itertools.combinations(numbers, 2))
    yield from range(1, len(table.rows) + 1)


def test_answers_follow_from_the_tables(project, questions):
    assert len(questions) == 100
    names = [question["table"] for question in questions]
    assert all(names.count(name) == 5 for name in names)
    for question in questions:
        table = Table.from_csv(project / "tests" / "handmade" / question["table"])
        if "number" in question:
            assert any(
                abs(question["number"] - found) < 1e-6 for found in computed(table, question)
            )
        else:
            given = question["text"]
            cells = {cell for row in table.rows for cell in row}
            assert set([given] if isinstance(given, str) else given) <= cells, question


@pytest.fixture
def benchmark(project, monkeypatch):
    monkeypatch.syspath_prepend(str(project / "benchmarks"))
    return importlib.import_module("mini")


def test_scores(benchmark):
    interactions, kinds = benchmark.read(benchmark.DATA)
    by_kind = collections.Counter(kinds.values())
    texts = {
        each.questions[0].id: Prediction(
            each.questions[0].id, (), texts=tuple(each.questions[0].answer.answer_texts)
        )
        for each in interactions
    }
    scores = benchmark.scores(interactions, kinds, texts)
    assert scores == {kind: (n, n) for kind, n in by_kind.items()} | {benchmark.ALL: (100, 100)}
    assert benchmark.scores(interactions, kinds, {})[benchmark.ALL] == (0, 100)


@pytest.mark.slow
def test_mini_answers_most_of_them(benchmark):
    if presets.DEFAULT not in presets.names():
        pytest.skip("models/mini is not here")
    interactions, kinds = benchmark.read(benchmark.DATA)
    predicted, answers, _ = benchmark.ask(Predictor.from_preset(), interactions)
    right, total = benchmark.scores(interactions, kinds, predicted)[benchmark.ALL]
    assert right >= 0.7 * total
    assert benchmark.same(answers, answers) == total
    changed = dataclasses.replace(answers[0], answerable=not answers[0].answerable)
    assert benchmark.same(answers, [changed, *answers[1:]]) == total - 1
