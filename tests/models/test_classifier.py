"""The classifier against the reference's recorded outputs, in precision and through saving."""

import functools
import json

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.checkpoints import names
from mate_tf.data import features as feature_names
from mate_tf.errors import InputError
from mate_tf.layers.keras_namespace import keras
from mate_tf.models.classifier import ClassifierConfig, TableClassifier

INPUTS = feature_names.names(feature_names.MODEL_INPUTS)
LOG_ZERO = -1e4


class Golden:
    """One recorded case: the reference's outputs, and ours from its checkpoint."""

    def __init__(self, folder, case):
        config = json.loads((folder / "config.json").read_text())
        self.options = {**config["base_config"], **config["cases"][case]["overrides"]}
        loaded = np.load(folder / "features.npz")
        self.features = {name: loaded[name] for name in (*INPUTS, "label_ids")}
        self.want = dict(np.load(folder / f"{case}.npz"))
        self.bert_config = config["bert_config"]
        self.mask = self.features["input_mask"].astype(bool)
        self.in_column = self.mask & (self.features["column_ids"] > 0)
        self.padded = ~self.mask.all(axis=1)

    def model(self, folder, **options):
        config = ClassifierConfig.from_tapas(self.bert_config, **{**self.options, **options})
        model = TableClassifier(config)
        reader = tf.train.load_checkpoint(str(folder / "model.ckpt"))
        for name, variable in names.reference_variables(model).items():
            variable.assign(reader.get_tensor(name))
        return model

    def outputs(self, folder, **options):
        model = self.model(folder, **options)
        return {
            name: np.array(value)
            for name, value in model(self.features).items()
            if name != "encoder_outputs"
        }


@pytest.fixture(scope="module")
def case(goldens):
    """case(name, **options) -> (Golden, our outputs)."""
    folder = goldens / "classifier" / "open"

    @functools.cache
    def run(name, **options):
        golden = Golden(folder, name)
        return golden, golden.outputs(folder, **options)

    return run


def assert_close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


ONE_COLUMN = [
    "sqa",
    "sqa_headwise",
    "sqa_efficient",
    "sqa_allow_empty",
    "sqa_allow_empty_efficient",
    "sqa_avg_logits",
    "sqa_small_limits",
]
TOKENS = [
    "cells_token_loss",
    "cells_avg_logits",
    "cells_avg_logits_temp",
    "cells_small_limits",
    "hybridqa_cell",
    "hybridqa_cell_hardem",
]


def options_of(name):
    # The reference accepts cell_cross_entropy and computes the token loss all the same.
    return {"cell_cross_entropy": False} if name.startswith("hybridqa") else {}


def same_column(golden, outputs):
    """<bool>[batch]: both choose the same column.

    They may differ only in examples with padding, where the reference's logit of column 0, a mean
    over question AND padding, wins over the table's columns.
    """
    if "column_logits" not in outputs:
        return np.ones(len(golden.mask), bool)
    want = golden.want["column_logits"].argmax(axis=1)
    same = outputs["column_logits"].argmax(axis=1) == want
    assert (golden.padded & (want == 0))[~same].all()
    assert same.sum() >= 2
    return same


@pytest.mark.parametrize("name", ONE_COLUMN + TOKENS)
def test_outputs_equal_the_reference(case, name):
    """Outside the table, where the reference averages over padding, see the next tests."""
    golden, outputs = case(name, **options_of(name))
    assert_close(outputs["token_logits"][golden.mask], golden.want["token_logits"][golden.mask])
    compared = golden.in_column & same_column(golden, outputs)[:, np.newaxis]
    for key in ("logits", "probs"):
        assert_close(outputs[key][compared], golden.want[key][compared])
    np.testing.assert_array_equal(outputs["probs"][~golden.mask], 0)
    assert_close(outputs["pooled_output"], golden.want["pooled_output"])
    if name in ONE_COLUMN:
        assert_close(outputs["column_logits"][:, 1:], golden.want["column_logits"][:, 1:])
        # Of an example without padding column 0 is the same as well.
        full = ~golden.padded
        assert full.any()
        assert_close(outputs["column_logits"][full, 0], golden.want["column_logits"][full, 0])
        # Everything outside the column is out of reach for both.
        assert (outputs["logits"][golden.mask & ~golden.in_column] < LOG_ZERO / 2).all()


@pytest.mark.parametrize("name", ["sqa", "sqa_headwise", "sqa_efficient", "sqa_avg_logits"])
def test_column_loss_equals_the_reference(case, name):
    """Column 0 is out of reach here, so padding in it does not matter."""
    golden, outputs = case(name)
    key = "select_one_column_loss_per_example"
    np.testing.assert_allclose(outputs[key], golden.want[key], rtol=1e-4)
    np.testing.assert_allclose(outputs["total_loss"], golden.want["total_loss"], rtol=1e-4)


@pytest.mark.parametrize("name", ["sqa_allow_empty", "sqa_allow_empty_efficient"])
def test_column_loss_with_column_0(case, name):
    """Equal where there is no padding; elsewhere only through the logit of column 0.

    The reference's logit of column 0 is a mean over question AND padding. Put ours into its
    softmax and the losses are the same.
    """
    golden, outputs = case(name)
    key = "select_one_column_loss_per_example"
    want = golden.want["column_logits"].astype(np.float64)
    ours = np.concatenate([outputs["column_logits"][:, :1], want[:, 1:]], axis=1)

    def normaliser(logits):
        return np.log(np.exp(logits).sum(axis=1))

    corrected = golden.want[key] - normaliser(want) + normaliser(ours)
    unlabelled = ~golden.features["label_ids"].any(axis=1)
    corrected += np.where(unlabelled, want[:, 0] - ours[:, 0], 0.0)
    np.testing.assert_allclose(outputs[key], corrected, rtol=1e-4)
    full = ~golden.padded
    np.testing.assert_allclose(outputs[key][full], golden.want[key][full], rtol=1e-4)


