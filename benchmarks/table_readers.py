"""Reads tables as people have them with libraries, beside our own readers.

    pip install babel dateparser python-dateutil quantulum3 price-parser pint duckdb polars
    pip install charset-normalizer
    python benchmarks/table_readers.py --cases ../shared/cases

Prints for each reader of numbers and dates the share of the cells of tests/tables/spellings.txt
that it reads right, for each detector of encodings how many of the small tables of
tests/tables/test_encodings.py, and for each reader of text files how many of the files of
tests/test_cases.py it reads right. Libraries get every decimal sign and order of day and month,
and any right one counts; ours finds them out. Those that are not installed are left out.
"""

import contextlib
import functools
import math
import pathlib
import sys
import time

import common

sys.path.insert(0, str(common.ROOT))

from mate_tf.tables import columns
from mate_tf.tables import encodings as own
from mate_tf.tables.any_table import read_table
from tests.tables.test_columns import blocks, written
from tests.tables.test_encodings import TEXTS
from tests.test_cases import FILES


def babel_number(text):
    from babel import numbers

    for locale in ("en", "de", "fr", "hi"):
        with contextlib.suppress(Exception):
            yield float(numbers.parse_decimal(text, locale=locale))


def price(text):
    from price_parser import Price

    for sign in (".", ","):
        found = Price.fromstring(text, decimal_separator=sign).amount_float
        if found is not None:
            yield found


def quantity(text):
    from quantulum3 import parser

    with contextlib.suppress(Exception):
        yield from (each.value for each in parser.parse(text))


def dates(text, parse):
    for day_first in (True, False):
        with contextlib.suppress(Exception):
            found = parse(text, day_first)
            if found is not None:
                yield f"{found:%Y-%m-%d}".zfill(10)


def dateutil(text):
    from dateutil import parser

    return dates(text, lambda text, first: parser.parse(text, dayfirst=first))


def dateparser(text):
    import dateparser

    def parse(text, first):
        return dateparser.parse(text, settings={"DATE_ORDER": "DMY" if first else "MDY"})

    return dates(text, parse)


@functools.cache
def units():
    import pint

    return pint.UnitRegistry()


def pint_quantity(text):
    with contextlib.suppress(Exception):
        yield float(units().Quantity(text).magnitude)


NUMBERS = {
    "babel": babel_number,
    "price-parser": price,
    "quantulum3": quantity,
    "pint": pint_quantity,
}
DATES = {"dateutil": dateutil, "dateparser": dateparser}


def is_right(kind, expected: str, found) -> bool:
    if kind == "date":
        return any(each.startswith(expected.partition("T")[0]) for each in found)
    return any(math.isclose(float(expected), each, rel_tol=1e-6) for each in found)


def duckdb(path):
    import duckdb

    found = duckdb.sql(f"select * from read_csv('{path}', all_varchar=true, nullstr='')")
    return [found.columns, *found.fetchall()]


def clevercsv(path):
    import clevercsv

    return clevercsv.read_table(path)


def pandas(path):
    import pandas

    found = pandas.read_csv(path, sep=None, engine="python", dtype=str, keep_default_na=False)
    return [found.columns, *found.to_numpy().tolist()]


def polars(path):
    import polars

    found = polars.read_csv(path, infer_schema=False)
    return [found.columns, *found.rows()]


def ours(path):
    found = read_table(path)
    return [found.columns, *found.rows]


def charset_normalizer(content):
    import charset_normalizer as library

    return str(library.from_bytes(content, cp_isolation=sorted(TEXTS)).best())


def chardet(content):
    import chardet as library

    return content.decode(library.detect(content)["encoding"])


def ours_on_chardet(content):
    return content.decode(own.find("table", content, None)[0])


def encodings() -> list:
    """Prints and returns how many texts each detector of encodings reads right."""
    texts = [(text, text.encode(name)) for name, found in TEXTS.items() for text in found]
    results = []
    print("\n| detector | texts read right | ms a text |\n|---|---|---|")
    for name, read in (
        ("charset-normalizer", charset_normalizer),
        ("chardet", chardet),
        ("mate-tf, on chardet", ours_on_chardet),
    ):
        right = 0
        with contextlib.suppress(ImportError):
            read("é".encode("cp1252"))  # imports it
        start = time.perf_counter()
        for text, content in texts:
            with contextlib.suppress(Exception):
                right += read(content) == text
        seconds = time.perf_counter() - start
        results.append((name, "encoding", right, len(texts), seconds))
        print(f"| {name} | {right} of {len(texts)} | {1000 * seconds / len(texts):.1f} |")
    return results


def files(folder: pathlib.Path) -> list:
    """Prints and returns how many files each reader reads right, spaces around cells aside."""
    paths = [(folder / name, rows) for name, rows in FILES if name.endswith(("csv", "tsv", "txt"))]
    results = []
    print("\n| reader | files read right | seconds |\n|---|---|---|")
    for name, read in (
        *(("duckdb", duckdb), ("clevercsv", clevercsv), ("pandas", pandas), ("polars", polars)),
        ("mate-tf, on clevercsv", ours),
    ):
        right, start = 0, time.perf_counter()
        for path, rows in paths:
            with contextlib.suppress(Exception):
                found = [[str(cell or "").strip() for cell in row] for row in read(str(path))]
                right += found == rows
        seconds = time.perf_counter() - start
        results.append((name, "file", right, len(paths), seconds))
        print(f"| {name} | {right} of {len(paths)} | {seconds:.2f} |")
    return results


def arguments():
    parser = common.parser(__doc__)
    parser.add_argument("--cases", type=pathlib.Path, help="folder of tests/test_cases.py")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    rows = []
    for kind, readers in (("number", NUMBERS), ("date", DATES)):
        cells = [
            (text, value.lstrip("?"))
            for each, _, _, found in blocks()
            for text, value in found
            if each == kind and value != "-"
        ]
        for name, read in readers.items():
            try:
                list(read("1"))
            except ImportError:
                continue
            start = time.perf_counter()
            right = sum(is_right(kind, value, list(read(text))) for text, value in cells)
            rows.append((name, kind, right, len(cells), time.perf_counter() - start))
        right, start = 0, time.perf_counter()
        for each, _, name, found in blocks():
            if each == kind:
                (column,) = columns.read([name], [[text for text, _ in found]])
                for (_, value), own in zip(found, column.values, strict=True):
                    if value != "-":
                        expected = value.lstrip("?")
                        expected = expected if kind == "date" else f"{float(expected):.12g}"
                        right += written(own) == expected
        rows.append(("mate-tf, by column", kind, right, len(cells), time.perf_counter() - start))
    print("| reader | values | right, % | cells | microseconds a cell |\n|---|---|---|---|---|")
    for name, kind, right, count, seconds in rows:
        share, each = 100 * right / count, 1e6 * seconds / count
        print(f"| {name} | {kind}s | {share:.1f} | {count} | {each:.0f} |")
    rows += encodings()
    if options.cases:
        rows += files(options.cases)
    keys = ("reader", "values", "right", "count", "seconds")
    results = [dict(zip(keys, row, strict=True)) for row in rows]
    common.write(options, "table_readers", results)


if __name__ == "__main__":
    main()
