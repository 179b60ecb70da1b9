"""Performer's random features, against tf-models' layer and against softmax attention."""

import numpy as np
import tensorflow as tf
from official.nlp.modeling.layers import kernel_attention

from mate_tf.attention import AttentionConfig
from mate_tf.attention.kernel import KernelTensors, orthogonal_features


def pair(tables, **options):
    return tables.layer_pair(AttentionConfig(name="kernel", **options))


def projections(seed=0, seq=20, scale=1.0):
    draw = np.random.default_rng(seed).normal(size=[3, 2, seq, 4, 4], scale=scale)
    return [tf.constant(x, tf.float32) for x in draw]


def test_equals_the_layer_of_tf_models(tables):
    """Where scores are small: there its one maximum for all tokens does no harm."""
    layer = pair(tables, num_random_features=8).layer
    query, key, value = projections(scale=0.3)
    real = np.ones([2, 20], bool)
    ours = layer.attend(query, key, value, KernelTensors(tf.constant(real)[:, :, None, None]))
    theirs = kernel_attention.KernelAttention(
        feature_transform="exp", num_random_features=8, num_heads=4, key_dim=4
    )
    theirs._projection_matrix = tf.constant(layer.directions)
    expected = theirs._compute_attention(
        query, key, value, "exp", False, attention_mask=tf.cast(real, tf.float32)
    )
    np.testing.assert_allclose(ours, expected, atol=1e-3)


def test_more_features_come_closer_to_softmax_attention(tables):
    query, key, value = projections(scale=0.7)
    scores = tf.einsum("bqhd,bkhd->bhqk", query, key) / 2
    expected = tf.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(scores), value)
    pattern = KernelTensors(tf.ones([2, 20, 1, 1], tf.bool))

    def error(count):
        layers = (pair(tables, num_random_features=count, seed=seed).layer for seed in range(5))
        outputs = [layer.attend(query, key, value, pattern) for layer in layers]
        return np.sqrt(np.mean(np.square(outputs - expected)))

    errors = [error(count) for count in (16, 256, 4096)]
    # one over the square root of their number: a quarter each time
    assert errors[2] < errors[1] / 2 < errors[0] / 4
    assert errors[2] < 0.1 * np.std(expected)


def test_large_scores(tables):
    """Weights add up to 1 wherever one key is real, however small all features are."""
    layer = pair(tables, num_random_features=8).layer
    query, key, _ = projections(scale=40.0)
    real = np.arange(20) < np.array([[20], [1]])
    pattern = KernelTensors(tf.constant(real)[:, :, None, None])
    np.testing.assert_allclose(layer.attend(query, key, tf.ones_like(key), pattern), 1, atol=1e-5)
    with tf.GradientTape() as tape:
        tape.watch([query, key])
        loss = tf.reduce_sum(layer.attend(query, key, key, pattern))
    assert all(np.isfinite(gradient).all() for gradient in tape.gradient(loss, [query, key]))


def test_features_are_orthogonal_in_groups():
    directions = orthogonal_features(10, 4, seed=3)
    assert directions.shape == (10, 4)
    for group in (directions[:4], directions[4:8], directions[8:]):
        product = group @ group.T
        np.testing.assert_allclose(product, np.diag(np.diag(product)), atol=1e-5)
    np.testing.assert_array_equal(directions, orthogonal_features(10, 4, seed=3))
    assert np.abs(directions - orthogonal_features(10, 4, seed=4)).max() > 0.1
