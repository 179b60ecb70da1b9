"""What a SavedModel of mate-tf offers to those who load it with TensorFlow alone."""

import functools

import tensorflow as tf

from mate_tf.answers.execution import AGGREGATIONS
from mate_tf.data import features as feature_names
from mate_tf.layers.cells import Cells
from mate_tf.serving import answers
from mate_tf.serving.reading import TableReader, checked

SERVING_DEFAULT = "serving_default"
SERVING_EXAMPLES = "serving_examples"


def parse_examples(serialized, num_parts=1):
    """Reads model inputs from serialized tf.train.Examples of any length.

    Args:
        serialized: <string>[batch], as `ExampleConverter` makes them, or of sequences, which lack
            what only tables have.
        num_parts: equal parts that a sequence has, such as choices.

    Returns:
        dict of <int32>[batch, seq] where seq is the number of tokens of the longest example:
        padding that all examples share costs time and changes nothing. Of several parts each has
        its padding, and nothing is cut.
    """
    names = feature_names.names(feature_names.MODEL_INPUTS)
    parsed = tf.io.parse_example(
        serialized,
        {name: tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True) for name in names},
    )
    stored = tf.shape(parsed["input_ids"])[1]
    length = tf.cast(tf.reduce_max(tf.reduce_sum(parsed["input_mask"], axis=1)), tf.int32)
    length = stored if num_parts > 1 else length

    def cut(values):
        values = tf.pad(values, [[0, 0], [0, stored - tf.shape(values)[1]]])
        return tf.cast(values[:, :length], tf.int32)

    return {name: cut(values) for name, values in parsed.items()}


