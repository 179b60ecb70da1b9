"""A table encoder with heads: selects cells and spans, predicts aggregations and classes."""

import tensorflow as tf

from mate_tf import field_types
from mate_tf.data import padding
from mate_tf.errors import InputError
from mate_tf.layers import replica_losses
from mate_tf.layers.cells import Cells
from mate_tf.layers.shapes import build_child
from mate_tf.layers.step_seeds import Dropout
from mate_tf.models.classifier_config import ClassifierConfig
from mate_tf.models.configured import ConfiguredModel
from mate_tf.models.encoder import TableEncoder
from mate_tf.models.heads import aggregation, cell_selection, classification, reader, spans
from mate_tf.models.heads.base import Head, has_labels

__all__ = ["ClassifierConfig", "TableClassifier", "label_features", "make_heads"]


def make_heads(config: ClassifierConfig) -> dict[str, Head]:
    """Returns name -> head of a config, without variables yet.

    Cell selection is last, because its loss depends on the outputs of the aggregation's loss.

    Raises:
        InputError: a value of the config of a wrong type or range; options that contradict each
            other; no head with a loss.
    """
    field_types.check_all(config)
    made = []
    if config.num_aggregation_labels:
        made.append(aggregation.aggregation_head(config))
    if config.num_classification_labels or config.multiple_choice:
        made.append(classification.class_head(config))
    if config.span_prediction != spans.NO_SPANS:
        made.append(reader.span_head(config))
    made.append(cell_selection.cell_selection_head(config))
    if not any(head.labels for head in made):
        raise InputError("disable_per_token_loss without another head: the model has no loss")
    if config.cells_or_class and (
        config.disable_per_token_loss or config.num_classification_labels < 2
    ):
        raise InputError(
            "cells_or_class needs num_classification_labels of 2 or more and a loss of cells"
        )
    if config.cells_or_class and config.num_aggregation_labels and config.use_answer_as_supervision:
        raise InputError(
            "cells_or_class and use_answer_as_supervision exclude each other: a question whose "
            "answer is only a number has no labelled cells either"
        )
    return {head.name: head for head in made}


def label_features(config: ClassifierConfig) -> list[str]:
    """Returns the names of the features (data/features.py) that a model's losses read.

    Raises:
        InputError: a number is out of its range; see `make_heads`.
    """
    field_types.check_all(config)
    names = (name for head in make_heads(config).values() for name in head.labels)
    return list(dict.fromkeys(names))


class TableClassifier(ConfiguredModel):
    """Selects cells of a table as the answer to a question, aggregates and classifies.

    Examples:
        >>> model = TableClassifier(ClassifierConfig(select_one_column=True))
        >>> outputs = model(features)
        >>> outputs["probs"].shape, outputs["selected_tokens"].shape
        ([batch, seq], [batch, seq])

    Variables exist from construction on.

    Raises:
        InputError: if options of the config contradict each other.
    """

    config_type = ClassifierConfig

    def __init__(self, config, name="table_classifier", **kwargs):
        super().__init__(config, name, **kwargs)
        self.encoder = TableEncoder(config.encoder, name="bert")
        self.towers = config.towers()
        self.num_parts = self.towers.num_parts
        self.dropout = Dropout(config.sequence_dropout_prob)
        self._labels = label_features(config)
        # A dict, so that attribute paths in checkpoints do not depend on the other heads.
        self.heads = make_heads(config)
        self.build(None)

    def build(self, input_shape=None):
        """Creates the variables of the heads."""
        hidden = self._config.encoder.hidden_size
        widths = {"sequence_output": hidden, "pooled_output": hidden * self.towers.pooled_width}
        for head in self.heads.values():
            build_child(head, [None, None, widths[head.reads]])
        self.built = True

    def checkpoint_variables(self):
        """Returns name in TF1 checkpoints -> variable, of the encoder and all heads."""
        variables = self.encoder.checkpoint_variables()
        for head in self.heads.values():
            variables |= head.checkpoint_variables()
        return variables

    def call(self, features, training=None):
        """Runs the encoder and the heads, and computes losses if the features have all labels.

        Args:
            features: dict of the encoder's inputs, <int32>[batch, seq]. The losses need all of
                `label_features`: label_ids <int32>[batch, seq], numeric_values and
                numeric_values_scale <float32>[batch, seq], answer <float32>[batch, 1],
                aggregation_function_id and classification_class_index <int32>[batch, 1].

        Returns:
            dict with the encoder's outputs (sequence_output, pooled_output, encoder_outputs) and
            the heads' outputs, all <float32> or <int32>: token_logits, logits, probs,
            selected_tokens (`heads.cell_selection`) and, if the model has these heads,
            column_logits, logits_aggregation, pred_aggr (`heads.aggregation`), logits_cls,
            probs_cls, pred_cls (`heads.classification`), span_logits, span_indexes, pred_span,
            span_log_prob, empty_span_log_prob (`heads.spans`). With labels also total_loss
            <float32>[], the mean over the batch, and its parts, each <float32>[batch].
        """
        encoded = self.towers.encode(self.encoder, features, training)
        return self.apply_heads(features, encoded, training)

    def apply_heads(self, features, encoded: dict, training=None) -> dict:
        """Runs the heads, and computes losses if the features have all labels; see `call`.

        Args:
            features: as for `call`.
            encoded: the encoder's outputs; sequence_output and pooled_output are read.
        """
        outputs = dict(encoded)
        read = {
            "sequence_output": self.dropout(outputs["sequence_output"], training=training),
            "pooled_output": outputs["pooled_output"],
        }
        cells = Cells(
            features["row_ids"],
            features["column_ids"],
            features["input_mask"],
            self._config.max_num_rows,
            self._config.max_num_columns,
        )
        for head in self.heads.values():
            outputs.update(head(read[head.reads], cells=cells, features=features))
        if all(name in features for name in self._labels):
            outputs["total_loss"] = self._total_loss(outputs, cells, features)
        return outputs

    def _total_loss(self, outputs, cells, features):
        """Returns the sum of the heads' losses, <float32>[], and adds its parts to `outputs`."""
        losses = []
        for head in self.heads.values():
            if head.labels:
                per_example, parts = head.loss(outputs, cells=cells, features=features)
                losses.append(per_example * self._labelled_for(head, features))
                outputs.update(parts)
        per_example = tf.add_n(losses)
        if replica_losses.number() == 1:
            return tf.reduce_mean(per_example)
        weights = tf.cast(padding.example_mask(features), tf.float32)
        return replica_losses.weighted_mean(per_example, weights)

    def _labelled_for(self, head, features):
        """Returns <float32>[batch], 1 for examples with a label of the head (`cells_or_class`)."""
        if not self._config.cells_or_class:
            return 1.0
        with_cells = has_labels(features)
        of_class = isinstance(head, classification.ClassificationHead)
        return 1.0 - with_cells if of_class else with_cells
