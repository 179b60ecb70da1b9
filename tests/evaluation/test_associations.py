"""Words of questions and words of column names that go together."""

import pytest

from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.evaluation import associations
from mate_tf.tables.table import Table


def asked(number, columns, *texts):
    table = Table.from_rows(columns, [["x"] * len(columns)])
    questions = [Question(f"t{number}-0_{index}", text) for index, text in enumerate(texts)]
    return interaction_from_table(table, f"t{number}-0", questions)


def test_count():
    """Twelve tables of people, sixty of rivers; "longest" is asked of both."""
    people = [
        asked(number, ["Name", "Salaries"], "who earns the most?", "the longest name?")
        for number in range(12)
    ]
    rivers = [
        asked(number, ["River", "Length"], "which is longest?", "the longest river?")
        for number in range(12, 72)
    ]
    found = associations.count(iter(people + rivers))
    assert found == {
        "earn": ["name", "salary"],
        "most": ["name", "salary"],
        "name": ["name", "salary"],
    }
    # No word goes with a river's columns: most tables have them. Nine questions are too few.
    assert associations.count(people[:9] + rivers) == {}


@pytest.mark.parametrize(("tables", "kept"), [(10, True), (9, True), (11, False)])
def test_half_of_the_questions(tables, kept):
    """A column that is in fewer than half of the tables does not go with the word."""
    asks = [asked(number, ["Salary"], "who earns?") for number in range(10)]
    others = [asked(10 + number, ["Age"], "who earns?") for number in range(tables)]
    usual = [asked(40 + number, ["Town"], "where?", "how?", "why?") for number in range(60)]
    found = associations.count(asks + others + usual)
    assert ("salary" in found.get("earn", ())) == kept


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("who earns the most", 0.5),
        ("who EARN", 1.0),
        ("what is the wage", 1.0),
        ("how old is Ann", 0.5),
        ("who was it", 0.0),
    ],
)
def test_share_of_words(question, share):
    table = frozenset({"ann", "wage"})
    words = {"earn": ["salary", "wage"], "old": ["age"]}
    assert associations.share_of_words(question, table, words) == pytest.approx(share)


@pytest.mark.parametrize(
    ("question", "share"), [("how many rows", 1.0), ("rows of Ann", 1.0), ("rows of Bob", 0.0)]
)
def test_ignored_words(question, share):
    assert associations.share_of_words(question, {"ann"}, ignored={"row"}) == share
    assert associations.share_of_words("entries of Bob", {"entry"}, ignored={"entry"}) == 0.5
