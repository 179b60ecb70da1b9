"""The row that tells what a table's columns hold."""

from mate_tf.tables.histogram import histogram_row


def test_most_frequent_values_of_each_column():
    rows = [
        ["Italy", "1", "x", ""],
        ["France", "2", "a", ""],
        [" Italy ", "3", "x", "-"],
        ["Spain", "4", "b", "-"],
        ["France", "5", "a", ""],
        ["Italy", "6", "b", ""],
        ["Spain", "7", "c", ""],
        ["Malta", "8", "c", ""],
    ]
    texts = [text for row in rows for text in row]
    assert histogram_row(texts, 4) == ["Italy 3, France 2, Spain 2", "", "x 2, a 2, b 2", "- 2"]


def test_no_rows_or_no_columns():
    assert histogram_row([], 2) == ["", ""]
    assert histogram_row([], 0) == []
