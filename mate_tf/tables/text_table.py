"""Reads tables from text files of unknown form: CSV, TSV and the like, Markdown, any encoding.

clevercsv finds the delimiter and whether quotation marks enclose cells, by the beginning of the
file. Remarks say what a reader would not expect.
"""

import collections
import io
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

from mate_tf.errors import InputError
from mate_tf.tables import amounts, delimited, encodings, moments, opening
from mate_tf.tables.delimited import Form
from mate_tf.tables.encodings import SAMPLE
from mate_tf.tables.limits import Limits

_DELIMITERS = [",", ";", "\t", "|", "^"]
_HINT = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
_RULE = re.compile(r"(?=.*[|+])[ :|+-]*-[ :|+-]*")
_SPACES = re.compile(r"\s{2,}")
_BAR = re.compile(r"(?<!\\)\|")
_LOOKED_AT = 100
"""Records that decide which one is the header."""
_YEARS = range(1500, 2200)


class TextTable(NamedTuple):
    """A table, and how it was read.

    Attributes:
        header: names of the columns.
        rows: texts of the cells.
        unread: what was not read because of limits, in words.
        title: text above the header.
        remarks: what was assumed, in words.
    """

    header: list[str]
    rows: list[list[str]]
    unread: str
    title: str
    remarks: tuple[str, ...]


class FileOptions(NamedTuple):
    """Form of a file as a user gives it; None is detected.

    Attributes:
        delimiter: what separates cells.
        header_row: number of the line with the names of columns, from 1; 0: there is none.
        encoding: name of the encoding.
        databases: whether a file may be a database. A view in one can run its own queries, some
            of which read other files.
    """

    delimiter: str | None = None
    header_row: int | None = None
    encoding: str | None = None
    databases: bool = True


def read(path: str | os.PathLike, limits: Limits, asked: FileOptions | None = None) -> TextTable:
    """Reads a table from a text file.

    Args:
        path: the file.
        limits: how much is read at most.
        asked: what is known of its form.

    Raises:
        InputError: if the file cannot be read, is empty, has only a header, is not in the encoding,
            has an unclosed quotation mark, has a row that is longer or shorter than the header, or
            is beyond a limit that refuses it.
    """
    asked = asked or FileOptions()
    with opening.opened_bytes(path, limits) as raw:
        sample, begin = raw.read(SAMPLE), 0
        while sample and not sample.strip():
            begin += len(sample)
            sample = raw.read(SAMPLE)
        if not sample:
            raise InputError(f"{path}: the file is empty")
        encoding, remarks = encodings.find(path, sample, asked.encoding)
        raw.seek(begin)
        with io.TextIOWrapper(raw, encoding, newline="") as file:
            try:
                text = file.read(SAMPLE)
                file.seek(begin)
                content = _read(path, file, text, limits, asked)
            except UnicodeDecodeError as error:
                if encoding == "utf-8":
                    with opening.invalid_named(path):
                        raise
                raise InputError(f"{path}: not valid {encoding}: {error}") from None
            except UnicodeError as error:
                raise InputError(f"{path}: not valid {encoding}: {error}") from None
            return content._replace(remarks=(*remarks, *content.remarks))


def _read(path, file: IO[str], sample: str, limits: Limits, asked: FileOptions) -> TextTable:
    lines = sample.splitlines()
    if asked.delimiter is None and (above := _above_markdown(lines)) is not None:
        header, kept = delimited.keep(path, _markdown_records(file, above), "|", limits)
        title = " ".join(text for line in lines[:above] if (text := _text(line)))
        return TextTable(header, kept.rows, kept.unread(), title, ())
    delimiter, first_line, start = asked.delimiter, 1, file.tell()
    if lines and (hint := _HINT.fullmatch(lines[0].strip())) and asked.header_row is None:
        file.readline()  # Excel's hint
        delimiter, first_line, lines = delimiter or hint[1], 2, lines[1:]
    form = _form(lines, delimiter)
    content = delimited.records(path, file, form, limits, first_line)
    begin = list(itertools.islice(content, _LOOKED_AT))
    if not delimiter and begin and len(begin[0][1]) == 1 and (counts := _aligned(lines)):
        file.seek(start)
        header, kept = delimited.keep(path, _aligned_records(file, *counts), "  ", limits)
        remarks = ("cells are separated by two or more spaces",)
        return TextTable(header, kept.rows, kept.unread(), "", remarks)
    if _is_one_column(lines, begin, delimiter):
        file.seek(start)
        form = Form("\0", has_quotes=False)
        content = delimited.records(path, file, form, limits, first_line)
        begin = list(itertools.islice(content, _LOOKED_AT))
    if not begin:
        raise InputError(f"{path}: the file is empty")
    above, begin, remarks = _from_header(path, begin, asked.header_row)
    # With a given header line, row numbers count, so blank rows are kept.
    rest = content if asked.header_row else _without_blank(content)
    everything = itertools.chain(begin, rest)
    header, kept = delimited.keep(path, everything, form.delimiter, limits)
    title = " ".join(filter(None, (cell.strip() for cells in above for cell in cells)))
    return TextTable(header, kept.rows, kept.unread(opening.share_read(file)), title, remarks)


