"""TablePretrainer: the reference's values, tied weights, checkpoints that fine-tune."""

import json

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints
from mate_tf.layers.framework import keras
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.pretrainer import PretrainerConfig, TablePretrainer

from .tiny_encoder import tiny

VOCABULARY, BATCH, LENGTH, MASKED = 30, 2, 12, 3
UNUSED_TYPES = ("prev_label_ids", "column_ranks", "inv_column_ranks", "numeric_relations")


@pytest.fixture(scope="module")
def golden(goldens):
    folder = goldens / "pretraining" / "open"
    features = {name: tf.constant(v) for name, v in np.load(folder / "features.npz").items()}
    return folder, json.loads((folder / "config.json").read_text()), features


@pytest.mark.parametrize("case", ["full", "headwise", "efficient_reset"])
def test_goldens(golden, case):
    folder, config, features = golden
    flags = config["cases"][case]["overrides"]
    model = TablePretrainer(PretrainerConfig.from_tapas(config["bert_config"], **flags))
    report = checkpoints.load(model, folder / "model.ckpt")
    assert (report.missing, report.unused) == ((), ())
    outputs = model(features, training=False)
    expected = np.load(folder / f"{case}.npz")
    assert len(expected.files) == 8
    for name in expected.files:
        np.testing.assert_allclose(
            outputs[name], expected[name], rtol=1e-4, atol=1e-5, err_msg=name
        )


def small_config(**fields):
    attention = {"name": "mate_efficient", "global_length": 4, "radius": 4}
    return tiny(**{"num_hidden_layers": 1, "attention": attention} | fields)


