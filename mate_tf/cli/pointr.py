"""--task=POINTR: runs every mode for both stages in turn, then combines them.

```
<output_dir>/point, read            interactions and examples of each stage
<model_dir>/point, read             checkpoints and predictions of each stage
<model_dir>/pointr.json             settings that combine them, for `PointrPredictor`
<model_dir>/calibration.json        confidence of the answers, fitted on dev
<model_dir>/<split>.predictions.json    answers for HybridQA's official evaluator
<export_dir>/point, read            the two SavedModels, which `PointrPredictor` loads
```
"""

import dataclasses
import os
import pathlib
import time
import types

from mate_tf.cli import export, modes, origins, scores, work
from mate_tf.cli.checks import folders
from mate_tf.cli.job import FLAG_OVERRIDES, Job
from mate_tf.data import records
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.records import create_data as conversion
from mate_tf.errors import InputError
from mate_tf.evaluation import calibration, hybridqa, hybridqa_answers, metrics
from mate_tf.files.atomic import write_json
from mate_tf.files.config_files import find_config
from mate_tf.files.json_files import read_json
from mate_tf.pointr import config as pointr
from mate_tf.pointr import evaluation, prediction, predictor
from mate_tf.training import experiments

BOTH_STAGES = (
    *("bert_vocab_file", "init_checkpoint", "mixed_precision"),
    *("skip_mismatched", "test_batch_size", "tf_random_seed"),
)
"""Flags that apply to both stages."""

POINT_ONLY = (
    *("attention", "global_length", "radius", "row_heads_ratio", "reset_position_index_per_cell"),
    *("expand_entity_descriptions", "entity_descriptions_sentence_limit", "use_entity_title"),
)
"""Flags about long tables. They apply to the first stage only; the reader's inputs are short."""


_CALIBRATION_SPLIT = "dev"


@dataclasses.dataclass(frozen=True)
class Pipeline:
    """The jobs of both stages and their common settings.

    Attributes:
        config: a `PointrExperiment`.
        point, read: the `Job` of each stage.
        model_dir: folder for predictions and metrics of both stages together.
        export_dir: folder for the two SavedModels.
    """

    config: pointr.PointrExperiment
    point: Job
    read: Job
    model_dir: str
    export_dir: str

    @classmethod
    def from_flags(cls, flags) -> "Pipeline":
        """Reads the configuration: each stage's defaults, its file, the file, the flags.

        Raises:
            InputError: if any of them is not valid.
        """
        config_file = flags.config_file and find_config(flags.config_file)
        config = _read_config(config_file)
        where = folders(flags, pointr.NAME)
        overrides = [experiments.read_override(text) for text in flags.params_override]
        for values, source in overrides:
            common = {key: values[key] for key in values if key not in pointr.STAGES}
            experiments.override(config, common, source)
            config.check(source)
        _check_flags(flags)
        jobs = {
            stage: Job.create(
                getattr(config, stage),
                _flags_of(stage, flags),
                [(values[stage], source) for values, source in overrides if stage in values],
                output_dir=os.path.join(where.output_dir, stage),
                model_dir=os.path.join(where.model_dir, stage),
                export_dir=os.path.join(where.export_dir, stage),
            )
            for stage in pointr.STAGES
        }
        return cls(config, model_dir=where.model_dir, export_dir=where.export_dir, **jobs)

    @property
    def jobs(self) -> tuple[Job, Job]:
        """The jobs of both stages, in the order in which they run."""
        return self.point, self.read


def main(flags) -> None:
    """Runs --mode for POINTR; `cli.passages` has --mode=ask."""
    if flags.mode not in MODES:
        raise InputError(f"task {pointr.NAME} has no --mode={flags.mode}")
    MODES[flags.mode](Pipeline.from_flags(flags))


def _read_config(config_file: str | None) -> pointr.PointrExperiment:
    """Reads a config: the defaults, then the files of `<stage>.config_file`, then this file."""
    config = pointr.PointrExperiment()
    for given, source in experiments.read_chain(config_file) if config_file else ():
        for stage, task in pointr.STAGES.items():
            section = given.get(stage)
            if isinstance(section, dict) and "config_file" in section:
                path = find_config(str(section.pop("config_file")))
                setattr(config, stage, experiments.load(path, task=task))
        experiments.override(config, given, source)
    config.check(config_file or "the defaults")
    return config


def _check_flags(flags) -> None:
    """Raises InputError for a flag that could apply to either stage."""
    for name in FLAG_OVERRIDES:
        if getattr(flags, name) is not None and name not in BOTH_STAGES + POINT_ONLY:
            key = FLAG_OVERRIDES[name]
            raise InputError(
                f"--{name}: for which stage? "
                f"Use --params_override=point.{key}=... or read.{key}=..."
            )


