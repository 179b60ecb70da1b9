"""All heads of a small classifier: precision, XLA, saving, labels that are there or not."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.layers import replica_losses
from mate_tf.models.classifier import TableClassifier, label_features

pytestmark = pytest.mark.thorough
INPUTS = feature_names.names(feature_names.MODEL_INPUTS)
COLUMN = {"select_one_column": True}
WEAK = {"num_aggregation_labels": 4, "use_answer_as_supervision": True}
CLASSES = {"num_classification_labels": 2, "disable_per_token_loss": True}
# WikiTableQuestions' options: small temperatures and bounds, where numbers overflow first.
WTQ = {
    **COLUMN,
    **WEAK,
    "temperature": 0.0352513,
    "answer_loss_cutoff": 0.664694,
    "cell_select_pref": 0.207951,
    "huber_loss_delta": 0.121194,
}
VARIANTS = {
    "tokens": {},
    "column": COLUMN,
    "softmax": {"cell_cross_entropy": True},
    "aggregation": {**COLUMN, "num_aggregation_labels": 4},
    "answer": WTQ,
    "answer_normalized": {**WEAK, "use_normalized_answer_loss": True},
    "answer_second_order": {**WEAK, "average_approximation_function": "second_order"},
    "classes": CLASSES,
    "span": {"span_prediction": "span"},
    "boundary": {"span_prediction": "boundary"},
    "mlp": {"span_prediction": "mlp", "span_hidden_size": 8},
    "all": {**WTQ, "num_classification_labels": 3, "span_prediction": "span"},
}
variants = pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS.keys())
LABELS = ("label_ids", *feature_names.names(feature_names.EXAMPLE_LABELS))


def inputs_of(batch):
    return {name: batch[name] for name in INPUTS}


def loss_and_gradients(model, features):
    with tf.GradientTape() as tape:
        outputs = model(features)
    variables = model.trainable_variables
    gradients = tape.gradient(
        outputs["total_loss"], variables, unconnected_gradients=tf.UnconnectedGradients.ZERO
    )
    return outputs["total_loss"], [tf.convert_to_tensor(gradient) for gradient in gradients]


@variants
def test_bfloat16_keeps_outputs_losses_and_numbers_exact(bfloat16, batch, small_config, options):
    model = TableClassifier(small_config(**options))
    seen = []
    for head in model.heads.values():
        if head.labels:
            loss = head.loss
            head.loss = lambda outputs, cells, features, loss=loss: (
                seen.append(features["numeric_values"])
                or loss(outputs, cells=cells, features=features)
            )
    outputs = model(batch, training=True)
    for name in ("sequence_output", "pooled_output"):
        assert outputs.pop(name).dtype == tf.bfloat16
    del outputs["encoder_outputs"], outputs["embedding_output"]
    for name, value in outputs.items():
        assert value.dtype in (tf.float32, tf.int32), name
    assert seen
    for numbers in seen:
        assert np.nanmax(numbers) == 1959  # which is not a bfloat16
    assert all(g.dtype == tf.float32 for g in loss_and_gradients(model, batch)[1])


def heads_only(config):
    """Heads on top of embeddings: most of the time to compile or save is the encoder's."""
    config.encoder.num_hidden_layers = 0
    return TableClassifier(config)


COMPILED = ("all", "answer", "answer_second_order", "softmax", "aggregation", "boundary")


@pytest.mark.parametrize("name", COMPILED)
def test_xla_training_step_equals_plain(batch, small_config, name):
    model = heads_only(small_config(**VARIANTS[name]))
    batch = {name: tf.constant(value) for name, value in batch.items()}
    loss, gradients = loss_and_gradients(model, batch)
    compiled = tf.function(
        lambda features: loss_and_gradients(model, features), jit_compile=True, autograph=False
    )
    compiled_loss, compiled_gradients = compiled(batch)
    np.testing.assert_allclose(compiled_loss, loss, rtol=1e-4)
    for got, want in zip(compiled_gradients, gradients, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4 * float(loss))


