"""Jobs: the experiment that the flags describe, and its folders."""

import dataclasses
import functools
import os
import shlex
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from mate_tf import tasks
from mate_tf.cli import checks, job_vocabulary, pretrained
from mate_tf.cli import flags as flag_definitions
from mate_tf.cli.checks import folders
from mate_tf.data.records.create_data import examples_path
from mate_tf.errors import InputError
from mate_tf.files import paths as files
from mate_tf.files.atomic import write_json
from mate_tf.files.config_files import find_config
from mate_tf.files.json_files import read_json_object
from mate_tf.models.encoder_config import BERT_FIELDS
from mate_tf.tables.conversion import ConversionConfig
from mate_tf.tasks.base import Task
from mate_tf.tasks.configs import TableExperiment
from mate_tf.training import bootstrap, experiments, prediction, tpu, trainer
from mate_tf.training import checks as training_checks

DECISIONS_FILE = "decided_by_data.json"
"""Values of the configuration that the data determine, in the output folder."""

_ENCODER = "task.model.encoder"
_LEARNING_RATE = "trainer.optimizer_config.learning_rate.bert.initial_learning_rate"
_ACCUMULATION = "trainer.optimizer_config.optimizer.bert_adamw.gradient_accumulation_steps"
FLAG_OVERRIDES = {
    "bert_vocab_file": "task.conversion.bert_vocab_file",
    **{
        field.name: f"task.conversion.{field.name}"
        for field in dataclasses.fields(ConversionConfig)
        if field.name in flag_definitions.FLAGS
    },
    "init_checkpoint": "task.init_checkpoint",
    "skip_mismatched": "task.skip_mismatched",
    "reset_output_cls": "task.reset_output_cls",
    "train_batch_size": "task.train_data.global_batch_size",
    "test_batch_size": "task.validation_data.global_batch_size",
    "attention": f"{_ENCODER}.attention.name",
    "global_length": f"{_ENCODER}.attention.global_length",
    "radius": f"{_ENCODER}.attention.radius",
    "row_heads_ratio": f"{_ENCODER}.attention.row_heads_ratio",
    "reset_position_index_per_cell": f"{_ENCODER}.reset_position_index_per_cell",
    "gradient_accumulation_steps": _ACCUMULATION,
    "num_train_steps": "trainer.train_steps",
    "learning_rate": _LEARNING_RATE,
    "tf_random_seed": "tf_random_seed",
    "mixed_precision": "runtime.mixed_precision_dtype",
    "tpu_name": "runtime.tpu",
    "tpu_zone": "runtime.tpu_zone",
    "gcp_project": "runtime.gcp_project",
}
"""Flag -> key of the experiment that it sets."""

MODES_WITH_ANSWERS = ("predict", "predict_and_evaluate", "export", *checks.OF_PRESET)
"""Modes that need a task with `Capabilities.answers_questions`."""

MODES_ON_TPU = ("run", "train", "eval")
"""Modes that use the TPU of --use_tpu or `runtime.num_gpus` GPUs."""

MODES_WITH_TABLES = checks.OF_PRESET
"""Modes that need a task with `Capabilities.reads_tables`."""


class Trainer(NamedTuple):
    """Functions with signatures as `trainer.train`, `trainer.evaluate`, `prediction.predictor`."""

    train: Callable
    evaluate: Callable
    predictor: Callable


STRATEGY = Trainer(bootstrap.train, trainer.evaluate, prediction.predictor)


