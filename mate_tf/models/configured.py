"""Base class of models that are made of one config."""

from typing import ClassVar

import tensorflow as tf
from official.modeling.hyperparams import base_config

from mate_tf.layers.keras_namespace import keras


class ConfiguredModel(keras.Model):
    """A Keras model made of one config, and made again from it.

    Without autocast: in bfloat16 a numeric value 1959 among the features would become 1960.

    Args:
        config: a `config_type`.
        name: of the model.

    Attributes:
        config_type: the class of its config.
        num_parts: equal parts of a sequence that are encoded apart from each other (`towers`).
    """

    config_type: ClassVar[type[base_config.Config]]
    num_parts = 1

    def __init__(self, config, name, **kwargs):
        super().__init__(name=name, autocast=False, **kwargs)
        self._config = config

    _frozen = frozenset()

    def freeze(self, variables):
        """Variables of this model that are not to be trained.

        Nothing computes their gradients then, and optimizers keep no moments of them.
        """
        self._frozen = frozenset(map(id, variables))

    @property
    def trainable_weights(self):
        """Variables that are trained."""
        return [v for v in super().trainable_weights if id(v) not in self._frozen]

    @property
    def non_trainable_weights(self):
        """Variables that are not trained, the frozen ones included."""
        frozen = [v for v in super().trainable_weights if id(v) in self._frozen]
        return frozen + super().non_trainable_weights

    def checkpoint_variables(self) -> dict[str, tf.Variable]:
        """Returns the variables by their names in TF1 checkpoints of BERT and TAPAS."""
        raise NotImplementedError

    def reference_variables(self) -> dict[str, tf.Variable]:
        """Alias of `checkpoint_variables`, kept for callers of the old name."""
        return self.checkpoint_variables()

    @property
    def config(self):
        """Settings of the model, a `config_type`."""
        return self._config

    def get_config(self):
        return {"name": self.name, "config": self._config.as_dict()}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        del custom_objects
        return cls(cls.config_type(config["config"]), name=config["name"])
