"""Tables that are too long are read in windows, and answers are computed over all rows."""

import numpy as np
import pytest

from mate_tf.answers.meaning import Meaning
from mate_tf.answers.sheet import Sheet
from mate_tf.errors import InputError
from mate_tf.serving import selections, whole
from mate_tf.serving.predictor import Predictor
from mate_tf.tables import columns, pruning
from mate_tf.tables.table import Table

CITIES = ("Bern", "Oslo", "Rome", "Lima")
PRODUCTS = ("lamp", "chair", "desk")
NAMES = ["Order", "City", "Product", "Units", "Price"]
PRICES = np.random.default_rng(0).permutation(300) * 3 + 20
ROWS = [
    [f"A-{100 + n}", CITIES[n % 4], PRODUCTS[n % 3], str(n % 7 + 1), f"{PRICES[n]}"]
    for n in range(300)
]
UNITS = np.arange(300) % 7 + 1


@pytest.fixture(scope="module")
def prepared(mini):
    return mini.prepare(Table.from_rows(NAMES, ROWS))


@pytest.mark.parametrize(
    ("question", "operation", "expected"),
    [
        ("What is the price of order A-250?", "NONE", str(PRICES[150])),
        ("How many orders are from Bern?", "COUNT", "75"),
        ("How many orders have a price above 500?", "COUNT", str((PRICES > 500).sum())),
        ("What is the total number of units?", "SUM", str(UNITS.sum())),
        ("What is the total number of units from Oslo?", "SUM", str(UNITS[1::4].sum())),
        ("What is the average price of a lamp?", "AVERAGE", f"{PRICES[::3].mean():.10g}"),
        ("Which order has the highest price?", "NONE", ROWS[PRICES.argmax()][0]),
        ("Which order has the lowest price?", "NONE", ROWS[PRICES.argmin()][0]),
        ("How many different cities are there?", "COUNT", "4"),
    ],
)
def test_answers_are_those_of_all_rows(mini, prepared, question, operation, expected):
    answer = mini.ask(prepared, question)
    assert (answer.aggregation, answer.text) == (operation, expected)
    assert answer.answerable
    assert answer.cuts == ()
    assert 0 < answer.confidence < 1
    assert any("300 rows" in note for note in answer.notes)


def test_what_the_table_does_not_have_is_not_answered(mini, prepared):
    answer = mini.ask(prepared, "How many orders are from Vladivostok?")
    assert not answer.answerable
    assert "not found in the table: 'vladivostok'" in answer.notes


def test_what_is_not_computed_is_said(mini, prepared):
    answer = mini.ask(prepared, "What is the median price?")
    assert not answer.answerable
    assert "medians are not computed" in answer.notes


def test_batches_and_short_tables(mini, prepared):
    short = Table.from_rows(NAMES, ROWS[:5])
    questions = ["How many orders are from Bern?"] * 2
    found = mini.ask_batch(zip((prepared, short), questions, strict=True))
    assert [each.text for each in found] == ["75", "2"]


def test_a_part_is_never_computed_silently(prepared):
    part = Predictor.from_preset("mini", reading={})
    for question in ("What is the total number of units?", "Which order has the highest price?"):
        answer = part.ask(prepared, question)
        assert not answer.answerable
        assert any(" of 300 rows" in note for note in answer.notes)
    looked_up = [part.ask(prepared, f"Which city is order A-{n} from?") for n in (3, 17, 250)]
    assert any(each.answerable for each in looked_up)


def test_reading_is_checked():
    with pytest.raises(InputError, match="reading='hole' is neither 'whole' nor a dict"):
        Predictor.from_preset("mini", reading="hole")


def test_windows_with_the_words_of_the_question_are_read_first():
    texts = NAMES + [text for row in ROWS for text in row]
    ranking = pruning.Ranking(pruning.TableWords(texts, 5), "the price of A-250")
    rows = np.array_split(np.arange(300), 100)
    order = selections.order_of_windows(rows, 64, ranking)
    assert 150 in rows[order[0]]
    assert sorted(order.tolist()) == list(range(100))
    assert order.tolist() == selections.order_of_windows(rows, 64, ranking).tolist()
    # Of long windows fewer are read, in the same order.
    assert selections.order_of_windows(rows, 1024, ranking)[:1].tolist() == order[:1].tolist()
    assert len(set(selections.order_of_windows(rows, 1024, ranking).tolist())) == 12
    # Before them come those with the answer that the question refers to.
    assert selections.order_of_windows(rows, 64, ranking, [299])[:2].tolist() == [99, order[0]]


def joined(question, selected, operations=(1, 0, 0, 0), cells=(1, 0, 0, 0, 0), direct=None):
    """Returns the best answer if a model has selected these rows in all windows of ten rows.

    `direct` is what it selected in the part that fits.
    """
    texts = list(zip(*ROWS, strict=True))
    sheet = Sheet(NAMES, texts, columns.read(NAMES, texts))
    windows = np.arange(300) // 10
    read = selections.WindowSelections(
        windows, selected, np.array(cells, float), np.array(operations, float), np.ones(30)
    )
    return whole.Joining(sheet, Meaning(sheet, question), read, direct).answers()[0]


def test_a_program_that_explains_the_selection_is_computed():
    found = joined("which orders are from Bern?", np.arange(300) % 4 == 0)
    assert found.rows.tolist() == list(range(0, 300, 4))
    assert (found.column, found.operation) == (0, "NONE")
    assert 0 < found.probability < 1
    outputs = found.outputs((300, 5))
    assert outputs["selected"].sum() == 75
    assert outputs["aggregation_probabilities"].tolist() == [1, 0, 0, 0]


def test_a_model_that_selects_otherwise_is_less_probable():
    question = "which orders are from Bern?"
    right = joined(question, np.arange(300) % 4 == 0)
    wrong = joined(question, np.arange(300) % 10 == 5)
    assert wrong.probability < right.probability


def test_operation_of_the_words_before_that_of_the_model():
    found = joined("what is the total number of units?", np.ones(300, bool), (0, 0, 0, 1))
    assert (found.operation, NAMES[found.column]) == ("SUM", "Units")


@pytest.mark.parametrize(("column", "is_taken"), [(1, False), (3, True)])
def test_cells_are_not_what_how_many_asks_for(column, is_taken):
    """Unless they are numbers: "how many units" may be a cell."""
    direct = whole.Direct(np.array([7]), column, "NONE", 0.999, 300)
    found = joined("orders from Bern - how many", np.zeros(300, bool), direct=direct)
    assert (found.explanation is None) == is_taken


def test_a_question_about_the_answer_before(mini, prepared):
    """mini was never told answers before: it says so instead of guessing."""
    first = mini.ask(prepared, "which order has the highest price?")
    question = "how many units does it have?"
    answer = mini.ask(prepared, question, first)
    assert not answer.answerable
    assert answer.notes[0].startswith('"it" refers to an answer before, which this model does not')
    assert mini.ask(prepared, "how many units does A-101 have?", first).answerable
