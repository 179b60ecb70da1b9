"""layers.jsonl: which lines are written, kept and dropped, and what one batch shows of layers."""

import json
import types

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention.abilities import LogsValues
from mate_tf.layers.framework import keras
from mate_tf.training import layer_log


@pytest.fixture
def log(tmp_path, monkeypatch):
    """log(interval, step): a LayerLog that has begun, with the trainer's step as log.step."""
    monkeypatch.setattr(layer_log, "Probe", lambda trainer: lambda: {"probe_loss": 1.0})

    def make(interval=10, step=0, **options):
        made = layer_log.LayerLog(str(tmp_path), interval, **options)
        made.step = tf.Variable(step, dtype=tf.int64)
        made.start(types.SimpleNamespace(global_step=made.step))
        return made

    return make


def test_lines_of_training_and_evaluation(log, tmp_path):
    action = log(interval=10)
    for step in (4, 10, 14, 19, 25):
        action.step.assign(step)
        action({"training_loss": np.float32(1 / 3), "learning_rate": float("nan")})
    action.evaluated({"accuracy": 0.5})
    training = {"training_loss": 0.33333, "learning_rate": None}
    assert layer_log.read(str(tmp_path)) == [
        {"step": 0, "probe_loss": 1.0},
        {"step": 10, "training": training, "probe_loss": 1.0},
        {"step": 25, "training": training, "probe_loss": 1.0},
        {"step": 25, "validation": {"accuracy": 0.5}},
    ]


def test_what_came_after_the_checkpoint_is_dropped(log, tmp_path):
    path = tmp_path / layer_log.FILE
    lines = [json.dumps({"step": step}) + "\n" for step in (0, 10, 20, 30)]
    path.write_text("".join(lines) + '{"step": 4')  # cut short by a kill
    action = log(interval=10, step=20)
    assert [line["step"] for line in layer_log.read(str(tmp_path))] == [0, 10, 20]
    action.step.assign(29)
    action({})
    assert path.read_text() == "".join(lines[:3])
    action.step.assign(30)
    action({})
    assert [line["step"] for line in layer_log.read(str(tmp_path))] == [0, 10, 20, 30]


@pytest.mark.parametrize("options", [{"interval": 0}, {"writes": False}])
def test_nothing_is_written(log, tmp_path, options):
    action = log(**options)
    action.step.assign(100)
    action({"loss": 1.0})
    action.evaluated({"loss": 1.0})
    assert not list(tmp_path.iterdir())
    assert layer_log.read(str(tmp_path)) == []


class Attention(LogsValues, keras.layers.Layer):
    """Multiplies by a number; says how many tokens are real."""

    config = types.SimpleNamespace(name="scaled")

    def build(self, input_shape):
        self.scale = self.add_weight("scale", [], initializer="ones")

    def logged_variables(self):
        return {"scale": [self.scale]}

    def logged_values(self, x, real):
        return {"real": tf.reduce_sum(tf.cast(real, tf.int32)), "mean": tf.reduce_mean(x)}


class Block(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def build(self, input_shape):
        self.attention.build(input_shape)
        self.shift = self.add_weight("shift", [], initializer="zeros")

    def call(self, x):
        return x * self.attention.scale + self.shift


class Model:
    """Two blocks, the second of which does not train its shift."""

    losses = ()

    def __init__(self):
        self.encoder = self
        self.blocks = [Block(), Block()]

    @property
    def trainable_variables(self):
        first, second = self.blocks
        return [*first.trainable_variables, second.attention.scale]

    def __call__(self, batch, training=None):
        x = embeddings = tf.cast(batch["input_ids"], tf.float32)
        found = []
        for block in self.blocks:
            x = block(x)
            found.append(x)
        return {"embedding_output": embeddings, "encoder_outputs": found, "y": tf.reduce_sum(x)}


def test_probe_has_gradients_and_values_of_each_layer():
    model = Model()
    batch = {"input_ids": tf.constant([[1, 2]]), "input_mask": tf.constant([[1, 0]])}
    model(batch)
    model.blocks[0].attention.scale.assign(3.0)
    task = types.SimpleNamespace(
        build_inputs=None, build_losses=lambda labels, model_outputs, aux_losses: model_outputs["y"]
    )
    strategy = types.SimpleNamespace(
        experimental_local_results=lambda value: (value,),
        run=lambda function, args: function(*args),
    )
    data = types.SimpleNamespace(replace=lambda **changes: changes)
    # The first one of all, also in a training that goes on where many batches have been read.
    first_batch = {"is_training": False, "skip_batches": 0}
    config = types.SimpleNamespace(task=types.SimpleNamespace(train_data=data))
    trainer = types.SimpleNamespace(
        task=task,
        model=model,
        config=config,
        strategy=strategy,
        distribute_dataset=lambda build, params: [batch] if params == first_batch else 0,
    )
    found = layer_log.Probe(trainer)()
    assert found["probe_loss"] == 9.0  # 3 * (1 + 2)
    first, second = found["layers"]
    assert first.pop("attention") == second.pop("attention") == "scaled"
    # y = sum(s2 * (s1 x + b1) + b2): its gradient by s1 is 3, by b1 2, by s2 9
    assert first == {"gradient_norm": 3.6056, "scale_gradient_norm": 3.0, "real": 1, "mean": 1.5}
    assert second == {"gradient_norm": 9.0, "scale_gradient_norm": 9.0, "real": 1, "mean": 4.5}
