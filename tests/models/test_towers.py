"""Two sequences through one encoder, a number instead of a class, hidden layers before both."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.checkpoints.names import checkpoint_variables
from mate_tf.data import features as feature_names
from mate_tf.errors import InputError
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig
from mate_tf.models.heads import classification

ENCODER = {
    "vocab_size": 20,
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "max_position_embeddings": 6,
    "initializer_range": 0.5,
    "attention": {"name": "full"},
    "disabled_features": list(feature_names.TOKEN_TYPES),
}


def config(**options):
    encoder = EncoderConfig(ENCODER)
    return ClassifierConfig(encoder=encoder, disable_per_token_loss=True, **options)


def batch(ids, mask):
    ids, mask = tf.constant(ids, tf.int32), tf.constant(mask, tf.int32)
    made = {name: tf.zeros_like(ids) for name in feature_names.TOKEN_TYPES}
    return {**made, "input_ids": ids, "input_mask": mask}


@pytest.fixture(scope="module")
def pairs():
    generator = np.random.default_rng(0)
    ids = generator.integers(4, 20, [3, 12])
    mask = np.array([[1] * 12, [1] * 5 + [0] + [1] * 3 + [0] * 3, [1] + [0] * 11])
    return batch(ids, mask)


@pytest.fixture(scope="module")
def model():
    return TableClassifier(
        config(num_classification_labels=2, num_towers=2, classification_hidden_sizes=[6, 3])
    )


def test_each_half_is_encoded_for_itself(model, pairs):
    outputs = model(pairs)
    halves = {
        name: [value[:, :6], value[:, 6:]] for name, value in pairs.items() if name != "segment_ids"
    }
    pooled = []
    for half in range(2):
        own = {name: values[half] for name, values in halves.items()}
        alone = model.encoder({**own, "segment_ids": tf.zeros_like(own["input_ids"])})
        np.testing.assert_allclose(
            outputs["sequence_output"][:, 6 * half : 6 * (half + 1)],
            alone["sequence_output"],
            atol=1e-5,
        )
        pooled.append(alone["pooled_output"])
    first, second = pooled
    expected = np.concatenate([first, second, first * second, first - second], axis=1)
    np.testing.assert_allclose(outputs["pooled_output"], expected, atol=1e-5)
    assert outputs["pooled_output"].shape == (3, 32)
    assert np.isfinite(outputs["logits_cls"]).all()
    shapes = {name: v.shape for name, v in checkpoint_variables(model).items()}
    assert shapes["hidden_0_weights_cls"] == (32, 6)
    assert shapes["hidden_1_weights_cls"] == (6, 3)
    assert shapes["output_weights_cls"] == (2, 3)


def test_segments_tell_nothing_to_towers(model, pairs):
    segments = tf.constant([[0] * 6 + [1] * 6] * 3)
    np.testing.assert_array_equal(
        model(pairs)["logits_cls"], model({**pairs, "segment_ids": segments})["logits_cls"]
    )


def test_choices():
    """Each is encoded for itself, segments and all, and scored by the same number."""
    model = TableClassifier(config(num_classification_labels=3, multiple_choice=True))
    ids = np.random.default_rng(1).integers(4, 20, [2, 12])
    mask = np.array([[1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0], [1] * 12])
    features = batch(ids, mask)
    features["segment_ids"] = tf.constant([[0, 1, 1, 0] * 3, [0, 0, 1, 1] * 3])
    gold = tf.constant([[2], [0]])
    outputs = model({**features, "classification_class_index": gold})
    scores = []
    for choice in range(3):
        own = {name: value[:, 4 * choice : 4 * choice + 4] for name, value in features.items()}
        alone = model.encoder(own)["pooled_output"]
        np.testing.assert_allclose(outputs["pooled_output"][:, choice], alone, atol=1e-5)
        names = checkpoint_variables(model)
        assert names["output_weights_cls"].shape == (1, 8)
        scores.append(alone.numpy() @ names["output_weights_cls"].numpy()[0])
    scores = np.stack(scores, axis=1) + names["output_bias_cls"].numpy()
    np.testing.assert_allclose(outputs["logits_cls"], scores, atol=1e-5)
    probs = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(outputs["probs_cls"], probs, atol=1e-5)
    np.testing.assert_array_equal(outputs["pred_cls"], scores.argmax(axis=1))
    want = -np.mean(np.log([probs[0, 2], probs[1, 0]]))
    assert float(outputs["total_loss"]) == pytest.approx(want, rel=1e-4)


def test_towers_and_choices_exclude_each_other():
    with pytest.raises(InputError, match="num_towers=2 and multiple_choice exclude each other"):
        TableClassifier(config(num_classification_labels=2, num_towers=2, multiple_choice=True))


def test_a_number_and_its_loss():
    model = TableClassifier(config(num_classification_labels=1))
    answers = tf.constant([[2.0], [np.nan]])
    features = {**batch([[2, 5, 6], [2, 0, 0]], [[1, 1, 1], [1, 0, 0]]), "answer": answers}
    with tf.GradientTape() as tape:
        outputs = model(features)
    value = float(outputs["logits_cls"][0, 0])
    assert outputs["logits_cls"].shape == (2, 1)
    assert "pred_cls" not in outputs
    assert float(outputs["total_loss"]) == pytest.approx((value - 2) ** 2 / 2, rel=1e-5)
    variables = model.trainable_variables
    gradients = tape.gradient(outputs["total_loss"], variables)
    found = {v.ref(): gradient for v, gradient in zip(variables, gradients, strict=True)}
    head = model.heads["regression"]
    np.testing.assert_allclose(found[head.output_bias.ref()], [2 * (value - 2) / 2], rtol=1e-4)
    for gradient in found.values():
        if gradient is not None:
            assert np.isfinite(tf.convert_to_tensor(gradient)).all()


def test_squared_error():
    error = classification.squared_error(
        tf.constant([[1.0], [5.0], [3.0]]), tf.constant([[4.0], [np.nan], [2.5]])
    )
    np.testing.assert_allclose(error, [9.0, 0.0, 0.25])
