"""The accessor `mate` of pandas frames.

import mate_tf.pandas

frame.mate.ask("who has the highest salary?")
"""

import functools
from typing import Any

import pandas

from mate_tf.serving import presets
from mate_tf.serving.answer import Answer
from mate_tf.serving.predictor import Predictor


@functools.cache
def _loaded(name: str) -> Predictor:
    return Predictor.from_preset(name)


@pandas.api.extensions.register_dataframe_accessor("mate")
class Accessor:
    """Questions about a frame.

    Args:
        frame: the pandas DataFrame.
    """

    def __init__(self, frame: Any):
        self._frame = frame

    def ask(
        self, question: str, predictor: Predictor | None = None, previous: Answer | None = None
    ) -> Answer:
        """Answers a question about the frame.

        Args:
            question: the question.
            predictor: the model; None for the preset that comes with mate-tf, loaded once.
            previous: the answer before, which the question may refer to.

        Raises:
            InputError: see `Predictor.ask`.
        """
        predictor = predictor or _loaded(presets.DEFAULT)
        return predictor.ask(self._frame, question, previous)
