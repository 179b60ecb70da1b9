"""HTML of tables, answers and timings: what is escaped, marked, bounded."""

import html.parser
from types import SimpleNamespace

import numpy as np
import pytest

from mate_tf.demo import rendering
from mate_tf.tables.table import Table

HOSTILE = "<script>alert('x')</script><img src=x onerror=\"alert(1)\">&amp;'"


class Parsed(html.parser.HTMLParser):
    """Tags with their attributes, and the cells' texts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.cells, self.opened = [], [], []
        self.feed(text)
        assert not self.opened

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.opened += [] if tag in ("br", "img") else [tag]
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_data(self, text):
        if {"td", "th"} & set(self.opened) and "span" not in self.opened:
            self.cells[-1] += text

    def with_class(self, name):
        return [
            attributes
            for _, attributes in self.tags
            if name in (attributes.get("class") or "").split()
        ]


def cell(row, column, probability, text=""):
    return SimpleNamespace(row=row, column=column, probability=probability, text=text)


def answer(*cells, text="Rome", **fields):
    fields = {"aggregation": "NONE", "value": None, "probability": 0.5, "cuts": ()} | fields
    return SimpleNamespace(cells=cells, text=text, **fields)


@pytest.fixture
def table():
    return Table.from_rows(["name", "city"], [["Ann", "Rome"], ["Bob", "Oslo"], ["Cy", "Bern"]])


def test_a_plain_table(table):
    parsed = Parsed(rendering.table_html(table))
    # each row begins with its number
    header, *rows = np.reshape(parsed.cells, [4, 3]).tolist()
    assert header == ["", "name", "city"]
    assert rows == [["1", "Ann", "Rome"], ["2", "Bob", "Oslo"], ["3", "Cy", "Bern"]]
    assert not parsed.with_class("chosen")
    assert not parsed.with_class("legend")


def test_nothing_from_outside_becomes_markup(table):
    hostile = Table.from_rows([HOSTILE, "b"], [[HOSTILE, "2"]])
    given = answer(cell(0, 0, 0.9), text=HOSTILE, cuts=(HOSTILE,), aggregation=HOSTILE)
    shading = rendering.answer_shading(hostile, given)._replace(note=HOSTILE, label=HOSTILE)
    timing = SimpleNamespace(name=HOSTILE, seconds=0.1)
    page = (
        rendering.table_html(hostile, [(0, 0)], shading)
        + rendering.answer_html([(HOSTILE, given), (HOSTILE, given)])
        + rendering.error_html(HOSTILE)
        + rendering.note_html(HOSTILE)
        + rendering.timings_html([timing], HOSTILE, HOSTILE)
    )
    parsed = Parsed(page)
    assert not {"script", "img"} & {tag for tag, _ in parsed.tags}
    assert not any(name.startswith("on") for _, attributes in parsed.tags for name in attributes)
    assert HOSTILE in parsed.cells
    # question and text of two answers, a cut and an operation, header and cell, label, note,
    # error, note, a name, a caption, what runs
    assert page.count("&lt;script&gt;") == 15


def test_chosen_cells_have_their_probability(table):
    given = answer(cell(1, 1, 0.974, "Oslo"), cell(2, 0, 0.0312, "Cy"))
    text = rendering.table_html(table, [(1, 1), (2, 0)], rendering.answer_shading(table, given))
    parsed = Parsed(text)
    chosen = parsed.with_class("chosen")
    assert [attributes["style"] for attributes in chosen] == ["--share:0.974", "--share:0.031"]
    assert parsed.with_class("shaded") == chosen
    assert "Oslo<span class=share>97 %</span>" in text
    assert "Cy<span class=share>3.1 %</span>" in text
    assert len(parsed.with_class("legend")) == 1


def test_attention_colours_the_header_too(table):
    values = np.array([[0.2, 0.0], [0.0, 0.4], [0.1, 0.1], [0.0004, 0.2]])
    shading = rendering.Shading("attention", values, 0.4, "attention")
    text = rendering.table_html(table, [(2, 0)], shading)
    parsed = Parsed(text)
    assert [attributes["style"] for attributes in parsed.with_class("shaded")] == [
        f"--share:{share:.3f}" for share in (values / 0.4).ravel()
    ]
    assert len(parsed.with_class("chosen")) == 1
    # too little for a number, but a chosen cell says it
    assert "<span class=share>0.0 %</span>" in text
    assert text.count("<span class=share>") == 6


def test_no_attention_at_all_is_no_division_by_zero(table):
    shading = rendering.Shading("attention", np.zeros([4, 2]), 1.0, "attention")
    assert "--share:0.000" in rendering.table_html(table, (), shading)


def test_large_tables_are_bounded_around_what_is_chosen():
    rows = [[f"{row}:{column}" for column in range(50)] for row in range(2000)]
    table = Table.from_rows([f"c{column}" for column in range(50)], rows)
    text = rendering.table_html(table, [(1000, 40)])
    parsed = Parsed(text)
    assert "1000:40" in parsed.cells
    assert "0:0" not in parsed.cells
    assert text.count("<tr") == rendering.MAX_ROWS + 3  # header, and a gap on either side
    assert "… 970 rows …" in parsed.cells
    assert "2,000 rows, 50 columns; shown are 60 rows and 20 columns" in text
    assert len(text) < 200_000


def test_long_cells_are_cut():
    text = rendering.table_html(Table.from_rows(["a"], [["x" * 100_000]]))
    assert f"{'x' * (rendering.MAX_CHARACTERS - 1)}…" in text
    assert len(text) < 2000


def test_answers():
    given = answer(
        cell(0, 0, 1.0),
        cell(1, 0, 1.0),
        text="7",
        aggregation="SUM",
        value=7.0,
        probability=0.25,
        cuts=("40 rows dropped",),
    )
    first = answer(text="", probability=0.0)
    text = rendering.answer_html([("who?", first), ("how much?", given)])
    assert "who? <b>no cell</b> 0.0 %" in text
    assert "<p class=text>7</p>" in text
    assert "probability 25 % · 2 cells · operation SUM · value 7<" in text
    assert "cut: 40 rows dropped" in text
    Parsed(text)
    assert rendering.answer_html([]) == ""
    assert rendering.error_html("") == ""


def test_timings():
    timings = [SimpleNamespace(name="full", seconds=0.2), SimpleNamespace(name="m", seconds=0.05)]
    text = rendering.timings_html(timings, "of 5 tokens", "tree_fine")
    assert "<td>full</td><td class=number>200.0 ms</td><td class=number>1.00</td>" in text
    assert "<td>m</td><td class=number>50.0 ms</td><td class=number>4.00</td>" in text
    assert "width:25.0%" in text
    assert "tree_fine is running" in text
    Parsed(text)
