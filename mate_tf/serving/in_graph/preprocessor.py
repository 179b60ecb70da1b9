"""Questions, tables and answers, as strings and numbers, to the features of a batch, in a graph."""

import os

import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.errors import InputError
from mate_tf.serving.in_graph import table_reader
from mate_tf.tables.conversion import ConversionConfig

_TEXTS = ("question", "header", "cells")
_ANSWER_CELLS = "answer_cells"


class TablePreprocessor:
    """Makes the features and labels that a `TableClassifier` is trained on, for `Dataset.map`.

        texts = tf.data.Dataset.from_tensor_slices(
            {
                "question": ["who is oldest?"],
                "header": [["name", "age"]],
                "cells": [[["Ann", "30"], ["Bob", "41"]]],
                "answer_cells": [[[0, 0], [1, 0]]],
            }
        )
        dataset = texts.batch(32).map(TablePreprocessor("vocab.txt"))

    The features are those of `ExampleConverter` for such texts, padded to the longest example of
    the batch. Tables of different sizes are padded with the text "[PAD]".

    Args:
        vocab_file: WordPiece vocabulary.
        max_seq_length: largest number of tokens of an example.
        **options: further options of `ConversionConfig`. All `..._to_fit` options are on: what is
            too long is cut.

    Raises:
        InputError: the vocabulary cannot be read, or a graph cannot follow an option.
    """

    def __init__(self, vocab_file: str | os.PathLike, max_seq_length: int = 512, **options):
        config = ConversionConfig(max_seq_length, **options)
        missing = table_reader.not_in_graph(config)
        if missing:
            raise InputError(f"{', '.join(missing)}: a graph cannot do this; use ExampleConverter")
        self._reader = table_reader.TableReader(vocab_file, config)

    # `Dataset.map` would convert all Python code below, which takes seconds and changes nothing.
    @tf.autograph.experimental.do_not_convert
    def __call__(self, batch: dict) -> dict[str, tf.Tensor]:
        """Makes the features of a batch.

        Args:
            batch: dict of

                * question: <string>[batch].
                * header: <string>[batch, columns].
                * cells: <string>[batch, rows, columns].
                * answer_cells: <int>[batch, rows, columns], 1 for the cells of the answer, else 0.
                  A cell that is cut off has no label.
                * aggregation_function_id, classification_class_index, answer: <number>[batch], as
                  in `data.features`.

                The first three must be there, and of the others the labels of the model.

        Returns:
            dict of the model's inputs, <int32>[batch, seq], and of its labels: with answer_cells
            label_ids <int32>[batch, seq], numeric_values and numeric_values_scale <float32>
            [batch, seq]; all others <int32> or <float32>[batch, 1].

        Raises:
            InputError: if the batch lacks a text, or has something else in it.
            InvalidArgumentError: if batch sizes or numbers of columns differ.
        """
        of_example = {feature.name: feature for feature in feature_names.EXAMPLE_LABELS}
        for name in _TEXTS:
            if name not in batch:
                raise InputError(f"the batch has no {name!r}")
        known = (*_TEXTS, _ANSWER_CELLS, *of_example)
        for name in batch:
            if name not in known:
                raise InputError(f"the batch has {name!r}, which is not one of {', '.join(known)}")
        texts = table_reader.checked(*(batch[name] for name in _TEXTS))
        features, values, read = self._reader(*texts)
        if _ANSWER_CELLS in batch:
            features |= _token_labels(batch[_ANSWER_CELLS], values, read)
        for name in of_example.keys() & batch.keys():
            features[name] = tf.cast(batch[name], of_example[name].array_dtype)[:, tf.newaxis]
        return features


def _token_labels(answer_cells, values, read: table_reader.TableRegion) -> dict[str, tf.Tensor]:
    """Returns the features of `features.TOKEN_LABELS`."""
    is_number = values.has_number & tf.math.is_finite(values.number)
    numbers = tf.cast(tf.where(is_number, values.number, float("nan")), tf.float32)
    return {
        "label_ids": read.of_tokens(tf.cast(answer_cells, tf.int32)),
        "numeric_values": read.of_tokens(numbers, outside=float("nan")),
        "numeric_values_scale": _lengths(read, *tf.unstack(tf.shape(answer_cells))),
    }


def _lengths(read: table_reader.TableRegion, batch, rows, columns):
    """Returns the number of tokens of each token's data cell, <float32>[batch, seq]; 1 elsewhere.

    Args:
        read: where the tokens are.
        batch, rows, columns: <int32>[], shape of the cells.
    """
    seq = tf.shape(read.tokens)[1]
    example = tf.repeat(tf.range(batch)[:, tf.newaxis], seq, axis=1)
    place = tf.concat([example[..., tf.newaxis], read.tokens], axis=-1)  # [batch, seq, 3]
    counts = tf.scatter_nd(place, tf.ones([batch, seq]), [batch, rows + 1, columns + 1])
    in_cell = (read.tokens[..., 0] > 0) & (read.tokens[..., 1] > 0)
    return tf.where(in_cell, tf.gather_nd(counts, read.tokens, batch_dims=1), 1.0)
