"""What the variants share: dropout of whole keys, for those without probabilities."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import AttentionConfig
from mate_tf.layers import step_seeds

RATE, SEED, HIDDEN, SEQ = 0.4, [7, 11], 16, 40
OPTIONS = {
    "tree_coarse": {"tree_height": 2},
    "kernel": {"num_random_features": 16},
    "bigbird": {"block_size": 4, "num_random": 2, "random_within": 32},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_whole_keys_are_dropped(tables, name, monkeypatch):
    """Output in training is that of values which are 0 or 1 / (1 - rate) times as large."""
    monkeypatch.setattr(step_seeds, "draw", lambda: tf.constant(SEED))
    run = tables.layer_pair(AttentionConfig(name=name, **OPTIONS[name]), dropout_rate=RATE)
    context = tables.random_context(np.random.default_rng(1), SEQ, [6, 4])
    x = tf.random.stateless_normal([2, SEQ, HIDDEN], [3, 4])
    layer, pattern = run.layer, run.pattern(context)
    query, key, value = layer.project(x, layer.query, layer.key, layer.value)
    # [batch, keys, heads, 1]: one factor for all elements of a key and all queries
    kept = tf.nn.experimental.stateless_dropout(tf.ones([2, SEQ, 4, 1]), RATE, SEED)
    assert 0.3 < np.mean(kept == 0) < 0.5
    expected = layer.project_back(layer.attend(query, key, value * kept, pattern))
    np.testing.assert_allclose(run(x, context, training=True), expected, atol=1e-5, rtol=0)
    assert np.abs(expected - run(x, context)).max() > 0.1