class ServingModule(tf.Module):
    """A table classifier with its serving signatures.

    Args:
        model: a `TableClassifier`.
        reader: makes its features of strings; without it there are only `serving_examples`.
        class_names: what the classes are called, if it classifies.
    """

    def __init__(self, model, reader: TableReader | None = None, class_names=()):
        super().__init__(name="mate_tf")
        # Not the model itself: Keras would trace every layer of it several times over, for copies
        # that nobody calls.
        self._model = functools.partial(model, training=False)
        self._reader, self._class_names = reader, tuple(class_names)
        if reader is None:
            self.serving_default = None  # or it would be traced when the module is saved
        self._weights = model.variables
        self._num_parts = model.towers.num_parts
        self._max_num_rows = model.config.max_num_rows
        self._max_num_columns = model.config.max_num_columns
        self._distribution_over_cells = model.config.cell_cross_entropy
        self._chooses_cells = not model.config.disable_per_token_loss

    # No Python statement here depends on a tensor, and without AutoGraph tracing takes a tenth.
    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.string, name="examples")], autograph=False
    )
    def serving_examples(self, examples):
        """Answers pre-tokenized questions.

        Args:
            examples: <string>[batch], serialized tf.train.Examples.

        Returns:
            probabilities: <float32>[batch, seq], per token, 0 on padding.
            row_ids, column_ids: <int32>[batch, seq], the cell of each token, counted from 1;
                row 0 is the header and column 0 the question.
            cell_probabilities: <float32>[batch, rows, columns], per data cell (the first data row
                is 0), the mean over its tokens.
            selected: <int32>[batch, rows, columns], 1 for the cells of the answer.
            probability: <float32>[batch], of the answer: where the cells share one distribution
                (`cell_cross_entropy`) the sum over the chosen cells, where each has a probability
                of its own the mean over them; 0 for an answer without cells.
            aggregation_probabilities: <float32>[batch, operations], NONE, SUM, AVERAGE and COUNT,
                of models that aggregate.
            class_probabilities: <float32>[batch, classes], of models that classify. One that does
                nothing else chooses no cells.
            pred_span: <int32>[batch, 2], first and last token of the best span, and
            span_log_prob: <float32>[batch], its log-probability, of models that choose spans;
            empty_span_log_prob: <float32>[batch], the same of no span, of those that may.
        """
        return self._answers(parse_examples(examples, self._num_parts))

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="question"),
            tf.TensorSpec([None, None], tf.string, name="header"),
            tf.TensorSpec([None, None, None], tf.string, name="cells"),
        ],
        autograph=False,
    )
    def serving_default(self, question, header, cells):
        """Answers questions about tables, all as they are typed.

        Tables of different sizes are padded with the text "[PAD]". Bytes that are not UTF-8 are
        dropped. What does not fit is not read, as the settings of the export have it.

        Args:
            question: <string>[batch].
            header: <string>[batch, columns], names of the columns.
            cells: <string>[batch, rows, columns], the data cells.

        Returns:
            cells: <int32>[batch, rows, columns], 1 for the cells of the answer.
            probabilities: <float32>[batch, rows, columns], of the cells; 0 if they are not read.
            probability: <float32>[batch], of the answer, as in `serving_examples`; of a class.
            aggregation: <string>[batch], "NONE" for the cells themselves, or the operation.
            value: <float64>[batch], the number that it gives; NaN without one.
            text: <string>[batch], the answer in words, as in `mate_tf.Answer`.
            class_probabilities: <float32>[batch, classes], of models that classify.
        """
        question, header, cells = (
            tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="ignore")
            for texts in checked(question, header, cells)
        )
        features, values = self._reader(question, header, cells)
        outputs = self._answers(features)
        selected = _of_request(outputs["selected"], cells)
        if "aggregation_probabilities" in outputs:
            aggregation = tf.argmax(
                outputs["aggregation_probabilities"], axis=-1, output_type=tf.int32
            )
        else:
            aggregation = tf.zeros_like(question, tf.int32)
        value, text = answers.result(cells, selected > 0, aggregation, values)
        answer = {
            "cells": selected,
            "probabilities": _of_request(outputs["cell_probabilities"], cells),
            "probability": outputs["probability"],
            "aggregation": tf.gather(AGGREGATIONS, aggregation),
            "value": value,
            "text": text,
        }
        if "class_probabilities" in outputs:
            probabilities = outputs["class_probabilities"]
            names = self._class_names or tuple(map(str, range(probabilities.shape[-1])))
            answer["class_probabilities"] = probabilities
            answer["probability"] = tf.reduce_max(probabilities, axis=-1)
            answer["text"] = tf.gather(names, tf.argmax(probabilities, axis=-1))
        return answer

    @tf.function(autograph=False)
    def _answers(self, features):
        """What `serving_examples` returns, of features."""
        outputs = self._model(features)
        cells = Cells(
            features["row_ids"],
            features["column_ids"],
            features["input_mask"],
            self._max_num_rows,
            self._max_num_columns,
        )
        cell_probabilities = cells.mean(outputs["probs"])[:, 1:, 1:]
        selected = cells.labelled(outputs["selected_tokens"])[:, 1:, 1:]
        if not self._chooses_cells:
            selected = tf.zeros_like(selected)
        probability = tf.reduce_sum(cell_probabilities * selected, axis=[1, 2])
        if not self._distribution_over_cells:
            number = tf.reduce_sum(selected, axis=[1, 2])
            probability = tf.math.divide_no_nan(probability, number)
        answer = {
            "probabilities": outputs["probs"],
            "row_ids": features["row_ids"],
            "column_ids": features["column_ids"],
            "cell_probabilities": cell_probabilities,
            "selected": tf.cast(selected, tf.int32),
            "probability": probability,
        }
        if "logits_aggregation" in outputs:
            answer["aggregation_probabilities"] = tf.nn.softmax(outputs["logits_aggregation"])
        if "probs_cls" in outputs:
            answer["class_probabilities"] = outputs["probs_cls"]
        for name in ("pred_span", "span_log_prob", "empty_span_log_prob"):
            if name in outputs:
                answer[name] = outputs[name]
        return answer

    def signatures(self):
        """The signatures by name, for `tf.saved_model.save`."""
        found = {SERVING_EXAMPLES: self.serving_examples}
        if self._reader is not None:
            found[SERVING_DEFAULT] = self.serving_default
        return found


def _of_request(values, cells):
    """Values of the cells of a model, [batch, rows, columns], for those of a request."""
    wanted = tf.shape(cells)
    values = values[:, : wanted[1], : wanted[2]]
    missing = wanted - tf.shape(values)
    padded = tf.pad(values, tf.stack([tf.zeros_like(missing), missing], axis=1))
    return tf.ensure_shape(padded, [None, None, None])
