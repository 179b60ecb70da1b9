"""OpenVINO computes what TensorFlow computes, for every configuration that it supports."""

import concurrent.futures

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints
from mate_tf.layers.framework import keras
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig
from mate_tf.serving import signatures
from mate_tf.serving.engine import model as engine_model
from mate_tf.serving.engine.model import INPUTS, EngineModel, has_bfloat16, unsupported

from ...attention.conftest import random_context

LENGTH = 90
TOLERANCE = 1e-4
BIASES = ("bias", "beta", "output_bias", "span_hidden_bias", "end_output_bias")


def make(attention="full", encoder=(), **heads):
    """A small `TableClassifier` with random weights that make a difference."""
    keras.utils.set_random_seed(1)
    attention = {"name": attention} if isinstance(attention, str) else attention
    sizes = {
        "vocab_size": 50,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "max_position_embeddings": LENGTH,
        "initializer_range": 0.4,
        "type_vocab_sizes": [3, 9, 40, 2, 9, 9, 10],
    }
    encoder = EncoderConfig({**sizes, **dict(encoder), "attention": attention})
    made = TableClassifier(ClassifierConfig(encoder=encoder, max_num_rows=24, **heads))
    draw = np.random.default_rng(3)
    for variable in made.trainable_variables:
        if variable.name.rpartition("/")[2].startswith(BIASES):
            variable.assign(draw.normal(size=variable.shape, scale=0.3))
    return made


def examples(seed=0, questions=(7, 4, 11), seq=LENGTH, columns=4):
    """Random tables, name -> <int32>[batch, seq]."""
    draw = np.random.default_rng(seed)
    found = {
        name: ids.numpy()
        for name, ids in random_context(draw, seq, questions, columns)._asdict().items()
        if name in INPUTS
    }
    mask = found["input_mask"]
    limits = {"input_ids": 50, "prev_label_ids": 2, "column_ranks": 20}
    limits |= {"inv_column_ranks": 20, "numeric_relations": 8}
    for name, limit in limits.items():  # ranks exceed their tables
        found[name] = draw.integers(0, limit, mask.shape).astype(np.int32) * mask
    return found


def engine(made, precision="float32"):
    weights = {name: each.numpy() for name, each in checkpoints.checkpoint_variables(made).items()}
    return EngineModel(made.config.as_dict(), weights, precision)


def assert_same(found, expected, tolerance=TOLERANCE):
    """Compares outputs for examples with those of TensorFlow for the batch."""
    for row, outputs in enumerate(found):
        assert outputs.keys() == expected.keys()
        for name, values in expected.items():
            own, other = np.asarray(outputs[name]), values[row].numpy()
            if name in ("probabilities", "row_ids", "column_ids"):
                own, other = own[: len(other)], other[: len(own)]
            if name == "selected":
                np.testing.assert_array_equal(own, other)
            np.testing.assert_allclose(own, other, atol=tolerance, rtol=0, err_msg=name)


def compare(made, given, tolerance=TOLERANCE):
    """Computes a batch, and each of its examples alone, beside TensorFlow."""
    module = signatures.ServingModule(made, class_names=("a", "b", "c"))
    expected = module.answers({name: tf.constant(ids) for name, ids in given.items()})
    computes = engine(made)
    rows = [{name: ids[row] for name, ids in given.items()} for row in range(len(given["row_ids"]))]
    assert_same(computes(rows), expected, tolerance)
    for row, example in enumerate(rows):
        alone = {name: values[row : row + 1] for name, values in expected.items()}
        assert_same(computes([example]), alone, tolerance)


EFFICIENT = {"name": "mate_efficient", "global_length": 12, "radius": 5}


@pytest.mark.parametrize(
    "attention",
    [
        "full",
        {"name": "full", "diagonal": False},
        "mate_exact",
        {"name": "mate_exact", "row_heads_ratio": 1.0},
        {"name": "mate_exact", "row_heads_ratio": 0.25, "diagonal": False},
        {"name": "mate_exact", "windowed": True, "global_length": 12, "radius": 5},
        EFFICIENT,
        {**EFFICIENT, "row_radius": 3, "column_radius": 8, "row_heads_ratio": 0.75},
        {**EFFICIENT, "row_heads_ratio": 0.0, "diagonal": False},
    ],
)
@pytest.mark.parametrize("short", [0, 640])
def test_attention(attention, short, monkeypatch):
    """The efficient variant by windows and by masks."""
    monkeypatch.setattr(engine_model, "SHORT_INPUT", short)
    made = make(attention, select_one_column=True, num_aggregation_labels=4)
    for seed in range(3):
        compare(made, examples(seed))


@pytest.mark.parametrize("questions", [(30, 5), (12, 12), (13, 2)])
def test_questions_longer_than_the_global_part(questions, monkeypatch):
    monkeypatch.setattr(engine_model, "SHORT_INPUT", 0)
    compare(make(EFFICIENT), examples(4, questions))


