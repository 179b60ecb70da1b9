"""Tables for terminals: what is marked is shown, what is left out is counted."""

import re

from hypothesis import given
from hypothesis import strategies as st

from mate_tf.tables.table import Table


def test_a_small_table():
    table = Table.from_rows(["City", "Size"], [["Bern", "134,794"], ["東京", ""], ["Oslo\n", "1"]])
    assert table.render([(0, 1), (1, 1)]).splitlines() == [
        "City | Size",
        "-----+------------",
        "Bern | **134,794**",
        "東京 | **(empty)**",
        "Oslo | 1",
    ]
    assert str(table) == table.render()


def test_long_tables_and_long_cells_are_cut():
    rows = [[f"row {i}", "x" * 100] for i in range(100)]
    lines = Table.from_rows(["a", "b"], rows).render([(50, 0)], max_rows=3, max_width=10)
    assert lines.splitlines() == [
        "a          | b",
        "-----------+-----------",
        "... 49 rows ...",
        "row 49     | xxxxxxx...",
        "**row 50** | xxxxxxx...",
        "row 51     | xxxxxxx...",
        "... 48 rows ...",
    ]


def test_wide_tables_are_cut():
    table = Table.from_rows([f"c{i}" for i in range(9)], [range(9)])
    assert table.render([(0, 4)], max_columns=3).splitlines()[2] == "... | 3  | **4** | 5  | ..."


def test_marked_cells_beyond_the_limit_are_counted():
    table = Table.from_rows(["a"], [[i] for i in range(20)])
    text = table.render([(i, 0) for i in range(10, 20)], max_rows=4)
    assert text.endswith("... 6 rows (6 with marked cells) ...")


@given(st.integers(1, 12), st.integers(0, 30), st.sets(st.tuples(st.integers(0, 29), st.just(0))))
def test_every_row_is_shown_or_counted(width, height, marked):
    marked = {(row, column) for row, column in marked if row < height}
    table = Table.from_rows(["c"] * width, [[f"r{i}"] * width for i in range(height)])
    text = table.render(marked, max_rows=5, max_columns=4)
    body = text.splitlines()[2:]
    hidden = sum(int(count) for count in re.findall(r"^\.\.\. (\d+) rows?", text, re.MULTILINE))
    shown = [line for line in body if not re.match(r"\.\.\. \d+ rows?", line)]
    assert len(shown) == min(height, 5)
    assert hidden == height - len(shown)
    assert sum("**" in line for line in shown) == min(len(marked), 5)
