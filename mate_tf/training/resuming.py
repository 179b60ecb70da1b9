"""Comparison of a training run with the run that it resumes.

A changed model is refused by `experiments.check_same_model`. Of other changes that have an effect
on the weights a warning names each key. Those after which the batches that have been read could
not be left out, or the optimizer's state not be used, are refused.
"""

import hashlib
import os
from collections.abc import Iterator

from absl import logging

from mate_tf.checkpoints.latest import latest
from mate_tf.data.records import tfrecord
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.files.atomic import write_json
from mate_tf.files.json_files import read_json_object
from mate_tf.training import experiments

FILE = "records.json"
"""Hash of the records that a training run reads, in its folder."""

_WATCHED = (
    *("tf_random_seed", "task", "bootstrap", "trainer.optimizer_config"),
    "runtime.mixed_precision_dtype",
)
_FREE = (
    # Compared elsewhere, or without an effect on a resumed training.
    *("task.model", "task.validation_data", "task.init_checkpoint", "task.init_exclude"),
    *("task.skip_mismatched", "task.reset_output_cls"),
    # Folders may be moved. The records themselves are compared.
    *("task.train_data.input_path", "task.conversion.bert_vocab_file"),
)
_OF_BATCHES = (
    "tf_random_seed",
    *(f"task.train_data.{key}" for key in ("seed", "global_batch_size", "max_batch_tokens")),
    *(f"task.train_data.{key}" for key in ("buckets", "curriculum_length", "curriculum_steps")),
    *(f"task.train_data.{key}" for key in ("shuffle_buffer_size", "static_shapes")),
)
_OPTIMIZER = "trainer.optimizer_config.optimizer.type"
_ADVICE = (
    "give another --model_dir, with the checkpoint here as task.init_checkpoint and "
    "trainer.continue_steps=true to go on from it"
)
_WHOLE, _PARTS, _PART = 2**24, 256, 2**16  # bytes, number, bytes


def check(experiment, model_dir: str) -> None:
    """Compares an experiment with the one whose training it resumes, if there is one.

    Args:
        experiment: the resolved experiment.
        model_dir: folder of the training.

    Raises:
        InputError: if the optimizer is another one; or, with a seed, the batches.
    """
    path = os.path.join(model_dir, experiments.PARAMS_FILE)
    if latest(model_dir) is None or not os.path.exists(path):
        return
    before, now = experiments.load(path).as_dict(), experiment.as_dict()
    data = experiment.task.train_data
    seeded = data.seed is not None or experiment.tf_random_seed is not None
    changed = list(_changed(before, now))
    for key, old, new in changed:
        if key == _OPTIMIZER:
            raise InputError(f"{path}: the optimizer here is {old}, not {new}; {_ADVICE}")
        if seeded and key.startswith(_OF_BATCHES):
            raise InputError(
                f"{path}: the training here has {key}={old}, not {new}, so the batches that it "
                f"has read are not known; {_ADVICE}"
            )
    old, new = _saved(model_dir), fingerprint(data.input_path)
    if old and new and old != new:
        message = f"{data.input_path}: these are not the records that {model_dir} was trained on"
        if seeded:
            raise InputError(f"{message}, so those that it has read are not known; {_ADVICE}")
        logging.warning("%s", message)
    for key, old, new in changed:
        logging.warning("%s: continuing with %s=%s, previously %s", model_dir, key, new, old)


def save(experiment, model_dir: str) -> None:
    """Writes the hash of the records next to the checkpoints."""
    records = fingerprint(experiment.task.train_data.input_path)
    if records and records != _saved(model_dir):
        write_json(os.path.join(model_dir, FILE), {"train": records})


def fingerprint(pattern: str) -> str | None:
    """Returns a hash of the contents of records, which need not have the same names.

    Of a large file it has evenly spaced parts; other orders of the examples differ there.

    Args:
        pattern: path or pattern.

    Returns:
        the hash; None if there are no such files: the reader then says what is wrong.
    """
    try:
        files, whole = tfrecord.files_of(pattern), hashlib.sha256()
        for path in files:
            whole.update(_hash(path))
    except (InputError, OSError):
        return None
    return whole.hexdigest()


def _hash(path: str) -> bytes:
    digest = hashlib.sha256()
    with paths.opened(path, "rb") as file:
        size = paths.size(path)
        digest.update(str(size).encode())
        if size <= _WHOLE:
            digest.update(file.read())
        else:
            for part in range(_PARTS):
                file.seek((size - _PART) * part // (_PARTS - 1))
                digest.update(file.read(_PART))
    return digest.digest()


def _saved(model_dir: str) -> str | None:
    path = os.path.join(model_dir, FILE)
    return read_json_object(path).get("train") if os.path.exists(path) else None


def _changed(before, now, key: str = "") -> Iterator[tuple[str, object, object]]:
    """Yields key, value before and value now of what differs and has an effect."""
    if key in _FREE:
        return
    if isinstance(before, dict) and isinstance(now, dict):
        for name in before | now:
            yield from _changed(before.get(name), now.get(name), f"{key}.{name}".lstrip("."))
    elif key.startswith(_WATCHED) and experiments.first_difference(before, now):
        yield key, before, now
