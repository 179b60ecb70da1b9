"""--init_checkpoint of a model that is used as it is, without a training."""

import tensorflow as tf

from mate_tf.cli.checks import OF_PRETRAINED
from mate_tf.errors import InputError
from mate_tf.serving import configurations, source
from mate_tf.serving.configurations import Pretrained
from mate_tf.serving.predictor import Predictor

_ATTENTION_OPTIONS = ("global_length", "radius", "row_heads_ratio")


def load_predictor(flags) -> Predictor:
    """Loads --init_checkpoint with the other flags that are about a model.

    Raises:
        InputError: as `Predictor.from_pretrained`; options of an attention that is not named.
    """
    options = {name: getattr(flags, name) for name in _ATTENTION_OPTIONS}
    options = {name: value for name, value in options.items() if value is not None}
    if options and not flags.attention:
        raise InputError(f"--{next(iter(options))}: of which --attention?")
    return Predictor.from_pretrained(
        flags.init_checkpoint,
        attention={"name": flags.attention, **options} if flags.attention else None,
        max_seq_length=flags.max_seq_length,
        task=flags.task,
    )


def read(flags) -> Pretrained | None:
    """Returns what the folder of --init_checkpoint says about its model.

    None with --config_file, whose settings the model has then, and in modes that train.
    """
    if not flags.init_checkpoint or flags.config_file or flags.mode not in OF_PRETRAINED:
        return None
    return configurations.read(source.find(flags.init_checkpoint), flags.task)


def configure(experiment, found: Pretrained, model_dir: str) -> None:
    """Sets, in place, the model of an experiment and its vocabulary to what a folder says.

    Raises:
        InputError: a training has left another model in `model_dir`.
    """
    if tf.train.latest_checkpoint(model_dir):
        raise InputError(
            f"{model_dir}: has a checkpoint already, which would be used in place of "
            f"--init_checkpoint={found.source.name}; give another --model_dir"
        )
    experiment.task.model = found.model
    experiment.task.conversion.bert_vocab_file = found.vocab_file
    experiment.runtime.mixed_precision_dtype = found.precision or None
