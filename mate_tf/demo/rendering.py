"""Answers and timings as HTML. All text from users and tables is escaped here.

Needs neither TensorFlow nor gradio. page.css has the styles of the classes.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from mate_tf.serving.notes import NO_ANSWER, how_sure, is_unsure
from mate_tf.tables import html
from mate_tf.tables.table import Table
from mate_tf.tables.text import counted, percent


def answer_shading(table: Table, answer) -> html.Shading:
    """Returns a shading of the table by the probabilities of an `Answer`'s selected cells."""
    values = np.full([table.num_rows + 1, table.num_columns], np.nan)
    for cell in answer.cells:
        values[cell.row + 1, cell.column] = cell.probability
    return html.Shading("answer", values, 1.0, "probability of a chosen cell")


def answer_html(turns: Sequence[tuple[str, Any]]) -> str:
    """Returns the HTML of the last question and answer, below the earlier ones.

    Args:
        turns: pairs of a question and an `Answer`.
    """
    if not turns:
        return ""
    *before, (question, answer) = turns
    earlier = "".join(f"<li>{escape(text)} {_in_words(old)}</li>" for text, old in before)
    facts = [f"probability {percent(answer.probability)}"]
    if not answer.answerable:
        guess = answer.text and f"best guess: {_shortened(answer.text)}"
        facts = [each for each in (guess, how_sure(answer), *facts) if each]
    if answer.cells:
        facts.append(counted(len(answer.cells), "cell"))
    if answer.aggregation != "NONE":
        facts.append(f"operation {answer.aggregation}")
    if answer.value is not None:
        facts.append(f"value {answer.value:.15g}")
    remarks = "".join(f"<p class=note>{escape(note)}</p>" for note in answer.notes)
    remarks += "".join(f"<p class=cut>cut: {escape(cut)}</p>" for cut in answer.cuts)
    kind = " unsure" if is_unsure(answer) else "" if answer.answerable else " unanswered"
    return (
        f"{f'<ol class=earlier>{earlier}</ol>' if earlier else ''}<div class='mate-answer{kind}'>"
        f"<p class=question>{escape(question)}</p><p class=text>{_in_words(answer)}</p>"
        f"<p class=facts>{escape(' · '.join(facts))}</p>{remarks}</div>"
    )


def _in_words(answer) -> str:
    """Returns the HTML of an answer's text and, if there is one, its confidence."""
    if not answer.answerable:
        return f"<b>{NO_ANSWER}</b>"
    sure = how_sure(answer)
    sure = f" <span class=sure>({escape(sure)})</span>" if sure else ""
    return f"<b>{escape(_shortened(answer.text))}</b>{sure}"


def _shortened(text: str) -> str:
    return text if len(text) <= 1000 else text[:999] + "…"


def error_html(message: str) -> str:
    """Returns the HTML of an error message; "" for no message."""
    return f"<div class=mate-error role=alert>{escape(message)}</div>" if message else ""


def title_html(title: str, model: str) -> str:
    """Returns the HTML of the page's title, with the model's name below."""
    return f"<h1>{escape(title)}</h1><p class=model>model: {escape(model)}</p>"


def note_html(message: str) -> str:
    """Returns the HTML of a note."""
    return f"<div class=mate-note>{escape(message)}</div>"


def timings_html(timings: Sequence, caption: str, running: str = "") -> str:
    """Returns timings as an HTML table, with a bar and the speed relative to the slowest variant.

    Args:
        timings: sequence of `speed.Timing`.
        caption: description of the measurement.
        running: name of the variant that is being timed; "" if none is.
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
