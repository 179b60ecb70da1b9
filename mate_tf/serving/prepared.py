"""Tables that are read once and asked about several times."""

import dataclasses
import functools
import pathlib
import re
from collections.abc import Iterable
from typing import Any

from mate_tf.answers.sheet import Sheet
from mate_tf.data import interactions
from mate_tf.data.converters.tokenizer import MAX_WORD_CHARACTERS
from mate_tf.errors import InputError
from mate_tf.evaluation import unanswerable
from mate_tf.protos import interaction_pb2
from mate_tf.tables import column_nouns, columns, totals
from mate_tf.tables.any_table import as_table
from mate_tf.tables.foreign_headers import with_english
from mate_tf.tables.table import Table
from mate_tf.tables.text import is_unicode, spoken

_ID = "ask-0"

# A run of letters and digits. Ideographs are excluded since each one is a word by itself.
_TOO_LONG_WORD = re.compile(rf"[^\W_\u3400-\u9fff]{{{MAX_WORD_CHARACTERS + 1}}}")


class PreparedTable:
    """A table with everything that does not depend on the question: its numbers, dates and words.

    `Predictor.prepare` makes one. It fits every model.

    Args:
        given: the table, in any form that `tables.any_table.as_table` takes.

    Attributes:
        table: the `Table`.
        names: names of the columns as people say them, see `text.spoken`; those in some other
            languages with English words behind them, see `foreign_headers`.
    """

    def __init__(self, given: Any):
        self.table: Table = as_table(given)
        self.names = with_english([spoken(name) for name in self.table.columns])
        read = self.table
        if self.names != read.columns:
            read = dataclasses.replace(read, columns=self.names)
        self._annotated = interactions.interaction_from_table(read, _ID, []).table

    @classmethod
    def of(cls, given: Any) -> "PreparedTable":
        """Returns a prepared table as it is, and prepares any other one."""
        return given if isinstance(given, cls) else cls(given)

    @functools.cached_property
    def columns(self) -> list[columns.Column]:
        """Kinds of the columns and values of their cells, see `tables.columns`."""
        texts = [self.table.column(index) for index in range(self.table.num_columns)]
        return columns.read(self.names, texts)

    @functools.cached_property
    def totals(self) -> frozenset[int]:
        """Rows that are totals of the others, see `tables.totals`."""
        return totals.rows(self.table.rows, self.columns)

    @functools.cached_property
    def sheet(self) -> Sheet:
        """The table as programs see it."""
        texts = [self.table.column(index) for index in range(self.table.num_columns)]
        table = self.table
        file_name = spoken(pathlib.PurePath(table.table_id).stem).replace("_", " ")
        title = f"{table.title} {table.heading} {table.caption} {file_name}"
        return Sheet(self.names, texts, self.columns, self.totals, title)

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """Words of the table, see `unanswerable.words_of`, and others that name its columns."""
        words = unanswerable.words_of([self.names, self.table.columns, *self.table.rows])
        return words.union(*map(column_nouns.words, self.names))

    @functools.cached_property
    def unknown_words(self) -> list[str]:
        """Description of cells with words that are too long for the tokenizer; [] without them."""
        count = sum(1 for cell in self.table.cells() if _TOO_LONG_WORD.search(cell.text))
        if not count:
            return []
        return [
            f"{count} cells with a word of more than {MAX_WORD_CHARACTERS} characters, not read"
        ]

    def interaction(self, question: str) -> interaction_pb2.Interaction:
        """Returns an interaction of the table and one question, annotated."""
        interaction = interaction_pb2.Interaction(id=_ID, table=self._annotated)
        interaction.questions.add(id=f"{_ID}_0", original_text=question)
        interactions.annotate(interaction)
        return interaction


def question(text: str) -> str:
    """Checks a question and returns it.

    Raises:
        InputError: if it is not text, empty, or has a lone surrogate.
    """
    if not isinstance(text, str):
        raise InputError(f"a question must be text, not {text!r}")
    if not text.strip():
        raise InputError("the question is empty")
    if not is_unicode(text):
        raise InputError(f"the question is not valid Unicode: {text!a}")
    return text


def pairs(given: Iterable) -> list[tuple[Any, str]]:
    """Checks (table, question) pairs and returns them as a list.

    Raises:
        InputError: if one is not a pair, or for its question, as `question`.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"expected (table, question) pairs, not {type(given).__name__}")
    given_pairs = list(given)
    for number, each in enumerate(given_pairs, start=1):
        if not isinstance(each, tuple | list) or len(each) != 2:
            size = f" of {len(each)}" if isinstance(each, tuple | list) else ""
            raise InputError(
                f"pair {number}: expected a table and a question, not {type(each).__name__}{size}"
            )
    return [(table, question(text)) for table, text in given_pairs]


def questions(texts: Iterable[str]) -> list[str]:
    """Checks questions and returns them as a list.

    Raises:
        InputError: if it is not a list, or a question is not text, or empty.
    """
    if not isinstance(texts, Iterable):
        raise InputError(f"a question must be text, not {texts!r}")
    return [question(text) for text in texts]
