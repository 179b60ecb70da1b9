"""Task and folders of a command, and checks of its flags: what does not need TensorFlow.

So a wrong path is reported at once.
"""

import dataclasses
import glob
import os
import pathlib
import sys
from typing import NamedTuple

from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.files.config_files import find_config, with_bases
from mate_tf.serving import model_folder, presets
from mate_tf.tables.limits import Limits
from mate_tf.tables.table import Table

POINTR = "POINTR"
"""The task with two models. All other tasks have one."""

_OBJECT_GRAPH = b"_CHECKPOINTABLE_OBJECT_GRAPH"

READ_BY = {"input_dir": ("run", "create_data"), "bert_config_file": (), "passages": ("ask",)}
"""Flags with a path that must be there -> modes that read it; empty: all of them."""

OF_CHECKPOINTS = ("eval", "predict", "predict_and_evaluate", "export", "analyze")
"""Modes of a model that is trained already."""

WITHOUT_MODEL_DIR = ("create_data", "profile")
"""Modes that read and write nothing in --model_dir."""

OF_CALIBRATION = ("run", "predict_and_evaluate", "export")
"""Modes that --calibrate is for."""

OF_WHOLE_TABLES = ("predict", "predict_and_evaluate")
"""Modes that --whole_tables is for."""

PERTURBED = ("rows", "columns")
"""Parts of a table that --perturb shuffles."""

MAX_SEED = 2**31 - 1
"""Largest seed, as for --tf_random_seed."""

AGAINST_SEEDS = {
    "tf_random_seed": "give one of them",
    "export_dir": "no model is exported; --mode=export with --model_dir exports that of a seed",
    "calibrate": "no model is exported",
}
"""Flags that --seeds excludes -> reason."""

OF_A_MODEL = (
    *("export_dir", "init_checkpoint", "model_dir", "output_dir"),
    *("task", "config_file"),
)
"""Flags that say which model or task is meant. Without any, modes of `OF_PRESET` take a preset."""

OF_PRESET = ("ask", "demo", "serve", "mcp")
"""Modes that answer questions with a trained model: the preset that comes with the package, if no
flag names one."""

OF_PRETRAINED = ("predict", "predict_and_evaluate", "export", "analyze", *OF_PRESET)
"""Modes for which --init_checkpoint is enough, without a training run."""


_PAGES = ("demo", "serve")
_PROFILE = ("lengths", "variants", "precisions", "compile", "passes", "memory", "threads")
_TABLE = ("table", "question", "format", "delimiter", "encoding", "header_row", "sheet", "query")

MODES_OF = {
    **dict.fromkeys((*_TABLE, "passages"), ("ask",)),
    **dict.fromkeys(("port", "host", "allowed_hosts", "max_upload_mb"), _PAGES),
    "root_path": ("demo",),
    **dict.fromkeys(
        ("workers", "max_batch", "max_waiting", "max_tables", "max_tables_mb"), ("serve",)
    ),
    "timeout": ("serve", "mcp"),
    "perturb": ("predict_and_evaluate",),
    "folder": ("mcp",),
    **dict.fromkeys((*_PROFILE, "repeats"), ("profile",)),
}
"""Flag -> modes that read it. Others refuse it, rather than do without in silence.

Flags of data, model and training are not among them: all modes of a job are given the same ones.
"""


class Folders(NamedTuple):
    """Folders of a job.

    Attributes:
        output_dir: interactions, examples and vocabulary.
        model_dir: checkpoints, summaries and predictions.
        export_dir: the SavedModel.
    """

    output_dir: str
    model_dir: str
    export_dir: str


def folders(flags, task: str | None = None) -> Folders:
    """Returns the folders that the flags name, or out/<configuration or task> and folders in it.

    Args:
        flags: values of the flags.
        task: the task where neither --task nor --config_file names one.

    Raises:
        InputError: there is no such configuration.
    """
    config_file = flags.config_file and find_config(flags.config_file)
    name = config_file or (flags.task or task or "").lower()
    stem = os.path.splitext(os.path.basename(name))[0]
    output_dir = flags.output_dir or os.path.join("out", stem)
    model_dir = flags.model_dir or os.path.join(output_dir, "model")
    return Folders(output_dir, model_dir, flags.export_dir or os.path.join(model_dir, "export"))


