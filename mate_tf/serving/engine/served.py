"""Models of the engine with the converters of their examples, as `Predictor` uses them."""

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mate_tf.checkpoints import finite
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.serving import export_files
from mate_tf.serving.close_decisions import WithFloat32
from mate_tf.serving.engine import bundle, loading, spans
from mate_tf.serving.engine.model import INPUTS, EngineModel, has_bfloat16, unsupported
from mate_tf.serving.model_folder import Source
from mate_tf.serving.read_part import ReadPart

OPENVINO, TENSORFLOW = "openvino", "tensorflow"
ENGINES = (OPENVINO, TENSORFLOW)


class EngineServed:
    """Answers examples by OpenVINO, as `serving.served_model.ServedModel` does by TensorFlow.

    Args:
        config: fields of the `ClassifierConfig`, as JSON values.
        weights: name in the reference's checkpoints -> array.
        converter: makes its examples.
        class_names: names of the classes, if it classifies.
        build: function that returns the same model as a `TableClassifier`; None for an export.
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
        build: Callable | None,
        precision: str = "float32",
    ):
        self._model = EngineModel(config, weights, precision)
        self.config, self.converter, self.class_names = config, converter, list(class_names)
        self.engine, self.precision = OPENVINO, precision
        self._build, self._keras_model = build, None

    @property
    def keras_model(self):
        """The model as a `TableClassifier`, loaded when it is used first; None for an export."""
        if self._keras_model is None and self._build is not None:
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


def load_export(
    folder: str, reading: dict[str, bool] | None = None, engine: str | None = None
) -> EngineServed | WithFloat32 | None:
    """Loads an export without TensorFlow; None if TensorFlow has to compute it.

    Args:
        folder: its folder.
        reading: options of `ConversionConfig.reading`, in place of those of the export.
        engine: see `Predictor`.

    Raises:
        InputError: the folder has no SavedModel of mate-tf, or it is damaged; OpenVINO is asked for
            and does not compute it.
    """
    if paths.is_remote(folder):
        return None
    settings = export_files.read(folder)
    config, precision = settings.model.get("config"), settings.model.get("precision", "unknown")
    if config is None:
        lacking = "an export without the configuration of its model"
    else:
        lacking = unsupported(config, precision)
        names = set(spans.WEIGHTS[config["span_prediction"]])
        if not names <= set(settings.model["variables"]):
            lacking = "an export whose weights of spans have no names"
    if config is None or lacking is not None:
        if engine == OPENVINO:
            raise InputError(f"{folder}: the engine openvino does not compute {lacking}")
        return None
    stored = bundle.read(os.path.join(folder, "variables", "variables"))
    weights = {
        name: stored[f"_weights/{index}/.ATTRIBUTES/VARIABLE_VALUE"]
        for index, name in enumerate(settings.model["variables"])
        if name
    }
    for name, values in weights.items():
        finite.check(folder, name, values)
    served = functools.partial(
        EngineServed, config, weights, settings.converter(reading), settings.class_names, None
    )
    return with_margin(served, precision, 0.0)


def load_preset(
    source: Source,
    build: Callable,
    precision: str | None = None,
    max_seq_length: int | None = None,
    reading: dict[str, bool] | None = None,
    float32_margin: float = 0.0,
) -> EngineServed | WithFloat32 | None:
    """Loads a preset without TensorFlow; None if it needs TensorFlow.

    Args:
        source: its folder.
        build: function that returns the same model as a `TableClassifier`.
        precision, max_seq_length, reading, float32_margin: see `Predictor.from_pretrained`.

    Raises:
        InputError: the weights or the vocabulary cannot be read, or `max_seq_length` exceeds the
            positions.
    """
    preset = loading.find(source)
    if preset is None:
        return None
    precision = precision or preset.precision
    if precision == "auto":
        precision = "bfloat16" if has_bfloat16() else "float32"
    if unsupported(preset.config, precision) is not None:
        return None
    config, conversion = preset.fitting(max_seq_length)
    converter = ExampleConverter.from_config(preset.vocab_file, conversion.reading(reading))
    if len(converter.tokenizer.pieces) != config["encoder"]["vocab_size"]:
        return None  # an error or a warning there

    weights = preset.weights()

    def served(precision):
        return EngineServed(config, weights, converter, preset.class_names, build, precision)

    return with_margin(served, precision, float32_margin)


def _arrays(example) -> dict[str, np.ndarray]:
    features = example.features.feature
    return {name: np.array(features[name].int64_list.value, np.int32) for name in INPUTS}


def check(engine: str | None) -> None:
    """Raises InputError for an engine that is not there."""
    if engine is not None and engine not in ENGINES:
        raise InputError(f"engine={engine!r} is neither {' nor '.join(map(repr, ENGINES))}")
