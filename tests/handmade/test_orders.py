"""Files as people keep them: what `mini` shows is right, or it says what it does not know."""

import pytest

from mate_tf.serving.predictor import Predictor

PEOPLE = {
    "Employee ID": [str(1000 + i) for i in range(40)],
    "Name": [f"Person {i}" for i in range(40)],
    "Department": [("Sales", "HR", "Ops", "IT")[i % 4] for i in range(40)],
    "Hired": [f"{2010 + i % 10}-{1 + i % 12:02d}-15" for i in range(40)],
    "Manager": [("Ann", "Bob", "")[i % 3] for i in range(40)],
    "Remote": [("yes", "no", "no")[i % 3] for i in range(40)],
}
BILLS = {
    "Rechnung": [f"R{i:03d}" for i in range(30)],
    "Kunde": [("Meier", "Huber", "Keller")[i % 3] for i in range(30)],
    "Datum": [f"{1 + i % 28:02d}.{1 + i % 6:02d}.2024" for i in range(30)],
    "Betrag": [f"{i}.{200 + i},50 €" if i else "12,50 €" for i in range(30)],
}
PRICES = {
    "item": ["laptop", "phone", "desk", "chair"],
    "price": ["$1,200", "€800", "£300", "$150"],
}


@pytest.fixture(scope="module")
def mini():
    return Predictor.from_preset()


@pytest.mark.parametrize(
    ("table", "question", "expected"),
    [
        (PEOPLE, "how many departments are there?", "4"),
        (PEOPLE, "how many employees have no manager?", "13"),
        (PEOPLE, "how many people are not in Sales?", "30"),
        (PEOPLE, "how many employees are remote?", "14"),
        (PEOPLE, "how many employees are not remote?", "26"),
        (PEOPLE, "how many employees were hired from 2018 on?", "8"),
        (BILLS, "how many bills are from March 2024?", "5"),
        (BILLS, "how many bills have a Betrag above 20.000 €?", "10"),
        (BILLS, "how many bills have a Betrag above 20,000?", "10"),
        (BILLS, "how many bills have a Betrag between 5.000 and 8.000?", "3"),
        (BILLS, "which bill has the largest Betrag?", "R029"),
    ],
)
def test_right_answers(mini, table, question, expected):
    answer = mini.ask(table, question)
    assert (answer.text, answer.answerable) == (expected, True)


@pytest.mark.parametrize(
    ("table", "question", "note"),
    [
        (PRICES, "how many items cost more than 200?", "price: cells in £, € are not compared"),
        (PEOPLE, "how many employees have never been ill?", 'what "not" or "no" leaves out'),
        (BILLS, "which Kunde bought the most?", "groups of rows are not compared"),
    ],
)
def test_what_is_not_known_is_said(mini, table, question, note):
    answer = mini.ask(table, question)
    assert not answer.answerable
    assert any(each.startswith(note) for each in answer.notes), answer.notes
    assert len(answer.notes) == len(set(answer.notes))
