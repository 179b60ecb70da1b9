"""What a question may mean: conditions, orders, programs."""

import pytest

from mate_tf.answers.conditions import Conditions
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import columns

NAMES = ["Name", "City", "Age", "Start date"]
ROWS = [
    ("Anna Moser", "New York", "31", "2021-03-01"),
    ("Ben Weber", "York", "45", "2019-07-12"),
    ("Carla Novak", "Bern", "28", "2023-01-30"),
    ("David Lang", "Bern", "52", "2019-11-02"),
    ("Total", "", "156", ""),
]


@pytest.fixture(scope="module")
def sheet():
    texts = list(zip(*ROWS, strict=True))
    return Sheet(NAMES, texts, columns.read(NAMES, texts), totals={4})


def meant(sheet, question):
    """Texts of the conditions -> their rows."""
    found = [each for made in Meaning(sheet, question).conditions.values() for each in made]
    return {each.text: each.rows.nonzero()[0].tolist() for each in found}


@pytest.mark.parametrize(
    ("question", "text", "rows"),
    [
        ("who lives in Bern?", "City is Bern", [2, 3]),
        ("who lives in New York?", "City is New York", [0]),
        ("how old is Anna?", "Name has anna", [0]),
        ("who is from York or Bern?", "City is York or City is Bern", [1, 2, 3]),
        ("who is older than 40?", "Age > 40", [1, 3, 4]),
        ("who is at most 31 years old?", "Age ≤ 31", [0, 2]),
        ("who started in 2019?", "Start date is 2019", [1, 3]),
        ("who started after 2019?", "Start date > 2019", [0, 2]),
        ("who started between 2020 and 2022?", "Start date from 2020 to 2022", [0]),
        ("who is not from Bern?", "not City is Bern", [0, 1, 4]),
    ],
)
def test_conditions(sheet, question, text, rows):
    found = meant(sheet, question)
    matching = [
        own for own, _ in found.items() if set(own.split(" or ")) == set(text.split(" or "))
    ]
    assert matching
    assert found[matching[0]] == rows


def test_a_longer_text_hides_the_shorter_one_in_it(sheet):
    assert "City is York" not in meant(sheet, "who lives in New York?")


def test_orders(sheet):
    found = Meaning(sheet, "who has the latest start date?").orders
    assert {(each.column, each.is_largest) for each in found} == {(3, True)}
    best = max(found, key=lambda each: (len(each.said), each.fit))
    assert best.text == "largest Start date"
    assert Meaning(sheet, "who is from Bern?").orders == []


ORDERS = {
    "order id": ["1", "2", "3", "4"],
    "customer": ["Acme", "Globex", "Acme", "n/a"],
    "quantity": ["5", "40", "0", ""],
    "rating": ["7.5", "8.5", "9.1", "6"],
    "discount": ["10%", "", "0%", "20%"],
    "shipped": ["yes", "no", "yes", "no"],
    "Betrag": ["1.200,50 €", "4.999,00 €", "7.000,00 €", "12,30 €"],
}


def programs_of(question):
    """Texts of the programs without an order -> their rows."""
    texts = list(ORDERS.values())
    sheet = Sheet(list(ORDERS), texts, columns.read(list(ORDERS), texts))
    made = [each for each in Meaning(sheet, question).programs if each.conditions]
    return {str(each): each.rows(sheet.rows).nonzero()[0].tolist() for each in made}


