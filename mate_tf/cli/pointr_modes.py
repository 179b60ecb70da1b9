"""Modes of --task=POINTR: each runs both stages, then combines their results."""

import json
import os
import time

from mate_tf.cli import analyze, create_data, export, predict, predict_and_evaluate, train
from mate_tf.cli import eval as evaluate
from mate_tf.cli.ask import export_dir_of, read_table
from mate_tf.cli.checks import limits, reading
from mate_tf.data import records
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.datasets.hybridqa import read_linked_table
from mate_tf.data.records import create_data as conversion
from mate_tf.evaluation import hybridqa, hybridqa_answers, metrics
from mate_tf.files.atomic import write_json
from mate_tf.pointr import evaluation, prediction, predictor


def run(pipeline) -> None:
    """Runs the whole job, from official files to EM and F1 and two SavedModels."""
    start = time.monotonic()
    for mode in ("create_data", "train", "predict_and_evaluate", "export"):
        MODES[mode](pipeline)
    print(f"\ndone in {time.monotonic() - start:.0f} s")


def _each(function):
    def run_each(pipeline) -> None:
        for job in pipeline.jobs:
            print(f"\nstage | {job.task.name}", flush=True)
            function(job)

    return run_each


def create_both(pipeline) -> None:
    """Creates the examples of both stages, and copies the official answers of dev."""
    _each(create_data.create_data)(pipeline)
    evaluation.keep_reference(pipeline.point.input_dir, pipeline.point.output_dir)


def export_both(pipeline) -> None:
    """Exports both SavedModels, and the settings by which `PointrPredictor` combines them."""
    _each(export.export)(pipeline)
    config = pipeline.config.task
    sources = pipeline.read.experiment.task.reading.sources
    predictor.write_settings(pipeline.export_dir, config.num_cells, config.policy, sources)
    print(f"exported | {pipeline.export_dir}")


def predict_both(pipeline) -> tuple[dict, dict]:
    """Writes each stage's predictions and <model_dir>/<split>.predictions.json.

    That file is in the format of HybridQA's official evaluator.

    Returns:
        two dicts: split -> predictions of the first stage; split -> question id of the data set ->
        answer.
    """
    config, answers = pipeline.config.task, {}
    cells = predict.predict(pipeline.point)
    run = pipeline.read.trainer.predictor(pipeline.read.experiment, pipeline.read.model_dir)
    for split, found in cells.items():
        ranked = {each.question_id: hybridqa.ranked_cells(each) for each in found}
        readings = _read(pipeline, split, ranked, run)
        answers[split] = prediction.answers(ranked, readings, config.policy)
        path = os.path.join(pipeline.model_dir, f"{split}.predictions.json")
        hybridqa_answers.write_predictions(answers[split], path)
        print(f"answered | {len(answers[split])} questions | {path}")
    return cells, answers


def _read(pipeline, split: str, ranked: prediction.RankedCells, run) -> dict:
    """Converts the selected cells and reads them with `run`, the second stage's model."""
    job = pipeline.read
    source = records.read_interactions(_interactions_path(pipeline, split))
    selected = prediction.select_cells(
        source, ranked, pipeline.config.task.num_cells, job.experiment.task.reading.sources
    )
    path = conversion.examples_path(job.output_dir, f"{split}.selected")
    report = conversion.convert_split(
        [each.interaction for each in selected],
        job.task.converter(job.vocab_file),
        path,
        processes=job.num_processes,
        multiple_of=job.experiment.task.validation_data.global_batch_size,
    )
    print(f"reading | {split}: {report}")
    outputs = {
        each["question_id"]: {name: each[name] for name in prediction.OUTPUTS} for each in run(path)
    }
    return prediction.readings(selected, outputs, Tokenizer(job.vocab_file))


def predict_and_evaluate_both(pipeline) -> dict[str, dict]:
    """Predicts with both stages, prints the scores, writes metrics.json.

    Exact match and F1 are the official evaluator's, over the questions with an available table.

    Returns:
        split -> result of `pointr.evaluation.scores`.
    """
    cells, answers = predict_both(pipeline)
    predict_and_evaluate.score(pipeline.point, cells)
    results = {}
    for split, found in answers.items():
        interactions = records.read_interactions(_interactions_path(pipeline, split))
        gold = evaluation.reference(interactions, split, pipeline.point.output_dir)
        if not gold.answers:
            continue  # a test set without public answers
        results[split] = evaluation.scores(found, gold)
        print(f"\n{split}: POINTR, {len(gold.answers)} questions")
        print(metrics.comparison(evaluation.columns(results[split])))
    path = os.path.join(pipeline.model_dir, "metrics.json")
    write_json(path, results)
    print(f"\nevaluated | {path}")
    return results


def _interactions_path(pipeline, split: str) -> str:
    return conversion.interactions_path(pipeline.point.output_dir, split)


def ask(flags) -> None:
    """Answers every --question about --table. With --passages both are in HybridQA's format."""
    if flags.passages:
        table, links, passages = read_linked_table(flags.table, flags.passages)
    else:
        table, links, passages = read_table(flags.table, limits(flags)), {}, {}
    models = predictor.PointrPredictor(export_dir_of(flags), reading(flags))
    for question in flags.question:
        answer = models.ask(table, question, links, passages)
        print(f"\n{question}")
        print(json.dumps(answer.to_json(), ensure_ascii=False))
        print(table.render(answer.coordinates))
        where = f"passage {answer.passage}" if answer.passage else "cell"
        print(f"read: {answer.text!r} in the {where}: {answer.sentence}")
        for cut in answer.cuts:
            print(f"cut: {cut}")


MODES = {
    "run": run,
    "create_data": create_both,
    "train": _each(train.train),
    "eval": _each(evaluate.evaluate),
    "predict": predict_both,
    "predict_and_evaluate": predict_and_evaluate_both,
    "export": export_both,
    "analyze": lambda pipeline: analyze.analyze(*pipeline.jobs),
}
"""Mode -> function of a `mate_tf.cli.pointr.Pipeline`."""