def task_name(flags) -> str:
    """Returns the task of --task or --config_file, in upper case; "" if neither has one.

    A file that cannot be read also gives "". The error is raised later, when the whole file is
    read.
    """
    name = flags.task
    if not name and flags.config_file:
        from mate_tf.files.yaml_files import read_yaml  # imports PyYAML, which takes 0.1 s

        try:
            config = find_config(flags.config_file)
            chain = with_bases(config, lambda path: read_yaml(path) or {})
            sections = [given.get("task") for given, _ in chain]
            name = [each["name"] for each in sections if each and "name" in each][-1]
        except (OSError, InputError):
            return ""
        except (AttributeError, IndexError, TypeError):  # of another form
            return ""
    return str(name or "").upper()


def is_pointr(flags) -> bool:
    """Returns whether --task, --config_file or, for --mode=ask, a folder is of POINTR."""
    if task_name(flags) == POINTR:
        return True
    folders = (flags.export_dir, flags.init_checkpoint) if flags.mode == "ask" else ()
    return any(map(model_folder.holds_pointr, filter(None, folders)))


def check(flags) -> None:
    """Raises InputError for a path that is not there, or with a TF1 checkpoint as --model_dir.

    Finds --init_checkpoint among the presets, or fetches it from the hub. Where a mode of
    `OF_PRESET` is given no model, it is the preset that comes with the package, if there is one.
    """
    named = flags.task or flags.config_file
    names_model = any(getattr(flags, name) for name in OF_A_MODEL)
    preset = presets.PASSAGES if flags.passages else presets.DEFAULT
    if flags.mode in OF_PRESET and not names_model and preset in presets.names():
        flags.init_checkpoint = presets.find(preset)
        card = os.path.join(flags.init_checkpoint, "README.md")
        _report_model(f"{preset}; its scores and limits: {card}")
    where = folders(flags)  # looks for --config_file
    for name, path in where._asdict().items():
        paths.check_no_pattern(path, f"--{name}={path}")
    for name, modes in READ_BY.items():
        path = getattr(flags, name)
        if path and (not modes or flags.mode in modes) and not _exists(path):
            kind = "folder" if name.endswith("_dir") else "file"
            raise InputError(f"--{name}={path}: no such {kind}")
    if flags.mode not in WITHOUT_MODEL_DIR:
        _check_model_dir(where.model_dir)
    if flags.calibrate:
        _check_calibrate(flags)
    if flags.whole_tables:
        _check_whole_tables(flags)
    if flags.perturb:
        _check_perturb(flags)
    if flags.seeds is not None:
        _check_seeds(flags)
    answers_by_weights = flags.mode in OF_PRESET and flags.init_checkpoint
    if flags.mixed_precision == "int8" and not answers_by_weights:
        raise InputError(
            "--precision=int8: only for ask, demo, serve and mcp with --init_checkpoint"
        )
    if flags.init_checkpoint:
        _check_checkpoint(flags)
    elif is_pointr(flags):
        return
    elif flags.mode in OF_CHECKPOINTS and named and not _exists(where.model_dir):
        raise InputError(f"{where.model_dir}: no checkpoint here; train first")


def check_modes(flags) -> None:
    """Raises InputError for a flag that was given and that the mode does not read.

    Args:
        flags: `absl.flags.FLAGS`.
    """
    for name, modes in MODES_OF.items():
        if flags[name].present and flags.mode not in modes:
            raise InputError(
                f"--{name} is for --mode={', '.join(modes)}; --mode={flags.mode} does not read it"
            )


def check_initial(path: str, said: str) -> None:
    """Raises InputError for a checkpoint of TensorFlow that it would look for by a pattern.

    Args:
        path: a checkpoint or a folder with one.
        said: start of the error's message, before the path.
    """
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
    if any(name.endswith(".index") for name in paths.names(folder)):
        paths.check_no_pattern(path, f"{said}{path}")


def check_export(export_dir: str) -> None:
    """Raises InputError for a folder without a SavedModel."""
    if not _exists(os.path.join(export_dir, model_folder.Kind.EXPORT.value)):
        raise InputError(f"{export_dir}: no SavedModel here; --mode=export writes one")


def reading(flags) -> dict[str, bool]:
    """Returns those of `READING_OPTIONS` that are given as flags."""
    from mate_tf.tables.conversion import READING_OPTIONS  # imports NumPy, which --help need not

    return {
        name: getattr(flags, name) for name in READING_OPTIONS if getattr(flags, name) is not None
    }


def seeds(flags) -> list[int]:
    """Returns the seeds of --seeds.

    Raises:
        InputError: if one is not a seed, or there twice.
    """
    texts = flags.seeds
    good = [text.isascii() and text.isdigit() and len(text) < 11 for text in texts]
    numbers = [int(text) for text in texts] if all(good) else []
    if not numbers or max(numbers) > MAX_SEED or len(set(numbers)) < len(numbers):
        raise InputError(
            f"--seeds={','.join(texts)}: expected different whole numbers from 0 to {MAX_SEED}, "
            "for example 0,1,2"
        )
    return numbers


