"""int8 weights change outputs little, whatever else is in the batch, and answers come out alike."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints
from mate_tf.data import synthetic
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig
from mate_tf.serving import lite, served
from mate_tf.serving.lite import QuantizedEncoder
from mate_tf.serving.predictor import Predictor

QUESTION = "who is 41?"
ROWS = [["name", "age"], ["Ann", "30"], ["Bob", "41"], ["Cy", "52"]]


def make(attention):
    """A model with matrices of 64 x 64: LiteRT leaves those with less than 1,024 numbers alone."""
    keras.utils.set_random_seed(1)
    encoder = EncoderConfig(
        vocab_size=len(synthetic.vocabulary()),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        initializer_range=0.1,
        attention={"name": attention},
    )
    return TableClassifier(
        ClassifierConfig(encoder=encoder, select_one_column=True, num_aggregation_labels=4)
    )


@pytest.fixture(scope="module")
def model():
    return make("full")


@pytest.fixture(scope="module")
def quantized(model):
    return QuantizedEncoder(model.encoder, num_threads=1)


def features(lengths=(9, 14)):
    """Examples with 16 tokens, of which so many are not padding."""
    draw, shape = np.random.default_rng(0), (len(lengths), 16)
    mask = np.arange(16) < np.array(lengths)[:, np.newaxis]
    names = ("segment_ids", "prev_label_ids", "inv_column_ranks", "numeric_relations")
    rows = np.maximum(np.arange(16) - 3, 0) // 3
    values = {
        "input_ids": draw.integers(1, 60, shape),
        "input_mask": np.ones(shape),
        "column_ids": np.broadcast_to(np.arange(16) % 3 + 1, shape),
        "row_ids": np.broadcast_to(rows, shape),
        "column_ranks": draw.integers(0, 9, shape),
        **dict.fromkeys(names, np.zeros(shape)),
    }
    return {name: tf.constant(ids * mask, tf.int32) for name, ids in values.items()}


def test_outputs_are_those_of_the_encoder_but_for_rounding(model, quantized):
    given = features()
    expected, found = model.encoder(given, training=False), quantized(given)
    real = given["input_mask"].numpy()[:, :, np.newaxis]
    for name, exact in (
        ("sequence_output", expected["sequence_output"].numpy() * real),
        ("pooled_output", expected["pooled_output"].numpy()),
    ):
        assert found[name].dtype == tf.float32
        difference = np.linalg.norm(found[name] - exact) / np.linalg.norm(exact)
        assert 1e-4 < difference < 0.03, name  # rounded, and not more than that
    assert not np.any(found["sequence_output"] * (1 - real))


def test_an_example_is_the_same_alone(quantized):
    given = features()
    together = quantized(given)
    alone = quantized({name: ids[:1] for name, ids in given.items()})
    np.testing.assert_array_equal(together["sequence_output"][0], alone["sequence_output"][0])
    np.testing.assert_array_equal(together["pooled_output"][:1], alone["pooled_output"])


def test_weights_take_a_quarter_of_the_room(model):
    whole, small = (
        lite.encoder_to_lite(model.encoder, None, quantize=quantize) for quantize in (False, True)
    )
    saved = 3 * sum(v.shape.num_elements() for v in model.encoder.variables)  # bytes
    assert len(whole) - len(small) > 0.85 * saved


def test_predictor(model, vocab_file, tmp_path, monkeypatch):
    checkpoints.save_huggingface(model, tmp_path, vocab_file)
    exact = Predictor.from_pretrained(tmp_path)
    predictor = Predictor.from_pretrained(tmp_path, precision="int8")
    pairs = [(ROWS, QUESTION), (ROWS[:3], "who?"), (ROWS, "who is older than 30?")]
    expected, answers = exact.ask_batch(pairs), predictor.ask_batch(pairs)
    for own, other in zip(answers, expected, strict=True):
        assert own.probability != other.probability
        assert own.probability == pytest.approx(other.probability, abs=0.05)
    monkeypatch.setattr(served, "EAGER_CALLS", 0)  # the heads in a graph
    assert [each.probability for each in predictor.ask_batch(pairs)] == pytest.approx(
        [each.probability for each in answers], abs=1e-5
    )


def test_variants_without_a_graph_for_any_length():
    with pytest.raises(
        InputError, match=r"'int8' cannot be had with attention=mate_efficient .*'mate_exact' have"
    ):
        QuantizedEncoder(make("mate_efficient").encoder)
