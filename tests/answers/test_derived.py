"""Answers that compare several sets of rows, found by the words of a question alone."""

import random

import pytest

from mate_tf.answers.derived import kinds
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import columns

NAMES = (
    *("Order No", "Customer", "City", "Product", "Units", "Unit price", "Total cost", "Ordered on"),
    *("Paid", "Returned"),
)
ROWS = (
    ("R-1", "Ann Lee", "Bern", "Lamp", "4", "$20.00", "$80.00", "2024-01-05", "Yes", "no"),
    ("R-2", "Bo Ray", "Rome", "Chair", "1", "$95.00", "$95.00", "2024-01-09", "No", "no"),
    ("R-3", "Cy Fox", "Bern", "Desk", "2", "$150.00", "$300.00", "2024-02-01", "Yes", "yes"),
    ("R-4", "Ann Lee", "Oslo", "Lamp", "10", "$18.00", "$180.00", "2024-02-11", "Yes", ""),
    ("R-5", "Di Orr", "Rome", "Desk", "1", "$160.00", "$160.00", "2024-02-20", "No", "no"),
    ("R-6", "Bo Ray", "Rome", "Lamp", "3", "$20.00", "$60.00", "2024-03-03", "Yes", "no"),
    ("R-7", "Ann Lee", "Bern", "Chair", "2", "$90.00", "$180.00", "2024-03-08", "Yes", "yes"),
    ("R-8", "Eve Ash", "Oslo", "Desk", "1", "$155.00", "$155.00", "2024-03-30", "No", "no"),
)


@pytest.fixture(scope="module")
def sheet():
    texts = [list(texts) for texts in zip(*ROWS, strict=True)]
    return Sheet(NAMES, texts, columns.read(NAMES, texts), title="orders 2024")


@pytest.fixture
def ask(sheet):
    """ask(question): what is derived."""
    return lambda question: kinds.find(sheet, Meaning(sheet, question))


def text(found):
    return found.text if found else None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # Numbers of rows.
        ("Which customer has the most orders?", "Ann Lee"),
        ("which city has the fewest orders", "Oslo"),
        ("which city has the highest number of orders?", "Bern, Rome"),
        ("What is the most common product?", "Lamp, Desk"),
        ("who has the most orders?", None),  # no column has people by its name
        ("Which product was ordered most often in Rome?", None),  # each once
        # Sums and averages, with conditions.
        ("Which city has the highest total cost?", "Bern"),  # the largest one, and the largest sum
        ("Which customer has the highest total cost?", None),  # Cy Fox has the largest one
        ("Which customer has the highest total cost overall?", "Ann Lee"),
        ("Which product sold the most units altogether?", "Lamp"),
        ("Which city has the lowest average total cost?", "Rome"),
        ("which customer spent the most in total in 2024?", "Ann Lee"),
        ("Which customer spent the most overall in Rome?", "Di Orr"),
        ("the city with the lowest total units", "Rome"),
        ("which product has the highest total unit price?", None),  # not to be added up
        # What the table does not tell.
        ("Which city has the most chairs and sofas?", None),
        ("Which customer sent back the most orders?", None),
        ("Which city has the most complaints?", None),
        ("Which city has the most lamps?", None),  # rows, or units
        ("Which customer has the most lamp orders?", "Ann Lee"),
        ("which three cities have the most orders?", None),
        ("which city has at least 3 orders?", None),
        # Each group.
        ("total units per city", "Bern 8, Rome 5, Oslo 11"),
        ("how many orders for each product?", "Lamp 3, Chair 2, Desk 3"),
        ("average total cost by city", "Bern 186.6667, Rome 105, Oslo 167.5"),
        ("total weight per city", None),
        ("total units per continent", None),
        ("units per order", None),  # nor by "Ordered on"
        ("total cost per month", None),
        ("which month had the most orders?", None),
        ("which customer has the best average total cost?", None),  # the largest or smallest one
        ("how many orders are there per customer and city?", None),
        ("customer with the most orders in March", None),  # each has one
        ("which customer spent the least on desks overall?", "Eve Ash"),
    ],
)
def test_groups(ask, question, expected):
    found = ask(question)
    assert text(found) == expected, found
    assert found is None or (found.kind, found.value) == ("group", None)


