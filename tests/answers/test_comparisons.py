"""Words that compare values, and words for the largest and smallest one."""

import pytest

from mate_tf.answers import comparisons
from mate_tf.answers.comparisons import ABOVE, BELOW, EQUAL, LEAST, MOST
from mate_tf.tables import columns


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who earns more than 500?", ABOVE),
        ("who was born after 1990?", ABOVE),
        ("who was born before the year 1990?", BELOW),
        ("which cost less than 20 €?", BELOW),
        ("which have at least 5 rooms?", LEAST),
        ("which have 5 rooms or more?", LEAST),
        ("which have no more than 5 rooms?", MOST),
        ("which have 5 or fewer rooms?", MOST),
        ("which has 5 rooms?", EQUAL),
        ("which are from 2010?", EQUAL),
        ("which are from 2010 on?", LEAST),
        ("which are from 2010 onwards?", LEAST),
        ("which were sent from 2010 on Monday?", EQUAL),
    ],
)
def test_comparison(question, expected):
    (value,) = columns.said(question)
    assert comparisons.comparison(value)[0] == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who was born between 1990 and 1999?", True),
        ("all flights from 3 to 5", True),
        ("which are of 1990 and 1999?", False),
    ],
)
def test_range(question, expected):
    assert comparisons.is_range(*columns.said(question)) == expected


def found(question):
    return {(each.word, each.is_largest) for each in comparisons.superlatives(question)}


def test_superlatives():
    assert found("which is the highest?") == {("highest", True)}
    assert found("which is the cheapest?") == {("cheapest", False)}
    assert found("who is the oldest?") == {("oldest", True), ("oldest", False)}
    assert found("which month was the warmest?") == {("warmest", True), ("warmest", False)}
    assert found("which forest is it?") == set()
    assert found("which have at least 5 rooms?") == set()
    # Of two, a comparative is enough.
    assert found("who is taller, anna or ben?") == {("taller", True)}
    assert found("who is taller than ben?") == set()
    (latest,) = comparisons.superlatives("what is the latest order?")
    assert latest.is_of_dates
    assert latest.is_certain


def test_steps():
    assert comparisons.steps("who came after Anna?") == [(1, "after")]
    assert comparisons.steps("who is listed before Anna?") == [(-1, "before")]
    assert comparisons.steps("who is Anna?") == []


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("between 20 and 26 December 2024", ["20 December 2024", "26 December 2024"]),
        ("from 3rd to 5th of May", ["3 May", "5th of May"]),
        ("between 20 and 26 people", ["20", "26"]),
        ("between 20 May and 26 December", ["20 May", "26 December"]),
    ],
)
def test_days_of_one_month(question, days):
    assert [each.text for each in columns.said(question)] == days
