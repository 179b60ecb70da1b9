"""Cells that are not what a question asks for."""

import pytest

from mate_tf.answers import asked_columns, cells
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Program
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import columns

NAMES = ["Order", "City", "Units"]
TEXTS = [["A1", "A2", "A3"], ["Bern", "Oslo", "Bern"], ["3", "5", "8"]]
SHEET = Sheet(NAMES, TEXTS, columns.read(NAMES, TEXTS))


@pytest.mark.parametrize(
    ("question", "column", "expected"),
    [
        ("how many different cities are there?", 1, ""),
        ("how many different towns are there?", 1, ""),
        ("how many different values of city are there?", 1, ""),
        ("how many different customers are there?", 1, "what counts once is not known"),
        ("how many different cities are there?", 0, "what counts once is not known"),
    ],
)
def test_counted(question, column, expected):
    counted = asked_columns.counted(SHEET, Meaning(SHEET, question), Program(), column, True)
    assert counted == expected


@pytest.mark.parametrize(
    ("question", "selected", "expected"),
    [
        ("how old are they?", {2}, "'how old' asks for 'Age', but the cells are in 'Salary'"),
        ("How old is the nurse?", {1}, ""),
        ("how old are they?", set(), ""),
        (
            "how tall are they?",
            {2},
            "no column has what 'how tall' asks for",
        ),  # there is no such column
        ("how many are old?", {2}, ""),
        ("who is old?", {0}, ""),
        ("how far did they run?", {1}, "'how far' asks for 'Distance', but the cells are in 'Age'"),
        ("how far did they run?", {3}, ""),
    ],
)
def test_other_column(question, selected, expected):
    texts = [["Ann", "Bob"], ["41", "35"], ["54500", "47000"], ["5 km", "10 km"]]
    names = ["Name", "Age", "Salary", "Distance"]
    sheet = Sheet(names, texts, columns.read(names, texts))
    assert asked_columns.other_column(sheet, question, selected) == expected


DELIVERIES = {
    "Parcel": ["P1", "P2", "P3", "P4"],
    "Driver": ["Ann Lee", "Bo Ray", "Ann Lee", "Cy Poe"],
    "Kind": ["B+", "B-", "B+", "B-"],
    "Weight (kg)": ["3", "5", "8", "2"],
    "Delay (min)": ["0", "15", "30", "5"],
    "Status": ["Delivered", "Delayed", "Delayed", "Delivered"],
}


@pytest.fixture(scope="module")
def deliveries():
    texts = [list(column) for column in DELIVERIES.values()]
    return Sheet(
        list(DELIVERIES), texts, columns.read(list(DELIVERIES), texts), title="Parcels May"
    )


@pytest.mark.parametrize(
    ("question", "column", "operation", "unused"),
    [
        ("what is the weight of P2?", "Weight (kg)", "NONE", []),
        ("how heavy is P2?", "Weight (kg)", "NONE", []),
        ("who packed P2?", "Driver", "NONE", ["packed"]),
        ("who bought P2?", "Status", "NONE", ["bought"]),
        ("what did Ann Lee insure?", "Parcel", "NONE", ["insure"]),
        ("how many parcels has Ann Lee?", "Parcel", "COUNT", []),
        ("how many vans has Ann Lee?", "Parcel", "COUNT", []),  # the rows, whatever they are
        ("how many broken parcels has Ann Lee?", "Parcel", "COUNT", ["broken"]),
        ("average weight in May", "Weight (kg)", "AVERAGE", []),  # of the title
        ("average weight in June", "Weight (kg)", "AVERAGE", ["june"]),
        ("total weight of 7 parcels", "Weight (kg)", "SUM", ["7"]),
        ("weight of the delayed parcels that are late", "Weight (kg)", "SUM", ["late"]),
        ("which parcels are more than 10 minutes late", "Parcel", "NONE", []),
    ],
)
def test_words_that_are_left_over(deliveries, question, column, operation, unused):
    meaning = Meaning(deliveries, question)
    program = max(meaning.programs, key=lambda each: len(each.said))
    rows = [*program.rows(deliveries.rows).nonzero()[0]]
    given = (program, rows, deliveries.names.index(column), operation)
    assert cells.left_over(deliveries, meaning, *given) == unused


