"""Prediction with both stages: cells from the first, answers from the second."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from mate_tf.answers.gold import Coordinate
from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.datasets.hybridqa_rc import ALL, HybridQaRcConfig, cell_tables
from mate_tf.evaluation.hybridqa_answers import official_id
from mate_tf.pointr.readings import Reading, by_question, choose, rank, span_in_text
from mate_tf.protos import interaction_pb2

OUTPUTS = ("pred_span", "span_log_prob", "row_ids")
"""Outputs of the second stage's model that `readings` needs."""

RankedCells = Mapping[str, list[tuple[Coordinate, float]]]
"""Question id -> list of (cell, probability), best first."""


class SelectedCell(NamedTuple):
    """A cell that the first stage selected.

    Attributes:
        interaction: input of the second stage: a table with this cell only.
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
        """The text to read: the cell's own text, then the linked passages, or one of them."""
        return self.interaction.table.rows[0].cells[0].text


def select_cells(
    interactions: Iterable[interaction_pb2.Interaction],
    cells: RankedCells,
    num_cells: int,
    sources: str = ALL,
) -> list[SelectedCell]:
    """Converts the best cells of each question to inputs of the second stage.

    Args:
        interactions: interactions of the first stage, with one question each.
        cells: the first stage's predictions.
        num_cells: number of cells per question.
        sources: what is read of a cell, see `HybridQaRcConfig`.
    """
    config = HybridQaRcConfig(
        single_cell_examples=True, num_predictions_to_keep=num_cells, sources=sources
    )
    selected = []
    for interaction in interactions:
        (question,) = interaction.questions
        ranked = cells.get(question.id, ())
        coordinates = {question.id: [cell for cell, _ in ranked]}
        for made in predicted_interactions(interaction, coordinates, config):
            selected.append(SelectedCell(made, *ranked[rank(made.questions[0].id)]))
    return selected


def readings(
    selected: Iterable[SelectedCell], outputs: Mapping[str, Mapping], tokenizer: Tokenizer
) -> dict[str, list[Reading]]:
    """Finds the best span in the text of each cell.

    Args:
        selected: the cells.
        outputs: question id of the second stage -> `OUTPUTS` of its model. Cells without outputs
            are skipped; they could not be converted to examples.
        tokenizer: tokenizer of the second stage.

    Returns:
        question id of the data set -> readings, that of the best cell first.
    """
    selected = list(selected)
    pairs = []
    all_ranges = Offsets(tokenizer).all_ranges([each.text for each in selected])
    for each, ranges in zip(selected, all_ranges, strict=True):
        if each.question_id in outputs:
            output = outputs[each.question_id]
            span = slice(*span_in_text(output, ranges))
            log_probability = float(output["span_log_prob"])
            reading = Reading(each.text[span], each.probability, log_probability, each.cell)
            pairs.append((each.question_id, reading))
    return by_question(pairs)


def answers(
    question_ids: Iterable[str], read: Mapping[str, list[Reading]], policy: str
) -> dict[str, Reading]:
    """Returns question id of the data set -> the reading that answers it.

    Args:
        question_ids: question ids of the first stage.
        read: result of `readings`. A question without readings gets one without text, of
            probability 0.
        policy: see `choose`.
    """
    names = map(official_id, question_ids)
    return {name: choose(read.get(name, ()), policy) or Reading("", 0.0) for name in names}


def predicted_interactions(
    interaction: interaction_pb2.Interaction,
    ranked: Mapping[str, Iterable[Coordinate]],
    config: HybridQaRcConfig,
) -> Iterator[interaction_pb2.Interaction]:
    """Yields an interaction for each of the most probable cells of the first stage.

    The table of such an interaction has one expanded cell. The rank of the cell, from 0, is in the
    interaction's id.

    Args:
        interaction: interaction of the first stage.
        ranked: question id of the first stage -> its cells, best first. Other questions are
            skipped.
        config: config of the second stage's cells.

    Raises:
        InputError: if a cell is not in the table.
    """
    config.check()
    for question in interaction.questions:
        if question.id in ranked:
            cells = list(ranked[question.id])[: config.num_predictions_to_keep]
            yield from cell_tables(interaction, question, cells, config)
