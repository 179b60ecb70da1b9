"""Reads a checkpoint into a model and reports what was and was not found in it."""

import dataclasses
import pathlib
import re

import tensorflow as tf

from mate_tf.checkpoints.names import own_variables, reference_variables
from mate_tf.errors import InputError

_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
# What a training leaves in a checkpoint beside the model: optimizer slots and counters.
_TRAINING_STATE = re.compile(r"(/adam_[mv]|/accum)$|^(global_step|counter)$|OPTIMIZER_SLOT")


@dataclasses.dataclass(frozen=True)
class LoadReport:
    """What `load` did, in the checkpoint's names.

    Attributes:
        loaded: variables that were read into the model.
        missing: variables of the model that the checkpoint lacks; they keep their values.
        unused: variables of the checkpoint that the model lacks, without optimizer state.
    """

    loaded: tuple[str, ...]
    missing: tuple[str, ...]
    unused: tuple[str, ...]

    def __str__(self):
        parts = (f"{len(self.loaded)} variables loaded",)
        for title, names in (("missing", self.missing), ("unused", self.unused)):
            parts += (f"{title}: {', '.join(names) or 'none'}",)
        return "; ".join(parts)


def load(model: tf.Module, path) -> LoadReport:
    """Loads every variable of `model` that the checkpoint has.

    Reads TF1 checkpoints of BERT and TAPAS by the reference's names (heads that are missing keep
    their initial values), and object-based checkpoints, as tf.train.Checkpoint writes them, of
    the same model, of one holding it (a training checkpoint) or held by it (its encoder).

    Args:
        model: a TableEncoder, or a model that holds one; its variables must exist.
        path: checkpoint prefix, or a directory, whose latest checkpoint is read.

    Raises:
        InputError: no checkpoint there, a variable of another shape, nothing in common with the
            model.
    """
    prefix = _prefix(path)
    try:
        reader = tf.train.load_checkpoint(prefix)
        shapes = reader.get_variable_to_shape_map()
    except (tf.errors.OpError, ValueError) as error:
        raise InputError(f"{prefix}: cannot be read as a checkpoint ({error})") from error
    if _OBJECT_GRAPH in shapes:
        stored = {name.removesuffix(_VALUE): name for name in shapes if name.endswith(_VALUE)}
        variables = own_variables(model, stored)
    else:
        stored = {name: name for name in shapes}
        variables = reference_variables(model)
    found = {name: variable for name, variable in variables.items() if name in stored}
    if not found:
        raise InputError(
            f"{prefix}: none of the model's variables is there; it wants "
            f"{', '.join(sorted(variables)[:3])}, …, the checkpoint has "
            f"{', '.join(sorted(stored)[:3])}, …"
        )
    for name, variable in found.items():
        if list(variable.shape) != shapes[stored[name]]:
            raise InputError(
                f"{prefix}: {name} has the shape {shapes[stored[name]]}, "
                f"but the model's has {list(variable.shape)}"
            )
    for name, variable in found.items():
        variable.assign(_tensor(reader, prefix, stored[name]))
    unused = set(stored) - set(found)
    return LoadReport(
        loaded=tuple(sorted(found)),
        missing=tuple(sorted(set(variables) - set(found))),
        unused=tuple(sorted(name for name in unused if not _TRAINING_STATE.search(name))),
    )


def _tensor(reader, prefix, name):
    try:
        return reader.get_tensor(name)
    except (tf.errors.OpError, IndexError) as error:  # IndexError: the file ends too early
        raise InputError(f"{prefix}: {name} cannot be read ({error})") from error


def _prefix(path) -> str:
    """The checkpoint's prefix; InputError if there is none."""
    path = str(path)
    if tf.io.gfile.isdir(path):
        latest = tf.train.latest_checkpoint(path)
        if latest is None:
            # TF1 releases hold a model.ckpt.index but no `checkpoint` file
            index = sorted(tf.io.gfile.glob(str(pathlib.PurePath(path) / "*.index")))
            if not index:
                raise InputError(f"{path}: there is no checkpoint in this directory")
            latest = index[-1].removesuffix(".index")
        return latest
    for ending in (".index", ".data-00000-of-00001", ".meta"):
        path = path.removesuffix(ending)
    if not tf.io.gfile.exists(path + ".index"):
        raise InputError(f"{path}: there is no such checkpoint (no {path}.index)")
    return path
