"""A table as generated questions see it: names of its rows, wordings, and random conditions."""

import random
import re
from collections.abc import Sequence

from mate_tf.data.generation import wordings as wordings
from mate_tf.data.generation.mentionable_columns import LONGEST_CELL, Column, Sheet, is_name
from mate_tf.tables.table import Table
from mate_tf.tables.text import format_text

_DISTINCT = 0.8  # share of different texts in a column that names the rows
_PARENTHESES = re.compile(r"\s*[(\[].*?[)\]]")


class Subject:
    """A table, the column that names its rows, and the source of random choices.

    Attributes:
        sheet: the columns that can be mentioned.
        key: the column that names the rows: the first one with different texts that are not
            numbers, or else with different texts.
        others: columns besides the key.
        rows: numbers of the rows.
        ordered: those of the others with numbers or dates, ranks excluded.
        exact: those of them with numbers that can be added.
    """

    def __init__(self, table: Table, rng: random.Random):
        self.rng = rng
        self.sheet = sheet = Sheet(table)
        named = [column for column in sheet.columns if _names_rows(column)]
        texts = [column for column in named if not column.values]
        self.key = (texts or named or [None])[0]
        self.others = [column for column in sheet.columns if column is not self.key]
        self.rows = range(sheet.num_rows)
        self.ordered = [
            column for column in sheet.ordered if column is not self.key and not is_rank(column)
        ]
        self.exact = [
            column
            for column in sheet.exact
            if column is not self.key and not is_year(column) and not is_rank(column)
        ]

    def row_with_name(self, column: Column) -> int | None:
        """Draws a row whose cell of a column can be mentioned and differs from all others."""
        row = self.rng.choice(self.rows)
        if not is_name(column.keys[row]) or len(column.cells[row]) > LONGEST_CELL:
            return None
        return row if self.equal(column, row) == [row] else None

    def equal(self, column: Column, row: int) -> list[int] | None:
        """Returns the rows with the same cell; None if two spellings make that unclear."""
        rows = [other for other in self.rows if not column.differ(row, other)]
        spellings = {column.keys[other] for other in rows}
        return rows if len(spellings) == 1 else None

    def noun(self, column: Column) -> str:
        """Returns the name of a column as a question has it."""
        name = " ".join(column.name.lower().replace("_", " ").replace("\n", " ").split())
        short = _PARENTHESES.sub("", name).strip() or name
        return short if self.rng.random() < 0.8 else name

    def name(self, column: Column, row: int) -> str:
        """Returns a cell as a question has it."""
        cell = column.cells[row]
        short = _PARENTHESES.sub("", cell).strip() or cell
        same = [other for other in self.rows if _PARENTHESES.sub("", column.cells[other]) == short]
        if len(same) == 1 and self.rng.random() < 0.7:
            cell = short
        words = cell.split()
        # People are often called by their last name.
        if len(words) == 2 and not column.values and self.rng.random() < 0.1:
            last = format_text(words[1])
            sharing = [key for key in column.keys if last in key.split()]
            if len(sharing) == 1 and is_name(last):
                cell = words[1]
        return cell.lower() if self.rng.random() < 0.3 else cell

    def say(self, choices: Sequence[str], special: Sequence[str] = (), **values) -> str:
        """Fills in a wording, in half of the draws one of the special ones if there are any."""
        rng = self.rng
        text = rng.choice(special if special and rng.random() < 0.5 else choices)
        key = self.noun(self.key) if self.key else "row"
        keys = wordings.plural(key)
        person = self.key is not None and wordings.is_person(key)
        named = key in ("name", "names")
        people = (person and rng.random() < 0.5) or (named and rng.random() < 0.4)
        values = {"when": "", **values}
        one = "who" if people else f"{rng.choice(('which', 'which', 'what'))} {key}"
        several = "who" if people else f"{rng.choice(('which', 'which', 'what'))} {keys}"
        text = text.format(key=key, keys=keys, one=one, all=several, **values)
        text = re.sub(r"\bwho (have|had|are|were)\b", _singular_verb, text)
        if rng.random() < 0.15:
            text = text.rstrip("?")
        return text[0].upper() + text[1:] if rng.random() < 0.3 else text

    def condition(self) -> tuple[str, list[int], Column | None]:
        """Draws words of a condition, the rows that meet it, and its column."""
        everything = "", list(self.rows), None
        if self.rng.random() < 0.7 or not self.others:
            return everything
        column, row = self.rng.choice(self.others), self.rng.choice(self.rows)
        rows = self.equal(column, row)
        if rows is None or len(rows) < 2 or not is_name(column.keys[row]):
            return everything
        words = self.rng.choice(wordings.WHEN)
        words = words.format(c=self.noun(column), value=self.name(column, row))
        return words, rows, column


def _singular_verb(match: re.Match) -> str:
    verb = {"have": "has", "are": "is", "were": "was"}.get(match[1], match[1])
    return f"who {verb}"


def _names_rows(column: Column) -> bool:
    distinct = len(set(column.keys)) >= _DISTINCT * len(column.keys)
    return distinct and all(map(is_name, column.keys))


def is_year(column: Column) -> bool:
    """Returns True if all values are numbers of years."""
    numbers = column.values
    return all(isinstance(v, float) and v.is_integer() and 1700 <= v <= 2100 for v in numbers)


def is_rank(column: Column) -> bool:
    """Returns True if the name says that the values are places or numbers of the rows."""
    words = set(format_text(column.name).split())
    return bool(words & {"rank", "pos", "position", "no", "place", "id", "number", "week", "round"})


def is_time(column: Column) -> bool:
    """Returns True if the values are dates or years: none is "more" than another."""
    return isinstance(column.values[0], tuple) or is_year(column)
