"""A table as generated questions see it."""

import random

from mate_tf.data.generation.subject import Subject, is_rank, is_time, is_year
from mate_tf.tables.table import Table

TABLE = Table.from_rows(
    ["Rank", "Name", "Year", "Wins"],
    [["1", "Ann", "2020", "30"], ["2", "Bob", "2021", "41"], ["3", "Eve", "2023", "7"]],
)


def test_columns_by_what_can_be_asked_of_them():
    subject = Subject(TABLE, random.Random(0))
    rank, name, year, wins = subject.sheet.columns
    assert subject.key is name
    assert subject.ordered == [year, wins]  # a rank is not a number to compare
    assert subject.exact == [wins]  # years are not added up
    assert [is_rank(each) for each in (rank, year, wins)] == [True, False, False]
    assert [is_year(each) for each in (rank, year, wins)] == [False, True, False]
    assert is_time(year)
