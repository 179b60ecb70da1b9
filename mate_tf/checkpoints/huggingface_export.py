"""Saves a model as Hugging Face's TAPAS, for `from_pretrained` of transformers."""

import pathlib

import numpy as np
import tensorflow as tf

from mate_tf.checkpoints import safetensors
from mate_tf.checkpoints.huggingface import HEADS
from mate_tf.checkpoints.names import checkpoint_variables, variable_paths
from mate_tf.data import features
from mate_tf.errors import InputError
from mate_tf.files.atomic import atomic_path, write_json
from mate_tf.models.huggingface import SEQUENCE_CLASSIFICATION, to_huggingface

_OF_TREES = "/self/tree/"
_SCORERS = ("output_weights", "output_bias", "column_output_weights", "column_output_bias")


def save_huggingface(model, folder, vocab_file=None, class_names=()) -> None:
    """Writes config.json, model.safetensors and, with a vocabulary, the tokenizer's files.

    A TableEncoder becomes a TapasModel. A TableClassifier with classes becomes a
    TapasForSequenceClassification, others become a TapasForQuestionAnswering. Hugging Face's models
    have full attention: a model with sparse attention keeps its weights, without decision trees,
    but its outputs differ. The config has the name of the attention variant. Tables of token types
    and positions that the model lacks are written as zeros.

    Args:
        folder: folder to write to; created if it does not exist.
        vocab_file: vocabulary, one word piece a line, or None.
        class_names: names of the classes, if the model classifies; by default LABEL_0 and so on.

    Raises:
        InputError: if Hugging Face's TAPAS lacks a part of the model, or a file cannot be read or
            written.
    """
    if not hasattr(model.config, "encoder"):
        encoder, config = model.config, to_huggingface(model.config)
    elif hasattr(model, "heads"):
        encoder = model.config.encoder
        config = to_huggingface(encoder, model.config, class_names)
    else:
        raise InputError(
            f"{type(model).__name__} has no counterpart in Hugging Face's TAPAS; save its encoder"
        )
    variables = checkpoint_variables(model)
    known = {id(variable) for variable in variables.values()}
    for path, variable in variable_paths(model).items():
        if id(variable) not in known:
            raise InputError(f"{path} has no counterpart in Hugging Face's TAPAS")
    values = {
        name: variable.numpy() for name, variable in variables.items() if _OF_TREES not in name
    }
    values |= _left_out(encoder, values)
    tensors = _tensors(values, config["architectures"][0])
    folder = pathlib.PurePath(folder)
    if vocab_file is not None:
        _save_tokenizer(vocab_file, folder, encoder.vocab_size)
    safetensors.write(str(folder / "model.safetensors"), tensors)
    _write_json(folder / "config.json", config)


def _left_out(encoder, values) -> dict[str, np.ndarray]:
    """Returns embedding tables that the model lacks and Hugging Face's has, as zeros."""
    hidden = encoder.hidden_size
    sizes = {"bert/embeddings/position_embeddings": encoder.max_position_embeddings}
    for index in range(len(features.TOKEN_TYPES)):
        sizes[f"bert/embeddings/token_type_embeddings_{index}"] = encoder.type_vocab_sizes[index]
    return {name: np.zeros([n, hidden], "f") for name, n in sizes.items() if name not in values}


def _tensors(values, architecture) -> dict[str, np.ndarray]:
    """Returns the values with the names and axes of one of Hugging Face's model classes."""
    if architecture == "TapasModel":
        return {_their_name(name): _their_axes(name, value) for name, value in values.items()}
    hidden = values["bert/pooler/dense/bias"].shape
    if architecture == SEQUENCE_CLASSIFICATION:  # this class has no scorers of cells
        values = {name: value for name, value in values.items() if name not in _SCORERS}
    else:  # this class has a scorer of columns even if it does not select a column
        shapes = {name: hidden if name.endswith("weights") else () for name in _SCORERS}
        values = {name: np.zeros(shape, "f") for name, shape in shapes.items()} | values
    return {
        ("tapas." if name.startswith("bert/") else "") + _their_name(name): _their_axes(name, value)
        for name, value in values.items()
    }


def _their_axes(name, value):
    return value.T if name.endswith("/kernel") else value


def _their_name(name: str) -> str:
    """Returns Hugging Face's name of a variable, for the encoder without the prefix "tapas."."""
    if not name.startswith("bert/"):
        return HEADS.get(name, name)
    scope, _, ending = name.removeprefix("bert/").rpartition("/")
    if "embeddings" in ending:
        return f"{scope}.{ending}.weight"
    scope = scope.replace("layer_", "layer/").replace("/", ".")
    return f"{scope}.{'bias' if ending in ('bias', 'beta') else 'weight'}"


def _save_tokenizer(vocab_file, folder, vocab_size):
    try:
        with tf.io.gfile.GFile(str(vocab_file)) as file:
            text = file.read()
    except tf.errors.OpError as error:
        raise InputError(f"{vocab_file}: cannot be read: {error.message}") from error
    pieces = text.count("\n") + (not text.endswith("\n"))
    if pieces > vocab_size:
        raise InputError(f"{vocab_file}: has {pieces} pieces, more than vocab_size={vocab_size}")
    with atomic_path(str(folder / "vocab.txt")) as path, tf.io.gfile.GFile(path, "w") as file:
        file.write(text)
    _write_json(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "TapasTokenizer", "do_lower_case": True},
    )


def _write_json(path, content):
    write_json(str(path), content, sort_keys=True)
