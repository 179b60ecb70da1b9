"""Serving of trained models: `export` writes a SavedModel, `Predictor` answers with it.

`Summarizer` writes texts with the SavedModel of an encoder-decoder.
"""

from typing import TYPE_CHECKING

from mate_tf.lazy import on_first_use

if TYPE_CHECKING:
    from mate_tf.serving.summarizer import Summarizer

__all__ = ["Summarizer"]

__getattr__, __dir__ = on_first_use(__name__, {"Summarizer": "mate_tf.serving.summarizer"})
