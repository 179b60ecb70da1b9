"""Baselines that rank cells by TF-IDF similarity with the question, without learning."""

from collections.abc import Iterable

import numpy as np

from mate_tf.data.converters import expansion
from mate_tf.data.interactions import question_text
from mate_tf.evaluation.predictions import NUM_RANKED, Prediction
from mate_tf.protos.interaction_pb2 import Interaction
from mate_tf.tables.conversion import ConversionConfig
from mate_tf.tables.passages import TextIndex


def rank_cells(interactions: Iterable[Interaction]) -> dict[str, Prediction]:
    """Ranks cells by the TF-IDF cosine of the question with the cell and its linked passages.

    The cells of a table are the documents (`tables.passages.TextIndex`). Cells with equal scores
    keep the order of the table. The best cell is the answer.

    Returns:
        predictions by question id, with ranked cells.
    """
    predicted = {}
    for interaction in interactions:
        passages = expansion.passages(interaction)
        texts = [
            " ".join([cell.text, *(passages.get(link, "") for link in expansion.links(cell))])
            for row in interaction.table.rows
            for cell in row.cells
        ]
        index = TextIndex(texts)
        for question in interaction.questions:
            predicted[question.id] = _prediction(interaction, question, index)
    return predicted


def rank_expanded_cells(interactions: Iterable[Interaction]) -> dict[str, Prediction]:
    """Ranks cells like `rank_cells`, by the texts that the model reads.

    The text of a cell is then its own text with the best sentences of its passages.

    Returns:
        predictions by question id, with ranked cells.
    """
    shown = expansion.CellTexts(ConversionConfig(expand_entity_descriptions=True))
    predicted = {}
    for interaction in interactions:
        for position, question in enumerate(interaction.questions):
            texts = shown.texts(interaction, position)[len(interaction.table.columns) :]
            predicted[question.id] = _prediction(interaction, question, TextIndex(texts))
    return predicted


def _prediction(interaction, question, index: TextIndex) -> Prediction:
    """Returns the ranked cells of a question, by an index of the cells' texts."""
    width = max(len(interaction.table.columns), 1)
    order = np.argsort(-index.scores(question_text(question)), kind="stable")[:NUM_RANKED]
    ranked = tuple((int(cell) // width, int(cell) % width) for cell in order)
    return Prediction(question.id, coordinates=ranked[:1], ranked=ranked)
