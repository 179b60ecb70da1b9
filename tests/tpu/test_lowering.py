"""Every variant and head lowers for TPUs, as the README says; and the check can fail.

TPU programs are made in an environment of their own, whose interpreter MATE_TF_TPU_PYTHON names;
tests/tpu/requirements.txt says how to make it. No TPU is needed.
"""

import importlib
import json
import os
import subprocess

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import attention, tasks
from mate_tf.models.classifier import make_heads
from mate_tf.models.encoder_decoder_config import EncoderDecoderConfig
from mate_tf.models.pretrainer import PretrainerConfig


@pytest.fixture
def benchmark(project, monkeypatch):
    monkeypatch.syspath_prepend(str(project / "benchmarks"))
    return importlib.import_module("tpu_lowering")


@pytest.fixture
def tpu_python(interpreter):
    """tpu_python(*arguments): what it prints; skips, or fails where the environment must be."""
    python = interpreter("TPU", "tensorflow-tpu")

    def run(*arguments, code=0):
        environment = os.environ | {"TPU_SKIP_MDS_QUERY": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run(
            [python, *map(str, arguments)], env=environment, capture_output=True, text=True
        )
        assert done.returncode == code, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    return run


def test_all_variants_and_heads_lower(tpu_python, project, tmp_path, benchmark):
    """Training steps, which have the forward pass in them, of one layer. The benchmark lowers the
    forward pass by itself too, and two layers."""
    script = project / "benchmarks" / "tpu_lowering.py"
    tpu_python(script, f"--output={tmp_path}", "--parts", "training", "--layers", "1")
    rows = json.loads((tmp_path / "tpu_lowering.json").read_text())
    assert [row for row in rows if not row["lowers"]] == []
    assert {row["part"] for row in rows} == {"training"}
    assert {row["variant"] for row in rows} == {*attention.names(), *benchmark.FORMS}
    assert {row["head"] for row in rows} == set(benchmark.HEADS)
    # Two layers of these share their functions.
    sharing = ("--variants", "mate_efficient", "tree_fine", "--heads", "column and cells")
    tpu_python(script, f"--output={tmp_path / 'two'}", "--parts", "training", *sharing)


def test_unsafe_operations_do_not_lower(tpu_python, project):
    found = json.loads(tpu_python(project / "tests" / "tpu" / "unsafe_operations.py"))
    safe = {name for name, reason in found.items() if reason is None}
    assert safe == {"safe", "safe, with a variable"}
    assert "EagerPyFunc" in found["py_function"]
    assert "EagerPyFunc" in found["py_function beside a variable"]
    for name in ("where", "unique", "boolean_mask, shape not in the result", "dynamic_partition"):
        assert found[name].startswith("dynamic shape: "), found[name]


def test_every_head_is_among_them(benchmark):
    """A head that a task has by default, and one that none has, is lowered with some task."""
    lowered, of_tasks = set(), set()
    for head in benchmark.HEADS:
        task, _ = benchmark.make_task("full", head)
        lowered |= _heads(task.task_config.model)
    for name in tasks.names():
        of_tasks |= _heads(tasks.experiment(name).task.model)
    assert of_tasks <= lowered


def _heads(model):
    if isinstance(model, PretrainerConfig):
        return {("pretrainer", model.next_sentence)}
    if isinstance(model, EncoderDecoderConfig):
        return {"decoder"}
    towers = model.towers()
    return {("parts", towers.num_parts)} | {type(head) for head in make_heads(model).values()}


def test_each_variant_and_each_head_once(benchmark):
    every = benchmark.variants()
    assert set(attention.names()) <= set(every)
    cheap = benchmark.pairs(every, list(benchmark.HEADS), matrix=False)
    assert {variant for variant, _ in cheap} == set(every)
    assert {head for _, head in cheap} == set(benchmark.HEADS)
    assert len(cheap) == len(set(cheap)) == len(every) + len(benchmark.HEADS) - 1
    whole = benchmark.pairs(every, list(benchmark.HEADS), matrix=True)
    assert len(whole) == len(every) * len(benchmark.HEADS)
    for variant in every:
        assert benchmark.attention_config(variant).name in attention.names()


def test_hlo_that_is_refused(benchmark):
    safe = "ROOT %a = f32[4,2]{1,0} add(f32[4,2]{1,0} %b, f32[4,2]{1,0} %c)"
    assert benchmark.of_unsafe(f"{safe}\n{safe}") is None
    dynamic = "%a = f32[<=4,2]{1,0} slice(f32[4,2]{1,0} %b), metadata={op_name='x'}"
    assert benchmark.of_unsafe(f"{safe}\n{dynamic}").startswith("dynamic shape: %a = ")
    for operation in ("custom-call", "send", "recv", "infeed", "outfeed"):
        line = f'%a = f32[4]{{0}} {operation}(f32[4]{{0}} %b), metadata={{op_name="of/this"}}'
        reason = benchmark.of_unsafe(line)
        assert reason.startswith("left to the host")
        assert reason.endswith("(of/this)")


@pytest.mark.parametrize(
    ("variant", "head"),
    [("mate_efficient", "column and cells"), ("full", "cells, accumulated gradients")],
)
@pytest.mark.grappler  # without it nodes of two branches get the same name
def test_a_step_is_the_same_with_variables_as_arguments(benchmark, variant, head, monkeypatch):
    """Loss, metrics, weights, moments: what is lowered is what is trained."""
    import variables_as_arguments

    monkeypatch.setattr(benchmark, "LENGTH", 64)
    without_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    small = {"hidden_size": 16, "num_hidden_layers": 1, "intermediate_size": 16}
    monkeypatch.setattr(benchmark, "ENCODER", benchmark.ENCODER | small | without_dropout)
    task, optimization = benchmark.make_task(variant, head)
    task.task_config.model.sequence_dropout_prob = 0.0
    generator = np.random.default_rng(0)
    batch = {
        name: tf.constant(generator.integers(0, 2, spec.shape), spec.dtype)
        for name, spec in benchmark.specs(task).items()
    }
    train = benchmark.steps(task, optimization, ["training"])["training"]
    specs = tf.nest.map_structure(tf.TensorSpec.from_tensor, batch)
    step = variables_as_arguments.Step(train, specs)
    before = step.values()
    outputs, after = tf.function(step.call, autograph=False)(batch, before)
    logs = train(batch)  # as Python code, which takes less time than to trace it a second time
    (loss,) = outputs
    np.testing.assert_allclose(loss, logs["loss"], rtol=1e-5)
    changed = 0
    for value, own, old in zip(after, step.values(), before, strict=True):
        np.testing.assert_allclose(value, own, rtol=1e-4, atol=1e-6)
        changed += bool(np.any(own != old))
    assert changed > len(after) // 3  # where gradients are added up, only their sums
    assert {"ReadVariableOp", "ResourceApplyAdam"} <= step.operations
