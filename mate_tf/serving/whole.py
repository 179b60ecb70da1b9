"""Answers over all rows of a table that a model reads in windows.

What the model selects in the windows tells which of the `answers.programs` the question means. The
answer of each likely program is computed over all rows, and the most probable one is taken. The
weights of the features of an answer are fitted by benchmarks/programs.py.
"""

import dataclasses
import functools
import json
import math
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any

import numpy as np

from mate_tf.answers import asked, expected, programs
from mate_tf.answers.execution import AGGREGATIONS, AVERAGE, COUNT, NONE, SUM
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Explanation, Program
from mate_tf.answers.sheet import Sheet
from mate_tf.evaluation import calibration
from mate_tf.serving.selections import WindowSelections
from mate_tf.tables import column_nouns, pruning
from mate_tf.tables.columns import Kind
from mate_tf.tables.pruning import STOP_WORDS

_MOST_COMPUTED, _COLUMNS = 20, 2
"""Programs whose answers are compared, and columns of the answer of each."""

_WHAT = re.compile(r"\b(?:which|what|whose|how many|how much|name the|list the)((?: [\w'-]+){1,3})")


@functools.cache
def _fitted() -> dict:
    """Reads the weights that benchmarks/programs.py has fitted."""
    return json.loads((resources.files("mate_tf.serving") / "programs.json").read_text("utf-8"))


@dataclasses.dataclass(frozen=True)
class Direct:
    """The cells that a model selected in the part of a table that fits.

    Attributes:
        rows: <int64>[n], rows of the cells.
        column: their column.
        operation: "NONE", "SUM", "AVERAGE" or "COUNT".
        confidence: probability that this is right.
        num_read: rows that were read.
    """

    rows: np.ndarray
    column: int
    operation: str
    confidence: float
    num_read: int


@dataclasses.dataclass(frozen=True)
class WholeAnswer:
    """An answer over a whole table.

    Attributes:
        rows: <int64>[n], rows of the answer's cells.
        column: their column.
        operation: "NONE", "SUM", "AVERAGE" or "COUNT".
        explanation: the program that they follow from; None if they were selected directly.
        features: of the answer, by their names in programs.json.
        num_distinct_of: number of rows of which each value of the column counts once, and has one
            of `rows`; None if all rows count.
    """

    rows: np.ndarray
    column: int
    operation: str
    explanation: Explanation | None
    features: dict[str, float]
    num_distinct_of: int | None = None

    @property
    def score(self) -> float:
        """Log odds that it is right, as one of several answers."""
        weights = _fitted()["weights"]
        return sum(weights.get(name, 0.0) * value for name, value in self.features.items())

    @property
    def probability(self) -> float:
        """Probability that it is right, as the best one of several."""
        weights = _fitted()["confidence"]
        inputs = self.features | {"score": self.score, "bias": 1.0}
        return float(calibration.sigmoid(sum(weights[name] * inputs[name] for name in weights)))

    def outputs(self, shape: tuple[int, int]) -> dict[str, Any]:
        """Returns it as outputs of `ServingModule.serving_examples` for the whole table."""
        selected = np.zeros(shape, np.int32)
        selected[self.rows, self.column] = 1
        operations = np.zeros(len(AGGREGATIONS), np.float32)
        operations[AGGREGATIONS.index(self.operation)] = 1
        return {
            "selected": selected,
            "cell_probabilities": selected * np.float32(self.probability),
            "probability": np.float32(self.probability),
            "aggregation_probabilities": operations,
        }


def note(answer: WholeAnswer, direct: Direct | None, sheet: Sheet) -> str:
    """Says in words from which rows an answer was computed."""
    if answer.explanation is None:
        num_read = 0 if direct is None else direct.num_read
        return f"selected in {num_read:,} of {sheet.num_rows:,} rows"
    count = len(answer.rows) if answer.num_distinct_of is None else answer.num_distinct_of
    rows = f"{count:,} of {sheet.num_rows:,} rows"
    if answer.num_distinct_of is not None:
        rows += f"; each {sheet.names[answer.column]} counts once"
    return f"computed over all rows: {answer.explanation.program} ({rows})"


