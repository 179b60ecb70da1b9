"""Prediction with both stages: cells of the first, answers of the second."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mate_tf.answers.gold import Coordinate
from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.datasets.hybridqa_rc import HybridQaRcConfig
from mate_tf.evaluation.hybridqa_answers import official_id
from mate_tf.pointr.conversion import predicted_interactions
from mate_tf.pointr.readings import Reading, by_question, choose, rank, span_in_text
from mate_tf.protos import interaction_pb2

OUTPUTS = ("pred_span", "span_log_prob", "row_ids")
"""Outputs of the second stage's model that `readings` takes."""

RankedCells = Mapping[str, list[tuple[Coordinate, float]]]
"""Question id -> its cells with their probabilities, the best first."""


class SelectedCell(NamedTuple):
    """A cell that the first stage has selected.

    Attributes:
        interaction: a table of this cell only, as the second stage reads it.
        cell: (row, column) in the whole table.
        probability: P(cell).
    """

    interaction: interaction_pb2.Interaction
    cell: Coordinate
    probability: float

    @property
    def question_id(self) -> str:
        """The id of the second stage's question."""
        return self.interaction.questions[0].id

    @property
    def text(self) -> str:
        """The text that is read: the cell's own, then the passages that it links to."""
        return self.interaction.table.rows[0].cells[0].text


def select_cells(
    interactions: Iterable[interaction_pb2.Interaction], cells: RankedCells, num_cells: int
) -> list[SelectedCell]:
    """Makes tables of the best cells of each question.

    Args:
        interactions: of the first stage, with one question each.
        cells: the first stage's predictions.
        num_cells: number of cells a question.
    """
    config = HybridQaRcConfig(single_cell_examples=True, num_predictions_to_keep=num_cells)
    found = []
    for interaction in interactions:
        (question,) = interaction.questions
        ranked = cells.get(question.id, ())
        coordinates = {question.id: [cell for cell, _ in ranked]}
        for made in predicted_interactions(interaction, coordinates, config):
            found.append(SelectedCell(made, *ranked[rank(made.questions[0].id)]))
    return found


def readings(
    selected: Iterable[SelectedCell], outputs: Mapping[str, Mapping], tokenizer: Tokenizer
) -> dict[str, list[Reading]]:
    """Finds the best span in the text of each cell.

    Args:
        selected: the cells.
        outputs: question id of the second stage -> `OUTPUTS` of its model. Cells without are left
            out: they could not be converted.
        tokenizer: the second stage's.

    Returns:
        question id of the data set -> readings, the best cell's first.
    """
    selected = list(selected)
    found = []
    all_ranges = Offsets(tokenizer).all_ranges([each.text for each in selected])
    for each, ranges in zip(selected, all_ranges, strict=True):
        if each.question_id in outputs:
            output = outputs[each.question_id]
            span = slice(*span_in_text(output, ranges))
            log_probability = float(output["span_log_prob"])
            reading = Reading(each.text[span], each.probability, log_probability, each.cell)
            found.append((each.question_id, reading))
    return by_question(found)


def answers(
    question_ids: Iterable[str], found: Mapping[str, list[Reading]], policy: str
) -> dict[str, str]:
    """Returns the answer to each question by the data set's id; "" if nothing was read.

    Args:
        question_ids: of the first stage.
        found: `readings`.
        policy: see `choose`.
    """
    texts = {}
    for name in map(official_id, question_ids):
        chosen = choose(found.get(name, ()), policy)
        texts[name] = chosen.text if chosen else ""
    return texts
