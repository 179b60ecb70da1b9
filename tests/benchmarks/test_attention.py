"""The benchmark of attention: what is measured, with peers and without."""

import dataclasses
import json
import os
import sys

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import attention
from mate_tf.analysis.cost import encoder_layers, measuring_process, profile
from mate_tf.attention import base
from mate_tf.attention import config as options
from mate_tf.layers.keras_namespace import keras
from mate_tf.models.encoder_config import EncoderConfig

SMALL = {"num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 4}
SMALL |= {"intermediate_size": 32}


@pytest.fixture
def benchmark(load_benchmark, monkeypatch):
    """The benchmark with small layers; variants that it registers are gone afterwards."""
    for module, name in ((base, "_VARIANTS"), (options, "_OPTIONS")):
        monkeypatch.setattr(module, name, dict(getattr(module, name)))
    module = load_benchmark("attention")
    monkeypatch.setattr(module, "ENCODER", SMALL)
    return module


@pytest.fixture
def settings(benchmark, monkeypatch):
    """settings(*arguments): what the command line asks for."""

    def of(*arguments):
        monkeypatch.setattr(sys, "argv", ["attention.py", *arguments])
        return benchmark.settings(benchmark.arguments())

    return of


def test_what_is_measured(settings):
    """The commands of README.md and results/."""
    plain = settings()
    assert (plain.time, plain.memory, plain.passes) == (True, False, ("forward",))
    assert {case.xla for case in plain.cases(512, False)} == {False, True}
    memory = settings("--memory", "--variants", "mate_efficient", "--lengths", "2048")
    assert (memory.time, memory.memory, memory.lengths) == (False, True, (2048,))
    assert [case.xla for case in memory.cases(2048, False)] == [False]
    assert settings("--training").passes == ("training",)
    both = settings("--precisions", "float32", "bfloat16", "--compile", "plain")
    assert len(both.cases(512, False)) == 2 * 3
    assert not both.peers


def test_peers_take_part(settings):
    found = settings("--peers_python", sys.executable, "--threads", "3", "--variants", "full")
    assert found.variants == ("full", "appendix_d")
    _, script, of_peer = found.peers["hugging_face_tapas"]
    assert os.path.isfile(script)
    assert json.loads(of_peer)["threads"] == 3
    assert json.loads(of_peer)["config"]["hidden_size"] == SMALL["hidden_size"]
    found.check()
    with pytest.raises(SystemExit, match="--peers_python=absent: no such program"):
        settings("--peers_python", "absent")


def test_measures_in_a_process_of_its_own(settings):
    """All that is asked of a real one, which registers the listing too."""
    case = dataclasses.asdict(encoder_layers.Case("appendix_d", 64))
    with profile.start(settings().command()) as worker:
        peak = worker.ask("prepare", **case)
        assert peak["peak"] > 2**26  # a whole TensorFlow
        assert 0 < peak["increment"] < peak["peak"]
        clock, worked = worker.ask("run", **case)
        assert clock > 0
        assert worked >= 0
        assert worker.ask("flops", variant="full", length=64)["products"] > 0
        assert worker.ask("rates")["bandwidth"] > 0
        with pytest.raises(measuring_process.MeasurementFailed, match="depends on the content"):
            worker.ask("flops", variant="tree_fine", length=64)


def small_tables(length):
    """Questions of 7, 4, 0 and 11 tokens, tables with 3 columns, padding but for the first."""
    parts = {name: np.zeros([4, length], np.int32) for name in attention.TableContext.FEATURES}
    for example, question in enumerate((7, 4, 0, 11)):
        end = length - 5 * example
        place = np.arange(question, end)
        parts["input_mask"][example, :end] = 1
        parts["segment_ids"][example, question:end] = 1
        parts["row_ids"][example, question:end] = (place - question) // 6
        parts["column_ids"][example, question:end] = (place - question) // 2 % 3 + 1
    return attention.TableContext(**{name: tf.constant(part) for name, part in parts.items()})


@pytest.mark.parametrize(
    ("length", "global_length", "radius"),
    # several buckets, one and two of them, the last one not full, none
    [(44, 14, 6), (44, 14, 30), (44, 14, 20), (41, 14, 4), (20, 24, 4)],
)
def test_the_listing_equals_mate(settings, length, global_length, radius):
    """As `mate_exact` with the same windows sees it, and as `mate_efficient`, padding too."""
    settings()
    context = small_tables(length)
    x = np.random.default_rng(2).normal(size=[4, length, 16]).astype(np.float32)
    outputs = {}
    for name in ("mate_exact", "mate_efficient", "appendix_d"):
        config = attention.AttentionConfig(
            name=name, global_length=global_length, radius=radius, row_heads_ratio=0.25
        )
        if name == "mate_exact":
            config.override({"windowed": True})
        keras.utils.set_random_seed(1)
        variant = attention.get(name)
        layer = variant.attention(config, 4, hidden_size=16, initializer_range=0.3)
        layer.build([None, None, 16])
        outputs[name] = layer(x, variant.pattern(config, 4)(context))
    for name in ("mate_exact", "mate_efficient"):
        np.testing.assert_allclose(outputs["appendix_d"], outputs[name], atol=1e-5, err_msg=name)
    assert np.abs(outputs["appendix_d"]).max() > 0.1


def test_hugging_face_on_request(benchmark, interpreter):
    python = interpreter("PEERS", "torch and transformers")
    of_peer = json.dumps({"config": EncoderConfig(**SMALL).as_dict(), "threads": 1})
    with measuring_process.Worker([python, str(benchmark.HUGGING_FACE), of_peer]) as worker:
        for training in (False, True):
            case = encoder_layers.Case("hugging_face_tapas", 64, training=training)
            peak = worker.ask("prepare", **dataclasses.asdict(case))
            assert peak["peak"] > peak["increment"] >= 0
            clock, worked = worker.ask("run", **dataclasses.asdict(case))
            assert clock > 0
            assert worked >= 0
        half = dataclasses.asdict(encoder_layers.Case("x", 64, "bfloat16"))
        with pytest.raises(measuring_process.MeasurementFailed, match="float32 without XLA only"):
            worker.ask("prepare", **half)
