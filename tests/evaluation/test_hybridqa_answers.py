"""The numbers of the official script, and the files it reads."""

import hashlib
import json

import pytest

from mate_tf.errors import InputError
from mate_tf.evaluation import hybridqa_answers as answers
from mate_tf.evaluation.hybridqa_answers import Reference


def made_up(question_id, gold, others):
    """An answer of one of eight kinds, by the id: right, nearly right, or wrong."""
    number = int(hashlib.sha256(question_id.encode()).hexdigest(), 16)
    words = gold.split()
    return [
        gold,
        f"The {gold.upper()}.",
        " ".join(words[: len(words) // 2 + 1]),
        f"{gold} in {others[number % len(others)]}",
        others[number % len(others)],
        "",
        " ".join(reversed(words)),
        gold.replace("-", " ").replace(",", " , "),
    ][number % 8]


@pytest.fixture(scope="module")
def references(unpacked):
    """The official reference, also cut to the questions about 120 tables."""
    folder = unpacked("hybridqa-questions") / "hybridqa"
    tables = set((folder / "table_lists" / "dev_mini.txt").read_text().split())
    questions = json.loads((folder / "released_data" / "dev.json").read_text(encoding="utf-8"))
    covered = [each["question_id"] for each in questions if each["table_id"] in tables]
    whole = answers.read_reference(folder / "released_data" / "dev_reference.json")
    return {"dev": whole, "dev_mini": whole.of(covered)}


def predictions_for(reference):
    others = list(reference.answers.values())
    return {name: made_up(name, gold, others) for name, gold in reference.answers.items()}


# What the official evaluate_script.py printed for the same files: EM and F1 of each group.
OFFICIAL = {
    "dev_mini": {
        "table": (48.421052631578945, 61.591478696741845),
        "passage": (51.76470588235294, 69.72052745409148),
        "total": (50.75187969924812, 66.93112835859408),
        "questions": 266,
        "missing": 0,
    },
    "dev": {
        "table": (51.59377316530764, 68.07403649563413),
        "passage": (52.0, 67.95027574234089),
        "total": (52.10617426428159, 68.17354787772197),
        "questions": 3466,
        "missing": 0,
    },
}


@pytest.mark.parametrize("questions", OFFICIAL)
def test_the_official_scripts_numbers(references, questions):
    """To the last digit but one: from Python 3.12 on, sum() rounds otherwise."""
    reference = references[questions]
    found = answers.evaluate(predictions_for(reference), reference)
    assert found.keys() == OFFICIAL[questions].keys()
    for name, expected in OFFICIAL[questions].items():
        assert found[name] == pytest.approx(expected, rel=1e-14, abs=0)


def test_files(references, tmp_path):
    reference = references["dev_mini"]
    predicted = predictions_for(reference)
    path = tmp_path / "new" / "predictions.json"
    answers.write_predictions({f"{name}-0_0": text for name, text in predicted.items()}, path)
    entries = json.loads(path.read_text(encoding="utf-8"))
    assert entries[0].keys() == {"question_id", "pred"}
    assert [tuple(entry.values()) for entry in entries] == list(predicted.items())


REFERENCE = Reference({"a": "cat", "b": "the dog", "c": "4"}, ["a"], ["b"])


def test_missing_predictions_and_empty_groups():
    """The script fails on both; a question without a prediction is a wrong one here."""
    found = answers.evaluate({"a": "cat"}, REFERENCE)
    assert found["table"] == (100, 100)
    assert found["passage"] == (0, 0)
    assert found["total"] == (100 / 3, 100 / 3)
    assert found["missing"] == 2
    found = answers.evaluate({"c": "4"}, REFERENCE.of(["c"]))
    assert found == {
        "table": (None, None),
        "passage": (None, None),
        "total": (100, 100),
        "questions": 1,
        "missing": 0,
    }
    assert answers.evaluate({}, REFERENCE.of([]))["total"] == (None, None)


def test_scores_of_single_questions():
    scores = answers.question_scores({"a": "a cat", "b": "dog house"}, REFERENCE)
    assert scores == {"a": (1, 1.0), "b": (0, pytest.approx(2 / 3)), "c": (0, 0.0)}


def test_what_does_not_fit_the_reference(tmp_path):
    with pytest.raises(InputError, match=r"1 prediction.*not in the reference.*'x'"):
        answers.evaluate({"x": "cat"}, REFERENCE)
    with pytest.raises(InputError, match=r"table: question 'x' has no answer"):
        answers.evaluate({}, REFERENCE._replace(table=["a", "x"]))
    path = tmp_path / "p.json"
    with pytest.raises(InputError, match="two answers to question 'a'"):
        answers.write_predictions({"a/0-0_0": "x", "a/1-0_0": "y"}, path)
    assert not path.exists()


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"reference": {"a": 1}, "table": [], "passage": []}']
)
def test_broken_reference(tmp_path, content):
    path = tmp_path / "r.json"
    path.write_text(content)
    with pytest.raises(InputError, match="not a reference"):
        answers.read_reference(path)
