"""Heads: predictions from the outputs of the encoder, one kind per module."""

from typing import TYPE_CHECKING

from mate_tf.lazy import on_first_use
from mate_tf.models.heads.aggregation import AggregationHead, AnswerSupervisedAggregationHead
from mate_tf.models.heads.base import Head, PooledHead
from mate_tf.models.heads.cell_selection import (
    HARD_EM,
    SOFT_EM,
    UNIFORM,
    CellSoftmaxHead,
    ColumnAndCellHead,
    TokenHead,
)
from mate_tf.models.heads.classification import ChoiceHead, ClassificationHead, RegressionHead
from mate_tf.models.heads.reader import ReaderHead
from mate_tf.models.heads.spans import BoundaryHead, SpanHead

if TYPE_CHECKING:
    from mate_tf.models.heads.pretraining import MaskedWordHead, RandomTableHead

__all__ = [
    "HARD_EM",
    "SOFT_EM",
    "UNIFORM",
    "AggregationHead",
    "AnswerSupervisedAggregationHead",
    "BoundaryHead",
    "CellSoftmaxHead",
    "ChoiceHead",
    "ClassificationHead",
    "ColumnAndCellHead",
    "Head",
    "MaskedWordHead",
    "PooledHead",
    "RandomTableHead",
    "ReaderHead",
    "RegressionHead",
    "SpanHead",
    "TokenHead",
]

_EXPORTS = {
    "MaskedWordHead": "mate_tf.models.heads.pretraining",
    "RandomTableHead": "mate_tf.models.heads.pretraining",
}

__getattr__, __dir__ = on_first_use(__name__, _EXPORTS)
