"""What users give as a table."""

import collections

import pandas
import pytest

from mate_tf.errors import InputError
from mate_tf.tables.given import as_table
from mate_tf.tables.table import Table

EXPECTED = Table.from_rows(["a", "b"], [["1", "x"], ["", "y"]])


@pytest.mark.parametrize(
    "given",
    [
        EXPECTED,
        {"a": ["1", None], "b": ("x", "y")},
        {"a": pandas.Series([1, None], dtype="Int64"), "b": pandas.Series(["x", "y"])},
        collections.OrderedDict(a=[1, float("nan")], b=["x", "y"]),
        [["a", "b"], [1, "x"], [None, "y"]],
        (("a", "b"), ("1", "x"), ("", "y")),
        [{"a": 1, "b": "x"}, {"b": "y"}],
        pandas.DataFrame({"a": [1, None], "b": ["x", "y"]}, index=[7, 9]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_the_same_table(given):
    table = as_table(given)
    assert (table.columns, table.rows) == (EXPECTED.columns, EXPECTED.rows)


def test_files(tmp_path):
    for name, content in (
        ("t.csv", "a,b\n1,x\n,y\n"),
        ("t.tsv", "a\tb\n1\tx\n\ty\n"),
        ("t.json", '[{"a": 1, "b": "x"}, {"b": "y"}]'),
    ):
        (tmp_path / name).write_text(content)
        for path in (tmp_path / name, str(tmp_path / name)):
            assert as_table(path).rows == EXPECTED.rows
    with pytest.raises(InputError, match=r"absent.csv: no such file"):
        as_table("absent.csv")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "NoneType is not a table"),
        (3, "int is not a table"),
        ([], "list is not a table"),
        ([1, 2], "list is not a table"),
        (["ab", "cd"], "list is not a table"),
        ([["a", "b"]], "a header but no rows"),
        ([["a", "b"], ["1"]], "row 1 has 1 cells, but the header has 2"),
        ({"a": ["1"], "b": ["x", "y"]}, "'a' has 1, 'b' has 2 values"),
        ({"a": "one"}, "column 'a' is not a list of values"),
        ({"a": 1}, "column 'a' is not a list of values"),
        ({"a": []}, "there are no rows"),
        ({}, "there are no rows"),
    ],
)
def test_what_is_no_table(given, message):
    with pytest.raises(InputError, match=message):
        as_table(given)
