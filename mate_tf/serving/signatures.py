"""Signatures of an exported SavedModel. To use them only TensorFlow is needed."""

import functools

import tensorflow as tf

from mate_tf import attention, serving
from mate_tf.answers.execution import AGGREGATIONS
from mate_tf.attention import mate_forms
from mate_tf.data import features as feature_names
from mate_tf.layers.cells import Cells

SERVING_DEFAULT = "serving_default"
SERVING_EXAMPLES = "serving_examples"


def parse_examples(serialized, num_parts=1):
    """Reads model inputs from serialized tf.train.Examples of any length.

    Args:
        serialized: <string>[batch], examples of `ExampleConverter` or of sequences. Those of
            sequences lack the features of tables, which are 0 then.
        num_parts: number of parts of equal length in a sequence, such as the choices of SWAG.

    Returns:
        dict of <int32>[batch, seq]. With one part, seq is the number of tokens of the longest
        example, since padding that all examples share costs time and changes nothing. With several
        parts nothing is cut, since each part has its own padding.
    """
    names = feature_names.names(feature_names.MODEL_INPUTS)
    parsed = tf.io.parse_example(
        serialized,
        {name: tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True) for name in names},
    )
    # A batch of no questions has length 1, since models read the first token.
    stored = tf.maximum(tf.shape(parsed["input_ids"])[1], 1)
    length = tf.cast(tf.reduce_max(tf.reduce_sum(parsed["input_mask"], axis=1)), tf.int32)
    length = tf.maximum(length, 1)
    length = stored if num_parts > 1 else length

    def cut(values):
        values = tf.pad(values, [[0, 0], [0, stored - tf.shape(values)[1]]])
        return tf.cast(values[:, :length], tf.int32)

    return {name: cut(values) for name, values in parsed.items()}