@variants
def test_gradients_are_finite_whatever_the_numbers(batch, small_config, options):
    """Numbers of any size, none at all, answers that are not numbers, examples of padding only."""
    config = small_config(**options)
    whole = options == VARIANTS["all"]
    model = TableClassifier(config) if whole else heads_only(config)
    numbers = batch["numeric_values"]
    for values, answer in (
        (numbers, batch["answer"]),
        (np.full_like(numbers, np.nan), np.full_like(batch["answer"], np.nan)),
        (np.full_like(numbers, 3e38), np.full_like(batch["answer"], -3e38)),
        (np.full_like(numbers, np.inf), np.full_like(batch["answer"], np.inf)),
    ):
        features = {**batch, "numeric_values": values, "answer": answer}
        for empty in (False, True):
            if empty:
                features |= {name: np.zeros_like(batch[name]) for name in (*INPUTS, "label_ids")}
            loss, gradients = loss_and_gradients(model, features)
            assert np.isfinite(loss)
            assert all(np.isfinite(gradient).all() for gradient in gradients)


@pytest.mark.parametrize("name", ["all", "boundary", "aggregation"])
def test_saved_model(batch, small_config, name, tmp_path):
    """Of any length, also one shorter than a span may be; one of them with its encoder's layers."""
    config = small_config(**VARIANTS[name])
    model = TableClassifier(config) if name == "all" else heads_only(config)
    module = tf.Module()
    if name == "all":
        module.model = model  # for which Keras traces each layer several times
    else:
        module.weights = model.variables
    module.answer = tf.function(
        lambda features: model(features, training=False),
        input_signature=[
            {key: tf.TensorSpec([None, None], tf.int32, name=key) for key in inputs_of(batch)}
        ],
        autograph=False,
    )
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for length in (24, 7):
        features = {key: tf.constant(value[:, :length]) for key, value in inputs_of(batch).items()}
        want, got = model(features), loaded.answer(features)
        assert want.keys() == got.keys()
        for key in want.keys() - {"encoder_outputs"}:
            np.testing.assert_allclose(got[key], want[key], rtol=1e-5, atol=1e-5, err_msg=key)


def test_config_round_trip(batch, small_config):
    model = TableClassifier(small_config(**VARIANTS["all"]))
    copy = TableClassifier.from_config(model.get_config())
    copy.set_weights(model.get_weights())
    assert copy.config.as_dict() == model.config.as_dict()
    for name in ("logits", "logits_aggregation", "logits_cls", "span_logits", "total_loss"):
        np.testing.assert_array_equal(copy(batch)[name], model(batch)[name])


def test_a_head_keeps_its_place_beside_others(small_config, tmp_path):
    """A checkpoint of one task starts another."""
    classifier = TableClassifier(small_config(**CLASSES))
    path = tf.train.Checkpoint(model=classifier).write(str(tmp_path / "model"))
    other = TableClassifier(small_config(**WEAK, num_classification_labels=2))
    tf.train.Checkpoint(model=other).read(path).expect_partial()
    want = classifier.heads["classification"].output_weights
    np.testing.assert_array_equal(other.heads["classification"].output_weights, want)


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({}, ["label_ids"]),
        (CLASSES, ["classification_class_index"]),
        ({**CLASSES, "span_prediction": "span"}, ["classification_class_index", "label_ids"]),
        ({**COLUMN, "num_aggregation_labels": 4}, ["aggregation_function_id", "label_ids"]),
        (WEAK, ["label_ids", "answer", "numeric_values", "numeric_values_scale"]),
        # As TAPAS's hyper-parameters for TabFact have it.
        ({**CLASSES, "use_answer_as_supervision": True}, ["classification_class_index"]),
    ],
)
def test_losses_need_just_the_label_features(batch, small_config, options, want):
    config = small_config(**options)
    assert label_features(config) == want
    model = TableClassifier(config)
    features = {**inputs_of(batch), **{name: batch[name] for name in want}}
    assert np.isfinite(model(features)["total_loss"])
    for name in want:
        assert "total_loss" not in model({k: v for k, v in features.items() if k != name})