def _form(lines: Sequence[str], delimiter: str | None) -> Form:
    """Finds out how records are written."""
    import clevercsv

    # The last line of a sample may be cut.
    text = "\n".join(lines[:-1] if len(lines) > 1 and len("".join(lines)) > SAMPLE // 2 else lines)
    choices = [delimiter] if delimiter else _DELIMITERS
    try:
        dialect = clevercsv.Sniffer().sniff(text, delimiters=choices)
    except clevercsv.Error:  # too little to tell
        dialect = None
    if not delimiter:
        delimiter = dialect.delimiter if dialect and dialect.delimiter in _DELIMITERS else None
        counts = {each: lines[0].count(each) if lines else 0 for each in _DELIMITERS}
        delimiter = delimiter or max(counts, key=lambda each: counts[each])
    skips_space = f'{delimiter} "' in text
    has_quotes = (
        text.startswith('"')  # the first name is enclosed, so all cells may be
        or '"' not in text
        or skips_space
        or dialect is None
        or bool(dialect.quotechar)
    )
    return Form(delimiter, has_quotes=has_quotes, skips_space=skips_space)


def _is_one_column(lines: Sequence[str], records, delimiter: str | None) -> bool:
    """Returns whether delimiters are part of texts: rows differ, and the header has none."""
    if delimiter or len(records) < 2 or len(records[0][1]) != 1:
        return False
    lengths = {len(cells) for _, cells in records[1:]}
    return len(lengths) > 1 and '"' not in "".join(lines[:_LOOKED_AT])


def _from_header(path, records, header_row: int | None):
    """Splits records at the header.

    Returns:
        cells of the records above it; the records from it on; remarks.
    """
    if header_row is not None:
        if header_row == 0:
            names = [f"column {number}" for number in range(1, len(records[0][1]) + 1)]
            return [], [(0, names), *_without_blank(records)], ()
        rest = [record for record in records if record[0] >= header_row]
        if not rest:
            raise InputError(f"{path}: --header_row={header_row}: no such line")
        return [], rest, ()
    lengths = collections.Counter(len(cells) for _, cells in records if any(map(str.strip, cells)))
    width = max(lengths, key=lambda each: (lengths[each], each), default=0)
    start = 0
    while start < len(records) - 1 and _is_above(records[start][1], width):
        start += 1
    above = [cells for _, cells in records[:start]]
    rest = list(_without_blank(records[start:]))
    if not rest:
        raise InputError(f"{path}: all cells are blank")
    remarks = []
    if above:
        lines = f"line {records[start][0]}"
        remarks.append(f"the header is in {lines}; the text above it is taken as a title")
    if _has_no_header([cells for _, cells in rest]):
        names = [f"column {number}" for number in range(1, width + 1)]
        rest.insert(0, (0, names))
        remarks.append("there is no header: the columns are numbered (if not, give --header_row)")
    return above, rest, tuple(remarks)


def _is_above(cells: Sequence[str], width: int) -> bool:
    """Returns whether a record is above the header: a title, or blank."""
    filled = sum(bool(cell.strip()) for cell in cells)
    return width > 1 and (filled == 0 or (filled == 1 and (len(cells) == 1 or width > 2)))


def _has_no_header(records: Sequence[Sequence[str]]) -> bool:
    """Returns whether the first record is one of data, as its numbers and dates show.

    Years count as names of columns too.
    """
    first, *others = records
    if not others:
        return False
    numeric = 0
    for index, name in enumerate(first):
        below = [cells[index] for cells in others if index < len(cells) and cells[index].strip()]
        if below and all(map(_is_value, below)):
            text = name.strip()
            if not _is_value(text) or (text.isdecimal() and int(text) in _YEARS):
                return False
            numeric += 1
    return numeric > 0


def _is_value(text: str) -> bool:
    text = amounts.normalize(text)
    amount = amounts.read(text)
    if amount is not None and amount.is_whole and not amount.prefix:
        return amount.unit is None or not amount.unit.is_word
    return any(map(str.isdigit, text)) and moments.read(text) is not None


def _without_blank(records) -> Iterator[tuple[int, list[str]]]:
    return (record for record in records if any(map(str.strip, record[1])))


def _above_markdown(lines: Sequence[str]) -> int | None:
    """Returns the number of lines above the header of a table in Markdown, or None."""
    for number, (line, below) in enumerate(itertools.pairwise(lines[:_LOOKED_AT])):
        if "|" in line and _text(line) and _RULE.fullmatch(below.strip()):
            return number
    return None


def _text(line: str) -> str:
    """Returns a line without spaces around it; "" if it is drawn."""
    return "" if _RULE.fullmatch(line.strip()) else line.strip()


def _markdown_records(file: IO[str], above: int) -> Iterator[tuple[int, list[str]]]:
    """Yields the rows up to the first line without a bar."""
    for number, line in enumerate(itertools.islice(file, above, None), start=above + 1):
        text = line.strip()
        is_drawn = _RULE.fullmatch(text) and ("---" in text or number == above + 2)
        if is_drawn:
            continue
        if "|" not in text:
            return
        cells = _BAR.split(text)
        cells = cells[bool(text.startswith("|")) : len(cells) - bool(text.endswith("|"))]
        yield number, [cell.strip().replace("\\|", "|") for cell in cells]


def _aligned(lines: Sequence[str]) -> list[int] | None:
    """Returns the numbers of cells of lines with cells in columns, two or more spaces apart.

    A header without a name for the first column, as pandas prints frames, has one less.

    Returns:
        cells of the header and of the rows; None if it is not such a table.
    """
    counts = [len(_SPACES.split(line.strip())) for line in lines[:_LOOKED_AT] if line.strip()]
    if len(counts) < 2 or len({*counts[1:]}) > 1 or counts[1] < 2:
        return None
    return counts[:2] if counts[0] in (counts[1], counts[1] - 1) else None


def _aligned_records(file: IO[str], names: int, cells: int) -> Iterator[tuple[int, list[str]]]:
    missing = [""] * (cells - names)  # of the header
    for number, line in enumerate(file, start=1):
        if line.strip():
            yield number, [*missing, *_SPACES.split(line.strip())]
            missing = []