class ServingModule(tf.Module):
    """A table classifier with its serving signatures.

    Args:
        model: a `TableClassifier`.
        reader: makes features of strings, for `serving_default`. None: only `serving_examples`.
        class_names: names of the classes, for models that classify.
    """

    def __init__(
        self,
        model,
        reader: "serving.in_graph.table_reader.TableReader | None" = None,
        class_names=(),
    ):
        super().__init__(name="mate_tf")
        # A partial, not the model: for a model as attribute Keras would also trace every layer
        # several times, for functions that nobody calls.
        self._model = functools.partial(model, training=False)
        self._heads = functools.partial(model.apply_heads, training=False)
        # Once for both signatures. As an attribute it would be traced again when it is saved.
        self._answers = functools.partial(tf.function(self.answers, autograph=False))
        self._reader, self._class_names = reader, tuple(class_names)
        if reader is None:
            self.serving_default = None  # otherwise it is traced when the module is saved
        self._weights = model.variables
        self._num_parts = model.towers.num_parts
        self._has_form_for_short_inputs = any(
            attention.get(config.name).pattern.has_form_for_short_inputs
            for config in model.config.encoder.distinct_attention()
        )
        self._max_num_rows = model.config.max_num_rows
        self._max_num_columns = model.config.max_num_columns
        self._distribution_over_cells = model.config.cell_cross_entropy
        self._chooses_cells = not model.config.disable_per_token_loss
        # A model of both kinds of examples is asked questions; which kind a text is, it cannot say.
        self._classifies = not model.config.cells_or_class

    # No Python statement here depends on a tensor, and without AutoGraph tracing takes a tenth.
    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.string, name="examples")], autograph=False
    )
    def serving_examples(self, examples):
        """Answers pre-tokenized questions.

        Args:
            examples: <string>[batch], serialized tf.train.Examples.

        Returns:
            A dict. Outputs of all models:
            probabilities: <float32>[batch, seq], of each token; 0 on padding.
            row_ids, column_ids: <int32>[batch, seq], the cell of each token, counted from 1;
                row 0 is the header and column 0 the question.
            cell_probabilities: <float32>[batch, rows, columns], of each data cell, the mean over
                its tokens. Row 0 is the first data row.
            selected: <int32>[batch, rows, columns], 1 for the cells of the answer. All 0 if the
                model only classifies.
            probability: <float32>[batch], of the answer. For cells that share one distribution
                (`cell_cross_entropy`): the sum over the selected cells. For cells with independent
                probabilities: the mean over them. 0 without cells.

            Models that aggregate:
            aggregation_probabilities: <float32>[batch, operations], NONE, SUM, AVERAGE and COUNT.

            Models that classify:
            class_probabilities: <float32>[batch, classes].

            Models that select spans:
            pred_span: <int32>[batch, 2], first and last token of the best span.
            span_log_prob: <float32>[batch], its log-probability.
            empty_span_log_prob: <float32>[batch], log-probability of no span, if the model has it.
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
        """Answers questions about tables, both given as plain text.

        Tables of different sizes are padded with the text "[PAD]". Bytes that are not UTF-8 are
        dropped. Long tables and questions are shortened by the exported options of the converter.

        Args:
            question: <string>[batch].
            header: <string>[batch, columns], names of the columns.
            cells: <string>[batch, rows, columns], the data cells.

        Returns:
            A dict:
            cells: <int32>[batch, rows, columns], 1 for the cells of the answer.
            probabilities: <float32>[batch, rows, columns], of the cells; 0 for cells not read.
            probability: <float32>[batch], of the answer: of the class, or as in
                `serving_examples`.
            aggregation: <string>[batch], "NONE", "SUM", "AVERAGE" or "COUNT".
            value: <float64>[batch], result of the operation; NaN without one.
            text: <string>[batch], the answer as text, as in `mate_tf.Answer`.
            class_probabilities: <float32>[batch, classes], only of models that classify.

        Raises:
            InvalidArgumentError: if the three arguments have different batch sizes, or header and
                cells different numbers of columns.
        """
        question, header, cells = serving.in_graph.table_reader.checked(question, header, cells)
        if self._reader is None:
            raise ValueError("only a module with a reader answers questions about texts")
        features, values, read = self._reader(question, header, cells)
        outputs = self._answers(features)
        selected = read.of_table(outputs["selected"])
        if "aggregation_probabilities" in outputs:
            aggregation = tf.argmax(
                outputs["aggregation_probabilities"], axis=-1, output_type=tf.int32
            )
        else:
            aggregation = tf.zeros_like(question, tf.int32)
        value, text = serving.in_graph.answers.result(cells, selected > 0, aggregation, values)
        answer = {
            "cells": selected,
            "probabilities": read.of_table(outputs["cell_probabilities"]),
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

    def answers(self, features, encoded: dict | None = None):
        """Computes the outputs of `serving_examples`.

        Args:
            features: dict of <int32>[batch, seq].
            encoded: outputs of the encoder, if something else has computed them.
        """
        outputs = self._run(features) if encoded is None else self._heads(features, encoded)
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
        if "probs_cls" in outputs and self._classifies:
            answer["class_probabilities"] = outputs["probs_cls"]
        for name in ("pred_span", "span_log_prob", "empty_span_log_prob"):
            if name in outputs:
                answer[name] = outputs[name]
        return answer

    def _run(self, features):
        """Computes the model's outputs; in a graph the length chooses between two forms of it."""
        if not self._has_form_for_short_inputs or tf.executing_eagerly():
            return self._model(features)

        def run(short_inputs):
            with mate_forms.graph_for(short_inputs):
                return self._model(features)

        short = tf.shape(features["input_ids"])[1] <= mate_forms.SHORT_INPUT
        return tf.cond(short, lambda: run(True), lambda: run(False))

    def signatures(self):
        """Returns the signatures by name, for `tf.saved_model.save`."""
        result = {SERVING_EXAMPLES: self.serving_examples}
        if self._reader is not None:
            result[SERVING_DEFAULT] = self.serving_default
        return result
