"""Finds the cells of an answer that is given as text only.

Weakly supervised data (WikiTableQuestions, the answers of WikiSQL) gives the text of an answer but
not its cells. The rules are those of the public TAPAS code, so that both make equal examples.
"""

import enum
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from mate_tf.errors import InputError
from mate_tf.tables.numbers import to_float32
from mate_tf.tables.table import Table
from mate_tf.tables.text import NORMALIZERS, convert_to_float

Coordinate = tuple[int, int]


class AnswerError(InputError):
    """Error for an answer with neither cells nor a number, which gives no training example.

    Attributes:
      reason: a short fixed text, by which errors can be counted.
    """

    def __init__(self, message: str, reason: str = ""):
        super().__init__(message)
        self.reason = reason or message


class SupervisionMode(enum.Enum):
    """Treatment of the coordinates and the number that a data set gives for an answer."""

    NONE = "none"
    """Keeps them."""
    REMOVE_ALL = "remove_all"
    """Removes them and finds new ones from the texts."""
    REMOVE_ALL_STRICT = "remove_all_strict"
    """Does the same as REMOVE_ALL; a text that is in several cells is an error."""


@dataclass(frozen=True)
class GoldAnswer:
    """Gold answer of a data set.

    Attributes:
      texts: one or more answer strings.
      coordinates: (row, column) of the answer's cells, 0-based without the header.
      float_value: value of a numeric answer, rounded to float32; None for other answers.
    """

    texts: tuple[str, ...] = ()
    coordinates: tuple[Coordinate, ...] = ()
    float_value: float | None = None


def answer_at(table: Table, coordinates: Iterable[Coordinate]) -> GoldAnswer:
    """Returns the answer that consists of the cells at the given (row, column).

    Raises:
      AnswerError: if a coordinate is outside the table.
    """
    coordinates = tuple((int(row), int(column)) for row, column in coordinates)
    for row, column in coordinates:
        if not (0 <= row < table.num_rows and 0 <= column < table.num_columns):
            raise AnswerError(
                f"{table.table_id or 'table'}: no cell at row {row}, column {column} "
                f"(0-based; the table has {table.num_rows} rows and {table.num_columns} columns)"
            )
    texts = tuple(table.rows[row][column] for row, column in coordinates)
    return GoldAnswer(texts, coordinates)


def parse_answer(
    table: Table, answer: GoldAnswer, mode: SupervisionMode = SupervisionMode.REMOVE_ALL
) -> GoldAnswer:
    """Finds the cells and the number of an answer's texts.

    The number is set if there is one text and it is a number, also if a cell was found. If a given
    `float_value` differs from the number of the texts, it replaces the texts.

    Raises:
      AnswerError: if there is no text, or neither cells nor a number are found. In strict mode also
        if a text is in several cells, even if it is a number.
    """
    if mode is SupervisionMode.NONE:
        return answer
    texts = answer.texts
    if answer.float_value is not None and _float_of(texts) != to_float32(answer.float_value):
        texts = (format_number(answer.float_value),)
    if not texts:
        raise AnswerError("No answer_texts provided", "no text")

    strict = mode is SupervisionMode.REMOVE_ALL_STRICT
    coordinates: tuple[Coordinate, ...] = ()
    reasons, reason = "", ""
    try:
        coordinates = find_coordinates(table, texts, strict=strict)
    except AnswerError as error:
        reasons, reason = f"[answer_coordinates: {error}]", error.reason
        if strict:
            raise AnswerError(f"Cannot parse answer: {reasons}", reason) from None
    float_value = _float_of(texts)
    if not coordinates and float_value is None:
        problem = (
            "Cannot convert to multiple answers to single float"
            if len(texts) > 1
            else "Unable to convert value to float"
        )
        if not reason:
            reason = "not all texts are cells" if len(texts) > 1 else "neither a cell nor a number"
        raise AnswerError(f"Cannot parse answer: {reasons}[float_value: {problem}]", reason)
    return replace(answer, texts=texts, coordinates=coordinates, float_value=float_value)


def find_coordinates(
    table: Table, texts: Iterable[str], *, strict: bool = False
) -> tuple[Coordinate, ...]:
    """Finds a different cell for each text; returns () if a text has no cell.

    Texts and cells are compared in the normal forms of `text.NORMALIZERS`, the strictest form
    first. The first form in which every text has its own cell is used.

    Raises:
      AnswerError: if, in the loosest form, two texts have the same cell or (strict) a text has
        several cells.
    """
    texts = tuple(texts)
    for normalize in NORMALIZERS:
        try:
            coordinates = _assign(table, texts, normalize, strict)
        except AnswerError:
            if normalize is NORMALIZERS[-1]:
                raise
        else:
            if coordinates:
                return coordinates
    return ()


def _assign(
    table: Table, texts: tuple[str, ...], normalize: Callable[[str], Hashable], strict: bool
) -> tuple[Coordinate, ...]:
    """Assigns each text the first of its cells.

    The reference solves an assignment problem here (Hungarian algorithm), but only after it has
    excluded that two texts have a cell in common. The solution is then the first cell of each text.
    """
    cells = _cells_by_form(table, normalize)
    keys = [normalize(text) for text in texts]
    for key in keys:
        if key not in cells:
            return ()
        if strict and len(cells[key]) > 1:
            raise AnswerError("Found multiple cells for answers", "in several cells")
    if len(set(keys)) < len(keys):
        raise AnswerError("Assignment is ambiguous", "two texts are the same cell")
    return tuple(cells[key][0] for key in keys)


@lru_cache(maxsize=16)  # data sets are read table by table
def _cells_by_form(
    table: Table, normalize: Callable[[str], Hashable]
) -> dict[Hashable, list[Coordinate]]:
    """Returns, for each normal form of a cell's text, the coordinates of its cells by rows."""
    cells: dict[Hashable, list[Coordinate]] = {}
    for row, texts in enumerate(table.rows):
        for column, text in enumerate(texts):
            cells.setdefault(normalize(text), []).append((row, column))
    return cells


def _float_of(texts: tuple[str, ...]) -> float | None:
    """Returns the number of a single text, as float32; None for several texts and for words."""
    if len(texts) != 1:
        return None
    try:
        return to_float32(convert_to_float(texts[0]))
    except ValueError:
        return None


def format_number(number: float) -> str:
    """Formats a number; an integer has no decimal point."""
    return str(int(number)) if float(number).is_integer() else str(float(number))
