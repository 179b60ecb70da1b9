"""Tables: from any values, from pandas, to CSV and back."""

import csv
import decimal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mate_tf
from mate_tf.errors import InputError
from mate_tf.tables.table import Cell, Table

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def tables(draw):
    width = draw(st.integers(1, 4))
    row = st.lists(texts, min_size=width, max_size=width)
    return Table.from_rows(draw(row), draw(st.lists(row, min_size=1, max_size=5)))


def test_rows_become_text():
    table = Table.from_rows(
        ["City", 1999], [["Bern", None], [float("nan"), 3], ["", np.float32("nan")]], "Towns"
    )
    assert mate_tf.Table is Table
    assert table.columns == ("City", "1999")
    assert table.rows == (("Bern", ""), ("", "3"), ("", ""))
    assert (table.title, table.num_rows, table.num_columns) == ("Towns", 3, 2)
    assert table.cell(1, 1) == Cell(1, 1, "3")
    assert table.column(0) == ("Bern", "", "")
    assert [cell.text for cell in table.cells()] == ["Bern", "", "", "3", "", ""]
    assert hash(table) == hash(Table.from_rows(table.columns, table.rows, "Towns"))


def test_a_table_may_have_no_rows_but_not_no_columns():
    assert Table.from_rows(["a"], []).rows == ()
    with pytest.raises(InputError, match=": no columns"):
        Table.from_rows([], [])


def test_ragged_rows_and_bad_unicode_name_their_place():
    with pytest.raises(InputError, match="t: row 2 has 1 cells, but the header has 2"):
        Table.from_rows(["a", "b"], [["1", "2"], ["3"]], table_id="t")
    with pytest.raises(InputError, match="t: row 1, column 2: not valid Unicode"):
        Table.from_rows(["a", "b"], [["1", "\ud800"]], table_id="t")
    with pytest.raises(InputError, match="t: row 1, column 2: cannot be written: Exceeds the lim"):
        Table.from_rows(["a", "b"], [["1", 10**5000]], table_id="t")


@pytest.mark.parametrize("name", ["table_id", "title", "heading", "caption", "url"])
def test_what_is_said_about_a_table_is_text(name):
    for value in (None, 5, b"x", ["x"]):
        with pytest.raises(InputError, match=f"{name} must be text, not"):
            Table(("a",), (), **{name: value})
    with pytest.raises(InputError, match=rf"{name} of a table: not valid Unicode: 'x\\ud800'"):
        Table(("a",), (), **{name: "x\ud800"})


def test_all_that_is_not_a_number_is_missing():
    missing = [float("nan"), decimal.Decimal("NaN"), decimal.Decimal("sNaN"), None]
    assert Table.from_rows(["a", "b", "c", "d"], [missing]).rows == (("",) * 4,)


@given(tables())
def test_csv_round_trip(tmp_path_factory, table):
    path = tmp_path_factory.getbasetemp() / "round_trip.csv"
    table.to_csv(path)
    again = Table.from_csv(path, delimiter=",")
    assert (again.columns, again.rows) == (table.columns, table.rows)
    assert again.table_id == "round_trip.csv"


def test_sqa_tables_equal_the_csv_module(sqa_dir):
    paths = sorted((sqa_dir / "table_csv").glob("*.csv"))
    assert len(paths) == 982
    for path in paths:
        table = Table.from_csv(path, delimiter=",")
        with open(path, encoding="utf-8", newline="") as file:
            assert [list(table.columns), *map(list, table.rows)] == list(csv.reader(file)), path


def test_dataframe_of_all_kinds():
    frame = pd.DataFrame(
        {
            "year": [1999, None, 2001],  # integers that pandas turned into floats
            "share": [1.0, 2.5, np.nan],
            "count": pd.array([1, None, 3], dtype="Int64"),
            "text": pd.array(["a", None, pd.NA], dtype="string"),
            "object": ["x", None, pd.NA],
            "when": pd.to_datetime(["2010-05-05", None, "2010-05-06 10:00"], format="mixed"),
            "kind": pd.Categorical(["u", None, "v"]),
            "holds": [np.array([1, 2]), [3], {}],
            "whole": [1.0, 2.0, 3.0],
        }
    )
    table = Table.from_dataframe(frame, title="All kinds")
    assert table.title == "All kinds"
    assert table.columns == tuple(frame.columns)
    assert table.rows == (
        ("1999", "1.0", "1", "a", "x", "2010-05-05", "u", "[1 2]", "1.0"),
        ("", "2.5", "", "", "", "", "", "[3]", "2.0"),
        ("2001", "", "3", "", "", "2010-05-06 10:00:00", "v", "{}", "3.0"),
    )


def test_dataframe_rows_keep_their_order_whatever_the_index():
    frame = pd.DataFrame([["a", 1], ["b", 2], ["c", 3]], columns=["x", "x"], index=[2000, 7, 7])
    assert Table.from_dataframe(frame).rows == (("a", "1"), ("b", "2"), ("c", "3"))
    assert Table.from_dataframe(frame.iloc[::-1]).column(0) == ("c", "b", "a")
    assert Table.from_dataframe(frame[frame.iloc[:, 1] > 1]).rows == (("b", "2"), ("c", "3"))
    assert Table.from_dataframe(frame[:0]).rows == ()
    levels = pd.MultiIndex.from_tuples([("goals", 2019), ("goals", 2020)])
    assert Table.from_dataframe(pd.DataFrame([[1, 2]], columns=levels)).columns == (
        "goals 2019",
        "goals 2020",
    )
    with pytest.raises(InputError, match="no columns"):
        Table.from_dataframe(pd.DataFrame(index=[1, 2]))


def test_tables_import_neither_tensorflow_nor_pandas():
    program = (
        "import sys, mate_tf; import mate_tf.answers.gold, mate_tf.tables.numbers\n"
        "str(mate_tf.Table.from_rows(['a'], [[None], [1.5]]))\n"
        "assert not {'tensorflow', 'pandas', 'numpy', 'scipy'} & set(sys.modules), 'heavy import'"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
