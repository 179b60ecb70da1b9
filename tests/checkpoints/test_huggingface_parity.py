"""Hugging Face's models, by their own code: the same outputs here, and there again after export.

Their code runs in an environment of its own, whose interpreter MATE_TF_PEERS_PYTHON names:

    python -m venv peers && peers/bin/pip install -r tests/peers/requirements.txt
    MATE_TF_PEERS_PYTHON=peers/bin/python pytest tests/checkpoints/test_huggingface_parity.py
"""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

from mate_tf import checkpoints
from mate_tf.data.features import TOKEN_TYPES
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig, TableEncoder
from mate_tf.models.pretrainer import PretrainerConfig, TablePretrainer

SCRIPT = pathlib.Path(__file__).parents[1] / "peers" / "make_huggingface.py"
QUESTION_ANSWERING = ["sqa", "sqa_empty_column", "wtq", "wikisql", "tokens"]
CLASSIFICATION = ["tabfact", "three_classes"]
CASES = [*QUESTION_ANSWERING, *CLASSIFICATION, "encoder", "bert"]
TOLERANCE = {"rtol": 1e-4, "atol": 1e-4}
BERT_ONLY = {
    "type_vocab_sizes": [2, 256, 256, 2, 256, 256, 10],
    "disabled_features": list(TOKEN_TYPES[1:]),
}


@pytest.fixture(scope="module")
def run_peers(interpreter):
    """run_peers(mode, folder): runs the script in their environment."""
    python = interpreter("PEERS", "torch and transformers")
    offline = os.environ | {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}

    def run(mode, folder):
        command = [python, str(SCRIPT), mode, str(folder)]
        done = subprocess.run(command, env=offline, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-4000:]

    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory, run_peers):
    folder = tmp_path_factory.mktemp("huggingface")
    run_peers("write", folder)
    return folder


def make_model(folder, case, **fields):
    """Our model with the config of theirs."""
    config = json.loads((folder / case / "model" / "config.json").read_text())
    if case == "encoder":
        return TableEncoder(EncoderConfig.from_huggingface(config, **fields))
    if case == "bert":
        return TableEncoder(EncoderConfig.from_huggingface(config, **BERT_ONLY | fields))
    return TableClassifier(ClassifierConfig.from_huggingface(config, **fields))


def load(path):
    with np.load(path) as arrays:
        return dict(arrays)


def compared(outputs, inputs, case):
    """The outputs that both define, without what padding adds in their column 0."""
    real = inputs["input_mask"].astype(bool)
    unpadded = real.all(axis=1, keepdims=True)
    result = {}
    for name, value in outputs.items():
        value = np.asarray(value)
        if name in ("sequence_output", "token_logits", "masked_lm_logits"):
            value = value[real]
        elif name == "logits":  # padding shares its cell with the question
            value = value[(inputs["column_ids"] > 0) | unpadded]
        elif name == "column_logits":
            first = value[unpadded[:, 0], :1] if case == "sqa_empty_column" else np.zeros(0)
            value = np.concatenate([first.ravel(), value[:, 1:].ravel()])
        result[name] = value
    return result


def assert_same_outputs(model, theirs, inputs, case):
    ours = model(inputs)
    theirs = compared(theirs, inputs, case)
    ours = compared({name: ours[name] for name in theirs}, inputs, case)
    for name, value in theirs.items():
        np.testing.assert_allclose(ours[name], value, **TOLERANCE, err_msg=name)
        print(
            f"{case}: {name}: {np.abs(ours[name] - value).max():.1e} of {np.abs(value).max():.1e}"
        )


@pytest.mark.parametrize("case", CASES)
def test_same_outputs(folder, case):
    model = make_model(folder, case)
    of_bin = checkpoints.load(model, folder / case / "bin")
    from_bin = [variable.numpy() for variable in model.variables]
    report = checkpoints.load(model, folder / case / "model")
    for variable, value in zip(model.variables, from_bin, strict=True):
        np.testing.assert_array_equal(variable, value)
    assert report == of_bin
    unknown = {"output_weights", "output_bias"} if case in CLASSIFICATION else set()
    unused = set()
    if case in QUESTION_ANSWERING and not model.config.select_one_column:
        unused = {"column_output_weights", "column_output_bias"}
    assert (set(report.missing), set(report.unused)) == (unknown, unused)
    inputs = load(folder / case / "inputs.npz")
    outputs = load(folder / case / "outputs.npz")
    expected = {"sequence_output", "pooled_output"}
    if case in QUESTION_ANSWERING:
        expected |= {"logits", "token_logits"}
        expected |= {"column_logits"} if model.config.select_one_column else set()
        expected |= {"logits_aggregation"} if case in ("wtq", "wikisql") else set()
    elif case in CLASSIFICATION:
        expected |= {"logits_cls"}
    assert outputs.keys() == expected
    assert_same_outputs(model, outputs, inputs, case)


