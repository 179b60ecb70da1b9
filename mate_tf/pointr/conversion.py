"""Conversion of cells that the first stage selected to inputs of the second stage."""

from collections.abc import Iterable, Iterator, Mapping

from mate_tf.answers.gold import Coordinate
from mate_tf.data.datasets.hybridqa_rc import HybridQaRcConfig, cell_tables
from mate_tf.protos import interaction_pb2


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