@dataclasses.dataclass(frozen=True)
class Job:
    """An experiment with its folders.

    Attributes:
        experiment: configuration of task, model and trainer, with all data paths.
        task: the task.
        input_dir: folder with the data set's official files; None for tasks without files.
        output_dir: folder for interactions, examples and the vocabulary.
        model_dir: folder for checkpoints, summaries and predictions.
        export_dir: folder for the SavedModel.
        num_processes: processes that convert examples.
        runner_type: Beam runner that converts instead of processes, a key of `data.beam.RUNNERS`.
        beam_options: command line options of the Beam runner.
        decisions: values of the experiment that the data determine (`Task.decided_by_data`).
        trainer: functions that train, evaluate and predict.
        calibrate: fit the confidence of answers when the model is evaluated.
        whole_tables: predict over all rows of tables, also of those that do not fit the model.
        perturb: what is shuffled in tables that are asked about again: "rows", "columns".
    """

    experiment: TableExperiment
    task: Task
    input_dir: str | None
    output_dir: str
    model_dir: str
    export_dir: str
    num_processes: int
    runner_type: str | None = None
    beam_options: tuple[str, ...] = ()
    decisions: dict = dataclasses.field(default_factory=dict)
    trainer: Trainer = STRATEGY
    calibrate: bool = False
    whole_tables: bool = False
    perturb: tuple[str, ...] = ()

    @classmethod
    def from_flags(cls, flags) -> "Job":
        """Reads the configuration: the task's defaults, the file, the flags, --params_override.

        Raises:
            InputError: if any of them is not valid.
        """
        config_file = flags.config_file and find_config(flags.config_file)
        configuration = pretrained.read(flags)
        task = flags.task or (configuration and configuration.task)
        experiment = experiments.load(config_file, task=task)
        _check_mode(experiment.task.name, flags)
        where = folders(flags, task)
        overrides = [experiments.read_override(text) for text in flags.params_override]
        if configuration:
            pretrained.configure(experiment, configuration, where.model_dir)
            # The flag may be a name on the hub.
            checkpoint = _nested("task.init_checkpoint", configuration.source.checkpoint)
            overrides.insert(0, (checkpoint, "--init_checkpoint"))
        return cls.create(experiment, flags, overrides, *where, keeps_model=bool(configuration))

    @classmethod
    def create(
        cls,
        experiment,
        flags,
        overrides,
        output_dir: str,
        model_dir: str,
        export_dir: str,
        keeps_model: bool = False,
    ) -> "Job":
        """Returns the job of an experiment in given folders.

        Args:
            experiment: a `TableExperiment`. Changed in place by the data's decisions, the flags
                and `overrides`, in this order.
            flags: values of the command line's flags.
            overrides: pairs (nested dict, its file or flag).
            output_dir, model_dir, export_dir: see the attributes.
            keeps_model: the model is used as it was trained, whatever heads the data would need.

        Raises:
            InputError: if any of them is not valid.
        """
        decisions, source = _decisions(experiment.task.name, flags.input_dir, output_dir)
        if keeps_model and decisions:
            task_alone = {key: each for key, each in decisions["task"].items() if key != "model"}
            decisions = {"task": task_alone}
        experiments.override(experiment, decisions, source)
        for flag, values in _flag_overrides(flags):
            experiments.override(experiment, values, flag)
        for values, source in overrides:
            experiments.override(experiment, values, source)
        task = tasks.create(experiment.task)
        _fill_paths(task, flags.mode, output_dir)
        experiments.check(experiment)
        checks.check_initial(experiment.task.init_checkpoint, "task.init_checkpoint=")
        _check_tpu(experiment, flags)
        if flags.mode in MODES_ON_TPU:
            training_checks.check_gpus(experiment.runtime)
        return cls(
            experiment=experiment,
            task=task,
            input_dir=flags.input_dir,
            output_dir=output_dir,
            model_dir=model_dir,
            export_dir=export_dir,
            num_processes=flags.num_processes,
            runner_type=flags.runner_type,
            beam_options=_beam_options(flags),
            decisions=decisions,
            trainer=_trainer(flags),
            calibrate=bool(flags.calibrate),
            whole_tables=bool(flags.whole_tables),
            perturb=tuple(flags.perturb),
        )

    @property
    def vocab_file(self) -> str:
        """Path of the vocabulary: the user's, or the one that create_data wrote.

        Raises:
            InputError: if neither exists.
        """
        path = self.experiment.task.conversion.bert_vocab_file
        if not path:
            raise InputError(f"task {self.task.name} needs --bert_vocab_file=FILE")
        if not os.path.isfile(path):
            raise InputError(f"--bert_vocab_file={path}: no such file")
        return path

    def save_decisions(self) -> None:
        """Saves the data's decisions with the examples, for modes that do not read the data."""
        if self.decisions:
            write_json(os.path.join(self.output_dir, DECISIONS_FILE), self.decisions)

    @staticmethod
    def require_examples(*paths: str) -> None:
        """Raises InputError for a path or pattern without files, before the job begins."""
        for path in paths:
            if not files.matching(path):
                raise InputError(f"{path}: no such file; run --mode=create_data first")


