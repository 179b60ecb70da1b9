"""Weights and learned masks of trained models, from the checkpoints in their folders."""

import collections
import contextlib
import os

import tensorflow as tf

from mate_tf import attention, checkpoints, errors
from mate_tf.attention.abilities import LearnsMask
from mate_tf.checkpoints.latest import latest
from mate_tf.errors import InputError
from mate_tf.models.encoder_config import EncoderConfig

MASKS = "masks"
"""Folder of learned masks in the folder of a training run."""

_CELL_SCORERS = ("output_weights", "output_bias")
_GLOBAL_STEP = "global_step/.ATTRIBUTES/VARIABLE_VALUE"


def global_step(model_dir: str) -> int:
    """Returns the step of the last checkpoint in `model_dir`; 0 if there is no checkpoint."""
    path = latest(model_dir)
    if path is None:
        return 0
    with reading(path):
        return int(tf.train.load_checkpoint(path).get_tensor(_GLOBAL_STEP))


def latest_checkpoint(model_dir: str) -> str:
    """Returns the path of the last checkpoint in `model_dir`.

    Raises:
        InputError: if there is no checkpoint.
    """
    path = latest(model_dir)
    if path is None:
        raise InputError(f"{model_dir}: no checkpoint here; train first")
    return path


def load_all(model, path: str) -> None:
    """Loads all weights that a model needs for its answers.

    Args:
        path: as `checkpoints.load` takes it.

    Raises:
        InputError: if the checkpoint cannot be read, or lacks some of them.
    """
    missing = set(checkpoints.load(model, path).missing)
    if getattr(model.config, "disable_per_token_loss", False):
        missing -= set(_CELL_SCORERS)  # a model that only classifies chooses no cells
    if not missing:
        return
    names = sorted(missing)
    listed = ", ".join(names[:3]) + ", …" * (len(names) > 3)
    if all("/attention/" in name or "/pattern_" in name for name in names):
        variants = ", ".join(each.name for each in model.config.encoder.distinct_attention())
        raise InputError(f"{path}: attention {variants} has weights that are not here: {listed}")
    raise InputError(f"{path}: not trained to answer questions: it has no {listed}")


def check_size(model, path):
    """Raises InputError unless the checkpoint's variables have the shapes of the model's."""
    with reading(path):
        shapes = tf.train.load_checkpoint(path).get_variable_to_shape_map()
    expected = collections.Counter(tuple(variable.shape) for variable in model.variables)
    saved = {name: tuple(shape) for name, shape in shapes.items() if _is_of_model(name)}
    if collections.Counter(saved.values()) == expected:
        return
    strange = [f"{name} {shape}" for name, shape in sorted(saved.items()) if shape not in expected]
    raise InputError(
        f"{path}: checkpoint of a model of another size: {len(saved)} variables, this one has "
        f"{len(model.variables)}; shapes not in this model: {', '.join(strange[:3]) or 'none'}"
    )


@contextlib.contextmanager
def reading(path):
    """Turns TensorFlow's errors about an unreadable checkpoint into InputErrors with its path."""
    try:
        yield
    except (tf.errors.OpError, IndexError) as error:  # IndexError: the file ends too early
        if isinstance(error, tf.errors.OpError) and errors.is_of_collectives(error):
            raise
        # TensorFlow names its graph node first.
        reason = str(error).rpartition("}} ")[2]
        raise InputError(f"{path}: the checkpoint cannot be read: {reason}") from error


def _is_of_model(name):
    return name.startswith("model/") and ".OPTIMIZER_SLOT" not in name


def save_masks(experiment, model_dir: str) -> list[str]:
    """Writes the final mask of each pattern that learns one, from the last checkpoint.

    Args:
        experiment: the trained experiment.
        model_dir: folder of the training. Masks are written to masks/patterns_<number>.npz in it.

    Returns:
        paths of the files, in the order of the patterns; [] if no pattern learns a mask.

    Raises:
        InputError: if the checkpoint cannot be read.
    """
    learning = {
        index: config
        for index, config in enumerate(experiment.task.model.encoder.distinct_attention())
        if issubclass(pattern := attention.get(config.name).pattern, LearnsMask)
        and pattern.saves_mask(config)
    }
    stored = checkpoints.pattern_variables(model_dir) if learning else {}
    paths = []
    for index, config in learning.items():
        pattern = attention.get(config.name).pattern.restored(config, stored[index])
        paths.append(os.path.join(model_dir, MASKS, f"{EncoderConfig.pattern_name(index)}.npz"))
        pattern.save_mask(paths[-1])
        print(f"mask | {paths[-1]}: sparsity {float(pattern.sparsity()):.1%}", flush=True)
    return paths
