"""Hugging Face's pipeline and ours give the same answers where both read the same tokens."""

import importlib

import pytest

SIZES = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "initializer_range": 0.3,
}
QUESTIONS = 60


@pytest.fixture(scope="module")
def benchmark(project):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(project / "benchmarks"))
        yield importlib.import_module("pretrained_parity")


@pytest.fixture(scope="module")
def reports(benchmark, interpreter, wikitq_dir, bert_vocab, tmp_path_factory):
    """reports(model): the report for a model with random weights."""
    python = interpreter("PEERS", "torch and transformers")
    folder = tmp_path_factory.mktemp("parity")
    vocabulary = benchmark.tapas_vocabulary(bert_vocab, folder / "vocab.txt")
    asked = benchmark.read_questions(wikitq_dir, QUESTIONS)
    return lambda model: benchmark.compare(python, folder, model, SIZES, vocabulary, asked)


@pytest.mark.parametrize("model", ["wtq", "sqa"])
def test_cells_and_operations(reports, benchmark, model):
    report = reports(model)
    same = report[benchmark.SAME]
    assert same >= QUESTIONS / 2
    assert report["answers with cells"] >= same / 4
    assert report["probabilities within 1e-3"] == report["same operation"] == same
    unsure = report["other cells, one within 1e-3 of the threshold"]
    assert report["same cells"] + unsure == same
    assert unsure <= 1
    # Everything else is explained.
    assert not [name for name in report if name == "other tokens" or "fails" in name]


def test_classes(reports, benchmark):
    report = reports("tabfact")
    same = report[benchmark.SAME]
    assert same >= QUESTIONS / 2
    assert report["probabilities within 1e-3"] == report["same class"] == same
