"""--init_checkpoint for modes that use a trained model without training it, and --precision."""

import functools
import sys

from mate_tf.checkpoints.latest import latest
from mate_tf.cli.checks import OF_PRETRAINED, reading
from mate_tf.errors import InputError

_AUTO = "auto"
_ATTENTION_OPTIONS = ("global_length", "radius", "row_heads_ratio")


def load_predictor(flags):
    """Loads --init_checkpoint as a `Predictor`, with the flags that such a model has.

    Raises:
        InputError: as `Predictor.from_pretrained`; if there are options of attention, but no
            --attention.
    """
    options = {name: getattr(flags, name) for name in _ATTENTION_OPTIONS}
    options = {name: value for name, value in options.items() if value is not None}
    if options and not flags.attention:
        raise InputError(f"--{next(iter(options))} needs --attention, whose option it is")
    from mate_tf.serving.predictor import Predictor

    return Predictor.from_pretrained(
        flags.init_checkpoint,
        attention={"name": flags.attention, **options} if flags.attention else None,
        max_seq_length=flags.max_seq_length,
        precision=_precision_here(flags.mixed_precision),
        task=flags.task,
        reading=reading(flags) or "whole",
    )


def read(flags):
    """Reads the configuration in the folder of --init_checkpoint.

    Returns:
        a `configurations.Pretrained`; None in modes that train, and with --config_file, which is
        used instead.
    """
    if not flags.init_checkpoint or flags.config_file or flags.mode not in OF_PRETRAINED:
        return None
    from mate_tf.serving import configurations, model_folder

    return configurations.read(model_folder.find(flags.init_checkpoint), flags.task)


def configure(experiment, configuration, model_dir: str) -> None:
    """Sets model, vocabulary and precision of an experiment, in place, from a configuration.

    Raises:
        InputError: if `model_dir` has a checkpoint, which would be used instead.
    """
    if latest(model_dir):
        raise InputError(
            f"{model_dir}: has a checkpoint already, which would be used in place of "
            f"--init_checkpoint={configuration.source.name}; give another --model_dir"
        )
    experiment.task.model = configuration.model
    experiment.task.conversion.bert_vocab_file = configuration.vocab_file
    experiment.runtime.mixed_precision_dtype = configuration.precision or None


def precision_of(flags) -> str | None:
    """Returns the precision of the layers; None without the flag. Says what `auto` has chosen."""
    if flags.mixed_precision != _AUTO:
        return flags.mixed_precision
    from mate_tf.layers import precision  # imports TensorFlow

    if flags.use_tpu:
        return _chosen("bfloat16", "all TPUs have matmuls in it")
    return _chosen(*precision.choose())


def _precision_here(precision: str | None) -> str | None:
    """Returns the precision of a model that answers on this processor."""
    if precision != _AUTO:
        return precision
    from mate_tf.serving.engine.model import has_bfloat16  # imports OpenVINO

    if has_bfloat16():
        return _chosen("bfloat16", "the processor has matmuls in it")
    return _chosen("float32", "the processor has no matmuls in bfloat16")


@functools.cache
def _chosen(precision: str, reason: str) -> str:
    """Returns a choice, which is printed once for both stages of a pipeline."""
    print(f"precision | {precision}: {reason}", file=sys.stderr, flush=True)
    return precision
