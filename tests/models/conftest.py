"""The reference's recorded classifiers with ours beside them, and a small model and its batch."""

import contextlib
import functools
import json

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.checkpoints import names
from mate_tf.data import features as feature_names
from mate_tf.layers.framework import keras
from mate_tf.models.classifier import ClassifierConfig, TableClassifier

from .tiny_encoder import tiny

INPUTS = feature_names.names(feature_names.MODEL_INPUTS)


class Golden:
    """One recorded case: features, the reference's outputs, and ours from its checkpoint."""

    def __init__(self, folder, case):
        config = json.loads((folder / "config.json").read_text())
        self.folder = folder
        self.options = {**config["base_config"], **config["cases"][case]["overrides"]}
        self.want = dict(np.load(folder / f"{case}.npz"))
        self.bert_config = config["bert_config"]
        self.features = dict(np.load(folder / "features.npz"))
        self.features["label_ids"] = self.features[config["cases"][case]["label_source"]]
        if case == "three_class":
            classes = np.arange(len(self.features["label_ids"]), dtype=np.int32) % 3
            self.features["classification_class_index"] = classes[:, np.newaxis]
        self.mask = self.features["input_mask"].astype(bool)
        self.in_column = self.mask & (self.features["column_ids"] > 0)
        self.padded = ~self.mask.all(axis=1)

    def variable(self, name):
        """A variable of the checkpoint, or of the case where it has its own."""
        if f"var_{name}" in self.want:
            return self.want[f"var_{name}"]
        return tf.train.load_checkpoint(str(self.folder / "model.ckpt")).get_tensor(name)

    def outputs(self, **options):
        config = ClassifierConfig.from_tapas(self.bert_config, **{**self.options, **options})
        model = TableClassifier(config)
        for name, variable in names.checkpoint_variables(model).items():
            variable.assign(self.variable(name))
        return {
            name: np.array(value)
            for name, value in model(self.features).items()
            if name != "encoder_outputs"
        }


@pytest.fixture(scope="session")
def case(goldens):
    """case(name, **options) -> (Golden, our outputs)."""

    @functools.cache
    def run(name, **options):
        golden = Golden(goldens / "classifier" / "open", name)
        return golden, golden.outputs(**options)

    return run


@pytest.fixture(scope="session")
def small_config():
    """small_config(**options): of a classifier with one layer."""

    def make(**options):
        sizes = {"vocab_size": 200, "hidden_size": 16, "max_position_embeddings": 128}
        encoder = tiny(**sizes, num_hidden_layers=1, attention={"name": "full"})
        return ClassifierConfig({"encoder": encoder.as_dict(), **options})

    return make


@pytest.fixture
def batch():
    """Two examples with all labels; the numbers in the cells are 1959, the second has no answer."""
    rng = np.random.default_rng(0)
    shape = (2, 24)
    columns = rng.integers(1, 4, shape)
    columns[:, :4] = 0
    batch = {name: np.zeros(shape, np.int32) for name in INPUTS}
    batch.update(
        input_ids=rng.integers(0, 200, shape).astype(np.int32),
        input_mask=np.ones(shape, np.int32),
        column_ids=columns.astype(np.int32),
        row_ids=((columns > 0) * rng.integers(0, 5, shape)).astype(np.int32),
        label_ids=((columns > 0) * (rng.random(shape) < 0.2)).astype(np.int32),
        numeric_values=np.where(columns > 1, 1959.0, np.nan).astype(np.float32),
        numeric_values_scale=np.ones(shape, np.float32),
        answer=np.array([[3918.0], [np.nan]], np.float32),
        aggregation_function_id=np.array([[1], [0]], np.int32),
        classification_class_index=np.array([[1], [0]], np.int32),
    )
    return batch


@contextlib.contextmanager
def mixed_precision(policy):
    before = keras.mixed_precision.global_policy()
    keras.mixed_precision.set_global_policy(policy)
    try:
        yield
    finally:
        keras.mixed_precision.set_global_policy(before)


@pytest.fixture
def bfloat16():
    with mixed_precision("mixed_bfloat16"):
        yield
