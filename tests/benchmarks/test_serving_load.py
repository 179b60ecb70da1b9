"""The benchmark of a served model, tiny: what it counts, and that nothing goes astray."""

import argparse

from mate_tf.data import synthetic


def test_few_requests(load_benchmark, tmp_path):
    benchmark = load_benchmark("serving_load")
    vocab_file = tmp_path / "vocab.txt"
    synthetic.make_vocabulary(vocab_file)
    options = argparse.Namespace(
        bert_vocab_file=str(vocab_file), hidden_size=16, num_hidden_layers=1
    )
    path = benchmark.exported(options, "full", 64, str(tmp_path))
    asked = benchmark.requests(64, 2)[:4]
    found = benchmark.measure(path, asked, num_requests=24, num_threads=3)
    assert found["requests"] == 24
    assert (found["lost"], found["astray"], found["changed"]) == (0, 0, 0)
    assert found["percentile_99_ms"] >= found["median_ms"] > 0
    assert found["megabytes_after"] > 0

    astray = [request | {"own": ["other"] * 2} for request in asked[:1]]
    assert benchmark.measure(path, astray, num_requests=2, num_threads=1)["astray"] == 2
