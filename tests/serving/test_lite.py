"""An encoder in LiteRT gives what it gives in TensorFlow."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import AttentionConfig
from mate_tf.models.encoder import EncoderConfig, TableEncoder
from mate_tf.serving.lite import encoder_to_lite

LENGTH = 32


def features(vocab_size):
    draw = np.random.default_rng(3)
    rows = np.repeat(np.arange(LENGTH // 4), 4)
    columns = np.tile(np.arange(1, 5), LENGTH // 4)
    question = np.arange(LENGTH) < 4
    mask = np.arange(LENGTH) < LENGTH - 5
    zeros = np.zeros(LENGTH, int)
    values = {
        "input_ids": draw.integers(1, vocab_size, LENGTH) * mask,
        "input_mask": mask,
        "segment_ids": ~question & mask,
        "column_ids": columns * ~question * mask,
        "row_ids": rows * ~question * mask,
        "prev_label_ids": zeros,
        "column_ranks": draw.integers(0, 9, LENGTH) * mask,
        "inv_column_ranks": zeros,
        "numeric_relations": zeros,
    }
    return {name: np.array(value, np.int32)[np.newaxis] for name, value in values.items()}


@pytest.mark.parametrize("name", ["full", "mate_efficient"])
def test_same_outputs(name):
    attention = AttentionConfig(name=name)
    if name == "mate_efficient":
        attention = AttentionConfig(name=name, global_length=8, radius=8)
    config = EncoderConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        initializer_range=0.3,
        attention=attention,
    )
    encoder = TableEncoder(config)
    given = features(config.vocab_size)
    expected = encoder({key: tf.constant(value) for key, value in given.items()}, training=False)
    interpreter = tf.lite.Interpreter(model_content=encoder_to_lite(encoder, LENGTH))
    run = interpreter.get_signature_runner()
    found = run(**given)
    kept = given["input_mask"][0] == 1
    np.testing.assert_allclose(
        found["sequence_output"][0][kept], expected["sequence_output"][0][kept], atol=1e-4
    )
    np.testing.assert_allclose(found["pooled_output"], expected["pooled_output"], atol=1e-4)