@pytest.mark.parametrize("name", ["cells_token_loss", "hybridqa_cell", "hybridqa_cell_hardem"])
def test_token_loss_equals_the_reference(case, name):
    golden, outputs = case(name, **options_of(name))
    assert_close(outputs["logits"][golden.mask], golden.want["logits"][golden.mask])
    np.testing.assert_allclose(outputs["total_loss"], golden.want["total_loss"], rtol=1e-4)


@pytest.mark.parametrize(
    "name", ["cells_avg_logits", "cells_avg_logits_temp", "cells_small_limits"]
)
def test_averaged_token_loss(case, name):
    """The reference's mean logit of the question includes padding; with ours the loss is equal."""
    golden, outputs = case(name)
    logits = golden.want["logits"].astype(np.float64)
    for logit, token_logit, example in zip(
        logits, golden.want["token_logits"], range(len(logits)), strict=True
    ):
        outside = golden.mask[example] & (golden.features["column_ids"][example] == 0)
        logit[outside] = token_logit[outside].mean()
    assert_close(outputs["logits"][golden.mask], logits[golden.mask])
    labels = golden.features["label_ids"]
    loss = np.where(labels == 1, np.log1p(np.exp(-logits)), np.log1p(np.exp(logits)))
    loss *= golden.options["positive_weight"] * golden.mask
    want = (loss.sum(axis=1) / golden.mask.sum(axis=1)).mean()
    np.testing.assert_allclose(outputs["total_loss"], want, rtol=1e-4)


def test_cell_cross_entropy_of_the_paper(goldens, case):
    """What the reference's flag was meant for, from its own checkpoint."""
    _, outputs = case("hybridqa_cell")
    config = json.loads((goldens / "classifier" / "open" / "config.json").read_text())
    want = config["paper_mml_numpy"]["no_header"]["soft_em"]
    want = np.array([0.0 if value is None else value for value in want])
    np.testing.assert_allclose(outputs["cell_cross_entropy_per_example"], want, rtol=1e-4)
    np.testing.assert_allclose(outputs["total_loss"], want.mean(), rtol=1e-4)


def test_examples_without_labels_may_be_masked(case):
    """They leave the sum, not the count (as in the reference's nq_masked_cells)."""
    golden, outputs = case("cells_token_loss", mask_examples_without_labels=True)
    labelled = golden.features["label_ids"].any(axis=1)
    assert not labelled.all()
    want = (outputs["token_loss_per_example"] * labelled).mean()
    np.testing.assert_allclose(outputs["total_loss"], want, rtol=1e-5)


def small_config(**options):
    encoder = {
        "vocab_size": 200,
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "max_position_embeddings": 128,
        "attention": {"name": "full"},
    }
    return ClassifierConfig({"encoder": encoder, **options})


@pytest.fixture
def batch():
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
        numeric_values=np.full(shape, 1959.0, np.float32),
    )
    return batch


@pytest.fixture
def bfloat16():
    before = keras.mixed_precision.global_policy()
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    yield
    keras.mixed_precision.set_global_policy(before)


@pytest.mark.parametrize("options", [{}, {"select_one_column": True}, {"cell_cross_entropy": True}])
def test_bfloat16_keeps_logits_losses_and_numbers_exact(bfloat16, batch, options):
    model = TableClassifier(small_config(**options))
    seen = {}
    head_call = model.heads["cell_selection"].call

    def spy(x, *, cells, features):
        seen.update(features)
        return head_call(x, cells=cells, features=features)

    model.heads["cell_selection"].call = spy
    with tf.GradientTape() as tape:
        outputs = model(batch, training=True)
    assert outputs["sequence_output"].dtype == tf.bfloat16
    for name in ("logits", "probs", "token_logits", "total_loss"):
        assert outputs[name].dtype == tf.float32, name
    assert seen["numeric_values"].dtype == np.float32  # 1959 is no bfloat16
    gradients = tape.gradient(outputs["total_loss"], model.trainable_variables)
    assert all(g.dtype == tf.float32 for g in gradients if g is not None)


def test_config_round_trip(batch):
    model = TableClassifier(small_config(select_one_column=True, temperature=0.5))
    copy = TableClassifier.from_config(model.get_config())
    copy.set_weights(model.get_weights())
    assert copy.config.as_dict() == model.config.as_dict()
    np.testing.assert_array_equal(copy(batch)["logits"], model(batch)["logits"])


def test_no_labels_no_loss(batch):
    del batch["label_ids"]
    assert "total_loss" not in TableClassifier(small_config())(batch)


def test_xla_equals_plain(batch):
    model = TableClassifier(small_config(select_one_column=True))
    del batch["numeric_values"]

    @tf.function(jit_compile=True)
    def compiled(features):
        outputs = model(features)
        return {name: outputs[name] for name in ("logits", "probs", "total_loss")}

    plain = model(batch)
    for name, value in compiled({k: tf.constant(v) for k, v in batch.items()}).items():
        np.testing.assert_allclose(value, plain[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "flags", [{"temprature": 1.0}, {"table_pruning_config_file": "pruning.json"}]
)
def test_from_tapas_names_what_it_cannot_do(flags):
    bert_config = {"type_vocab_size": [3, 256, 256, 2, 256, 256, 10]}
    with pytest.raises(InputError, match=next(iter(flags))):
        ClassifierConfig.from_tapas(bert_config, **flags)
