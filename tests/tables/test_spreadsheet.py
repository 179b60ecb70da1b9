"""Workbooks: what is read, and what is said of files that are none."""

import datetime
import tracemalloc
import zipfile

import pytest

from mate_tf.errors import InputError
from mate_tf.tables import any_table, extents, spreadsheet
from mate_tf.tables.limits import Limits


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
    table = any_table.read_table(workbook(tmp_path / "towns.XLSX", rows))
    assert table.columns == ("town", "founded", "area", "since", "2024")
    assert table.rows[0] == ("Bern", "1191", "51.6", "2020-05-01", "True")
    # No program has computed the formula, so no value is stored with it.
    assert table.rows[1] == ("NA", "", "3", "2020-05-01 08:30:00", "")
    assert table.num_rows == 2


def test_no_rows(tmp_path):
    for name, rows in (("empty", []), ("header", [["a", "b"]])):
        path = workbook(tmp_path / f"{name}.xlsx", rows)
        with pytest.raises(InputError, match="no sheet has rows below a header") as said:
            spreadsheet.read_workbook(path)
        assert str(said.value).startswith(f"{path}: ")


def test_files_that_are_no_workbooks(tmp_path):
    text, archive, old = (tmp_path / name for name in ("text.xlsx", "zip.xlsx", "old.xls"))
    text.write_text("a,b\n1,2\n")
    assert any_table.read_table(text).rows == (("1", "2"),)  # its content is text
    with zipfile.ZipFile(archive, "w") as parts:
        parts.writestr("x.txt", "x")
    old.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    for path, words in (
        (archive, "there is a header but no rows"),  # of the one file in the archive
        (old, "not a readable workbook: "),
        (tmp_path / "none.xlsx", "no such file"),
    ):
        with pytest.raises(InputError) as said:
            any_table.read_table(path)
        assert str(said.value).startswith(f"{path}: {words}")


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path):
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/worksheets/sheet1.xml", bytes(20 * 2**20))
    with pytest.raises(InputError, match=r"unpacks to 20 MiB; at most 2 \(max_unpacked_mb"):
        spreadsheet.read_workbook(path, limits=Limits(max_unpacked_mb=2))
    with pytest.raises(InputError, match=r"unpacks to 1,0\d\d times its size; at most 200 times"):
        spreadsheet.read_workbook(path)


