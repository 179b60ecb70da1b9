"""Names, files and folders of Hugging Face's weights, and which of them go where."""

import json
import re

import numpy as np
import pytest

from mate_tf import checkpoints
from mate_tf.checkpoints import huggingface, safetensors
from mate_tf.data.features import TOKEN_TYPES
from mate_tf.errors import InputError
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig, TableEncoder
from mate_tf.models.encoder_decoder import EncoderDecoder
from mate_tf.models.encoder_decoder_config import EncoderDecoderConfig

from .conftest import SIZES

SEGMENTS = "bert/embeddings/token_type_embeddings_0"
OTHER_TYPES = tuple(f"bert/embeddings/token_type_embeddings_{index}" for index in range(1, 7))


def encoder(**fields):
    return TableEncoder(EncoderConfig(**SIZES | fields))


def bert_tensors(prefix="bert.", **fields):
    """BertModel's weights: random values by its names."""
    sizes = SIZES | fields
    hidden, inner = sizes["hidden_size"], sizes["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": [sizes["vocab_size"], hidden],
        "embeddings.position_embeddings.weight": [sizes["max_position_embeddings"], hidden],
        "embeddings.token_type_embeddings.weight": [2, hidden],
    }
    dense = {"pooler.dense": [hidden, hidden]}
    norms = ["embeddings.LayerNorm"]
    for index in range(sizes["num_hidden_layers"]):
        layer = f"encoder.layer.{index}"
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            dense[f"{layer}.attention.{name}"] = [hidden, hidden]
        dense[f"{layer}.intermediate.dense"] = [inner, hidden]
        dense[f"{layer}.output.dense"] = [hidden, inner]
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for name, shape in dense.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for name in norms:
        shapes |= {f"{name}.weight": [hidden], f"{name}.bias": [hidden]}
    rng = np.random.default_rng(0)
    return {prefix + name: rng.normal(size=shape) for name, shape in shapes.items()}


@pytest.mark.parametrize("prefix", ["bert.", ""])
def test_bert_into_a_table_encoder(tmp_path, prefix):
    tensors = bert_tensors(prefix)
    heads = {"classifier.weight": np.zeros([2, 8]), "qa_outputs.bias": np.zeros(2)}
    ignored = {"embeddings.position_ids": np.zeros([1, 16]), "cls.predictions.decoder.bias": [0.0]}
    safetensors.write(str(tmp_path / "model.safetensors"), tensors | heads | ignored)
    model = TableClassifier(
        ClassifierConfig(encoder=EncoderConfig(**SIZES), num_classification_labels=2)
    )
    segments = model.encoder.embeddings.token_type_embeddings[0]
    last_row = segments[2].numpy()
    report = checkpoints.load(model, tmp_path)
    heads_of_ours = {f"output_{kind}" for kind in ("weights", "bias", "weights_cls", "bias_cls")}
    assert set(report.missing) == {*OTHER_TYPES, *heads_of_ours}
    assert set(report.unused) == heads.keys()
    assert report.partial == (SEGMENTS,)
    assert len(report.loaded) == len(tensors)
    assert "partial: bert/embeddings/token_type_embeddings_0" in str(report)

    table = tensors[f"{prefix}embeddings.token_type_embeddings.weight"]
    np.testing.assert_allclose(segments, [*table, last_row], rtol=1e-6)
    inner = tensors[f"{prefix}encoder.layer.0.intermediate.dense.weight"]
    np.testing.assert_allclose(model.encoder.blocks[0].intermediate.kernel, inner.T, rtol=1e-6)
    gamma = tensors[f"{prefix}encoder.layer.0.output.LayerNorm.weight"]
    np.testing.assert_allclose(model.encoder.blocks[0].output_LayerNorm.gamma, gamma, rtol=1e-6)


def test_bert_starts_an_encoder_decoder(tmp_path):
    """All of BERT goes into the encoder; trees, other token types and the decoder are new."""
    tensors = bert_tensors("")
    safetensors.write(str(tmp_path / "model.safetensors"), tensors)
    longer = {"max_position_embeddings": 40, "repeat_positions": True}
    config = EncoderConfig(
        **SIZES | longer, attention={"name": "tree_fine"}, disabled_features=list(TOKEN_TYPES[1:])
    )
    model = EncoderDecoder(
        EncoderDecoderConfig(encoder=config, num_decoder_layers=1, start_id=1, end_id=2)
    )
    report = checkpoints.load(model, tmp_path)
    assert report.unused == ()
    assert report.partial == (
        "bert/embeddings/position_embeddings",
        "bert/embeddings/token_type_embeddings_0",
    )
    assert {name.split("/")[0] for name in report.loaded} == {"bert"}
    trees = "bert/encoder/layer_0/attention/self/tree/"
    assert all(name.startswith((trees, "decoder/")) for name in report.missing)
    assert sum(name.startswith("decoder/") for name in report.missing) == len(
        model.decoder.variables
    )
    words = tensors["embeddings.word_embeddings.weight"].astype(np.float32)
    np.testing.assert_array_equal(model.word_embeddings, words)
    model.start_decoder()
    query = tensors["encoder.layer.0.attention.self.query.weight"].astype(np.float32)
    np.testing.assert_array_equal(model.decoder.blocks[0].attention.query.kernel, query.T)


