"""Workbooks (.xlsx, .xlsm, .xls, .ods) as tables, read by calamine."""

import datetime
import os
import re
import zipfile
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from mate_tf.errors import InputError
from mate_tf.files import zips
from mate_tf.tables import extents, opening
from mate_tf.tables.limits import MIB, LimitedRows, Limits
from mate_tf.tables.table import Table

_CELL = re.compile(r'<c r="([A-Z]+)(\d+)"([^>]*?)(?:/>|>(.*?)</c>)', re.DOTALL)
_STYLE = re.compile(r'\bs="(\d+)"')
_STORED = re.compile(r"<v>[^<]|<is>")
_PER_CENT, _ZEROS = re.compile(r"^0*(?:\.(0+))?%$"), re.compile(r"^0{2,}$")
_BUILT_IN = {9: "0%", 10: "0.00%"}  # formats without a code in the file
_NAMESPACE = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
_DAMAGED = (zipfile.BadZipFile, ElementTree.ParseError, ValueError, KeyError, TypeError)
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def read_workbook(
    path: str | os.PathLike,
    *,
    limits: Limits | None = None,
    sheet: str | None = None,
    header_row: int | None = None,
) -> Table:
    """Reads a sheet of a workbook. Its first row with two cells or more is the header.

    Merged cells all have the value of their first one. Formulas have the values that were stored
    with them; a remark counts those without. Cells shown in per cent, or as digits with leading
    zeros, are read so; other number formats, such as those of currencies, are not.

    Args:
        path: the file.
        limits: how much of it is read at most; by default `Limits()`.
        sheet: name of the sheet; by default the first visible one with a table. A remark names the
            others.
        header_row: number of the row with the names of columns, from 1; 0: there is none.

    Raises:
        InputError: if the file is not a workbook, is beyond a limit that refuses it, has values
            that are too far apart, has no such sheet, or the sheet has no rows.
    """
    import python_calamine

    limits = limits or Limits()
    _check_size(path, limits)
    try:
        book = python_calamine.CalamineWorkbook.from_path(os.fspath(path))
        chosen, rows, remarks = _sheet(path, book, sheet)
        merged = (chosen.merged_cell_ranges or []) if rows else []
        shown, formulas = _formats(path, book, chosen.name)
    except InputError:
        raise
    except (python_calamine.CalamineError, *_DAMAGED) as error:
        raise InputError(f"{path}: not a readable workbook: {error}") from error
    if formulas:
        remarks.append(f"{formulas} formulas have no stored value and are read as empty cells")
    rows = [[_plain(value) for value in row] for row in rows]
    for (row, column), text in shown.items():
        if row < len(rows) and column < len(rows[row]) and rows[row][column] != "":
            rows[row][column] = text(rows[row][column])
    for (top, left), (bottom, right) in merged:
        for row in rows[top : bottom + 1]:
            row[left : right + 1] = [rows[top][left]] * len(row[left : right + 1])
    return _table(path, rows, limits, remarks, header_row)


def _sheet(path, book, name: str | None):
    """Returns the sheet that is read, its rows, and remarks."""
    visible = [each for each in book.sheets_metadata if str(each.visible).endswith("Visible")]
    names = [each.name for each in visible if str(each.typ).endswith("WorkSheet")]
    if name is not None and name not in book.sheet_names:
        raise InputError(f"{path}: has no sheet {name!r}; it has: {', '.join(book.sheet_names)}")
    if name is not None and name not in names:
        kinds = {each.name: str(each.typ) for each in book.sheets_metadata}
        if not kinds[name].endswith("WorkSheet"):
            raise InputError(f"{path}: sheet {name!r} has no cells: it is a chart or a macro")
    if not names and name is None:
        raise InputError(f"{path}: has no visible sheet with cells")
    for each in [name] if name is not None else names:
        sheet = book.get_sheet_by_name(each)
        rows = sheet.to_python(skip_empty_area=False)
        if name is not None or sum(any(value != "" for value in row) for row in rows) > 1:
            others = [other for other in names if other != each]
            said = f"sheet {each!r} is read; others: {', '.join(others)} (--sheet)"
            return sheet, rows, [said] if others and name is None else []
    raise InputError(f"{path}: no sheet has rows below a header")


