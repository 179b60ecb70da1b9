"""tf-models' BERT encoders: what they compute, a table encoder with their weights computes too."""

import numpy as np
import pytest
import tensorflow as tf
from official.nlp import modeling
from official.nlp.modeling import networks

from mate_tf import checkpoints
from mate_tf.data import features
from mate_tf.models.encoder import EncoderConfig, TableEncoder
from mate_tf.models.pretrainer import PretrainerConfig, TablePretrainer

SIZES = {"vocab_size": 30, "hidden_size": 8, "num_attention_heads": 2}
NUM_LAYERS, TYPES, POSITIONS = 2, 2, 16


def bert(kind, num_layers=NUM_LAYERS, type_vocab_size=TYPES):
    """One of tf-models' encoders, with random values in every variable."""
    more = {"num_layers": num_layers, "type_vocab_size": type_vocab_size}
    more["max_sequence_length"] = POSITIONS
    if kind == "BertEncoderV2":
        encoder = networks.BertEncoderV2(**SIZES, **more, inner_dim=16)
        encoder(encoder.inputs)
    else:
        encoder = networks.BertEncoder(**SIZES, **more, intermediate_size=16, dict_outputs=True)
    return randomised(encoder)


def randomised(model):
    rng = np.random.default_rng(0)
    for variable in model.variables:
        variable.assign(rng.normal(size=variable.shape, scale=0.5))
    return model


def config(attention, segments=3, num_layers=NUM_LAYERS, disabled=features.TOKEN_TYPES[1:]):
    return EncoderConfig(
        **SIZES,
        num_hidden_layers=num_layers,
        intermediate_size=16,
        max_position_embeddings=POSITIONS,
        type_vocab_sizes=[segments, 4, 4, 2, 4, 4, 4],
        disabled_features=list(disabled),
        attention={"name": attention},
    )


@pytest.mark.parametrize(
    ("kind", "attention"), [("BertEncoder", "full"), ("BertEncoderV2", "mate_efficient")]
)
def test_same_outputs(tmp_path, kind, attention):
    theirs = bert(kind)
    path = tf.train.Checkpoint(encoder=theirs).save(tmp_path / "ckpt")
    ours = TableEncoder(config(attention))
    report = checkpoints.load(ours, path)
    assert (report.missing, report.unused, report.mismatched) == ((), (), ())
    assert report.partial == ("bert/embeddings/token_type_embeddings_0",)
    assert len(report.loaded) == len(ours.variables)

    rng = np.random.default_rng(1)
    ids = tf.constant(rng.integers(0, 30, [2, 12]), tf.int32)
    mask = tf.sequence_mask([12, 7], 12, tf.int32)
    # MATE lets each token see the tokens of the first segment and those of its own cell
    types = tf.constant([[0] * 5 + [1] * 7] * 2, tf.int32)
    expected = theirs({"input_word_ids": ids, "input_mask": mask, "input_type_ids": types})
    cells = tf.zeros_like(ids)
    outputs = ours(
        {"input_ids": ids, "input_mask": mask, "segment_ids": types}
        | {"row_ids": cells, "column_ids": cells}
    )
    real = mask.numpy() > 0
    np.testing.assert_allclose(
        outputs["sequence_output"][real], expected["sequence_output"][real], atol=2e-5
    )
    np.testing.assert_allclose(outputs["pooled_output"], expected["pooled_output"], atol=2e-5)


@pytest.mark.parametrize("kind", ["BertEncoder", "BertEncoderV2"])
def test_encoders_within_other_models_and_their_masked_language_model(tmp_path, kind):
    theirs = modeling.models.BertPretrainerV2(encoder_network=bert(kind, num_layers=1))
    theirs(theirs.inputs)
    randomised(theirs)
    holders = {
        "model": tf.train.Checkpoint(model=theirs, optimizer=tf.Variable(1.0)),
        "items": tf.train.Checkpoint(**theirs.checkpoint_items),
    }
    encoder_config = config("full", num_layers=1, disabled=())
    for name, holder in holders.items():
        holder.save(tmp_path / name / "ckpt")
        ours = TablePretrainer(PretrainerConfig(encoder=encoder_config))
        report = checkpoints.load(ours, tmp_path / name)
        assert {missing[:42] for missing in report.missing} == {
            *(f"bert/embeddings/token_type_embeddings_{i}" for i in range(1, 7)),
            "cls/seq_relationship/output_bias",
            "cls/seq_relationship/output_weights",
        }
        assert report.unused == (("optimizer",) if name == "model" else ())
        hidden = tf.random.stateless_normal([1, 3, 8], [0, 1])
        table = ours.encoder.embeddings.word_embeddings
        np.testing.assert_array_equal(table, theirs.encoder_network.get_embedding_table())
        positions = tf.constant([[0, 1, 2]])
        np.testing.assert_allclose(
            ours.masked_words(hidden[0], table)[tf.newaxis],
            gelu_head(theirs.masked_lm, hidden, positions),
            atol=1e-5,
        )


def gelu_head(masked_lm, hidden, positions):
    """Their head's output with our activation (theirs has none unless it is told one)."""
    masked_lm.dense.activation = lambda x: tf.nn.gelu(x, approximate=True)
    return masked_lm(hidden, positions)
