"""Steps that XLA compiles learn what others learn, also under the default strategy."""

import contextlib
import types

import numpy as np
import pytest

from mate_tf.errors import InputError
from mate_tf.layers.xla import within_xla
from mate_tf.models.encoder import TableEncoder
from mate_tf.training import compiled, trainer

from .. import graphs
from ..event_files import summaries


@pytest.mark.parametrize("batches", [1, 2])
def test_learns_the_same(toy_experiment, large_steps, tmp_path, monkeypatch, batches):
    """The step is compiled and leaves the same weights, also if it accumulates gradients."""
    seen_compiled, call = [], TableEncoder.call

    def seen(self, *args, **kwargs):
        seen_compiled.append(within_xla())
        return call(self, *args, **kwargs)

    monkeypatch.setattr(TableEncoder, "call", seen)
    attention = {1: "mate_efficient", 2: "full"}[batches]
    losses, weights = {}, {}
    for enabled in (False, True):
        seen_compiled.clear()
        experiment = toy_experiment(
            "task: {train_data: {seed: 3, static_shapes: true, global_batch_size: 8}}",
            f"task: {{model: {{encoder: {{hidden_size: 16, attention: {{name: {attention}}}}}}}}}",
            "trainer: {train_steps: 2, steps_per_loop: 2, summary_interval: 2}",
            f"trainer.optimizer_config.optimizer.bert_adamw.gradient_accumulation_steps={batches}",
            f"runtime.enable_xla={enabled}",
            large_steps,
        )
        folder = tmp_path / str(enabled)
        with contextlib.nullcontext() if enabled else graphs.avoided():
            trainer.train(experiment, str(folder))
        assert set(seen_compiled) == {enabled}
        losses[enabled] = summaries(folder / "train")["training_loss"][-1][1]
        weights[enabled] = trainer.load_model(experiment, str(folder)).get_weights()
    assert losses[True] == pytest.approx(losses[False], rel=1e-4)
    for plain, compiled_ in zip(weights[False], weights[True], strict=True):
        np.testing.assert_allclose(compiled_, plain, atol=1e-4)


@pytest.mark.parametrize(
    ("replicas", "precision", "named"),
    [(2, "bfloat16", "there are 2 replicas; set runtime.dist"), (1, "float16", "not float16")],
)
def test_what_cannot_be_compiled(toy_experiment, replicas, precision, named):
    runtime = toy_experiment(
        f"runtime: {{mixed_precision_dtype: {precision}, enable_xla: true}}"
    ).runtime
    strategy = types.SimpleNamespace(num_replicas_in_sync=replicas)
    with pytest.raises(InputError, match=named):
        compiled.compile_train_step(None, runtime, strategy)
