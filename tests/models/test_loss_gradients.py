"""Gradients of the heads' losses against finite differences of the losses.

A value without gradient (`tf.stop_gradient`) is held while the loss is computed elsewhere.
"""

from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.models.classifier import TableClassifier

ANSWER = {"num_aggregation_labels": 4, "use_answer_as_supervision": True}
SOFTMAX = {"cell_cross_entropy": True}
OPTIONS = {
    "tokens": {},
    "tokens of labelled cells": {"positive_weight_for_labelled_only": True},
    "means of cells": {"average_logits_per_cell": True, "temperature": 0.5},
    "columns": {"select_one_column": True, "mask_examples_without_labels": True},
    "soft_em": SOFTMAX,
    "hard_em": {**SOFTMAX, "cell_cross_entropy_target": "hard_em"},
    "uniform": {**SOFTMAX, "cell_cross_entropy_target": "uniform"},
    "no cell": {**SOFTMAX, "allow_empty_column_selection": True},
    "operations": {"num_aggregation_labels": 4, "aggregation_loss_importance": 2.0},
    "ratio": {**ANSWER, "select_one_column": True},
    "first order": {**ANSWER, "average_approximation_function": "first_order"},
    "second order": {**ANSWER, "average_approximation_function": "second_order"},
    "normalized": {**ANSWER, "use_normalized_answer_loss": True},
    "linear": {**ANSWER, "huber_loss_delta": 0.5, "agg_temperature": 2.0},
    "cut off": {**ANSWER, "answer_loss_cutoff": 1e-3},
    "classes": {"num_classification_labels": 3, "classification_hidden_sizes": [8]},
    "weighted": {"num_classification_labels": 2, "classification_label_weight": "0:1.0,1:3.0"},
    "number": {"num_classification_labels": 1},
    "one of both": {"num_classification_labels": 2, "cells_or_class": True},
    "spans": {"span_prediction": "span", "allow_empty_span": True},
    "boundaries": {"span_prediction": "boundary"},
    "reader": {"span_prediction": "mlp", "span_hidden_size": 8},
}
HELD = {"soft_em", "hard_em", "uniform", "no cell", "normalized"}
STEP = 3e-3
SHAPES = {"sequence_output": [2, 24, 16], "pooled_output": [2, 16]}


def drawn(seed, shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.fixture
def loss_of(small_config, batch):
    """loss_of(**options): a function of the encoder's outputs."""
    numbers = np.where(np.isnan(batch["numeric_values"]), np.nan, batch["column_ids"])
    features = {**batch, "numeric_values": numbers.astype(np.float32)}
    features["answer"] = np.array([[40.0], [np.nan]], np.float32)

    def make(**options):
        config = small_config(sequence_dropout_prob=0.0, **options)
        config.encoder.num_hidden_layers = 0
        model = TableClassifier(config)
        for head in model.heads.values():
            for variable in head.variables:  # far from where the best of two cells changes
                variable.assign(0.5 * drawn(0, variable.shape))
        return lambda encoded: model.apply_heads(features, encoded)["total_loss"]

    return make


@pytest.mark.parametrize("name", OPTIONS)
def test_is_that_of_finite_differences(loss_of, name):
    loss, held = loss_of(**OPTIONS[name]), []
    at = {key: tf.constant(drawn(1, shape)) for key, shape in SHAPES.items()}
    stop = tf.stop_gradient

    def stopped(value):
        held.append(stop(value))
        return held[-1]

    with mock.patch.object(tf, "stop_gradient", stopped), tf.GradientTape() as tape:
        tape.watch(at)
        here = loss(at)
    gradients = tape.gradient(here, at, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert len(held) == (name in HELD)
    direction = {key: drawn(2, shape) for key, shape in SHAPES.items()}
    with mock.patch.object(tf, "stop_gradient", side_effect=2 * held):
        above, below = (
            float(loss({key: at[key] + sign * STEP * direction[key] for key in at}))
            for sign in (1, -1)
        )
    found = float(sum(np.vdot(gradients[key], direction[key]) for key in at))
    expected = (above - below) / (2 * STEP)
    assert abs(expected) > 1e-2 or name == "cut off"
    assert found == pytest.approx(expected, rel=1e-2, abs=1e-3 * abs(float(here)))
