"""Numbers of different values that are derived."""

import pytest

from mate_tf.answers.derived import kinds
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import columns

GIFTS = {
    "Gift": ["G1", "G2", "G3", "G4", "G5"],
    "Donor Name": ["Ann Lee", "Bo Dyk", "ANN LEE", "", "Cy Roe"],
    "home_country": ["Peru", "Chile", "Peru", "Peru", "Cuba"],
    "supp": ["A", "A", "B", "B", "B"],
    "Year": ["2021", "2021", "2022", "2022", "2022"],
}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many different donors do we have?", "3"),  # one spelling, and not the empty cell
        ("how many different people are there?", "3"),
        ("how many different countries are in the list?", "3"),
        ("number of different suppliers in 2022", "1"),
        ("how many different dentists are there?", None),
        ("how many different donors in 1999?", None),
        ("how many donors do we have?", None),  # gifts may be meant
    ],
)
def test_find(question, expected):
    texts = [list(cells) for cells in GIFTS.values()]
    sheet = Sheet(list(GIFTS), texts, columns.read(list(GIFTS), texts))
    found = kinds.find(sheet, Meaning(sheet, question))
    assert (found and found.text) == expected
    if found:
        assert found.value == float(expected)
        assert len(found.rows) == int(expected)
        assert "different values" in found.note


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("how many unpaid tickets are there?", "paid is N"),
        ("how many tickets were paid?", "paid is Y"),
    ],
)
def test_flags_that_are_denied_by_a_prefix(question, chosen):
    table = {"ticket": ["T1", "T2", "T3"], "paid": ["Y", "N", "N"]}
    sheet = Sheet(list(table), [*table.values()], columns.read(list(table), [*table.values()]))
    assert str(Meaning(sheet, question).programs[0]) == chosen


def test_below_a_value_is_not_the_row_below():
    table = {"Ad": ["A", "B"], "CTR": ["5%", "7%"], "Spend": ["$400", "$9,000"]}
    sheet = Sheet(list(table), [*table.values()], columns.read(list(table), [*table.values()]))
    programs = Meaning(sheet, "how many had a CTR of 5% and spend below $2,000?").programs
    assert not [each for each in programs if each.step]


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("how many jobs haven't been delivered yet?", "Delivered on is empty"),
        ("which jobs were not delivered?", "Delivered on is empty"),
        ("which jobs were not paid?", "not Paid is yes"),
    ],
)
def test_what_did_not_happen_yet(question, chosen):
    table = {
        "Job": ["J1", "J2", "J3", "J4"],
        "Delivered on": ["2024-01-02", "", "2024-01-04", ""],
        "Paid": ["yes", "no", "", "yes"],
    }
    sheet = Sheet(list(table), [*table.values()], columns.read(list(table), [*table.values()]))
    assert chosen in [str(each) for each in Meaning(sheet, question).programs]


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("how many claims have no receipt?", "Receipt is no"),
        ("which claims of Pinecrest Inc have a receipt?", "Company is Pinecrest Inc"),
        (
            "how many claims of Pinecrest Inc were in July?",
            "Company is Pinecrest Inc and Date is July",
        ),
        ("when was Pinecrest Inc last here?", "largest Date where Company is Pinecrest Inc"),
    ],
)
def test_programs(question, chosen):
    table = {
        "Claim": ["C1", "C2", "C3"],
        "Company": ["Pinecrest Inc", "Ada Foods", "Pinecrest Inc"],
        "Date": ["2024-07-02", "2024-07-03", "2024-08-04"],
        "Receipt": ["yes", "no", "no"],
        "Amount": ["3", "4", "5"],
    }
    sheet = Sheet(list(table), [*table.values()], columns.read(list(table), [*table.values()]))
    programs = Meaning(sheet, question).programs
    assert chosen in [str(each) for each in programs]
    assert not any("Amount" in str(each) for each in programs)
