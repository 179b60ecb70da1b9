"""SavedModels that are loaded once: for a small one TensorFlow takes two seconds."""

import hashlib
import pathlib
from collections.abc import Callable

_LAST = {}
"""The SavedModel that was loaded last, by its content."""


def once(load: Callable) -> Callable:
    """Returns `tf.saved_model.load` that loads nothing if it is what was loaded last. A folder is
    known by its content, so that a copy is the same and a damaged one is not. The files in
    assets.extra are not TensorFlow's."""

    def load_once(path: str):
        content = hashlib.sha256()
        for file in sorted(each for each in pathlib.Path(path).rglob("*") if each.is_file()):
            if file.parent.name == "assets.extra":
                continue
            content.update(f"{file.relative_to(path)} {file.stat().st_size} ".encode())
            content.update(file.read_bytes())
        key = content.digest()
        if key not in _LAST:
            _LAST.clear()
            _LAST[key] = load(path)
        return _LAST[key]

    return load_once
