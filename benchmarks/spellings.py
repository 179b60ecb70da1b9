"""Reads numbers and dates of tests/tables/spellings.txt with libraries, beside our own columns.

    pip install babel dateparser python-dateutil quantulum3 price-parser
    python benchmarks/spellings.py

Prints for each reader the share of cells with a number (or a date) that it reads right, and the
time of a cell. Libraries that are not installed are left out. `any` choice of decimal sign and
order of day and month is given to the libraries as the column needs it; ours finds it out.
"""

import contextlib
import math
import sys
import time

import common

sys.path.insert(0, str(common.ROOT))

from mate_tf.tables import columns  # noqa: E402
from tests.tables.test_columns import blocks, written  # noqa: E402


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


NUMBERS = {"babel": babel_number, "price-parser": price, "quantulum3": quantity}
DATES = {"dateutil": dateutil, "dateparser": dateparser}


def is_right(kind, expected: str, found) -> bool:
    if kind == "date":
        return any(each.startswith(expected.partition("T")[0]) for each in found)
    return any(math.isclose(float(expected), each, rel_tol=1e-6) for each in found)


def main() -> None:
    options = common.parser(__doc__).parse_args()
    del options
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
        print(f"| {name} | {kind}s | {100 * right / count:.1f} | {count} | {1e6 * seconds / count:.0f} |")


if __name__ == "__main__":
    main()
