"""The page with a table to click on: what is in it, and that it asks nothing of others."""

import json
import re

import numpy as np
import pytest

from mate_tf.analysis.attention import cell_maps
from mate_tf.analysis.attention.cell_maps import ATTENTION, MASK
from mate_tf.analysis.plots import table_page

from ... import chromium
from ...parsed_html import HOSTILE, Parsed


@pytest.fixture
def maps(looking_alike, small_example, pieces):
    return cell_maps.measure(looking_alike("mate_exact"), small_example, pieces)


def data_of(page):
    (text,) = re.findall(r'<script type="application/json" id=data>(.*?)</script>', page)
    return json.loads(text)


def test_nothing_from_outside_becomes_markup(maps):
    hostile = table_page.table_page(maps, HOSTILE)
    page = table_page.table_page(maps, "a title")
    assert hostile.count("<script") == page.count("<script") == 2
    parsed = Parsed(hostile)
    assert "img" not in {tag for tag, _ in parsed.tags}
    assert not any(name.startswith("on") for _, attributes in parsed.tags for name in attributes)
    assert HOSTILE in parsed.cells
    # the title twice, and a cell
    assert hostile.count("&lt;script&gt;") == 3


def test_nothing_is_loaded(maps):
    page = table_page.table_page(maps, "a title")
    assert not re.search(r"://|@import|url\(|fetch\(|import\(|XMLHttp", page)
    assert not [tag for tag, attributes in Parsed(page).tags if {"src", "href"} & set(attributes)]
    assert "default-src 'none'" in page


def test_begins_with_the_question(maps):
    page = table_page.table_page(maps, "a title")
    parsed = Parsed(page)
    cells = [attributes["data-cell"] for attributes in parsed.with_class("shaded")]
    assert cells == ["0,0", "0,1", "1,0", "1,1", "2,0", "2,1"]
    # the last cell has two tokens
    shares = [attributes["style"] for attributes in parsed.with_class("shaded")]
    assert shares == ["--share:0.500"] * 5 + ["--share:1.000"]
    assert "attention from the question 0<i></i>20 %" in page
    assert "The question itself: 30 %" in page
    options = re.findall(r"<option[^>]*>([^<]*)", page)
    assert options == [
        *("attention", "attention mask"),
        *("all layers", "layer 1", "layer 2"),
        *("all heads", "row heads", "column heads"),
    ]


def test_numbers(maps):
    data = data_of(table_page.table_page(maps, "a title"))
    assert (data["columns"], data["question"], data["hidden"]) == (2, 6, False)
    for view in (ATTENTION, MASK):
        for part, written in zip(maps.views[view], data["views"][view], strict=True):
            assert (written["layer"], written["heads"]) == part[:2]
            rows = data["stored"][written["shares"]]
            read = [[int(number or 0) for number in row.split(",")] for row in rows]
            np.testing.assert_allclose(np.divide(read, data["unit"]), part.shares, atol=6e-5)
            if view == ATTENTION:
                np.testing.assert_allclose(np.sum(read, 1), data["unit"], atol=len(read[0]) / 2)
    # what both layers have alike is there once
    assert len(data["stored"]) == 4


@pytest.mark.environment
def test_clicks(maps, tmp_path):
    """In Chromium, from the file."""
    chromium.require("selenium")
    path = tmp_path / "table.html"
    path.write_text(table_page.table_page(maps, HOSTILE), encoding="utf-8")
    with chromium.browser(tmp_path / "profile") as browser:
        browser.get(path.as_uri())

        def one(selector):
            return browser.find_element("css selector", selector)

        def shown():
            """Of the header's cells and those of the rows."""
            cells = browser.find_elements("css selector", "[data-cell] .share")
            return [cell.text for cell in cells]

        assert one("[data-cell='1,0']").text.startswith(HOSTILE)
        assert shown() == ["10 %"] * 5 + ["20 %"]
        assert "attention from the question 0" in one(".legend").text
        one("[data-cell='2,1']").click()
        # the mean of 1 in 6 or 7, and 2 in 6 or 7 for the last cell
        assert shown() == ["", "7.1 %", "", "7.1 %", "8.3 %", "31 %"]
        assert one(".chosen").get_attribute("data-cell") == "2,1"
        assert "attention from row 2, column 2 0" in one(".legend").text
        assert one(".mate-below p").text == "It gives 46 % to the question"
        one("#heads [value='row heads']").click()
        one("#layer [value='2']").click()
        assert shown() == ["", "", "", "", "17 %", "33 %"]
        one("#view [value=mask]").click()
        assert shown() == ["", "", "", "", "100 %", "100 %"]
        assert one(".mate-below p").text == "It attends to 100 % of the question"
        one("#question").click()
        assert shown() == ["100 %"] * 6
        script = "return performance.getEntriesByType('resource').length"
        assert browser.execute_script(script) == 0
        assert browser.get_log("browser") == []


def test_masks_alone(looking_alike, small_example, pieces):
    maps = cell_maps.measure(looking_alike("table_etc", layers=1), small_example, pieces)
    page = table_page.table_page(maps, "a title")
    assert re.findall(r"<option[^>]*>([^<]*)", page) == [
        *("attention mask", "layer 1", "all heads")
    ]
    assert Parsed(page).with_class("answer")


def test_large_examples_make_small_pages(looking_alike, small_example, pieces):
    """512 tokens in as many cells, and twelve layers with two types of heads each."""
    maps = cell_maps.measure(looking_alike("mate_exact"), small_example, pieces)
    table = maps.table.from_rows(["year"] * 8, [["1990"] * 8] * 63)
    draw = np.random.default_rng(1)
    shape = (8 * 20 + 1, 8 * 20 + 2)
    parts = [
        cell_maps.HeadMap(layer, heads, 6, draw.dirichlet(np.ones(shape[1]), shape[0]))
        for layer in range(1, 13)
        for heads in ("row heads", "column heads")
    ]
    maps = cell_maps.CellMaps(table, "", 19, 8, {ATTENTION: parts, MASK: parts})
    page = table_page.table_page(maps, "large")
    assert len(page) < 2.5e6
    assert data_of(page)["hidden"]
    assert "63 rows, 8 columns; shown are 19 rows and 8 columns" in page
