"""Export to Hugging Face without its code: round trips, refusals, files."""

import json

import numpy as np
import pytest

from mate_tf import checkpoints
from mate_tf.checkpoints import safetensors
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig, TableEncoder
from mate_tf.models.pretrainer import PretrainerConfig, TablePretrainer

from .conftest import SIZES

CELLS = {"select_one_column": True}
CLASSES = {"num_classification_labels": 2, "disable_per_token_loss": True}


def classifier(heads, **encoder):
    return TableClassifier(ClassifierConfig(encoder=EncoderConfig(**SIZES | encoder), **heads))


def read_config(folder):
    return json.loads((folder / "config.json").read_text())


@pytest.mark.parametrize(
    ("heads", "architecture", "extra"),
    [
        (CELLS, "TapasForQuestionAnswering", 4),
        (CELLS | {"num_aggregation_labels": 4}, "TapasForQuestionAnswering", 6),
        ({"average_logits_per_cell": True}, "TapasForQuestionAnswering", 4),
        (CLASSES, "TapasForSequenceClassification", 2),
    ],
)
def test_round_trip_of_classifiers(tmp_path, heads, architecture, extra):
    model = classifier(heads)
    checkpoints.save_huggingface(model, tmp_path)
    config = read_config(tmp_path)
    assert config["architectures"] == [architecture]
    names = safetensors.read(str(tmp_path / "model.safetensors")).keys()
    outside = {name for name in names if not name.startswith("tapas.")}
    assert len(outside) == extra
    assert len(names) - extra == len(model.encoder.variables)
    assert {path.name for path in tmp_path.iterdir()} == {"config.json", "model.safetensors"}

    again = TableClassifier(ClassifierConfig.from_huggingface(config))
    report = checkpoints.load(again, tmp_path)
    unscored = {"output_weights", "output_bias"} if heads is CLASSES else set()
    assert set(report.missing) == unscored
    values = checkpoints.checkpoint_variables(model)
    for name, variable in checkpoints.checkpoint_variables(again).items():
        if name not in unscored:
            np.testing.assert_array_equal(variable, values[name])
    ours, theirs = (part.config.as_dict() for part in (model, again))
    assert theirs.pop("positive_weight_for_labelled_only")
    assert not ours.pop("positive_weight_for_labelled_only")
    assert theirs == ours


def test_what_the_encoder_leaves_out_is_zero_there(tmp_path):
    fields = {"disabled_features": ["column_ranks"], "disable_position_embeddings": True}
    model = TableEncoder(EncoderConfig(**SIZES | fields, reset_position_index_per_cell=True))
    checkpoints.save_huggingface(model, tmp_path)
    tensors = safetensors.read(str(tmp_path / "model.safetensors"))
    assert read_config(tmp_path)["architectures"] == ["TapasModel"]
    ranks = tensors["embeddings.token_type_embeddings_4.weight"].read()
    positions = tensors["embeddings.position_embeddings.weight"].read()
    assert (ranks.shape, positions.shape) == ((256, 8), (16, 8))
    assert not ranks.any()
    assert not positions.any()
    assert tensors["embeddings.token_type_embeddings_5.weight"].read().any()

    again = TableEncoder(EncoderConfig.from_huggingface(read_config(tmp_path)))
    assert checkpoints.load(again, tmp_path).missing == ()
    rng = np.random.default_rng(0)
    inputs = {
        name: rng.integers(0, 2, [1, 9]).astype(np.int32)
        for name in ("segment_ids", "column_ids", "row_ids", "prev_label_ids", "column_ranks")
    }
    zeros = np.zeros([1, 9], np.int32)
    inputs |= {"inv_column_ranks": zeros, "numeric_relations": zeros}
    inputs |= {"input_ids": zeros + 3, "input_mask": zeros + 1}
    np.testing.assert_allclose(
        again(inputs)["sequence_output"], model(inputs)["sequence_output"], atol=1e-6
    )


