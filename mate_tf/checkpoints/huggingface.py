"""Reads Hugging Face's weights of TAPAS and BERT and converts their names."""

import pathlib
import re

import tensorflow as tf

from mate_tf.checkpoints import safetensors
from mate_tf.checkpoints.stored_tensor import StoredTensor
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.files.json_files import parse_json

FILES = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
"""Names of files with weights, in order of preference."""

_EXTENSIONS = (".safetensors", ".bin")

HEADS = {
    "output_weights_agg": "aggregation_classifier.weight",
    "output_bias_agg": "aggregation_classifier.bias",
    "output_weights_cls": "classifier.weight",
    "output_bias_cls": "classifier.bias",
    "cls/predictions/output_bias": "cls.predictions.bias",
    "cls/seq_relationship/output_weights": "cls.seq_relationship.weight",
    "cls/seq_relationship/output_bias": "cls.seq_relationship.bias",
}
"""Variables of heads: name in the reference's checkpoints -> Hugging Face's name.

The scorers of cells have the same names in both.
"""

_SCORERS = re.compile(r"(column_)?output_(weights|bias)$")
_ENDINGS = {"kernel": "weight", "gamma": "weight", "beta": "bias", "bias": "bias"}
_BASE = re.compile(r"^(bert|tapas)\.")
# Buffers in files of older releases, and the copies of word embeddings and bias in the MLM decoder.
_NO_PARAMETERS = re.compile(r"(position_ids|token_type_ids|\bcls\.predictions\.decoder\.\w+)$")


def weights_file(path: str) -> str | None:
    """Returns the path of the file with the weights, which `path` is or contains, or None."""
    if tf.io.gfile.isdir(path):
        files = (str(pathlib.PurePath(path) / name) for name in FILES)
        return next(filter(tf.io.gfile.exists, files), None)
    named = path.endswith((*_EXTENSIONS, ".index.json"))
    return path if named and tf.io.gfile.exists(path) else None


def tensors(path: str) -> dict[str, StoredTensor]:
    """Returns name in the file -> tensor, for a file with weights or an index of shards.

    Raises:
        InputError: if a file cannot be read or a shard lacks a tensor.
    """
    paths.check_regular(path)
    if not path.endswith(".json"):
        if not path.endswith(".bin"):
            return safetensors.read(path)
        from mate_tf.checkpoints import torch_file

        return torch_file.read(path)
    with tf.io.gfile.GFile(path, "rb") as file:
        index = parse_json(file.read(), path)
    try:
        shards = {name: str(shard) for name, shard in index["weight_map"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: not an index of weights: it has no weight_map") from error
    result = {}
    for shard in sorted(set(shards.values())):
        if pathlib.PurePath(shard).name != shard or not shard.endswith(_EXTENSIONS):
            raise InputError(f"{path}: {shard!r} is not a file of weights in the same folder")
        shard_path = str(pathlib.PurePath(path).with_name(shard))
        if weights_file(shard_path) is None:
            raise InputError(f"{path}: has no {shard}")
        result |= tensors(shard_path)
    for name, shard in shards.items():
        if name not in result:
            raise InputError(f"{path}: {name} is not in {shard}")
    return result


def by_reference_name(stored: dict[str, StoredTensor]) -> dict[str, StoredTensor]:
    """Returns tensors with the names and shapes of the reference's checkpoints.

    A tensor that the reference does not have keeps its name. `classifier` is renamed in TAPAS's
    checkpoints only; in BERT's checkpoints it is a different layer.

    Args:
        stored: Hugging Face's name -> tensor.
    """
    of_tapas = any(name.startswith("tapas.") for name in stored)
    heads = {theirs: ours for ours, theirs in HEADS.items()}
    renamed = {}
    for name, tensor in stored.items():
        if _NO_PARAMETERS.search(name):
            continue
        if _SCORERS.match(name):
            renamed[name] = tensor
        elif name in heads and (of_tapas or not name.startswith("classifier.")):
            renamed[heads[name]] = tensor
        elif ours := _reference_name(name):
            renamed[ours] = tensor.transposed() if ours.endswith("/kernel") else tensor
        else:
            renamed[name] = tensor
    return renamed


def _reference_name(name: str) -> str | None:
    """Returns the reference's name of a variable of the encoder or the MLM transform, or None."""
    name = _BASE.sub("", name)
    scope, _, ending = name.rpartition(".")
    scope = re.sub(r"^encoder\.layer\.(\d+)\.", r"encoder.layer_\1.", scope).replace(".", "/")
    if re.match(r"embeddings/\w+_embeddings(_\d)?$", scope) and ending == "weight":
        return f"bert/{scope}"
    if scope.endswith("LayerNorm"):  # files up to 2019 have "gamma" and "beta" already
        ending = {"weight": "gamma", "bias": "beta"}.get(ending, ending)
    elif ending == "weight":
        ending = "kernel"
    if scope.startswith("cls/predictions/transform/"):
        return f"{scope}/{ending}"
    if scope.startswith(("embeddings/", "encoder/layer_", "pooler/")):
        return f"bert/{scope}/{ending}"
    return None
