"""Checks of a training: loss and weights are finite before they are saved; there are the GPUs."""

import types

import pytest
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.tasks.configs import RuntimeConfig
from mate_tf.training.checks import FiniteCheck, check_gpus

OUTPUT = {"training_loss": tf.constant(1.0), "learning_rate": tf.constant(0.5)}


def check(folder, value=1.0, **options):
    weights = [tf.Variable([1.0, 2.0], name="a"), tf.Variable([[value]], name="b")]
    found = FiniteCheck(str(folder), **options)
    model = types.SimpleNamespace(trainable_variables=weights)
    found.start(types.SimpleNamespace(model=model, global_step=tf.Variable(7)))
    return found


@pytest.mark.parametrize("loss", ["nan", "inf"])
def test_loss(tmp_path, loss):
    message = (
        f"step 7: the loss is {loss} at a learning rate of 0.5, so nothing is saved; last good"
    )
    with pytest.raises(
        InputError, match=f"{message} checkpoint: none; try a smaller learning rate"
    ):
        check(tmp_path)(OUTPUT | {"training_loss": float(loss)})


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_weights(tmp_path, value):
    tf.train.CheckpointManager(tf.train.Checkpoint(), str(tmp_path), 1).save(4)
    message = r"step 7: the weights b:0 are not finite, .*ckpt-4; try"
    with pytest.raises(InputError, match=message):
        check(tmp_path, value)({"training_loss": 1.0})


def test_finite_or_recovering(tmp_path):
    check(tmp_path, recovers=True)(OUTPUT | {"training_loss": float("nan")})
    with pytest.raises(InputError, match="weights"):
        check(tmp_path, float("nan"), recovers=True)(OUTPUT)
    check(tmp_path)(OUTPUT)


def test_more_gpus_than_there_are():
    number = len(tf.config.list_physical_devices("GPU"))
    check_gpus(RuntimeConfig(num_gpus=number))
    with pytest.raises(InputError, match=rf"^runtime.num_gpus is {number + 1}, .* most {number}, "):
        check_gpus(RuntimeConfig(num_gpus=number + 1))
    check_gpus(RuntimeConfig(num_gpus=number + 1, distribution_strategy="tpu"))