def _flags_of(stage: str, flags):
    """Returns the flags for `Job.create` of a stage. Flags that do not apply to it are None."""
    values = {name: getattr(flags, name) for name in flags}
    for name in FLAG_OVERRIDES:
        if name not in BOTH_STAGES and not (stage == pointr.POINT and name in POINT_ONLY):
            values[name] = None
    return types.SimpleNamespace(**values)


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
    _each(work.create_data)(pipeline)
    evaluation.keep_reference(pipeline.point.input_dir, pipeline.point.output_dir)


def train_both(pipeline) -> None:
    """Trains both stages; writes the settings by which `PointrPredictor` combines them."""
    fitted = pathlib.Path(pipeline.model_dir, calibration.FILE)
    fitted.unlink(missing_ok=True)  # it is of the weights before
    _each(work.train)(pipeline)
    _write_settings(pipeline, pipeline.model_dir)


def export_both(pipeline) -> None:
    """Exports both SavedModels, and the settings by which `PointrPredictor` combines them."""
    _each(export.export)(pipeline)
    _write_settings(pipeline, pipeline.export_dir)
    fitted = os.path.join(pipeline.model_dir, calibration.FILE)
    if os.path.isfile(fitted):
        write_json(os.path.join(pipeline.export_dir, calibration.FILE), read_json(fitted))
    print(f"exported | {pipeline.export_dir}")


def _write_settings(pipeline, folder: str) -> None:
    config = pipeline.config.task
    sources = pipeline.read.experiment.task.reading.sources
    predictor.write_settings(folder, config.num_cells, config.policy, sources)


def predict_both(pipeline) -> tuple[dict, dict]:
    """Writes each stage's predictions and <model_dir>/<split>.predictions.json.

    That file is in the format of HybridQA's official evaluator.

    Returns:
        two dicts: split -> predictions of the first stage; split -> question id of the data set ->
        `Reading` of the answer.
    """
    config, answers = pipeline.config.task, {}
    cells = scores.predict(pipeline.point)
    run = pipeline.read.trainer.predictor(pipeline.read.experiment, pipeline.read.model_dir)
    for split, predictions in cells.items():
        ranked = {each.question_id: hybridqa.ranked_cells(each) for each in predictions}
        readings = _read(pipeline, split, ranked, run)
        answers[split] = prediction.answers(ranked, readings, config.policy)
        path = os.path.join(pipeline.model_dir, f"{split}.predictions.json")
        texts = {name: reading.text for name, reading in answers[split].items()}
        hybridqa_answers.write_predictions(texts, path)
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
    """Predicts with both stages, prints the scores, writes metrics.json and calibration.json.

    Exact match and F1 are the official evaluator's, over the questions with an available table.

    Returns:
        split -> result of `pointr.evaluation.scores`.
    """
    cells, answers = predict_both(pipeline)
    scores.score(pipeline.point, cells)
    results = {}
    for split, readings in answers.items():
        interactions = records.read_interactions(_interactions_path(pipeline, split))
        gold = evaluation.reference(interactions, split, pipeline.point.output_dir)
        if not gold.answers:
            continue  # a test set without public answers
        texts = {name: reading.text for name, reading in readings.items()}
        results[split] = evaluation.scores(texts, gold)
        print(f"\n{split}: POINTR, {len(gold.answers)} questions")
        print(metrics.comparison(evaluation.columns(results[split])))
        if split == _CALIBRATION_SPLIT:
            fitted = dataclasses.asdict(evaluation.calibrate(readings, gold))
            write_json(os.path.join(pipeline.model_dir, calibration.FILE), fitted)
    path = os.path.join(pipeline.model_dir, "metrics.json")
    stages = {stage: getattr(pipeline, stage).model_dir for stage in ("point", "read")}
    of = {stage: origins.checkpoint(folder) for stage, folder in stages.items()}
    write_json(path, results | {origins.KEY: of})
    print(f"\nevaluated | {path}")
    return results


def _interactions_path(pipeline, split: str) -> str:
    return conversion.interactions_path(pipeline.point.output_dir, split)


def _analyze(pipeline) -> None:
    modes.require_matplotlib("analyze")
    from mate_tf.analysis.attention import report

    report.analyze(*pipeline.jobs)


MODES = {
    "run": run,
    "create_data": create_both,
    "train": train_both,
    "eval": _each(work.evaluate),
    "predict": predict_both,
    "predict_and_evaluate": predict_and_evaluate_both,
    "export": export_both,
    "analyze": _analyze,
}
"""Mode -> function of a `Pipeline`."""
