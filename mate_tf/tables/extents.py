"""Extents of the sheets of a workbook, found before calamine makes room for them.

Calamine has room for each cell from the first one with a value to the last one. Two values, in the
first and the last place of a sheet, are enough to end the process for want of memory. The extents
are read from the XML of a workbook; one without, .xls or .xlsb, is tried in another process.
"""

import os
import re
import subprocess
import sys
import zipfile

from mate_tf.errors import InputError

MOST = 10_000_000
"""Cells of a sheet from the first value to the last one: less than a gigabyte."""

_MEMORY, _SECONDS = 2**30, 60  # to read a file without XML: bytes, and time
_OPEN = f"""
import contextlib, sys, python_calamine
with contextlib.suppress(ImportError):  # there it is not limited
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY}, {_MEMORY}))
book = python_calamine.CalamineWorkbook.from_path(sys.argv[1])
for name in book.sheet_names:
    book.get_sheet_by_name(name)
"""
BINARY = "xl/workbook.bin"
"""The member that only an .xlsb file has, whose sheets are not XML."""

_PLACE = re.compile(rb"""\sr=["']([A-Z]*)(\d+)""")
_CELL = re.compile(rb"""<(?:\w+:)?c\s(?:[^>]*?\s)?r=["']([A-Z]+)(\d+)["'][^>]*(?<!/)>(?!</)""")
_UNPLACED = re.compile(rb"""<(?:\w+:)?c(?=[\s>])(?![^>]*\sr=)""")
_ROW = re.compile(rb"""<(?:\w+:)?row\s(?:[^>]*?\s)?r=["'](\d+)["'][^>]*(?<!/)>""")
_ROWS_REPEATED = re.compile(rb"""number-rows-repeated=["'](\d+)""")
_CELL_REPEATED = re.compile(
    rb"""<table:(?:covered-)?table-cell(?=[\s/>])"""
    rb"""(?:[^>]*?number-columns-repeated=["'](\d+))?([^>]*?)(/?)>"""
)
_DIGITS = 9  # of a number that counts; larger ones are too large


def check(parts: zipfile.ZipFile) -> None:
    """Raises InputError if a sheet of an .xlsx or .ods file extends over more than `MOST` cells.

    Args:
        parts: the file; its members are small enough to be read.
    """
    for name in parts.namelist():
        if not name.endswith(".xml"):
            continue
        content = parts.read(name)
        if b"sheetData" in content:
            areas = [_count_cells(content)]
        elif name == "content.xml":
            areas = map(_count_table_cells, re.split(rb"<table:table(?=\s)", content)[1:])
        else:
            continue
        if (area := max(areas, default=0)) > MOST:
            raise InputError(
                f"{name}: values are too far apart: {area:,} cells from the first to the last, at "
                f"most {MOST:,}"
            )


def check_binary(path: str | os.PathLike) -> None:
    """Raises InputError if an .xls or .xlsb file takes too much memory, or too long, to be read."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _OPEN, os.path.abspath(path)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise InputError("takes too long to be read") from None
    if done.returncode < 0:  # by a signal; other errors are those that it ends with here too
        raise InputError("takes too much memory to be read")


def _count_cells(content: bytes) -> int:
    """Returns the number of cells between the values of an .xlsx sheet, or a bound below `MOST`."""
    most = _area(_PLACE.findall(content))  # also of empty cells and rows, which are found sooner
    if most <= MOST:
        return most
    places = _CELL.findall(content)
    if _UNPLACED.search(content):  # in the row that says its number
        places += [(b"", row) for row in _ROW.findall(content)]
    return _area(places)


def _area(places: list[tuple[bytes, bytes]]) -> int:
    """Returns the number of cells between columns and rows."""
    columns = {_column(column) for column, _ in places if column}
    rows = {_number(row) for _, row in places}
    return _between(rows) * max(_between(columns), 1)


def _count_table_cells(content: bytes) -> int:
    """Returns the number of cells up to the last values of an .ods sheet."""
    height = width = number = 0
    for row in re.split(rb"<table:table-row(?=[\s>])", content)[1:]:
        repeated = _ROWS_REPEATED.search(row.partition(b">")[0])
        number += _number(repeated[1]) if repeated else 1
        cells = [(_number(times or b"1"), end) for times, _, end in _CELL_REPEATED.findall(row)]
        while cells and cells[-1][1]:  # closed at once: it is empty
            cells.pop()
        if cells:
            height, width = number, max(width, sum(times for times, _ in cells))
    return height * width


def _between(numbers: set[int]) -> int:
    return max(numbers) - min(numbers) + 1 if numbers else 0


def _number(digits: bytes) -> int:
    return int(digits) if len(digits) <= _DIGITS else 10**_DIGITS


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters[:_DIGITS]:
        number = number * 26 + letter - 64
    return number
