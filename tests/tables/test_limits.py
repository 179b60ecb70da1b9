"""Tables beyond the limits: cut with a note, or refused in one message."""

import dataclasses
import json
import tracemalloc

import pytest

from mate_tf.cli import checks, flags
from mate_tf.errors import InputError
from mate_tf.tables.any_table import as_table, read_table
from mate_tf.tables.html import table_html
from mate_tf.tables.limits import Limits
from mate_tf.tables.table import Table

ROWS = [[str(n), str(n * n)] for n in range(1000)]
HEADER = ["n", "square"]
OBJECTS = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
CSV = "\n".join(",".join(row) for row in [HEADER, *ROWS])
FORMS = {
    "t.csv": CSV,
    "semicolon.csv": CSV.replace(",", ";"),
    "t.tsv": CSV.replace(",", "\t"),
    "t.json": json.dumps({"title": "T", "columns": HEADER, "rows": ROWS}),
    "data.json": json.dumps({"data": ROWS, "header": HEADER}),  # the header behind the rows
    "objects.json": json.dumps(OBJECTS, indent=1),
}


@pytest.fixture(params=FORMS)
def path(request, tmp_path):
    path = tmp_path / request.param
    path.write_text(FORMS[request.param])
    return path


@pytest.mark.parametrize(
    ("limits", "rows"),
    [
        ({"max_table_cells": 200}, 99),
        ({"max_table_cells": 201}, 99),
        # shorter than the files, so that JSON is read by parts
        ({"max_table_characters": 150}, None),
    ],
)
def test_rows_that_are_left_out(path, limits, rows):
    table = read_table(path, Limits(**limits))
    if rows is None:
        rows = table.num_rows
        length = sum(len(cell) for row in ROWS[:rows] for cell in row)
        if path.name != "data.json":
            length += len("nsquare")
        assert length <= 150 < length + sum(map(len, ROWS[rows]))
    assert [list(row) for row in table.rows] == ROWS[:rows]
    (name, value), *_ = limits.items()
    begin, _, end = table.unread.partition(" (")
    assert begin == f"all rows after row {rows:,} not read"
    assert end.endswith(f" % of the file): {name}={value}")
    assert table.unread in table_html(table)


def test_the_whole_table(path):
    for table in (read_table(path), as_table(path, Limits(max_table_cells=2002))):
        assert [list(row) for row in table.rows] == ROWS
        assert table.unread == ""


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_table_columns": 1}, "2 columns; at most 1 are allowed (max_table_columns)"),
        (
            {"max_cell_characters": 4},
            " characters in a cell; at most 4 are allowed (max_cell_characters)",
        ),
        ({"max_table_cells": 3}, "header and first row are beyond the limit max_table_cells=3"),
    ],
)
def test_tables_that_are_refused(path, limits, message):
    with pytest.raises(InputError) as said:
        read_table(path, Limits(**limits))
    assert str(said.value).startswith(f"{path}: ")
    assert str(said.value).endswith(message)


@pytest.mark.parametrize("content", ["a,b\n" + "x" * 10**6, 'a,b\n1,"' + "x\n" * 10**6 + '"\n'])
def test_a_record_without_an_end(tmp_path, content):
    """No line break and no quotation mark: what is read of it is bounded, not the whole file."""
    path = tmp_path / "t.csv"
    path.write_text(content)
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as said:
            Table.from_csv(path, delimiter=",", limits=Limits(max_table_characters=1000))
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    record = f"{path}: the record that begins in line 2 has more than 1,000 characters"
    assert str(said.value).startswith(record)


def test_objects_with_keys_of_their_own(tmp_path):
    """Each object adds a column to all rows."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{f"key {n}": n} for n in range(1000)]))
    table = read_table(path, Limits(max_table_cells=500))
    assert table.num_columns * (table.num_rows + 1) <= 500 < 23 * 23
    assert table.rows[-1][-1] == str(table.num_rows - 1)


def test_readers_that_are_called_directly_read_everything(path):
    reader = {".csv": Table.from_csv, ".tsv": Table.from_tsv, ".json": Table.from_json}
    table = reader[path.suffix](path)
    assert (table.num_rows, table.unread) == (1000, "")


@pytest.mark.parametrize("value", [0, -1, 1.5, None, "3"])
def test_values(value):
    with pytest.raises(InputError, match=r"max_table_cells=.*: must be a whole number above 0"):
        Limits(max_table_cells=value)


def test_each_limit_is_a_flag_with_the_same_default():
    given = flags.FLAGS
    given.mark_as_parsed()
    assert checks.limits(given) == Limits()
    for field in dataclasses.fields(Limits):
        assert field.name in given


@pytest.mark.slow
def test_a_hundred_megabytes(tmp_path):
    """Prints how long it takes; what is asserted is memory."""
    path = tmp_path / "t.csv"
    line = "17,alpha beta,Rome,1234.56,2019-03-12,red green blue delta gamma\n"
    with path.open("w") as file:
        file.write("id,name,city,amount,date,note\n")
        for _ in range(100):
            file.write(line * (10**6 // len(line) + 1))
    tracemalloc.start()
    try:
        table = read_table(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    print(f"{path.stat().st_size / 1e6:.0f} MB: {table.num_rows} rows, peak {peak / 1e6:.0f} MB")
    assert table.unread
    assert peak < 50e6
