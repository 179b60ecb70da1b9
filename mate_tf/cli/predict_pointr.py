"""--task=POINTR --mode=predict: cells from the first stage, spans of them from the second."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from mate_tf.cli import predict as single
from mate_tf.data import create_data, records
from mate_tf.data.datasets import hybridqa_rc
from mate_tf.data.examples import ExampleConverter
from mate_tf.data.offsets import Offsets
from mate_tf.data.tokenizer import Tokenizer
from mate_tf.evaluation import hybridqa, hybridqa_answers
from mate_tf.evaluation.hybridqa_answers import Reading
from mate_tf.evaluation.predictions import Prediction
from mate_tf.protos import interaction_pb2

Cells = Mapping[str, list[tuple[tuple[int, int], float]]]
"""Question id -> its cells with their probabilities, the best first."""


class Predicted(NamedTuple):
    """What both stages say about the questions of a split.

    Attributes:
        cells: question id -> the first stage's prediction.
        answers: question id of the data set -> text.
    """

    cells: dict[str, Prediction]
    answers: dict[str, str]


def predict(pipeline) -> dict[str, Predicted]:
    """Writes each stage's predictions and <model_dir>/<split>.predictions.json.

    The file is what HybridQA's official evaluator reads.

    Args:
        pipeline: a `mate_tf.cli.pointr.Pipeline`.

    Returns:
        split -> predictions.
    """
    config, result = pipeline.config.task, {}
    for split, found in single.predict(pipeline.point).items():
        cells = {each.question_id: hybridqa.ranked_cells(each) for each in found}
        source = create_data.interactions_path(pipeline.point.output_dir, split)
        readings = read(pipeline.read, source, split, cells, config.num_cells)
        answers = {}
        for each in found:
            name = hybridqa_answers.official_id(each.question_id)
            chosen = hybridqa_answers.choose(readings.get(name, ()), config.policy)
            answers[name] = chosen.text if chosen else ""
        path = os.path.join(pipeline.model_dir, f"{split}.predictions.json")
        hybridqa_answers.write_predictions(answers, path)
        print(f"answered | {len(answers)} questions | {path}")
        result[split] = Predicted({each.question_id: each for each in found}, answers)
    return result


def read(job, source: str, split: str, cells: Cells, num_cells: int) -> dict[str, list[Reading]]:
    """Lets the second stage read the best cells of each question.

    Args:
        job: of the second stage.
        source: file of the first stage's interactions.
        split: name of the file of examples that is written.
        cells: what the first stage says.
        num_cells: how many are read.

    Returns:
        question id of the data set -> readings, the best cell's first.
    """
    asked, chosen = [], {}
    config = hybridqa_rc.HybridQaRcConfig(
        single_cell_examples=True, num_predictions_to_keep=num_cells
    )
    for interaction in records.read_interactions(source):
        ranked = {name: [cell for cell, _ in cells.get(name, ())] for name in _ids(interaction)}
        for made in hybridqa_rc.predicted_interactions(interaction, ranked, config):
            asked.append(made)
            (name,) = _ids(made)
            chosen[name] = cells[interaction.questions[0].id][hybridqa_answers.rank(name)]
    outputs = _outputs(job, asked, split)
    texts = [made.table.rows[0].cells[0].text for made in asked]
    found = []
    all_ranges = Offsets(Tokenizer(job.vocab_file)).all_ranges(texts)
    for made, text, ranges in zip(asked, texts, all_ranges, strict=True):
        (name,) = _ids(made)
        if name in outputs:  # otherwise it could not be converted
            (cell, probability), output = chosen[name], outputs[name]
            span = slice(*hybridqa_answers.span_in_text(output, ranges))
            log_probability = float(output["span_log_prob"])
            found.append((name, Reading(text[span], probability, log_probability, cell)))
    return hybridqa_answers.by_question(found)


def _outputs(job, asked: list[interaction_pb2.Interaction], split: str) -> dict[str, Mapping]:
    """Question id of the second stage -> what its model says."""
    path = create_data.examples_path(job.output_dir, f"{split}.selected")
    converter = ExampleConverter(
        job.vocab_file, **job.experiment.task.conversion.converter_options()
    )
    report = create_data.convert_split(
        asked,
        converter,
        path,
        processes=job.num_processes,
        multiple_of=job.experiment.task.validation_data.global_batch_size,
    )
    print(f"reading | {split}: {report}")
    outputs = job.trainer.predict(job.experiment, job.model_dir, path)
    wanted = ("pred_span", "span_log_prob", "row_ids")
    return {each["question_id"]: {name: each[name] for name in wanted} for each in outputs}


def _ids(interaction: interaction_pb2.Interaction) -> list[str]:
    return [question.id for question in interaction.questions]
