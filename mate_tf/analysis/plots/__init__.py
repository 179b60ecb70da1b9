"""Figures: cells of a table, masks, attention flow, training. matplotlib is imported on use."""

from mate_tf.analysis.plots.cells import cell_heat_map
from mate_tf.lazy import on_first_use

__all__ = ["cell_heat_map"]

__getattr__, __dir__ = on_first_use(__name__)
