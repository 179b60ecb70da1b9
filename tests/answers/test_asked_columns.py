"""Columns that "who" and names of rows ask for."""

import pytest

from mate_tf.answers import asked_columns
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import columns

TREES = {
    "tree_id": ["T-1", "T-2", "T-3"],
    "species": ["Ginkgo", "Oak", "Ginkgo"],
    "street": ["High Street", "Mill Lane", "Mill Lane"],
    "officer": ["Ann Lee", "Bo van Dyk", "Ann Lee"],
    "height_m": ["4", "9", "7"],
}
JOBS = {
    "Job": ["J1", "J2", "J3"],
    "Client": ["Brandt Legal", "Ada Foods", "Ada Foods"],
    "Translator": ["Ann Lee", "Bo Dyk", "Ann Lee"],
    "Words": ["100", "900", "300"],
}
ANIMALS = {
    "Animal ID": ["A-1", "A-2", "A-3"],
    "Name": ["Oreo", "Max", "Max"],
    "Weight kg": ["4", "9", "7"],
}


@pytest.mark.parametrize(
    ("table", "question", "column", "expected"),
    [
        (TREES, "who planted T-1?", "species", "'who' asks for 'officer', but the cells are in"),
        (TREES, "who planted T-1?", "officer", ""),  # streets are no people
        (TREES, "which species is T-1?", "species", ""),
        (JOBS, "who did the longest job, in words?", "Client", "'who' may be 'Client' or"),
        (JOBS, "who is the client with most words?", "Client", ""),
        (ANIMALS, "heaviest animal?", "Animal ID", "'Animal ID' or 'Name' may be meant"),
        (ANIMALS, "id of the heaviest animal?", "Animal ID", ""),
        (ANIMALS, "name of the heaviest animal?", "Name", ""),
    ],
)
def test_problem(table, question, column, expected):
    texts = [list(cells) for cells in table.values()]
    sheet = Sheet(list(table), texts, columns.read(list(table), texts))
    meaning = Meaning(sheet, question)
    program = max(meaning.programs, key=lambda each: len(each.said))
    found = asked_columns.problem(sheet, meaning, program, list(table).index(column))
    assert found.startswith(expected)
    assert bool(found) == bool(expected)
