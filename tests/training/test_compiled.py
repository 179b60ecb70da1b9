"""Steps that XLA compiles learn what others learn, also under the default strategy."""

import types

import pytest

from mate_tf.errors import InputError
from mate_tf.layers.xla import within_xla
from mate_tf.models.encoder import TableEncoder
from mate_tf.training import compiled, trainer

from ..event_files import summaries


def test_learns_the_same(toy_experiment, tmp_path, monkeypatch):
    """The step is compiled, and learns the same; as does one that accumulates gradients."""
    seen_compiled, call = [], TableEncoder.call

    def seen(self, *args, **kwargs):
        seen_compiled.append(within_xla())
        return call(self, *args, **kwargs)

    monkeypatch.setattr(TableEncoder, "call", seen)
    adamw = "trainer.optimizer_config.optimizer.bert_adamw.gradient_accumulation_steps=2"
    for part in (adamw, "trainer.steps_per_loop=4"):
        losses = {}
        for enabled in (False, True):
            seen_compiled.clear()
            experiment = toy_experiment(
                "task.train_data.seed=3,task.train_data.static_shapes=true,trainer.train_steps=4",
                "task.model.encoder.hidden_dropout_prob=0.0,task.model.sequence_dropout_prob=0.0",
                "task.model.encoder.attention_probs_dropout_prob=0.0",
                f"runtime.enable_xla={enabled},{part}",
            )
            folder = tmp_path / f"{enabled} {part}"
            trainer.train(experiment, str(folder))
            assert set(seen_compiled) == {enabled}
            losses[enabled] = summaries(folder / "train")["training_loss"][-1][1]
        assert losses[True] == pytest.approx(losses[False], rel=1e-4)


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
