"""The baseline for statements: learns from overlap, and how far that goes on the real TabFact."""

import itertools

import pytest

from mate_tf.data.datasets import tabfact
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.evaluation import metrics
from mate_tf.evaluation.lexical import LexicalClassifier
from mate_tf.tables.table import Table

NAMES = ("ada", "bo", "cy", "di", "ed", "flo", "gus", "hal")


def _true_and_false(index):
    """Of each player the right score, and that of another one."""
    rows = [[name, f"{(position + index) % 8 + 1},000"] for position, name in enumerate(NAMES)]
    table = Table.from_rows(["player", "score"], rows, title="cup finals")
    questions = []
    for position, name in enumerate(NAMES):
        score = (position + index) % 8 + 1
        for said, label in ((score, 1), (score % 8 + 1, 0)):
            question_id = f"{index}-0_{len(questions)}"
            text = f"{name} has {said}000"
            questions.append(Question(question_id, text, class_index=label))
    return interaction_from_table(table, f"{index}-0", questions)


def test_learns_that_true_statements_are_in_one_row():
    classifier = LexicalClassifier([_true_and_false(index) for index in range(6)])
    asked = [_true_and_false(index) for index in (6, 7)]
    found = classifier(asked)
    assert metrics.classification_metrics(asked, found)["accuracy"] == 1.0
    for prediction in found.values():
        assert sum(prediction.class_probabilities) == pytest.approx(1.0)
        assert prediction.class_probabilities[prediction.class_index] > 0.5
    assert classifier([]) == {}


def test_classes_that_are_not_consecutive():
    train = [_true_and_false(index) for index in range(3)]
    for interaction in train:
        for question in interaction.questions:
            question.answer.class_index *= 2
    (prediction, *_) = LexicalClassifier(train)(train).values()
    assert len(prediction.class_probabilities) == 3
    assert prediction.class_probabilities[1] == 0.0
    assert prediction.class_index in (0, 2)


def test_on_official_statements(tabfact_dir):
    """More than a majority class has (50.6 % on dev), already after 2,000 statements."""
    train = itertools.islice(tabfact.read(tabfact_dir, "train"), 2000)
    dev = list(itertools.islice(tabfact.read(tabfact_dir, "dev"), 2000))
    found = metrics.classification_metrics(dev, LexicalClassifier(train)(dev))
    assert found["accuracy"] == pytest.approx(0.6, abs=0.02)