def test_cells_that_a_model_selected_are_explained_by_their_rows(deliveries):
    meaning = Meaning(deliveries, "who packed P2?")
    assert cells.left_over(deliveries, meaning, Program(), [1], 1, "NONE") == ["packed"]
    assert cells.left_over(deliveries, meaning, Program(), [0], 1, "NONE") == ["packed", "p2"]


def test_the_name_of_a_column_is_not_a_form_of_a_cell(deliveries):
    """The "average delay" is that of all parcels, not of those with the status "Delayed"."""
    assert 5 not in Meaning(deliveries, "what is the average delay?").conditions
    assert 5 in Meaning(deliveries, "how many were delayed?").conditions


@pytest.mark.parametrize(
    ("question", "column", "is_verb"),
    [
        ("which driver dropped P2?", "Driver", True),
        ("which driver has the whisky of P2?", "Driver", False),  # a noun
        ("weight that was dropped of P2?", "Weight (kg)", True),  # its column is named
        ("what is the weight limit of P2?", "Weight (kg)", False),  # not the weight
    ],
)
def test_a_verb_only_says_what_happens(deliveries, question, column, is_verb):
    meaning = Meaning(deliveries, question)
    program = max(meaning.programs, key=lambda each: len(each.said))
    given = (program, [1], deliveries.names.index(column), "NONE")
    assert (cells.left_over(deliveries, meaning, *given) == []) == is_verb


@pytest.mark.parametrize(
    ("question", "column", "operation", "expected"),
    [
        ("average price per weight of Delayed", "Weight (kg)", "AVERAGE", "what is measured per"),
        ("list those that are insured", "Insured", "NONE", "what yes and no in 'Insured' list"),
        ("what was P2 sent for?", "Sent", "NONE", "whether 'Sent' is asked for is not known"),
    ],
)
def test_problem(question, column, operation, expected):
    table = DELIVERIES | {
        "Insured": ["yes", "no", "yes", "no"],
        "Sent": ["2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"],
    }
    texts = [list(cells) for cells in table.values()]
    sheet = Sheet(list(table), texts, columns.read(list(table), texts))
    meaning = Meaning(sheet, question)
    program = max(meaning.programs, key=lambda each: len(each.said))
    rows = program.rows(sheet.rows).nonzero()[0].tolist()
    given = (program, rows, list(table).index(column), operation, None)
    assert expected in cells.problem(sheet, meaning, *given)


@pytest.mark.parametrize(
    ("question", "is_list"),
    [
        ("which drivers were late?", True),
        ("What pupils lost a book", True),
        ("what was Ann's time?", False),
        ("which bus is late?", False),
        ("which driver was late?", False),
    ],
)
def test_asks_for_several(question, is_list):
    assert cells.asks_for_several(question) == is_list


@pytest.mark.parametrize(
    ("question", "is_count"),
    [
        ("how many parcels were delayed?", True),
        ("how many kg were delayed?", False),  # a sum of weights
        ("how many minutes were parcels delayed?", False),
    ],
)
def test_what_is_counted(deliveries, question, is_count):
    meaning = Meaning(deliveries, question)
    (program,) = (each for each in meaning.programs if str(each) == "Status is Delayed")
    found = cells.problem(deliveries, meaning, program, [1, 2], 0, "COUNT", None)
    assert ("whether rows or values are counted" not in found) == is_count


@pytest.mark.parametrize(
    ("question", "unused"),
    [
        ("what is the weight of parcel P2?", []),  # says what P2 is
        ("who packed P2?", ["packed"]),
    ],
)
def test_nouns_before_ids(deliveries, question, unused):
    meaning = Meaning(deliveries, question)
    program = max(meaning.programs, key=lambda each: len(each.said))
    column = deliveries.names.index("Weight (kg)")
    assert cells.left_over(deliveries, meaning, program, [1], column, "NONE") == unused
