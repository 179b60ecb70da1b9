"""Questions without an answer, where all tables have the same columns."""

import pytest

from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.serving import names
from mate_tf.tables.table import Table


def interaction(number, question):
    cities = [("Bern", "Oslo"), ("Rome", "Lima")][number % 2]
    table = Table.from_rows(["Name", "City"], [[f"p{number}", city] for city in cities])
    name = f"t{number}-0"
    return interaction_from_table(table, name, [Question(f"{name}_0", question)])


def test_names_are_exchanged_where_all_tables_have_the_same_columns():
    questions = [interaction(n, f"who is from {('Bern', 'Rome')[n % 2]}?") for n in range(6)]
    found = names.without_answer(questions, 100, 0, False)
    assert [name for name, _, _ in found] == [f"t{n}-0_0" for n in range(6)]
    for _, (table, own, _), (same, other, _) in found:
        assert table is same
        words = {word.lower() for row in table.rows for word in row}
        assert own.split()[-1].strip("?").lower() in words
        assert other.split()[-1].strip("?").lower() not in words


def test_other_tables_come_first():
    other = Table.from_rows(["River"], [["Rhine"]])
    questions = [
        interaction(0, "who is from Bern?"),
        interaction_from_table(other, "r-0", [Question("r-0_0", "which river?")]),
    ]
    found = names.without_answer(questions, 100, 0, False)
    assert all(own[1] == without[1] and own[0] != without[0] for _, own, without in found)


def test_questions_without_a_name():
    with pytest.raises(
        InputError, match="all tables share column names, and no question has a name"
    ):
        names.without_answer([interaction(0, "who is it?")], 100, 0, False)
