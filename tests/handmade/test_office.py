"""Questions of office work: little of what is shown is wrong."""

import collections

import pytest

from mate_tf.serving.predictor import Predictor


@pytest.fixture
def office(project, monkeypatch):
    monkeypatch.syspath_prepend(str(project / "benchmarks"))
    import office

    return office


@pytest.mark.slow  # a second for each question about hundreds of rows
@pytest.mark.parametrize(
    ("name", "most_wrong", "fewest_right"),
    [
        ("second", 2, 58),
        ("fourth", 2, 60),
        ("sixth", 1, 34),
        ("eighth", 2, 32),
        ("tenth", 1, 32),
        ("twelfth", 1, 49),
    ],  # benchmarks/office.py asks the others too
)
def test_what_is_shown(office, name, most_wrong, fewest_right):
    asked = office.ask(Predictor.from_preset(), office.DATA / name)
    counts = collections.Counter(became for *_, became in asked)
    wrong = [
        (each["question"], answer.text)
        for each, answer, each_became in asked
        if each_became == office.WRONG
    ]
    assert counts[office.WRONG] <= most_wrong, wrong
    assert counts[office.RIGHT] >= fewest_right


def test_what_is_right(office):
    """The judge: numbers in the spelling of the table, texts in any order, yes and no as flags."""
    answers = {
        question: Predictor.from_preset().ask({"who": ["a", "b"], "old": ["n", "y"]}, question)
        for question in ("list who", "is a old?")
    }
    assert office.is_right(answers["list who"], ["b", "a"])
    assert not office.is_right(answers["list who"], ["b"])
    assert office.number("1.234,50 €") == 1234.5
    assert office.number("$1,234.50") == 1234.5
    assert office.number("none") is None
