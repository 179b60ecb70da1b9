"""Tables, answers and timings as HTML. All text that comes from outside is escaped here.

No TensorFlow and no gradio are needed. The classes are styled in page.css.
"""

from collections.abc import Collection, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from mate_tf.tables.rendering import kept
from mate_tf.tables.table import Table

MAX_ROWS, MAX_COLUMNS, MAX_CHARACTERS = 60, 20, 160
"""What is shown of a table and of a cell."""

_LEAST_SHOWN = 0.001  # shares below are shown as colour only


class Shading(NamedTuple):
    """Numbers in cells, drawn as colours.

    Attributes:
        kind: "answer" or "attention": which colour.
        values: <float>[rows + 1, columns], the header first; NaN for cells without.
        largest: the value of the strongest colour.
        label: what the values are.
        note: what else is to be said of them.
    """

    kind: str
    values: np.ndarray
    largest: float
    label: str
    note: str = ""


def answer_shading(table: Table, answer) -> Shading:
    """The probabilities of the chosen cells of an `Answer`."""
    values = np.full([table.num_rows + 1, table.num_columns], np.nan)
    for cell in answer.cells:
        values[cell.row + 1, cell.column] = cell.probability
    return Shading("answer", values, 1.0, "probability of a chosen cell")


def table_html(
    table: Table, chosen: Collection[tuple[int, int]] = (), shading: Shading | None = None
) -> str:
    """The table with its legend; what is not shown of it is said below.

    Args:
        table: the table.
        chosen: (row, column) of cells that get a frame, 0-based without the header. They and
            their neighbourhood are shown first.
        shading: colours of the cells.
    """
    chosen = set(chosen)
    rows = kept(table.num_rows, {row for row, _ in chosen}, MAX_ROWS)
    columns = kept(table.num_columns, {column for _, column in chosen}, MAX_COLUMNS)

    def cells(tag, texts, row):
        yield f"<th class=number>{'' if row < 0 else row + 1}</th>"
        following = 0
        for column in columns:
            if column > following:
                yield f"<{tag} class=gap>…</{tag}>"
            following = column + 1
            yield _cell(tag, texts[column], shading, row + 1, column, (row, column) in chosen)
        if following < table.num_columns:
            yield f"<{tag} class=gap>…</{tag}>"

    lines = [f"<thead><tr>{''.join(cells('th', table.columns, -1))}</tr></thead><tbody>"]
    following = 0
    for row in [*rows, table.num_rows]:
        if row > following:
            hidden = f"… {_counted(row - following, 'row')} …"
            lines.append(f"<tr class=gap><td colspan={len(columns) + 3}>{hidden}</td></tr>")
        if row < table.num_rows:
            lines.append(f"<tr>{''.join(cells('td', table.rows[row], row))}</tr>")
        following = row + 1
    kind = shading.kind if shading else "plain"
    return (
        f"<div class='mate-table {kind}'><table>{''.join(lines)}</tbody></table></div>"
        f"<div class=mate-below>{_size(table, rows, columns)}{_legend(shading)}</div>"
    )


def _cell(tag, text: str, shading: Shading | None, place: int, column: int, chosen: bool) -> str:
    """One cell; `place` is its row in the shading, where the header comes first."""
    text = " ".join(text.split())
    text = text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
    classes, style, number = ["chosen"] if chosen else [], "", ""
    value = float(shading.values[place, column]) if shading else np.nan
    if np.isfinite(value):
        classes.append("shaded")
        style = f" style='--share:{min(1.0, value / shading.largest if value else 0.0):.3f}'"
        if chosen or value >= _LEAST_SHOWN:
            number = f"<span class=share>{percent(value)}</span>"
    return f"<{tag} class='{' '.join(classes)}'{style}>{escape(text)}{number}</{tag}>"


def _size(table: Table, rows, columns) -> str:
    size = f"{_counted(table.num_rows, 'row')}, {_counted(table.num_columns, 'column')}"
    if (len(rows), len(columns)) != (table.num_rows, table.num_columns):
        size += f"; shown are {_counted(len(rows), 'row')} and {_counted(len(columns), 'column')}"
    return f"<span>{size}</span>"


def _legend(shading: Shading | None) -> str:
    if shading is None:
        return ""
    note = f"<p>{escape(shading.note)}</p>" if shading.note else ""
    return (
        f"<span class='legend {shading.kind}'>{escape(shading.label)} 0<i></i>"
        f"{percent(shading.largest)}</span>{note}"
    )


def answer_html(turns: Sequence[tuple[str, object]]) -> str:
    """The last of the questions with its answer, below those that came before.

    Args:
        turns: pairs of a question and an `Answer`.
    """
    if not turns:
        return ""
    *before, (question, answer) = turns
    earlier = "".join(
        f"<li>{escape(asked)} <b>{escape(_in_words(old))}</b> {percent(old.probability)}</li>"
        for asked, old in before
    )
    facts = [f"probability {percent(answer.probability)}"]
    if answer.cells:
        facts.append(_counted(len(answer.cells), "cell"))
    if answer.aggregation != "NONE":
        facts.append(f"operation {answer.aggregation}")
    if answer.value is not None:
        facts.append(f"value {answer.value:.15g}")
    cuts = "".join(f"<p class=cut>cut: {escape(cut)}</p>" for cut in answer.cuts)
    return (
        f"{f'<ol class=earlier>{earlier}</ol>' if earlier else ''}<div class=mate-answer>"
        f"<p class=question>{escape(question)}</p><p class=text>{escape(_in_words(answer))}</p>"
        f"<p class=facts>{escape(' · '.join(facts))}</p>{cuts}</div>"
    )


def _in_words(answer) -> str:
    text = answer.text if len(answer.text) <= 1000 else answer.text[:999] + "…"
    return text or "no cell"


def error_html(message: str) -> str:
    """What is wrong with the input."""
    return f"<div class=mate-error role=alert>{escape(message)}</div>" if message else ""


def note_html(message: str) -> str:
    """Something that is good to know."""
    return f"<div class=mate-note>{escape(message)}</div>"


def timings_html(timings: Sequence, caption: str, running: str = "") -> str:
    """Timings as a table with a bar for each, and how often each fits into the slowest one.

    Args:
        timings: each a `speed.Timing`.
        caption: what was timed.
        running: the variant that is being timed.
    """
    slowest = max((timing.seconds for timing in timings), default=1.0)
    rows = [
        f"<tr><td>{escape(timing.name)}</td><td class=number>{1000 * timing.seconds:.1f} ms</td>"
        f"<td class=number>{slowest / timing.seconds:.2f}</td>"
        f"<td class=bar><i style='width:{100 * timing.seconds / slowest:.1f}%'></i></td></tr>"
        for timing in timings
    ]
    if running:
        rows.append(f"<tr class=running><td colspan=4>{escape(running)} is running …</td></tr>")
    head = "<tr><th>attention</th><th>time</th><th>times as fast</th><th class=bar></th></tr>"
    return (
        f"<table class=mate-timings><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
        f"<p class=mate-below>{escape(caption)}</p>"
    )


def percent(share: float) -> str:
    """A share in per cent, with a decimal where it is small."""
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