@pytest.fixture
def features():
    rng = np.random.default_rng(0)
    zeros = np.zeros([BATCH, LENGTH], np.int32)
    table = np.tile(np.arange(LENGTH) >= 4, [BATCH, 1]).astype(np.int32)
    return {
        "input_ids": rng.integers(1, VOCABULARY, [BATCH, LENGTH]).astype(np.int32),
        "input_mask": zeros + 1,
        "segment_ids": table,
        "column_ids": table * (1 + np.arange(LENGTH, dtype=np.int32) % 2),
        "row_ids": table * (np.arange(LENGTH, dtype=np.int32) // 2 - 2),
        **dict.fromkeys(UNUSED_TYPES, zeros),
        "masked_lm_positions": np.array([[1, 5, 7], [2, 3, 0]], np.int32),
        "masked_lm_ids": np.array([[4, 9, 2], [3, 3, 0]], np.int32),
        "masked_lm_weights": np.array([[1, 1, 1], [1, 1, 0]], np.float32),
        "next_sentence_labels": np.array([[0], [1]], np.int32),
    }


def test_losses_are_those_of_the_probabilities(features):
    model = TablePretrainer(PretrainerConfig(encoder=small_config()))
    outputs = model(features)
    log_probs = outputs["masked_lm_log_probs"].numpy()
    assert log_probs.shape == (BATCH * MASKED, VOCABULARY)
    ids, weights = features["masked_lm_ids"].ravel(), features["masked_lm_weights"].ravel()
    losses = -log_probs[np.arange(len(ids)), ids]
    np.testing.assert_allclose(outputs["masked_lm_example_loss"], losses, rtol=1e-5)
    mean = (losses * weights).sum() / weights.sum()
    np.testing.assert_allclose(outputs["masked_lm_loss"], mean, rtol=1e-4)
    tables = -outputs["next_sentence_log_probs"].numpy()[[0, 1], [0, 1]]
    np.testing.assert_allclose(outputs["next_sentence_loss"], tables.mean(), rtol=1e-5)
    np.testing.assert_allclose(outputs["total_loss"], mean + tables.mean(), rtol=1e-4)
    np.testing.assert_array_equal(outputs["masked_lm_predictions"], log_probs.argmax(axis=1))


def test_training_makes_no_log_probabilities_and_the_same_loss(features):
    config = small_config(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model = TablePretrainer(PretrainerConfig(encoder=config))
    outputs = model(features, training=True)
    assert not [name for name in outputs if name.endswith("log_probs")]
    np.testing.assert_allclose(outputs["total_loss"], model(features)["total_loss"], rtol=1e-5)


def test_a_batch_without_masked_words(features):
    features["masked_lm_weights"] = np.zeros_like(features["masked_lm_weights"])
    model = TablePretrainer(PretrainerConfig(encoder=small_config()))
    assert model(features)["masked_lm_loss"] == 0.0


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_output_weights_are_the_raw_word_embeddings(features, scale):
    """However large the embeddings start, the logits are products with the very same table."""
    model = TablePretrainer(PretrainerConfig(encoder=small_config(word_embedding_scale=scale)))
    table = model.encoder.embeddings.word_embeddings
    assert sum(v is table for v in model.trainable_variables) == 1
    assert [tuple(v.shape) for v in model.variables].count((VOCABULARY, 8)) == 1
    x = tf.random.stateless_normal([5, 8], [1, 2])
    hidden = model.masked_words.LayerNorm(model.masked_words.transform(x))
    model.masked_words.output_bias.assign(tf.range(VOCABULARY, dtype=tf.float32))
    np.testing.assert_allclose(
        model.masked_words(x, table),
        hidden.numpy() @ table.numpy().T + np.arange(VOCABULARY),
        rtol=1e-5,
        atol=1e-5,
    )


def test_every_variable_learns_and_what_is_unmasked_does_not_matter(features):
    model = TablePretrainer(PretrainerConfig(encoder=small_config()))
    with tf.GradientTape() as tape:
        loss = model(features, training=True)["total_loss"]
    gradients = tape.gradient(loss, model.trainable_variables)
    assert all(gradient is not None for gradient in gradients)
    before = model(features)["total_loss"]
    features["masked_lm_ids"][1, 2] = 17  # of weight 0
    features["masked_lm_positions"][1, 2] = 9
    np.testing.assert_allclose(model(features)["total_loss"], before, rtol=1e-6)


def test_computes_losses_in_float32_under_mixed_precision(features, bfloat16):
    model = TablePretrainer(PretrainerConfig(encoder=small_config()))
    outputs = tf.function(model, autograph=False)(features)
    for name in ("total_loss", "masked_lm_log_probs", "next_sentence_log_probs"):
        assert outputs[name].dtype == tf.float32
        assert np.isfinite(outputs[name]).all()


def test_dynamic_length_and_config_round_trip(features):
    model = TablePretrainer(PretrainerConfig(encoder=small_config()))
    labels = ("masked_lm_positions", "masked_lm_ids", "masked_lm_weights", "next_sentence_labels")
    signature = {
        name: tf.TensorSpec([None, 1 if name == labels[-1] else None], value.dtype)
        for name, value in features.items()
    }
    run = tf.function(model, input_signature=[signature], autograph=False)
    expected = model(features)["total_loss"]
    np.testing.assert_allclose(run(features)["total_loss"], expected, rtol=1e-5)
    longer = {
        name: value if name in labels else np.pad(value, [[0, 0], [0, 3]])
        for name, value in features.items()
    }
    np.testing.assert_allclose(run(longer)["total_loss"], expected, rtol=1e-4)
    twin = TablePretrainer.from_config(model.get_config())
    assert twin.get_config() == model.get_config()
    assert [v.shape for v in twin.variables] == [v.shape for v in model.variables]


@pytest.mark.parametrize("wrapped", [False, True])
def test_its_checkpoint_fine_tunes_with_another_attention(tmp_path, wrapped):
    """All of the encoder goes into a classifier; what only pre-training needs stays behind."""
    pretrained = TablePretrainer(PretrainerConfig(encoder=small_config(attention={"name": "full"})))
    optimizer = keras.optimizers.Adam()
    optimizer.build(pretrained.trainable_variables)
    saved = (
        tf.train.Checkpoint(model=pretrained, optimizer=optimizer, global_step=tf.Variable(3))
        if wrapped
        else tf.train.Checkpoint(pretrained)
    )
    saved.save(tmp_path / "ckpt")
    model = TableClassifier(ClassifierConfig(encoder=small_config()))
    report = checkpoints.load(model, tmp_path)
    assert len(report.loaded) == len(model.encoder.variables)
    assert all("encoder" in name for name in report.loaded)
    assert not [name for name in report.unused if "encoder" in name]
    for ours, theirs in zip(model.encoder.variables, pretrained.encoder.variables, strict=True):
        np.testing.assert_array_equal(ours, theirs)