def limits(flags) -> Limits:
    """Returns the limits of --table that the flags give."""
    return Limits(
        **{field.name: getattr(flags, field.name) for field in dataclasses.fields(Limits)}
    )


def given_table(flags) -> Table:
    """Reads --table with the flags that say what it is.

    Raises:
        InputError: see `tables.any_table.read_table`.
    """
    from mate_tf.tables.any_table import read_table
    from mate_tf.tables.text_table import FileOptions

    asked = FileOptions(flags.delimiter, flags.header_row, flags.encoding)
    return read_table(flags.table, limits(flags), asked, flags.sheet, flags.query)


def _check_model_dir(model_dir: str) -> None:
    """Raises InputError if a folder has checkpoints of TensorFlow 1 only."""
    files = sorted(glob.glob(os.path.join(glob.escape(model_dir), "*.index")))
    trained = os.path.exists(os.path.join(model_dir, model_folder.Kind.TRAINED.value))
    # Newer checkpoints store the graph of their objects next to the variables.
    if not files or trained or any(_OBJECT_GRAPH in pathlib.Path(f).read_bytes() for f in files):
        return
    raise InputError(
        f"{model_dir}: has a TF1 checkpoint ({os.path.basename(files[-1])}), as BERT and "
        "google-research/tapas write it. --model_dir is for checkpoints of mate-tf: give this one "
        f"as --init_checkpoint={model_dir}, to answer with it or, with another --model_dir, to "
        "train from it"
    )


def _check_calibrate(flags) -> None:
    if flags.mode not in OF_CALIBRATION:
        raise InputError(f"--calibrate is for --mode={', '.join(OF_CALIBRATION)}")
    if not (flags.task or flags.config_file):
        raise InputError("--calibrate needs --task or --config_file, with its dev questions")
    if is_pointr(flags):
        raise InputError(f"--calibrate: task {flags.task or flags.config_file} has two models")


def _check_whole_tables(flags) -> None:
    if flags.mode not in OF_WHOLE_TABLES:
        raise InputError(f"--whole_tables is for --mode={', '.join(OF_WHOLE_TABLES)}")
    if is_pointr(flags):
        raise InputError(
            "--whole_tables: POINTR reads single cells and does not answer over whole tables"
        )


def _check_perturb(flags) -> None:
    if not set(flags.perturb) <= set(PERTURBED) or len(set(flags.perturb)) < len(flags.perturb):
        raise InputError(
            f"--perturb={','.join(flags.perturb)}: expected {' or '.join(PERTURBED)}, or both, "
            "separated by a comma"
        )
    if is_pointr(flags):
        raise InputError("--perturb: POINTR has two models; give the task of a stage")


def _check_seeds(flags) -> None:
    seeds(flags)
    if flags.mode != "run":
        raise InputError("--seeds is for --mode=run")
    for name, reason in AGAINST_SEEDS.items():
        if getattr(flags, name) is not None:
            raise InputError(f"--seeds and --{name}: {reason}")
    if is_pointr(flags):
        name = flags.task or flags.config_file
        raise InputError(f"--seeds: task {name} has two models; give the tasks of its stages")


def _check_checkpoint(flags) -> None:
    path = flags.init_checkpoint
    if not _exists(path) and path in presets.names():
        flags.init_checkpoint = presets.find(path)
    elif flags.mode in OF_PRESET and model_folder.holds_pointr(path):
        pass  # it has two models, which are looked for when they are loaded
    elif flags.mode in OF_PRETRAINED and (flags.mode in OF_PRESET or not flags.config_file):
        name = model_folder.find(path).name
        if not _exists(path) and not _exists(f"{path}.index"):  # on the hub
            _report_model(name)
            flags.init_checkpoint = name  # so that nothing newer is fetched when it is loaded
    elif not _exists(path) and not _exists(f"{path}.index"):
        from mate_tf.serving import hub

        if not hub.is_name(path):
            raise InputError(f"{path}: no such checkpoint or folder")
        flags.init_checkpoint = hub.fetch(path)
        _report_model(hub.pinned(path, flags.init_checkpoint))
    check_initial(flags.init_checkpoint, "--init_checkpoint=")


def _report_model(text: str) -> None:
    print(f"model | {text}", file=sys.stderr)


def _exists(path: str) -> bool:
    """Returns whether a path exists. Paths in buckets, which only TensorFlow can read, pass."""
    return "://" in path or os.path.exists(path)
