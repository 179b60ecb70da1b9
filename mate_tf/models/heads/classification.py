"""Heads for the whole example: a class, or a number."""

import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.models.heads.base import PooledHead


class ClassificationHead(PooledHead):
    """A class for the whole example, such as refuted or entailed.

    The loss is the cross entropy, times the weight of the right class (`label_weights`).

    Args:
        config: a ClassifierConfig.

    Raises:
        InputError: if `num_classification_labels` or `classification_label_weight` make no sense.
    """

    labels = ("classification_class_index",)

    def __init__(self, config, name="classification", **kwargs):
        super().__init__(
            config,
            config.num_classification_labels,
            "cls",
            hidden_sizes=config.classification_hidden_sizes,
            name=name,
            **kwargs,
        )
        self._label_weights = label_weights(config.classification_label_weight, self.num_labels)

    def call(self, x, *, cells, features):
        """Scores classes.

        Args:
            x: <float>[batch, width], the encoder's pooled output.
            cells: unused.
            features: unused.

        Returns:
            logits_cls and probs_cls <float32>[batch, classes]; pred_cls <int32>[batch].
        """
        del cells, features
        logits = self._logits(x)
        return {
            "logits_cls": logits,
            "probs_cls": tf.nn.softmax(logits),
            "pred_cls": tf.argmax(logits, axis=1, output_type=tf.int32),
        }

    def loss(self, outputs, *, cells, features):
        """Weighted cross entropy; reads classification_class_index."""
        del cells
        classes = tf.reshape(features["classification_class_index"], [-1])
        per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=classes, logits=outputs["logits_cls"]
        )
        per_example *= tf.gather(tf.constant(self._label_weights, tf.float32), classes)
        return per_example, {"classification_loss_per_example": per_example}


class ChoiceHead(ClassificationHead):
    """One of several choices, such as the most plausible of four endings of a story.

    Each is scored by the same number from its own pooled output <float>[batch, choices, width];
    the classes are the choices. The loss is that of classes.

    Args:
        config: a ClassifierConfig.

    Raises:
        InputError: as of classes.
    """

    def __init__(self, config, **kwargs):
        super().__init__(config, **kwargs)
        self._num_outputs = 1

    def _logits(self, x):
        """<float32>[batch, choices, width] -> <float32>[batch, choices]"""
        return tf.squeeze(super()._logits(x), axis=-1)


class RegressionHead(PooledHead):
    """A number for the whole example, such as how similar two texts are.

    The loss is the squared error. An example without a number, such as those that fill up a batch,
    has none.

    Args:
        config: a ClassifierConfig.
    """

    labels = ("answer",)
    min_labels = 1

    def __init__(self, config, name="regression", **kwargs):
        super().__init__(
            config,
            1,
            "cls",
            hidden_sizes=config.classification_hidden_sizes,
            name=name,
            **kwargs,
        )

    def call(self, x, *, cells, features):
        """Estimates the number.

        Args:
            x: <float>[batch, width], the encoder's pooled output.
            cells: unused.
            features: unused.

        Returns:
            logits_cls <float32>[batch, 1], the number.
        """
        del cells, features
        return {"logits_cls": self._logits(x)}

    def loss(self, outputs, *, cells, features):
        """Squared error; reads answer."""
        del cells
        per_example = squared_error(outputs["logits_cls"], features["answer"])
        return per_example, {"regression_loss_per_example": per_example}


def squared_error(predicted, gold):
    """<float32>[batch, 1] both -> <float32>[batch]; 0 where the gold number is NaN."""
    gold = tf.reshape(gold, [-1])
    known = ~tf.math.is_nan(gold)
    return tf.square(tf.where(known, tf.reshape(predicted, [-1]) - tf.where(known, gold, 0.0), 0.0))


def class_head(config):
    """The head that `num_classification_labels` asks for: of 1 label it is a number."""
    if config.multiple_choice:
        return ChoiceHead(config)
    one = config.num_classification_labels == 1
    return RegressionHead(config) if one else ClassificationHead(config)


def label_weights(text: str, num_labels: int) -> list[float]:
    """Weights of classes from text such as "0:1.0,1:2.0"; 1 for those it leaves out.

    Raises:
        InputError: the text is of another form or names a class that is not there.
    """
    weights = [1.0] * num_labels
    for part in filter(None, text.split(",")):
        try:
            label, weight = part.split(":")
            label, weight = int(label), float(weight)
        except ValueError as error:
            raise InputError(
                f"classification_label_weight: {part!r} is no class and weight like 0:1.0"
            ) from error
        if not 0 <= label < num_labels:
            raise InputError(
                f"classification_label_weight: there is no class {label} among {num_labels}"
            )
        weights[label] = weight
    return weights
