"""The layers that are measured: their options, inputs, outputs and gradients."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.analysis.cost import encoder_layers
from mate_tf.analysis.cost.encoder_layers import Case
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.layers.precision import PRECISIONS
from mate_tf.models.encoder_config import EncoderConfig

SIZES = {"hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 32}
LENGTH = 60


def config_of(name, **options):
    config = EncoderConfig(num_hidden_layers=1, **SIZES)
    config.attention.override({"global_length": 24, "radius": 4})
    config = encoder_layers.variant_config(config, name, LENGTH)
    config.attention.override(options)
    return config


def test_the_table():
    context = encoder_layers.table_context(LENGTH)
    assert [part.shape for part in context.tensors.values()] == [[1, LENGTH]] * 4
    segment, row, column, mask = (part.numpy()[0] for part in context.tensors.values())
    assert (segment == 0).sum() == encoder_layers.QUESTION
    assert mask.all()
    assert (column[segment == 1] > 0).all()
    assert row[-1] == 1  # one header row of 32 tokens, and the first of the next


def test_options_stay_and_lengths_follow():
    config = config_of("mate_exact")
    assert (config.attention.global_length, config.attention.radius) == (24, 4)
    assert encoder_layers.variant_config(config, "linformer", 700).attention.length == 700
    assert encoder_layers.variant_config(config, "linformer", 70).attention.length == 512
    with pytest.raises(InputError, match="unknown attention 'fast'"):
        encoder_layers.variant_config(config, "fast")


@pytest.mark.parametrize(
    ("name", "options"), [("mate_efficient", {}), ("table_etc", {"num_global": 8})]
)
def test_outputs_and_gradients(name, options):
    config = config_of(name, **options)
    for precision in ("float32", "bfloat16"):
        x, context = encoder_layers.inputs(config, LENGTH, precision)
        case = Case(name, LENGTH, precision)
        y = encoder_layers.function(config, case)(x, context)
        assert (y.shape, y.dtype.name) == ([1, LENGTH, 16], precision)
        assert np.isfinite(tf.cast(y, tf.float32)).all()
    step = encoder_layers.function(config, Case(name, LENGTH, training=True))
    gradients = step(*encoder_layers.inputs(config, LENGTH))
    assert len(gradients) == 16 + (name == "table_etc")
    assert any(np.abs(gradient).max() > 0 for gradient in gradients)


def test_bfloat16_is_near():
    """`mate_efficient` in blocks: 2e-2 of the norm of what float32 gives."""
    config = encoder_layers.variant_config(
        EncoderConfig(num_hidden_layers=2, hidden_size=192, num_attention_heads=6),
        "mate_efficient",
        1024,
    )
    outputs = {}
    for precision in PRECISIONS:
        keras.utils.set_random_seed(1)
        run = encoder_layers.forward(config, precision)
        y = run(*encoder_layers.inputs(config, 1024, precision))
        assert y.dtype == precision
        outputs[precision] = tf.cast(y, tf.float32).numpy()
    difference = np.linalg.norm(outputs["bfloat16"] - outputs["float32"])
    assert 0 < difference < 2e-2 * np.linalg.norm(outputs["float32"])
