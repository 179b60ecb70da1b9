"""Tiny models with random weights, and the export that all tests read."""

import pytest

from mate_tf.attention import AttentionConfig
from mate_tf.data import synthetic
from mate_tf.layers.framework import keras
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig
from mate_tf.serving.predictor import Predictor
from mate_tf.tables.table import Table
from mate_tf.tasks.configs import ConversionConfig

from ..tiny_model import LENGTH, MAX_COLUMNS, MAX_ROWS


@pytest.fixture(scope="session")
def vocab_file(trained_model):
    return trained_model.with_name("vocab.txt")


@pytest.fixture(scope="session")
def make_model():
    """make_model(attention, **options of ClassifierConfig): random weights, large enough to differ.

    "full" is exported in a fifth of the time.
    """

    def make(attention="mate_efficient", **options):
        config = AttentionConfig(name=attention)
        config.override({key: 16 for key in ("global_length", "radius") if key in config})
        keras.utils.set_random_seed(1)
        encoder = EncoderConfig(
            vocab_size=len(synthetic.vocabulary()),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            initializer_range=0.5,
            attention=config,
        )
        config = ClassifierConfig(encoder=encoder, **options)
        return TableClassifier(config.replace(max_num_rows=MAX_ROWS, max_num_columns=MAX_COLUMNS))

    return make


@pytest.fixture(scope="session")
def options():
    """Of the converter, as a task has them."""
    return ConversionConfig(max_seq_length=LENGTH).converter_options()


@pytest.fixture(scope="session")
def model(make_model):
    return make_model(cell_cross_entropy=True)


@pytest.fixture(scope="session")
def saved_model(trained_model):
    return str(trained_model / "export")


@pytest.fixture(scope="session")
def predictor(saved_model):
    return Predictor(saved_model)


@pytest.fixture(scope="session")
def reads_part(saved_model):
    """A predictor that reads the part of a table that fits, as graphs do."""
    return Predictor(saved_model, reading={})


@pytest.fixture
def table():
    return Table.from_rows(
        ["name", "city", "age"], [["Ann", "Rome", 30], ["Bob", "Oslo", 41], ["Cy", "Bern", 52]]
    )
