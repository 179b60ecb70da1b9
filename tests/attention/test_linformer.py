"""Linformer: lengths; what it computes, the contract test and the goldens compare."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import AttentionConfig, TableContext
from mate_tf.errors import InputError

from .conftest import context_of


def config(**options):
    return AttentionConfig(name="linformer", **{"projected_length": 5, "length": 12} | options)


def test_an_input_longer_than_the_projection_is_refused(tables):
    run = tables.layer_pair(config())
    both, longer = ((tf.ones([2, seq, 16]), context_of(seq, [seq] * 2)) for seq in (12, 13))
    assert run(*both).shape == [2, 12, 16]
    with pytest.raises(InputError, match=r"linformer: a projection for 12 tokens.*longer: 13"):
        run(*longer)
    ids = [tf.TensorSpec([None, None], tf.int32)] * 4
    dynamic = tf.function(
        lambda x, *ids: run(x, TableContext(*ids)),
        input_signature=[tf.TensorSpec([None, None, 16]), *ids],
    )
    assert dynamic(both[0], *both[1][:4]).shape == [2, 12, 16]
    with pytest.raises(tf.errors.InvalidArgumentError, match="a projection for 12 tokens"):
        dynamic(longer[0], *longer[1][:4])


def test_layers_have_projections_of_their_own_shared_by_the_heads(tables):
    layer = tables.layer_pair(config()).layer
    ((name, kernel),) = layer.checkpoint_variables().items()
    assert name == "proj_seq_length/kernel"
    assert kernel.shape == [12, 5]
    assert kernel.name.endswith("proj_seq_length/kernel:0")
    assert 0.1 < np.std(kernel) < 0.5  # the initializer range is 0.3