@pytest.mark.parametrize(
    ("heads", "what"),
    [
        ({"cell_cross_entropy": True}, "cell_cross_entropy has no counterpart"),
        ({"span_prediction": "span"}, "span_prediction=span has no counterpart"),
        ({"num_classification_labels": 2}, "classes and cells"),
        (CLASSES | {"num_aggregation_labels": 4}, "classes and aggregation"),
        (CLASSES | {"classification_hidden_sizes": [4]}, "classification_hidden_sizes"),
        (CLASSES | {"num_towers": 2}, "num_towers=2"),
    ],
)
def test_heads_without_counterpart(tmp_path, heads, what):
    with pytest.raises(InputError, match=what):
        checkpoints.save_huggingface(classifier(heads), tmp_path)
    assert not list(tmp_path.iterdir())


def test_encoders_and_variables_without_counterpart(tmp_path):
    with pytest.raises(InputError, match="softmax_temperature=2"):
        checkpoints.save_huggingface(classifier(CELLS, softmax_temperature=2.0), tmp_path)
    with pytest.raises(InputError, match="pooling=max"):
        checkpoints.save_huggingface(classifier(CELLS, pooling="max"), tmp_path)
    pretrainer = TablePretrainer(PretrainerConfig(encoder=EncoderConfig(**SIZES)))
    with pytest.raises(InputError, match=r"TablePretrainer has no counterpart .*; save its enc"):
        checkpoints.save_huggingface(pretrainer, tmp_path)
    encoder = TableEncoder(EncoderConfig(**SIZES))
    encoder.extra = keras.layers.Dense(3)
    encoder.extra.build([None, 8])
    with pytest.raises(InputError, match=r"extra/(kernel|bias) has no counterpart"):
        checkpoints.save_huggingface(encoder, tmp_path)
    assert not list(tmp_path.iterdir())


def test_sparse_attention_is_in_the_config(tmp_path):
    attention = {"name": "mate_efficient", "radius": 7}
    model = TableEncoder(EncoderConfig(**SIZES, attention=attention))
    checkpoints.save_huggingface(model, tmp_path)
    again = EncoderConfig.from_huggingface(read_config(tmp_path))
    assert again.as_dict() == model.config.as_dict()
    assert again.attention.radius == 7
    two = SIZES | {"num_hidden_layers": 2}
    several = TableEncoder(EncoderConfig(**two, attention=[{"name": "full"}, attention]))
    checkpoints.save_huggingface(several, tmp_path)
    again = EncoderConfig.from_huggingface(read_config(tmp_path))
    assert [part.name for part in again.attention] == ["full", "mate_efficient"]


def test_trees_stay_here(tmp_path):
    attention = {"name": "tree_coarse", "tree_height": 2}
    checkpoints.save_huggingface(
        TableEncoder(EncoderConfig(**SIZES, attention=attention)), tmp_path
    )
    again = TableEncoder(EncoderConfig.from_huggingface(read_config(tmp_path)))
    missing = checkpoints.load(again, tmp_path).missing
    assert [name.split("/")[-1] for name in missing] == ["alpha", "bias", "kernel"]
    assert all("/self/tree/" in name for name in missing)


def test_same_model_same_files_and_the_tokenizers_files(tmp_path):
    model, vocab = classifier(CELLS), tmp_path / "pieces"
    vocab.write_text("[PAD]\nü\n")
    for name in "ab":
        checkpoints.save_huggingface(model, tmp_path / name, vocab_file=vocab)
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert names == {"config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json"}
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert (tmp_path / "a" / "vocab.txt").read_bytes() == vocab.read_bytes()
    vocab.write_text("x\n" * 31)
    with pytest.raises(InputError, match="pieces: has 31 pieces, more than vocab_size=30"):
        checkpoints.save_huggingface(model, tmp_path / "c", vocab_file=vocab)
    with pytest.raises(InputError, match="nowhere"):
        checkpoints.save_huggingface(model, tmp_path / "c", vocab_file=tmp_path / "nowhere")
    assert not (tmp_path / "c").exists()
