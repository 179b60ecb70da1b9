"""Models of the engine with the converters of their examples, as `Predictor` uses them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.serving.close_decisions import WithFloat32
from mate_tf.serving.engine import loading
from mate_tf.serving.engine.model import INPUTS, EngineModel, has_bfloat16, unsupported
from mate_tf.serving.read_part import ReadPart

OPENVINO, TENSORFLOW = "openvino", "tensorflow"
ENGINES = (OPENVINO, TENSORFLOW)


class EngineServed:
    """Answers examples by OpenVINO, as `serving.served.ServedModel` does by TensorFlow.

    Args:
        config: fields of the `ClassifierConfig`, as JSON values.
        weights: name in the reference's checkpoints -> array.
        converter: makes its examples.
        class_names: names of the classes, if it classifies.
        build: function that returns the same model as a `TableClassifier`.
        precision: "float32", "bfloat16" or "int8".

    Attributes:
        config: as given.
        converter: the converter.
        class_names: list of the names.
        engine, precision: what computes.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        weights: Mapping[str, np.ndarray],
        converter: ExampleConverter,
        class_names: Sequence[str],
        build: Callable,
        precision: str = "float32",
    ):
        self._model = EngineModel(config, weights, precision)
        self.config, self.converter, self.class_names = config, converter, list(class_names)
        self.engine, self.precision = OPENVINO, precision
        self._build, self._keras_model = build, None

    @property
    def keras_model(self):
        """The model as a `TableClassifier`, which is loaded when it is used first."""
        if self._keras_model is None:
            self._keras_model = self._build()
        return self._keras_model

    def __call__(self, *examples) -> list[dict[str, np.ndarray]]:
        """Returns the outputs for each tf.train.Example, without batch axis."""
        return self._model([_arrays(example) for example in examples])

    def compute(self, parts: Sequence[ReadPart]) -> list[dict[str, np.ndarray]]:
        """Returns the outputs for each part of a table, without batch axis."""
        return self._model([part.values for part in parts])


def with_margin(
    served: Callable[..., EngineServed], precision: str, float32_margin: float
) -> EngineServed | WithFloat32:
    """Makes a model in a precision, whose close decisions are computed in float32.

    Args:
        served: function that makes the model in a `precision`.
        precision: "float32", "bfloat16" or "int8".
        float32_margin: see `Predictor.from_pretrained`.
    """
    if precision == "bfloat16" and not has_bfloat16():
        precision = "float32"  # slower and less exact than that
    made = served(precision=precision)
    if not float32_margin or precision == "float32":
        return made
    return WithFloat32(made, served(precision="float32"), float32_margin)


def load_preset(
    source,
    precision: str | None = None,
    max_seq_length: int | None = None,
    reading: dict[str, bool] | None = None,
    float32_margin: float = 0.0,
) -> EngineServed | WithFloat32 | None:
    """Loads a preset without TensorFlow; None if it needs TensorFlow.

    Args:
        source: its `Source`.
        precision, max_seq_length, reading, float32_margin: see `Predictor.from_pretrained`.

    Raises:
        InputError: the weights or the vocabulary cannot be read, or `max_seq_length` exceeds the
            positions.
    """
    found = loading.find(source)
    if found is None:
        return None
    precision = precision or "float32"
    if precision == "auto":
        precision = "bfloat16" if has_bfloat16() else "float32"
    if unsupported(found.config, precision) is not None:
        return None
    config, conversion = found.fitting(max_seq_length)
    converter = ExampleConverter.from_config(found.vocab_file, conversion.reading(reading))
    if len(converter.tokenizer.pieces) != config["encoder"]["vocab_size"]:
        return None  # an error or a warning there

    def build():
        from mate_tf.serving import configurations, pretrained

        given = configurations.read(source)
        return pretrained.build(
            pretrained.configured(given, None, precision, max_seq_length, reading)
        )

    weights = found.weights()

    def served(precision):
        return EngineServed(config, weights, converter, (), build, precision)

    return with_margin(served, precision, float32_margin)


def _arrays(example) -> dict[str, np.ndarray]:
    features = example.features.feature
    return {name: np.array(features[name].int64_list.value, np.int32) for name in INPUTS}


def check(engine: str | None) -> None:
    """Raises InputError for an engine that is not there."""
    if engine is not None and engine not in ENGINES:
        raise InputError(f"engine={engine!r} is neither {' nor '.join(map(repr, ENGINES))}")
