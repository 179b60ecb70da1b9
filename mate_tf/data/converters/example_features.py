"""Parts that all converters share: labels and ids of a question, padding, tf.train.Example."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf

from mate_tf.data import features
from mate_tf.protos import interaction_pb2
from mate_tf.tables.linearize import ConversionError

QUESTION_ID_TOO_LONG = "Question id too long"

_HASH_MODULUS = 2**32 - 1


def example_features(
    question: interaction_pb2.Question, table_id: str = "", *, trim_id: bool = False
) -> dict[str, list]:
    """Returns the values of `features.EXAMPLE_LABELS` and `features.IDENTIFIERS`.

    Args:
        question: question with its answer.
        table_id: id of its table.
        trim_id: store the end of an id that is too long for `question_id_ints`.

    Raises:
        ConversionError: if the id is too long.
    """
    answer = question.answer
    return {
        "aggregation_function_id": [answer.aggregation_function],
        "classification_class_index": [answer.class_index],
        "answer": [answer.float_value if answer.HasField("float_value") else float("nan")],
        "question_id": [question.id.encode("utf-8")],
        "question_id_ints": _ints(question.id, trim_id),
        "table_id": [table_id.encode("utf-8")],
        "table_id_hash": [_fingerprint(table_id)],
    }


def to_example(
    values: Mapping[str, Sequence],
    length: int,
    specs: Sequence[features.Feature] = features.ALL,
) -> tf.train.Example:
    """Makes an example with all features of `specs`.

    Args:
        values: name -> <int or float>[num_tokens] of features per token, or [size] of others.
            Missing features per token are padding only.
        length: features per token are padded to this length.
        specs: the features.
    """
    example = tf.train.Example()
    for spec in specs:
        value = values.get(spec.name, ())
        if spec.per_token:
            padded = np.full(length, spec.padding, np.float32 if "float" in spec.dtype else int)
            padded[: len(value)] = value
            value = padded.tolist()
        feature = example.features.feature[spec.name]
        if spec.dtype == "string":
            feature.bytes_list.value.extend(value)
        elif spec.dtype == "float32":
            feature.float_list.value.extend(value)
        else:
            feature.int64_list.value.extend(value)
    return example


def _ints(question_id: str, trim: bool) -> list[int]:
    """Returns the value of `question_id_ints`."""
    length = features.QUESTION_ID_LENGTH
    if trim:
        question_id = question_id[-length:]
    if len(question_id) > length:
        raise ConversionError(QUESTION_ID_TOO_LONG, f"{len(question_id)} characters")
    return [ord(char) + 1 for char in question_id] + [0] * (length - len(question_id))


def _fingerprint(text: str) -> int:
    """Returns a hash that is equal in every process."""
    return int(hashlib.sha256(text.encode("utf-8")).hexdigest(), 16) % _HASH_MODULUS
