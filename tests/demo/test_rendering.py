"""HTML of answers and timings, and of tables with answers: what is escaped and marked."""

from types import SimpleNamespace

import pytest

from mate_tf.demo import rendering
from mate_tf.tables import html
from mate_tf.tables.table import Table

from ..parsed_html import HOSTILE, Parsed


def cell(row, column, probability, text=""):
    return SimpleNamespace(row=row, column=column, probability=probability, text=text)


def answer(*cells, text="Rome", **fields):
    fields = {"aggregation": "NONE", "value": None, "probability": 0.5, "cuts": ()} | fields
    fields = {"confidence": None, "answerable": True, "notes": ()} | fields
    return SimpleNamespace(cells=cells, text=text, **fields)


@pytest.fixture
def table():
    return Table.from_rows(["name", "city"], [["Ann", "Rome"], ["Bob", "Oslo"], ["Cy", "Bern"]])


def test_nothing_from_outside_becomes_markup(table):
    hostile = Table.from_rows([HOSTILE, "b"], [[HOSTILE, "2"]])
    given = answer(
        cell(0, 0, 0.9), text=HOSTILE, cuts=(HOSTILE,), aggregation=HOSTILE, notes=(HOSTILE,)
    )
    shading = rendering.answer_shading(hostile, given)._replace(note=HOSTILE, label=HOSTILE)
    timing = SimpleNamespace(name=HOSTILE, seconds=0.1)
    page = (
        html.table_html(hostile, [(0, 0)], shading)
        + rendering.answer_html([(HOSTILE, given), (HOSTILE, given)])
        + rendering.error_html(HOSTILE)
        + rendering.note_html(HOSTILE)
        + rendering.timings_html([timing], HOSTILE, HOSTILE)
    )
    parsed = Parsed(page)
    assert not {"script", "img"} & {tag for tag, _ in parsed.tags}
    assert not any(name.startswith("on") for _, attributes in parsed.tags for name in attributes)
    assert HOSTILE in parsed.cells
    # question and text of two answers, a note, a cut and an operation, header and cell, label,
    # note of the shading, error, note, a name, a caption, what runs
    assert page.count("&lt;script&gt;") == 16


def test_chosen_cells_have_their_probability(table):
    given = answer(cell(1, 1, 0.974, "Oslo"), cell(2, 0, 0.0312, "Cy"))
    text = html.table_html(table, [(1, 1), (2, 0)], rendering.answer_shading(table, given))
    parsed = Parsed(text)
    chosen = parsed.with_class("chosen")
    assert [attributes["style"] for attributes in chosen] == ["--share:0.974", "--share:0.031"]
    assert parsed.with_class("shaded") == chosen
    assert "Oslo<span class=share>97 %</span>" in text
    assert "Cy<span class=share>3.1 %</span>" in text
    assert len(parsed.with_class("legend")) == 1


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
    first = answer(text="", probability=0.0, answerable=False)
    text = rendering.answer_html([("who?", first), ("how much?", given)])
    assert "<li>who? <b>no answer found</b></li>" in text
    assert "<p class=text><b>7</b></p>" in text
    assert "probability 25 % · 2 cells · operation SUM · value 7<" in text
    assert "cut: 40 rows dropped" in text
    Parsed(text)
    assert rendering.answer_html([]) == ""
    assert rendering.error_html("") == ""


def test_answers_that_are_not_found():
    """The page says so in place of the answer, and what the best guess would be."""
    unsure = {"confidence": 0.12, "answerable": False, "notes": ("this model cannot count",)}
    given = answer(cell(0, 0, 1.0), text="Rome", probability=0.9, **unsure)
    text = rendering.answer_html([("who?", given)])
    assert "<p class=text><b>no answer found</b></p>" in text
    assert ">best guess: Rome · confidence 12 % · probability 90 % · 1 cell<" in text
    assert "<p class=note>this model cannot count</p>" in text
    assert Parsed(text).with_class("unanswered")
    sure = rendering.answer_html([("who?", answer(cell(0, 0, 1.0), confidence=0.8))])
    assert "<p class=text><b>Rome</b> <span class=sure>(confidence 80 %)</span></p>" in sure
    assert ">probability 50 % · 1 cell<" in sure
    assert "no answer found" not in sure
    assert not Parsed(sure).with_class("unanswered") + Parsed(sure).with_class("unsure")


def test_answers_have_their_calibrated_confidence():
    """The earlier ones too; none without a calibration."""
    unsure = answer(cell(0, 0, 1.0), text="60", confidence=0.2, probability=0.9)
    text = rendering.answer_html([("how much?", unsure), ("who?", unsure)])
    words = "<b>60</b> <span class=sure>(unsure, confidence 20 %)</span>"
    assert f"<li>how much? {words}</li>" in text
    assert f"<p class=text>{words}</p>" in text
    assert Parsed(text).with_class("unsure")
    text = rendering.answer_html([("how much?", answer(text="60")), ("who?", answer())])
    assert "<li>how much? <b>60</b></li>" in text
    assert "confidence" not in text


def test_timings():
    timings = [SimpleNamespace(name="full", seconds=0.2), SimpleNamespace(name="m", seconds=0.05)]
    text = rendering.timings_html(timings, "of 5 tokens", "tree_fine")
    assert "<td>full</td><td class=number>200.0 ms</td><td class=number>1.00</td>" in text
    assert "<td>m</td><td class=number>50.0 ms</td><td class=number>4.00</td>" in text
    assert "width:25.0%" in text
    assert "tree_fine is running" in text
    Parsed(text)