class Joining:
    """Computes what a question means by what a model selected.

    Args:
        sheet: the table.
        meaning: what the question may mean.
        read: what was selected.
        direct: the cells that the model selected in a part of the table; None: they do not count.
    """

    def __init__(
        self, sheet: Sheet, meaning: Meaning, read: WindowSelections, direct: Direct | None
    ):
        self._sheet, self._meaning, self._read, self._direct = sheet, meaning, read, direct
        self._wanted = asked.operation(meaning.question, sheet.names, sheet.columns)
        self._text = " ".join(meaning.question.lower().split())
        is_distinct = bool(asked.DISTINCT.search(self._text))
        self._repeated = [
            each
            for each in asked.counted(meaning.question, sheet.names)
            if (sheet.columns[each].kind is Kind.TEXT or is_distinct)
            and len(sheet.distinct[each]) < sheet.num_rows
            and each not in meaning.flags
        ]
        self._asked_words = {
            word for match in _WHAT.finditer(self._text) for word in pruning.words(match[1])
        }
        self._is_person = "who" in self._text.split()
        self._asked_words |= {"who"} if self._is_person else set()
        self._is_number = np.array(
            [each.kind in (Kind.NUMBER, Kind.DURATION) for each in sheet.columns], bool
        )
        named = [meaning.named(index) for index in range(len(sheet.names))]
        self._named = np.array([bool(words) for words in named], bool)
        own = [words & {*pruning.words(n)} for words, n in zip(named, sheet.names, strict=True)]
        self._in_full = np.array([bool(words) for words in own], bool)  # not "claim" of "claimed"

    def answers(self) -> list[WholeAnswer]:
        """Returns the answers of the likely programs, the most probable one first."""
        sheet, read, seen, answers = self._sheet, self._read, set(), []
        explained = programs.explain(
            self._meaning.programs, sheet.rows, read.selected, read.windows, read.certain
        )
        for each in explained:
            rows = each.program.rows(sheet.rows)
            if len(seen) < _MOST_COMPUTED and rows.tobytes() not in seen:
                seen.add(rows.tobytes())
                answers += self._computed(each, np.flatnonzero(rows))
        direct = self._direct
        if (
            direct is not None
            and not self._contradicts(direct)
            and not self._meaning.flags
            and not self._meaning.is_denied(Program())
            and self._is_expected(direct, explained)
        ):
            answers.append(self._counted(direct.rows, direct.column, direct.operation, None))
        return sorted(answers, key=lambda each: -each.score)

    def _computed(self, explanation: Explanation, rows: np.ndarray) -> Iterator[WholeAnswer]:
        """Yields the answers of one program, in the likely columns."""
        used = [each.column for each in explanation.program.conditions]
        numbers = self._is_number & self._named
        numbers[used] = False
        wanted = self._wanted
        counts = bool(asked.counted(self._meaning.question, self._sheet.names))
        is_amount = len(rows) == 1 and (numbers & self._in_full).any() and not counts
        if wanted == COUNT and is_amount:
            wanted = asked.AMOUNT  # "how many lamps are in stock"
        elif wanted == asked.AMOUNT and not numbers.any() and "how much" not in self._text:
            wanted = COUNT  # "how many second places"
        operation = asked.for_rows(wanted, len(rows))
        if operation not in AGGREGATIONS:
            operation = NONE
            if self._read.operations is not None and wanted is None:
                operation = AGGREGATIONS[int(np.argmax(self._read.operations))]
                operation = NONE if operation == COUNT else operation  # counts have their words
        weights = self._read.cells + 0.0
        if operation in (SUM, AVERAGE) or (wanted == asked.AMOUNT and numbers.any()):
            weights = np.where(self._is_number, weights + numbers, weights - 2)
        only = expected.mask(self._sheet, self._meaning, explanation.program)
        if operation == NONE and only is not None:
            weights = np.where(only, weights + 2, weights - 2)
        count = 1 if operation == COUNT else _COLUMNS
        for column in np.argsort(-weights, kind="stable")[:count].tolist():
            if weights[column] < 0 < weights.max():
                continue
            yield self._counted(rows, column, operation, explanation)

    def _contradicts(self, direct: Direct) -> bool:
        """Returns whether the words ask for another operation than the model chose."""
        computes = self._wanted in (SUM, AVERAGE)
        counts = self._wanted == COUNT and not self._is_number[direct.column]
        return (computes or counts) and direct.operation != self._wanted

    def _is_expected(self, direct: Direct, explained: Sequence[Explanation]) -> bool:
        """Returns whether the cells that the model selected are in a column that is asked for.

        If a likely program selects the same rows, as it sees it.
        """
        if direct.operation != NONE:
            return True
        base, likely = self._sheet.rows, [each.program for each in explained[:_MOST_COMPUTED]]
        same = [each for each in likely if set(np.flatnonzero(each.rows(base))) == {*direct.rows}]
        if self._meaning.orders_dates and not any(each.order for each in same):
            return False
        only = expected.mask(self._sheet, self._meaning, next(iter(same), Program()))
        return only is None or bool(only[direct.column])

    def _counted(
        self, rows, column: int, operation: str, explanation: Explanation | None
    ) -> WholeAnswer:
        """Returns an answer in which each value counts once, if "how many" asks for values."""
        if operation != COUNT or not (self._repeated or asked.DISTINCT.search(self._text)):
            return self._found(rows, column, operation, explanation)
        column = self._repeated[0] if self._repeated else column
        first = self._sheet.first_of_each(rows, column)
        answer = self._found(first, column, operation, explanation)
        return dataclasses.replace(answer, num_distinct_of=len(rows))

    def _found(
        self, rows, column: int, operation: str, explanation: Explanation | None
    ) -> WholeAnswer:
        features: dict[str, Any] = self._features_of_cells(rows, column, operation)
        if explanation is not None:
            features |= self._features_of_program(explanation, column, operation)
        elif self._direct is not None:
            odds = calibration.log_odds(self._direct.confidence)
            features |= {"direct": 1.0, "odds": odds, "unexplained": float(len(self._content))}
        return WholeAnswer(rows, column, operation, explanation, features)

    @functools.cached_property
    def _content(self) -> set[str]:
        """Words of the question that mean something, without those that name columns."""
        words = set(pruning.words(self._text)) - STOP_WORDS - pruning.usual_words()
        return words - {word for name in self._sheet.names for word in pruning.words(name)}

    def _features_of_cells(self, rows, column: int, operation: str) -> dict[str, float]:
        read, direct = self._read, self._direct
        index, name = AGGREGATIONS.index(operation), self._sheet.names[column]
        is_text = self._sheet.columns[column].kind is Kind.TEXT
        features = {
            "operation": 1.0 if read.operations is None else float(read.operations[index]),
            "column": float(read.cells[column]),
            "asked column": column_nouns.answers(name, self._asked_words)
            or (self._wanted == asked.AMOUNT and self._is_number[column] and self._named[column]),
            "person": self._is_person and is_text,
            "no person": self._is_person and not is_text and operation == NONE,
            "empty": len(rows) == 0,
            "several": operation == NONE and len(rows) > 1,
            "selects": operation == NONE,
            "counts": operation == COUNT,
            "wanted": self._wanted is not None,
            "words": len(self._text.split()) / 10,
            "windows": math.log(len(read.certain)),
        }
        if direct is not None:
            features["rows of direct"] = np.array_equal(rows, direct.rows)
            features["column of direct"] = column == direct.column
            features["operation of direct"] = operation == direct.operation
        return {name: float(value) for name, value in features.items()}

    def _features_of_program(
        self, explanation: Explanation, column: int, operation: str
    ) -> dict[str, float]:
        program, agreement = explanation.program, explanation.agreement
        order, coverage = program.order, explanation.coverage
        is_all = not program.conditions and order is None
        features = {
            "unexplained": len(self._content - program.said),
            "agreement": agreement,
            "coverage": coverage,
            "conditions": len(program.conditions),
            "named": sum(each.is_named for each in program.conditions),
            "fit": sum(each.fit for each in program.conditions),
            "partial": sum(" has " in each.text for each in program.conditions),
            "negated": sum(each.text.startswith("not ") for each in program.conditions),
            "step": program.step != 0,
            "step, coverage": (program.step != 0) * coverage,
            "all": is_all,
            "all, agreement": is_all * agreement,
            "selects, agreement": (operation == NONE) * agreement,
            "counts, agreement": (operation == COUNT) * agreement,
            "own condition": column in {each.column for each in program.conditions},
        }
        if order is not None:
            use = "highest" if order.is_largest else "lowest"
            features |= {
                "order": 1,
                "order, computed": operation != NONE,
                "order, fit": order.fit,
                "order, place": order.column is None,
                "order, named": order.column is not None
                and bool(self._meaning.named(order.column, use)),
                "order, own": order.column == column,
            }
        return {name: float(value) for name, value in features.items()}
