"""Attention and masks over a table as a web page in a single file."""

import json
from html import escape
from importlib import resources

import numpy as np

from mate_tf.analysis.attention.cell_maps import ATTENTION, MASK, CellMaps
from mate_tf.tables import html
from mate_tf.tables.text import percent

UNIT = 10_000
"""Shares are written to the page as integers, in units of 1 / UNIT."""

_VIEWS = {ATTENTION: "attention", MASK: "attention mask"}
_STYLE = """
:root { --body-background-fill: #fff; }
body { font: 15px/1.4 system-ui, sans-serif; margin: 1rem auto; max-width: 82rem; padding: 0 1rem; }
h1 { font-size: 1.2rem; }
form { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; align-items: center; margin: .6rem 0; }
.mate-table { max-height: 80vh; }
[data-cell], #question { cursor: pointer; }
#question.chosen { outline: 2px solid rgb(22, 140, 74); }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def table_page(maps: CellMaps, title: str) -> str:
    """Returns the page: a coloured table with choices of view, layer, heads and source cell.

    It first shows the attention of the question, over all layers and heads. It contains the numbers
    of all pairs of shown cells; equal maps are stored once.
    """
    views = [_option(name, _VIEWS[name]) for name in _VIEWS if name in maps.views]
    layers = [_option(number, f"layer {number}") for number in range(1, maps.layers + 1)]
    heads = [_option(name, name) for name in maps.heads]
    if maps.layers > 1:
        layers.insert(0, _option("", "all layers"))
    if len(heads) > 1:
        heads.insert(0, _option("", "all heads"))
    script = (resources.files("mate_tf.analysis.plots") / "table_page.js").read_text("utf-8")
    table = html.table_html(maps.table, (), _shading(maps), maps.rows, maps.columns)
    # HTML entities are not decoded within a script, so "<" is escaped as in JSON.
    data = json.dumps(_data(maps), separators=(",", ":")).replace("<", "\\u003c")
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{escape(title)}</title>"
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<style>{html.style()}{_STYLE}</style></head><body><h1>{escape(title)}</h1><form>"
        f"<label>show <select id=view>{''.join(views)}</select></label>"
        f"<label>in <select id=layer>{''.join(layers)}</select></label>"
        f"<label>of <select id=heads>{''.join(heads)}</select></label>"
        "<span>from a cell: click it; or from the "
        f"<button type=button id=question>question</button></span></form>"
        f"<p>{escape(maps.question)}</p>{table}"
        f'<script type="application/json" id=data>{data}</script><script>{script}</script>'
        "</body></html>\n"
    )


def _option(value, text: str) -> str:
    return f'<option value="{escape(str(value))}">{escape(text)}</option>'


def _shading(maps: CellMaps) -> html.Shading:
    """Returns the shading that the page first shows; the script computes the same one."""
    view = maps.best_view
    values = np.full([maps.table.num_rows + 1, maps.table.num_columns], np.nan)
    shares = maps.shares(view, maps.question_index)
    cells = maps.in_cells(shares)
    values[: maps.rows + 1, : maps.columns] = cells
    kind, label = (
        ("attention", "attention from the question")
        if view == ATTENTION
        else ("answer", "share of a cell's tokens attended to from the question")
    )
    note = f"The question itself: {percent(shares[maps.question_index])}"
    return html.Shading(kind, values, float(cells.max()) or 1.0, label, note)


def _data(maps: CellMaps) -> dict:
    """Returns the data for the script: rows of numbers as text, with zeros as empty strings."""
    stored, views = {}, {}
    for view, parts in maps.views.items():
        views[view] = []
        for part in parts:
            numbers = np.rint(UNIT * part.shares).astype(int).tolist()
            rows = tuple(",".join(str(number or "") for number in row) for row in numbers)
            index = stored.setdefault(rows, len(stored))
            views[view].append({**part._asdict(), "shares": index})
    return {
        "unit": UNIT,
        "columns": maps.columns,
        "question": maps.question_index,
        "hidden": (maps.rows, maps.columns) != (maps.table.num_rows, maps.table.num_columns),
        "views": views,
        "stored": list(stored),
    }