@pytest.mark.parametrize("seq", [1, 13, 22, 23, 41, 300])
def test_lengths(seq, monkeypatch):
    """Shorter than the global part, whole and broken blocks."""
    monkeypatch.setattr(engine_model, "SHORT_INPUT", 0)
    made = make(EFFICIENT, {"reset_position_index_per_cell": True})
    compare(made, examples(5, (3,) * 2, seq))


@pytest.mark.parametrize(
    "encoder",
    [
        {"reset_position_index_per_cell": True},
        {"disable_position_embeddings": True},
        {"disabled_features": ["column_ranks", "prev_label_ids"]},
        {"softmax_temperature": 1.7, "layer_norm_epsilon": 1e-3},
        *({"hidden_act": name} for name in ("gelu", "gelu_exact", "relu", "tanh", "linear")),
        *({"pooling": name} for name in ("first", "question", "all", "max")),
    ],
    ids=str,
)
def test_encoders(encoder):
    made = make("mate_exact", encoder, num_aggregation_labels=4, num_classification_labels=3)
    compare(made, examples(6))


@pytest.mark.parametrize(
    "heads",
    [
        {},
        {"average_logits_per_cell": True, "temperature": 0.3},
        {"always_select_cell": True, "cell_classification_threshold": 0.99},
        {"select_one_column": True, "allow_empty_column_selection": True},
        {"select_one_column": True, "always_select_cell": True},
        {"cell_cross_entropy": True},
        {"cell_cross_entropy": True, "allow_empty_column_selection": True},
        {
            "cell_cross_entropy": True,
            "allow_empty_column_selection": True,
            "always_select_cell": True,
        },
        {"num_classification_labels": 3, "classification_hidden_sizes": [8, 5]},
        {"num_classification_labels": 3, "disable_per_token_loss": True},
        {"num_classification_labels": 3, "cells_or_class": True},
        {"num_aggregation_labels": 4, "max_num_columns": 3},
    ],
    ids=str,
)
def test_heads(heads):
    made = make("full", **heads)
    for seed in range(3):
        compare(made, examples(seed))


@pytest.mark.parametrize("kind", ["span", "boundary", "mlp"])
@pytest.mark.parametrize("empty", [False, True])
def test_spans(kind, empty):
    """Also where no token is in a cell, and where spans may be longer than the sequence."""
    options = {"span_prediction": kind, "allow_empty_span": empty, "span_hidden_size": 24}
    made = make("full", **options, max_span_length=6)
    for seed in range(3):
        given = examples(seed)
        compare(made, given)
    given["row_ids"][1] = given["column_ids"][2] = 0
    compare(made, given)
    compare(made, examples(4, (2, 1), seq=5))


@pytest.mark.parametrize("name", ["gelu", "relu", "tanh", "linear"])
def test_activations_of_spans(name):
    compare(make(span_prediction="mlp", span_activation=name, cell_cross_entropy=True), examples(1))


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_small_precisions(precision):
    """They are near float32, and not the same."""
    if precision == "bfloat16" and not has_bfloat16():
        pytest.skip("this processor has no bfloat16 matmuls")
    made, given = make("mate_exact", {"initializer_range": 0.1}), examples(7)
    rows = [{name: ids[row] for name, ids in given.items()} for row in range(3)]
    exact, rough = engine(made)(rows), engine(made, precision)(rows)
    differences = [
        np.abs(own["probabilities"] - other["probabilities"]).max()
        for own, other in zip(exact, rough, strict=True)
    ]
    assert 1e-6 < max(differences) < 0.1


def test_threads_share_a_model():
    """Requests of several threads are not mixed up."""
    made = make(EFFICIENT)
    computes = engine(made)
    given = examples(8, (3,) * 12)
    rows = [{name: ids[row] for name, ids in given.items()} for row in range(12)]
    expected = [computes([row])[0]["probabilities"] for row in rows]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda row: computes([row])[0]["probabilities"], rows * 4))
    for own, other in zip(found, expected * 4, strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"attention": "linformer"}, "attention 'linformer'"),
        ({"encoder": {"pack": True}, "attention": "mate_exact"}, "packed examples"),
        (
            {"span_prediction": "mlp", "span_activation": "gelu_exact"},
            "span_activation 'gelu_exact'",
        ),
        ({"num_towers": 2}, "sequences of several parts"),
        ({"num_classification_labels": 1}, "regression"),
        ({}, None),
    ],
)
def test_what_is_not_computed(given, reason):
    assert unsupported(make(**given).config.as_dict(), "float32") == reason


def test_precisions_that_are_not_computed():
    assert unsupported(make().config.as_dict(), "float16") == "precision 'float16'"


def test_one_variant_for_each_layer():
    config = make([{"name": "full"}, {"name": "mate_exact"}]).config.as_dict()
    assert "full" in unsupported(config, "float32")