@variants
def test_labels_of_shape_batch(batch, small_config, options):
    model = TableClassifier(small_config(**options))
    flat = {k: v[:, 0] if k in LABELS and v.shape[1] == 1 else v for k, v in batch.items()}
    np.testing.assert_array_equal(model(flat)["total_loss"], model(batch)["total_loss"])


def test_total_is_the_sum_of_the_heads(batch, small_config):
    """With spans nothing else is learnt from label_ids."""
    outputs = TableClassifier(small_config(**VARIANTS["all"]))(batch)
    operation = outputs["aggregation_loss_per_example"] + outputs["answer_loss_per_example_scaled"]
    want = (
        operation * outputs["large_answer_loss_mask"]
        + outputs["classification_loss_per_example"]
        + outputs["span_loss_per_example"]
    )
    np.testing.assert_allclose(outputs["total_loss"], np.mean(want), rtol=1e-6)
    assert "select_one_column_loss_per_example" not in outputs


def test_which_examples_teach_cells(batch, small_config):
    """Those whose answer is not computed; if asked for, those with labels instead."""
    batch["label_ids"][0] = 0
    outputs = TableClassifier(small_config(**WEAK))(batch)
    np.testing.assert_array_equal(outputs["aggregate_mask"], [1, 0])
    operation = np.mean(
        outputs["aggregation_loss_per_example"] + outputs["answer_loss_per_example_scaled"]
    )
    want = operation + outputs["token_loss_per_example"][1] / 2
    np.testing.assert_allclose(outputs["total_loss"], want, rtol=1e-5)
    batch["answer"][:] = np.nan
    model = TableClassifier(small_config(**WEAK, mask_examples_without_labels=True))
    outputs = model(batch)
    np.testing.assert_array_equal(outputs["aggregate_mask"], 0)
    operation = np.mean(outputs["aggregation_loss_per_example"])
    want = operation + outputs["token_loss_per_example"][1] / 2
    np.testing.assert_allclose(outputs["total_loss"], want, rtol=1e-5)


def test_an_example_teaches_cells_or_its_class(batch, small_config):
    batch["label_ids"][0] = 0
    options = {**COLUMN, "num_aggregation_labels": 4, "num_classification_labels": 3}
    outputs = TableClassifier(small_config(**options, cells_or_class=True))(batch)
    of_cells = (
        outputs["aggregation_loss_per_example"] + outputs["select_one_column_loss_per_example"]
    )
    want = (outputs["classification_loss_per_example"][0] + of_cells[1]) / 2
    np.testing.assert_allclose(outputs["total_loss"], want, rtol=1e-6)


def test_padding_examples_have_no_weight_beside_other_replicas(batch, small_config, monkeypatch):
    """Each replica's mean is over the real examples of all of them."""
    seen = []

    def weighted_mean(values, weights):
        seen.append((values.shape, weights.numpy()))
        return tf.constant(7.0)

    monkeypatch.setattr(replica_losses, "number", lambda: 2)
    monkeypatch.setattr(replica_losses, "weighted_mean", weighted_mean)
    features = dict(batch)
    mask = tf.convert_to_tensor(features["input_mask"])
    padding = tf.one_hot(tf.zeros(len(mask) - 1, tf.int32), mask.shape[1], dtype=mask.dtype)
    features["input_mask"] = tf.concat([mask[:1], padding], axis=0)
    outputs = TableClassifier(small_config(**CLASSES))(features)
    assert outputs["total_loss"] == 7
    shape, weights = seen[-1]
    assert shape == weights.shape
    assert weights.tolist() == [1, *[0] * (len(weights) - 1)]
