"""Trained models that come with the package, by their names.

They are folders of `models/` in a checkout, and of `mate_tf/presets/` where the package is
installed. `serving.saving` writes such folders.
"""

import pathlib

from mate_tf.errors import InputError
from mate_tf.serving.model_folder import POINTR, Kind, Source

DEFAULT = "mini"
"""The preset that --mode=ask uses without another model."""

PASSAGES = "mini-passages"
"""The one that it uses with --passages: both models of POINTR."""

_PACKAGE = pathlib.Path(__file__).parents[1]
FOLDERS = (_PACKAGE / "presets", _PACKAGE.parent / "models")
"""Folders that are searched for presets, in this order."""


_FILES = (Kind.PRESET.value, POINTR)
"""A preset has one of them."""


def names() -> list[str]:
    """Returns the names of the presets that are there, sorted."""
    files = [path for folder in FOLDERS for name in _FILES for path in folder.glob(f"*/{name}")]
    return sorted({path.parent.name for path in files})


def find(name: str) -> str:
    """Returns the folder of a preset.

    Raises:
        InputError: if there is no preset of this name; the message lists those that are there.
    """
    for folder in FOLDERS:
        if name in names() and any((folder / name / file).is_file() for file in _FILES):
            return str(folder / name)
    known = ", ".join(names()) or "none"
    raise InputError(f"no preset {name!r} comes with this mate-tf; there is {known}")


def keras_model(source: Source, precision: str | None, max_seq_length: int | None):
    """Loads a preset as a `TableClassifier`; the arguments are those of `from_pretrained`."""
    from mate_tf.serving import configurations, pretrained  # they import TensorFlow

    configuration = configurations.read(source)
    return pretrained.build(pretrained.configured(configuration, None, precision, max_seq_length))
