"""Conversion of cells that the first stage selected to inputs of the second stage."""

import os
from collections.abc import Iterable, Iterator, Mapping

from mate_tf.answers.gold import Coordinate
from mate_tf.data import records
from mate_tf.data.datasets.hybridqa_rc import HybridQaRcConfig, cell_tables
from mate_tf.evaluation import hybridqa, predictions
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


def interactions_of_predictions(
    config: HybridQaRcConfig,
) -> dict[str, Iterator[interaction_pb2.Interaction]]:
    """Returns the second stage's interactions for the prediction files that the config names.

    Returns:
        split -> iterator over interactions.

    Raises:
        InputError: if a file is missing or malformed.
    """
    made = {}
    for split, path in config.hybridqa_prediction_filepath.as_dict().items():
        ranked = {
            each.question_id: [cell for cell, _ in hybridqa.ranked_cells(each)] or each.coordinates
            for each in predictions.read_tsv(path)
        }
        made[split] = _of_split(config, split, ranked)
    return made


def _of_split(config, split, ranked):
    path = os.path.join(config.interactions_dir, f"{split.lower()}.tfrecord")
    for interaction in records.read_interactions(path):
        yield from predicted_interactions(interaction, ranked, config)
