"""Heads that predict a class or a number for the whole example."""

import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.models.heads.base import PooledHead


class ClassificationHead(PooledHead):
    """Predicts a class for the whole example, such as refuted or entailed.

    The loss is the cross entropy times the weight of the gold class (`label_weights`).

    Raises:
        InputError: if `num_classification_labels` or `classification_label_weight` is not valid.
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
        """Returns logits_cls, probs_cls <float32>[batch, classes] and pred_cls <int32>[batch]."""
        logits = self._logits(x)
        return {
            "logits_cls": logits,
            "probs_cls": tf.nn.softmax(logits),
            "pred_cls": tf.argmax(logits, axis=1, output_type=tf.int32),
        }

    def loss(self, outputs, *, cells, features):
        """Computes the weighted cross entropy, <float32>[batch]."""
        classes = tf.reshape(features["classification_class_index"], [-1])
        per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=classes, logits=outputs["logits_cls"]
        )
        per_example *= tf.gather(tf.constant(self._label_weights, tf.float32), classes)
        return per_example, {"classification_loss_per_example": per_example}


class ChoiceHead(ClassificationHead):
    """Predicts one of several choices, such as the most plausible of four endings of a text.

    The input is the pooled output of each choice, <float>[batch, choices, width]. One linear layer
    computes a logit for each choice. The loss is that of `ClassificationHead` over the choices.

    Raises:
        InputError: see `ClassificationHead`.
    """

    def __init__(self, config, **kwargs):
        super().__init__(config, **kwargs)
        self._num_outputs = 1

    def _logits(self, x):
        """Scores choices: <float32>[batch, choices, width] -> <float32>[batch, choices]."""
        # [batch, choices, 1] -> [batch, choices]
        return tf.squeeze(super()._logits(x), axis=-1)


class RegressionHead(PooledHead):
    """Predicts a number for the whole example, such as the similarity of two texts.

    The loss is the squared error. It is 0 for examples without a number, such as padding examples.
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
        """Returns logits_cls <float32>[batch, 1], the number."""
        return {"logits_cls": self._logits(x)}

    def loss(self, outputs, *, cells, features):
        """Computes the squared error, <float32>[batch]."""
        per_example = squared_error(outputs["logits_cls"], features["answer"])
        return per_example, {"regression_loss_per_example": per_example}


def squared_error(predicted, gold):
    """Returns the squared error of <float32>[batch, 1] both: [batch], 0 where `gold` is NaN."""
    # [batch, 1] -> [batch]
    gold = tf.reshape(gold, [-1])
    known = ~tf.math.is_nan(gold)
    return tf.square(tf.where(known, tf.reshape(predicted, [-1]) - tf.where(known, gold, 0.0), 0.0))


def class_head(config):
    """Returns the head for classes, choices or, with one label, a number."""
    if config.multiple_choice:
        return ChoiceHead(config)
    one = config.num_classification_labels == 1
    return RegressionHead(config) if one else ClassificationHead(config)


def label_weights(text: str, num_labels: int) -> list[float]:
    """Parses weights of classes, such as "0:1.0,1:2.0". Classes without a weight get 1.

    Raises:
        InputError: if the text has another format or names an unknown class.
    """
    weights = [1.0] * num_labels
    for part in filter(None, text.split(",")):
        try:
            label, weight = part.split(":")
            label, weight = int(label), float(weight)
        except ValueError as error:
            raise InputError(
                f"classification_label_weight: {part!r} is not a class and a weight like 0:1.0"
            ) from error
        if not 0 <= label < num_labels:
            raise InputError(f"classification_label_weight: no class {label} among {num_labels}")
        weights[label] = weight
    return weights
