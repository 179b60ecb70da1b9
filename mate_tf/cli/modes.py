"""Modes of the command line. What takes seconds to load is imported when a mode runs."""

import importlib.util
import os
import time

from mate_tf.cli import checks
from mate_tf.errors import InputError

PROFILE_DIR = os.path.join("out", "profile")
"""Default folder of the results of `profile`, without a configuration."""


def create_data(job) -> dict:
    """Converts all splits of a job's task, and prints what was dropped and cut.

    Returns:
        split -> `Report`.

    Raises:
        InputError: if files or the vocabulary are missing or broken.
    """
    from mate_tf.cli import vocabulary
    from mate_tf.data import records
    from mate_tf.data.records import create_data as conversion

    convert, vocabulary_path = conversion.create_data, str
    options = {"processes": job.num_processes}
    if job.runner_type is not None:
        from mate_tf.data import beam  # an optional dependency

        convert, vocabulary_path = beam.create_data, beam.absolute
        options = {"runner": job.runner_type, "options": job.beam_options}
    if not job.input_dir and job.task.capabilities.needs_files:
        raise InputError(f"task {job.task.name} needs --input_dir=FOLDER of its files")
    if job.input_dir and not os.path.isdir(job.input_dir):
        raise InputError(f"--input_dir={job.input_dir}: no such folder")
    vocabulary.make(job)
    converter = job.task.converter(vocabulary_path(job.vocab_file))
    job.task.check_vocabulary()
    vocabulary.keep(job)
    job.save_decisions()
    source = job.task.official_files(job.input_dir, job.output_dir)
    for subset in job.task.subsets:
        path = conversion.interactions_path(job.output_dir, subset)
        records.write_interactions(job.task.interactions(source, subset), path)
    reports = convert(
        {split: job.task.interactions(source, split) for split in job.task.splits},
        job.output_dir,
        converter,
        test_batch_size=job.experiment.task.validation_data.global_batch_size,
        seed=job.experiment.tf_random_seed or 0,
        **options,
    )
    for split, report in reports.items():
        print(f"created | {split}: {report}")
    print(f"created | reports: {conversion.examples_path(job.output_dir, '*')[:-9]}.report.json")
    return reports


def train(job) -> dict:
    """Trains, or resumes a training, in stages with bootstrapping; prints the last metrics."""
    task = job.experiment.task
    job.require_examples(task.train_data.input_path, task.validation_data.input_path)
    return _reported("trained", job.trainer.train(job.experiment, job.model_dir))


def evaluate(job) -> dict:
    """Prints and returns loss and metrics of the last checkpoint on `task.validation_data`."""
    job.require_examples(job.experiment.task.validation_data.input_path)
    return _reported("evaluated", job.trainer.evaluate(job.experiment, job.model_dir))


def _reported(title: str, metrics: dict) -> dict:
    from mate_tf.training import progress

    print(progress.report(title, metrics))
    return metrics


def predict(job) -> None:
    """Writes the predictions of every split but train."""
    from mate_tf.cli import predict

    predict.write_answers(job, predict.predict(job))


def predict_and_evaluate(job) -> dict:
    """Predicts and scores every split but train; see `cli.predict.predict_and_evaluate`."""
    from mate_tf.cli import predict

    return predict.predict_and_evaluate(job)


def calibrate(job) -> dict:
    """Fits the confidence of answers; see `cli.predict.calibrate`."""
    from mate_tf.cli import predict

    return predict.calibrate(job)


def export(job, reading=None) -> str:
    """Writes the last checkpoint as a SavedModel, with its calibration if it has one.

    Args:
        job: the job.
        reading: options of `ConversionConfig.reading`.

    Returns:
        the folder of the SavedModel, which is also printed.
    """
    from mate_tf.serving import confidence, summarizer
    from mate_tf.serving import export as saved_model
    from mate_tf.training import prediction, trainer

    model = trainer.load_model(job.experiment, job.model_dir)
    options = job.experiment.task.conversion.converter_options()
    if job.task.capabilities.writes_text:
        decoding = prediction.search_options(job.experiment.task)
        path = summarizer.export(model, job.export_dir, job.vocab_file, options, decoding)
    else:
        path = saved_model.export(
            model,
            job.export_dir,
            job.vocab_file,
            options,
            job.task.class_names,
            reads_tables=job.task.capabilities.reads_tables,
            calibration=confidence.find(job.model_dir, confidence.latest_weights(job.model_dir)),
            reading=reading,
        )
    print(f"exported | {path}")
    return path


def _export(flags) -> None:
    """Writes the last checkpoint, or --init_checkpoint, as a SavedModel."""
    if flags.init_checkpoint and not (flags.task or flags.config_file):
        from mate_tf.cli.pretrained import load_predictor

        if not flags.export_dir:
            raise InputError("--mode=export of --init_checkpoint needs --export_dir=FOLDER")
        print(f"exported | {load_predictor(flags).export(flags.export_dir)}")
        return
    job = _job(flags)
    if job.calibrate:
        calibrate(job)
    export(job, checks.reading(flags))


