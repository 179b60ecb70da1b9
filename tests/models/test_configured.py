"""A model made of one config, and variables that are not trained."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf
from official.modeling.hyperparams import base_config

from mate_tf.layers.framework import keras
from mate_tf.models.configured import ConfiguredModel


@dataclasses.dataclass
class Config(base_config.Config):
    units: int = 3


class Model(ConfiguredModel):
    config_type = Config

    def __init__(self, config, name="model"):
        super().__init__(config, name)
        self.dense = keras.layers.Dense(config.units)
        self.norm = keras.layers.BatchNormalization()
        self.dense.build([None, 2])
        self.norm.build([None, config.units])

    def call(self, x):
        return self.dense(x)

    def checkpoint_variables(self):
        return {"kernel": self.dense.kernel, "bias": self.dense.bias}


def test_is_made_again_from_its_config():
    model = Model(Config(units=5), name="mine")
    again = Model.from_config(model.get_config())
    assert again.name == "mine"
    assert again.config == Config(units=5)
    assert again.dense.kernel.shape == [2, 5]


def test_frozen_variables_are_kept_apart():
    model = Model(Config())
    everything = {id(v) for v in model.variables}
    model.freeze([model.dense.kernel, model.norm.gamma])
    assert {v.name for v in model.trainable_weights} == {
        model.dense.bias.name,
        model.norm.beta.name,
    }
    assert model.dense.kernel.ref() not in {v.ref() for v in model.trainable_variables}
    frozen = {id(v) for v in model.non_trainable_weights}
    assert {id(model.dense.kernel), id(model.norm.moving_mean)} <= frozen
    assert {id(v) for v in model.variables} == everything
    model.freeze([])
    assert len(model.trainable_weights) == 4


def test_a_loss_of_the_user_replaces_the_own():
    model = Model(Config())
    model.compile(keras.optimizers.SGD(0.1), loss="mse", run_eagerly=True)
    x, y = np.ones([2, 2], np.float32), np.zeros([2, 3], np.float32)
    expected = float(tf.reduce_mean(tf.square(model(x))))
    assert model.fit(x, y, verbose=0).history["loss"] == [pytest.approx(expected)]


def test_numbers_are_not_cast(bfloat16):
    class Echo(ConfiguredModel):
        def call(self, features):
            return features["numeric_values"]

    found = Echo(Config(), "echo")({"numeric_values": tf.constant([1959.0])})
    assert found.dtype == tf.float32
    assert float(found[0]) == 1959