def _trainer(flags) -> Trainer:
    """Returns the trainer that --trainer names. Raises InputError if this TensorFlow has none."""
    if flags.trainer == "strategy":
        return STRATEGY
    from mate_tf.training import estimator

    estimator.check_available()
    # TPUEstimator warns at every call that it will be removed.
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    names = [field.name for field in dataclasses.fields(estimator.Options)]
    options = estimator.Options(**{name: getattr(flags, name) for name in names})
    train = functools.partial(estimator.train, options=options)
    return Trainer(train, estimator.evaluate, estimator.predictor)


def _decisions(task: str, input_dir: str | None, output_dir: str) -> tuple[dict, str]:
    """Returns the data's decisions, from the data or as create_data saved them, and their path."""
    saved = os.path.join(output_dir, DECISIONS_FILE)
    if input_dir and os.path.isdir(input_dir):
        decided, source = tasks.get(task).decided_by_data(input_dir), input_dir
        return ({"task": decided} if decided else {}), source
    if os.path.exists(saved):
        return experiments.read_override(saved)
    return {}, saved


def _check_mode(task: str, flags) -> None:
    mode = flags.mode
    if mode in MODES_WITH_ANSWERS and not tasks.get(task).capabilities.answers_questions:
        raise InputError(
            f"task {task} does not answer questions, so it has no --mode={mode}; fine-tune another "
            "task from its model with --init_checkpoint"
        )
    if mode in MODES_WITH_TABLES and not tasks.get(task).capabilities.reads_tables:
        raise InputError(f"task {task} does not read tables, so it has no --mode={mode}")
    for name in ("whole_tables", "perturb"):
        if getattr(flags, name) and not tasks.get(task).capabilities.reads_tables:
            raise InputError(f"task {task} does not read tables, so it has no --{name}")


def _check_tpu(experiment, flags) -> None:
    """Raises InputError if the TPU is not found, before the job begins."""
    on_tpu = experiment.runtime.distribution_strategy == tpu.STRATEGY
    for name in ("tpu_name", "tpu_zone", "gcp_project"):
        if getattr(flags, name) is not None and not on_tpu and not flags.use_tpu:
            raise InputError(f"--{name}={getattr(flags, name)}: needs --use_tpu")
    if on_tpu and flags.mode in MODES_ON_TPU:
        tpu.address(experiment.runtime)


def _beam_options(flags) -> tuple[str, ...]:
    if flags.beam_options and not flags.runner_type:
        raise InputError(f"--beam_options={flags.beam_options}: needs --runner_type")
    try:
        return tuple(shlex.split(flags.beam_options))
    except ValueError as error:
        raise InputError(f"--beam_options={flags.beam_options}: {error}") from error


def _fill_paths(task: Task, mode: str, output_dir: str) -> None:
    """Sets paths that the configuration leaves empty to files in the output folder."""
    config = task.task_config
    for data, split in ((config.train_data, "train"), (config.validation_data, "dev")):
        data.input_path = data.input_path or examples_path(output_dir, split)
    if not config.conversion.bert_vocab_file:
        config.conversion.bert_vocab_file = job_vocabulary.find(task, mode, output_dir)


def _flag_overrides(flags):
    """Yields (flag or file, nested dict) for each flag that was given."""
    if flags.bert_config_file:
        yield flags.bert_config_file, _nested(_ENCODER, _bert_config(flags.bert_config_file))
    if flags.use_tpu and flags.trainer == "strategy":
        yield "--use_tpu", _nested("runtime.distribution_strategy", tpu.STRATEGY)
    for name, key in FLAG_OVERRIDES.items():
        value = (
            pretrained.precision_of(flags) if name == "mixed_precision" else getattr(flags, name)
        )
        if value is not None:
            yield f"--{name}", _nested(key, value)


def _nested(key: str, value) -> dict:
    for part in reversed(key.split(".")):
        value = {part: value}
    return value


def _bert_config(path: str) -> dict:
    """Returns the encoder's fields of a bert_config.json; other keys are ignored."""
    values = read_json_object(path, name=f"--bert_config_file={path}")
    config = {name: values[name] for name in BERT_FIELDS if name in values}
    # In TAPAS's files this is a list of seven sizes. BERT's single number is of no use here.
    if isinstance(values.get("type_vocab_size"), list):
        config["type_vocab_sizes"] = values["type_vocab_size"]
    return config
