"""Checks of the flags that need no TensorFlow, so that a wrong path is reported at once."""

import os

from mate_tf.cli import pipelines
from mate_tf.cli.folders import folders
from mate_tf.errors import InputError
from mate_tf.serving import hub, source

READ_BY = {
    "input_dir": ("run", "create_data"),
    "bert_config_file": (),
    "passages": ("ask",),
}
"""Flags with a path that must be there -> modes that read it; empty: all of them."""

OF_CHECKPOINTS = ("eval", "predict", "predict_and_evaluate", "export", "analyze")
"""Modes of a model that is trained already."""

OF_CALIBRATION = ("run", "predict_and_evaluate", "export")
"""Modes that --calibrate is for."""

OF_PRETRAINED = ("predict", "predict_and_evaluate", "export", "analyze", "ask", "demo")
"""Modes that --init_checkpoint is enough for, without a training."""


def check(flags) -> None:
    """Raises InputError for a path that is not there; fetches --init_checkpoint from the hub."""
    named = flags.task or flags.config_file
    where = folders(flags)  # looks for --config_file
    for name, modes in READ_BY.items():
        path = getattr(flags, name)
        if path and (not modes or flags.mode in modes) and not _exists(path):
            kind = "folder" if name.endswith("_dir") else "file"
            raise InputError(f"--{name}={path}: no such {kind}")
    if flags.calibrate:
        _check_calibrate(flags)
    if flags.init_checkpoint:
        _check_checkpoint(flags)
    elif pipelines.find(flags):
        return
    elif flags.mode in OF_CHECKPOINTS and named and not _exists(where.model_dir):
        raise InputError(f"{where.model_dir}: no checkpoint here; train first")


def check_export(export_dir: str) -> None:
    """Raises InputError for a folder without a SavedModel."""
    if not _exists(os.path.join(export_dir, source.Kind.EXPORT.value)):
        raise InputError(f"{export_dir}: no SavedModel here; --mode=export writes one")


def _check_calibrate(flags) -> None:
    if flags.mode not in OF_CALIBRATION:
        raise InputError(f"--calibrate is for --mode={', '.join(OF_CALIBRATION)}")
    if not (flags.task or flags.config_file):
        raise InputError("--calibrate needs --task or --config_file, with its dev questions")
    if pipelines.find(flags):
        raise InputError(f"--calibrate: task {flags.task or flags.config_file} has two models")


def _check_checkpoint(flags) -> None:
    path = flags.init_checkpoint
    if flags.mode in OF_PRETRAINED and (flags.mode in ("ask", "demo") or not flags.config_file):
        source.find(path)
    elif _exists(path) or _exists(f"{path}.index"):
        return
    elif hub.is_name(path):
        flags.init_checkpoint = hub.fetch(path)
    else:
        raise InputError(f"{path}: there is no such checkpoint or folder")


def _exists(path: str) -> bool:
    """Returns whether a path exists. Paths in buckets, which only TensorFlow can read, pass."""
    return "://" in path or os.path.exists(path)
