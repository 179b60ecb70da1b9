"""Pretrained weights as a model that answers questions, with no training and no export."""

import dataclasses
import functools

from absl import logging

from mate_tf import serving
from mate_tf.attention import AttentionConfig
from mate_tf.checkpoints import checkpoint_variables
from mate_tf.data import features as feature_names
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.layers.precision import AUTO, INT8, PRECISIONS, policy, resolve
from mate_tf.models.classifier import TableClassifier
from mate_tf.serving import configurations
from mate_tf.serving.configurations import Pretrained
from mate_tf.serving.engine.model import unsupported
from mate_tf.serving.engine.served import (
    OPENVINO,
    TENSORFLOW,
    EngineServed,
    WithFloat32,
    with_margin,
)
from mate_tf.serving.model_folder import Source
from mate_tf.serving.served_model import LiveModel, ServedModel
from mate_tf.training import weights


def load(
    source: Source,
    attention=None,
    precision: str | None = None,
    max_seq_length: int | None = None,
    task: str | None = None,
    reading=None,
    float32_margin: float = 0.0,
    engine: str | None = None,
) -> ServedModel | EngineServed | WithFloat32:
    """Loads a trained model that is not an export; arguments and result as for `loading.load`.

    Raises:
        InputError: the model cannot be read, lacks weights, or cannot be used with the arguments.
    """
    configuration = configured(
        configurations.read(source, task), attention, precision, max_seq_length, reading
    )
    chosen = INT8 if precision == INT8 else configuration.precision or "float32"
    if engine != TENSORFLOW:
        config = configuration.model.as_dict()
        lacking = unsupported(config, chosen)
        if lacking is None:
            own = functools.partial(build, configuration)
            served = _by_engine(
                own(), make_converter(configuration), configuration.class_names, own
            )
            return with_margin(served, chosen, float32_margin)
        if chosen == INT8:
            raise InputError(f"{source.name}: precision 'int8' cannot be had with {lacking}")
        if engine == OPENVINO:
            raise InputError(
                f"{source.name}: the engine openvino does not compute {lacking}; leave `engine` out"
            )
    elif chosen == INT8:
        raise InputError("precision 'int8': only with the engine openvino")
    model, converter = build(configuration), make_converter(configuration)
    live = LiveModel(model, converter, configuration.class_names)
    if not float32_margin or chosen == "float32":
        return live
    model = build(dataclasses.replace(configuration, precision="float32"))
    exact = LiveModel(model, converter, configuration.class_names)
    return serving.close_decisions.WithFloat32(live, exact, float32_margin)


def serve(model: TableClassifier, converter: ExampleConverter, class_names=()):
    """Returns a model in this process as one that answers, by OpenVINO where that has all of it.

    Args:
        model: the model.
        converter: makes its examples.
        class_names: names of the classes, if it classifies.
    """
    precision = model.encoder.compute_dtype
    if unsupported(model.config.as_dict(), precision) is not None:
        return LiveModel(model, converter, class_names)
    served = _by_engine(model, converter, class_names, lambda: model)
    return with_margin(served, precision, 0.0)


def _by_engine(model: TableClassifier, converter, class_names, build):
    """Returns a function of a `precision` that makes an `EngineServed` with a model's weights."""
    weights = {name: each.numpy() for name, each in checkpoint_variables(model).items()}
    config = model.config.as_dict()
    return functools.partial(EngineServed, config, weights, converter, class_names, build)


def configured(
    configuration: Pretrained,
    attention=None,
    precision: str | None = None,
    max_seq_length: int | None = None,
    reading=None,
) -> Pretrained:
    """Returns the configuration with the user's choices, for tables that need not fit whole.

    Raises:
        InputError: if attention or precision are unknown, or max_seq_length exceeds the positions.
    """
    model, conversion = configuration.model, configuration.conversion
    if attention is not None:
        options = {"name": attention} if isinstance(attention, str) else attention
        encoder = model.encoder.replace(attention=AttentionConfig(options))
        model = model.replace(encoder=encoder)
    if precision not in (None, AUTO, INT8, *PRECISIONS):
        known = ", ".join((*PRECISIONS, INT8, AUTO))
        raise InputError(f"precision {precision!r} is not one of {known}")
    if max_seq_length is not None:
        if max_seq_length > conversion.max_seq_length:
            rows = model.encoder.type_vocab_sizes[feature_names.TOKEN_TYPES.index("row_ids")]
            model = model.replace(max_num_rows=max(model.max_num_rows, rows))
        conversion = dataclasses.replace(conversion, max_seq_length=max_seq_length)
    most = configurations.most_tokens(model.encoder)
    if most is not None and conversion.max_seq_length > most:
        raise InputError(
            f"{configuration.source.name}: max_seq_length={conversion.max_seq_length}, but its "
            f"model has {most} positions"
        )
    return dataclasses.replace(
        configuration,
        model=model,
        conversion=conversion.fitting(model.max_num_rows, model.max_num_columns).reading(reading),
        precision="float32" if precision == INT8 else resolve(precision) or configuration.precision,
    )


def build(configuration: Pretrained) -> TableClassifier:
    """Builds the model and loads its weights.

    Raises:
        InputError: the weights cannot be read, or some of the model's are missing.
    """
    with policy(configuration.precision or "float32"):
        model = TableClassifier(configuration.model)
    weights.load_all(model, configuration.source.checkpoint)
    return model


def make_converter(configuration: Pretrained) -> ExampleConverter:
    """Returns the converter of the model's examples.

    A vocabulary with fewer pieces than the model has embeddings is used, with a warning: a model
    can have spare embeddings, but half a file has the same form.

    Raises:
        InputError: the vocabulary cannot be used, or has more pieces than the model.
    """
    converter = ExampleConverter.from_config(configuration.vocab_file, configuration.conversion)
    pieces, size = len(converter.tokenizer.pieces), configuration.model.encoder.vocab_size
    if pieces > size:
        raise InputError(
            f"{configuration.vocab_file}: has {pieces} pieces, but the model has {size}"
        )
    if pieces < size:
        logging.warning(
            "%s: has %d pieces, but the model has %d; is the file whole?",
            configuration.vocab_file,
            pieces,
            size,
        )
    return converter
