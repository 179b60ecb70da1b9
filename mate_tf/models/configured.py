"""Base class of models that are built from a config."""

from typing import ClassVar

import tensorflow as tf
from official.modeling.hyperparams import base_config

from mate_tf import values
from mate_tf.layers.framework import keras

_PACKAGE = "mate_tf"


class ConfiguredModel(keras.Model):
    """A Keras model that is built from a config, and serialized as it.

    Autocast is off: in bfloat16 it would turn a numeric value of 1959 in the features into 1960.

    Args:
        config: a `config_type`.
        name: name of the model.

    Raises:
        InputError: a value of the config of a wrong type or range.

    Attributes:
        config_type: class of the config.
        num_parts: number of equal parts of a sequence that are encoded separately (`towers`).
    """

    config_type: ClassVar[type[base_config.Config]]
    num_parts = 1

    def __init__(self, config, name, **kwargs):
        values.check_all(config)
        super().__init__(name=name, autocast=False, **kwargs)
        self._config = config

    def __init_subclass__(cls, **kwargs):
        """Registers a class of this package: Keras finds no others within functional models."""
        super().__init_subclass__(**kwargs)
        name = f"{_PACKAGE}>{cls.__name__}"
        is_own = cls.__module__.partition(".")[0] == _PACKAGE
        if is_own and keras.saving.get_registered_object(name) is None:
            keras.saving.register_keras_serializable(_PACKAGE)(cls)

    _frozen = frozenset()

    def freeze(self, variables):
        """Excludes variables of this model from training, so they get no gradients and moments."""
        self._frozen = frozenset(map(id, variables))

    @property
    def trainable_weights(self):
        """Variables that are trained: all but the frozen ones."""
        return [v for v in super().trainable_weights if id(v) not in self._frozen]

    @property
    def non_trainable_weights(self):
        """Variables that are not trained, with the frozen ones."""
        frozen = [v for v in super().trainable_weights if id(v) in self._frozen]
        return frozen + super().non_trainable_weights

    def checkpoint_variables(self) -> dict[str, tf.Variable]:
        """Returns name in TF1 checkpoints of BERT and TAPAS -> variable."""
        raise NotImplementedError

    @property
    def config(self):
        """Settings of the model, a `config_type`."""
        return self._config

    def get_config(self):
        """Returns name and config for Keras's serialization."""
        return {"name": self.name, "config": self._config.as_dict()}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Builds a model from the result of `get_config`."""
        return cls(cls.config_type(config["config"]), name=config["name"])
