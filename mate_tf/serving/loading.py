"""Trained models as what answers: by OpenVINO where it computes them, by TensorFlow otherwise.

TensorFlow is imported only for models that it computes, or whose weights it has to read.
"""

import functools
import importlib.util

from mate_tf.errors import InputError
from mate_tf.serving import presets
from mate_tf.serving.engine import served
from mate_tf.serving.model_folder import Kind, Source


def load(
    source: Source,
    attention=None,
    precision: str | None = None,
    max_seq_length: int | None = None,
    task: str | None = None,
    reading: dict[str, bool] | None = None,
    float32_margin: float = 0.0,
    engine: str | None = None,
):
    """Loads a trained model of any kind; arguments are those of `Predictor.from_pretrained`.

    Args:
        reading: options of `ConversionConfig.reading`, in place of the model's own.

    Returns:
        An `EngineServed`, a `ServedModel` or a `WithFloat32`.

    Raises:
        InputError: the model cannot be read, lacks weights, or cannot be used with the arguments.
    """
    served.check(engine)
    if source.kind is Kind.EXPORT:
        given = {
            "attention": attention,
            "precision": precision,
            "max_seq_length": max_seq_length,
            "float32_margin": float32_margin or None,
        }
        for name, value in given.items():
            if value is not None:
                raise InputError(
                    f"{source.name}: {name} cannot be changed in an export; give the folder of "
                    "the weights"
                )
        return export(source.folder, reading, engine)
    model = None
    if engine != served.TENSORFLOW and attention is None and task is None:
        build = functools.partial(presets.keras_model, source, precision, max_seq_length)
        model = served.load_preset(
            source, build, precision, max_seq_length, reading, float32_margin
        )
    if model is None:
        _check_tensorflow(source.name)
        from mate_tf.serving import pretrained

        model = pretrained.load(
            source, attention, precision, max_seq_length, task, reading, float32_margin, engine
        )
    return model


def export(folder: str, reading: dict[str, bool] | None = None, engine: str | None = None):
    """Loads an export; arguments, result and errors as for `load`.

    Raises:
        InputError: also if the folder has no SavedModel of mate-tf.
    """
    served.check(engine)
    model = None
    if engine != served.TENSORFLOW:
        model = served.load_export(folder, reading, engine)
    if model is None:
        _check_tensorflow(folder)
        from mate_tf.serving.served_model import ExportedModel

        model = ExportedModel(folder, reading)
    return model


def _check_tensorflow(name: str) -> None:
    """Raises InputError where TensorFlow is not installed, as in the image of the service."""
    if importlib.util.find_spec("tensorflow") is None:
        raise InputError(
            f"{name}: needs TensorFlow with what is asked for, and it is not installed: "
            "pip install mate-tf"
        )
