"""Keras's `compile`, `fit` and `evaluate` with the models' own losses."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.data.features import TOKEN_TYPES
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.classifier import TableClassifier
from mate_tf.models.encoder_decoder import EncoderDecoder
from mate_tf.models.pretrainer import PretrainerConfig, TablePretrainer

from . import tiny_decoder, tiny_encoder


@pytest.fixture
def without_dropout(small_config):
    """Config of a classifier that computes the same loss in training."""
    config = small_config(num_classification_labels=2, sequence_dropout_prob=0.0)
    config.encoder.override({"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0})
    config.encoder.num_hidden_layers = 0
    return config


def examples(batch):
    return tf.data.Dataset.from_tensor_slices(batch)


@pytest.mark.parametrize("eager", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_step_is_one_down_the_gradient_of_the_own_loss(batch, without_dropout, eager):
    model = TableClassifier(without_dropout)
    frozen = model.encoder.embeddings.word_embeddings
    model.freeze([frozen])
    with tf.GradientTape() as tape:
        loss = model(batch, training=True)["total_loss"]
    variables = model.trainable_variables
    gradients = tape.gradient(loss, variables, unconnected_gradients="zero")
    expected = [each - 0.1 * gradient for each, gradient in zip(variables, gradients, strict=True)]
    before, number = frozen.numpy(), len(model.variables)

    model.compile(keras.optimizers.SGD(0.1), run_eagerly=eager)
    history = model.fit(examples(batch).batch(2), verbose=0)

    assert history.history["loss"] == [pytest.approx(float(loss), rel=1e-5)]
    for variable, value in zip(variables, expected, strict=True):
        np.testing.assert_allclose(variable, value, rtol=1e-4, atol=1e-6, err_msg=variable.name)
    np.testing.assert_array_equal(frozen, before)
    assert len(model.variables) == number  # no metric is among them


def test_callbacks_and_weights(batch, without_dropout, tmp_path):
    model = TableClassifier(without_dropout)
    model.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
    path = str(tmp_path / "best.weights.h5")
    history = model.fit(
        examples(batch).batch(1),
        validation_data=examples(batch).batch(1),
        epochs=3,
        verbose=0,
        callbacks=[
            keras.callbacks.ModelCheckpoint(path, save_best_only=True, save_weights_only=True),
            keras.callbacks.EarlyStopping(min_delta=1e9, patience=1),
        ],
    ).history
    assert len(history["val_loss"]) == 2  # the second epoch is not better by a billion
    best = TableClassifier(without_dropout)
    best.load_weights(path)
    best.compile(run_eagerly=True)
    losses = [float(best(each)["total_loss"]) for each in examples(batch).batch(1)]
    assert min(history["val_loss"]) == pytest.approx(np.mean(losses), rel=1e-5)
    assert best.evaluate(examples(batch).batch(1), verbose=0) == pytest.approx(
        np.mean(losses), rel=1e-5
    )


def pretraining(batch):
    batch = {name: batch[name] for name in batch if name in ("input_ids", "input_mask")}
    labels = {
        "masked_lm_positions": np.array([[1, 2], [3, 0]], np.int32),
        "masked_lm_ids": np.array([[5, 6], [7, 0]], np.int32),
        "masked_lm_weights": np.array([[1, 1], [1, 0]], np.float32),
        "next_sentence_labels": np.array([[1], [0]], np.int32),
    }
    zeros = np.zeros_like(batch["input_ids"])
    ids = dict.fromkeys(("segment_ids", "row_ids", "column_ids"), zeros)
    return batch | ids | labels


def tiny_pretrainer():
    sizes = {"vocab_size": 200, "num_hidden_layers": 0, "max_position_embeddings": 24}
    encoder = tiny_encoder.tiny(**sizes, disabled_features=list(TOKEN_TYPES))
    return TablePretrainer(PretrainerConfig(encoder=encoder))


@pytest.mark.parametrize(
    ("make", "features"),
    [
        (tiny_pretrainer, pretraining),
        (functools.partial(EncoderDecoder, tiny_decoder.tiny()), lambda _: tiny_decoder.features()),
    ],
    ids=["pretrainer", "encoder-decoder"],
)
def test_other_models(batch, make, features):
    model, batch = make(), features(batch)
    model.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
    before = float(model(batch)["total_loss"])
    history = model.fit(examples(batch).batch(4), epochs=3, verbose=0).history["loss"]
    assert len(history) == 3
    assert float(model(batch)["total_loss"]) < before


def test_without_labels(batch, without_dropout):
    model = TableClassifier(without_dropout)
    model.compile(run_eagerly=True)
    del batch["label_ids"]
    with pytest.raises(InputError, match="table_classifier: without a loss in compile"):
        model.fit(examples(batch).batch(2), verbose=0)
