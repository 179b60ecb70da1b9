"""Tables as HTML: what is escaped, marked, bounded."""

import numpy as np
import pytest

from mate_tf.tables import html
from mate_tf.tables.table import Table

from ..parsed_html import Parsed


@pytest.fixture
def table():
    return Table.from_rows(["name", "city"], [["Ann", "Rome"], ["Bob", "Oslo"], ["Cy", "Bern"]])


def test_a_plain_table(table):
    parsed = Parsed(html.table_html(table))
    # each row begins with its number
    header, *rows = np.reshape(parsed.cells, [4, 3]).tolist()
    assert header == ["", "name", "city"]
    assert rows == [["1", "Ann", "Rome"], ["2", "Bob", "Oslo"], ["3", "Cy", "Bern"]]
    assert not parsed.with_class("chosen")
    assert not parsed.with_class("legend")


def test_attention_colours_the_header_too(table):
    values = np.array([[0.2, 0.0], [0.0, 0.4], [0.1, 0.1], [0.0004, 0.2]])
    shading = html.Shading("attention", values, 0.4, "attention")
    text = html.table_html(table, [(2, 0)], shading)
    parsed = Parsed(text)
    assert [attributes["style"] for attributes in parsed.with_class("shaded")] == [
        f"--share:{share:.3f}" for share in (values / 0.4).ravel()
    ]
    assert len(parsed.with_class("chosen")) == 1
    # too little for a number, but a chosen cell says it
    assert "<span class=share>0.0 %</span>" in text
    assert text.count("<span class=share>") == 6


def test_no_attention_at_all_is_no_division_by_zero(table):
    shading = html.Shading("attention", np.zeros([4, 2]), 1.0, "attention")
    assert "--share:0.000" in html.table_html(table, (), shading)


def test_large_tables_are_bounded_around_what_is_chosen():
    rows = [[f"{row}:{column}" for column in range(50)] for row in range(2000)]
    table = Table.from_rows([f"c{column}" for column in range(50)], rows)
    text = html.table_html(table, [(1000, 40)])
    parsed = Parsed(text)
    assert "1000:40" in parsed.cells
    assert "0:0" not in parsed.cells
    assert text.count("<tr") == html.MAX_ROWS + 3  # header, and a gap on either side
    assert "… 970 rows …" in parsed.cells
    assert "2,000 rows, 50 columns; shown are 60 rows and 20 columns" in text
    assert len(text) < 200_000


def test_what_was_not_read_is_marked(table):
    text = html.table_html(table, read=([0, 2], [1]))
    parsed = Parsed(text)
    # The row of Bob, the name of the first column and its three cells, the line below.
    assert [tag for tag, attributes in parsed.tags if "unread" in attributes.get("class", "")] == [
        *("th", "td", "tr", "td", "td", "span")
    ]
    assert text.index("class=unread") < text.index("Bob") < text.index("Cy")
    assert "grey: 1 row and 1 column not read" in text
    assert "not read" not in html.table_html(table, read=(range(3), range(2)))
    rows = Table.from_rows(["a"], [[str(row)] for row in range(300)])
    hidden = html.table_html(rows, [(250, 0)], read=([*range(20), 250], [0]))
    assert "… 220 rows, 200 of them not read …" in hidden
    assert "grey: 279 rows not read" in hidden


def test_long_cells_are_cut():
    text = html.table_html(Table.from_rows(["a"], [["x" * 100_000]]))
    assert f"{'x' * (html.MAX_CHARACTERS - 1)}…" in text
    assert len(text) < 2000
