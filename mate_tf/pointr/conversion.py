"""Conversion of the cells that the first stage selected to the input of the second."""

from collections.abc import Iterable, Iterator, Mapping

from mate_tf.answers.gold import Coordinate
from mate_tf.data.datasets.hybridqa_rc import HybridQaRcConfig, cell_tables
from mate_tf.protos import interaction_pb2


def predicted_interactions(
    interaction: interaction_pb2.Interaction,
    ranked: Mapping[str, Iterable[Coordinate]],
    config: HybridQaRcConfig,
) -> Iterator[interaction_pb2.Interaction]:
    """Makes tables of the most probable cells of the first stage; k is a cell's rank, from 0.

    Args:
        interaction: of the first stage.
        ranked: question id of the first stage -> its cells, best first. Questions that are not in
            it give nothing.
        config: see there.

    Raises:
        InputError: a cell is not in the table.
    """
    config.check()
    for question in interaction.questions:
        if question.id in ranked:
            cells = list(ranked[question.id])[: config.num_predictions_to_keep]
            yield from cell_tables(interaction, question, cells, config)
