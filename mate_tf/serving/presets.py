"""Trained models that come with the package, by their names, and how such a folder is written.

A preset is a folder of `models/` in a checkout, and of `mate_tf/presets/` where the package is
installed. It has config.yaml (task, conversion and model), vocab.txt, model.safetensors with the
reference's names of variables, and README.md, its model card. With calibration.json its answers
have a confidence.
"""

import dataclasses
import os
import pathlib

from mate_tf.errors import InputError
from mate_tf.serving.source import WEIGHTS, Kind

DEFAULT = "mini"
"""The preset that --mode=ask uses without another model."""

_PACKAGE = pathlib.Path(__file__).parents[1]
FOLDERS = (_PACKAGE / "presets", _PACKAGE.parent / "models")
"""Folders that are searched for presets, in this order."""

VOCABULARY = "vocab.txt"


def names() -> list[str]:
    """Returns the names of the presets that are there, sorted."""
    files = [path for folder in FOLDERS for path in folder.glob(f"*/{Kind.PRESET.value}")]
    return sorted({path.parent.name for path in files})


def find(name: str) -> str:
    """Returns the folder of a preset.

    Raises:
        InputError: if there is no preset of this name; the message lists those that are there.
    """
    for folder in FOLDERS:
        if name in names() and (folder / name / Kind.PRESET.value).is_file():
            return str(folder / name)
    known = ", ".join(names()) or "none"
    raise InputError(f"no preset {name!r} comes with this mate-tf; there is {known}")


def save(model_dir: str | os.PathLike, folder: str | os.PathLike) -> None:
    """Writes the last model of a training as a preset, with weights in bfloat16.

    A calibration that was fitted to this model (`--calibrate`) is written too.

    Args:
        model_dir: the --model_dir of a task that answers questions about tables.
        folder: the folder to write.

    Raises:
        InputError: if `model_dir` has no trained model.
    """
    # Imported here, since a preset is looked for before TensorFlow is loaded.
    import yaml

    from mate_tf import checkpoints
    from mate_tf.checkpoints import safetensors
    from mate_tf.files.atomic import write_text
    from mate_tf.serving import confidence, configurations, pretrained, source

    trained = source.find(model_dir)
    found, fitted = configurations.read(trained), confidence.of_source(trained)
    model = pretrained.build(found)
    config = {
        "task": {
            "name": found.task,
            "conversion": dataclasses.asdict(found.conversion),
            "model": found.model.as_dict(),
        }
    }
    values = checkpoints.checkpoint_variables(model)
    os.makedirs(folder, exist_ok=True)
    safetensors.write(
        os.path.join(folder, WEIGHTS),
        {name: variable.numpy() for name, variable in values.items()},
        "BF16",
    )
    text = pathlib.Path(found.vocab_file).read_text(encoding="utf-8")
    write_text(os.path.join(folder, VOCABULARY), text)
    write_text(os.path.join(folder, Kind.PRESET.value), yaml.safe_dump(config, sort_keys=False))
    if fitted is not None:
        confidence.write(folder, dataclasses.replace(fitted, weights=""))