def test_a_group_is_told_with_what_it_has_and_the_next_ones(ask):
    found = ask("Which customer spent the most in total on lamps?")
    assert (found.text, found.rows, found.column) == ("Ann Lee", (0,), 1)
    assert found.note == (
        "largest sum of Total cost by Customer: Ann Lee 260, Bo Ray 60, of rows where Product is "
        "Lamp"
    )


@pytest.mark.parametrize(
    ("question", "value"),
    [
        # Two texts: their numbers of rows, sums or averages.
        ("How many more orders came from Bern than from Oslo?", 1),
        ("how many fewer orders does Oslo have than Rome?", 1),
        ("How many more units did Oslo get than Rome?", 6),
        ("By how much is the average total cost in Oslo above the one in Rome?", 62.5),
        ("difference in total units between Rome and Bern", 3),
        ("How many more lamp orders came from Rome than from Bern?", 0),
        # Two rows.
        ("How much more is the total cost of R-3 than of R-1?", 220),
        ("How much cheaper is R-1 than R-3?", None),  # the unit price, or the total cost
        ("how much more is the total cost of R-1 than of R-3?", -220),
        # Two columns, and the ends of one.
        ("difference between total cost and unit price of R-4?", 162),
        ("what is the gap between the highest and the lowest total cost?", 240),
        ("difference between the largest and smallest units in Oslo", 9),
        # What is not known.
        ("How much more does Ann Lee earn than Bo Ray?", None),
        ("How many more lamps came from Oslo than from Bern?", None),  # rows, or units
        ("How many more complaints came from Bern than from Oslo?", None),
        ("what is the difference between Bern and Basel?", None),
    ],
)
def test_differences(ask, question, value):
    found = ask(question)
    assert (found.value if found else None) == value, found
    assert found is None or found.kind == "difference"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What percentage of the orders are paid?", "62.5 %"),
        ("what share of the orders went to Rome?", "37.5 %"),
        ("What % of the lamps are paid?", "100 %"),
        ("what percent of the total cost came from Bern?", "46.28 %"),
        ("what percentage of all units went to Ann Lee?", "66.67 %"),
        ("What percentage of the orders were late?", None),
        ("what is the percentage of R-3?", None),
        ("what is the percentage of lamps?", "37.5 %"),
        ("what percentage of our spending went to Rome?", "26.03 %"),
        ("who has a higher percentage than Ann Lee?", None),
    ],
)
def test_shares(ask, question, expected):
    assert text(ask(question)) == expected


def test_a_share_says_how_many_cells_are_empty(ask):
    found = ask("what percentage of the orders were returned?")
    assert (found.text, found.rows) == ("25 %", (2, 6))
    assert found.note == "2 of 8, rows where Returned is yes; 1 of them have no Returned"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Was R-3 returned?", "yes"),
        ("Was R-2 returned?", "no"),
        ("Was R-4 returned?", None),  # the cell is empty
        ("Is R-4 paid?", "yes"),
        ("Is R-5 a desk?", "yes"),
        ("Is R-5 a lamp?", "no"),
        ("Did Di Orr order a desk?", "yes"),
        ("Are there any chairs in Oslo?", "no"),
        ("Were there any lamps in Rome?", "yes"),
        ("Is R-5 late?", None),
        ("is Ann Lee in Bern?", None),  # some of her orders are
        ("Is R-5 not paid?", None),
        ("Is R-5 more expensive than R-6?", None),
        ("Are all desks paid?", None),
    ],
)
def test_yes_or_no(ask, question, expected):
    assert text(ask(question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which order has the second highest total cost?", None),  # two orders with $180.00
        ("Which order has the fourth highest total cost?", None),
        ("Which order has the second lowest total cost?", "R-1"),
        ("which order in Oslo has the 2nd highest total cost?", "R-8"),
        ("which order has the ninth lowest total cost?", None),
        ("which order has the second highest weight?", None),
        ("which order has the second dearest total cost?", None),  # which end is not known
        ("which order has the 0th highest total cost?", None),
    ],
)
def test_places(ask, question, expected):
    assert text(ask(question)) == expected