def test_masked_language_model(folder):
    config = json.loads((folder / "masked_lm" / "model" / "config.json").read_text())
    encoder = EncoderConfig.from_huggingface(config)
    model = TablePretrainer(PretrainerConfig(encoder=encoder))
    inputs = load(folder / "masked_lm" / "inputs.npz")
    theirs = load(folder / "masked_lm" / "outputs.npz")["masked_lm_logits"]
    for kind in ("model", "bin"):
        report = checkpoints.load(model, folder / "masked_lm" / kind)
        assert {name.split("/")[1] for name in report.missing} == {"pooler", "seq_relationship"}
        assert report.unused == ()
        hidden = model.encoder(inputs)["sequence_output"]
        table = model.encoder.embeddings.word_embeddings
        ours = model.masked_words(hidden[inputs["input_mask"] > 0], table)
        np.testing.assert_allclose(ours, theirs[inputs["input_mask"] > 0], **TOLERANCE)


def test_shards_and_half_precision(folder):
    whole = make_model(folder, "sqa")
    checkpoints.load(whole, folder / "sqa" / "model")
    for kind, rtol in (("shards", 0), ("float16", 1e-3), ("bfloat16", 8e-3)):
        model = make_model(folder, "sqa")
        report = checkpoints.load(model, folder / "sqa" / kind)
        assert (report.missing, report.unused) == ((), ())
        for ours, theirs in zip(model.variables, whole.variables, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol / 10)


@pytest.mark.parametrize("attention", ["mate_efficient", "mate_exact", "same_row_or_column"])
def test_every_attention_variant_takes_all_of_it(folder, attention):
    model = make_model(folder, "wtq", attention={"name": attention})
    report = checkpoints.load(model, folder / "wtq" / "model")
    assert (report.missing, report.unused) == ((), ())


def test_exported_models_compute_the_same_there(folder, run_peers, tmp_path):
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "an", "answer"]))
    saved = {case: case for case in CASES}
    saved["mate"] = "tokens"
    models = {}
    for case, source in saved.items():
        fields = {"attention": {"name": "mate_exact"}} if case == "mate" else {}
        models[case] = make_model(folder, source, **fields)
        checkpoints.load(models[case], folder / source / "model")
        (tmp_path / case).mkdir()
        checkpoints.save_huggingface(models[case], tmp_path / case / "back", vocab_file=vocab)
        inputs = load(folder / source / "inputs.npz")
        np.savez(tmp_path / case / "inputs.npz", **inputs)
    run_peers("read", tmp_path)
    for case, source in saved.items():
        assert json.loads((tmp_path / case / "back.json").read_text()) == {}
        assert json.loads((tmp_path / case / "tokenizer.json").read_text()) == [
            "TapasTokenizer",
            ["an", "answer"],
        ]
        back = load(tmp_path / case / "back.npz")
        if case != "mate":
            inputs = load(tmp_path / case / "inputs.npz")
            assert_same_outputs(models[case], back, inputs, source)
            theirs = compared(load(folder / source / "outputs.npz"), inputs, source)
            back = compared(back, inputs, source)
            for name, value in theirs.items():
                np.testing.assert_allclose(back[name], value, **TOLERANCE, err_msg=name)
            continue
        # Their outputs are those of full attention with the same weights
        full = make_model(folder, source)
        checkpoints.load(full, tmp_path / case / "back")
        assert_same_outputs(full, back, load(tmp_path / case / "inputs.npz"), source)
        config = json.loads((tmp_path / case / "back" / "config.json").read_text())
        again = ClassifierConfig.from_huggingface(config)
        assert again.as_dict() == models[case].config.as_dict()