def _run(flags) -> None:
    """Creates data, trains, evaluates, calibrates, exports, and asks the task's example questions.

    A task that answers no questions ends after training. A task without tables ends after
    evaluation, and so does a job with several seeds.
    """
    from mate_tf.training import workers

    start = time.monotonic()
    job = _job(flags)
    if job.experiment.runtime.distribution_strategy == workers.STRATEGY and workers.read_cluster():
        raise InputError(
            "--mode=run with TF_CONFIG: run --mode=create_data once, --mode=train on each worker, "
            "and the other modes once"
        )
    able = job.task.capabilities
    if able.answers_questions:
        job.task.check_packages()  # not after hours of training
    if flags.seeds is not None:
        from mate_tf.cli.seeds import run_seeds

        run_seeds(job, checks.seeds(flags))
    else:
        create_data(job)
        train(job)
        if able.answers_questions:
            predict_and_evaluate(job)
        if able.answers_questions and able.reads_tables:
            if flags.calibrate is None:
                _calibrate_if_possible(job)
            export(job, checks.reading(flags))
            _ask_examples(job)
    print(f"\ndone in {time.monotonic() - start:.0f} s")


def _calibrate_if_possible(job) -> None:
    """Fits the confidence of answers, or prints why the data do not allow it."""
    try:
        calibrate(job)
    except InputError as error:
        print(f"\nnot calibrated | {error}")


def _ask_examples(job) -> None:
    """Asks the exported model the task's example questions, if the task has any."""
    if job.task.example_table is None:
        return
    from mate_tf.cli import ask
    from mate_tf.serving.predictor import Predictor

    table = ask.read_table(job.task.example_table)
    ask.answer_all(Predictor(job.export_dir), table, job.task.example_questions, False)


def analyze(*jobs) -> None:
    """Analyzes the models of jobs; see `analysis.attention.report.analyze`."""
    from mate_tf.analysis.attention import report

    report.analyze(*jobs)


def _profile(flags) -> None:
    """Measures the layers of the configured encoder, or two layers of BERT-base's shape."""
    try:
        lengths = tuple(sorted({int(text) for text in flags.lengths}))
    except ValueError as error:
        texts = ",".join(flags.lengths)
        raise InputError(f"--lengths={texts}: not numbers of tokens") from error
    require_matplotlib("profile")
    from mate_tf.analysis.cost import profile

    job = _profiled_job(flags)
    settings = profile.Settings(
        config=job.experiment.task.model.encoder,
        lengths=lengths,
        variants=tuple(flags.variants or profile.VARIANTS),
        precisions=tuple(flags.precisions),
        compiled=flags.compile,
        passes=tuple(flags.passes),
        memory=flags.memory,
        threads=flags.threads or os.cpu_count() or 1,
        repeats=flags.repeats,
    )
    profile.run(settings, job.output_dir)


def _profiled_job(flags):
    """Returns a job with an encoder config that has all flags and overrides."""
    if flags.task or flags.config_file:
        return _job(flags)
    from mate_tf.cli.job import Job
    from mate_tf.models.encoder_config import EncoderConfig
    from mate_tf.training import experiments

    experiment = experiments.load(None, task="SYNTHETIC")
    experiment.task.model.encoder = EncoderConfig(num_hidden_layers=2)
    overrides = [experiments.read_override(text) for text in flags.params_override]
    folder = flags.output_dir or PROFILE_DIR
    return Job.create(experiment, flags, overrides, folder, folder, folder)


def require_matplotlib(mode: str) -> None:
    """Raises InputError without matplotlib, before TensorFlow is imported, which takes seconds."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError(f"--mode={mode} needs matplotlib: pip install 'mate-tf[plots]'")


def _analyze(flags) -> None:
    """Analyzes the last checkpoint in --model_dir, or --init_checkpoint without one."""
    require_matplotlib("analyze")
    analyze(_job(flags))


def _glue(flags) -> None:
    from mate_tf.cli import predict

    predict.glue(flags)


def _ask(flags) -> None:
    from mate_tf.cli import ask

    ask.ask(flags)


def _demo(flags) -> None:
    from mate_tf.cli import ask

    ask.demo(flags)


def _job(flags):
    from mate_tf.cli.job import Job

    return Job.from_flags(flags)


def _of_job(function):
    return lambda flags: function(_job(flags))


MODES = {
    "run": _run,
    "create_data": _of_job(create_data),
    "train": _of_job(train),
    "eval": _of_job(evaluate),
    "predict": _of_job(predict),
    "predict_and_evaluate": _of_job(predict_and_evaluate),
    "glue": _glue,
    "export": _export,
    "analyze": _analyze,
    "profile": _profile,
    "ask": _ask,
    "demo": _demo,
}
"""Mode -> function of the flags."""