def _table(path, rows: Sequence[list], limits: Limits, remarks, header_row: int | None) -> Table:
    if header_row:
        begin = header_row - 1
    elif header_row == 0:
        width = max(map(len, rows), default=0)
        rows, begin = [[f"column {number + 1}" for number in range(width)], *rows], 0
    else:
        width = max((_filled(row) for row in rows), default=0)
        begin = next((n for n, row in enumerate(rows) if _filled(row) >= min(2, width) > 0), 0)
    title = " ".join(str(value) for row in rows[:begin] for value in row if value != "")
    if title:
        remarks.append(f"the header is in row {begin + 1}; the text above it is taken as a title")
    filled = [row for row in rows[begin:] if _filled(row)]
    # Empty columns at the edges of the sheet.
    used = [
        any(row[index : index + 1] not in ([], [""]) for row in filled)
        for index in range(_width(filled))
    ]
    first = used.index(True) if True in used else 0
    width = len(used) - used[::-1].index(True) if True in used else 0
    kept = LimitedRows(path, limits)
    header: list = []
    for number, row in enumerate(filled):
        cells = [*row[first:width], *[""] * (width - max(len(row), first))]
        if number == 0:
            header = cells
            kept.add_header(cells)
        elif not kept.add(cells, f"row {number}"):
            break
    unread = kept.unread()
    if not kept.rows:
        raise InputError(f"{path}: the sheet has no rows below its header")
    return Table.from_rows(
        header, kept.rows, title, unread=unread, table_id=os.path.basename(path)
    ).with_remarks(remarks)


def _filled(row) -> int:
    return sum(value != "" for value in row)


def _width(rows) -> int:
    return max(map(len, rows), default=0)


def _plain(value: Any) -> Any:
    """Returns a cell's value: whole numbers without ".0", 15 digits, durations as h:mm:ss."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    if isinstance(value, datetime.timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return value


def _check_size(path, limits: Limits) -> None:
    with opening.opened_bytes(path, limits) as file:
        is_packed = file.read(4) == b"PK\x03\x04"
        file.seek(0)
        try:
            if not is_packed:
                extents.check_binary(path)
                return
            with zipfile.ZipFile(file) as parts:
                largest = limits.max_unpacked_mb * MIB
                try:
                    zips.check(parts, opening.size(file), largest, limits.max_zip_ratio)
                except InputError as error:
                    raise InputError(f"{error} (max_unpacked_mb, max_zip_ratio)") from None
                extents.check(parts)
                if extents.BINARY in parts.namelist():
                    extents.check_binary(path)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        except zips.DAMAGED as error:
            raise InputError(f"{path}: not a readable workbook: {error}") from error


def _formats(path, book, name: str) -> tuple[dict, int]:
    """Finds cells of an .xlsx sheet whose format matters, and formulas without a stored value.

    Returns:
        (row, column) from 0 -> function from the value to its text; number of formulas.
    """
    if not zipfile.is_zipfile(path):
        return {}, 0
    with zipfile.ZipFile(path) as parts:
        if "xl/workbook.xml" not in parts.namelist():
            return {}, 0
        texts = [_text_of(code) for code in _codes(parts)]
        content = parts.read(_part(parts, name)).decode("utf-8", "replace")
    formats, formulas = {}, 0
    for letters, row, attributes, inside in _CELL.findall(content):
        formulas += "<f" in inside and not _STORED.search(inside)
        style = _STYLE.search(attributes)
        text = texts[int(style[1])] if style and int(style[1]) < len(texts) else None
        if text is not None and 't="s"' not in attributes:
            formats[int(row) - 1, _index(letters)] = text
    return formats, formulas


def _codes(parts: zipfile.ZipFile) -> list[str]:
    """Returns the code of the number format of each style."""
    if "xl/styles.xml" not in parts.namelist():
        return []
    root = ElementTree.fromstring(_without_entities(parts.read("xl/styles.xml")))
    codes = _BUILT_IN | {
        int(each.get("numFmtId", "")): each.get("formatCode", "")
        for each in root.iterfind("m:numFmts/m:numFmt", _NAMESPACE)
    }
    styles = root.iterfind("m:cellXfs/m:xf", _NAMESPACE)
    return [codes.get(int(each.get("numFmtId", 0)), "") for each in styles]


def _part(parts: zipfile.ZipFile, name: str) -> str:
    """Returns the name of the part with a sheet."""
    sheets = ElementTree.fromstring(_without_entities(parts.read("xl/workbook.xml")))
    relations = ElementTree.fromstring(_without_entities(parts.read("xl/_rels/workbook.xml.rels")))
    targets = {each.get("Id"): each.get("Target") for each in relations}
    (relation,) = (
        each.get(_RELATION)
        for each in sheets.iterfind("m:sheets/m:sheet", _NAMESPACE)
        if each.get("name") == name
    )
    target = targets[relation] or ""
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _without_entities(content: bytes) -> bytes:
    if b"<!ENTITY" in content or b"<!DOCTYPE" in content:
        raise ValueError("a part has a document type, which could define entities")
    return content


def _text_of(code: str):
    """Returns a function from a value to its text; None for formats that do not matter."""
    code = code.partition(";")[0]
    if match := _PER_CENT.match(code):
        places = len(match[1] or "")
        return lambda value: f"{float(value) * 100:.{places}f}%" if _is_number(value) else value
    if _ZEROS.match(code):
        return lambda value: str(value).zfill(len(code)) if isinstance(value, int) else value
    return None


def _is_number(value) -> bool:
    try:
        float(value)
        return not isinstance(value, (bool, datetime.date))
    except (TypeError, ValueError):
        return False


def _index(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1
