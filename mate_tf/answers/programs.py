"""Programs that a question may mean, and which of them the selections of a model agree on.

A program is a set of conditions on the rows of a table, and perhaps the largest or smallest value
of a column among them. A model that reads a long table in windows shows in each of them what it
takes the question for. The program that explains most of the selections is then computed exactly
over all rows. `sheet` finds the programs. Does not import TensorFlow.
"""

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

_PRESENT = 0.75
"""Weight of the windows in which a program selects rows; the others should have no answer."""

_COVERED, _FIT = 0.7, 0.2
"""Weights of the words that a program uses and of the fit of its order; agreement has weight 1."""


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition on the rows of a table.

    Attributes:
        column: the column, from 0.
        rows: <bool>[rows], where it is met.
        said: words of the question that it is made of, and those that name its column.
        text: in words, such as "City is Bern".
        value: the number or date that it is about; "" for a text.
        is_named: the question names the column.
        fit: 1 if the words fit the kind of the column, as "after" fits dates; -1 if they do not; 0
            if they fit all kinds.
    """

    column: int
    rows: np.ndarray
    said: frozenset[str]
    text: str
    value: str = ""
    is_named: bool = False
    fit: int = 0

    def __or__(self, other: "Condition") -> "Condition":
        said, text = self.said | other.said, f"{self.text} or {other.text}"
        return dataclasses.replace(self, rows=self.rows | other.rows, said=said, text=text)

    def __invert__(self) -> "Condition":
        return dataclasses.replace(self, rows=~self.rows, text=f"not {self.text}")


@dataclasses.dataclass(frozen=True)
class Order:
    """The largest or smallest value of a column.

    Attributes:
        column: the column, from 0; None for the position of the row.
        is_largest: the largest one.
        ranks: <int64>[rows], larger for larger values; 0 if there is no value.
        said: words of the question that it is made of, and those that name its column.
        text: in words, such as "largest Price".
        fit: how well the words fit the kind of the column, 0 to 1.
    """

    column: int | None
    is_largest: bool
    ranks: np.ndarray
    said: frozenset[str]
    text: str
    fit: float

    def best(self, rows: np.ndarray, windows: np.ndarray) -> np.ndarray:
        """Returns which of `rows` <bool>[rows] have the best value of their window.

        Args:
            rows: rows that count.
            windows: <int64>[rows], number of the window of each row, from 0.
        """
        rows = rows & (self.ranks > 0)
        keys = self.ranks if self.is_largest else self.ranks.max(initial=0) + 1 - self.ranks
        top = np.zeros(windows.max(initial=0) + 1, keys.dtype)
        np.maximum.at(top, windows[rows], keys[rows])
        return rows & (keys == top[windows])


@dataclasses.dataclass(frozen=True)
class Program:
    """Conditions on rows, and perhaps an order of them or a step to a neighbour.

    Attributes:
        conditions: the rows meet all of them.
        order: they have its best value; None for no order.
        step: 1 for the rows after those, -1 for the rows before them.
        step_word: the word of the question that asks for it.
    """

    conditions: tuple[Condition, ...] = ()
    order: Order | None = None
    step: int = 0
    step_word: str = ""

    @property
    def said(self) -> frozenset[str]:
        """Words of the question that it is made of."""
        parts = (*self.conditions, self.order) if self.order is not None else self.conditions
        return frozenset().union([self.step_word] if self.step else [], *(p.said for p in parts))

    @property
    def columns(self) -> list[int]:
        """The columns of its conditions and of its order, sorted."""
        used = {each.column for each in self.conditions}
        if self.order is not None and self.order.column is not None:
            used.add(self.order.column)
        return sorted(used)

    def __str__(self):
        text = " and ".join(each.text for each in self.conditions)
        if self.order is not None:
            text = f"{self.order.text} where {text}" if text else self.order.text
        where = {1: "the row after ", 0: "", -1: "the row before "}[self.step]
        return where + (text or "all rows")

    def rows(self, base: np.ndarray, windows: np.ndarray | None = None) -> np.ndarray:
        """Returns the rows that it selects, <bool>[rows].

        Args:
            base: <bool>[rows], rows that count.
            windows: <int64>[rows], number of the window of each row. An order is one of the rows of
                a window then, and those of number -1 do not count. None: of all rows.
        """
        chosen = functools.reduce(np.logical_and, (each.rows for each in self.conditions), base)
        if self.order is not None:
            if windows is None:
                chosen = self.order.best(chosen, np.zeros(len(chosen), int))
            else:
                chosen = self.order.best(chosen & (windows >= 0), np.maximum(windows, 0))
        if self.step:
            moved = np.zeros_like(chosen)
            moved[max(self.step, 0) : len(chosen) + min(self.step, 0)] = chosen[
                max(-self.step, 0) : len(chosen) - max(self.step, 0)
            ]
            chosen = moved & base
        return chosen


@dataclasses.dataclass(frozen=True)
class Explanation:
    """A program and how well it explains what a model selected.

    Attributes:
        program: the program.
        agreement: mean overlap with the selections over the windows, 0 to 1.
        coverage: share that it uses of the words that programs can use.
    """

    program: Program
    agreement: float
    coverage: float

    @property
    def score(self) -> float:
        """By which explanations are chosen."""
        order = self.program.order
        fit = 0.0 if order is None else _FIT * order.fit
        return self.agreement + _COVERED * self.coverage + fit - len(self.program.conditions) / 50


def explain(
    programs: Sequence[Program],
    rows: np.ndarray,
    selected: np.ndarray,
    windows: np.ndarray,
    certain: np.ndarray,
) -> list[Explanation]:
    """Compares programs with the selections of a model; the best one first.

    Args:
        programs: what the question may mean.
        rows: <bool>[rows], rows that count; those of totals do not.
        selected: <bool>[rows], rows with a selected cell.
        windows: <int64>[rows], number of the window that has the row; -1: none has.
        certain: <float>[windows], probability that the window has a part of the answer.
    """
    read = np.flatnonzero(windows >= 0)
    own, selected, explanations = windows[read], selected[read], []
    words = frozenset().union(*(each.said for each in programs))
    for program in programs:
        meant = program.rows(rows, windows)[read]
        both, either, has_rows = (
            np.bincount(own[each], minlength=len(certain))
            for each in (meant & selected, meant | selected, meant)
        )
        overlap, has_rows = certain * both / np.maximum(either, 1), has_rows > 0
        present = overlap[has_rows].mean() if has_rows.any() else 0.0
        absent = (1 - certain[~has_rows]).mean() if not has_rows.all() else present
        agreement = _PRESENT * present + (1 - _PRESENT) * absent
        coverage = len(program.said) / len(words) if words else 1.0
        explanations.append(Explanation(program, float(agreement), coverage))
    return sorted(explanations, key=lambda each: -each.score)
