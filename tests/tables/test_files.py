"""Reading CSV, TSV and JSON; what is wrong with a file is said in one message."""

import csv

import pytest

from mate_tf.errors import InputError
from mate_tf.tables.table import Table

BOM = "\ufeff"


@pytest.fixture
def write(tmp_path):
    def write(content, name="file.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
        (f"{BOM}a,b\r\n1,2", [["a", "b"], ["1", "2"]]),
        ("a;b\n1,5;2\n", [["a", "b"], ["1,5", "2"]]),
        ("a\tb\n1,5\t2;5\n", [["a", "b"], ["1,5", "2;5"]]),
        ('a,b\n"x\ny",2\n', [["a", "b"], ["x\ny", "2"]]),
        ('a,a\n"say ""x""",\n\n\n1,2\n', [["a", "a"], ['say "x"', ""], ["1", "2"]]),
        ("one column\nx\ny", [["one column"], ["x"], ["y"]]),
        ("a,b\r1,2\r", [["a", "b"], ["1", "2"]]),
        (b"a,b\n1,\xfc\n", [["a", "b"], ["1", "ü"]]),  # cp1252
        ('a,b\n1,"2\n3,4\n', [["a", "b"], ["1", '"2'], ["3", "4"]]),
    ],
)
def test_csv(write, content, rows):
    table = Table.from_csv(write(content))
    assert [list(table.columns), *map(list, table.rows)] == rows


def test_delimiters_that_are_named(write):
    path = write("a;b,c\n1;2,3\n")
    assert Table.from_csv(path, delimiter=",").columns == ("a;b", "c")
    assert Table.from_csv(path, delimiter=";").columns == ("a", "b,c")
    tsv = write("a,x\tb\n1\t2\n", "file.tsv")
    table = Table.from_tsv(tsv, "Title", caption="Caption")
    assert (table.columns, table.title, table.caption) == (("a,x", "b"), "Title", "Caption")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        (" \n\n", "the file is empty"),
        ("a,b\n", "there is a header but no rows"),
        (
            "a,b\n1,2\n\n3\n",
            r"row 2 \(line 4\) has 1 cell, but the header has 2 cells \(separated by comma\)",
        ),
        ('a,b\n"1\n1",2\n3,4,5\n', r"row 2 \(line 4\) has 3 cells, but the header has 2 cells"),
        ("a;b\n1;2\n3\n", r"row 2 \(line 3\) has 1 cell, .* \(separated by semicolon\)"),
        (BOM.encode() + b"a,b\n1,x\xff\n", "not valid utf-8-sig"),
        (b"a,b\n\0,2\n", "not a text file"),
        ("a,b".encode("utf-16"), "there is a header but no rows"),
    ],
)
def test_bad_csv(write, content, message):
    path = write(content)
    with pytest.raises(InputError, match=message) as caught:
        Table.from_csv(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("read", [Table.from_csv, Table.from_tsv, Table.from_json])
def test_files_that_cannot_be_read(tmp_path, read):
    with pytest.raises(InputError, match=r"missing\.csv: no such file"):
        read(tmp_path / "missing.csv")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read(str(tmp_path))


def test_huge_cells_and_tables(write):
    csv.field_size_limit(131_072)  # the module's own limit, as in a fresh process
    cell = "word " * 100_000
    assert Table.from_csv(write(f'a,b\n1,"{cell}"\n')).cell(0, 1).text == cell
    wide = Table.from_csv(
        write("\n".join(",".join(map(str, range(300))) for _ in range(5001)), "w.csv"),
        delimiter=",",
    )
    assert (wide.num_rows, wide.num_columns) == (5000, 300)


def test_json_forms(write):
    table = Table.from_json(
        write('{"columns": ["a", "b"], "rows": [[1.10, null], [NaN, "x"]], "title": "T"}', "t.json")
    )
    assert table == Table.from_rows(
        ["a", "b"], [["1.10", ""], ["", "x"]], title="T", table_id="t.json"
    )
    table = Table.from_json(write('{"header": ["a"], "data": [["x"]], "table_id": "named"}'))
    assert (table.columns, table.rows, table.table_id) == (("a",), (("x",),), "named")
    table = Table.from_json(write('[{"a": 1, "b": true}, {"c": "z", "a": 12345678901234567890}]'))
    assert table.columns == ("a", "b", "c")
    assert table.rows == (("1", "True", ""), ("12345678901234567890", "", "z"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ('{"columns": [', "not valid JSON: .*line 1 column 14"),
        ("[" * 100_000, "not valid JSON"),
        ("3", 'expected an object with the lists "columns" and "rows"'),
        ("[]", "expected an object"),
        ('{"columns": ["a"]}', "expected an object"),
        ('{"columns": ["a"], "rows": []}', "there is a header but no rows"),
        ('{"columns": ["a"], "rows": ["x"]}', "row 1 is not a list of cells"),
        ('{"columns": ["a"], "rows": [[1], [1, 2]]}', "row 2 has 2 cells, but the header has 1"),
        ('{"columns": ["a"], "rows": [[{}]]}', "row 1, column 1 holds an object"),
        ('{"columns": [["a"]], "rows": [["x"]]}', "header, column 1 holds a list"),
        ('{"columns": ["a"], "rows": [["\\ud800"]]}', "row 1, column 1: not valid Unicode"),
    ],
)
def test_bad_json(write, content, message):
    with pytest.raises(InputError, match=message) as caught:
        Table.from_json(write(content, "bad.json"))
    assert "bad.json: " in str(caught.value)
