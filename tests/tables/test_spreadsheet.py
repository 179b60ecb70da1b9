"""Excel workbooks: what is read, and what is said of files that are none."""

import datetime
import importlib.util
import zipfile

import pytest

from mate_tf.errors import InputError
from mate_tf.tables import given, spreadsheet


def workbook(path, rows):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.create_sheet("other").append(["not read"])
    book.save(path)
    return path


def test_values_as_they_are_shown(tmp_path):
    rows = [
        ["town", "founded", "area", "since", 2024],
        ["Bern", 1191, 51.6, datetime.datetime(2020, 5, 1), True],
        ["NA", None, 3.0, datetime.datetime(2020, 5, 1, 8, 30), "=1+1"],
        [None, None, None, None, None],
    ]
    table = given.read_table(workbook(tmp_path / "towns.XLSX", rows))
    assert table.columns == ("town", "founded", "area", "since", "2024")
    assert table.rows[0] == ("Bern", "1191", "51.6", "2020-05-01", "True")
    # No program has computed the formula, so no value is stored with it.
    assert table.rows[1] == ("NA", "", "3", "2020-05-01 08:30:00", "")
    assert table.num_rows == 2


def test_no_rows(tmp_path):
    for name, rows in (("empty", []), ("header", [["a", "b"]])):
        path = workbook(tmp_path / f"{name}.xlsx", rows)
        with pytest.raises(
            InputError, match="the first sheet has no rows below its header"
        ) as said:
            spreadsheet.read_workbook(path)
        assert str(said.value).startswith(f"{path}: ")


def test_files_that_are_no_workbooks(tmp_path):
    text, archive, old = (tmp_path / name for name in ("text.xlsx", "zip.xlsx", "old.xls"))
    text.write_text("a,b\n1,2\n")
    with zipfile.ZipFile(archive, "w") as parts:
        parts.writestr("x.txt", "x")
    old.write_bytes(b"\xd0\xcf\x11\xe0")
    for path, words in (
        (text, "not a readable .xlsx workbook: "),
        (archive, "not a readable .xlsx workbook: "),
        (old, ".xls, the format of old Excel, is not read; save it as .xlsx or CSV"),
        (tmp_path / "none.xlsx", "No such file or directory"),
    ):
        with pytest.raises(InputError) as said:
            given.read_table(path)
        assert str(said.value).startswith(f"{path}: {words}")


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/worksheets/sheet1.xml", bytes(3 * 2**20))
    monkeypatch.setattr(spreadsheet, "LARGEST", 2 * 2**20)
    with pytest.raises(InputError, match="unpacks to 3 MiB; 2 at most"):
        spreadsheet.read_workbook(path)


def test_without_the_extra(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "openpyxl" else find(name)
    )
    with pytest.raises(InputError, match=r"\.xlsx needs pandas and openpyxl \(pip install"):
        spreadsheet.read_workbook(tmp_path / "t.xlsx")