def test_a_directory_that_lies_about_sizes_does_not_help_a_bomb(tmp_path):
    path = workbook(tmp_path / "t.xlsx", [["a", "b"], [1, 2]])
    with zipfile.ZipFile(path) as parts:
        contents = {name: parts.read(name) for name in parts.namelist()}
    sheet = contents["xl/worksheets/sheet1.xml"]
    contents["xl/worksheets/sheet1.xml"] = sheet + b" " * 2**25
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        for name, content in contents.items():
            parts.writestr(name, content)
        parts.getinfo("xl/worksheets/sheet1.xml").file_size = len(sheet)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"not a readable.*Bad CRC-32"):
            spreadsheet.read_workbook(path)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_entities_of_xml_are_not_multiplied(tmp_path):
    path = workbook(tmp_path / "t.xlsx", [["a", "b"], ["x", 2]])
    levels = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    with zipfile.ZipFile(path) as parts:
        contents = {name: parts.read(name) for name in parts.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    contents[sheet] = (
        f'<!DOCTYPE x [<!ENTITY e0 "lol">{levels}]>'
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        '<row r="1"><c r="A1" t="inlineStr"><is><t>&e9;</t></is></c></row></sheetData></worksheet>'
    ).encode()
    with zipfile.ZipFile(path, "w") as parts:
        for name, content in contents.items():
            parts.writestr(name, content)
    with pytest.raises(InputError, match="not a readable workbook"):
        spreadsheet.read_workbook(path)


def test_rows_beyond_the_limits_are_not_read(tmp_path):
    path = workbook(tmp_path / "t.xlsx", [["n", "square"], *([n, n * n] for n in range(50))])
    table = spreadsheet.read_workbook(path, limits=Limits(max_table_cells=22))
    assert table.rows[-1] == ("9", "81")
    assert table.unread == "all rows after row 10 not read: max_table_cells=22"
    assert spreadsheet.read_workbook(path).unread == ""


def test_blank_rows(tmp_path):
    rows = [["a", "b"], [1, 2], [], [], [3, 4], *[[None, None]] * 30]
    path = workbook(tmp_path / "t.xlsx", rows)
    table = spreadsheet.read_workbook(path, limits=Limits(max_table_cells=10))
    assert table.rows == (("1", "2"), ("3", "4"))
    assert table.unread == ""
    narrow = workbook(tmp_path / "n.xlsx", [["a"], [1], [], [3]])
    assert spreadsheet.read_workbook(narrow).rows == (("1",), ("3",))


def test_formats_merged_cells_and_sheets(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Staff of 2024"])
    sheet.append([])
    sheet.append(["Id", "Share", "Team", "Time", "Total"])
    sheet.append([7, 0.455, "North", datetime.timedelta(hours=26), "=B4*2"])
    sheet.append([123, 0.1, None, datetime.timedelta(minutes=3), 0.1 + 0.2])
    sheet.merge_cells("C4:C5")
    for row in (4, 5):
        sheet[f"A{row}"].number_format, sheet[f"B{row}"].number_format = "0000", "0.0%"
    sheet.title = "Data"
    hidden = book.create_sheet("Hidden", 0)
    hidden.append(["a", "b"])
    hidden.append([1, 2])
    hidden.sheet_state = "hidden"
    book.create_sheet("More").append(["x"])
    book.save(tmp_path / "t.xlsx")
    table = any_table.read_table(tmp_path / "t.xlsx")
    assert table.columns == ("Id", "Share", "Team", "Time", "Total")
    assert table.rows == (
        ("0007", "45.5%", "North", "26:00:00", ""),
        ("0123", "10.0%", "North", "0:03:00", "0.3"),
    )
    assert table.title == "Staff of 2024"
    assert table.remarks == (
        "sheet 'Data' is read; others: More (--sheet)",
        "1 formulas have no stored value and are read as empty cells",
        "the header is in row 3; the text above it is taken as a title",
    )
    assert any_table.read_table(tmp_path / "t.xlsx", sheet="Hidden").rows == (("1", "2"),)
    with pytest.raises(InputError, match="has no sheet 'Mora'; it has: Hidden, Data, More"):
        any_table.read_table(tmp_path / "t.xlsx", sheet="Mora")


def test_charts(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"] = 1
    chart = openpyxl.chart.BarChart()
    chart.add_data(openpyxl.chart.Reference(book.active, min_col=1, min_row=1))
    book.create_chartsheet("C").add_chart(chart)
    path = tmp_path / "charts.xlsx"
    book.save(path)
    with pytest.raises(InputError, match=r"charts.xlsx: sheet 'C' has no cells: it is a chart"):
        spreadsheet.read_workbook(path, sheet="C")
    book.remove(book.active)
    book.save(path)
    with pytest.raises(InputError, match=r"charts.xlsx: has no visible sheet with cells"):
        spreadsheet.read_workbook(path)


CELL = '<table:table-cell office:value-type="string"{}><text:p>{}</text:p></table:table-cell>'
ROW = f"<table:table-row>{CELL.format('', 'a')}{CELL.format('', 'b')}</table:table-row>"
EMPTY = '<table:table-cell table:number-columns-repeated="16382"/>'
NAMES = ("office", "table", "text")


def open_document(path, rows):
    of = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in NAMES
    )
    content = f'<table:table table:name="t">{rows}</table:table>'
    for name in ("office:spreadsheet", "office:body"):
        content = f"<{name}>{content}</{name}>"
    with zipfile.ZipFile(path, "w") as parts:
        parts.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        parts.writestr("META-INF/manifest.xml", "<manifest/>")
        parts.writestr(
            "content.xml", f"<office:document-content {of}>{content}</office:document-content>"
        )
    return path


@pytest.mark.parametrize(
    ("between", "end"),
    [
        (f'<table:table-row table:number-rows-repeated="1048570">{EMPTY}</table:table-row>', ""),
        ("", EMPTY.replace("16382", "1048576000")),
    ],
)
def test_values_that_are_too_far_apart(tmp_path, between, end):
    """Two of them would take all memory; empty cells behind the last value take none."""
    far = f"<table:table-row>{EMPTY}{end}{CELL.format('', 'c')}</table:table-row>"
    with pytest.raises(InputError, match=r"content\.xml: values are too far apart: [\d,]{10,} cel"):
        any_table.read_table(open_document(tmp_path / "far.ods", ROW + between + far))
    near = ROW.replace("</table:table-row>", f"{EMPTY}{end}</table:table-row>") + ROW + between
    assert any_table.read_table(open_document(tmp_path / "near.ods", near)).rows == (("a", "b"),)


@pytest.mark.parametrize("empty", ["", "<v>1</v>"])
def test_a_cell_at_the_end_of_a_sheet(tmp_path, empty):
    """With a format only it takes no memory."""
    path = workbook(tmp_path / "far.xlsx", [["a", "b"], [1, 2]])
    sheet = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(path) as parts:
        contents = {name: parts.read(name).decode() for name in parts.namelist()}
    end = f'<row r="1048576"><c r="XFD1048576">{empty}</c></row></sheetData>'
    contents[sheet] = contents[sheet].replace("</sheetData>", end)
    with zipfile.ZipFile(path, "w") as parts:
        for name, content in contents.items():
            parts.writestr(name, content)
    if not empty:
        assert any_table.read_table(path).rows == (("1", "2"),)
        return
    apart = (
        f"too far apart: 17,179,869,184 cells from the first to the last, at most {extents.MOST:,}"
    )
    with pytest.raises(InputError, match=rf"sheet1\.xml: values are {apart}"):
        any_table.read_table(path)


def test_an_old_workbook_that_takes_too_much_memory(tmp_path, monkeypatch):
    """It is read in a process of its own, which ends for want of memory; other errors are not
    of memory."""
    path = tmp_path / "old.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(InputError, match=r"old\.xls: not a readable workbook: "):
        any_table.read_table(path)
    monkeypatch.setattr(extents, "_OPEN", "import os; os.abort()")
    with pytest.raises(InputError, match=r"old\.xls: takes too much memory to be read"):
        any_table.read_table(path)
    monkeypatch.setattr(extents, "_OPEN", "import time; time.sleep(60)")
    monkeypatch.setattr(extents, "_SECONDS", 0.1)
    with pytest.raises(InputError, match=r"old\.xls: takes too long to be read"):
        any_table.read_table(path)
