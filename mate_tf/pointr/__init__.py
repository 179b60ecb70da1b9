"""POINTR: (Point)ing at an expanded cell, then (R)eading a span from it (MATE paper, section 4).

The first stage is task HYBRIDQA, the second HYBRIDQA_RC. This package combines them: it converts
selected cells to inputs of the second stage, chooses among the spans that were read, computes the
official scores, and has the `PointrPredictor`.
"""

from typing import TYPE_CHECKING

from mate_tf.lazy import on_first_use

if TYPE_CHECKING:
    from mate_tf.pointr.answer import PointrAnswer
    from mate_tf.pointr.config import PointrExperiment
    from mate_tf.pointr.predictor import PointrPredictor

__all__ = ["PointrAnswer", "PointrExperiment", "PointrPredictor"]

_EXPORTS = {
    "PointrAnswer": "mate_tf.pointr.answer",
    "PointrExperiment": "mate_tf.pointr.config",
    "PointrPredictor": "mate_tf.pointr.predictor",
}

__getattr__, __dir__ = on_first_use(__name__, _EXPORTS)
