"""What models have in common that are made of one config."""

from typing import ClassVar

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
    """

    config_type: ClassVar[type[base_config.Config]]

    def __init__(self, config, name, **kwargs):
        super().__init__(name=name, autocast=False, **kwargs)
        self._config = config

    @property
    def config(self):
        """What it is made of, a `config_type`."""
        return self._config

    def get_config(self):
        return {"name": self.name, "config": self._config.as_dict()}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        del custom_objects
        return cls(cls.config_type(config["config"]), name=config["name"])
