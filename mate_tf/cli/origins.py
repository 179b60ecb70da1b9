"""Names the checkpoint of predictions, submissions and scores: predicted.json in a model folder.

The formats of predictions are those of official evaluators and have no place for it. The file has
a hash of each of them, so that a file of another run, or half of the files of one, is noticed.
"""

import hashlib
import os
import re
from collections.abc import Iterable

from mate_tf.checkpoints.latest import latest
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.files.atomic import write_json
from mate_tf.files.json_files import read_json_object

FILE = "predicted.json"
KEY = "checkpoint"
"""Key of the checkpoint in `FILE` and in metrics.json."""

_STEP = re.compile(r"-(\d+)$")
_AGAIN = "run --mode=predict_and_evaluate again"


def checkpoint(model_dir: str, initial: str = "") -> dict:
    """Returns what predictions are of now.

    Args:
        model_dir: folder of the training.
        initial: the checkpoint that is used if there is none.

    Returns:
        name: of the last checkpoint, or `initial`; step: its step, None if the name has none.
    """
    path = latest(model_dir)
    name = os.path.basename(path) if path else initial
    step = _STEP.search(name)
    return {"name": name, "step": int(step[1]) if step else None}


def record(model_dir: str, of: dict, files: Iterable[str]) -> None:
    """Notes that files in the folder are of a checkpoint. Files of another one are forgotten.

    Args:
        model_dir: the folder.
        of: result of `checkpoint`.
        files: their paths.
    """
    path = os.path.join(model_dir, FILE)
    known = {}
    if os.path.exists(path):
        content = read_json_object(path)
        known = content.get("files", {}) if content.get(KEY) == of else {}
    known |= {os.path.basename(file): _hash(file) for file in files}
    write_json(path, {KEY: of, "files": dict(sorted(known.items()))})


def check(model_dir: str, files: Iterable[str]) -> None:
    """Checks that files in a folder are of the checkpoint whose scores are in its metrics.json.

    Folders of versions that did not write down the checkpoint are not checked.

    Raises:
        InputError: if they are of another one, or have been changed since.
    """
    scores = os.path.join(model_dir, "metrics.json")
    scored = read_json_object(scores).get(KEY) if os.path.exists(scores) else None
    if scored is None:
        return
    path = os.path.join(model_dir, FILE)
    content = read_json_object(path) if os.path.exists(path) else {}
    predicted = content.get(KEY)
    if predicted != scored:
        raise InputError(
            f"{scores}: has the scores of {_words(scored)}, but the predictions next to it are "
            f"from {_words(predicted)}; {_AGAIN}"
        )
    hashes = content.get("files")
    for file in files:
        if not isinstance(hashes, dict) or hashes.get(os.path.basename(file)) != _hash(file):
            raise InputError(
                f"{file}: is not from {_words(scored)}, whose scores are here; {_AGAIN}"
            )


def _hash(path: str) -> str:
    return hashlib.sha256(paths.read_bytes(path)).hexdigest()


def _words(of) -> str:
    if not isinstance(of, dict):
        return "an unknown checkpoint"
    return str(of.get("name")) or "no checkpoint"
