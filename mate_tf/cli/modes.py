"""Modes of the command line. What takes seconds to load is imported when a mode runs."""

import importlib
import importlib.util
import os
import time
import zipfile

from mate_tf.cli import checks
from mate_tf.errors import InputError

PROFILE_DIR = os.path.join("out", "profile")
"""Default folder of the results of `profile`, without a configuration."""


def _export(flags) -> None:
    """Writes the last checkpoint, or --init_checkpoint, as a SavedModel."""
    if flags.init_checkpoint and not (flags.task or flags.config_file):
        from mate_tf.cli.pretrained import load_predictor

        if not flags.export_dir:
            raise InputError("--mode=export of --init_checkpoint needs --export_dir=FOLDER")
        print(f"exported | {load_predictor(flags).export(flags.export_dir)}")
        return
    from mate_tf.cli import export, scores

    job = _job(flags)
    if job.calibrate:
        scores.calibrate(job)
    export.export(job, checks.reading(flags))


def _run(flags) -> None:
    """Creates data, trains, evaluates, calibrates, exports, and asks the task's example questions.

    A task that does not answer questions ends after training. A task without tables ends after
    evaluation, and so does a job with several seeds.
    """
    from mate_tf.cli import export, scores, work
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
        work.create_data(job)
        work.train(job)
        if able.answers_questions:
            scores.predict_and_evaluate(job)
        if able.answers_questions and able.reads_tables:
            if flags.calibrate is None:
                _calibrate_if_possible(job)
            export.export(job, checks.reading(flags))
            _ask_examples(job)
    print(f"\ndone in {time.monotonic() - start:.0f} s")


def _calibrate_if_possible(job) -> None:
    """Fits the confidence of answers, or prints why the data do not allow it."""
    from mate_tf.cli import scores

    try:
        scores.calibrate(job)
    except InputError as error:
        print(f"\nnot calibrated | {error}")


def _ask_examples(job) -> None:
    """Asks the exported model the task's example questions, if the task has any."""
    if job.task.example_table is None:
        return
    from mate_tf.cli import ask
    from mate_tf.serving.predictor import Predictor
    from mate_tf.tables.any_table import read_table

    table = read_table(job.task.example_table)
    ask.answer_all(Predictor(job.export_dir), table, job.task.example_questions, False)


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
    print(_answers_by(job.experiment.task.model))
    profile.run(settings, job.output_dir)


def _answers_by(model) -> str:
    """Says which engine answers with a model; its times are not those that TensorFlow takes."""
    from mate_tf.serving.engine.model import unsupported

    config = model.as_dict()
    if "span_prediction" not in config:
        return "answers | this model does not answer questions"
    lacking = unsupported(config, "float32")
    if lacking is not None:
        return f"answers | computed by TensorFlow: OpenVINO has no {lacking}"
    return "answers | computed by OpenVINO; the times below are TensorFlow's"


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
    from mate_tf.analysis.attention import report
    from mate_tf.cli import scores

    scores.alone(report.analyze)(_job(flags))


def _glue(flags) -> None:
    """Runs each task in a folder; writes glue.json and, with all tasks, submission.zip."""
    from mate_tf.cli import origins
    from mate_tf.evaluation import glue, metrics
    from mate_tf.files.atomic import atomic_path, write_json

    folder = checks.folders(flags).output_dir
    runs = glue.read_scores(folder)
    submissions = {
        model: [path for path in sorted(model.glob("*.tsv")) if path.stem in glue.SUBMISSIONS]
        for _, model in runs.values()
    }
    for model, files in submissions.items():
        origins.check(str(model), map(str, files))
    scores = {score: value for score, (value, _) in runs.items()}
    means = glue.means(scores)
    rows = {str(score): scores.get(score) for score in glue.SCORES}
    rows |= {f"mean, {name}": means.get(name) for name in glue.MEANS}
    print(metrics.comparison({"dev": rows}, "GLUE"))
    path = os.path.join(folder, "glue.json")
    write_json(path, rows)
    print(f"\nevaluated | {path}")
    files = {path.name: path for files in submissions.values() for path in files}
    needed = (name for name in glue.SUBMISSIONS if name != glue.DIAGNOSTICS)
    missing = [name for name in needed if f"{name}.tsv" not in files]
    if missing:
        print(f"no submission | missing: {', '.join(f'{name}.tsv' for name in missing)}")
        return
    path = os.path.join(folder, "submission.zip")
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, file in files.items():
            archive.write(file, name, zipfile.ZIP_DEFLATED)
    print(f"submission | {path}: {', '.join(files)}")


def _ask(flags) -> None:
    from mate_tf.cli import ask

    ask.ask(flags)


def _demo(flags) -> None:
    from mate_tf.cli import ask

    ask.demo(flags)


def _serve(flags) -> None:
    from mate_tf.cli import serve

    serve.serve(flags)


def _mcp(flags) -> None:
    from mate_tf.cli import serve

    serve.mcp(flags)


def _job(flags):
    from mate_tf.cli.job import Job

    return Job.from_flags(flags)


def _run_job(module: str, function: str):
    """Returns the mode that runs a function of `work` or `scores`."""

    def run(flags) -> None:
        work = importlib.import_module(f"mate_tf.cli.{module}")
        getattr(work, function)(_job(flags))

    return run


MODES = {
    "run": _run,
    "create_data": _run_job("work", "create_data"),
    "train": _run_job("work", "train"),
    "eval": _run_job("work", "evaluate"),
    "predict": _run_job("scores", "write_predictions"),
    "predict_and_evaluate": _run_job("scores", "predict_and_evaluate"),
    "glue": _glue,
    "export": _export,
    "analyze": _analyze,
    "profile": _profile,
    "ask": _ask,
    "demo": _demo,
    "serve": _serve,
    "mcp": _mcp,
}
"""Mode -> function of the flags."""
