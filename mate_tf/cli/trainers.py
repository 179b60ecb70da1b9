"""--trainer: functions that train, evaluate and predict. Both trainers share checkpoints."""

import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from mate_tf.training import bootstrap, estimator, prediction, trainer

TPU_ESTIMATOR = "tpu_estimator"


class Trainer(NamedTuple):
    """Functions with signatures as `trainer.train`, `trainer.evaluate`, `prediction.predictor`."""

    train: Callable
    evaluate: Callable
    predictor: Callable


STRATEGY = Trainer(bootstrap.train, trainer.evaluate, prediction.predictor)


def chosen(flags) -> Trainer:
    """Returns the trainer that --trainer names.

    Raises:
        InputError: if this TensorFlow does not have it.
    """
    if flags.trainer != TPU_ESTIMATOR:
        return STRATEGY
    estimator.check_available()
    # TPUEstimator warns at every call that it will be removed.
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    names = [field.name for field in dataclasses.fields(estimator.Options)]
    options = estimator.Options(**{name: getattr(flags, name) for name in names})
    train = functools.partial(estimator.train, options=options)
    return Trainer(train, estimator.evaluate, estimator.predictor)
