"""The benchmark of coverage counts what the converter makes."""

import importlib.util

import pytest

from mate_tf.data import records
from mate_tf.data.converters.examples import ExampleConverter


@pytest.fixture(scope="module")
def benchmark(project):
    path = project / "benchmarks" / "hybridqa_coverage.py"
    spec = importlib.util.spec_from_file_location("benchmark_hybridqa_coverage", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def vocab(goldens):
    return goldens / "tokenization" / "vocab.txt"


def test_counts_the_converters_tokens(benchmark, goldens, vocab):
    path = goldens / "metrics" / "open" / "hybridqa" / "interactions" / "train.tfrecord"
    interactions = list(records.read_interactions(path))
    converter = ExampleConverter(vocab, 1024, expand_entity_descriptions=True)
    counted = benchmark.count_tokens(interactions, converter.tokenizer, [0, 5])
    made = [
        sum(conversion.example.features.feature["input_mask"].int64_list.value)
        for conversion in converter.convert_all(*interactions)
    ]
    assert counted[5].tolist() == made
    assert (counted[0] < counted[5]).all()
    assert (counted[5] < counted[benchmark.EVERYTHING]).all()


def test_figures_and_plot(benchmark, goldens, vocab, tmp_path):
    raw = goldens / "metrics" / "open" / "hybridqa" / "raw"
    figures = benchmark.measure(raw, "train", vocab, [0, 5])
    assert figures["questions"] == 6
    assert figures["answer_in_a_cell"] == pytest.approx(5 / 6)
    assert figures["fits"] == {"0": 1.0, "5": 1.0, "all": 1.0}
    figures["conversion"] = benchmark.convert(raw, "train", vocab, 1)
    assert figures["conversion"]["examples"] == 6
    text = benchmark.show(figures)
    assert "97%" in text
    assert "> 11,000" in text
    benchmark.plot(figures, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000
