"""An encoder in LiteRT gives what it gives in TensorFlow."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import attention
from mate_tf.attention import AttentionConfig
from mate_tf.errors import InputError
from mate_tf.models.encoder import EncoderConfig, TableEncoder
from mate_tf.serving.lite import encoder_to_lite

LENGTH, VOCABULARY = 32, 50
SMALL = {"global_length": 8, "radius": 8, "tree_height": 2, "length": LENGTH, "num_global": 8}
REFUSED = {"bigbird": "'tf.BatchMatMulV2' op found invalid output dimension"}
"""Variants that LiteRT does not take, and why: tf-models' einsum "BLQ,BHLK->BHLQK"."""


def features():
    draw = np.random.default_rng(3)
    rows = np.repeat(np.arange(LENGTH // 4), 4)
    columns = np.tile(np.arange(1, 5), LENGTH // 4)
    question = np.arange(LENGTH) < 4
    mask = np.arange(LENGTH) < LENGTH - 5
    zeros = np.zeros(LENGTH, int)
    values = {
        "input_ids": draw.integers(1, VOCABULARY, LENGTH) * mask,
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


def encoder_of(name, **options):
    config = AttentionConfig(name=name)
    config.override({key: value for key, value in SMALL.items() if key in config} | options)
    return TableEncoder(
        EncoderConfig(
            vocab_size=VOCABULARY,
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            initializer_range=0.3,
            attention=config,
        )
    )


@pytest.mark.parametrize("name", [name for name in attention.names() if name not in REFUSED])
def test_same_outputs(name):
    """With the operations that LiteRT has."""
    encoder = encoder_of(name)
    given = features()
    expected = encoder({key: tf.constant(value) for key, value in given.items()}, training=False)
    interpreter = tf.lite.Interpreter(model_content=encoder_to_lite(encoder, LENGTH))
    run = interpreter.get_signature_runner()
    found = run(**given)
    kept = given["input_mask"][0] == 1
    np.testing.assert_allclose(
        found["sequence_output"][0][kept], expected["sequence_output"][0][kept], atol=1e-4
    )
    np.testing.assert_allclose(found["pooled_output"], expected["pooled_output"], atol=1e-4)


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_converter_gets_wrong(name):
    encoder = encoder_of(name)
    for select_tf_ops in (False, True):
        with pytest.raises(InputError, match=f"^LiteRT's converter fails .*{REFUSED[name]}.*$"):
            encoder_to_lite(encoder, LENGTH, select_tf_ops)


def test_missing_operations_are_named():
    """Of leaves in blocks, a form of `tree_fine` that has to be asked for here."""
    encoder = encoder_of("tree_fine", form="sorted")
    with pytest.raises(
        InputError, match=r"^LiteRT lacks .*tf.DenseBincount, tf.DynamicPartition, "
    ):
        encoder_to_lite(encoder, LENGTH)
    # TensorFlow 2.20 cannot run it
    assert b"FlexDynamicPartition" in encoder_to_lite(encoder, LENGTH, select_tf_ops=True)