@pytest.mark.parametrize("rows", [2, 1])
def test_segments_of_bert_where_there_are_as_many_or_fewer(tmp_path, rows):
    path = str(tmp_path / "weights.safetensors")
    safetensors.write(path, bert_tensors())
    model = encoder(type_vocab_sizes=[rows, 4, 4, 2, 4, 4, 4])
    if rows == 2:
        assert checkpoints.load(model, path).partial == ()
        return
    with pytest.raises(InputError, match=r"type_vocab_sizes\[0\] \(segment_ids\) differs"):
        checkpoints.load(model, path)


def test_old_names_of_layer_normalisation(tmp_path):
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    tensors = {
        re.sub(r"LayerNorm\.\w+$", lambda found: old[found.group()], name): value
        for name, value in bert_tensors().items()
    }
    safetensors.write(str(tmp_path / "model.safetensors"), tensors)
    report = checkpoints.load(encoder(), tmp_path)
    assert (report.missing, report.unused) == (OTHER_TYPES, ())


def test_a_classifier_is_tapas_own_only(tmp_path):
    tensors = {"classifier.weight": np.ones([2, 8]), "classifier.bias": np.ones(2)}
    config = ClassifierConfig(encoder=EncoderConfig(**SIZES), num_classification_labels=2)
    for prefix, loads in (("tapas.", True), ("bert.", False)):
        model = TableClassifier(config)
        safetensors.write(str(tmp_path / "model.safetensors"), tensors | bert_tensors(prefix))
        report = checkpoints.load(model, tmp_path)
        assert ("output_weights_cls" in report.loaded) == loads
        assert ("classifier.weight" in report.unused) != loads


def test_shards(tmp_path):
    tensors = bert_tensors()
    names = sorted(tensors)
    shards = {"model-1.safetensors": names[::2], "model-2.safetensors": names[1::2]}
    for shard, part in shards.items():
        safetensors.write(str(tmp_path / shard), {name: tensors[name] for name in part})
    where = {name: shard for shard, part in shards.items() for name in part}
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": where}))
    report = checkpoints.load(encoder(), tmp_path)
    assert (report.missing, report.unused) == (OTHER_TYPES, ())
    assert huggingface.weights_file(str(index)) == str(index)

    for content, message in (
        ({"weight_map": where | {"w": "model-1.safetensors"}}, "w is not in model-1.safetensors"),
        ({"weight_map": {"w": "model-3.safetensors"}}, "has no model-3.safetensors"),
        ({"weight_map": {"w": "../model-1.safetensors"}}, "'.*' is not a file of weights in the"),
        ({"weight_map": {"w": "/etc/passwd"}}, "'.*' is not a file of weights in the same folder"),
        ({"weight_map": {"w": index.name}}, "'.*' is not a file of weights in the same folder"),
        ({"weight_map": {"w": 3}}, "'3' is not a file of weights in the same folder"),
        ({"weight_map": 3}, "not an index of weights"),
        ({}, "not an index of weights"),
        ([], "not an index of weights"),
    ):
        index.write_text(json.dumps(content))
        with pytest.raises(InputError, match=f"model.safetensors.index.json: {message}"):
            huggingface.tensors(str(index))
    index.write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        huggingface.tensors(str(index))


def test_the_safer_format_is_preferred_and_other_files_are_none_of_ours(tmp_path):
    assert huggingface.weights_file(str(tmp_path)) is None
    for name in reversed(huggingface.FILES):
        (tmp_path / name).write_bytes(b"")
        assert huggingface.weights_file(str(tmp_path)) == str(tmp_path / name)
    assert huggingface.weights_file(str(tmp_path / "config.json")) is None
    with pytest.raises(InputError, match=r"x.safetensors: no such checkpoint"):
        checkpoints.load(encoder(), tmp_path / "x.safetensors")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"vocab_size": 29}, r"\[30, 8\], but the model's has \[29, 8\]: .* another vocabulary"),
        ({"max_position_embeddings": 8}, r"\[16, 8\].*\[8, 8\]: max_position_embeddings differs"),
        ({"max_position_embeddings": 32}, r"\[16, 8\].*\[32, 8\]: max_position_embeddings differs"),
        ({"intermediate_size": 12}, r"intermediate/dense/bias has the shape \[16\].*has \[12\]$"),
    ],
)
def test_mismatches_are_named_or_skipped(tmp_path, fields, message):
    path = str(tmp_path / "model.safetensors")
    safetensors.write(path, bert_tensors())
    model = encoder(**fields)
    before = {
        name: value.numpy() for name, value in checkpoints.checkpoint_variables(model).items()
    }
    with pytest.raises(InputError, match=message):
        checkpoints.load(model, path)
    for name, variable in checkpoints.checkpoint_variables(model).items():
        np.testing.assert_array_equal(variable, before[name])
    report = checkpoints.load(model, path, skip_mismatched=True)
    assert len(report.mismatched) == (3 if "intermediate_size" in fields else 1)
    assert report.unused == ()
    assert report.missing == OTHER_TYPES
    assert len(report.loaded) == len(bert_tensors()) - len(report.mismatched)
    for name in report.mismatched:
        np.testing.assert_array_equal(checkpoints.checkpoint_variables(model)[name], before[name])
    assert f"mismatched: {report.mismatched[0]}" in str(report)


def test_a_checkpoint_of_which_nothing_fits(tmp_path):
    path = str(tmp_path / "model.safetensors")
    safetensors.write(path, bert_tensors(hidden_size=6, intermediate_size=12))
    with pytest.raises(InputError, match="has the shape"):
        checkpoints.load(encoder(), path, skip_mismatched=True)
