"""Questions in, answers out, from an exported model."""

import dataclasses
import json
import os

import numpy as np
import tensorflow as tf

from mate_tf.data import examples, interactions
from mate_tf.errors import InputError
from mate_tf.serving import export
from mate_tf.serving.signatures import SERVING_EXAMPLES
from mate_tf.tables.table import Table


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
        probability: mean probability of the chosen cells' own share, 0 without cells.
        text: the answer in words: the texts of the cells, separated by commas.
        cuts: what of the table did not fit, in words; empty if all of it was read.
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
        settings = _settings(saved_model_dir)
        try:
            self._model = tf.saved_model.load(saved_model_dir)
        except (OSError, ValueError, tf.errors.OpError) as error:
            raise InputError(f"{saved_model_dir}: not a readable SavedModel ({error})") from error
        self._signature = self._model.signatures[SERVING_EXAMPLES]
        vocabulary = os.path.join(export.extras_dir(saved_model_dir), export.VOCABULARY_FILE)
        self._converter = examples.ExampleConverter(vocabulary, **settings["converter"])

    def ask(self, table: Table, question: str, previous: Answer | None = None) -> Answer:
        """Answers one question.

        Args:
            table: the table.
            question: the question.
            previous: the answer to the question before, if this one refers to it.

        Returns:
            The answer; its `cuts` say what of the table was not read.

        Raises:
            InputError: if question and table cannot be brought into the model's length.
        """
        asked = interactions.Question(id="ask-0_1", text=question)
        questions = [asked]
        if previous is not None:
            before = interactions.Question(
                id="ask-0_0", text="previous", coordinates=previous.coordinates
            )
            questions = [before, asked]
        interaction = interactions.interaction_from_table(table, "ask-0", questions)
        conversion = self._converter.conversion(interaction, len(questions) - 1)
        outputs = self._signature(tf.constant([conversion.example.SerializeToString()]))
        return _answer(
            table,
            outputs["selected"].numpy()[0],
            outputs["cell_probabilities"].numpy()[0],
            tuple(str(cut) for cut in conversion.cuts),
        )


def _settings(saved_model_dir: str) -> dict:
    path = os.path.join(export.extras_dir(saved_model_dir), export.SETTINGS_FILE)
    if not export.is_saved_model(saved_model_dir):
        raise InputError(f"{saved_model_dir}: no SavedModel here; --mode=export writes one")
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not readable ({error}); was it exported by mate-tf?") from error


def _answer(table: Table, selected: np.ndarray, probabilities: np.ndarray, cuts) -> Answer:
    """From <int32> and <float32>[rows, columns] per data cell to an Answer."""
    cells = tuple(
        AnswerCell(
            int(row), int(column), table.rows[row][column], float(probabilities[row, column])
        )
        for row, column in np.argwhere(selected)
        if row < len(table.rows) and column < len(table.columns)
    )
    return Answer(
        cells=cells,
        aggregation="NONE",
        value=None,
        probability=float(np.mean([cell.probability for cell in cells])) if cells else 0.0,
        text=", ".join(cell.text for cell in cells),
        cuts=cuts,
    )
