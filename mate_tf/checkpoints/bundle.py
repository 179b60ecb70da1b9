"""Reads TensorFlow's checkpoint files."""

import functools
import pathlib

import tensorflow as tf
from tensorflow.core.protobuf import trackable_object_graph_pb2

from mate_tf.checkpoints.latest import latest
from mate_tf.checkpoints.stored_tensor import StoredTensor
from mate_tf.errors import InputError
from mate_tf.files import paths as files

_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"

ObjectGraph = trackable_object_graph_pb2.TrackableObjectGraph


def prefix(path: str) -> str:
    """Returns the prefix of a checkpoint's files.

    Args:
        path: prefix, one of the files, or a folder, whose latest checkpoint is used.

    Raises:
        InputError: if there is no checkpoint, or TensorFlow would take its path as a pattern.
    """
    files.check_no_pattern(path, path)
    if tf.io.gfile.isdir(path):
        last = latest(path)
        if last is None:
            # TF1 releases have a model.ckpt.index, but no file named `checkpoint`.
            index = sorted(name for name in files.names(path) if name.endswith(".index"))
            if not index:
                raise InputError(f"{path}: no checkpoint in this directory")
            last = str(pathlib.PurePath(path) / index[-1].removesuffix(".index"))
        return last
    for ending in (".index", ".data-00000-of-00001", ".meta"):
        path = path.removesuffix(ending)
    if not tf.io.gfile.exists(path + ".index"):
        raise InputError(f"{path}: no such checkpoint (no {path}.index)")
    return path


def read(prefix: str) -> tuple[dict[str, StoredTensor], ObjectGraph | None]:
    """Reads a checkpoint: its tensors by name, and its object graph.

    In an object-based checkpoint names are paths in the graph, here without their common suffix. A
    TF1 checkpoint has no graph (None).

    Raises:
        InputError: if the files cannot be read as a checkpoint.
    """
    files.check_regular(f"{prefix}.index")
    try:
        reader = tf.train.load_checkpoint(prefix)
        shapes = reader.get_variable_to_shape_map()
    except (tf.errors.OpError, ValueError) as error:
        raise InputError(f"{prefix}: cannot be read as a checkpoint ({error})") from error
    graph, ending = None, ""
    if _OBJECT_GRAPH in shapes:
        graph, ending = ObjectGraph.FromString(_value(reader, prefix, _OBJECT_GRAPH)), _VALUE
    tensors = {}
    for key in shapes:
        if key.endswith(ending):
            name = key.removesuffix(ending)
            values = functools.partial(_value, reader, prefix, key)
            tensors[name] = StoredTensor(name, tuple(shapes[key]), values)
    return tensors, graph


def _value(reader, prefix, key):
    try:
        return reader.get_tensor(key)
    except (tf.errors.OpError, IndexError) as error:  # IndexError: the file ends too early
        raise InputError(f"{prefix}: {key} cannot be read ({error})") from error


def paths(graph: ObjectGraph, root: int) -> dict[str, str]:
    """Returns path -> name of the tensor, for all attribute paths below a node.

    Several paths can lead to one variable. The checkpoint names it by one of them only.

    Args:
        root: index of the node.
    """
    result, stack = {}, [("", root, frozenset())]
    while stack:
        path, index, above = stack.pop()
        node = graph.nodes[index]
        for attribute in node.attributes:
            result[path] = attribute.checkpoint_key.removesuffix(_VALUE)
        stack += [
            (f"{path}/{child.local_name}".lstrip("/"), child.node_id, above | {index})
            for child in node.children
            if child.node_id not in above | {index}
        ]
    return result