@pytest.mark.parametrize(
    ("question", "programs"),
    [
        # The most common ways to ask for what is not there, and for flags.
        ("how many orders have no customer?", {"customer is empty": [3]}),
        ("which orders have no quantity?", {"quantity is empty or 0": [2, 3]}),
        ("how many orders are without a discount?", {"discount is empty or 0": [1, 2]}),
        ("how many orders were shipped?", {"shipped is yes": [0, 2]}),
        ("how many orders were not shipped?", {"not shipped is yes": [1, 3]}),
        ("how many orders are not from Acme?", {"not customer is Acme": [1, 3]}),
        # Values next to a word for their column are compared with that one; ids are not compared.
        ("how many orders are rated above 8?", {"rating > 8": [1, 2]}),
        ("how many have a quantity of at least 5?", {"quantity ≥ 5": [0, 1]}),
        ("how many have a quantity between 5 and 40?", {"quantity from 5 to 40": [0, 1]}),
        # A question may be spelled as its column is, or in English.
        ("which have a Betrag above 5.000 €?", {"Betrag > 5.000 € (5000)": [2]}),
        ("which have a Betrag above 5,000?", {"Betrag > 5,000 (5000)": [2]}),
        ("which have a Betrag above 1.200,40?", {"Betrag > 1.200,40": [0, 1, 2]}),
    ],
)
def test_programs(question, programs):
    assert programs_of(question) == programs


@pytest.mark.parametrize(
    ("question", "columns_ordered"),
    [
        ("which order has the largest quantity?", {2}),
        ("which order has the largest order id?", {0}),
        ("which order is the largest?", {2, 3, 4, 6}),
        ("how many have a quantity of at least 5?", set()),
    ],
)
def test_ordered_columns(question, columns_ordered):
    texts = list(ORDERS.values())
    sheet = Sheet(list(ORDERS), texts, columns.read(list(ORDERS), texts))
    assert {each.column for each in Meaning(sheet, question).orders} == columns_ordered


def test_not_without_what_it_denies(sheet):
    meaning = Meaning(sheet, "which have never won?")
    assert all(map(meaning.is_denied, meaning.programs))
    meaning = Meaning(sheet, "who is not from Bern?")
    assert not any(map(meaning.is_denied, meaning.programs))


def test_a_name_with_a_word_for_nothing():
    names, texts = ["Empty weight", "Weight"], [["5", "7"], ["9", ""]]
    sheet = Sheet(names, texts, columns.read(names, texts))
    assert Conditions(sheet, "which weight is empty weight?").lacking == {}
    assert Conditions(sheet, "which have an empty weight?").lacking == {}
    assert list(Conditions(sheet, "which have no weight?").lacking) == [1]


def test_names_are_not_orders():
    names = ["Article", "Last sold"]
    texts = [["A", "B"], ["2020-01-01", "2021-01-01"]]
    sheet = Sheet(names, texts, columns.read(names, texts))
    assert Meaning(sheet, "how many articles were last sold before 2021?").orders == []


def test_programs_do_not_use_a_value_twice():
    names, texts = ["A", "B"], [["50", "60"], ["40", "50"]]
    sheet = Sheet(names, texts, columns.read(names, texts))
    programs = Meaning(sheet, "which is below 60?").programs
    assert {str(each) for each in programs if each.conditions and not each.step} == {
        "A < 60",
        "B < 60",
    }


def test_totals_are_in_no_program(sheet):
    (everything,) = (each for each in Meaning(sheet, "how many are there?").programs)
    assert everything.rows(sheet.rows).tolist() == [True, True, True, True, False]


def test_columns_that_are_needed(sheet):
    assert Meaning(sheet, "what is the age of Anna?").columns == {0, 2}
    assert Meaning(sheet, "who started first?").columns == {3}


def test_first_of_each(sheet):
    assert sheet.first_of_each(sheet.rows.nonzero()[0], 1).tolist() == [0, 1, 2]


def test_after_a_date_is_not_the_next_row(sheet):
    found = {str(each) for each in Meaning(sheet, "who started before 13 July 2019?").programs}
    assert "Start date < 13 July 2019" in found
    assert not any("row before" in each for each in found)


def test_texts_that_differ_in_signs():
    texts = [["B+", "B-", "B", "b-"]]
    sheet = Sheet(["Type"], texts, columns.read(["Type"], texts))

    def rows(question):
        return sheet.rows_of_text(0, ("b",), question).tolist()

    assert rows("who has B-?") == [1, 3]
    assert rows("who has b+?") == [0]
    assert rows("list them") == [0, 1, 2, 3]
