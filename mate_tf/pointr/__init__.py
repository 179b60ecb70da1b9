"""POINTR: (Point)ing at an expanded cell, then (R)eading a span from it (MATE paper, section 4).

The first stage is task HYBRIDQA, the second HYBRIDQA_RC. Here is what joins them: the conversion of
selected cells into tables to read, the choice among what was read, the official scores, and
`PointrPredictor`.
"""

from mate_tf.pointr.config import PointrExperiment
from mate_tf.pointr.predictor import PointrAnswer, PointrPredictor

__all__ = ["PointrAnswer", "PointrExperiment", "PointrPredictor"]
