"""What users give as a table."""

import collections
import gzip
import sqlite3
import zipfile

import pandas
import pytest

from mate_tf.errors import InputError
from mate_tf.tables.any_table import as_table, read_table
from mate_tf.tables.table import Table
from mate_tf.tables.text_table import FileOptions

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


@pytest.mark.parametrize("content", [",,\n,,\n", "," * 999 + "\n" + "," * 999, ",\n , \n\n,"])
def test_a_file_of_blank_cells(tmp_path, content):
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(InputError, match=r"t\.csv: all cells are blank"):
        read_table(tmp_path / "t.csv")


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
        ({"a": []}, "table: no rows"),
        ({}, "table: no rows"),
    ],
)
def test_what_is_no_table(given, message):
    with pytest.raises(InputError, match=message):
        as_table(given)


@pytest.mark.parametrize(
    "text",
    [
        "A title\n\n| id | name |\n|:--|---:|\n| 1 | ann |\n| - | b \\| c |\n\nBelow.\n",
        " id | name\n----+------\n  1 | ann\n  - | b \\| c\n(2 rows)\n",
        "+---+---+\n| id | name |\n+---+---+\n| 1 | ann |\n| - | b \\| c |\n+---+---+\n",
        "id  name\n 1  ann\n -  b | c\n",
        "id,name\n1,ann\n-,b | c\n",
        '{"id": ["1", "-"], "name": ["ann", "b | c"]}',
        '{"id": {"0": "1", "1": "-"}, "name": {"0": "ann", "1": "b | c"}}',
        '{"schema": {}, "data": [{"id": "1", "name": "ann"}, {"id": "-", "name": "b | c"}]}',
        '{"id": "1", "name": "ann"}\n{"id": "-", "name": "b | c"}\n',
        "<table><tr><th>id<th>name<tr><td>1<td>ann<tr><td>-<td>b | c</table>",
    ],
)
def test_texts_of_many_forms(tmp_path, text):
    path = tmp_path / "table"
    path.write_text(text, encoding="utf-8")
    table = read_table(path)
    assert (table.columns, table.rows) == (("id", "name"), (("1", "ann"), ("-", "b | c")))


@pytest.mark.parametrize(
    "text",
    [
        "     id  name\nr1    1   ann\nr2    -     b\n",  # as pandas prints a frame
        '{"id": {"r1": 1, "r2": "-"}, "name": {"r1": "ann", "r2": "b"}}',  # as it writes it
    ],
)
def test_labels_of_rows_are_a_column(tmp_path, text):
    path = tmp_path / "frame"
    path.write_text(text, encoding="utf-8")
    table = read_table(path)
    assert (table.columns, table.rows) == (
        ("", "id", "name"),
        (("r1", "1", "ann"), ("r2", "-", "b")),
    )


def test_databases_can_be_refused(tmp_path):
    """Also packed ones: a view in them can run queries of its own."""
    path = tmp_path / "table.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table t as select 1 as a")
    packed = {"table.gz": gzip.compress(path.read_bytes()), "duck": b"12345678DUCK" + bytes(99)}
    with zipfile.ZipFile(tmp_path / "table.zip", "w") as archive:
        archive.write(path, "table.csv")
    for name, content in packed.items():
        (tmp_path / name).write_bytes(content)
    for name in ("table.db", "table.zip", *packed):
        with pytest.raises(InputError, match="is a database, which is not read here"):
            read_table(tmp_path / name, asked=FileOptions(databases=False))
    assert read_table(path).rows == (("1",),)
