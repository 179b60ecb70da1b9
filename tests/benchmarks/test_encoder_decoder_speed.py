"""The benchmark of the encoder-decoder takes real steps, and its trees are as it says."""

import argparse

import pytest
import tensorflow as tf


@pytest.fixture
def benchmark(load_benchmark, project, monkeypatch):
    monkeypatch.syspath_prepend(str(project / "benchmarks"))
    module = load_benchmark("encoder_decoder_speed")
    module.VOCABULARY, module.HIDDEN, module.HEADS, module.INTERMEDIATE = 50, 16, 2, 16
    module.HEIGHT = 2
    tf.config.run_functions_eagerly(True)  # tracing takes longer than all steps here
    yield module
    tf.config.run_functions_eagerly(False)


def test_measures(benchmark, capsys):
    args = argparse.Namespace(
        lengths=[64], target=5, layers=1, repeats=1, parts=["encoder"], variants=["tree_fine"]
    )
    rows = benchmark.measure(args)
    assert [(row["training"], row["variant"]) for row in rows] == [
        (False, "full"),
        (True, "full"),
        (False, "tree_fine"),
        (True, "tree_fine"),
    ]
    for row in rows:
        assert row["seconds"] > 0
        if row["variant"] == "full":
            assert row["speedup"] == row["pairs"] == 1
        else:
            # Queries and keys together are spread equally over four leaves.
            assert 0.2 < row["pairs"] < 0.35
            assert 0.25 <= row["largest_leaf"] < 0.5
    printed = capsys.readouterr().out
    assert "64 tokens, target of 5, 1 layers each" in printed
    assert printed.count("training step") == 2


def test_a_training_step_changes_the_weights(benchmark):
    args = argparse.Namespace(lengths=[16], target=3, layers=1)
    features = benchmark.batch(16, 3)
    model = benchmark.make_model("full", features, args)
    before = [variable.numpy() for variable in model.variables]
    benchmark.functions(model, features, ["encoder-decoder"])["encoder-decoder", True]()
    same = [
        v.name for v, old in zip(model.variables, before, strict=True) if (v == old).numpy().all()
    ]
    assert same == ["bert/pooler/kernel:0", "bert/pooler/bias:0"]
