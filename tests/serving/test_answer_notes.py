"""What is said of questions that a model cannot answer, and of cells that are not numbers."""

import functools
from types import SimpleNamespace

import pytest

from mate_tf.serving import answer_notes
from mate_tf.tables import columns

COLUMNS = ("Employee", "Salary", "Goals", "Points")


def said(question, aggregates=False, class_names=None):
    return answer_notes.describe_limits(question, COLUMNS, aggregates, class_names)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("what is the average salary?", "average"),
        ("Average Salary", "average"),
        ("what is the mean of the salaries?", "average"),
        ("what do they earn altogether?", "add up"),
        ("total of the salaries of Ann and Bob", "add up"),
        ("how many people earn more than 100?", "count"),
        ("number of people", "count"),
        ("what is the difference between Ann and Bob?", "subtract"),
        ("How  many more games did Ann win?", "subtract"),
        ("how many people earn the average salary?", "count or average"),
    ],
)
def test_operations_without_a_head(question, words):
    assert said(question)[0] == f"this model cannot {words}: it picks cells"


@pytest.mark.parametrize(
    "question",
    [
        "who earns the most?",
        "how many points does Ann have?",
        "what is the number of goals of Ann?",
        "how many goals?",
        "what does Ann mean?",
        "who is on the accounting team?",
        "who has the totally best salary?",
    ],
)
def test_cells_to_be_looked_up(question):
    assert said(question) == []


def test_a_word_of_the_header_asks_for_its_cells():
    assert (
        answer_notes.describe_limits("what is the total of Ann?", ("Name", "Total"), False, None)
        == []
    )
    assert answer_notes.describe_limits("what is the total of Ann?", ("Name", "Age"), False, None)


def test_a_model_that_aggregates():
    assert said("what is the average salary?", aggregates=True) == []
    assert said("what is the difference in age?", aggregates=True) == [
        "this model cannot subtract: it picks cells, and can count, add up and average them"
    ]


def test_a_model_that_classifies():
    classes = ("refuted", "entailed")
    assert said("Ann earns the average salary.", class_names=classes) == []
    assert said("who is Ann?", class_names=classes) == [
        "this model cannot answer questions: it says of a statement refuted or entailed"
    ]
    assert "its classes" in said("who is Ann?", class_names=())[0]


def test_in_words():
    def words(**fields):
        given = {"text": "Ann", "answerable": False, "confidence": None} | fields
        return answer_notes.in_words(SimpleNamespace(**given))

    assert words(answerable=True) == "Ann"
    assert words(answerable=True, confidence=0.9) == "Ann (confidence 90 %)"
    assert words(answerable=True, confidence=answer_notes.UNSURE) == "Ann (confidence 50 %)"
    assert words(answerable=True, confidence=0.2) == "Ann (unsure, confidence 20 %)"
    assert words() == "no answer found; best guess: Ann"
    assert words(confidence=0.123) == "no answer found; best guess: Ann, confidence 12 %"
    assert words(text="") == "no answer found"
    cells = ", ".join(f"cell {number}" for number in range(200))
    assert words(text=cells, answerable=True) == cells
    assert words(text=cells).startswith("no answer found; best guess: cell 0, cell 1, ")
    assert words(text=cells).endswith(" …")
    assert len(words(text=cells)) < 200


def test_what_an_order_is_without():
    texts = [["a", "b", "c"], ["$5", "€3", "$7"], ["2", "n/a", "4"]]
    found = columns.read(["Name", "Price", "Count"], texts)
    say = functools.partial(
        answer_notes.describe_order, names=["Name", "Price", "Count"], columns=found
    )
    assert say("which has the highest price?") == ["Price: cells in € are not compared with $"]
    count = "Count: 1 of 3 cells have no number and no place in an order"
    assert say("which has the largest count?") == [count]
    assert len(say("which is the largest?")) == 2
    assert say("which is the largest?", totals=[2])[0] == "row 3 is taken as a total of the others"
    assert say("what is the price of a?", totals=[2]) == []
    (dates,) = columns.read(["Date"], [["03/04/2021", "05/06/2021"]])
    (note,) = answer_notes.describe_order("what was first?", ["Date"], [dates])
    assert note.startswith("Date: day and month cannot be told apart")


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("how old are they?", "they"),
        ("which of them won?", "them"),
        ("How many units does it have?", "it"),
        ("and what was her time?", "her"),
        ("who is older than him?", "him"),
        ("how many of these are red?", "these"),
    ],
)
def test_references_to_the_answer_before(question, word):
    assert answer_notes.describe_reference(question) == (
        f'"{word}" refers to an answer before, which this model does not read; mini-conversation '
        "does"
    )


@pytest.mark.parametrize(
    "question",
    [
        "who won, and how old is he?",
        "which player scored most in his career?",
        "which team won the most of those games?",
        "how long does it take to Bern?",
        "what year was it when Ann won?",
        "who was there?",
    ],
)
def test_references_within_a_question(question):
    assert not answer_notes.describe_reference(question)
