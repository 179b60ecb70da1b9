"""One encoder block against its definition written out."""

import numpy as np
import pytest
import tensorflow as tf
from scipy import special

from mate_tf.attention import AttentionConfig, TableContext, get
from mate_tf.layers import step_seeds
from mate_tf.models.encoder import TableEncoder
from mate_tf.models.encoder_block import EncoderBlock
from mate_tf.models.encoder_config import EncoderConfig

from .tiny_encoder import tiny


def normalised(x, layer):
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
    return x * layer.gamma.numpy() + layer.beta.numpy()


def test_a_block_is_rebuilt_from_its_config():
    config = EncoderConfig(hidden_size=8, num_attention_heads=2, intermediate_size=12)
    block = EncoderBlock(config, AttentionConfig(name="mate_exact", row_heads_ratio=0.5))
    again = EncoderBlock.from_config(block.get_config())
    assert again.get_config() == block.get_config()
    assert (again.config, again.attention_config) == (config, block.attention_config)
    block.build()
    again.build()
    assert [v.shape for v in again.variables] == [v.shape for v in block.variables]


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


FEATURES = {
    "input_ids": np.arange(16).reshape([2, 8]) + 1,
    "input_mask": np.array([[1] * 8, [1] * 6 + [0] * 2]),
    "segment_ids": np.array([[0] * 2 + [1] * 6] * 2),
    "row_ids": np.array([[0, 0, 0, 0, 1, 1, 2, 2]] * 2),
    "column_ids": np.array([[0, 0, 1, 2, 1, 2, 1, 2]] * 2),
}
ATTENTION = {
    "mate_efficient": {"global_length": 2, "radius": 1},
    "learned_mask": {"length": 8, "objective": "dam"},
    "tree_fine": {"tree_height": 1},
}


def gradients(encoder):
    """Gradients of a training step with dropout, as a graph, and the number of its products."""

    @tf.function(autograph=False)
    def step():
        features = {name: tf.constant(ids, tf.int32) for name, ids in FEATURES.items()}
        with tf.GradientTape() as tape, step_seeds.seeded_function(tf.constant([3, 4])):
            output = encoder(features, training=True)["sequence_output"]
            loss = tf.reduce_sum(output * tf.range(8.0))
        return tape.gradient(loss, encoder.trainable_variables)

    graph = step.get_concrete_function().graph.as_graph_def()
    nodes = [*graph.node, *(node for part in graph.library.function for node in part.node_def)]
    return step(), sum(node.op in ("MatMul", "BatchMatMulV2") for node in nodes)


@pytest.mark.parametrize("name", ATTENTION)
def test_recomputed_blocks_have_the_same_gradients(name, monkeypatch):
    """With dropout in the second pass as in the first, and for what a pattern has learned."""
    config = tiny(
        attention={"name": name, **ATTENTION[name]},
        disabled_features=["prev_label_ids", "column_ranks", "inv_column_ranks"],
        hidden_dropout_prob=0.5,
        attention_probs_dropout_prob=0.5,
        recompute=True,
    )
    config.disabled_features.append("numeric_relations")
    encoder = TableEncoder(config)
    found, products = gradients(encoder)
    monkeypatch.setattr(tf, "recompute_grad", lambda function: function)
    expected, fewer = gradients(encoder)
    assert products >= fewer + 12  # two layers, six products with weights
    largest = max(tf.reduce_max(tf.abs(each)) for each in expected if each is not None)
    for variable, own, other in zip(encoder.trainable_variables, found, expected, strict=True):
        if "pooler" in variable.name:  # not in the loss
            assert own is other is None
        else:
            own, other = map(tf.convert_to_tensor, (own, other))
            np.testing.assert_allclose(own, other, 1e-4, 1e-5 * largest, err_msg=variable.name)
