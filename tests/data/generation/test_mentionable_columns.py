"""Columns that generated texts can mention."""

from mate_tf.data.generation.mentionable_columns import Sheet, is_name
from mate_tf.tables.table import Table

TABLE = Table.from_rows(
    ["Name", "Points", "Born", "Note", "Note", "Mixed"],
    [
        ["Ann  Red", "1,200", "3 May 1980", "a", "b", "5 km"],
        ["Bob", "0.5", "12 June 1999", "c", "d", "-"],
    ],
)


def test_columns():
    sheet = Sheet(TABLE)
    assert [(column.name, column.index) for column in sheet.columns] == [
        ("Name", 0),
        ("Points", 1),
        ("Born", 2),
        ("Mixed", 5),
    ]
    assert [column.name for column in sheet.ordered] == ["Points", "Born"]
    assert [column.values for column in sheet.ordered] == [
        [1200.0, 0.5],
        [(1980, 5, 3), (1999, 6, 12)],
    ]
    assert [column.name for column in sheet.exact] == ["Points"]
    assert sheet.columns[0].cells == ["Ann Red", "Bob"]


def test_names():
    assert is_name("town of bern")
    assert not is_name("of the")
    assert not is_name("EMPTY")
    assert not is_name(" ".join("abcdefghi"))
