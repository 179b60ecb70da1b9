"""Base class of models that are built from a config."""

from typing import ClassVar

import tensorflow as tf
from official.modeling.hyperparams import base_config

from mate_tf import field_types
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras

_PACKAGE = "mate_tf"


class ConfiguredModel(keras.Model):
    """A Keras model that is built from a config, and serialized as it.

    Models with labels compute their own loss, "total_loss" of their outputs. So `compile` takes an
    optimizer and no loss, and `fit` and `evaluate` a data set of features with labels:

        model.compile(optimizer)
        model.fit(dataset)

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

    def __init__(self, config, name: str | None = None, **kwargs):
        field_types.check_all(config)
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

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
        """Computes the loss of a batch for Keras's `fit` and `evaluate`.

        Args:
            x: the features. All others are only for a model that was compiled with a loss.
            y: labels that are not among the features.
            y_pred: the outputs.
            sample_weight: see `keras.Model`.

        Returns:
            <float32>[], what the tasks minimize: the outputs' total_loss and the losses of layers,
            divided by the number of replicas, over which gradients are summed. Keras reports the
            mean over the batches as "loss".

        Raises:
            InputError: if the outputs have no total_loss.
        """
        if self.loss:
            return super().compute_loss(x, y, y_pred, sample_weight)
        if y_pred is None or "total_loss" not in y_pred:
            raise InputError(
                f"{self.name}: without a loss in compile(), the features that fit() gets have all "
                "labels of the model among them"
            )
        losses = [y_pred["total_loss"], *self.losses]
        return self.compiled_loss(None, y_pred, regularization_losses=losses)

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
