"""Presets for OpenVINO, read without TensorFlow."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from safetensors import SafetensorError, deserialize

from mate_tf.checkpoints import channels, finite, shared
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.serving import model_folder
from mate_tf.serving.engine import spans
from mate_tf.serving.model_folder import Kind, Source
from mate_tf.tables.conversion import ConversionConfig

_ROW_TYPE = 2  # number of the row ids among the token types
_PRECISIONS = ("float32", "bfloat16")
_TYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}


@dataclasses.dataclass(frozen=True)
class Preset:
    """A preset.

    Attributes:
        source: its folder.
        config: fields of its `ClassifierConfig`, as JSON values.
        conversion: how its examples are made.
        vocab_file: WordPiece vocabulary.
        precision: "float32" or "bfloat16", which it computes in unless another one is asked for.
        class_names: names of the classes, if it classifies.
    """

    source: Source
    config: Mapping[str, Any]
    conversion: ConversionConfig
    vocab_file: str
    precision: str = "float32"
    class_names: tuple[str, ...] = ()

    def fitting(self, max_seq_length: int | None) -> tuple[Mapping[str, Any], ConversionConfig]:
        """Returns config and conversion for tables that need not fit whole.

        Args:
            max_seq_length: tokens that are read, in place of those of the preset.

        Raises:
            InputError: if there are fewer positions than that.
        """
        config, conversion = self.config, self.conversion
        encoder = config["encoder"]
        if max_seq_length is not None:
            if max_seq_length > conversion.max_seq_length:
                rows = max(config["max_num_rows"], encoder["type_vocab_sizes"][_ROW_TYPE])
                config = {**config, "max_num_rows": rows}
            conversion = dataclasses.replace(conversion, max_seq_length=max_seq_length)
        any_length = (
            encoder["reset_position_index_per_cell"] or encoder["disable_position_embeddings"]
        )
        most = encoder["max_position_embeddings"]
        if not any_length and conversion.max_seq_length > most:
            raise InputError(
                f"{self.source.name}: max_seq_length={conversion.max_seq_length}, but its model "
                f"has {most} positions"
            )
        return config, conversion.fitting(config["max_num_rows"], config["max_num_columns"])

    def weights(self) -> dict[str, np.ndarray]:
        """Reads the weights, name -> <float32>.

        Raises:
            InputError: if the file cannot be read, or a weight is not finite.
        """
        path = self.source.needed(model_folder.WEIGHTS)
        stored, metadata = _stored(path)
        tensors = channels.restored(path, shared.add(path, metadata, stored, _stored))
        for name, values in tensors.items():
            if values.dtype == np.int8:
                raise InputError(f"{path}: {name}: is in 8 bits, but has no {name}{channels.SCALE}")
            finite.check(path, name, values)
        for name in _needed(self.config):
            if name not in tensors:
                raise InputError(f"{path}: lacks the weights {name}")
        return tensors


def find(origin: Source) -> Preset | None:
    """Returns a preset that can be read without TensorFlow.

    None for what this module does not read: other folders, classes that only the task names, and
    configurations that lack values. `serving.configurations` reads them, or says what is wrong.
    """
    if origin.kind is not Kind.PRESET or not origin.file(model_folder.WEIGHTS):
        return None
    from mate_tf.files.yaml_files import read_yaml

    try:
        content = read_yaml(origin.needed(Kind.PRESET.value))
        task = content["task"]
        config = task["model"]
        precision = content.get("runtime", {}).get("mixed_precision_dtype", "float32")
        conversion = ConversionConfig(**task["conversion"])
        class_names = tuple(map(str, task.get("labels", ())))
        if task.keys() - {"labels"} != {"name", "conversion", "model"}:
            return None
        if len(class_names) != config["num_classification_labels"]:
            return None
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    vocab_file = origin.file(*model_folder.VOCABULARY_FILES)
    if precision not in _PRECISIONS or vocab_file is None:
        return None
    return Preset(origin, config, conversion, vocab_file, precision, class_names)


def _needed(config: Mapping[str, Any]) -> list[str]:
    """Returns the names of a few weights by which another model, or half a file, is noticed."""
    last = config["encoder"]["num_hidden_layers"] - 1
    names = [
        "bert/embeddings/word_embeddings",
        f"bert/encoder/layer_{last}/output/dense/kernel",
        "output_weights",
        *spans.WEIGHTS[config["span_prediction"]],
    ]
    names += ["column_output_weights"] * config["select_one_column"]
    names += ["output_weights_cls"] * bool(config["num_classification_labels"])
    return names + ["output_weights_agg"] * bool(config["num_aggregation_labels"])


def _stored(path: str) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Returns name -> array and the metadata of a file."""
    try:
        content = paths.read_bytes(path)
        tensors = deserialize(content)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    stored = {name: _array(path, name, each) for name, each in tensors}
    return stored, shared.metadata(content)


def _array(path: str, name: str, stored: Mapping[str, Any]) -> np.ndarray:
    """Returns <float32>[...] of a tensor of a file; one in 8 bits as it is."""
    dtype, data = stored["dtype"], stored["data"]
    if dtype == "BF16":
        values = (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    elif dtype == "I8":
        values = np.frombuffer(data, np.int8)
    elif dtype in _TYPES:
        values = np.frombuffer(data, _TYPES[dtype]).astype(np.float32, copy=False)
    else:
        raise InputError(f"{path}: {name}: dtype {dtype} is not of floats")
    return values.reshape(stored["shape"])
