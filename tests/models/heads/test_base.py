"""Linear heads with hidden layers, and which examples have labels."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.models.classifier_config import ClassifierConfig
from mate_tf.models.heads import base


def test_hidden_layers_stand_before_the_linear_one():
    head = base.PooledHead(ClassifierConfig(), num_labels=2, suffix="cls", hidden_sizes=(4, 3))
    head.build([None, 5])
    rng = np.random.default_rng(0)
    for variable in head.variables:
        variable.assign(rng.normal(size=variable.shape))
    x = rng.normal(size=[6, 5]).astype(np.float32)
    names = head.checkpoint_variables()
    assert {name: list(variable.shape) for name, variable in names.items()} == {
        "output_weights_cls": [2, 3],
        "output_bias_cls": [2],
        "hidden_0_weights_cls": [5, 4],
        "hidden_0_bias_cls": [4],
        "hidden_1_weights_cls": [4, 3],
        "hidden_1_bias_cls": [3],
    }
    expected = x
    for number in range(2):
        kernel, bias = (names[f"hidden_{number}_{part}_cls"] for part in ("weights", "bias"))
        expected = np.maximum(expected @ kernel.numpy() + bias.numpy(), 0)
    expected = expected @ names["output_weights_cls"].numpy().T + names["output_bias_cls"].numpy()
    np.testing.assert_allclose(head._logits(x), expected, rtol=1e-5)


def test_too_few_classes():
    with pytest.raises(InputError, match="verdict: 1 classes, must be 2 or more"):
        base.PooledHead(ClassifierConfig(), num_labels=1, suffix="cls", name="verdict")


def test_labels_of_padding_are_none():
    features = {
        "label_ids": tf.constant([[0, 1, 0], [0, 0, 0], [0, 0, 1]]),
        "input_mask": tf.constant([[1, 1, 1], [1, 1, 1], [1, 1, 0]]),
    }
    np.testing.assert_array_equal(base.has_labels(features), [1, 0, 0])
