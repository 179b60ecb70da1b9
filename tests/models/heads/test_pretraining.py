"""Heads of pre-training against NumPy, in float32 under mixed precision too."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.models.encoder_config import EncoderConfig
from mate_tf.models.heads.pretraining import MaskedWordHead, RandomTableHead

CONFIG = EncoderConfig(hidden_size=4, vocab_size=6, initializer_range=0.5, hidden_act="gelu")


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_masked_words(dtype):
    head = MaskedWordHead(CONFIG)
    head.build([None, 4])
    for number, variable in enumerate(head.variables):
        variable.assign(normal(number, *variable.shape))
    x, words = tf.cast(normal(7, 3, 4), dtype), normal(8, 6, 4)
    found = head(x, words)
    assert found.dtype == tf.float32
    names = {
        name.removeprefix("cls/predictions/"): variable.numpy().astype(np.float64)
        for name, variable in head.checkpoint_variables().items()
    }
    x = tf.cast(x, tf.float64).numpy() @ names["transform/dense/kernel"]
    x += names["transform/dense/bias"]
    x *= (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2  # BERT's gelu
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(
        x.var(-1, keepdims=True) + CONFIG.layer_norm_epsilon
    )
    x = x * names["transform/LayerNorm/gamma"] + names["transform/LayerNorm/beta"]
    np.testing.assert_allclose(found, x @ words.T + names["output_bias"], atol=1e-4)


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_random_table(dtype):
    head = RandomTableHead(CONFIG)
    head.build([None, 4])
    head.output_bias.assign([0.5, -0.5])
    x = tf.cast(normal(1, 3, 4), dtype)
    found = head(x)
    assert found.dtype == tf.float32
    expected = tf.cast(x, tf.float32).numpy() @ head.output_weights.numpy().T + [0.5, -0.5]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert head.output_weights.shape == [2, 4]
    assert head.checkpoint_variables() == {
        "cls/seq_relationship/output_weights": head.output_weights,
        "cls/seq_relationship/output_bias": head.output_bias,
    }
