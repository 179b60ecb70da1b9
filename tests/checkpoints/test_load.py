"""Loading checkpoints: TF1 names, our own objects, and what goes wrong."""

import json

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.encoder import EncoderConfig, TableEncoder

from ..tf1_checkpoint import write_tf1
from .conftest import SIZES


def tiny_encoder(**fields):
    return TableEncoder(EncoderConfig(**SIZES | {"num_hidden_layers": 2} | fields))


class Head(keras.layers.Layer):
    """A head that knows the reference's names of its variables."""

    def build(self, input_shape):
        self.output_weights = self.add_weight("output_weights", [8])

    def checkpoint_variables(self):
        return {"output_weights": self.output_weights}


class Model(keras.Model):
    """A model that holds an encoder and a head."""

    def __init__(self, **fields):
        super().__init__()
        self.encoder = tiny_encoder(**fields)
        self.head = Head()
        self.head.build(None)


def tf1_values(model, seed=0):
    rng = np.random.default_rng(seed)
    return {
        name: rng.normal(size=variable.shape).astype(np.float32)
        for name, variable in checkpoints.checkpoint_variables(model).items()
    }


def test_golden_checkpoint(goldens):
    directory = goldens / "encoder" / "open"
    bert_config = json.loads((directory / "config.json").read_text())["bert_config"]
    encoder = TableEncoder(EncoderConfig.from_tapas(bert_config))
    report = checkpoints.load(encoder, directory / "model.ckpt")
    assert report.missing == ()
    assert {name.rsplit("/", 1)[-1] for name in report.unused} == {"relative_bias_table", "kernel"}
    reader = tf.train.load_checkpoint(str(directory / "model.ckpt"))
    for name in report.loaded:
        np.testing.assert_array_equal(
            checkpoints.checkpoint_variables(encoder)[name], reader.get_tensor(name)
        )
    assert len(report.loaded) == len(encoder.variables)


def test_heads_are_loaded_by_the_names_they_declare_or_reported(tmp_path):
    model = Model()
    values = tf1_values(model)
    adam = {"bert/pooler/dense/bias/adam_m": np.zeros(8, np.float32)}
    steps = {"global_step": np.int64(3)}
    path = write_tf1(values, tmp_path / "model.ckpt", **adam, **steps)
    report = checkpoints.load(model, path)
    assert "output_weights" in report.loaded
    assert (report.missing, report.unused) == ((), ())
    np.testing.assert_array_equal(model.head.output_weights, values["output_weights"])
    kernel = "bert/encoder/layer_1/attention/self/key/kernel"
    np.testing.assert_array_equal(model.encoder.blocks[1].attention.key.kernel, values[kernel])

    report = checkpoints.load(model.encoder, tmp_path)
    assert report.unused == ("output_weights",)
    del values["output_weights"]
    before = model.head.output_weights.numpy()
    report = checkpoints.load(model, write_tf1(values, tmp_path / "bert.ckpt"))
    assert report.missing == ("output_weights",)
    np.testing.assert_array_equal(model.head.output_weights, before)
    assert "missing: output_weights" in str(report)


