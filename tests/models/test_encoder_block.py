"""One encoder block against its definition written out."""

import numpy as np
import tensorflow as tf
from scipy import special

from mate_tf.attention import AttentionConfig, TableContext, get
from mate_tf.models.encoder_block import EncoderBlock
from mate_tf.models.encoder_config import EncoderConfig


def normalised(x, layer):
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
    return x * layer.gamma.numpy() + layer.beta.numpy()


def test_post_norm_and_tanh_gelu():
    config = EncoderConfig(
        hidden_size=8, num_attention_heads=2, intermediate_size=32, initializer_range=0.5
    )
    full = AttentionConfig(name="full")
    block = EncoderBlock(config, full)
    block.build()
    for layer in (block.attention_LayerNorm, block.output_LayerNorm):
        layer.gamma.assign(tf.linspace(0.5, 1.5, 8))
        layer.beta.assign(tf.linspace(-1.0, 1.0, 8))
    ones = tf.ones([2, 5], tf.int32)
    pattern = get("full").pattern(full, 2)(TableContext(ones, ones, ones, ones))
    x = np.random.default_rng(0).normal(size=[2, 5, 8]).astype(np.float32)

    attended = normalised(x + block.attention(x, pattern).numpy(), block.attention_LayerNorm)
    wide = attended @ block.intermediate.kernel.numpy()
    tanh_gelu = 0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    erf_gelu = wide * special.ndtr(wide)
    assert np.abs(tanh_gelu - erf_gelu).max() > 1e-4
    y = tanh_gelu @ block.feed_forward.kernel.numpy()
    expected = normalised(attended + y, block.output_LayerNorm)
    np.testing.assert_allclose(block(x, pattern), expected, atol=1e-5)
