"""Questions in, answers out, from an exported model."""

import dataclasses
import re

import numpy as np
import tensorflow as tf

from mate_tf.answers import execution
from mate_tf.answers.execution import AGGREGATIONS
from mate_tf.data import interactions
from mate_tf.data.converters.tokenizer import MAX_WORD_CHARACTERS
from mate_tf.evaluation.denotation import numbers_at
from mate_tf.serving.exported import ExportedModel
from mate_tf.tables.table import Table

# A run of letters and digits; ideographs are words by themselves.
_TOO_LONG_WORD = re.compile(rf"[^\W_\u3400-\u9fff]{{{MAX_WORD_CHARACTERS + 1}}}")


@dataclasses.dataclass(frozen=True)
class AnswerCell:
    """A chosen cell. `row` and `column` count from 0; the header is not a row."""

    row: int
    column: int
    text: str
    probability: float


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a model says to a question.

    Attributes:
        cells: the chosen cells in table order.
        aggregation: operation over the cells, "NONE" for the cells themselves.
        value: number the operation gives, None without one.
        probability: of the answer. Of cells, 0 without any: models whose cells share one
            distribution give the sum over the chosen ones, others the mean over them. Of a class:
            its probability.
        text: the answer in words: the number, the texts of the cells, separated by commas, or the
            name of the class.
        cuts: what was not read or not used, in words; empty if all of it was.
    """

    cells: tuple[AnswerCell, ...]
    aggregation: str
    value: float | None
    probability: float
    text: str
    cuts: tuple[str, ...] = ()

    @property
    def coordinates(self) -> list[tuple[int, int]]:
        """(row, column) of each cell."""
        return [(cell.row, cell.column) for cell in self.cells]

    def to_json(self) -> dict:
        """The answer as plain JSON values."""
        return dataclasses.asdict(self)


class Predictor:
    """Answers questions about tables with a SavedModel written by `mate_tf.serving.export`.

    Loading takes seconds, an answer milliseconds: keep the object.

        predictor = mate_tf.Predictor("out/quickstart/model/export")
        answer = predictor.ask(mate_tf.Table.from_csv("my.csv"), "who has the highest score?")

    Args:
        saved_model_dir: folder of the SavedModel.

    Raises:
        InputError: if there is no SavedModel of mate-tf.
    """

    def __init__(self, saved_model_dir: str):
        self._model = ExportedModel(saved_model_dir)

    def ask(self, table: Table, question: str, previous: Answer | None = None) -> Answer:
        """Answers one question.

        Args:
            table: the table.
            question: the question.
            previous: the answer to the question before, if this one refers to it. Its cells that
                are not read this time are forgotten.

        Returns:
            The answer; its `cuts` say what was not read.

        Raises:
            InputError: if question and table cannot be brought into the model's length.
        """
        interaction, example, notes = self._convert(table, question, previous)
        (outputs,) = self._model(example)
        if "class_probabilities" in outputs:
            return self._class(outputs["class_probabilities"], notes)
        return _cells(interaction.table, table, outputs, notes)

    def example(
        self, table: Table, question: str, previous: Answer | None = None
    ) -> tf.train.Example:
        """What the model reads when it is asked; arguments and errors are those of `ask`."""
        _, example, _ = self._convert(table, question, previous)
        return example

    def _convert(self, table, question, previous):
        """Interaction, example, and what is to be said of what is not in the example."""
        asked = interactions.Question(id="ask-0_0", text=question)
        interaction = interactions.interaction_from_table(table, "ask-0", [asked])
        example, cuts = self._model.converter.conversion(interaction, 0)
        notes = [str(cut) for cut in cuts] + _unknown_words(table)
        if previous is not None:
            notes += _refer_to(previous, example)
        return interaction, example, notes

    def _class(self, probabilities: np.ndarray, cuts: list[str]) -> Answer:
        index = int(np.argmax(probabilities))
        named = index < len(self._model.class_names)
        return Answer(
            cells=(),
            aggregation=execution.NONE,
            value=None,
            probability=float(probabilities[index]),
            text=self._model.class_names[index] if named else str(index),
            cuts=tuple(cuts),
        )


def _unknown_words(table: Table) -> list[str]:
    """What to say of cells with a word so long that no vocabulary spells it."""
    count = sum(1 for cell in table.cells() if _TOO_LONG_WORD.search(cell.text))
    if not count:
        return []
    return [f"{count} cells with a word of more than {MAX_WORD_CHARACTERS} characters, not read"]


def _refer_to(previous: Answer, example: tf.train.Example) -> list[str]:
    """Marks the previous answer in the example; says which part of it is not there."""
    features = example.features.feature
    rows, columns = (features[name].int64_list.value for name in ("row_ids", "column_ids"))
    tokens = [(row - 1, column - 1) for row, column in zip(rows, columns, strict=True)]
    cells = set(previous.coordinates)
    features["prev_label_ids"].int64_list.value[:] = [int(cell in cells) for cell in tokens]
    forgotten = len(cells - set(tokens))
    return [f"{forgotten} cells of the previous answer forgotten"] if forgotten else []


def _cells(annotated, table: Table, outputs: dict[str, np.ndarray], cuts: list[str]) -> Answer:
    """From the signature's outputs for one question to the answer's cells and what they give.

    Args:
        annotated: the proto of the table, with the numbers in its cells.
    """
    cells = tuple(
        AnswerCell(
            row, column, table.rows[row][column], float(outputs["cell_probabilities"][row, column])
        )
        for row, column in np.argwhere(outputs["selected"]).tolist()
    )
    aggregation = execution.NONE
    if "aggregation_probabilities" in outputs:
        aggregation = AGGREGATIONS[int(np.argmax(outputs["aggregation_probabilities"]))]
    texts = [cell.text for cell in cells]
    numbers = numbers_at(annotated, [(cell.row, cell.column) for cell in cells])
    value, text = execution.result(aggregation, texts, numbers)
    return Answer(
        cells=cells,
        aggregation=aggregation,
        value=value,
        probability=float(outputs["probability"]),
        text=text,
        cuts=tuple(cuts),
    )
