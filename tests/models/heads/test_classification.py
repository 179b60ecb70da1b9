"""Classes: weights from text, loss by hand."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.heads import classification


def test_label_weights():
    assert classification.label_weights("", 2) == [1, 1]
    assert classification.label_weights("0:0.3,1:2", 2) == [0.3, 2]
    assert classification.label_weights("2:5", 3) == [1, 1, 5]


@pytest.mark.parametrize("text", ["1", "a:1", "0:b", "0:1:2", "2:1", "-1:1"])
def test_label_weights_that_make_no_sense(text):
    with pytest.raises(InputError, match="classification_label_weight"):
        classification.label_weights(text, 2)


def test_class_and_loss():
    config = ClassifierConfig(
        num_classification_labels=2, classification_label_weight="0:0.5,1:3.0"
    )
    head = classification.ClassificationHead(config)
    head.build([None, 2])
    head.output_weights.assign([[1.0, 0.0], [0.0, 1.0]])
    head.output_bias.assign([0.0, 1.0])
    outputs = head(tf.constant([[2.0, 0.0], [0.0, 2.0]]), cells=None, features={})
    np.testing.assert_array_equal(outputs["logits_cls"], [[2, 1], [0, 3]])
    np.testing.assert_array_equal(outputs["pred_cls"], [0, 1])
    probs = np.exp([[2, 1], [0, 3]]) / np.exp([[2, 1], [0, 3]]).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(outputs["probs_cls"], probs, rtol=1e-5)
    features = {"classification_class_index": tf.constant([[1], [0]])}
    loss, _ = head.loss(outputs, cells=None, features=features)
    np.testing.assert_allclose(
        loss, [-3 * np.log(probs[0, 1]), -0.5 * np.log(probs[1, 0])], rtol=1e-5
    )


def test_names_in_the_reference():
    head = classification.ClassificationHead(ClassifierConfig(num_classification_labels=3))
    head.build([None, 5])
    shapes = {name: tuple(v.shape) for name, v in head.checkpoint_variables().items()}
    assert shapes == {"output_weights_cls": (3, 5), "output_bias_cls": (3,)}
