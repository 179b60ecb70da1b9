"""Answers questions about tables with an exported model."""

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

# A run of letters and digits. Ideographs are excluded since each one is a word by itself.
_TOO_LONG_WORD = re.compile(rf"[^\W_\u3400-\u9fff]{{{MAX_WORD_CHARACTERS + 1}}}")


@dataclasses.dataclass(frozen=True)
class AnswerCell:
    """A selected cell. `row` and `column` count from 0; the header is not a row."""

    row: int
    column: int
    text: str
    probability: float


@dataclasses.dataclass(frozen=True)
class Answer:
    """Answer of a model to one question.

    Attributes:
        cells: the selected cells in table order.
        aggregation: operation over the cells: "NONE", "SUM", "AVERAGE" or "COUNT".
        value: result of the operation; None for "NONE" and for cells without numbers.
        probability: probability of the answer. For a class: its probability. For cells that share
            one distribution (`cell_cross_entropy`): the sum of the cells' probabilities. For cells
            with independent probabilities: their mean. 0 without cells.
        text: the answer as text: the value, the texts of the cells, separated by commas, or the
            name of the class.
        cuts: descriptions of the parts of table, question and previous answer that the model did
            not read; empty if it read everything.
    """

    cells: tuple[AnswerCell, ...]
    aggregation: str
    value: float | None
    probability: float
    text: str
    cuts: tuple[str, ...] = ()

    @property
    def coordinates(self) -> list[tuple[int, int]]:
        """Returns (row, column) of each cell."""
        return [(cell.row, cell.column) for cell in self.cells]

    def to_json(self) -> dict:
        """Returns the fields as a dict of plain JSON values."""
        return dataclasses.asdict(self)


class Predictor:
    """Answers questions about tables with a SavedModel written by `mate_tf.serving.export`.

    Loading takes seconds and an answer takes milliseconds, so make one object and keep it.

        predictor = mate_tf.Predictor("out/quickstart/model/export")
        answer = predictor.ask(mate_tf.Table.from_csv("my.csv"), "who has the highest score?")

    Args:
        saved_model_dir: folder of the SavedModel.

    Raises:
        InputError: if the folder has no SavedModel of mate-tf, or its model reads no tables.
    """

    def __init__(self, saved_model_dir: str):
        self._model = ExportedModel(saved_model_dir)

    def ask(self, table: Table, question: str, previous: Answer | None = None) -> Answer:
        """Answers one question.

        Args:
            table: the table.
            question: the question.
            previous: the answer to the previous question, if this question refers to it. Cells of
                it that the model does not read this time are ignored.

        Returns:
            The answer. Its `cuts` name the parts that were not read.

        Raises:
            InputError: if question and table cannot be shortened to the model's length.
        """
        interaction, example, notes = self._convert(table, question, previous)
        (outputs,) = self._model(example)
        if "class_probabilities" in outputs:
            return self._class(outputs["class_probabilities"], notes)
        return _cells(interaction.table, table, outputs, notes)

    def example(
        self, table: Table, question: str, previous: Answer | None = None
    ) -> tf.train.Example:
        """Returns the model's input for a question; arguments and errors as for `ask`."""
        _, example, _ = self._convert(table, question, previous)
        return example

    def _convert(self, table, question, previous):
        """Returns the interaction, its example and descriptions of what the example lacks."""
        only_question = interactions.Question(id="ask-0_0", text=question)
        interaction = interactions.interaction_from_table(table, "ask-0", [only_question])
        example, cuts = self._model.converter.conversion(interaction, 0)
        notes = [str(cut) for cut in cuts] + _unknown_words(table)
        if previous is not None:
            notes += _refer_to(previous, example)
        return interaction, example, notes

    def _class(self, probabilities: np.ndarray, cuts: list[str]) -> Answer:
        """Returns the most probable class, of probabilities <float32>[classes], as an answer."""
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
    """Describes cells with words that are too long for the tokenizer; [] without such cells."""
    count = sum(1 for cell in table.cells() if _TOO_LONG_WORD.search(cell.text))
    if not count:
        return []
    return [f"{count} cells with a word of more than {MAX_WORD_CHARACTERS} characters, not read"]


def _refer_to(previous: Answer, example: tf.train.Example) -> list[str]:
    """Marks the tokens of the previous answer; describes cells of it that the example lacks."""
    features = example.features.feature
    rows, columns = (features[name].int64_list.value for name in ("row_ids", "column_ids"))
    tokens = [(row - 1, column - 1) for row, column in zip(rows, columns, strict=True)]
    cells = set(previous.coordinates)
    features["prev_label_ids"].int64_list.value[:] = [int(cell in cells) for cell in tokens]
    forgotten = len(cells - set(tokens))
    return [f"{forgotten} cells of the previous answer forgotten"] if forgotten else []


def _cells(annotated, table: Table, outputs: dict[str, np.ndarray], cuts: list[str]) -> Answer:
    """Returns the selected cells, and the result of the operation on them, as an answer.

    Args:
        annotated: the table as a proto, with the numbers of its cells.
        table: the same table.
        outputs: outputs of `ServingModule.serving_examples` for one example.
        cuts: for `Answer.cuts`.
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
