"""--init_checkpoint for modes that use a trained model without training it, and --precision."""

import functools
import sys

from mate_tf.checkpoints.latest import latest
from mate_tf.cli.checks import OF_PRETRAINED, reading
from mate_tf.errors import InputError
from mate_tf.layers import precision

_OF_TPU = precision.Choice("bfloat16", "all TPUs have products in it")
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
        raise InputError(f"--{next(iter(options))}: of which --attention?")
    from mate_tf.serving.predictor import Predictor

    return Predictor.from_pretrained(
        flags.init_checkpoint,
        attention={"name": flags.attention, **options} if flags.attention else None,
        max_seq_length=flags.max_seq_length,
        precision=precision_of(flags),
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
    from mate_tf.serving import configurations, source

    return configurations.read(source.find(flags.init_checkpoint), flags.task)


def configure(experiment, found, model_dir: str) -> None:
    """Sets model, vocabulary and precision of an experiment, in place, from a configuration.

    Raises:
        InputError: if `model_dir` has a checkpoint, which would be used instead.
    """
    if latest(model_dir):
        raise InputError(
            f"{model_dir}: has a checkpoint already, which would be used in place of "
            f"--init_checkpoint={found.source.name}; give another --model_dir"
        )
    experiment.task.model = found.model
    experiment.task.conversion.bert_vocab_file = found.vocab_file
    experiment.runtime.mixed_precision_dtype = found.precision or None


def precision_of(flags) -> str | None:
    """Returns the precision of the layers; None without the flag. Says what `auto` has chosen."""
    if flags.mixed_precision != precision.AUTO:
        return flags.mixed_precision
    chosen = _OF_TPU if flags.use_tpu else precision.choose()
    _say(chosen)
    return chosen.precision


@functools.cache
def _say(chosen: precision.Choice) -> None:
    """Prints the choice, once for both stages of a pipeline."""
    print(f"precision | {chosen.precision}: {chosen.reason}", file=sys.stderr, flush=True)