@pytest.mark.parametrize("wrapped", [False, True])
def test_own_checkpoints_of_the_model_its_encoder_or_a_training(tmp_path, wrapped):
    model = Model()
    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    saved = (
        tf.train.Checkpoint(model=model, optimizer=optimizer, global_step=tf.Variable(4))
        if wrapped
        else tf.train.Checkpoint(model)
    )
    saved.save(tmp_path / "ckpt")

    twin = Model()
    report = checkpoints.load(twin, tmp_path)
    assert report.missing == ()
    assert len(report.loaded) == len(model.variables)
    for ours, theirs in zip(twin.variables, model.variables, strict=True):
        np.testing.assert_array_equal(ours, theirs)

    encoder = tiny_encoder()
    report = checkpoints.load(encoder, tmp_path)
    assert report.missing == ()
    for ours, theirs in zip(encoder.variables, model.encoder.variables, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_model_takes_its_encoder_from_a_checkpoint_of_an_encoder(tmp_path):
    encoder, model = tiny_encoder(), Model()
    tf.train.Checkpoint(encoder).save(tmp_path / "ckpt")
    report = checkpoints.load(model, tmp_path)
    assert len(report.loaded) == len(encoder.variables)
    np.testing.assert_array_equal(model.encoder.pooler.kernel, encoder.pooler.kernel)


def test_every_attention_variant_loads_the_same_checkpoint(tmp_path):
    encoder = tiny_encoder(attention={"name": "full"})
    path = write_tf1(tf1_values(encoder), tmp_path / "model.ckpt")
    for name in ("mate_efficient", "mate_exact", "same_row_or_column"):
        report = checkpoints.load(tiny_encoder(attention={"name": name}), path)
        assert (report.missing, report.unused) == ((), ())


def test_mismatches_may_be_skipped_in_every_kind_of_checkpoint(tmp_path):
    encoder = tiny_encoder(num_hidden_layers=1)
    write_tf1(tf1_values(encoder), tmp_path / "tf1" / "model.ckpt")
    tf.train.Checkpoint(encoder).save(tmp_path / "own" / "ckpt")
    sizes = [3, 256, 9, 2, 256, 256, 10]
    for kind, name in (
        ("tf1", "bert/embeddings/token_type_embeddings_2"),
        ("own", "embeddings/token_type_embeddings_2"),
    ):
        other = tiny_encoder(num_hidden_layers=1, type_vocab_sizes=sizes)
        table = other.embeddings.token_type_embeddings[2]
        before = table.numpy()
        message = rf"{name} has the shape \[256, 8\], .* \[9, 8\]: type_vocab_sizes\[2\]"
        with pytest.raises(InputError, match=message):
            checkpoints.load(other, tmp_path / kind)
        report = checkpoints.load(other, tmp_path / kind, skip_mismatched=True)
        assert report.mismatched == (name,)
        assert len(report.loaded) == len(other.variables) - 1
        np.testing.assert_array_equal(table, before)


def test_what_is_excluded_keeps_its_values(tmp_path):
    model = Model(num_hidden_layers=1)
    model.head.output_weights.assign(tf.ones([8]))
    write_tf1(tf1_values(model), tmp_path / "tf1" / "model.ckpt")
    tf.train.Checkpoint(model).save(tmp_path / "own" / "ckpt")
    # by the reference's name, whatever the checkpoint calls it
    exclude = "^output_weights|position_embeddings"
    for kind, names in (
        ("tf1", {"output_weights", "bert/embeddings/position_embeddings"}),
        ("own", {"head/output_weights", "encoder/embeddings/position_embeddings"}),
    ):
        twin = Model(num_hidden_layers=1)
        before = twin.head.output_weights.numpy()
        report = checkpoints.load(twin, tmp_path / kind, exclude=exclude)
        np.testing.assert_array_equal(twin.head.output_weights, before)
        assert report.missing == ()
        assert set(report.unused) == names
        assert len(report.loaded) == len(twin.variables) - 2


def test_segments_of_bert(tmp_path):
    encoder = tiny_encoder(num_hidden_layers=1)
    values = tf1_values(encoder)
    of_bert = {name: v for name, v in values.items() if "token_type_embeddings" not in name}
    types = np.arange(16, dtype=np.float32).reshape(2, 8)
    of_bert["bert/embeddings/token_type_embeddings"] = types
    path = write_tf1(of_bert, tmp_path / "bert_model.ckpt")
    segments = encoder.embeddings.token_type_embeddings[0]
    last_row = segments[2].numpy()
    report = checkpoints.load(encoder, path)
    np.testing.assert_array_equal(segments, [*types, last_row])
    assert report.partial == ("bert/embeddings/token_type_embeddings_0",)
    assert report.unused == ()
    assert len(report.missing) == 6


def test_missing_empty_foreign_and_broken_checkpoints(tmp_path):
    encoder = tiny_encoder()
    with pytest.raises(InputError, match=r"nowhere: no such checkpoint"):
        checkpoints.load(encoder, tmp_path / "nowhere")
    with pytest.raises(InputError, match="no checkpoint in this directory"):
        checkpoints.load(encoder, tmp_path)
    foreign = write_tf1({"w": np.zeros(3, np.float32)}, tmp_path / "foreign.ckpt")
    with pytest.raises(InputError, match="has none of the model's variables"):
        checkpoints.load(encoder, foreign)
    (tmp_path / "broken.ckpt.index").write_bytes(b"no checkpoint")
    with pytest.raises(InputError, match="cannot be read"):
        checkpoints.load(encoder, tmp_path / "broken.ckpt")
