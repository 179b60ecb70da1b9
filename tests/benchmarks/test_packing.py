"""The benchmark of packing: each way answers every question once, and all give the same logits."""

import argparse

import numpy as np
import pytest

from mate_tf.data import synthetic
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.records.create_data import create_data, examples_path


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("packing")


def test_every_question_is_in_one_batch(benchmark):
    lengths = np.array([500, 60, 64, 65, 512, 1, 300])
    asked = {"input_mask": (np.arange(512) < lengths[:, None]).astype(np.int32)}
    ways = benchmark.batches(asked, 2)
    assert ways[benchmark.PACKED] == ways[benchmark.PADDED]
    for parts in ways.values():
        chosen = np.concatenate([numbers for numbers, _ in parts])
        assert sorted(chosen) == list(range(len(lengths)))
        assert all(len(numbers) <= 2 for numbers, _ in parts)
        assert all((lengths[numbers] <= length).all() for numbers, length in parts)
    assert {length for _, length in ways[benchmark.PADDED]} == {512}
    assert {length for _, length in ways[benchmark.BUCKETED]} == {64, 128, 320, 512}


@pytest.mark.grappler  # without it the ways do not differ in a single bit
def test_measures(benchmark, tmp_path):
    vocab = tmp_path / "vocab.txt"
    synthetic.make_vocabulary(vocab)
    converter = ExampleConverter(str(vocab), 128, drop_rows_to_fit=True)
    asked = list(synthetic.generate(0, 2, rows=(3, 8), questions_per_table=3))
    create_data({"dev": asked}, tmp_path, converter, test_batch_size=4)
    path = examples_path(tmp_path, "dev")
    options = argparse.Namespace(
        questions=8,
        length=128,
        batch_size=4,
        hidden_size=64,
        num_hidden_layers=1,
        repeats=1,
        attention=["mate_efficient"],
        ways=benchmark.WAYS,
        clock="wall",
    )
    (found,) = benchmark.measure(options, f"{path},{path}")
    assert found["questions"] == 12  # of two files; what fills a batch up is not asked
    assert 0 < found["mean_length"] < 128
    assert set(found["ratio"]) == {"padded", "buckets", "packed"}
    assert found["ratio"]["padded"] == 1
    assert set(found["ratio_to_first_attention"].values()) == {1}
    assert found["largest_logit"] > 0.1
    assert 0 < max(found["largest_difference"].values()) < 1e-5
    assert benchmark.plot([found]).axes[0].get_ylabel() == "questions a second"


def test_plot_of_one_way_compares_kinds_of_attention(benchmark):
    mixed = "out/sqa/tf_examples/dev.tfrecord,out/wtq/tf_examples/dev.tfrecord"
    rows = [
        {
            "examples": mixed,
            "attention": attention,
            "questions_per_second": {"packed": 10 * times},
            "ratio": {"packed": 1.0},
            "ratio_to_first_attention": {"packed": times},
        }
        for attention, times in (("full", 1.0), ("mate_efficient", 1.36))
    ]
    axes = benchmark.plot(rows).axes[0]
    assert [text.get_text() for text in axes.texts] == ["1.00x", "1.36x"]
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == ["sqa + wtq\nfull", "sqa + wtq\nmate_efficient"]