@pytest.mark.parametrize(
    "question",
    [
        "why does Ann Lee have the most orders?",
        "which city will have the most orders next year?",
        "what is the total cost of R-1?",
        "how many orders are there?",
        "",
    ],
)
def test_other_questions_are_left_to_programs(ask, question):
    assert ask(question) is None


def test_rows_of_totals_do_not_count():
    names, rows = ("City", "Units"), (("Bern", "2"), ("Rome", "3"), ("Bern", "4"), ("Total", "9"))
    texts = [list(texts) for texts in zip(*rows, strict=True)]
    sheet = Sheet(names, texts, columns.read(names, texts), totals=[3])
    found = kinds.find(sheet, Meaning(sheet, "which city has the most units in total?"))
    assert found.note == "largest sum of Units by City: Bern 6, Rome 3"


@pytest.fixture
def runs():
    """runs(question): what is derived of a table with durations and two currencies."""
    names = ("Runner", "Club", "Time", "Fee", "Prize")
    rows = (
        ("Ann", "Hawks", "1:10:30", "€ 20", "$5"),
        ("Bo", "Owls", "1:05:10", "€ 25", "$9"),
        ("Cy", "Owls", "1:20:00", "$ 90", "$7"),
        ("Di", "Hawks", "0:59:30", "€ 30", "$3"),
    )
    texts = [list(texts) for texts in zip(*rows, strict=True)]
    sheet = Sheet(names, texts, columns.read(names, texts))
    return lambda question: kinds.find(sheet, Meaning(sheet, question))


def test_durations_are_written_as_such(runs):
    found = runs("difference in time between Ann and Bo?")
    assert (found.text, found.value) == ("0:05:20", 320)
    assert runs("total time per club").text == "Hawks 2:10:00, Owls 2:25:10"


@pytest.mark.parametrize(
    "question",
    [
        "total fee per club",
        "which club has the highest total fee overall?",
        "how much more is the fee of Cy than of Ann?",
        "difference between the fee and the prize of Ann?",
        "difference between the time and the prize of Ann?",
    ],
)
def test_units_are_not_mixed(runs, question):
    assert runs(question) is None
    assert runs("how much more is the fee of Bo than of Ann?").value == 5


ODD_CELLS = (
    *(("", "", "", ""), ("1", "2", "nan", "inf"), ("1e308", "1e308", "1e308", "-1e308")),
    *(("yes", "no", "", "x"), ("a(b", "[c", r"\d+", "*"), ("2024-01-01", "5 May", "", "13:00")),
    *(("€5", "$5", "5", "%"), ("é", "中文", "\0", "x"), ("the most", "total", "per", "average")),
    ("1:00:00", "0:30", "90 min", "x"),
)
ODD_NAMES = ("", "City", "Total (x", "most", "per [", "Unit price", "%", "Order No", "yes", "Time")
ODD_QUESTIONS = (
    *(
        "which {0} has the most {1}?",
        "total {1} per {0}",
        "what percentage of {1} are {2}?",
        "most",
    ),
    *(
        "how many more {1} does {2} have than {3}?",
        "difference between {2} and {3}",
        "was {2} {3}?",
    ),
    *("which {0} has the second highest {1}?", "is there any {2}?", "the most common {0}", "?"),
    *("who has the highest total {1} overall?", "difference between the highest and lowest {1}"),
)


def test_odd_tables_have_an_answer_or_none():
    draw = random.Random(0)
    for _ in range(400):
        rows = draw.choice((0, 1, 4, 4))
        cells = [draw.choice(ODD_CELLS)[:rows] for _ in range(draw.randrange(1, 5))]
        names = tuple(draw.choice(ODD_NAMES) for _ in cells)
        sheet = Sheet(names, cells, columns.read(names, cells), title="a [b")
        words = [*names, *(text for texts in cells for text in texts), "foo"]
        question = draw.choice(ODD_QUESTIONS).format(*(draw.choice(words) for _ in range(4)))
        found = kinds.find(sheet, Meaning(sheet, question))
        if found is not None:
            assert found.text.strip() not in ("", "inf", "nan"), question
            assert all(row < rows for row in found.rows)
